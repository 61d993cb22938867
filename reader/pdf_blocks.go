package reader

import (
	"strings"
	"unicode"
)

// near says that two places are one.
func near(a, b float64) bool { return a-b < 3 && b-a < 3 }

// textLine adds a line of text to the block under way, or begins another.
func (p *pdfLayout) textLine(lines []pdfLine, i int) {
	l := &lines[i]
	s := l.text()
	mark := markLength(s)
	if p.term >= 0 && l.left < p.def-3 {
		p.flush()
		p.term = -1
	}
	switch {
	case mark > 0 && p.entry(l):
		p.flush()
		p.term = -1
		for len(p.listed) > 0 && p.listed[len(p.listed)-1] > l.left+3 {
			p.listed = p.listed[:len(p.listed)-1]
		}
		if len(p.listed) == 0 || p.listed[len(p.listed)-1] < l.left-3 {
			p.listed = append(p.listed, l.left)
		}
		p.kind = Item
		p.itemText = l.left + 1.2*p.body
	case len(p.lines) > 0 && !p.begins(l):
		if p.kind == Item && len(p.lines) == 1 {
			p.itemText = l.left
		}
	case p.isTerm(lines, i):
		p.flush()
		t := strings.ReplaceAll(s, string(parted), "")
		p.b.add(Term, 1, t, escapeMarkdown(t))
		p.term, p.def, p.listed = l.left, lines[i+1].left, p.listed[:0]
		return
	case p.term >= 0 && l.left >= p.def-3:
		p.flush()
		p.kind = Definition
	case len(p.listed) > 0 && l.left > p.listed[len(p.listed)-1]+3 && l.left > p.itemText-3:
		p.flush()
		p.kind = Item // it goes on
	default:
		p.flush()
		p.kind, p.listed = Paragraph, p.listed[:0]
	}
	p.lines = append(p.lines, l)
}

// entry says that a line that begins with a mark begins an entry of a list,
// and not a line of a paragraph that happens to: it is where one could begin.
func (p *pdfLayout) entry(l *pdfLine) bool {
	if len(p.lines) == 0 {
		return true
	}
	last := p.lines[len(p.lines)-1]
	r := firstRune(l.text())
	if !unicode.IsDigit(r) && !unicode.IsLetter(r) && r != '-' && r != '–' && r != '—' {
		return true // a bullet
	}
	if p.kind == Item && near(p.lines[0].left, l.left) || last.right < p.right-0.12*(p.right-p.left) {
		return true
	}
	return l.left > last.left+3 || sentenceEnd(last.text()) || strings.HasSuffix(last.text(), ":")
}

