// Package pdf sets a report as a PDF file: a title, contents with page numbers,
// the text with its lists, tables, code and quotations, and the sources with
// their quotes. The text is real, in fonts that the file carries with it.
package pdf

import (
	"fmt"
	"slices"
	"strings"

	"dossier/internal/base/pdfdoc"
	"dossier/report"
)

// Options of rendering.
type Options struct {
	// FontDirs are looked through for characters that the fonts of the program
	// lack.
	FontDirs []string
}

// Result is a report as a file.
type Result struct {
	Data  []byte
	Pages int
	// Missing are the characters that no font has; each is shown as a box.
	Missing []rune
	// Borrowed are the fonts of the machine that were used.
	Borrowed []string
}

// The page is A4; sizes are in points.
const (
	pageWidth, pageHeight = 595.28, 841.89
	left, right           = 62, pageWidth - 62
	top, bottom           = 64, pageHeight - 66

	bodySize  = 10.5
	smallSize = 8.8
	tableSize = 9.2
	codeSize  = 9
	quoteSize = 10.0
	spacing   = 1.5 // of lines
	indent    = 17  // of a list
)

var (
	ink   = pdfdoc.Color{0.11, 0.12, 0.14}
	dim   = pdfdoc.Color{0.36, 0.40, 0.44}
	blue  = pdfdoc.Color{0.04, 0.36, 0.68}
	amber = pdfdoc.Color{0.54, 0.29, 0}
	grey  = pdfdoc.Color{0.82, 0.84, 0.87}
	tint  = pdfdoc.Color{0.955, 0.963, 0.971}
)

// headingSizes by level; what is below has the last.
var headingSizes = []float64{2: 15, 3: 12.2, 4: 11}

// Render sets a report.
func Render(r *report.Report, o Options) Result {
	d := r.Document()
	s := &setter{
		doc:     &pdfdoc.Document{Title: d.Title, Subject: d.Question, Author: r.Model, Creator: "Dossier", Lang: string(d.Lang), Created: r.Created},
		starts:  map[int]float64{0: left},
		letters: newLetters(d, o.FontDirs),
	}
	s.letters.embed(s.doc)
	s.newPage()
	s.front(d)
	for i := range d.Blocks {
		s.block(d.Blocks[i:])
	}
	s.endLists(0)
	s.finish(d)
	return Result{Data: s.doc.Bytes(), Pages: s.doc.Pages(), Missing: s.letters.missing, Borrowed: s.letters.borrowed}
}

// setter puts blocks on pages, from top to bottom.
type setter struct {
	doc     *pdfdoc.Document
	page    *pdfdoc.Page
	pages   []*pdfdoc.Page
	y       float64
	starts  map[int]float64 // where text begins, by the depth of lists
	toc     []entry
	heads   int // headings that were set
	lists   int // lists that are open, each within an item of the one before
	letters *letters
}

// entry is a line of the contents whose page is not known yet.
type entry struct {
	end  *pdfdoc.Page // where the rest of the line belongs
	x, y float64
	page int
}

func (s *setter) newPage() {
	s.page = s.doc.Page(pageWidth, pageHeight)
	s.pages = append(s.pages, s.page)
	s.y = top
}

// room begins a new page unless there is so much room on this one.
func (s *setter) room(height float64) {
	if s.y+height > bottom && s.y > top {
		s.newPage()
	}
}

// front sets the title and the contents.
func (s *setter) front(d *report.Document) {
	line := func(tag pdfdoc.Tag, text string, f face) {
		s.doc.Open(tag, pdfdoc.About{})
		s.text(left, []report.Span{{Text: text}}, f)
		s.doc.Close()
	}
	line(pdfdoc.Heading(1), d.Title, face{size: 21, spacing: 1.25, strong: true})
	s.y += 6
	if d.Question != "" {
		line(pdfdoc.Paragraph, d.Question, face{size: 11.5, color: dim})
		s.y += 4
	}
	for _, label := range append(slices.Clone(d.Labels), d.Made) {
		if label != "" {
			line(pdfdoc.Paragraph, label, face{size: smallSize + 0.4, color: dim})
		}
	}
	s.y += 8
	s.page.Line(left, s.y, right, s.y, 0.8, grey)
	s.y += 18
	if !s.contents(d) {
		return
	}
	if s.doc.Pages() > 1 || s.y > shortContents {
		s.newPage()
		return
	}
	s.y += 12
	s.page.Line(left, s.y, right, s.y, 0.8, grey)
	s.y += 8
}

// shortContents is up to where contents go on the first page on which the text
// begins, too.
const shortContents = top + (bottom-top)*0.45

// fewHeadings need no contents.
const fewHeadings = 3

