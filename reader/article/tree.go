package article

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// elem is an element of the page with what was counted below it. Elements
// are kept in document order, so that those below one follow it.
type elem struct {
	node   *html.Node
	parent int
	end    int // index after the last element below it
	first  int // its first block
	last   int // index after its last block
	words  nameWords
	junk   bool // it or something above it is not content
	sum    float64
	inner  float64 // prose of the best part below that is named as an article's text
	prose  float64 // points of the text below, wherever it stands
	text   int     // weight of the text below
	links  int     // weight of the text in links below
}

// block is a run of text with nothing but inline markup in it: a paragraph,
// a heading, a list item, a cell, a line between two breaks.
type block struct {
	elem   int // the innermost block element around it
	nodes  []*html.Node
	text   string
	weight int // of its text
	links  int // of its text in links
	marks  int // ends of sentences
	commas int
	score  float64
	keep   bool
}

// tree is a page as the extraction sees it.
type tree struct {
	elems  []elem
	blocks []block
	text   int
	trial  *Trial // nil for all words
	names  names

	buf   strings.Builder
	nodes []*html.Node
	space bool
	link  int
	links int
	brk   int
}

// scan reads a page below root.
func scan(root *html.Node, v *Trial) *tree {
	t := &tree{trial: v, names: names{trial: v}}
	t.walk(root, -1)
	t.flush(0)
	for i := range t.elems {
		if t.elems[i].end == 0 {
			t.elems[i].end, t.elems[i].last = len(t.elems), len(t.blocks)
		}
	}
	return t
}

func (t *tree) walk(n *html.Node, parent int) {
	switch n.Type {
	case html.TextNode:
		t.addText(n)
		return
	case html.ElementNode:
	case html.DocumentNode:
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			t.walk(c, parent)
		}
		return
	default:
		return
	}
	if skipped[n.DataAtom] {
		return
	}
	if n.DataAtom == atom.Br {
		t.brk++
		if t.brk > 1 {
			t.flush(parent)
		} else {
			t.space = true
			t.nodes = append(t.nodes, n)
		}
		return
	}
	if n.DataAtom == atom.A && permalink(n) {
		return
	}
	words := nameWords(0)
	if len(n.Attr) > 0 {
		words = t.names.of(n)
	}
	blocky := !inline[n.DataAtom]
	if !blocky && words != 0 {
		if words&hidden != 0 || words&noise != 0 && n.FirstChild != nil && n.DataAtom == atom.Span && linkInside(n) {
			return
		}
		blocky = words&caption != 0
	}
	self := parent
	if blocky {
		t.flush(parent)
		self = len(t.elems)
		t.elems = append(t.elems, elem{node: n, parent: parent, first: len(t.blocks), words: words})
	}
	// An anchor without an address is none, and in XML it may seem to go on to
	// the end of the text.
	link := n.DataAtom == atom.A && has(n, "href")
	if link {
		t.link++
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		t.walk(c, self)
	}
	if link {
		t.link--
	}
	if blocky {
		t.flush(self)
		t.elems[self].end, t.elems[self].last = len(t.elems), len(t.blocks)
	}
}

// permalink says that a link is the mark by which tools let one copy the
// address of a heading.
func permalink(n *html.Node) bool {
	c := n.FirstChild
	if c == nil || c != n.LastChild || c.Type != html.TextNode || len(c.Data) > 4 {
		return false
	}
	switch c.Data {
	case "¶", "§", "#", "🔗", "\uf0c1":
		return strings.Contains(attr(n, "href"), "#")
	}
	return false
}

// linkInside says that an inline element holds a link.
func linkInside(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.A || linkInside(c) {
			return true
		}
	}
	return false
}

func (t *tree) addText(n *html.Node) {
	start := t.buf.Len()
	links := 0
	for _, r := range n.Data {
		if r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\u00a0' || r == '\f' || r == '\u200b' || r == '\ufeff' || r > 0x2000 && unicode.IsSpace(r) {
			t.space = true
			continue
		}
		if t.space && t.buf.Len() > 0 {
			t.buf.WriteByte(' ')
		}
		t.space = false
		t.brk = 0
		t.buf.WriteRune(r)
		links += weight(r)
	}
	if t.buf.Len() > start || t.space {
		t.nodes = append(t.nodes, n)
	}
	if t.link > 0 {
		t.links += links
	}
}

// weight makes lengths of texts in different scripts comparable.
func weight(r rune) int {
	if r >= 0x2e80 && r < 0xfb00 || r >= 0x20000 {
		return 3
	}
	return 1
}

// flush ends the block under way.
func (t *tree) flush(elem int) {
	if t.buf.Len() > 0 {
		b := block{elem: max(elem, 0), nodes: t.nodes, text: t.buf.String(), links: t.links}
		b.measure()
		t.text += b.weight
		t.blocks = append(t.blocks, b)
		t.nodes = nil
	}
	t.nodes = t.nodes[:0]
	t.buf.Reset()
	t.space, t.brk, t.links = false, 0, 0
}

func (b *block) measure() {
	prev := rune(0)
	for _, r := range b.text {
		b.weight += weight(r)
		switch r {
		case '.', '!', '?', '…':
			if unicode.IsLetter(prev) || unicode.IsDigit(prev) || prev == ')' || prev == '"' || prev == '”' || prev == '»' {
				b.marks++
			}
		case '。', '！', '？', '।', '۔', '؟', '။', '።':
			b.marks++
		case ',', '，', '、', ';', '；', '،':
			b.commas++
		}
		prev = r
	}
}

// at returns the element that holds block i.
func (t *tree) at(i int) *elem { return &t.elems[t.blocks[i].elem] }

// skipped elements hold nothing to read.
var skipped = atoms(atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object, atom.Embed, atom.Svg, atom.Canvas,
	atom.Head, atom.Link, atom.Meta, atom.Audio, atom.Video, atom.Map, atom.Math, atom.Select, atom.Textarea, atom.Input, atom.Button,
	atom.Option, atom.Datalist, atom.Dialog, atom.Applet, atom.Frame, atom.Frameset, atom.Noframes, atom.Img, atom.Picture, atom.Source, atom.Progress, atom.Meter, atom.Rp, atom.Rt)

// inline elements do not end a run of text.
var inline = atoms(atom.A, atom.Abbr, atom.Acronym, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn,
	atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd, atom.Label, atom.Mark, atom.Nobr, atom.Output, atom.Q, atom.Rb, atom.Ruby, atom.S, atom.Samp,
	atom.Small, atom.Span, atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr, atom.Rtc)

func atoms(list ...atom.Atom) map[atom.Atom]bool {
	m := make(map[atom.Atom]bool, len(list))
	for _, a := range list {
		m[a] = true
	}
	return m
}

func attr(n *html.Node, name string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == name {
			return n.Attr[i].Val
		}
	}
	return ""
}