// begins says that a line begins a paragraph: by the gap above it, its indent,
// or because the one before ends one.
func (p *pdfLayout) begins(l *pdfLine) bool {
	last := p.lines[len(p.lines)-1]
	gap := last.bottom - l.bottom
	if gap < 0 || gap > 1.35*max(p.leading, 1.1*l.height()) {
		return true
	}
	if h := l.height(); h > 1.15*last.height() || h < 0.85*last.height() {
		return !near(last.left, l.left) || sentenceEnd(last.text())
	}
	if len(p.lines) == 1 && p.kind == Item || p.kind == Definition && len(p.lines) == 1 {
		return l.left < last.left-3
	}
	first := p.lines[0]
	if last.right > p.right-0.05*(p.right-p.left) && !sentenceEnd(last.text()) && unicode.IsLower(firstRune(l.text())) {
		return false // a sentence that goes on
	}
	switch {
	case l.left > last.left+0.8*p.body: // indented
		return !(len(p.lines) == 1 && p.kind == Item)
	case l.left < last.left-0.8*p.body && len(p.lines) > 1: // back, but not from a first line
		return true
	case len(p.lines) == 1 && l.left < first.left-4*p.body:
		return true
	}
	short := last.right < p.right-0.15*(p.right-p.left)
	s := last.text()
	return short && (sentenceEnd(s) || strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") || !unicode.IsLower(firstRune(l.text())) && last.right < p.right-0.35*(p.right-p.left))
}

// isTerm says that a line is a term: what is below it stands further right,
// and stays there.
func (p *pdfLayout) isTerm(lines []pdfLine, i int) bool {
	if i+1 >= len(lines) {
		return false
	}
	l, next := &lines[i], &lines[i+1]
	s := l.text()
	gap := l.bottom - next.bottom
	if next.left < l.left+1.5*p.body || next.left > l.left+12*p.body || gap < 0 || gap > 1.5*p.leading || len(next.cells) > 1 ||
		l.right > p.right-0.25*(p.right-p.left) || len(s) > 90 || sentenceEnd(s) || strings.HasSuffix(s, ",") || strings.HasSuffix(s, ":") || markLength(next.text()) > 0 || next.mono {
		return false
	}
	if i+2 < len(lines) { // the first line of a paragraph is indented too
		after := &lines[i+2]
		if d := next.bottom - after.bottom; d > 0 && d < 1.35*p.leading && after.left < next.left-3 && next.right > p.right-0.15*(p.right-p.left) {
			return false
		}
	}
	return true
}

// flush writes the block under way.
func (p *pdfLayout) flush() {
	if len(p.lines) == 0 {
		return
	}
	s := ""
	for _, l := range p.lines {
		s = joinText(s, l.text())
	}
	p.lines = p.lines[:0]
	s = strings.ReplaceAll(s, string(parted), "")
	switch p.kind {
	case Item:
		if n := markLength(s); n > 0 && !isDigit(s[0]) && s[0] != '(' && !unicode.IsLetter(firstRune(s)) && s[0] != '[' {
			s = s[n:]
		}
		p.b.item(max(len(p.listed), 1), 0, false, s, escapeMarkdown(s))
	case Definition:
		p.b.add(Definition, 1, s, ": "+escapeMarkdown(s))
	default:
		if p.label != "" {
			s = labelled(p.label, s)
			p.label = ""
			p.b.add(Note, 0, s, escapeMarkdown(s))
			return
		}
		p.b.paragraph(s)
	}
}

// table writes lines in columns as rows, and returns how many lines it took.
func (p *pdfLayout) table(lines []pdfLine) int {
	if len(lines[0].cells) < 2 {
		return 0
	}
	// At least two lines near each other have cells.
	if len(lines) < 2 || !p.follows(&lines[0], &lines[1]) || len(lines[1].cells) < 2 && (len(lines) < 3 || len(lines[2].cells) < 2 || !p.follows(&lines[1], &lines[2])) {
		return 0
	}
	var rows [][]string
	var starts []float64 // of the cells of the last row
	n := 0
	for n < len(lines) {
		l := &lines[n]
		if n > 0 && !p.follows(&lines[n-1], l) {
			break
		}
		if n > 0 && l.left > starts[0]+3 && p.continues(l, starts) && lines[n-1].bottom-l.bottom < 1.4*p.leading {
			last := rows[len(rows)-1]
			for _, c := range l.cells {
				k := column(c.left, starts)
				last[k] = joinText(last[k], c.text)
			}
			n++
			continue
		}
		if len(l.cells) < 2 {
			// A line across stays in the table if rows go on below it.
			if n+1 >= len(lines) || len(lines[n+1].cells) < 2 || !p.follows(l, &lines[n+1]) || len(l.text()) > 80 || n == 0 {
				break
			}
		}
		cells := make([]string, len(l.cells))
		starts = starts[:0]
		for k, c := range l.cells {
			cells[k] = strings.ReplaceAll(c.text, string(parted), "")
			starts = append(starts, c.left)
		}
		rows = append(rows, cells)
		n++
	}
	if len(rows) < 2 {
		return 0
	}
	p.flush()
	p.term, p.listed = -1, p.listed[:0]
	if options(rows) {
		for _, r := range rows {
			p.b.add(Term, 1, r[0], escapeMarkdown(r[0]))
			p.b.add(Definition, 1, r[1], ": "+escapeMarkdown(r[1]))
		}
		return n
	}
	table := headed(rows)
	table[0].header = table[0].header || lines[0].bold && !lines[n-1].bold
	p.b.table(table)
	return n
}

// options says that rows are options of a command and what they mean.
func options(rows [][]string) bool {
	for _, r := range rows {
		if len(r) != 2 || !isOption(r[0]) || len(r[0]) > 40 {
			return false
		}
	}
	return true
}

// follows says that a line stands right below another.
func (p *pdfLayout) follows(a, b *pdfLine) bool {
	gap := a.bottom - b.bottom
	return gap > 0 && gap < 3*p.leading
}

// continues says that every cell of a line stands in a column of the last row.
func (p *pdfLayout) continues(l *pdfLine, starts []float64) bool {
	for _, c := range l.cells {
		if !near(starts[column(c.left, starts)], c.left) {
			return false
		}
	}
	return true
}

// column is the index of the column that begins nearest to a place.
func column(left float64, starts []float64) int {
	best := 0
	for k, s := range starts {
		if d, b := left-s, left-starts[best]; d*d < b*b {
			best = k
		}
	}
	return best
}
