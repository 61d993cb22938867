package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/internal/base/term"
)

// display returns the lines in which a quote is shown: what a terminal would
// act upon is gone, lines that only wrap are joined, and those of lists and
// tables stay.
func display(text string) []string {
	var out []string
	joins := false
	for line := range strings.SplitSeq(term.Clean(strings.ToValidUTF8(text, "\uFFFD")), "\n") {
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case line == "":
			joins = false
			continue
		case joins && !standsAlone(line):
			out[len(out)-1] += between(out[len(out)-1], line) + line
		default:
			out = append(out, line)
		}
		joins = !strings.HasPrefix(line, "|")
	}
	return out
}

// between is what joins two lines: nothing where one of a script without spaces
// was wrapped.
func between(before, after string) string {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	if spaceless(last) && spaceless(first) {
		return ""
	}
	return " "
}

// spaceless reports Chinese and Japanese characters and their punctuation.
func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xffef
}

// standsAlone reports the lines of lists, tables, headings and quotations.
func standsAlone(line string) bool {
	first, _, _ := strings.Cut(line, " ")
	if strings.HasPrefix(line, "|") || strings.HasPrefix(line, ">") || strings.Trim(first, "#") == "" || strings.Trim(first, "-+*•=") == "" {
		return true
	}
	number := strings.TrimLeft(first, "0123456789")
	return len(number) < len(first) && (number == "." || number == ")")
}

// line returns a text as one line.
func line(text string) string { return term.Line(strings.ToValidUTF8(text, "\uFFFD")) }

// piece is a part of a line of foreign text.
type piece struct {
	kind pieceKind
	text string // without the marks around it
	raw  string
}

type pieceKind uint8

const (
	plain pieceKind = iota
	code
	strong
)

// pieces finds what is code and what is strong in a line. The sources of many
// quotes are Markdown, and these two can do no harm.
func pieces(text string) []piece {
	var out []piece
	from := 0
	add := func(at, end, marks int, kind pieceKind) {
		if at > from {
			out = append(out, piece{plain, text[from:at], text[from:at]})
		}
		out = append(out, piece{kind, text[at+marks : end-marks], text[at:end]})
		from = end
	}
	for i := 0; i < len(text); {
		n := run(text[i:], text[i])
		switch text[i] {
		case '`':
			if !escaped(text, i) {
				end := closing(text, i+n, '`', n)
				// Some readers see a mail address before they see the code.
				mail := end > 0 && i > 0 && text[i-1] != ' ' && strings.Contains(text[i:end], "@")
				if end > 0 && !mail {
					add(i, end, n, code)
					i = end
					continue
				}
			}
			i += n
		case '*':
			if n == 2 && !escaped(text, i) {
				end := closing(text, i+n, '*', n)
				inner := ""
				if end > 0 {
					inner = text[i+n : end-n]
				}
				if inner != "" && strings.TrimSpace(inner) == inner && !strings.ContainsAny(inner, "`*_[]<>&\\:@|~!") && !strings.Contains(strings.ToLower(inner), "www") {
					add(i, end, n, strong)
					i = end
					continue
				}
			}
			i += n
		default:
			i++
		}
	}
	if from < len(text) {
		out = append(out, piece{plain, text[from:], text[from:]})
	}
	return out
}

// run counts how often a byte stands at the start of text.
func run(text string, c byte) int {
	n := 0
	for n < len(text) && text[n] == c {
		n++
	}
	return n
}

// closing returns the end of the next run of exactly n bytes c, or -1.
func closing(text string, from int, c byte, n int) int {
	for i := from; i < len(text); {
		if text[i] != c {
			i++
			continue
		}
		m := run(text[i:], c)
		if m == n && i > from {
			return i + m
		}
		i += m
	}
	return -1
}

