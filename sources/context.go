package sources

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dossier/llm"
)

// Excerpt is a passage as a model reads it.
type Excerpt struct {
	Source int
	Title  string
	Date   string
	Place  string // headings and page
	Text   string
}

// Excerpts returns the passages that fit into so many tokens: the best of each
// facet first, then the second best of each, and so on; in the order of the
// sources and of the places in them.
func (e *Evidence) Excerpts(tokens int) []Excerpt {
	taken := make(map[int]bool)
	for place := 0; ; place++ {
		more := false
		for _, f := range e.Facets {
			if place >= len(f.Passages) {
				continue
			}
			more = true
			i := f.Passages[place]
			if taken[i] {
				continue
			}
			cost := llm.EstimateTokens(e.Passages[i].Text) + 20
			if tokens -= cost; tokens < 0 && len(taken) > 0 {
				return e.excerpts(taken)
			}
			taken[i] = true
		}
		if !more {
			return e.excerpts(taken)
		}
	}
}

func (e *Evidence) excerpts(taken map[int]bool) []Excerpt {
	var out []Excerpt
	for _, i := range slices.SortedFunc(maps.Keys(taken), func(a, b int) int {
		x, y := &e.Passages[a], &e.Passages[b]
		return cmp.Or(cmp.Compare(x.Source, y.Source), cmp.Compare(x.Start, y.Start), cmp.Compare(a, b))
	}) {
		p := &e.Passages[i]
		out = append(out, Excerpt{Source: p.Source, Title: p.Title, Date: p.Date, Place: placeOf(p.Title, p.HeadingPath, p.Page), Text: p.Text})
	}
	return out
}

// placeOf is where a passage stands, as a model reads it: what a row, a definition
// or a step is about is often said above it only. The title is not repeated.
func placeOf(title string, headings []string, page int) string {
	if len(headings) > 0 && headings[0] == title {
		headings = headings[1:]
	}
	place := strings.Join(headings, " › ")
	if page > 0 {
		place = strings.TrimPrefix(fmt.Sprintf("%s, p. %d", place, page), ", ")
	}
	return place
}
