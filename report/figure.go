package report

import (
	"slices"
	"strings"

	"dossier/cite"
	"dossier/cite/series"
	"dossier/internal/base/chart"
	"dossier/lang"
)

// figure is a plot of a section as it is shown.
type figure struct {
	*series.Plot
	name    string // its number, what it shows and in which unit
	caption string // the same, and what the numbers of its sources follow on
}

// figures are those of a section, numbered through the report.
func (r *Report) figures(section int) []figure {
	n := 0
	for i := range section {
		n += len(r.Sections[i].Plots)
	}
	var out []figure
	for i := range r.Sections[section].Plots {
		p := &r.Sections[section].Plots[i]
		n++
		title := strings.TrimRight(line(p.Title), ".。")
		if unit := strings.TrimRight(line(p.Unit), "."); unit != "" && !strings.Contains(title, unit) {
			title = r.say("figure.unit", "title", title, "unit", unit)
		}
		name, key := r.say("figure.name", "n", n, "title", title), "figure.caption"
		if strings.HasSuffix(title, "…") {
			key = "figure.cut"
		}
		caption := r.say(key, "name", name)
		if !strings.HasSuffix(caption, "：") {
			caption += " "
		}
		out = append(out, figure{p, name, caption})
	}
	return out
}

// chart is the figure for drawing.
func (r *Report) chart(f figure) *chart.Chart {
	c := &chart.Chart{Unit: line(f.Unit), Dated: f.Dated, Comma: lang.Catalogue(r.Lang) == lang.Russian}
	for _, l := range f.Lines {
		own := chart.Line{Name: line(l.Name)}
		for _, p := range l.Points {
			own.Points = append(own.Points, chart.Point{Label: line(p.Label), Written: line(p.Written), At: p.At, Value: p.Value})
		}
		c.Lines = append(c.Lines, own)
	}
	return c
}

// alt says what a figure shows in words.
func (f figure) alt() string {
	var parts []string
	for _, l := range f.Lines {
		var values []string
		for _, p := range l.Points {
			values = append(values, line(p.Label)+": "+line(p.Written))
		}
		text := strings.Join(values, "; ")
		if len(f.Lines) > 1 {
			text = line(l.Name) + " — " + text
		}
		parts = append(parts, text)
	}
	return f.name + ". " + strings.Join(parts, ". ")
}

// numbers is the figure as rows of text, the first of them the header; the last
// column has the sources, where there are several.
func (r *Report) numbers(f figure) [][]string {
	key := "figure.member"
	if f.Dated {
		key = "figure.date"
	}
	head := []string{r.say(key)}
	var labels []string
	for _, l := range f.Lines {
		name := line(l.Name)
		if name == "" {
			name = r.say("figure.value")
		}
		if unit := line(f.Unit); unit != "" {
			name += ", " + unit
		}
		head = append(head, name)
		for _, p := range l.Points {
			if !slices.Contains(labels, p.Label) {
				labels = append(labels, p.Label)
			}
		}
	}
	several := len(f.Sources()) > 1
	if several {
		head = append(head, r.say("source.what"))
	}
	rows := [][]string{head}
	for _, label := range labels {
		row := []string{line(label)}
		var from []int
		for _, l := range f.Lines {
			cell := ""
			if i := slices.IndexFunc(l.Points, func(p series.Point) bool { return p.Label == label }); i >= 0 {
				cell = line(l.Points[i].Written)
				from = append(from, l.Points[i].Passage.Source)
			}
			row = append(row, cell)
		}
		if several {
			row = append(row, cite.Marker(slices.Compact(from)))
		}
		rows = append(rows, row)
	}
	return rows
}

// figure writes a plot as a table under its caption.
func (w *markdownWriter) figure(f figure) {
	w.block("*" + markdownLine(strings.ReplaceAll(f.caption, "*", "")) + "* " + cite.Marker(f.Sources()))
	rows := w.numbers(f)
	for _, row := range rows {
		for i := range row[:len(f.Lines)+1] {
			row[i] = markdownLine(row[i])
		}
	}
	w.rows(rows)
}

// figure writes a plot as a drawing under which its numbers can be opened.
func (w *page) figure(f figure) {
	w.WriteString("<figure>\n")
	w.WriteString(chart.Draw(*w.chart(f)).SVG(f.alt()))
	w.WriteString("<figcaption>")
	w.text(f.caption)
	for _, n := range f.Sources() {
		w.marker(&w.markup, n)
	}
	w.WriteString("<details>")
	w.element("summary", w.say("figure.numbers"))
	w.WriteString("<table>")
	for i, row := range w.numbers(f) {
		w.WriteString("<tr>")
		for j, cell := range row {
			name := "td"
			if i == 0 {
				name = "th"
			}
			w.open(name)
			if i > 0 && j > len(f.Lines) {
				w.WriteString(w.linkMarkers(cell))
			} else {
				w.text(cell)
			}
			w.WriteString("</" + name + ">")
		}
		w.WriteString("</tr>\n")
	}
	w.WriteString("</table></details></figcaption>\n</figure>\n")
}

// figure adds a plot and its caption.
func (b *blocks) figure(f figure) {
	b.add(Block{Kind: Figure, Chart: b.chart(f), Alt: f.alt()})
	spans := []Span{{Text: f.caption}}
	for _, n := range f.Sources() {
		spans = append(spans, markerSpan(n))
	}
	b.add(Block{Small: true, Spans: spans})
}
