// Package pdf sets a report as a PDF file: a title, contents with page numbers,
// the text with its lists, tables, code and quotations, and the sources with
// their quotes. The text is real, in fonts that the file carries with it.
package pdf

import (
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
