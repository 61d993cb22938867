// Package markdown shows Markdown on a terminal: wrapped between words at its
// width, with bars beside quotations, and with bold, colours and links where
// the terminal has them.
//
// What a text says to a terminal does not reach it: the only escapes in what
// is returned are those of this package.
package markdown

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"dossier/internal/base/term"
)

// Look is how a text is to appear.
type Look struct {
	// Width is how many columns there are; lines are not longer, save those of
	// code.
	Width int
	// Plain leaves out bold, colours and links.
	Plain bool
	// Own says that the links of the text are ours: they lead where they say,
	// and their label is enough. The address of any other link is shown.
	Own bool
	// Source returns the address of the source with a number, for its markers
	// in the text: [3]. It may be nil, and the address empty.
	Source func(number int) string
}

const (
	least     = 20      // columns that a text gets, however narrow the terminal is
	maxParsed = 1 << 20 // what is longer is shown as it is
)

var grammar = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
})

// Lines returns a text as lines for a terminal. Each stands for itself: what it
// turns on it turns off.
func Lines(markdown string, look Look) []string {
	markdown = term.Clean(markdown)
	if len(markdown) > maxParsed {
		return strings.Split(strings.TrimRight(markdown, "\n"), "\n")
	}
	look.Width = max(look.Width, least)
	w := writer{look: look, source: []byte(markdown)}
	w.blocks(grammar().Parse(text.NewReader(w.source)))
	return w.lines
}

// writer turns blocks into lines.
type writer struct {
	look   Look
	source []byte
	lines  []string
	// margins are what stands at the left of each line, the outermost first.
	margins []margin
	tight   bool // between blocks is no empty line
}

// margin is what stands before the lines of a block, and before its first one.
type margin struct {
	first, rest string
	begun       bool
}

// within writes lines behind a margin.
func (w *writer) within(m margin, do func()) {
	w.margins = append(w.margins, m)
	do()
	w.margins = w.margins[:len(w.margins)-1]
}

// room is how many columns are left beside the margins.
func (w *writer) room() int {
	n := w.look.Width
	for _, m := range w.margins {
		n -= visible(m.rest)
	}
	return max(n, least/2)
}

// visible is how many columns a margin takes.
func visible(s string) int { return term.Width(term.Clean(s)) }

// put writes a line behind the margins.
func (w *writer) put(line string) {
	var b strings.Builder
	for i := range w.margins {
		m := &w.margins[i]
		if m.begun {
			b.WriteString(m.rest)
		} else {
			b.WriteString(m.first)
		}
		m.begun = true
	}
	if line == "" {
		w.lines = append(w.lines, strings.TrimRight(b.String(), " "))
		return
	}
	w.lines = append(w.lines, b.String()+line)
}

// blocks writes the blocks of a node with an empty line between them.
func (w *writer) blocks(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.PreviousSibling() != nil && !w.tight {
			w.put("")
		}
		w.block(c)
	}
}

func (w *writer) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		s := heading
		if n.Level == 1 {
			s = title
		}
		w.flow(w.inline(n, s))
	case *ast.Blockquote:
		bar := w.styled("│", dim) + " "
		tight := w.tight
		w.tight = false
		w.within(margin{first: bar, rest: bar}, func() { w.blocks(n) })
		w.tight = tight
	case *ast.List:
		w.list(n)
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
		w.verbatim(n)
	case *ast.ThematicBreak:
		w.put(w.styled(strings.Repeat("─", min(w.room(), 40)), dim))
	case *east.Table:
		w.table(n)
	case *ast.LinkReferenceDefinition:
	default:
		w.flow(w.inline(n, 0))
	}
}

func (w *writer) list(list *ast.List) {
	number := list.Start
	tight := w.tight
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		sign := "• "
		if list.IsOrdered() {
			sign = strconv.Itoa(number) + ". "
			number++
		}
		if item.PreviousSibling() != nil && !list.IsTight {
			w.put("")
		}
		w.tight = list.IsTight
		w.within(margin{first: sign, rest: strings.Repeat(" ", term.Width(sign))}, func() { w.blocks(item) })
	}
	w.tight = tight
}

// verbatim writes code. Its lines are broken only where there is a margin to
// keep.
func (w *writer) verbatim(n ast.Node) {
	code := strings.TrimRight(strings.ReplaceAll(string(n.Lines().Value(w.source)), "\t", "    "), "\n")
	w.within(margin{first: "  ", rest: "  "}, func() {
		for line := range strings.SplitSeq(code, "\n") {
			if len(w.margins) == 1 {
				w.put(w.styled(line, mono))
				continue
			}
			for _, l := range chop(line, w.room()) {
				w.put(w.styled(l, mono))
			}
		}
	})
}

