package reader

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// joinLines makes lines of pieces that stand side by side: programs write the
// cells of a table, and a mark and its text, as lines of their own.
func (p *pdfPage) joinLines() {
	out := p.lines[:0]
	for _, l := range p.lines {
		if n := len(out); n > 0 {
			last := &out[n-1]
			overlap := min(last.top, l.top) - max(last.bottom, l.bottom)
			if overlap > 0.6*min(last.height(), l.height()) && l.left >= last.right-1 {
				if l.left-last.right > wideGap*max(l.height(), 4) {
					last.cells = append(last.cells, l.cells...)
				} else {
					cell := &last.cells[len(last.cells)-1]
					if l.left-last.right > 0.1*l.height() {
						cell.text += " "
					}
					cell.text += l.cells[0].text
					cell.right = l.cells[0].right
					last.cells = append(last.cells, l.cells[1:]...)
				}
				last.right = max(last.right, l.right)
				last.bottom, last.top = min(last.bottom, l.bottom), max(last.top, l.top)
				continue
			}
		}
		out = append(out, l)
	}
	p.lines = out
	for i := range p.lines {
		p.lines[i].joinMarks()
	}
}

// joinMarks joins cells that are no cells: the mark of an entry and its text,
// the number of a section and its title, a sign and its amount.
func (l *pdfLine) joinMarks() {
	if len(l.cells) < 2 {
		return
	}
	out := l.cells[:1]
	for i, c := range l.cells[1:] {
		last := &out[len(out)-1]
		mark := i == 0 && (markLength(last.text+" x") == len(last.text)+1 || sectionMark(last.text))
		sign := strings.Trim(last.text, "$€£¥(") == "" && len(last.text) < 6 && last.text != ""
		tail := strings.Trim(c.text, ")%") == ""
		switch {
		case mark:
			last.text, last.right = last.text+" "+c.text, c.right
		case sign, tail:
			last.text, last.right = last.text+c.text, c.right
		default:
			out = append(out, c)
		}
	}
	l.cells = out
}

// sectionMark says that a text is nothing but the number of a section.
func sectionMark(s string) bool {
	depth, rest := sectionNumber(s + " X")
	return depth > 0 && rest == "X" && strings.Contains(s, ".")
}

const fewColumnLines = 8

// columns puts the lines of a page in two columns into the order in which
// they are read, where the page writes across both.
func (p *pdfPage) columns() {
	votes := map[int]int{}
	for i := range p.lines {
		for j := 1; j < len(p.lines[i].cells); j++ {
			for x := int(p.lines[i].cells[j-1].right/4) + 1; x < int(p.lines[i].cells[j].left/4); x++ {
				votes[x]++
			}
		}
	}
	gutter, most := 0, 0
	for x, n := range votes {
		if n > most || n == most && x < gutter {
			gutter, most = x, n
		}
	}
	if most < fewColumnLines || most*5 < len(p.lines)*2 {
		return
	}
	at := float64(gutter)*4 + 2
	var words, filled [2]int
	n := 0
	width := [2]float64{}
	for i := range p.lines {
		l := &p.lines[i]
		if l.left < at && l.right > at {
			width[0], width[1] = max(width[0], at-l.left), max(width[1], l.right-at)
		}
	}
	for i := range p.lines {
		l := &p.lines[i]
		a, b := l.split(at)
		if len(a) == 0 || len(b) == 0 {
			continue
		}
		n++
		for side, cells := range [2][]pdfCell{a, b} {
			words[side] += len(strings.Fields(cells[0].text))
			if len(cells) == 1 && cells[0].right-cells[0].left > 0.6*width[side] {
				filled[side]++
			}
		}
	}
	if n == 0 || words[0] < 4*n || words[1] < 4*n || filled[0]*2 < n || filled[1]*2 < n {
		return // a table
	}
	var out, right []pdfLine
	for _, l := range p.lines {
		a, b := l.split(at)
		crosses := len(a) == 1 && a[0].right > at
		if crosses {
			out = append(append(out, right...), l)
			right = right[:0]
			continue
		}
		if len(a) > 0 {
			left := l
			left.cells, left.right = a, a[len(a)-1].right
			out = append(out, left)
		}
		if len(b) > 0 {
			l.cells, l.left = b, b[0].left
			right = append(right, l)
		}
	}
	out = append(out, right...)
	p.lines = out
}

