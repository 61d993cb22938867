package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/internal/base/term"
	"dossier/lang"
)

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
func markdownBlock(lines []shown) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.markdown()
		if i+1 < len(lines) {
			out[i] += "  "
		}
	}
	return out
}

// markdownStart returns foreign text as Markdown at the start of a line.
func markdownStart(text string) string { return inert(line(text), true) }

// markdownLine returns foreign text as Markdown within a line.
func markdownLine(text string) string { return inert(line(text), false) }

// inert escapes one line of foreign text for Markdown, and no more of it than
// is needed, since people read the source too. opens says that it begins a
// line, where a few characters more have a meaning.
func inert(text string, opens bool) string { return stressed(text, lang.Span{}, opens) }

// stressed is inert with a part that is shown strong, if there is one. The part
// cuts no code.
func stressed(text string, mark lang.Span, opens bool) string {
	var b strings.Builder
	e := escaper{text: text, ruled: ruled(text), tildes: strings.Count(text, "~") > 1, beside: mark.Start < mark.End, out: &b}
	at := 0
	// to writes plain text up to a place, with the signs of the mark.
	to := func(end int) {
		for at < end {
			stop := end
			for _, edge := range []int{mark.End, mark.Start} {
				if e.beside && at < edge && edge < stop {
					stop = edge
				}
			}
			e.sign(at == mark.Start)
			e.from, e.to, e.opens = at, stop, opens && at == 0
			e.run()
			at = stop
			e.sign(at == mark.End)
		}
	}
	for _, p := range pieces(text) {
		end := at + len(p.raw)
		if p.kind == plain || p.kind == strong && e.beside {
			to(end)
			continue
		}
		e.sign(at == mark.Start)
		b.WriteString(p.raw)
		at = end
		e.sign(at == mark.End)
	}
	return b.String()
}

// escaper writes what stands in text between from and to.
type escaper struct {
	text          string
	from, to      int
	opens, tildes bool
	ruled         bool // it would make a table of the line before it
	beside        bool // signs for strong text may stand beside it
	out           *strings.Builder
}

// sign writes the sign of strong text, where the text has such a part and it
// begins or ends here.
func (e *escaper) sign(here bool) {
	if e.beside && here {
		e.out.WriteString("**")
	}
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
		if next != ' ' && next != t[0] && !(t[0] == '-' && next == ':') {
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
		return e.beside || rest == "" || next < utf8.RuneSelf && (unicode.IsPunct(next) || unicode.IsSymbol(next))
	case '`':
		return true
	case '*':
		return e.beside || !(before == ' ' && next == ' ')
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
		return scheme(e.text[:i], strings.HasPrefix(rest, "//"))
	case '.':
		return i >= 3 && strings.EqualFold(e.text[i-3:i], "www")
	case '#':
		return before == ' ' && (next == ' ' || next == '#')
	case '|':
		return e.ruled
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

// scheme reports whether text ends in the name of a scheme that makes a link of
// what follows: with two slashes those that readers of Markdown look for, and
// without them a few more. Other addresses stay text, and so do those of mail,
// which lead nowhere but to where they say; they are written as people copy them.
func scheme(text string, slashes bool) bool {
	names := []string{"mailto", "xmpp", "javascript", "data", "vbscript"}
	if slashes {
		names = append(names, "http", "https", "ftp")
	}
	for _, s := range names {
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
