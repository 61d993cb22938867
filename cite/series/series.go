// Package series finds series of numbers in what a report cites: values of one
// quantity in one unit over years, dates or the members of a group, as tables,
// lists and sentences give them.
//
// It is strict, because a plot is believed at a glance: a series has three points
// or more, its unit is one, each point is a passage in which its label and its
// value stand, and what is in doubt is left out.
package series

import (
	"slices"
	"strings"

	"dossier/cite"
	"dossier/lang"
)

// Plot is one or several series in one unit over the same labels.
type Plot struct {
	// Title is what the source says that it shows: a caption, the name of a
	// column, a sentence.
	Title string `json:"title"`
	Unit  string `json:"unit,omitempty"` // as it is written; empty where things are counted
	// Dated says that the labels are years or dates. They are in order then.
	Dated bool   `json:"dated,omitempty"`
	Lines []Line `json:"lines"`
}

// Line is one series.
type Line struct {
	Name   string  `json:"name,omitempty"`
	Points []Point `json:"points"`
}

// Point is a value and where it stands.
type Point struct {
	Label   string       `json:"label"`        // as it is written
	At      float64      `json:"at,omitempty"` // the year, with a fraction for a date
	Value   float64      `json:"value"`
	Written string       `json:"written"` // the value as it is written
	Passage cite.Passage `json:"passage"` // in which both stand
}

// Stands reports whether the label and the value of the point are in its passage.
func (p Point) Stands(snap *cite.Snapshot) bool {
	if snap == nil {
		return false
	}
	text, err := p.Passage.Quote(snap)
	return err == nil && p.Label != "" && p.Written != "" && strings.Contains(text, p.Label) && strings.Contains(text, p.Written)
}

// Sources are the numbers of the sources of all points, in order of first use.
func (p Plot) Sources() []int {
	var out []int
	for _, l := range p.Lines {
		for _, point := range l.Points {
			if !slices.Contains(out, point.Passage.Source) {
				out = append(out, point.Passage.Source)
			}
		}
	}
	return out
}

// Touches reports whether a point of the plot stands in a passage, or the passage
// in what the point stands in.
func (p Plot) Touches(q cite.Passage) bool {
	return slices.ContainsFunc(p.Lines, func(l Line) bool {
		return slices.ContainsFunc(l.Points, func(point Point) bool {
			at := point.Passage
			return at.Source == q.Source && at.Start < q.End && q.Start < at.End
		})
	})
}

const (
	// fewest is how many points a series has: two are a comparison, which a
	// sentence tells better.
	fewest = 3
	// Points of a series at most, over time and over a group.
	mostDates, mostMembers = 80, 16
	// mostLines share a plot.
	mostLines = 4
	// perTable bounds the plots of one table.
	perTable = 2
	// titleRunes bounds a title.
	titleRunes = 200
)

// Find returns the series in what was cited: in the tables and lists of which a
// passage shows a part, and in the sentences of the passages. Those that say the
// same are found once. The order is that of the passages.
func Find(ledger *cite.Ledger, snapshots cite.Snapshots, passages []cite.Passage) []Plot {
	var out []Plot
	add := func(p Plot) {
		if !slices.ContainsFunc(out, func(o Plot) bool { return o.Same(p) }) {
			out = append(out, p)
		}
	}
	var said []statement
	seen := map[[3]int]bool{}
	for _, p := range passages {
		source, ok := ledger.Source(p.Source)
		snap := snapshots[source.Snapshot]
		if !ok || snap == nil {
			continue
		}
		text, err := p.Quote(snap)
		if err != nil {
			continue
		}
		for _, t := range tablesAt(snap.Text, p) {
			for _, plot := range t.plots(snap, source.Number) {
				add(plot)
			}
		}
		for _, span := range lang.Sentences(text) {
			at := lang.Span{Start: p.Start + span.Start, End: p.Start + span.End}
			if key := [3]int{p.Source, at.Start, at.End}; !seen[key] {
				seen[key] = true
				for _, s := range statements(source, snap, at) {
					if plot, ok := s.plot(); ok {
						add(plot)
					} else {
						said = append(said, s)
					}
				}
			}
		}
	}
	for _, p := range together(said) {
		add(p)
	}
	return out
}

// Same reports whether two plots show the same points.
func (p Plot) Same(o Plot) bool {
	return slices.EqualFunc(p.Lines, o.Lines, func(a, b Line) bool {
		return slices.EqualFunc(a.Points, b.Points, func(x, y Point) bool { return x.Label == y.Label && x.Value == y.Value })
	})
}

// whole makes a plot of lines, if it is one: each has enough points, in the order
// of time where they have one, with labels that are not repeated, and they are not
// all the same.
func whole(title, unit string, dated bool, lines []Line) (Plot, bool) {
	p := Plot{Title: shortened(title), Unit: unit, Dated: dated}
	for _, l := range lines {
		points := slices.Clone(l.Points)
		if dated {
			slices.SortStableFunc(points, func(a, b Point) int {
				switch {
				case a.At < b.At:
					return -1
				case a.At > b.At:
					return 1
				}
				return 0
			})
		}
		most := mostMembers
		if dated {
			most = mostDates
		}
		if len(points) < fewest || len(points) > most || repeated(points, dated) || level(points) {
			continue
		}
		p.Lines = append(p.Lines, Line{l.Name, points})
	}
	if len(p.Lines) == 0 || p.Title == "" {
		return Plot{}, false
	}
	p.Lines = p.Lines[:min(len(p.Lines), mostLines)]
	return p, true
}

func repeated(points []Point, dated bool) bool {
	seen := map[any]bool{}
	for _, p := range points {
		key := any(p.Label)
		if dated {
			key = p.At
		}
		if seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}

// level reports whether all points have one value: there is nothing to see.
func level(points []Point) bool {
	return !slices.ContainsFunc(points, func(p Point) bool { return p.Value != points[0].Value })
}

func shortened(title string) string {
	title = strings.Join(strings.Fields(title), " ")
	if runes := []rune(title); len(runes) > titleRunes {
		cut := string(runes[:titleRunes])
		if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
			cut = cut[:i]
		}
		return strings.TrimRight(cut, " ,;:") + "…"
	}
	return title
}
