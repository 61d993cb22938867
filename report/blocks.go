package report

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"dossier/cite"
	"dossier/internal/base/chart"
	"dossier/lang"
)

// Document is a report as blocks of text, one after the other: what the formats
// are made from that are no text themselves. Everything in it is shown as it
// is; links lead to sources, or to an anchor of the document.
type Document struct {
	Title, Question string
	Lang            lang.Code // of the text
	Contents        string    // heading of a table of contents
	Labels          []string  // what kind of an answer it is, and how far it goes
	Made            string    // when, and by which run
	Blocks          []Block
}

// BlockKind says how a block is set.
type BlockKind uint8

// The kinds of blocks.
const (
	Paragraph BlockKind = iota
	Heading
	Item // of a list
	Code
	Table
	Rule
	Figure // a chart; its caption follows as a paragraph
)

// Block is a part of a document that stands by itself.
type Block struct {
	Kind   BlockKind
	Level  int    // of a heading: 2 for a part of the report, more below
	Depth  int    // how deep in lists it stands, 0 outside of them
	Sign   string // of an item: a dot, or its number
	Quoted bool   // it stands in a quotation
	Small  bool   // it is beside the text: where something stands
	Anchor string // to which links lead
	Lang   lang.Code
	Spans  []Span     // in code, its lines
	Rows   [][][]Span // of a table: cells; the first row is the header
	Chart  *chart.Chart
	Alt    string // what a figure shows, in words
}

// Span is text in one look.
type Span struct {
	Text   string
	Strong bool
	Slant  bool
	Code   bool
	Struck bool
	Warn   bool
	Link   string // an address, or "#" and an anchor
}

// Document returns the report as blocks.
func (r *Report) Document() *Document {
	b := &blocks{Report: r}
	b.answer()
	if len(r.Nearest) > 0 {
		b.heading(r.say("heading.nearest"))
		b.line(r.say("nearest.label"))
		for i := range r.Nearest {
			b.quote(&r.Nearest[i])
		}
	}
	b.conflicts()
	b.list("heading.changes", r.Told())
	b.list("heading.next", r.FollowUps)
	b.list("heading.coverage", r.coverage())
	b.list("heading.notes", r.Notes)
	b.sources()
	d := &Document{Title: line(r.name()), Lang: r.textLang(), Contents: r.say("heading.contents"), Labels: r.labels(), Made: r.made(), Blocks: b.out}
	if r.Title != "" && r.Title != r.Question {
		d.Question = line(r.Question)
	}
	return d
}

// textLang is the language in which the report is written; that of the frame
// where it consists of quotes.
func (r *Report) textLang() lang.Code {
	if text := strings.Join(r.texts(), "\n"); r.written() {
		if code := lang.Detect(text[:min(len(text), 4000)]); code != lang.Unknown {
			return code
		}
	}
	return lang.Catalogue(r.Lang)
}

type blocks struct {
	*Report
	out []Block
}

func (b *blocks) add(block Block) { b.out = append(b.out, block) }

func (b *blocks) heading(title string) {
	b.add(Block{Kind: Heading, Level: 2, Spans: foreignSpans(line(title))})
}

func (b *blocks) line(text string) { b.add(Block{Spans: []Span{{Text: line(text)}}}) }

func (b *blocks) list(heading string, items []string) {
	if len(items) == 0 {
		return
	}
	b.heading(b.say(heading))
	for _, item := range items {
		b.add(Block{Kind: Item, Depth: 1, Sign: "•", Spans: foreignSpans(line(item))})
	}
}

func (b *blocks) answer() {
	if b.Text != "" {
		b.model(b.Text, 2)
	}
	b.part(b.say("heading.summary"), b.Summary)
	for i := range b.Sections {
		s := &b.Sections[i]
		if s.Title != "" {
			b.heading(b.sectionTitle(i))
		}
		if s.Text != "" {
			b.model(s.Text, 3)
		}
		for j := range s.Quotes {
			b.quote(&s.Quotes[j])
		}
		for _, f := range b.figures(i) {
			b.figure(f)
		}
	}
	b.part(b.say(b.lastHeading()), b.Conclusion)
}

func (b *blocks) part(title, text string) {
	if text != "" {
		b.heading(title)
		b.model(text, 3)
	}
}

// quote adds where a quote stands, and its words.
func (b *blocks) quote(q *Quote) {
	b.add(Block{Quoted: true, Small: true, Spans: b.reference(q)})
	b.words(q.displayed(), b.Source(q.Passage.Source), 0)
}

// words adds the words of a quote.
func (b *blocks) words(lines []shown, s *Source, depth int) {
	block := Block{Quoted: true, Depth: depth}
	if s != nil && s.Lang != b.Lang && s.Lang != lang.Unknown {
		block.Lang = s.Lang
	}
	for i := range lines {
		if i > 0 {
			block.Spans = append(block.Spans, Span{Text: "\n"})
		}
		block.Spans = append(block.Spans, lines[i].spans()...)
	}
	if len(block.Spans) > 0 {
		b.add(block)
	}
}

