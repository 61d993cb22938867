package study

import (
	"slices"

	"dossier/cite"
	"dossier/cite/series"
)

// Plots of a report at most.
const (
	mostPlots  = 6
	sectionMay = 2 // of one section
)

// plots returns series of numbers for each of the parts: what it cites and what
// stands in passages of its sources that it was written from, none twice. A series
// of which several parts cite some is the first one's.
func (x *writing) plots() [][]series.Plot {
	var all []cite.Passage
	of := make([][]cite.Passage, len(x.parts)) // what each cites, then what it was written from
	for i := range x.parts {
		for _, c := range x.parts[i].claims {
			if c.Verified {
				of[i] = append(of[i], c.Passages...)
			}
		}
		cited := of[i]
		for _, p := range x.parts[i].read {
			if slices.ContainsFunc(cited, func(q cite.Passage) bool { return q.Source == p.Source }) {
				of[i] = append(of[i], p)
			}
		}
		all = append(all, of[i]...)
	}
	plots := make([][]series.Plot, len(x.parts))
	var had []series.Plot
	put := func(at int, p series.Plot) {
		if len(had) < mostPlots && len(plots[at]) < sectionMay && !slices.ContainsFunc(had, p.Same) {
			had, plots[at] = append(had, p), append(plots[at], p)
		}
	}
	for i := range x.parts {
		for _, p := range series.Find(x.Book.Ledger, x.Book.Snapshots, of[i]) {
			put(i, p)
		}
	}
	for _, p := range series.Find(x.Book.Ledger, x.Book.Snapshots, all) {
		if at := slices.IndexFunc(of, func(passages []cite.Passage) bool { return slices.ContainsFunc(passages, p.Touches) }); at >= 0 {
			put(at, p)
		}
	}
	return plots
}
