package jsonrepair

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxEscapes is the number of backslashes before an opening quote: a document
// that was escaped three times.
const maxEscapes = 7

// quoteAt returns the length of the opening quote at i, with the backslashes
// that an escaped document has before it, or 0.
func (p *parser) quoteAt(i int) int {
	if i >= len(p.s) || p.fenceAt(i) {
		return 0
	}
	slashes := 0
	for p.on(EscapedText) && p.at(i+slashes) == '\\' && slashes < maxEscapes {
		slashes++
	}
	r, n := utf8.DecodeRuneInString(p.s[i+slashes:])
	if slashes > 0 && r != '"' && r != '\'' || !isQuote(r) || r != '"' && !p.on(OtherQuotes) {
		return 0
	}
	return slashes + n
}

func isQuote(r rune) bool { return doubleLike(r) || singleLike(r) || pairedWith(r) != 0 }

func doubleLike(r rune) bool { return strings.ContainsRune("\"“”„‟＂", r) }

func singleLike(r rune) bool { return strings.ContainsRune("'‘’‚`´＇", r) }

// pairedWith is the quote that ends what r begins, of the quotes that come in
// pairs only, or 0.
func pairedWith(r rune) rune {
	switch r {
	case '«':
		return '»'
	case '「':
		return '」'
	case '『':
		return '』'
	}
	return 0
}

// closes says whether r can end a string that began with open: straight
// quotes end with themselves, pairs with their other half, the others with any
// of their kind.
func closes(open, r rune) bool {
	switch {
	case open == '"' || open == '\'':
		return r == open
	case pairedWith(open) != 0:
		return r == pairedWith(open)
	case doubleLike(open):
		return doubleLike(r)
	default:
		return singleLike(r)
	}
}

// stringValue reads a string in value position, with the strings joined to it
// by plus signs or by nothing.
func (p *parser) stringValue(where position) *node {
	first, ok := p.quoted(where)
	if !ok {
		return nil
	}
	parts := []string{first}
	for {
		next := p.skip(p.i)
		if p.at(next) == '+' && p.on(Concatenation) {
			next = p.skip(next + 1)
			if next >= len(p.s) {
				p.i = next
				break
			}
		} else if where != inMember || !p.implicitJoin(next) {
			break
		}
		if p.quoteAt(next) == 0 {
			break
		}
		p.i = next
		more, _ := p.quoted(where)
		parts = append(parts, more)
	}
	return quoted(strings.Join(parts, ""))
}

// implicitJoin says whether the string at i is a second part of a member's
// value, as in "a" "b": it is no key.
func (p *parser) implicitJoin(i int) bool {
	n := p.quoteAt(i)
	if n == 0 || !p.on(Concatenation) {
		return false
	}
	end := p.closing(i, n)
	if end < 0 || end == i+n {
		return false
	}
	c, _ := p.sign(p.skip(end + 1))
	return c == ',' || c == '}'
}

// text collects the escaped body of a string.
type text struct {
	b     []byte
	depth [3]int // unmatched ( [ { so far
	// The last separator, and how long the body was before it.
	sep, sepLen int
	// The same of the first colon.
	colon, colonLen int
	// Escapes of white space before a letter, as lengths of the body, and how
	// many backslashes before letters were no escapes.
	white []int
	meant int
}

func (t *text) add(s string, at int) {
	switch s {
	case "(":
		t.depth[0]++
	case "[":
		t.depth[1]++
	case "{":
		t.depth[2]++
	case ")":
		t.depth[0] = max(0, t.depth[0]-1)
	case "]":
		t.depth[1] = max(0, t.depth[1]-1)
	case "}":
		t.depth[2] = max(0, t.depth[2]-1)
	case ":":
		if t.colon == 0 {
			t.colon, t.colonLen = at, len(t.b)
		}
		t.sep, t.sepLen = at, len(t.b)
	case ",", "+":
		t.sep, t.sepLen = at, len(t.b)
	}
	t.b = append(t.b, s...)
}

// body returns the collected text. Where most backslashes before letters are no
// escapes the writer knew of none: C:\Users\name has no line break in it.
func (t *text) body() string {
	if t.meant <= len(t.white) && (t.meant == 0 || !t.formulas()) {
		return string(t.b)
	}
	out, from := make([]byte, 0, len(t.b)+len(t.white)), 0
	for _, at := range t.white {
		if at >= len(t.b) {
			break
		}
		out = append(append(out, t.b[from:at]...), '\\')
		from = at
	}
	return string(append(out, t.b[from:]...))
}

// formulas says whether all escapes before letters are ones that nobody means:
// of form feeds and backspaces.
func (t *text) formulas() bool {
	for _, at := range t.white {
		if at+1 < len(t.b) && t.b[at+1] != 'b' && t.b[at+1] != 'f' {
			return false
		}
	}
	return true
}

