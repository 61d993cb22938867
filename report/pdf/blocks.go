package pdf

import (
	"slices"
	"strings"

	"dossier/internal/base/pdfdoc"
	"dossier/report"
)

// headingSizes by level; what is below has the last.
var headingSizes = []float64{2: 15, 3: 12.2, 4: 11}

// block sets the first of blocks.
func (s *setter) block(blocks []report.Block) {
	b := &blocks[0]
	var next *report.Block
	if len(blocks) > 1 {
		next = &blocks[1]
	}
	begin := s.begins(b.Depth)
	if leads(b) || b.Kind == report.Heading {
		s.room(min(s.need(blocks), mostKept))
	}
	if b.Kind != report.Item {
		s.endLists(b.Depth)
	}
	if tag := tagOf(b); tag != "" {
		s.doc.Open(tag, pdfdoc.About{Lang: string(b.Lang), Alt: b.Alt})
		defer s.doc.Close()
	}
	switch b.Kind {
	case report.Heading:
		s.heading(b)
	case report.Item:
		s.item(b)
	case report.Code:
		s.code(b, begin)
	case report.Table:
		s.table(b, begin)
	case report.Figure:
		s.figure(b, next, begin)
	case report.Rule:
		s.room(14)
		s.page.Line(begin, s.y+6, right, s.y+6, 0.6, grey)
		s.y += 14
	default:
		s.paragraph(b, next, begin)
	}
}

// begins is where text in lists of a depth begins.
func (s *setter) begins(depth int) float64 {
	if x, ok := s.starts[depth]; ok {
		return x
	}
	return left + float64(depth)*indent
}

// leads reports whether a block says what comes next, and so is not left alone at
// the end of a page.
func leads(b *report.Block) bool {
	switch b.Kind {
	case report.Heading:
		return true
	case report.Paragraph:
		text := strings.TrimSpace(words(b.Spans))
		return b.Small && (b.Quoted || b.Depth > 0) || strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：")
	case report.Item:
		return b.Anchor != "" // a source, before its quotes
	}
	return false
}

// mostKept is how much is kept together at most.
const mostKept = (bottom - top) * 0.6

// need is the room that the first of blocks takes with what it leads to; of what
// can be broken, its first lines.
func (s *setter) need(blocks []report.Block) float64 {
	if len(blocks) == 0 {
		return 0
	}
	b := &blocks[0]
	begin := s.begins(b.Depth)
	high := func(f face, width float64) float64 {
		n := float64(len(s.letters.lines(b.Spans, width, f)))
		if !leads(b) {
			n = min(n, 3)
		}
		return n * f.height()
	}
	var total float64
	switch {
	case b.Kind == report.Heading:
		size := headingSize(b)
		total = high(face{size: size, spacing: 1.3, strong: true}, right-left) + 1.2*size
	case b.Kind == report.Table:
		return s.tableNeed(b, begin)
	case b.Kind == report.Figure:
		return s.figureHeight(b, begin) + 2*smallSize*spacing
	case b.Kind == report.Code:
		return 3*codeSize*1.4 + 10
	case b.Small:
		total = high(face{size: smallSize}, right-begin-22) + 4
	case b.Quoted:
		total = high(face{size: quoteSize}, right-begin-22) + 8
	default:
		total = high(face{size: bodySize}, right-begin) + 8
	}
	if leads(b) && len(blocks) > 1 && total < mostKept && (b.Kind != report.Item || blocks[1].Depth >= b.Depth && blocks[1].Anchor == "") {
		total += s.need(blocks[1:])
	}
	return total
}

// tagOf is what a block is, empty for what opens its parts itself.
func tagOf(b *report.Block) pdfdoc.Tag {
	switch b.Kind {
	case report.Heading:
		return pdfdoc.Heading(b.Level)
	case report.Code:
		return pdfdoc.Code
	case report.Table:
		return pdfdoc.Table
	case report.Figure:
		return pdfdoc.Figure
	case report.Item, report.Rule:
		return ""
	}
	if b.Quoted {
		return pdfdoc.Quote
	}
	return pdfdoc.Paragraph
}

// newItem opens an item of a list at a depth.
func (s *setter) newItem(depth int) {
	s.endLists(depth)
	if s.lists == depth { // the item before it
		s.doc.Close()
		s.doc.Close()
	}
	for ; s.lists < depth; s.lists++ {
		s.doc.Open(pdfdoc.List, pdfdoc.About{})
		if s.lists+1 < depth { // the list skips a level
			s.doc.Open(pdfdoc.Item, pdfdoc.About{})
			s.doc.Open(pdfdoc.Body, pdfdoc.About{})
		}
	}
	s.doc.Open(pdfdoc.Item, pdfdoc.About{})
}

