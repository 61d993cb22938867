package report

import (
	"slices"

	"dossier/cite"
	"dossier/cite/series"
)

// DropUnfounded takes out what does not stand in the snapshot of its source, which
// would be a fault of ours: quotes, disagreements made of them, and plots. A claim with
// such a passage or quotation is no longer verified. One bad quote does not cost
// the rest; how many there were is a note. It comes before Gather.
func (r *Report) DropUnfounded(ledger *cite.Ledger, snapshots cite.Snapshots) {
	n := 0
	snapshot := func(number int) *cite.Snapshot {
		s, _ := ledger.Source(number)
		return snapshots[s.Snapshot]
	}
	unfounded := func(text string, p cite.Passage) bool {
		bad := checkQuote(snapshot(p.Source), text, p) != nil
		if bad {
			n++
		}
		return bad
	}
	quotes := func(list []Quote) []Quote {
		return slices.DeleteFunc(list, func(q Quote) bool { return unfounded(q.Text, q.Passage) })
	}
	for i := range r.Sections {
		r.Sections[i].Quotes = quotes(r.Sections[i].Quotes)
		r.Sections[i].Plots = slices.DeleteFunc(r.Sections[i].Plots, func(p series.Plot) bool {
			bad := slices.ContainsFunc(p.Lines, func(l series.Line) bool {
				return slices.ContainsFunc(l.Points, func(point series.Point) bool { return !point.Stands(snapshot(point.Passage.Source)) })
			})
			if bad {
				n++
			}
			return bad
		})
	}
	r.Sections = slices.DeleteFunc(r.Sections, func(s Section) bool { return s.Text == "" && len(s.Quotes) == 0 })
	r.Nearest = quotes(r.Nearest)
	r.Conflicts = slices.DeleteFunc(r.Conflicts, func(c cite.Conflict) bool {
		return unfounded(c.A.Quote, c.A.Passage) || unfounded(c.B.Quote, c.B.Passage)
	})
	for i := range r.Claims {
		c := &r.Claims[i]
		if c.Verified && !r.founded(c, snapshot) {
			n++
			c.Verified, c.Passages = false, nil
			r.Coverage.Claims.Covered--
		}
	}
	if n == 0 {
		return
	}
	r.Notes = append(r.Notes, r.say("note.unfounded", "n", n))
	if !r.written() && len(r.Sections) == 0 {
		r.Outcome = Nothing
	}
}

// founded reports whether the passages of a claim, and the quotations in it,
// stand in its sources.
func (r *Report) founded(c *cite.Checked, snapshot func(int) *cite.Snapshot) bool {
	for _, p := range c.Passages {
		snap := snapshot(p.Source)
		if snap == nil {
			return false
		}
		if _, err := p.Quote(snap); err != nil {
			return false
		}
	}
	return !slices.ContainsFunc(c.Quotes, func(quote string) bool { return !stands(quote, c.Sources, snapshot) })
}

// stands reports whether a quotation stands in one of the sources.
func stands(quote string, sources []int, snapshot func(int) *cite.Snapshot) bool {
	return slices.ContainsFunc(sources, func(n int) bool {
		snap := snapshot(n)
		if snap == nil {
			return false
		}
		_, ok := snap.Find(quote)
		return ok
	})
}
