package pdf

import (
	"fmt"
	"slices"

	"dossier/internal/base/pdfdoc"
	"dossier/report"
)

// entry is a line of the contents whose page is not known yet.
type entry struct {
	end  *pdfdoc.Page // where the rest of the line belongs
	x, y float64
	page int
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
