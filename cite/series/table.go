package series

import (
	"strings"
	"unicode/utf8"

	"dossier/cite"
	"dossier/lang"
)

// table is a table or a list as a snapshot has it.
type table struct {
	caption string
	head    *row // nil where it has none
	rows    []row
	loose   bool // a list, whose values have to name their unit
}

type row struct {
	cells []string
	names []string // of the cells, where each row has them
	span  lang.Span
}

// mostRows bounds how far a table is followed in each direction.
const mostRows = 120

// forms are the ways in which a line is a row, the surest first.
var forms = []struct {
	read  func(line string) (cells, names []string)
	loose bool
}{{barred, false}, {named, false}, {listed, true}, {spaced, false}}

// tablesAt returns the tables that a passage has lines of, and those right before
// and behind it: of these it is the caption, or speaks of them.
func tablesAt(text string, p cite.Passage) []table {
	from, end := lineStart(text, p.Start), p.End
	if before := strings.TrimRight(text[:from], " \t\n"); before != "" {
		from = lineStart(before, len(before))
	}
	if rest := strings.TrimLeft(text[end:], " \t\n"); rest != "" {
		end = len(text) - len(rest) + 1
	}
	var out []table
	for from < end {
		if t, behind := tableAt(text, from); behind > from {
			out = append(out, t)
			from = behind
			continue
		}
		from = lineEnd(text, from) + 1
	}
	return out
}

func lineStart(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

func lineEnd(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}

// tableAt reads the table that the line at a place belongs to, and where it ends;
// 0 where it belongs to none.
func tableAt(text string, at int) (table, int) {
	for _, form := range forms {
		if cells, _ := form.read(text[at:lineEnd(text, at)]); cells == nil {
			continue
		}
		first := at
		for range mostRows {
			if first == 0 {
				break
			}
			before := lineStart(text, first-1)
			if line := text[before : first-1]; !ruled(line) {
				if cells, _ := form.read(line); cells == nil {
					break
				}
			}
			first = before
		}
		t, end := table{caption: captionBefore(text, first), loose: form.loose}, first
		for n := 0; end < len(text) && n < 2*mostRows; n++ {
			stop := lineEnd(text, end)
			line := text[end:stop]
			cells, names := form.read(line)
			if cells == nil && !ruled(line) {
				break
			}
			if !ruled(line) {
				t.rows = append(t.rows, row{cells, names, lang.Span{Start: end, End: stop}})
			}
			end = min(stop+1, len(text))
		}
		if len(t.rows) >= fewest {
			t.takeHead()
			return t, end
		}
	}
	return table{}, 0
}

// captionForm is how a line begins that says what a table shows.
var captionForm = pattern(`(?i)^(?:#+\s|\**(?:table|tab\.|figure|таблица|табл\.|рис\.|рисунок|表|图)\s*\d*)`)

// captionNumber is what a caption counts by; a plot has a number of its own.
var captionNumber = pattern(`(?i)^(?:table|tab\.|figure|таблица|табл\.|рис\.|рисунок|表|图)\s*[\d.\-–]+[.:：]?\s*`)

// captionBefore is the line above a table, if it speaks of it.
func captionBefore(text string, at int) string {
	before := strings.TrimRight(text[:at], " \t\n")
	line := strings.TrimSpace(before[lineStart(before, len(before)):])
	if len(text[:at])-len(before) > 3 || line == "" || utf8.RuneCountInString(line) > titleRunes {
		return ""
	}
	if captionForm().MatchString(line) || strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：") {
		return captionNumber().ReplaceAllString(strings.Trim(line, "#*:： "), "")
	}
	return ""
}

// takeHead makes the first row the names of columns, if it is that.
func (t *table) takeHead() {
	first := t.rows[0]
	if first.names != nil || t.loose {
		return
	}
	dates := 0
	for i, a := range amounts(first.cells) {
		if _, dated := when(first.cells[i]); dated {
			dates++
		} else if a != nil {
			return
		}
	}
	if _, dated := when(first.cells[0]); dated || dates > 0 && dates < fewest {
		return // a row of data
	}
	t.head, t.rows = &first, t.rows[1:]
}

// ruled reports a line that only separates rows.
func ruled(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && strings.Trim(line, "|:-=+─━┼│ \t") == ""
}

// barred reads cells between bars.
func barred(line string) (cells, names []string) {
	line = strings.TrimSpace(line)
	if !strings.Contains(line, "|") || ruled(line) {
		return nil, nil
	}
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	for cell := range strings.SplitSeq(strings.ReplaceAll(line, `\|`, "\x00"), "|") {
		cells = append(cells, strings.Trim(strings.ReplaceAll(cell, "\x00", "|"), " *_`"))
	}
	if len(cells) < 2 {
		return nil, nil
	}
	return cells, nil
}

// named reads cells behind their names: "Year: 2019; Output: 5".
func named(line string) (cells, names []string) {
	for part := range strings.SplitSeq(line, "; ") {
		name, value, ok := strings.Cut(part, ": ")
		if !ok || utf8.RuneCountInString(name) > 60 {
			return nil, nil
		}
		names, cells = append(names, strings.TrimSpace(name)), append(cells, strings.TrimSpace(value))
	}
	if len(cells) < 2 {
		return nil, nil
	}
	return cells, names
}

var listForm = pattern(`^\s*(?:[-*•]\s+|\d{1,2}[.)]\s+)?(\S[^|:：]{0,60}?)\s*(?:[:：]|\s[–—-])\s*(\S.{0,30}?)[.;,。；，]?\s*$`)

// listed reads a line that is a label and a value: "- 2019: 5 GW".
func listed(line string) (cells, names []string) {
	m := listForm().FindStringSubmatch(line)
	if m == nil || amounts(m[2:3])[0] == nil {
		return nil, nil
	}
	return []string{strings.Trim(m[1], "* _`"), strings.Trim(m[2], "* _`")}, nil
}

var columnGap = pattern(`\t+|\s{2,}`)

// spaced reads cells with wide gaps between them.
func spaced(line string) (cells, names []string) {
	line = strings.TrimSpace(line)
	if cells = columnGap().Split(line, -1); len(cells) < 2 || strings.HasPrefix(line, "- ") {
		return nil, nil
	}
	return cells, nil
}