// contents lists the headings, if there are enough of them.
func (s *setter) contents(d *report.Document) bool {
	var list []*report.Block
	parts := 0
	for i := range d.Blocks {
		if b := &d.Blocks[i]; listed(b) {
			list = append(list, b)
			if b.Level == 2 {
				parts++
			}
		}
	}
	if parts <= fewHeadings {
		return false
	}
	s.doc.Open(pdfdoc.Paragraph, pdfdoc.About{})
	s.text(left, []report.Span{{Text: d.Contents, Strong: true}}, face{size: headingSizes[2]})
	s.doc.Close()
	s.y += 6
	s.doc.Open(pdfdoc.Contents, pdfdoc.About{})
	for i, b := range list {
		size, x := 10.5, float64(left)
		if b.Level > 2 {
			size, x = 9.6, left+16
		}
		f := face{size: size, strong: b.Level == 2, color: ink}
		if b.Level == 2 {
			s.y += 2
		}
		lines := s.letters.lines(plain(b.Spans), right-x-40, f)
		s.doc.Open(pdfdoc.Entry, pdfdoc.About{})
		s.doc.Open(pdfdoc.Reference, pdfdoc.About{})
		for j, l := range lines {
			s.room(f.height())
			s.draw(x, l, f)
			s.page.Link(x, s.y, right-x, f.height(), "#"+headingAnchor(i))
			if j == len(lines)-1 {
				s.toc = append(s.toc, entry{end: s.page.Reserve(), x: x + l.width(), y: s.y})
			}
			s.y += f.height()
		}
		s.doc.Close()
		s.doc.Close()
	}
	s.doc.Close()
	return true
}

// listed reports whether a block stands in the contents.
func listed(b *report.Block) bool {
	return b.Kind == report.Heading && b.Level <= 3 && !b.Quoted && b.Depth == 0
}

func headingAnchor(i int) string { return fmt.Sprintf("heading-%d", i) }

// finish fills in page numbers.
func (s *setter) finish(d *report.Document) {
	f := face{size: 10, color: dim}
	dot := s.letters.lines([]report.Span{{Text: " ."}}, right-left, f)[0]
	for _, e := range s.toc {
		number := s.letters.lines([]report.Span{{Text: fmt.Sprintf(" %d", e.page)}}, right-left, f)[0]
		s.page, s.y = e.end, e.y
		n := max(0, int((right-number.width()-e.x-2)/dot.width()))
		at := right - number.width() - float64(n)*dot.width() // dots stand below each other
		s.doc.Open(pdfdoc.Decoration, pdfdoc.About{})
		s.draw(at, slices.Concat(slices.Repeat([]textLine{dot}, n)...), f)
		s.doc.Close()
		s.draw(right-number.width(), number, f)
	}
	f = face{size: 8.2, color: dim}
	title := s.cut(d.Title, right-left-70, f)
	for i, p := range s.pages {
		s.page, s.y = p, pageHeight-40
		if i > 0 {
			s.draw(left, title, f)
		}
		number := s.letters.lines([]report.Span{{Text: fmt.Sprintf("%d / %d", i+1, len(s.pages))}}, right-left, f)[0]
		s.draw(right-number.width(), number, f)
	}
}

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

// text sets lines from one edge to the right one.
func (s *setter) text(from float64, spans []report.Span, f face) {
	lines := s.letters.lines(spans, right-from, f)
	turn := s.turn(len(lines), f.height())
	for i, l := range lines {
		if i == turn || s.y+f.height() > bottom {
			s.newPage()
		}
		s.draw(from, l, f)
		s.y += f.height()
	}
}

// turn is the line before which a new page begins, so that no line of several
// stands alone; -1 where they fit.
func (s *setter) turn(lines int, height float64) int {
	fit := int((bottom - s.y) / height)
	switch {
	case fit >= lines || s.y == top:
		return -1
	case fit < 2:
		return 0
	case fit == lines-1 && fit > 2:
		return fit - 1
	case fit == lines-1:
		return 0
	}
	return fit
}

// draw sets a line at the height where the setter is.
func (s *setter) draw(x float64, l textLine, f face) {
	y := s.y + f.baseline()
	for i := 0; i < len(l); {
		j := i + 1
		for j < len(l) && l[j].span == l[i].span && l[j].font == l[i].font {
			j++
		}
		run := l[i:j]
		span := run[0].span
		width := run.width()
		look := pdfdoc.Look{Font: run[0].font.set, Size: run[0].size, Color: f.color, Slant: span.Slant, Heavy: run[0].font.heavy}
		switch {
		case span.Warn:
			look.Color = amber
		case span.Link != "":
			look.Color = blue
			s.doc.Open(pdfdoc.Reference, pdfdoc.About{})
			s.page.Link(x, s.y, width, f.height(), span.Link)
		case look.Color == (pdfdoc.Color{}):
			look.Color = ink
		}
		s.page.Text(x, y, run.String(), look)
		if span.Link != "" && !span.Warn {
			s.doc.Close()
		}
		if span.Struck {
			s.page.Line(x, y-look.Size*0.3, x+width, y-look.Size*0.3, 0.6, look.Color)
		}
		x += width
		i = j
	}
}

// cut is a text as one line that is not wider.
func (s *setter) cut(text string, width float64, f face) textLine {
	lines := s.letters.lines([]report.Span{{Text: text}}, width, f)
	for runes := []rune(lines[0].String()); len(lines) > 1 && len(runes) > 0; runes = runes[:len(runes)-1] {
		lines = s.letters.lines([]report.Span{{Text: strings.TrimRight(string(runes), " ,;:") + "…"}}, width, f)
	}
	return lines[0]
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
