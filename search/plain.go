package search

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Plain returns the text of a piece of HTML: no tags, no comments, no scripts,
// entities as the characters that they stand for. Paragraphs and line breaks
// become line breaks, every other run of space is one space, and control
// characters are left out. It is for services that send markup; a service that
// sends text needs Line, since Plain would take a "<" in it for a tag.
func Plain(markup string) string {
	var out line
	z := html.NewTokenizer(strings.NewReader(markup))
	hidden := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return out.String()
		case html.TextToken:
			if !hidden {
				out.add(string(z.Text()))
			}
		case html.StartTagToken:
			tag := nextTag(z)
			hidden = unseen[tag]
			out.element(tag)
		case html.EndTagToken:
			hidden = false
			out.element(nextTag(z))
		case html.SelfClosingTagToken:
			out.element(nextTag(z))
		}
	}
}

// Line returns text in one line, without control characters.
func Line(text string) string {
	var out line
	out.add(text)
	return out.String()
}

func nextTag(z *html.Tokenizer) atom.Atom {
	name, _ := z.TagName()
	return atom.Lookup(name)
}

// unseen are the elements whose content a browser does not show as text. The
// tokenizer gives all of it as one piece.
var unseen = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Iframe: true, atom.Noembed: true, atom.Noframes: true,
}

var breaks = map[atom.Atom]bool{
	atom.Br: true, atom.P: true, atom.Div: true, atom.Li: true, atom.Ul: true, atom.Ol: true, atom.Dl: true, atom.Dt: true,
	atom.Dd: true, atom.Tr: true, atom.Table: true, atom.Blockquote: true, atom.Pre: true, atom.Hr: true, atom.Section: true,
	atom.Article: true, atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true,
}

// line writes text with the space between its words made even.
type line struct {
	strings.Builder

	gap rune // what stands between the last word and the next: nothing, a space or a line break
}

func (l *line) add(text string) {
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			l.apart(' ')
		case unicode.IsControl(r):
		default:
			if l.gap != 0 && l.Len() > 0 {
				l.WriteRune(l.gap)
			}
			l.gap = 0
			l.WriteRune(r)
		}
	}
}

func (l *line) element(tag atom.Atom) {
	switch {
	case breaks[tag]:
		l.apart('\n')
	case tag == atom.Td || tag == atom.Th:
		l.apart(' ')
	}
}

func (l *line) apart(gap rune) {
	if l.gap != '\n' {
		l.gap = gap
	}
}
