package reader

import "strings"

const widestTable = 200 // columns that are looked at

// readTable reads lines that stand in columns: a row each, with the lines that
// continue it.
func (t *textReader) readTable(c chunk) bool {
	n := c.to - c.from
	if n < 3 || t.soft {
		return false
	}
	left := t.lines[c.from].indent
	var gaps, starts [widestTable]int
	rows := 0
	for i := c.from; i < c.to; i++ {
		l := &t.lines[i]
		if drawn(t.of(l)) {
			continue
		}
		rows++
		left = min(left, l.indent)
		columnStarts(t.of(l), l.indent, &gaps, &starts)
	}
	if rows < 3 {
		return false
	}
	// A column is where most lines have a gap and then a word.
	column := 0
	for at := left + 2; at < widestTable; at++ {
		if gaps[at]*10 >= rows*9 && (starts[at]*10 >= rows*7 || rows > 3 && starts[at]*10 >= rows*3) {
			column = at
			break
		}
	}
	if column == 0 {
		return false
	}
	begins := 0
	for i := c.from; i < c.to; i++ {
		if t.lines[i].indent < column-1 && !drawn(t.of(&t.lines[i])) {
			begins++
		}
	}
	if begins*2 < rows || begins < 2 {
		return false
	}
	from, ruled, first := -1, false, len(t.b.page.Blocks)
	flush := func(to int) {
		if from >= 0 {
			t.emit(Row, 0, from, to)
		}
		from = -1
	}
	for i := c.from; i < c.to; i++ {
		s := t.of(&t.lines[i])
		if drawn(s) {
			flush(i)
			if head := t.b.page.Blocks[first:]; !ruled && len(head) <= 3 { // what is above the first line drawn
				for j := range head {
					head[j].Kind = Header
				}
			}
			ruled = true
			continue
		}
		if t.lines[i].indent < column-1 || from < 0 {
			flush(i)
			from = i
		}
	}
	flush(c.to)
	t.lead = false
	return true
}

// columnStarts counts at which columns a line has a word after a gap, and at
// which it has a gap before, or nothing at all.
func columnStarts(s string, indent int, gaps, starts *[widestTable]int) {
	at, spaces := indent, indent+2
	for i := range min(indent+1, widestTable) {
		gaps[i]++
	}
	for _, r := range s {
		if at >= widestTable {
			return
		}
		if spaces >= 2 {
			if at != indent || r != ' ' {
				if at > indent {
					gaps[at]++
				}
			}
			if r != ' ' && r != '\t' {
				starts[at]++
			}
		}
		if r == ' ' || r == '\t' {
			spaces++
		} else {
			spaces = 0
		}
		if at++; r >= 0x2e80 && r < 0xfb00 {
			at++
		}
	}
	if strings.TrimSpace(s) != "" {
		for ; at < widestTable; at++ {
			gaps[at]++
		}
	}
}