// chop cuts a line into pieces of at most width columns.
func chop(line string, width int) []string {
	var out []string
	from, n := 0, 0
	for i, r := range line {
		c := term.Width(string(r))
		if n+c > width && i > from {
			out, from, n = append(out, line[from:i]), i, 0
		}
		n += c
	}
	return append(out, line[from:])
}

// flow writes running text.
func (w *writer) flow(text []cell) {
	for _, line := range wrap(text, w.room()) {
		w.put(w.cells(line))
	}
}

// table writes a table in columns, or, where there is no room for them, each
// row as the names of its cells with what is in them.
func (w *writer) table(n *east.Table) {
	var rows [][][]cell
	var sizes []int
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		var row [][]cell
		_, head := r.(*east.TableHeader)
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			s := style(0)
			if head {
				s = strong
			}
			text := w.inline(c, s)
			if len(sizes) == len(row) {
				sizes = append(sizes, 0)
			}
			sizes[len(row)] = max(sizes[len(row)], columns(text))
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	const gap = 2
	all := gap * (len(sizes) - 1)
	for _, s := range sizes {
		all += s
	}
	if all > w.room() {
		w.records(rows)
		return
	}
	for i, row := range rows {
		var line strings.Builder
		for j, text := range row {
			if line.WriteString(w.cells(text)); j < len(row)-1 {
				line.WriteString(strings.Repeat(" ", sizes[j]-columns(text)+gap))
			}
		}
		w.put(strings.TrimRight(line.String(), " "))
		if i == 0 {
			w.put(w.styled(strings.Repeat("─", all), dim))
		}
	}
}

func (w *writer) records(rows [][][]cell) {
	for i, row := range rows[1:] {
		if i > 0 {
			w.put("")
		}
		for j, text := range row {
			if j < len(rows[0]) && len(rows[0][j]) > 0 && len(text) > 0 {
				text = slices.Concat(rows[0][j], plain(": ", 0), text)
			}
			if len(text) > 0 {
				w.flow(text)
			}
		}
	}
}

// inline returns the text of a block.
func (w *writer) inline(n ast.Node, s style) []cell {
	var out []cell
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		out = append(out, w.node(c, s)...)
	}
	if n.Type() == ast.TypeBlock {
		w.markers(out)
	}
	return out
}

func (w *writer) node(n ast.Node, s style) []cell {
	switch n := n.(type) {
	case *ast.Text:
		out := plain(w.words(n.Value(w.source)), s)
		switch {
		case n.HardLineBreak():
			out = append(out, cell{r: '\n'})
		case n.SoftLineBreak():
			out = append(out, cell{r: ' ', style: s})
		}
		return out
	case *ast.String:
		return plain(w.words(n.Value), s)
	case *ast.CodeSpan:
		var out []cell
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if t, ok := c.(*ast.Text); ok {
				out = append(out, plain(string(t.Value(w.source)), s|mono)...)
			}
		}
		return out
	case *ast.Emphasis:
		if n.Level > 1 {
			return w.inline(n, s|strong)
		}
		return w.inline(n, s|slanted)
	case *east.Strikethrough:
		return w.inline(n, s|struck)
	case *east.TaskCheckBox:
		if n.IsChecked {
			return plain("☑ ", s)
		}
		return plain("☐ ", s)
	case *ast.AutoLink:
		return linked(plain(term.Line(string(n.Label(w.source))), s|place), address(n.URL(w.source)))
	case *ast.Link:
		return w.link(n, s)
	case *ast.RawHTML:
		return plain(term.Line(string(n.Segments.Value(w.source))), s)
	}
	return w.inline(n, s)
}

// link shows a link by its label, and by its address unless that is ours.
func (w *writer) link(n *ast.Link, s style) []cell {
	to := address(n.Destination)
	if w.look.Own {
		return linked(w.inline(n, s|place), to)
	}
	label := w.inline(n, s)
	shown := term.Line(string(n.Destination))
	if shown == "" || shown == written(label) {
		return linked(label, to)
	}
	return slices.Concat(label, plain(" (", s), linked(plain(shown, s|place), to), plain(")", s))
}

// words are a piece of text as it is meant: without the backslashes that take a
// meaning away, and with characters for their references.
func (w *writer) words(raw []byte) string {
	return term.Clean(string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(raw)))))
}

// address returns an address that can be a part of an escape, or nothing.
func address(raw []byte) string {
	for _, c := range raw {
		if c <= ' ' || c >= 0x7f {
			return ""
		}
	}
	return string(raw)
}
