package jsonrepair

import (
	"strings"
	"unicode/utf8"
)

// quote is the state of the string that is being read.
type quote struct {
	start       int // of its opening quote
	open        rune
	where       position
	escaped     bool // it began with \"
	overEscaped bool // quotes inside carry surplus backslashes
	inner       bool // a quote was opened inside and not closed yet
}

// role is what a quote inside a string is.
type role uint8

const (
	isEnd    role = iota // it ends the string
	isInner              // it belongs to the text
	isBefore             // it begins something new: the string ended before it
)

// verdict on a quote; end is where an isBefore string ends.
type verdict struct {
	role role
	end  int
}

// The distances that a decision on one quote may look ahead.
const (
	keyWindow  = 160
	itemWindow = 2048
)

// atQuote decides on the closing quote at i. If the string ends it returns
// where reading goes on; otherwise it has taken the quote into the text.
func (p *parser) atQuote(q *quote, t *text, size int) (int, bool) {
	at := p.i
	v := p.judge(q, t, at, size)
	if v.role == isInner && !p.on(InnerQuotes) || v.role == isBefore && !p.on(LostQuotes) {
		v = verdict{role: isEnd}
	}
	switch v.role {
	case isBefore:
		if v.end < at {
			t.b = t.b[:t.sepLen]
		}
		body, end := p.beforeClosers(q, trimSpaceEscapes(string(t.b)), v.end)
		t.b = []byte(body)
		return end, true
	case isEnd:
		if q.inner && q.open == '"' && q.where == inMember {
			t.b = append(t.b, `\"`...) // one quote written for two
		}
		return at + size, true
	}
	if q.open == '"' {
		t.b = append(t.b, '\\')
	}
	t.b = append(t.b, p.s[at:at+size]...)
	next, _ := utf8.DecodeRuneInString(p.s[at+size:])
	q.inner = !q.inner && isTextStart(next)
	p.i = at + size
	return 0, false
}

// beforeClosers leaves out the brackets at the end of a string's body that close
// what is open around it: its closing quote was lost before them. It returns
// where the string ends then.
func (p *parser) beforeClosers(q *quote, body string, end int) (string, int) {
	for range p.closersEnd(q.start, end) {
		body = trimSpaceEscapes(body[:len(body)-1])
		end = len(strings.TrimRight(p.s[:end], " \t\r\n")) - 1
	}
	return body, end
}

// closersEnd counts the brackets before end, and behind start, that close what
// is open around a string without being opened in it.
func (p *parser) closersEnd(start, end int) int {
	n := 0
	text := strings.TrimRight(p.s[start:end], " \t\r\n")
	if !p.spend(len(text)) {
		return 0
	}
	for n < len(p.open) && text != "" && text[len(text)-1] == closerOf(p.around(n)) {
		if opener := p.around(n); strings.LastIndexByte(text[:len(text)-1], opener) >= 0 {
			return 0
		}
		text = strings.TrimRight(text[:len(text)-1], " \t\r\n")
		n++
	}
	return n
}

// isTextStart says whether r, behind a quote, shows that the quote opens.
func isTextStart(r rune) bool {
	return r >= utf8.RuneSelf && !isWideSpace(r) && !isQuote(r) || r < utf8.RuneSelf && isWord(byte(r))
}

