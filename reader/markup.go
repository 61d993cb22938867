package reader

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dossier/reader/article"
)

// markup appends kept runs of text with the structure they stand in.
func (b *builder) markup(blocks []article.Block, at *url.URL) {
	m := &markup{builder: b, base: at, places: places{notes: map[*html.Node]*html.Node{}}}
	m.read(blocks)
}

// markup writes the runs of one HTML document.
type markup struct {
	*builder
	base   *url.URL
	places places
	entry  *html.Node // the entry of the last run
	note   *html.Node // the note that label is the title of
	label  string
	seen   *html.Node // the note of the last run
}

func (m *markup) read(blocks []article.Block) {
	for i := 0; i < len(blocks) && !m.full; {
		run := &blocks[i]
		if run.Contents {
			m.unlabel()
			m.contents(run.Text, inlineMarkdown(run, m.base))
			i++
			continue
		}
		p := m.places.of(run.Element)
		if p.table != nil && !inside(p.table, p.note) {
			j := i + 1
			for j < len(blocks) && !blocks[j].Contents && ancestor(blocks[j].Element, atom.Table) == p.table {
				j++
			}
			if caption, rows := tableRows(blocks[i:j]); rows != nil {
				m.unlabel()
				m.rows(caption, rows)
				i = j
				continue
			}
		}
		if p.pre != nil {
			var text strings.Builder
			j := i
			for ; j < len(blocks) && ancestor(blocks[j].Element, atom.Pre) == p.pre; j++ {
				if j > i {
					text.WriteString("\n\n")
				}
				rawText(&text, blocks[j].Nodes)
			}
			m.unlabel()
			m.preformatted(text.String())
			i = j
			continue
		}
		m.run(run, &p)
		i++
	}
	m.unlabel()
}

// rows writes a table. One of a single column without a header is a list.
func (m *markup) rows(caption string, rows []row) {
	if caption != "" {
		m.paragraph(caption)
	}
	for _, r := range rows {
		if r.header || len(r.cells) > 1 {
			m.table(rows)
			return
		}
	}
	for _, r := range rows {
		m.item(1, 0, false, r.cells[0], escapeMarkdown(r.cells[0]))
	}
}

// unlabel writes the title of a note of which no text followed.
func (m *markup) unlabel() {
	if m.label != "" {
		m.add(Note, 0, m.label, escapeMarkdown(m.label))
	}
	m.label, m.note = "", nil
}

func (m *markup) run(run *article.Block, p *place) {
	if p.note != nil && (p.kind == Paragraph || p.kind == Heading || p.kind == Quote || p.kind == Note) {
		m.inNote(run, p)
		return
	}
	m.unlabel()
	m.seen = nil
	md := inlineMarkdown(run, m.base)
	if len(m.page.Blocks) == 0 && p.kind == Paragraph && strings.EqualFold(run.Text, m.page.Title) {
		m.add(Heading, 1, run.Text, "# "+md)
		return
	}
	switch p.kind {
	case Heading:
		level := int(p.node.Data[1] - '0')
		if len(m.path) == 0 && strings.EqualFold(run.Text, m.page.Title) {
			level = 1 // of a page that is one section of many
		}
		m.add(Heading, level, run.Text, strings.Repeat("#", level)+" "+md)
	case Item:
		depth, number := listPlace(p.node)
		m.item(depth, number, m.entry == p.node, run.Text, md)
		m.entry = p.node
	case Term:
		m.add(Term, listDepth(p.node), run.Text, md)
	case Definition:
		m.add(Definition, listDepth(p.node), run.Text, ": "+md)
	case Quote:
		m.add(Quote, 0, run.Text, "> "+md)
	default:
		m.add(p.kind, 0, run.Text, md)
	}
}

// inNote writes text of a note. Its title stands before its first words, not
// alone: it says whether they are a warning.
func (m *markup) inNote(run *article.Block, p *place) {
	fresh := m.seen != p.note
	m.seen = p.note
	if fresh && noteLabel(run.Element, p.note, run.Text) {
		m.unlabel()
		m.label, m.note = run.Text, p.note
		return
	}
	md := inlineMarkdown(run, m.base)
	if m.label != "" && m.note == p.note {
		label := m.label
		m.label, m.note = "", nil
		m.add(Note, 0, labelled(label, run.Text), labelled(escapeMarkdown(label), md))
		return
	}
	m.unlabel()
	m.add(Note, 0, run.Text, md)
}

func ancestor(n *html.Node, a atom.Atom) *html.Node {
	for ; n != nil; n = n.Parent {
		if n.DataAtom == a {
			return n
		}
	}
	return nil
}

// inside says that a table is part of the note: it lays it out.
func inside(table, note *html.Node) bool {
	if note == nil {
		return false
	}
	for n := table; n != nil; n = n.Parent {
		if n == note {
			return true
		}
	}
	return false
}

// listDepth is how many definition lists deep an element stands.
func listDepth(n *html.Node) int {
	depth := 0
	for ; n != nil && depth < 8; n = n.Parent {
		if n.DataAtom == atom.Dl {
			depth++
		}
	}
	return max(depth, 1)
}

const (
	// maxCell is the longest text of a cell in a table of data; longer ones
	// stand in tables that lay out a page, unless the table has a header.
	maxCell       = 300
	maxHeadedCell = 4000
	maxListed     = 100 // in a table of one column
)

// tableRows arranges the runs of one table, nil if it is there for its looks.
func tableRows(blocks []article.Block) (caption string, rows []row) {
	for len(blocks) > 0 && ancestor(blocks[0].Element, atom.Caption) != nil {
		caption = strings.TrimSpace(caption + " " + blocks[0].Text)
		blocks = blocks[1:]
	}
	var tr, cell *html.Node
	wide, headed, code, longest := false, false, false, 0
	for i := range blocks {
		c := blocks[i].Element
		for c != nil && c.DataAtom != atom.Td && c.DataAtom != atom.Th && c.DataAtom != atom.Table {
			code = code || c.DataAtom == atom.Pre
			if c.DataAtom == atom.H1 || c.DataAtom == atom.H2 {
				return "", nil
			}
			c = c.Parent
		}
		if c == nil || c.DataAtom == atom.Table || c.Parent == nil {
			return "", nil
		}
		if c.Parent != tr {
			tr = c.Parent
			rows = append(rows, row{header: true})
		}
		last := &rows[len(rows)-1]
		if c != cell {
			last.cells = append(last.cells, "")
			last.header = last.header && (c.DataAtom == atom.Th || tr.Parent != nil && tr.Parent.DataAtom == atom.Thead)
			wide = wide || len(last.cells) > 1
		}
		cell = c
		text := &last.cells[len(last.cells)-1]
		*text = strings.TrimSpace(*text + " " + blocks[i].Text)
		longest = max(longest, len(*text))
	}
	for i := range rows {
		headed = headed || rows[i].header
	}
	switch {
	case len(rows) < 2, headed && longest > maxHeadedCell, !headed && (longest > maxCell || code || !wide && longest > maxListed):
		return "", nil
	}
	return caption, rows
}
