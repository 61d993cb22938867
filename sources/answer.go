package sources

import (
	"slices"

	"dossier/cite"
	"dossier/report"
)

// Quote makes a report the answer without a model: the sentences that answer the
// parts of the question, each part under its title. Earlier says that the run was
// created by a program that printed a section for each part.
func (e *Evidence) Quote(r *report.Report, earlier bool) {
	if e.Covered() < len(e.Facets) {
		r.Outcome = report.Partial
	}
	r.Extractive = true
	r.Coverage.Unsure = e.Unsure()
	var all []cite.Passage
	var printed [][]cite.Passage // by section
	for _, f := range e.Facets {
		if !f.Answered {
			continue
		}
		if n := slices.IndexFunc(printed, func(quotes []cite.Passage) bool { return cite.SamePassages(quotes, f.Quotes) }); n >= 0 && !earlier {
			r.Sections[n].Title += " · " + f.Title // one section answers both
			continue
		}
		printed = append(printed, f.Quotes)
		section := report.Section{Quotes: e.quoted(f.Quotes)}
		if len(e.Facets) > 1 {
			section.Title = f.Title
		}
		r.Sections = append(r.Sections, section)
		all = append(all, f.Quotes...)
	}
	checked := cite.VerifyQuotes(e.Ledger, e.Snapshots, all)
	r.Claims, r.Coverage.Independent = checked.Claims, checked.Independent
	r.Coverage.Claims = report.Share{Covered: checked.Covered, Total: len(checked.Claims)}
}

// nearestShown is how many passages are shown when none answers.
const nearestShown = 3

// Nearest makes a report say that no passage answers, and show the nearest.
func (e *Evidence) Nearest(r *report.Report) {
	r.Extractive = true
	r.Coverage.Facets.Covered, r.Conflicts = 0, nil
	var near []cite.Passage
	for _, f := range e.Facets {
		for _, q := range f.Quotes {
			if !slices.ContainsFunc(near, func(p cite.Passage) bool { return p.Source == q.Source && p.Start == q.Start }) {
				near = append(near, q)
			}
		}
	}
	r.Coverage.Missing = nil
	for _, f := range e.Facets {
		r.Coverage.Missing = append(r.Coverage.Missing, f.Title)
	}
	r.Nearest = e.quoted(near[:min(nearestShown, len(near))])
}

// quoted turns passages into quotes; one that does not lie in its snapshot,
// which would be a fault of ours, is left out.
func (e *Evidence) quoted(passages []cite.Passage) []report.Quote {
	var out []report.Quote
	for _, p := range passages {
		src, ok := e.Ledger.Source(p.Source)
		if !ok {
			continue
		}
		if q, err := report.QuoteAt(src, e.Snapshots[src.Snapshot], p); err == nil {
			out = append(out, q)
		}
	}
	return out
}

// Conflicts are the disagreements in what was read about the question in which
// a sentence that is quoted takes part: those matter here. Earlier programs also
// had those that are not of one thing.
func (e *Evidence) Conflicts(earlier bool) []cite.Conflict {
	var read, quoted []cite.Passage
	for _, f := range e.Facets {
		quoted = append(quoted, f.Quotes...)
		for _, n := range f.Passages {
			read = append(read, e.Passages[n].Passage)
		}
	}
	among := func(s cite.Statement) bool {
		return slices.ContainsFunc(quoted, func(q cite.Passage) bool {
			return q.Source == s.Passage.Source && q.Start < s.Passage.End && s.Passage.Start < q.End
		})
	}
	all := cite.Conflicts(e.Ledger, e.Snapshots, read)
	for _, f := range e.Facets {
		for _, c := range cite.Disagreements(f.Title, e.Ledger, e.Snapshots, read) {
			if !slices.ContainsFunc(all, func(o cite.Conflict) bool {
				return o.A.Passage.Source == c.A.Passage.Source && o.B.Passage.Source == c.B.Passage.Source
			}) {
				all = append(all, c)
			}
		}
	}
	all = slices.DeleteFunc(all, func(c cite.Conflict) bool { return !among(c.A) && !among(c.B) })
	if earlier {
		return all
	}
	return cite.OfOneThing(all, e.Ledger, e.Snapshots)
}