// judge decides what the quote at position at is, by what follows it and what
// stands before it.
func (p *parser) judge(q *quote, t *text, at, size int) verdict {
	next := p.skip(at + size)
	if next >= len(p.s) || p.fenceAt(next) {
		return verdict{role: isEnd}
	}
	switch c, n := p.sign(next); c {
	case ',':
		return p.beforeComma(q, next+n, at+size)
	case ':':
		if q.inner && q.where != inKey && p.later(q, next) >= 0 {
			return verdict{role: isInner}
		}
		return verdict{role: isEnd}
	case '}', ']', ')':
		return p.beforeCloser(q, t, next)
	case '+':
		if after := p.skip(next + 1); after >= len(p.s) || p.quoteAt(after) > 0 {
			return verdict{role: isEnd}
		}
	case ';':
		if after := p.skip(next + 1); after >= len(p.s) {
			return verdict{role: isEnd}
		}
	case '{', '[':
		if q.where != inMember && !q.inner {
			return verdict{role: isEnd}
		}
	}
	if p.quoteAt(next) > 0 {
		return p.beforeQuote(q, next)
	}
	if !q.inner && q.where != inMember {
		newline := strings.IndexByte(p.s[at+size:next], '\n') >= 0
		if isDigit(p.s[next]) || newline && q.where != inKey {
			return verdict{role: isEnd}
		}
	}
	return p.beforeText(q, t, at, size, next)
}

// beforeComma judges a quote that is followed by a comma; behind is the
// position behind the comma.
func (p *parser) beforeComma(q *quote, behind, quoteEnd int) verdict {
	if !q.inner {
		return verdict{role: isEnd}
	}
	after := p.skip(behind)
	c := p.at(after)
	var ends bool
	switch q.where {
	case inMember:
		ends = after >= len(p.s) || c == '}' || c == ']' || p.startsKey(after) || p.bareKeyAt(after)
	case inArray:
		ends = after >= len(p.s) || isDigit(c) || strings.IndexByte("{[]}-", c) >= 0 || p.startsItem(after)
	default:
		ends = p.later(q, quoteEnd) < 0
	}
	if ends {
		return verdict{role: isEnd}
	}
	return verdict{role: isInner}
}

// beforeCloser judges a quote that is followed by a closing bracket: it ends
// the string if the bracket can close something outside the string.
func (p *parser) beforeCloser(q *quote, t *text, closer int) verdict {
	c := p.s[closer]
	outside := p.isOpen(openerOf(c))
	if !outside && (t.unmatched(c) > 0 || p.later(q, closer) >= 0) {
		return verdict{role: isInner}
	}
	if outside && !p.goesOn(q, closer+1, t.unmatched(c) > 0) {
		return verdict{role: isInner}
	}
	return verdict{role: isEnd}
}

// goesOn says whether what stands at i, behind a closing bracket, can follow
// it outside of a string. Prose can follow the outermost bracket, if the
// bracket has no partner in the string.
func (p *parser) goesOn(q *quote, i int, partner bool) bool {
	next := p.skip(i)
	if next >= len(p.s) || strings.IndexByte(",}])]{[;", p.s[next]) >= 0 || p.fenceAt(next) {
		return true
	}
	if strings.IndexByte(p.s[i:next], '\n') >= 0 || p.startsKey(next) || p.startsItem(next) {
		return true
	}
	if len(p.open) == 1 && !partner && p.quoteAt(next) == 0 {
		return true
	}
	return p.later(q, next) < 0
}

// beforeQuote judges a quote that is followed by another one at next.
func (p *parser) beforeQuote(q *quote, next int) verdict {
	if q.inner {
		after := p.skip(next + p.quoteAt(next))
		if after >= len(p.s) || strings.IndexByte(",}]", p.s[after]) >= 0 {
			return verdict{role: isInner} // ends an inner quotation; the next one ends the string
		}
	}
	return verdict{role: isEnd}
}