// reference is the number of a quote's source and its location.
func (b *blocks) reference(q *Quote) []Span {
	s := b.Source(q.Passage.Source)
	if s == nil {
		return []Span{{Text: cite.Marker([]int{q.Passage.Source})}}
	}
	out := []Span{markerSpan(s.Number), {Text: " "}, placeSpan(b.locationOf(s, q))}
	if path := under(s, q); path != "" {
		out = append(out, Span{Text: " · " + path})
	}
	if language := b.spoken(q); language != "" {
		out = append(out, Span{Text: " · " + language})
	}
	return out
}

func markerSpan(number int) Span {
	return Span{Text: cite.Marker([]int{number}), Link: "#" + sourceID(number)}
}

func placeSpan(at location) Span { return Span{Text: at.label, Link: at.href} }

// conflicts adds a table of what sources say differently.
func (b *blocks) conflicts() {
	if len(b.Conflicts) == 0 {
		return
	}
	b.heading(b.say("heading.conflicts"))
	rows := [][][]Span{b.header("conflict.value", "conflict.date", "conflict.source", "conflict.words")}
	for _, c := range b.Conflicts {
		for _, s := range []cite.Statement{c.A, c.B} {
			q := Quote{Passage: s.Passage}
			rows = append(rows, [][]Span{
				{{Text: line(s.Value), Strong: true}}, {{Text: b.dated(s.Date)}}, b.reference(&q), foreignSpans(together(display(s.Quote))),
			})
		}
	}
	b.add(Block{Kind: Table, Rows: rows})
}

func (b *blocks) header(keys ...string) [][]Span {
	out := make([][]Span, len(keys))
	for i, key := range keys {
		out[i] = []Span{{Text: b.say(key), Strong: true}}
	}
	return out
}

func (b *blocks) sources() {
	if len(b.Sources) == 0 {
		return
	}
	b.heading(b.say("heading.sources"))
	if b.Kind == Research {
		b.overview()
	}
	for i := range b.Sources {
		s := &b.Sources[i]
		title, rest := b.describe(s)
		only := b.only(s)
		spans := []Span{}
		if title != "" {
			spans = append(spans, Span{Text: title, Strong: true}, Span{Text: "\n"})
		}
		spans = append(spans, placeSpan(b.locationOf(s, only)))
		if len(rest) > 0 {
			spans = append(spans, Span{Text: " · " + strings.Join(rest, " · ")})
		}
		b.add(Block{Kind: Item, Depth: 1, Sign: strconv.Itoa(s.Number) + ".", Anchor: sourceID(s.Number), Spans: spans})
		if len(s.Passages) == 0 || only != nil {
			continue
		}
		for _, q := range b.listed(s) {
			b.passage(s, q)
		}
	}
}

// passage adds one passage of a source: its location, where that says more than
// the source's, and its words where the report does not quote them above.
func (b *blocks) passage(s *Source, q *Quote) {
	at, path := b.locationOf(s, q), under(s, q)
	if at.label != b.locationOf(s, nil).label || path != "" || !b.spelled(q) {
		spans := []Span{placeSpan(at)}
		if path != "" {
			spans = append(spans, Span{Text: " · " + path})
		}
		b.add(Block{Depth: 1, Small: true, Spans: spans})
	}
	if b.spelled(q) {
		b.words(q.displayed(), s, 1)
	}
}

// overview adds the table of sources.
func (b *blocks) overview() {
	rows := [][][]Span{b.header("source.number", "source.what", "source.kind", "source.date", "source.used")}
	for i := range b.Sources {
		s := &b.Sources[i]
		rows = append(rows, [][]Span{
			{markerSpan(s.Number)}, {placeSpan(location{label: b.shortName(s), href: b.locationOf(s, nil).href})},
			{{Text: b.kindOf(s)}}, {{Text: b.dated(s.Date)}}, {{Text: strings.Join(s.Used, ", ")}},
		})
	}
	b.add(Block{Kind: Table, Rows: rows})
}

// model adds what a model wrote in Markdown.
func (b *blocks) model(markdown string, level int) {
	source := []byte(modelMarkdown(markdown, level))
	if len(source) > maxModelText {
		b.add(Block{Kind: Code, Spans: []Span{{Text: string(source), Code: true}}})
		return
	}
	m := modelBlocks{blocks: b, source: source}
	m.children(strict().Parse(text.NewReader(source)), Block{})
}

// modelBlocks makes blocks of a tree of Markdown.
type modelBlocks struct {
	*blocks
	source []byte
	number int // of the next item, 0 in a list without numbers
}

// children adds the blocks in a node. at is what they have in common.
func (m *modelBlocks) children(n ast.Node, at Block) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		m.block(c, at)
	}
}