// unmatched is the number of open brackets in the string that c would close.
func (t *text) unmatched(c byte) int { return t.depth[strings.IndexByte(")]}", c)] }

// quoted reads the string whose quote is at i and returns its escaped body.
// It is false for a quote with nothing behind it at the end of an array.
func (p *parser) quoted(where position) (string, bool) {
	start := p.i
	n := p.quoteAt(start)
	q := quote{start: start, where: where, escaped: p.s[start] == '\\'}
	q.open, _ = utf8.DecodeLastRuneInString(p.s[:start+n])
	p.i += n
	if p.on(TripleQuotes) && q.open == '"' && !q.escaped && strings.HasPrefix(p.s[p.i:], `""`) {
		if end := strings.Index(p.s[p.i+2:], `"""`); end > 0 && p.spend(end) {
			body := escape(p.s[p.i+2 : p.i+2+end])
			p.i += end + 5
			return body, true
		}
	}
	var t text
	for p.i < len(p.s) {
		c := p.s[p.i]
		if c == '\\' {
			if p.backslash(&q, &t) {
				return t.body(), true
			}
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(p.s[p.i:])
		}
		if !closes(q.open, r) {
			p.plain(&t, r, size)
			continue
		}
		if end, ok := p.atQuote(&q, &t, size); ok {
			p.i = end
			return t.body(), true
		}
	}
	if p.err != nil {
		return "", false
	}
	return p.unclosed(&q, &t)
}

// plain adds a character that needs no thought, or the escape for it.
func (p *parser) plain(t *text, r rune, size int) {
	switch {
	case r == '"':
		t.b = append(t.b, `\"`...)
	case r >= ' ':
		t.add(p.s[p.i:p.i+size], p.i)
	case strings.ContainsRune("\b\f\n\r\t", r):
		t.b = append(t.b, '\\', "btn?fr"[r-'\b'])
	case p.strict:
		p.fail(p.i, fmt.Sprintf("control character U+%04X", r))
		return
	default:
		t.b = fmt.Appendf(t.b, `\u%04x`, r)
	}
	p.i += size
}

// backslash reads an escape; it reports true if it was an escaped closing
// quote.
func (p *parser) backslash(q *quote, t *text) bool {
	run := 1
	for p.at(p.i+run) == '\\' {
		run++
	}
	after := p.i + run
	c := p.at(after)
	if after >= len(p.s) {
		for range run / 2 {
			t.b = append(t.b, `\\`...)
		}
		p.i = after // cut inside an escape
		return false
	}
	if c == '"' || c == '\'' {
		return p.escapedQuote(q, t, run)
	}
	if q.escaped && run > 1 {
		p.i += run / 2 // one level of escaping belongs to the document
		run -= run / 2
	}
	for range run / 2 {
		t.b = append(t.b, `\\`...)
	}
	p.i += run &^ 1
	if run%2 == 0 {
		return false
	}
	switch c {
	case '/', 'b', 'f', 'n', 'r', 't':
		if c != '/' && isLetter(p.at(p.i+2)) {
			t.white = append(t.white, len(t.b))
		}
		t.b = append(t.b, '\\', c)
		p.i += 2
	case 'u':
		p.unicodeEscape(t)
	case 'x':
		if isHex(p.at(p.i+2)) && isHex(p.at(p.i+3)) {
			t.b = append(append(t.b, `\u00`...), p.s[p.i+2:p.i+4]...)
			p.i += 4
			break
		}
		fallthrough
	default:
		// An escape that JSON does not have is the character itself, unless
		// the backslash means something: in paths, patterns and formulas.
		if p.on(MeantBackslashes) && (strings.IndexByte("dDsSwW.()[]", c) >= 0 || isLetter(c) && isWord(p.at(p.i+2))) {
			t.b = append(t.b, `\\`...)
			t.meant++
		}
		p.i++
	}
	return false
}

// escapedQuote reads run backslashes and a quote.
func (p *parser) escapedQuote(q *quote, t *text, run int) bool {
	after := p.i + run
	mark := `'`
	if p.s[after] == '"' {
		mark = `\"`
	}
	switch {
	case q.escaped && run == 1:
		p.i = after
		if end, ok := p.atQuote(q, t, 1); ok {
			p.i = end
			return true
		}
		return false
	case q.escaped:
		t.b = append(t.b, mark...)
		p.i = after + 1
		return false
	case run%2 == 1:
		if !q.overEscaped {
			for range run / 2 {
				t.b = append(t.b, `\\`...)
			}
		}
		t.b = append(t.b, mark...)
		p.i = after + 1
		return false
	}
	// An even run leaves the quote bare. If the string goes on behind it, the
	// writer escaped twice.
	if rune(p.s[after]) == q.open && p.judge(q, t, after, 1).role == isInner {
		q.overEscaped = true
		t.b = append(t.b, mark...)
		p.i = after + 1
		return false
	}
	for range run / 2 {
		t.b = append(t.b, `\\`...)
	}
	p.i = after
	return false
}