// beforeText judges a quote that is followed by something that cannot follow
// a string: either it belongs to the text, or the string's own closing quote
// is missing before it, or the text behind it is astray.
func (p *parser) beforeText(q *quote, t *text, at, size, next int) verdict {
	inner := verdict{role: isInner}
	// A key behind a brace that the text itself opened belongs to the text.
	ownKey := q.where == inMember && t.unmatched('}') == 0 && p.startsKey(at)
	if t.sep > 0 && p.skip(t.sep+1) == at {
		switch c := p.s[t.sep]; {
		case c == ',' && ownKey,
			c == ',' && q.where == inArray && (p.startsItem(at) || p.startsKey(at) && p.closersEnd(q.start, t.sep) > 0),
			c == '+' && q.where != inKey && p.closing(at, size) >= 0,
			c == ':' && q.where == inKey:
			return verdict{role: isBefore, end: t.sep}
		case c == ',' && q.where == inKey && t.colon > 0 && p.startsKey(at):
			// "a: 1, "b": 2: the first colon was that of the key.
			t.sepLen = t.colonLen
			return verdict{role: isBefore, end: t.colon}
		case c == ',':
			return inner
		}
	}
	if q.where == inMember {
		if ownKey {
			return verdict{role: isBefore, end: at}
		}
		if next > at+size && !q.inner && p.bareKeyAt(next) {
			return verdict{role: isEnd}
		}
	}
	if q.inner {
		return inner
	}
	later := p.later(q, at+size)
	if later < 0 {
		return verdict{role: isEnd}
	}
	switch q.where {
	case inKey:
		if p.at(p.skip(later+1)) != ':' {
			return verdict{role: isEnd}
		}
	case inMember:
		if p.startsKey(later) {
			return verdict{role: isEnd}
		}
	case inArray:
		before := strings.TrimRight(p.s[at:later], " \t\r\n")
		if strings.HasSuffix(before, ",") && (p.startsItem(later) || p.isOpen('{') && p.startsKey(later)) {
			return verdict{role: isEnd}
		}
	}
	return inner
}

// later is the position of the next quote from i on that could close q.
func (p *parser) later(q *quote, i int) int {
	for j := i; j < len(p.s) && p.work >= 0; {
		r, size := utf8.DecodeRuneInString(p.s[j:])
		if closes(q.open, r) {
			p.work -= j - i
			return j
		}
		j += size
	}
	p.work -= len(p.s) - i
	return -1
}

// closing is the position of the next bare quote behind the opening quote of
// length n at i that could close it, or -1.
func (p *parser) closing(i, n int) int {
	open, _ := utf8.DecodeLastRuneInString(p.s[i : i+n])
	limit := min(len(p.s), i+n+itemWindow)
	for j := i + n; j < limit && p.work >= 0; {
		r, size := utf8.DecodeRuneInString(p.s[j:])
		if r == '\\' && n == size {
			j += 2
			continue
		}
		if closes(open, r) {
			p.work -= j - i
			return j
		}
		j += size
	}
	p.work -= limit - i
	return -1
}

// startsKey says whether a quoted key and its colon stand at i.
func (p *parser) startsKey(i int) bool {
	n := p.quoteAt(i)
	if n == 0 || p.work < 0 {
		return false
	}
	end := p.closing(i, n)
	if end < 0 || end > i+keyWindow || strings.ContainsAny(p.s[i+n:end], "\n,:{}[]") {
		return false
	}
	_, size := utf8.DecodeRuneInString(p.s[end:])
	c, _ := p.sign(p.skip(end + size))
	return c == ':'
}

// keyAt returns the key for which startsKey is true.
func (p *parser) keyAt(i int) string {
	n := p.quoteAt(i)
	return p.s[i+n : p.closing(i, n)]
}

// startsItem says whether a quoted item of an array stands at i.
func (p *parser) startsItem(i int) bool {
	n := p.quoteAt(i)
	if n == 0 || p.work < 0 {
		return false
	}
	end := p.closing(i, n)
	if end < 0 {
		return false
	}
	_, size := utf8.DecodeRuneInString(p.s[end:])
	after := p.skip(end + size)
	c, _ := p.sign(after)
	return after >= len(p.s) || c == ',' || c == ']'
}

// bareKeyAt says whether a word and a colon stand at i.
func (p *parser) bareKeyAt(i int) bool {
	j := i
	for isWord(p.at(j)) || p.at(j) == '-' {
		j++
	}
	return j > i && p.at(p.skip(j)) == ':' && p.at(p.skip(j)+1) != '/'
}
