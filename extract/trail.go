package extract

import (
	"strings"

	"dossier/extract/internal/hops"
)

// Found is what a query found, the best first.
type Found struct {
	Query    string
	Passages []Passage
}

// Trail is what one search after another has found for a question, read for
// the names that lead from one passage to the next: a question may name a film
// and ask where its director was born, and only a passage about the film says
// who that is.
//
// It is made anew after each round, of all that was found so far, and the same
// searches always give the same trail.
type Trail struct {
	passages []Passage
	hops     *hops.Trail
}

// Follow reads what searches found. The first one is that for the question in
// its own words. A nil w takes terms as telling that few of the passages have.
func Follow(question string, found []Found, w Weights) *Trail {
	t := &Trail{}
	read := make([]hops.Found, len(found))
	known := map[string]bool{}
	for i, f := range found {
		read[i].Query = f.Query
		for _, p := range f.Passages {
			h := hops.Passage{ID: p.ID, Title: p.Title, Headings: strings.Join(p.Headings, "\n"), Text: p.Text}
			if h.ID == "" { // what has no name is known by what it says
				h.ID = "\x00" + p.Title + "\x00" + p.Text
			}
			read[i].Passages = append(read[i].Passages, h)
			if !known[h.ID] {
				known[h.ID] = true
				t.passages = append(t.passages, p)
			}
		}
	}
	t.hops = hops.Read(question, read, w)
	return t
}

// Order returns the passages, each once, the most useful first: those that
// have most of the question, and those that the names in these lead to. The
// passage that is best by itself stays the first.
func (t *Trail) Order() []Passage {
	out := make([]Passage, 0, len(t.passages))
	for _, at := range t.hops.Order() {
		out = append(out, t.passages[at])
	}
	return out
}

// Step is a passage that a trail goes over, and the names by which it does: the one
// that leads to it, and those in it that lead on.
type Step struct {
	Passage Passage
	Names   []string
}

// Steps returns those of the first n passages of Order that the trail goes over:
// the first one, those that the question names by their titles, and those that
// names in others lead to, as far as they are worth half of the first one.
func (t *Trail) Steps(n int) []Step {
	var out []Step
	for _, s := range t.hops.Steps(n) {
		out = append(out, Step{t.passages[s.Page], s.Names})
	}
	return out
}

// Queries returns up to three queries that were not asked yet, the most
// promising first: for names of the question that nothing found has, and for
// names that stand in what was found, together with the words of the question
// that are missing there.
func (t *Trail) Queries() []string { return t.hops.Queries() }

// Open reports whether another round is worth it although what there is may
// look like an answer: the passages at the front lack a good part of what the
// question asks, and there is something left to search for.
func (t *Trail) Open() bool { return t.hops.Missing() > openShare && len(t.Queries()) > 0 }

// openShare is the share of a question that may be missing where it was
// answered in other words. Nearly all questions that need another passage lack
// more after the first search.
const openShare = 0.25
