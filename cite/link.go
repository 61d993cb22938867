package cite

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

const (
	wholeFragment = 160 // bytes up to which a text fragment holds the whole text
	edgeFragment  = 48  // bytes of each end of a longer one
	contextBytes  = 32  // bytes of prefix and suffix
)

// Link returns where a reader finds the passage: "path:line" in a file, the
// URL with a text fragment on the web, both without the finer place when the
// passage doesn't lie in the snapshot.
func (s Source) Link(p Passage, snap *Snapshot) string {
	quote, err := p.Quote(snap)
	if err != nil {
		return s.URI
	}
	if s.Kind != Web {
		return fmt.Sprintf("%s:%d", s.URI, snap.Line(p.Start))
	}
	fragment := textFragment(snap, p.Start, p.End, quote)
	if fragment == "" {
		return s.URI
	}
	if strings.Contains(s.URI, "#") {
		return s.URI + ":~:text=" + fragment
	}
	return s.URI + "#:~:text=" + fragment
}

// textFragment returns the text directive for a span: its text, or its two
// ends when it is long or crosses a line, between a prefix and a suffix when
// the page has the same text elsewhere.
func textFragment(snap *Snapshot, start, end int, quote string) string {
	text := snap.Text
	first, last := visible(quote), ""
	lines := strings.Split(strings.TrimSpace(quote), "\n")
	if len(lines) > 1 || len(first) > wholeFragment {
		head, tail := visible(lines[0]), visible(lines[len(lines)-1])
		first, last = firstWords(head, edgeFragment), lastWords(tail, edgeFragment)
		if len(lines) == 1 && len(first)+len(last) >= len(head) {
			first, last = head, ""
		}
	}
	if first == "" {
		return ""
	}
	var b strings.Builder
	again := strings.Count(snap.shown(), strings.ToLower(first)) > 1
	if again {
		before := strings.TrimRight(text[:start], " \t\n")
		before = before[strings.LastIndexByte(before, '\n')+1:]
		if prefix := lastWords(visible(before), contextBytes); prefix != "" {
			b.WriteString(escapeFragment(prefix) + "-,")
		}
	}
	b.WriteString(escapeFragment(first))
	if last != "" {
		b.WriteString("," + escapeFragment(last))
	}
	if again {
		after, _, _ := strings.Cut(strings.TrimLeft(text[end:], " \t\n"), "\n")
		if suffix := firstWords(visible(after), contextBytes); suffix != "" {
			b.WriteString(",-" + escapeFragment(suffix))
		}
	}
	return b.String()
}

// escapeFragment encodes what has a meaning in a text directive.
func escapeFragment(s string) string {
	s = strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
	return strings.ReplaceAll(s, "-", "%2D")
}

var (
	lineMark   = pattern(`(?m)^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|\d{1,3}[.)][ \t]+)`)
	markupLink = pattern(`!?\[([^\]\n]*)\]\([^)\n]*\)`)
)

// visible takes Markdown off a text, so that it reads as on the page, with
// single spaces.
func visible(text string) string {
	text = lineMark().ReplaceAllString(text, "")
	text = markupLink().ReplaceAllString(text, "$1")
	text = strings.NewReplacer("**", "", "__", "", "`", "").Replace(text)
	return strings.Join(strings.Fields(text), " ")
}

// firstWords returns whole words, or characters of a script without spaces,
// from the start of text, up to n bytes.
func firstWords(text string, n int) string {
	if len(text) <= n {
		return text
	}
	cut := n
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	if r, _ := utf8.DecodeRuneInString(text[cut:]); r == ' ' || ideograph(r) {
		return text[:cut]
	}
	for i := cut; i > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:i])
		if r == ' ' {
			return text[:i-size]
		}
		if ideograph(r) {
			return text[:i]
		}
		i -= size
	}
	first, _, _ := strings.Cut(text, " ")
	return first
}

// lastWords is firstWords from the end.
func lastWords(text string, n int) string {
	if len(text) <= n {
		return text
	}
	cut := len(text) - n
	for cut < len(text) && !utf8.RuneStart(text[cut]) {
		cut++
	}
	if r, _ := utf8.DecodeLastRuneInString(text[:cut]); r == ' ' || ideograph(r) {
		return text[cut:]
	}
	for i := cut; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == ' ' {
			return text[i+size:]
		}
		if ideograph(r) {
			return text[i:]
		}
		i += size
	}
	return text[strings.LastIndexByte(text, ' ')+1:]
}