// split parts the cells of a line at a place.
func (l *pdfLine) split(at float64) (left, right []pdfCell) {
	i := 0
	for i < len(l.cells) && l.cells[i].left < at {
		i++
	}
	return l.cells[:i:i], l.cells[i:]
}

// dropRunning takes out the lines that head and foot the pages: their words
// come again on others, or they stand where those of others do and number the
// page.
func dropRunning(pages []pdfPage, body float64) {
	if len(pages) < 4 {
		return
	}
	texts, places := map[string]int{}, map[int]int{}
	edges := make([][]int, len(pages))
	for p := range pages {
		edges[p] = pages[p].edges()
		for _, i := range edges[p] {
			l := &pages[p].lines[i]
			texts[withoutDigits(l.text())]++
			places[int(math.Round(l.bottom/3))]++
		}
	}
	alone := map[int]int{} // places of lines that stand apart at an edge
	for p := range pages {
		for _, i := range edges[p] {
			if l := &pages[p].lines[i]; pages[p].apart(i) {
				alone[int(math.Round(l.bottom/3))]++
			}
		}
	}
	for p := range pages {
		drop := map[int]bool{}
		for _, i := range edges[p] {
			l := &pages[p].lines[i]
			s := l.text()
			place := int(math.Round(l.bottom / 3))
			shared := places[place] + places[place-1] + places[place+1]
			again := texts[withoutDigits(s)]
			if l.height() > 1.12*body && again*2 <= len(pages) {
				continue // a heading at the top of a page
			}
			drop[i] = len(s) < 150 && (again > 2 && pageNumber(s) || again*2 > len(pages) || again >= 3 && shared*4 > len(pages) || shared*5 > len(pages)*2 && numbersPage(s) ||
				(alone[place]+alone[place-1]+alone[place+1])*2 > len(pages) && pages[p].apart(i))
		}
		kept := pages[p].lines[:0]
		for i, l := range pages[p].lines {
			if !drop[i] {
				kept = append(kept, l)
			}
		}
		pages[p].lines = kept
	}
}

// apart says that a line at the edge of a page is parted from the text by more
// than the lines of the text are.
func (p *pdfPage) apart(i int) bool {
	l := &p.lines[i]
	above, below, next := 0, 0, 1e9
	for j := range p.lines {
		if j == i {
			continue
		}
		other := &p.lines[j]
		if other.bottom > l.bottom {
			above++
		} else {
			below++
		}
		if d := math.Abs(other.bottom - l.bottom); d > 1 {
			next = min(next, d)
		}
	}
	return min(above, below) == 0 && next > 2*l.height()
}

// edges are the two highest and the two lowest lines of a page.
func (p *pdfPage) edges() []int {
	if len(p.lines) < 3 {
		return nil
	}
	order := make([]int, len(p.lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.lines[b].bottom, p.lines[a].bottom) })
	n := len(order)
	return slices.Compact([]int{order[0], order[1], order[n-2], order[n-1]})
}

// numbersPage says that a line begins or ends with the number of a page.
func numbersPage(s string) bool {
	words := strings.Fields(s)
	if len(words) == 0 || len(words) > 14 {
		return false
	}
	return pageNumber(words[0]) || pageNumber(words[len(words)-1])
}

func pageNumber(s string) bool {
	s = strings.Trim(s, "-–—|[]()")
	if s == "" || len(s) > 6 {
		return false
	}
	return strings.TrimFunc(s, unicode.IsDigit) == "" && len(s) < 5 || strings.Trim(s, "ivxlc") == ""
}