// escaped reports whether a backslash takes the meaning of the byte at i away.
func escaped(text string, i int) bool {
	n := 0
	for i-n > 0 && text[i-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

// markdownBlock returns lines of foreign text as Markdown that shows them as
// they are, broken as they are.
func markdownBlock(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = inert(l, true, len(lines) > 1)
		if i+1 < len(lines) {
			out[i] += "  "
		}
	}
	return out
}

// markdownStart returns foreign text as Markdown at the start of a line.
func markdownStart(text string) string { return inert(line(text), true, false) }

// markdownLine returns foreign text as Markdown within a line.
func markdownLine(text string) string { return inert(line(text), false, false) }

// inert escapes one line of foreign text for Markdown, and no more of it than
// is needed, since people read the source too. opens says that it begins a
// line, where a few characters more have a meaning; table that it has
// neighbours with which it could make one.
func inert(text string, opens, table bool) string {
	var b strings.Builder
	tildes := strings.Count(text, "~") > 1
	at := 0
	for i, p := range pieces(text) {
		from := at
		at += len(p.raw)
		if p.kind != plain {
			if p.kind == code && table {
				// A row of a table is cut at its bars before code is seen.
				p.raw = strings.ReplaceAll(p.raw, "|", `\|`)
			}
			b.WriteString(p.raw)
			continue
		}
		e := escaper{text: text, from: from, to: at, opens: opens && i == 0, table: table, tildes: tildes, out: &b}
		e.run()
	}
	return b.String()
}

// escaper writes what stands in text between from and to.
type escaper struct {
	text                 string
	from, to             int
	opens, table, tildes bool
	out                  *strings.Builder
}

func (e *escaper) run() {
	at := e.from
	if e.opens {
		at += e.start()
	}
	for i, r := range e.text[at:e.to] {
		if e.means(at+i, r) {
			e.out.WriteByte('\\')
		}
		e.out.WriteRune(r)
	}
}

// start escapes what opens a block and returns how many bytes it wrote.
func (e *escaper) start() int {
	t := e.text[e.from:e.to]
	if t == "" {
		return 0
	}
	next := byte(' ')
	if len(t) > 1 {
		next = t[1]
	}
	switch t[0] {
	case '>', '=', '|':
	case '-', '+', '*':
		if next != ' ' && next != t[0] {
			return 0
		}
	case ':':
		if next != '-' {
			return 0
		}
	case '[':
		if next != '!' {
			return 0
		}
	default:
		n := len(t) - len(strings.TrimLeft(t, "0123456789"))
		if n == 0 || n > 9 || n == len(t) || t[n] != '.' && t[n] != ')' || n+1 < len(t) && t[n+1] != ' ' {
			return 0
		}
		e.out.WriteString(t[:n] + `\` + t[n:n+1])
		return n + 1
	}
	e.out.WriteString(`\` + t[:1])
	return 1
}

// means reports whether the character at i would have a meaning in Markdown.
func (e *escaper) means(i int, r rune) bool {
	if r >= utf8.RuneSelf {
		return false
	}
	rest := e.text[i+1:]
	next, _ := utf8.DecodeRuneInString(rest)
	before, _ := utf8.DecodeLastRuneInString(e.text[:i])
	if rest == "" {
		next = ' '
	}
	if i == 0 {
		before = ' '
	}
	switch r {
	case '\\':
		return rest == "" || next < utf8.RuneSelf && (unicode.IsPunct(next) || unicode.IsSymbol(next))
	case '`':
		return true
	case '*':
		return !(before == ' ' && next == ' ')
	case '_':
		return !(wordly(before) && wordly(next)) && !(before == ' ' && next == ' ')
	case '~':
		return e.tildes
	case '[':
		return next == '['
	case ']':
		return next == '(' || next == ':'
	case '!':
		return next == '['
	case '<':
		return next != ' ' && next != '='
	case '&':
		return entity(rest)
	case ':':
		return strings.HasPrefix(rest, "/") || scheme(e.text[:i])
	case '@':
		return before != ' ' && next != ' '
	case '.':
		return i >= 3 && strings.EqualFold(e.text[i-3:i], "www")
	case '#':
		return before == ' ' && (next == ' ' || next == '#')
	case '|':
		return e.table
	}
	return false
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// entity reports whether text goes on an ampersand to a character reference.
func entity(text string) bool {
	if strings.HasPrefix(text, "#") {
		return true
	}
	n := 0
	for n < len(text) && (text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z' || text[n] >= '0' && text[n] <= '9') {
		n++
	}
	return n > 0 && n < len(text) && text[n] == ';'
}

// scheme reports whether text ends in the name of a scheme that is a link
// without slashes.
func scheme(text string) bool {
	for _, s := range []string{"mailto", "xmpp", "javascript", "data", "vbscript"} {
		if len(text) >= len(s) && strings.EqualFold(text[len(text)-len(s):], s) {
			return true
		}
	}
	return false
}

// markup is a builder of HTML.
type markup struct{ strings.Builder }

var htmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// text writes foreign text as text.
func (m *markup) text(s string) { _, _ = htmlEscapes.WriteString(m, s) }

// foreign writes a line of foreign text, with code and strong parts shown as
// such.
func (m *markup) foreign(s string) {
	for _, p := range pieces(s) {
		switch p.kind {
		case code:
			m.element("code", p.text)
		case strong:
			m.element("strong", p.text)
		default:
			m.text(p.text)
		}
	}
}

// element writes an element around text. attributes are pairs of a name and a
// value; one without a value is left out.
func (m *markup) element(name, text string, attributes ...string) {
	m.open(name, attributes...)
	m.text(text)
	m.WriteString("</" + name + ">")
}

func (m *markup) open(name string, attributes ...string) {
	m.WriteString("<" + name)
	for i := 0; i+1 < len(attributes); i += 2 {
		if attributes[i+1] != "" {
			m.WriteString(" " + attributes[i] + `="`)
			m.text(attributes[i+1])
			m.WriteByte('"')
		}
	}
	m.WriteByte('>')
}
