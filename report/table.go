package report

import (
	"slices"
	"strings"

	"dossier/lang"
)

// Rows of tables are quoted with bars between their cells, and what the cells
// are is said in the header: the last of the headings that the row stands under,
// or the first row of the quote. They are shown as people read them: each cell on
// a line behind its name.

// header returns the names of the cells in the quote's rows, and whether it is
// the last of its headings that has them; none where the quote has no rows.
func (q *Quote) header() (names []string, above bool) {
	var rows []string
	for text := range strings.Lines(q.Text) {
		if text = strings.TrimSpace(text); len(cells(text)) > 1 && !ruled(text) {
			rows = append(rows, text)
		}
	}
	if len(rows) == 0 {
		return nil, false
	}
	if path := q.Passage.HeadingPath; len(path) > 0 {
		if head := texts(path[len(path)-1]); len(head) > 1 && fits(head, rows, q.Before) {
			return head, true
		}
	}
	if head := texts(rows[0]); len(rows) > 1 && q.Before == 0 && fits(head, rows[1:], 0) {
		return head, false
	}
	return nil, false
}

// fits reports whether all rows have a cell for each name; the first may lack
// some at its beginning, and the last at its end.
func fits(head, rows []string, before int) bool {
	for i, row := range rows {
		n := len(cells(row))
		if i == 0 {
			n += before
		}
		if n > len(head) || n < len(head) && i < len(rows)-1 {
			return false
		}
	}
	return true
}

// cellsBefore counts the cells of a row that stand before a place in a text.
func cellsBefore(text string, at int) int {
	begins := strings.LastIndexByte(text[:at], '\n') + 1
	return max(0, len(cells(strings.TrimSpace(text[begins:at]+"x")))-1)
}

// cells returns the cells of a row: what stands between bars that have space
// around them or are at its ends. A bar behind a backslash and one within code
// is a part of its cell.
func cells(row string) []lang.Span {
	if !strings.Contains(row, "|") {
		return nil
	}
	var out []lang.Span
	start := 0
	l := shown{text: row}
	code := l.codes()
	for i := 0; i <= len(row); i++ {
		if i < len(row) {
			within := slices.ContainsFunc(code, func(c lang.Span) bool { return c.Start <= i && i < c.End })
			edge := i == 0 || i == len(row)-1 || row[i-1] == ' ' || row[i+1] == ' '
			if row[i] != '|' || within || !edge || escaped(row, i) {
				continue
			}
		}
		cell := lang.Span{Start: start, End: i}
		for cell.Start < cell.End && row[cell.Start] == ' ' {
			cell.Start++
		}
		for cell.End > cell.Start && row[cell.End-1] == ' ' {
			cell.End--
		}
		// Bars at the ends have nothing outside of them.
		if cell.Start < cell.End || start > 0 && i < len(row) {
			out = append(out, cell)
		}
		start = i + 1
	}
	return out
}

func texts(row string) []string {
	row = line(row)
	var out []string
	for _, c := range cells(row) {
		out = append(out, c.In(row))
	}
	return out
}

// ruled reports a line of a table that only separates others.
func ruled(text string) bool { return strings.Trim(text, "|:-=+ \t") == "" }

// tabulated shows the rows among lines cell by cell.
func (q *Quote) tabulated(lines []shown) []shown {
	head, above := q.header()
	if head == nil {
		return lines
	}
	var out []shown
	before := q.Before
	for _, l := range lines {
		row := cells(l.text)
		switch {
		case ruled(l.text) && !l.verbatim:
		case l.verbatim || len(row) < 2 || before+len(row) > len(head):
			out = append(out, l)
		case !above: // the header itself
			above = true
		default:
			for i, c := range row {
				if c.Start < c.End {
					out = append(out, l.cell(c, head[before+i]))
				}
			}
			before = 0
		}
	}
	return out
}

// cell is a cell of a row as a line, behind its name.
func (l *shown) cell(at lang.Span, name string) shown {
	out := shown{text: at.In(l.text)}
	if start, end := max(at.Start, l.mark.Start), min(at.End, l.mark.End); start < end {
		out.mark = lang.Span{Start: start - at.Start, End: end - at.Start}
	}
	for from := 0; ; { // the backslash before a bar is there for the table's sake
		i := strings.Index(out.text[from:], `\|`)
		if i < 0 {
			break
		}
		from += i
		out.text = out.text[:from] + out.text[from+1:]
		for _, edge := range []*int{&out.mark.Start, &out.mark.End} {
			if *edge > from {
				*edge--
			}
		}
		from++
	}
	if name == "" {
		return out
	}
	name = strings.ReplaceAll(name, `\|`, "|") + ": "
	if out.mark.Start < out.mark.End {
		out.mark.Start, out.mark.End = out.mark.Start+len(name), out.mark.End+len(name)
	}
	out.text = name + out.text
	return out
}