// unicodeEscape reads \uXXXX; a cut one is dropped.
func (p *parser) unicodeEscape(t *text) {
	digits := 0
	for digits < 4 && isHex(p.at(p.i+2+digits)) {
		digits++
	}
	switch {
	case digits == 4:
		t.b = append(t.b, p.s[p.i:p.i+6]...)
		p.i += 6
	case p.i+2+digits >= len(p.s):
		p.i = len(p.s)
		if high := len(t.b) - 6; high >= 0 && isHighSurrogate(string(t.b[high:])) {
			t.b = t.b[:high]
		}
	case p.strict:
		p.fail(p.i, "broken unicode escape")
	default:
		t.b = append(t.b, `\\u`...)
		p.i += 2
	}
}

func isHighSurrogate(s string) bool {
	return s[0] == '\\' && (s[1] == 'u') && (s[2] == 'd' || s[2] == 'D') && strings.IndexByte("89abAB", s[3]) >= 0
}

// unclosed settles where a string ends that has no closing quote.
func (p *parser) unclosed(q *quote, t *text) (string, bool) {
	content := strings.TrimRight(p.s[q.start:], " \t\r\n")
	if len(t.b) == 0 && q.where == inArray {
		return "", false
	}
	if last := content[len(content)-1]; q.where == inArray && (last == ']' || last == '}') && p.spend(len(content)) {
		inside := strings.TrimRight(content[p.quoteAt(q.start):], "]} \t\r\n")
		if !strings.ContainsAny(inside, "\"\\{[]}") {
			return p.untilDelimiter(q), true
		}
	}
	if line := strings.IndexByte(p.s[q.start:], '\n'); line > 0 && p.closersEnd(q.start, q.start+line) == len(p.open) && len(p.open) > 0 {
		// Its line closes all that is open: the rest of the text is another matter.
		p.i = q.start + p.quoteAt(q.start)
		body, end := p.beforeClosers(q, trimSpaceEscapes(escape(p.s[p.i:q.start+line])), q.start+line)
		p.i = end
		return body, true
	}
	body, rest := dropSpace(string(t.b), p.s[q.start:])
	if strings.HasSuffix(rest, "```") && strings.HasSuffix(body, "```") {
		body, rest = dropSpace(body[:len(body)-3], rest[:len(rest)-3])
	}
	for level := 0; level < len(p.open) && rest != "" && body != ""; level++ {
		closer := closerOf(p.around(level))
		if rest[len(rest)-1] != closer || body[len(body)-1] != closer {
			break
		}
		body, rest = dropSpace(body[:len(body)-1], rest[:len(rest)-1])
	}
	if strings.HasSuffix(body, " +") && q.where != inKey {
		body, rest = dropSpace(body[:len(body)-1], rest[:len(rest)-1])
	}
	p.i = q.start + len(rest)
	return strings.TrimRight(body, " "), true
}

// dropSpace cuts the white space at the end of a string's text off, and what
// the body has for it.
func dropSpace(body, text string) (string, string) {
	cut := strings.TrimRight(text, " \t\r\n")
	n := 0
	for _, c := range text[len(cut):] {
		n++
		if c != ' ' {
			n++ // as an escape
		}
	}
	return body[:max(0, len(body)-n)], cut
}

// trimSpaceEscapes cuts white space, escaped or not, off the end of a body.
func trimSpaceEscapes(body string) string {
	for {
		cut := strings.TrimRight(body, " ")
		for _, esc := range []string{`\n`, `\r`, `\t`} {
			if s, ok := strings.CutSuffix(cut, esc); ok && !strings.HasSuffix(s, `\`) {
				cut = s
			}
		}
		if cut == body {
			return body
		}
		body = cut
	}
}

// untilDelimiter reads the string again as if its quote were not there. An
// address keeps its slashes.
func (p *parser) untilDelimiter(q *quote) string {
	p.i = q.start + p.quoteAt(q.start)
	start := p.i
	for p.i < len(p.s) && strings.IndexByte(",[]{}\n", p.s[p.i]) < 0 {
		p.i++
	}
	return escape(strings.TrimSpace(p.s[start:p.i]))
}

// escape returns s as the body of a JSON string.
func escape(s string) string {
	clean := true
	for i := range len(s) {
		if s[i] < ' ' || s[i] == '"' || s[i] == '\\' {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	b := make([]byte, 0, len(s)+8)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= ' ':
			b = append(b, c)
		case strings.IndexByte("\b\f\n\r\t", c) >= 0:
			b = append(b, '\\', "btn?fr"[c-'\b'])
		default:
			b = fmt.Appendf(b, `\u%04x`, c)
		}
	}
	return string(b)
}

func isHex(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
