package pdf

import (
	"slices"

	"dossier/internal/base/pdfdoc"
	"dossier/report"
)

const (
	padX, padY = 5, 3.2
	leastCell  = 26 // width of a column in points
)

// table sets a table; its header comes again on each page.
func (s *setter) table(b *report.Block, begin float64) {
	columns := 0
	for _, row := range b.Rows {
		columns = max(columns, len(row))
	}
	if columns == 0 {
		return
	}
	widths := s.columns(b.Rows, columns, right-begin)
	s.room(s.tableNeed(b, begin))
	s.y += 3
	rows := make([][]tableCell, len(b.Rows))
	for i, row := range b.Rows {
		rows[i] = s.cells(row, widths)
	}
	head := rows[0]
	for i, cells := range rows {
		if i == 0 {
			s.rule(begin, widths, 0.9)
			s.row(begin, widths, cells, pdfdoc.HeaderCell)
			continue
		}
		h := height(cells)
		if i == len(rows)-2 && i > 1 { // the last row is not left alone on a page
			h += height(rows[i+1])
		}
		if s.y+h > bottom && h < bottom-top-height(head) {
			s.newPage()
			s.doc.Open(pdfdoc.Decoration, pdfdoc.About{}) // it was read out before
			s.rule(begin, widths, 0.9)
			s.row(begin, widths, head, pdfdoc.HeaderCell)
			s.doc.Close()
		}
		s.row(begin, widths, cells, pdfdoc.Cell)
	}
	s.y += 9
}

// keptTable is up to which height a table is not broken.
const keptTable = (bottom - top) * 0.35

// tableNeed is the room that a table needs on a page: all of it if it is small,
// else its header with the first row.
func (s *setter) tableNeed(b *report.Block, begin float64) float64 {
	columns := 0
	for _, row := range b.Rows {
		columns = max(columns, len(row))
	}
	if columns == 0 {
		return 0
	}
	widths := s.columns(b.Rows, columns, right-begin)
	total, first := 0.0, 0.0
	for i, row := range b.Rows {
		total += height(s.cells(row, widths))
		if i == 1 {
			first = total
		}
		if total > keptTable {
			return min(max(first, total-keptTable), keptTable)
		}
	}
	return total + 12
}

type tableCell []textLine

func (s *setter) cells(row [][]report.Span, widths []float64) []tableCell {
	out := make([]tableCell, len(widths))
	for i, w := range widths {
		if i < len(row) {
			out[i] = s.letters.lines(row[i], w-2*padX, face{size: tableSize, spacing: 1.35})
		}
	}
	return out
}

func height(cells []tableCell) float64 {
	most := 1
	for _, c := range cells {
		most = max(most, len(c))
	}
	return float64(most)*tableSize*1.35 + 2*padY
}

// row sets the cells of a row. One that is longer than a page goes on on the
// next.
func (s *setter) row(begin float64, widths []float64, cells []tableCell, tag pdfdoc.Tag) {
	f := face{size: tableSize, spacing: 1.35}
	cells = slices.Clone(cells)
	for {
		fit := max(1, int((bottom-s.y-2*padY)/f.height()))
		now := make([]tableCell, len(cells))
		more := false
		for i, c := range cells {
			n := min(len(c), fit)
			now[i], cells[i] = c[:n], c[n:]
			more = more || len(cells[i]) > 0
		}
		h := height(now)
		from, x := s.y, begin
		if tag == pdfdoc.HeaderCell {
			total := 0.0
			for _, w := range widths {
				total += w
			}
			s.page.Box(begin, from, total, h, tint)
		}
		s.doc.Open(pdfdoc.Row, pdfdoc.About{})
		for i, c := range now {
			s.y = from + padY
			s.doc.Open(tag, pdfdoc.About{})
			for _, l := range c {
				s.draw(x+padX, l, f)
				s.y += f.height()
			}
			s.doc.Close()
			x += widths[i]
		}
		s.doc.Close()
		s.y = from + h
		s.rule(begin, widths, 0.5)
		if !more {
			return
		}
		s.newPage()
	}
}

func (s *setter) rule(begin float64, widths []float64, thick float64) {
	end := begin
	for _, w := range widths {
		end += w
	}
	s.page.Line(begin, s.y, end, s.y, thick, grey)
}

// columns shares the width out: each column gets what its longest word needs,
// and of the rest by how much text it has.
func (s *setter) columns(rows [][][]report.Span, n int, width float64) []float64 {
	least, whole := slices.Repeat([]float64{leastCell}, n), slices.Repeat([]float64{leastCell}, n)
	f := face{size: tableSize}
	for _, row := range rows {
		for i, c := range row {
			for _, l := range s.letters.lines(c, 1e9, f) {
				whole[i] = max(whole[i], l.width()+2*padX+1)
				least[i] = max(least[i], longestWord(l)+2*padX+1)
			}
		}
	}
	sum := func(list []float64) float64 {
		t := 0.0
		for _, v := range list {
			t += v
		}
		return t
	}
	for i := range least {
		least[i] = min(least[i], width*1.6/float64(n))
	}
	if total := sum(whole); total <= width {
		for i := range whole { // a narrow table grows up to the whole width
			whole[i] *= min(width/total, 1.6)
		}
		return whole
	}
	// Columns with little text are not broken; the others share what is left.
	open, left := n, width
	settled := make([]bool, n)
	for again := true; again; {
		again = false
		for i := range whole {
			if !settled[i] && whole[i] <= left/float64(open) {
				settled[i], again = true, true
				left, open = left-whole[i], open-1
			}
		}
	}
	wanted, needed := 0.0, 0.0
	for i := range whole {
		if !settled[i] {
			whole[i] = min(whole[i], width) // one long cell does not starve the others
			wanted, needed = wanted+whole[i], needed+least[i]
		}
	}
	for i := range whole {
		switch {
		case settled[i]:
		case needed < left:
			whole[i] = least[i] + (left-needed)*whole[i]/wanted
		default:
			whole[i] = left * least[i] / needed
		}
	}
	return whole
}

// longestWord is the width of what a line can't break.
func longestWord(l textLine) float64 {
	longest, w := 0.0, 0.0
	for i := range l {
		if i > 0 && breaks(l[i-1].r, l[i].r) {
			w = 0
		}
		if l[i].r != ' ' {
			w += l[i].width
		}
		longest = max(longest, w)
	}
	return longest
}
