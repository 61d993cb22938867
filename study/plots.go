package study

import (
	"slices"

	"dossier/cite"
	"dossier/cite/series"
	"dossier/report"
)

// Plots of a report at most.
const (
	mostPlots  = 6
	sectionMay = 2 // of one section
)

// plotted puts series of numbers into the sections: each into the first that cites
// some of it or, where none does, was written from it and cites its source.
func (x *writing) plotted(sections []report.Section) {
	cited, read := make([][]cite.Passage, len(sections)), make([][]cite.Passage, len(sections))
	for i := range x.parts {
		for _, c := range x.parts[i].claims {
			if c.Verified {
				cited[i] = append(cited[i], c.Passages...)
			}
		}
		for _, p := range x.parts[i].read {
			if slices.ContainsFunc(cited[i], func(q cite.Passage) bool { return q.Source == p.Source }) {
				read[i] = append(read[i], p)
			}
		}
	}
	n := 0
	for _, p := range series.Find(x.Book.Ledger, x.Book.Snapshots, slices.Concat(slices.Concat(cited...), slices.Concat(read...))) {
		touched := func(passages []cite.Passage) bool { return slices.ContainsFunc(passages, p.Touches) }
		at := slices.IndexFunc(cited, touched)
		if at < 0 {
			at = slices.IndexFunc(read, touched)
		}
		if at >= 0 && n < mostPlots && len(sections[at].Plots) < sectionMay {
			sections[at].Plots = append(sections[at].Plots, p)
			n++
		}
	}
}
