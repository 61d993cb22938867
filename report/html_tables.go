package report

import (
	"strings"

	"dossier/cite"
)

// conflictTable writes who says what, and when.
func (w *page) conflictTable() {
	w.tableHead("conflict.value", "conflict.date", "conflict.source", "conflict.words")
	for _, c := range w.Conflicts {
		for _, s := range []cite.Statement{c.A, c.B} {
			source := w.Source(s.Passage.Source)
			w.WriteString("<tr><td>")
			w.element("strong", line(s.Value))
			w.WriteString("</td>\n")
			w.element("td", w.dated(s.Date))
			w.WriteString("\n<td>")
			w.reference(source, w.quoteOf(source, s.Passage))
			w.WriteString("</td>\n<td>")
			w.words(display(s.Quote), source)
			w.WriteString("</td></tr>\n")
		}
	}
	w.WriteString("</table>\n")
}

// overview writes the table of sources.
func (w *page) overview() {
	w.tableHead("source.number", "source.what", "source.kind", "source.date", "source.used")
	for i := range w.Sources {
		s := &w.Sources[i]
		w.WriteString("<tr><td>")
		w.marker(&w.markup, s.Number)
		w.WriteString("</td>\n")
		for _, cell := range []string{w.shortName(s), w.kindOf(s), w.dated(s.Date), strings.Join(s.Used, ", ")} {
			w.element("td", cell, "dir", "auto")
			w.WriteByte('\n')
		}
		w.WriteString("</tr>\n")
	}
	w.WriteString("</table>\n")
}

// tableHead opens a table under headings of the frame.
func (w *page) tableHead(keys ...string) {
	w.WriteString("<table><tr>")
	for _, key := range keys {
		w.element("th", w.say(key))
	}
	w.WriteString("</tr>\n")
}
