package series

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"dossier/cite"
	"dossier/lang"
)

// column is one of the columns of a table, or one of the rows of a table whose
// columns are years.
type column struct {
	name, unit string
	points     []Point
}

// plots are the series of a table.
func (t *table) plots(snap *cite.Snapshot, source int) []Plot {
	var columns []column
	dated := true
	if t.head != nil && t.years() {
		columns = t.across(snap, source)
	} else {
		columns, dated = t.down(snap, source)
	}
	var out []Plot
	for _, group := range byUnit(columns) {
		var lines []Line
		var names []string
		for _, c := range group {
			lines, names = append(lines, Line{c.name, c.points}), append(names, c.name)
		}
		title := t.caption
		switch {
		case len(group) == 1 && title == "":
			title = names[0]
		case len(group) == 1 && names[0] != "" && !strings.Contains(title, names[0]):
			title += ": " + names[0]
		case title == "":
			title = strings.Join(names, " · ")
		}
		if p, ok := whole(title, group[0].unit, dated, lines); ok {
			out = append(out, p)
		}
		if len(out) == perTable {
			break
		}
	}
	return out
}

// ofOneSize is how many times larger one series of a plot may be than another:
// beyond that the smaller is a line on the axis.
const ofOneSize = 20

// byUnit puts columns together that name the same unit, or are the same but for
// the year in their names, and are of one size. Another column that names no unit
// is alone: nobody knows whether it can be compared.
func byUnit(columns []column) [][]column {
	var out [][]column
	for _, c := range columns {
		at := slices.IndexFunc(out, func(g []column) bool {
			a, b := largest(g[0].points), largest(c.points)
			return sameUnit(c.unit, g[0].unit) && (c.unit != "" || yearless(c.name) == yearless(g[0].name)) && len(g) < mostLines && a <= ofOneSize*b && b <= ofOneSize*a
		})
		if at >= 0 {
			out[at] = append(out[at], c)
		} else {
			out = append(out, []column{c})
		}
	}
	return out
}

var yearWithin = pattern(`\b\d{4}\b`)

// yearless is a name without the year in it; a name without one is alone.
func yearless(name string) string {
	if !yearWithin().MatchString(name) {
		return "\x00" + name
	}
	return yearWithin().ReplaceAllString(name, "")
}

func largest(points []Point) float64 {
	most := 0.0
	for _, p := range points {
		most = max(most, math.Abs(p.Value))
	}
	return most
}

// years reports whether the columns are years or dates.
func (t *table) years() bool {
	n := 0
	for _, c := range t.head.cells[1:] {
		if _, ok := when(c); ok {
			n++
		}
	}
	return n >= fewest
}

// across reads a table whose columns are years: each row is a series.
func (t *table) across(snap *cite.Snapshot, source int) []column {
	_, common := unitIn(t.caption)
	var out []column
	for _, r := range t.rows {
		if len(r.cells) != len(t.head.cells) || total(r.cells[0]) {
			continue
		}
		name, unit := unitIn(r.cells[0])
		units := []string{unit, common}
		c := column{name: name}
		for i, a := range amounts(r.cells) {
			at, dated := when(t.head.cells[i])
			if i == 0 || !dated || a == nil {
				continue
			}
			units = append(units, a.unit)
			// The year stands in the head, the value in the row.
			span := lang.Span{Start: t.head.span.Start, End: r.span.End}
			c.points = append(c.points, Point{t.head.cells[i], at, a.value, a.written, snap.PassageAt(source, span)})
		}
		var ok bool
		if c.unit, ok = oneUnit(units...); ok && c.name != "" && len(c.points) >= fewest {
			out = append(out, c)
		}
	}
	return out
}

// notMeasured are names of columns whose numbers say which, not how much.
var notMeasured = pattern(`(?i)^(?:№|#|no\.?|n|id|rank|place|pos\.?|position|code|index|page|phone|version|year|date|founded|isbn|doi|zip|ранг|место|код|номер|версия|год|дата|страница|телефон|год основания|排名|编号|序号|年份|日期|代码|电话|页|版本)$`)

