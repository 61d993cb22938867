package cli

import (
	"io"
	"strings"

	"dossier/internal/term"
)

// defaultWidth is how wide tables are where there is no terminal.
const defaultWidth = 100

// printRows writes rows in columns. The last column gets what room is left; what
// came from outside is cleaned.
func (a *app) printRows(rows [][]string) error {
	width := defaultWidth
	if w, ok := a.terminal(a.proc.Stdout); ok {
		width = w
	}
	var widest []int
	for _, row := range rows {
		for i := range row {
			row[i] = term.Line(row[i])
			if i == len(widest) {
				widest = append(widest, 0)
			}
			widest[i] = max(widest[i], term.Width(row[i]))
		}
	}
	const gap, least = 2, 20
	var b strings.Builder
	for _, row := range rows {
		line, used := "", 0
		for i, cell := range row {
			if i == len(widest)-1 {
				line += term.Fit(cell, max(least, width-used))
				break
			}
			line += term.Pad(cell, widest[i]+gap)
			used += widest[i] + gap
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(a.proc.Stdout, b.String())
	return err
}

// sheet holds the facts of one thing, each with its name.
type sheet struct{ strings.Builder }

// row adds a fact, unless there is none.
func (s *sheet) row(name, value string) {
	if value = term.Line(value); value != "" {
		s.WriteString(term.Pad(name, 14) + " " + value + "\n")
	}
}
