package reader

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// place is where a run of text stands in the markup.
type place struct {
	kind  Kind
	node  *html.Node // the element that makes it that kind
	note  *html.Node // the note, tip or warning around it
	pre   *html.Node
	table *html.Node // the innermost one
}

// places finds where runs stand. Neighbours share what is above them, so what
// was found out about an element is kept.
type places struct {
	notes map[*html.Node]*html.Node
}

func (p *places) of(n *html.Node) place {
	at := place{note: p.noteAround(n)}
	for ; n != nil && at.table == nil; n = n.Parent {
		kind := Kind("")
		switch n.DataAtom {
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			kind = Heading
		case atom.Li:
			kind = Item
		case atom.Dt:
			kind = Term
		case atom.Dd:
			kind = Definition
		case atom.Blockquote:
			kind = Quote
		case atom.Figcaption:
			kind = Note
		case atom.Td, atom.Th, atom.Caption, atom.Article, atom.Section, atom.Body:
			kind = Paragraph
		case atom.Pre:
			if at.pre == nil {
				at.pre = n
			}
		case atom.Table:
			at.table = n
		}
		if kind == "" && n == at.note {
			kind = Paragraph
		}
		if kind != "" && at.kind == "" {
			at.kind, at.node = kind, n
		}
	}
	if at.kind == "" {
		at.kind = Paragraph
	}
	return at
}

// noteNames are the classes by which tools name notes and the like. A sidebar
// is one: what is nothing but links did not get here.
var noteNames = map[string]bool{"note": true, "tip": true, "warning": true, "caution": true, "important": true, "danger": true, "hint": true,
	"attention": true, "admonition": true, "admonitionblock": true, "callout": true, "sidebar": true, "sidebarblock": true, "footnote": true, "footnotes": true}

// noteWords are the titles of notes that stand alone above them.
var noteWords = map[string]bool{"note": true, "notes": true, "tip": true, "warning": true, "caution": true, "important": true, "hint": true, "attention": true, "danger": true,
	"замечание": true, "примечание": true, "внимание": true, "предупреждение": true, "совет": true, "важно": true, "подсказка": true,
	"注意": true, "提示": true, "警告": true, "注": true, "小心": true, "重要": true, "说明": true, "备注": true}

// labelled puts the title of a note before its words.
func labelled(label, text string) string {
	switch last := lastRune(label); {
	case strings.ContainsRune(":：!?！？", last):
		return label + " " + text
	case last > 0x2e80:
		return label + "：" + text
	}
	return label + ": " + text
}

func (p *places) noteAround(n *html.Node) *html.Node {
	if n == nil || n.Type != html.ElementNode {
		return nil
	}
	if got, ok := p.notes[n]; ok {
		return got
	}
	note := p.noteAround(n.Parent)
	if note == nil && n.DataAtom != atom.Body && n.DataAtom != atom.Html && (noteRole(n) || isNote(attr(n, "class"))) {
		note = n
	}
	p.notes[n] = note
	return note
}

// noteRole says that an element is a note by its role, or by what books write
// for it.
func noteRole(n *html.Node) bool {
	switch attr(n, "role") {
	case "note", "doc-footnote", "doc-endnote", "doc-tip", "doc-notice":
		return true
	}
	switch attr(n, "epub:type") {
	case "footnote", "endnote", "footnotes", "endnotes", "rearnote":
		return true
	}
	return false
}

func isNote(class string) bool {
	if class == "" {
		return false
	}
	for name := range strings.FieldsSeq(class) {
		if noteNames[strings.ToLower(name)] {
			return true
		}
	}
	return false
}

const longLabel = 100 // bytes of a note's title

// noteLabel says that a run is the title of the note that it stands in.
func noteLabel(n, note *html.Node, text string) bool {
	if len(text) > longLabel || strings.HasSuffix(text, ".") {
		return false
	}
	for ; n != nil && n != note; n = n.Parent {
		switch n.DataAtom {
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Th:
			return true
		}
		for name := range strings.FieldsSeq(attr(n, "class")) {
			switch name {
			case "title", "admonition-title", "icon", "label", "heading", "note-title", "callout-title":
				return true
			}
		}
	}
	return false
}