// endLists closes the lists below a depth.
func (s *setter) endLists(depth int) {
	for ; s.lists > depth; s.lists-- {
		s.doc.Close()
		s.doc.Close()
		s.doc.Close()
	}
}

func headingSize(b *report.Block) float64 {
	return headingSizes[min(max(b.Level, 2), len(headingSizes)-1)]
}

func (s *setter) heading(b *report.Block) {
	size := headingSize(b)
	f := face{size: size, spacing: 1.3, strong: true}
	if s.y > top {
		s.y += size * 0.9
	}
	if listed(b) {
		if s.heads < len(s.toc) {
			s.toc[s.heads].page = s.doc.Pages()
		}
		s.page.Anchor(headingAnchor(s.heads), s.y-4)
		s.heads++
	}
	s.page.Bookmark(b.Level, words(b.Spans), s.y-4)
	s.text(left, b.Spans, f)
	s.y += size * 0.3
}

func (s *setter) item(b *report.Block) {
	f := face{size: bodySize}
	begin := s.begins(b.Depth - 1)
	sign := s.letters.lines([]report.Span{{Text: b.Sign}}, right-left, f)[0]
	wide := sign.width()
	if b.Anchor != "" { // the texts of all sources begin below each other
		wide = max(wide, s.letters.lines([]report.Span{{Text: "88."}}, right-left, f)[0].width())
	}
	textAt := begin + max(indent, wide+7)
	s.starts[b.Depth] = textAt
	lines := float64(len(s.letters.lines(b.Spans, right-textAt, f)))
	s.room(min(lines, 2) * f.height())
	if b.Anchor != "" {
		s.y += 5
		s.page.Anchor(b.Anchor, s.y-4)
	}
	s.newItem(b.Depth)
	s.doc.Open(pdfdoc.Label, pdfdoc.About{})
	s.draw(textAt-7-sign.width(), sign, f)
	s.doc.Close()
	s.doc.Open(pdfdoc.Body, pdfdoc.About{})
	s.text(textAt, b.Spans, f)
	s.y += 2.5
}

func (s *setter) paragraph(b, next *report.Block, begin float64) {
	f := face{size: bodySize}
	if b.Small {
		f.size, f.color = smallSize, dim
	}
	if !b.Quoted {
		s.text(begin, b.Spans, f)
		s.y += f.size * 0.55
		return
	}
	if f.size == bodySize {
		f.size = quoteSize
	}
	follows := next != nil && next.Quoted && next.Depth == b.Depth && next.Kind == report.Paragraph && b.Small
	lines := s.letters.lines(b.Spans, right-begin-22, f)
	s.room(min(float64(len(lines)), 3)*f.height() + 8)
	s.tinted(begin, 4)
	turn := s.turn(len(lines), f.height())
	for i, l := range lines {
		if i == turn || s.y+f.height() > bottom {
			s.newPage()
		}
		s.shade(begin, f.height())
		s.draw(begin+13, l, f)
		s.y += f.height()
	}
	if follows {
		return
	}
	s.tinted(begin, 4)
	s.y += 7
}

// tinted is a blank strip of a quotation.
func (s *setter) tinted(begin, height float64) {
	s.shade(begin, height)
	s.y += height
}

// shade draws what is behind a line of a quotation.
func (s *setter) shade(begin, height float64) {
	s.page.Box(begin, s.y, right-begin, height+0.2, tint)
	s.page.Box(begin, s.y, 2.4, height+0.2, grey)
}

func (s *setter) code(b *report.Block, begin float64) {
	f := face{size: codeSize, spacing: 1.4}
	lines := s.letters.lines(b.Spans, right-begin-18, f)
	s.room(min(float64(len(lines)), 3)*f.height() + 10)
	strip := func(height float64) { s.page.Box(begin, s.y, right-begin, height+0.2, tint) }
	strip(5)
	s.y += 5
	for _, l := range lines {
		if s.y+f.height() > bottom {
			s.newPage()
		}
		strip(f.height())
		s.draw(begin+9, l, f)
		s.y += f.height()
	}
	strip(5)
	s.y += 5 + 7
}

// plain takes links out of spans.
func plain(spans []report.Span) []report.Span {
	out := slices.Clone(spans)
	for i := range out {
		out[i].Link = ""
	}
	return out
}

// words is the text of spans.
func words(spans []report.Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}