func (m *modelBlocks) block(n ast.Node, at Block) {
	switch n := n.(type) {
	case *ast.Heading:
		at.Kind, at.Level = Heading, n.Level
		at.Sign = ""
		m.inline(n, at)
	case *ast.Paragraph, *ast.TextBlock:
		m.inline(n, at)
	case *ast.Blockquote:
		at.Quoted = true
		m.children(n, at)
	case *ast.List:
		was := m.number
		m.number = 0
		if n.IsOrdered() {
			m.number = max(n.Start, 1)
		}
		at.Depth++
		m.children(n, at)
		m.number = was
	case *ast.ListItem:
		sign := "•"
		if m.number > 0 {
			sign = strconv.Itoa(m.number) + "."
			m.number++
		}
		first := n.FirstChild()
		for c := first; c != nil; c = c.NextSibling() {
			item := at
			if c == first {
				item.Kind, item.Sign = Item, sign
			}
			m.block(c, item)
		}
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
		at.Kind, at.Spans = Code, []Span{{Text: strings.TrimRight(string(n.Lines().Value(m.source)), "\n"), Code: true}}
		m.add(at)
	case *ast.ThematicBreak:
		at.Kind = Rule
		m.add(at)
	case *east.Table:
		at.Kind = Table
		for row := n.FirstChild(); row != nil; row = row.NextSibling() {
			var cells [][]Span
			_, head := row.(*east.TableHeader)
			for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
				cells = append(cells, m.marked(m.spans(cell, Span{Strong: head})))
			}
			at.Rows = append(at.Rows, cells)
		}
		m.add(at)
	case *ast.LinkReferenceDefinition:
	default:
		m.children(n, at)
	}
}

func (m *modelBlocks) inline(n ast.Node, at Block) {
	if at.Spans = m.marked(m.spans(n, Span{})); len(at.Spans) > 0 {
		m.add(at)
	}
}

// spans returns the text in a node. look is what its parts have in common.
func (m *modelBlocks) spans(n ast.Node, look Span) []Span {
	var out []Span
	add := func(text string, look Span) {
		if look.Text = text; text != "" {
			out = append(out, look)
		}
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			add(unescape(string(c.Value(m.source))), look)
			switch {
			case c.HardLineBreak():
				add("\n", look)
			case c.SoftLineBreak():
				add(" ", look)
			}
		case *ast.String:
			add(string(c.Value), look)
		case *east.TaskCheckBox:
			add(checkBox(c), look)
		case *ast.CodeSpan:
			inner := look
			inner.Code = true
			for t := c.FirstChild(); t != nil; t = t.NextSibling() {
				if t, ok := t.(*ast.Text); ok {
					add(strings.ReplaceAll(string(t.Value(m.source)), "\n", " "), inner)
				}
			}
		case *ast.Emphasis:
			inner := look
			if c.Level > 1 {
				inner.Strong = true
			} else {
				inner.Slant = true
			}
			out = append(out, m.spans(c, inner)...)
		case *east.Strikethrough:
			inner := look
			inner.Struck = true
			out = append(out, m.spans(c, inner)...)
		case *ast.AutoLink:
			add(string(c.Label(m.source)), look)
		case *ast.RawHTML:
			add(string(c.Segments.Value(m.source)), look)
		default:
			out = append(out, m.spans(c, look)...)
		}
	}
	return out
}

// marked joins spans of one look, and makes the markers of sources links.
func (m *modelBlocks) marked(spans []Span) []Span {
	var joined, out []Span
	for _, s := range spans {
		if n := len(joined); n > 0 && sameLook(joined[n-1], s) {
			joined[n-1].Text += s.Text
		} else {
			joined = append(joined, s)
		}
	}
	add := func(s Span) {
		if s.Text != "" {
			out = append(out, s)
		}
	}
	for _, s := range joined {
		text, at := s.Text, 0
		for _, found := range markers().FindAllStringIndex(text, -1) {
			before, marker := s, s
			before.Text, marker.Text = text[at:found[0]], text[found[0]:found[1]]
			switch n := markerNumber(marker.Text); {
			case s.Code:
				continue // brackets in code are no markers
			case marker.Text == unverified:
				marker.Warn = true
			case m.Source(n) != nil:
				marker.Link = "#" + sourceID(n)
			default:
				continue
			}
			add(before)
			add(marker)
			at = found[1]
		}
		s.Text = text[at:]
		add(s)
	}
	return out
}

func sameLook(a, b Span) bool {
	a.Text, b.Text = "", ""
	return a == b
}

// foreignSpans returns a line of foreign text, with code and strong parts as
// such.
func foreignSpans(text string) []Span {
	var out []Span
	for _, p := range pieces(text) {
		out = append(out, Span{Text: p.text, Code: p.kind == code, Strong: p.kind == strong})
	}
	return out
}

// spans returns the line in its looks; its mark is strong.
func (l *shown) spans() []Span {
	if l.verbatim {
		return []Span{{Text: l.text, Code: true, Strong: l.mark.Start < l.mark.End}}
	}
	m := l.whole()
	if m.Start == m.End {
		return foreignSpans(l.text)
	}
	marked := foreignSpans(m.In(l.text))
	for i := range marked {
		marked[i].Strong = true
	}
	return append(append(foreignSpans(l.text[:m.Start]), marked...), foreignSpans(l.text[m.End:])...)
}
