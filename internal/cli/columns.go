package cli

import (
	"io"
	"math"
	"strings"

	"dossier/internal/base/term"
)

// printRows writes rows in columns. On a terminal the last column gets the room
// that is left, or a line of its own where that is too little; elsewhere nothing
// is cut. What came from outside is cleaned.
func (a *app) printRows(rows [][]string) error {
	width := math.MaxInt32
	if w, ok := a.terminal(a.proc.Stdout); ok {
		width = w
	}
	_, err := io.WriteString(a.proc.Stdout, inColumns(rows, width))
	return err
}

func inColumns(rows [][]string, width int) string {
	const gap, least, indent = 2, 25, 4
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
	if len(widest) == 0 {
		return ""
	}
	last := len(widest) - 1
	used := 0
	for _, w := range widest[:last] {
		used += w + gap
	}
	below := width-used < min(least, widest[last])
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row[:last] {
			line += term.Pad(cell, widest[i]+gap)
		}
		switch {
		case !below:
			line += term.Fit(row[last], width-used)
		case row[last] != "":
			line = term.Fit(strings.TrimRight(line, " "), width) + "\n" + strings.Repeat(" ", indent) + term.Fit(row[last], max(least, width-indent))
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// sheet holds the facts of one thing, each with its name.
type sheet struct{ strings.Builder }

// row adds a fact, unless there is none.
func (s *sheet) row(name, value string) {
	if value = term.Line(value); value != "" {
		s.WriteString(term.Pad(name, 14) + " " + value + "\n")
	}
}

// modeShown is the name of a mode for people: those that search do so in
// documents as well as in the web.
func modeShown(mode string) string {
	switch mode {
	case "web_search":
		return "search"
	case "deep_search":
		return "deep"
	case deepResearchMode:
		return "research"
	}
	return mode
}