// down reads a table whose rows are years, dates or members of a group.
func (t *table) down(snap *cite.Snapshot, source int) (out []column, dated bool) {
	names := t.names()
	rows := slices.DeleteFunc(slices.Clone(t.rows), func(r row) bool { return len(r.cells) != len(names) })
	if len(rows) < fewest || len(rows)*5 < len(t.rows)*4 { // too many rows are of another form
		return nil, false
	}
	cells := func(i int) []string {
		out := make([]string, len(rows))
		for k, r := range rows {
			out[k] = r.cells[i]
		}
		return out
	}
	key := 0
	if notMeasured().MatchString(names[0]) && len(names) > 2 && numbered(cells(0)) {
		key = 1
	}
	labels := cells(key)
	ats, dated := dates(labels)
	if !dated && !members(labels) {
		return nil, false
	}
	for i := key + 1; i < len(names); i++ {
		name, unit := unitIn(names[i])
		if notMeasured().MatchString(name) {
			continue
		}
		units := []string{unit}
		c := column{name: name}
		given := 0
		for k, a := range amounts(cells(i)) {
			if a == nil {
				continue
			}
			given++
			if !dated && total(labels[k]) {
				continue
			}
			units = append(units, a.unit)
			p := Point{Label: labels[k], Value: a.value, Written: a.written, Passage: snap.PassageAt(source, rows[k].span)}
			if dated {
				p.At = ats[k]
			}
			c.points = append(c.points, p)
		}
		var one bool
		c.unit, one = oneUnit(units...)
		switch {
		case !one, given*5 < len(rows)*4, t.loose && c.unit == "", c.unit == "" && (name == "" || yearsAgain(c.points)):
		default:
			out = append(out, c)
		}
	}
	return out, dated
}

// names are those of the columns, empty where they have none.
func (t *table) names() []string {
	switch {
	case t.head != nil:
		return t.head.cells
	case t.rows[0].names != nil:
		return t.rows[0].names
	}
	return make([]string, len(t.rows[0].cells))
}

// dates reads labels as dates; ok is false where one is none.
func dates(labels []string) (at []float64, ok bool) {
	for _, l := range labels {
		t, dated := when(l)
		if !dated {
			return nil, false
		}
		at = append(at, t)
	}
	return at, true
}

// members reports whether labels name members of a group: words, or numbers with
// a unit, none of them twice and none long.
func members(labels []string) bool {
	for i, a := range amounts(labels) {
		l := labels[i]
		if l == "" || utf8.RuneCountInString(l) > 60 || a != nil && a.unit == "" || slices.Index(labels, l) != i {
			return false
		}
		if _, dated := when(l); dated {
			return false // some are dates and some are not
		}
	}
	return true
}

// numbered reports whether cells count 1, 2, 3.
func numbered(cells []string) bool {
	for i, a := range amounts(cells) {
		if a == nil || a.value != float64(i+1) {
			return false
		}
	}
	return true
}

var totals = pattern(`(?i)^(?:(?:grand |sub)?total|sum|all|world|average|mean|median|overall|итого|всего|сумма|в среднем|среднее|мир|合计|总计|总和|平均|全球|全国)\b`)

// total reports a label of what the other rows are parts of.
func total(label string) bool {
	label = strings.ToLower(strings.Trim(label, " *_"))
	return totals().MatchString(label) || slices.Contains([]string{"合计", "总计", "总和", "平均", "全球", "全国", "итого", "всего"}, label)
}

// yearsAgain reports whether values are years themselves.
func yearsAgain(points []Point) bool {
	return !slices.ContainsFunc(points, func(p Point) bool { return p.Value < 1000 || p.Value > 2100 || p.Value != math.Trunc(p.Value) })
}
