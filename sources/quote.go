package sources

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"dossier/cite"
	"dossier/extract"
	"dossier/run"
)

// chosen is the selection for a facet, as a step records it.
type chosen struct {
	verdict
	Quotes []cite.Passage `json:"quotes,omitempty"`
}

// quote chooses the sentences of each facet out of what was read.
func (g *gathering) quote(ctx context.Context) error {
	e := g.evidence
	byID := make(map[string]int)
	for i, p := range e.Passages {
		if _, ok := byID[p.ID]; !ok {
			byID[p.ID] = i
		}
	}
	for f := range e.Facets {
		e.Facets[f].Passages = g.passagesFor(f, byID)
	}
	picked, err := run.Step(ctx, g.scope, "quote", func(ctx context.Context, _ *run.Scope) ([]chosen, error) {
		weights, err := g.Corpus.Weights(ctx)
		if err != nil {
			weights = even{}
		}
		out := make([]chosen, len(e.Facets))
		for i, f := range e.Facets {
			read := g.weighing(weights, i)
			out[i] = e.choose(f.Title, f.Passages, g.near[i], read, extract.Options{})
			if out[i].Answered {
				out[i].Quotes = append(out[i].Quotes, g.onTheWay(i, byID, read, out[i].Quotes)...)
			}
		}
		return out, nil
	})
	if err != nil {
		return err
	}
	for i, c := range picked {
		f := &e.Facets[i]
		f.Answered, f.Confidence, f.Quotes = c.Answered, c.Confidence, c.Quotes
	}
	return nil
}

// passagesFor returns the passages of a facet that were read, the best first. Of
// leads that are passages themselves no more are looked at than are kept.
func (g *gathering) passagesFor(facet int, byID map[string]int) []int {
	leads := g.readable(facet)
	leads = append(first(leads, g.Tuning.TopK), slices.DeleteFunc(leads[min(g.Tuning.TopK, len(leads)):], func(l Lead) bool { return l.Spot.End > 0 })...)
	own := g.passagesAmong(leads, g.planned[facet].Title, byID)
	if len(g.inEnglishOnly(facet)) == 0 {
		return own
	}
	// What is in English shares no words with the facet.
	kept := slices.Clone(first(own, passagesKept-translatedKept))
	for _, n := range append(g.passagesAmong(leads, g.translated, byID), own...) {
		if len(kept) < passagesKept && !slices.Contains(kept, n) {
			kept = append(kept, n)
		}
	}
	return kept
}

// translatedKept is how many of the passages of a facet are there for what they
// say in English, where it was asked in it too.
const translatedKept = 8

// passagesAmong returns the passages of leads that were read, the best first:
// those that a search found, or, where only reading told the passages, those of
// the documents which say most about the question.
func (g *gathering) passagesAmong(leads []Lead, question string, byID map[string]int) []int {
	var out, within []int
	for _, l := range leads {
		if i, ok := byID[l.ID]; ok {
			out = append(out, i)
			continue
		}
		for i, p := range g.evidence.Passages {
			if strings.HasPrefix(p.ID, l.Ref+"#") && !slices.Contains(within, i) {
				within = append(within, i)
			}
		}
	}
	passages := make([]extract.Passage, len(within))
	for i, n := range within {
		p := &g.evidence.Passages[n]
		passages[i] = extract.Passage{ID: strconv.Itoa(n), Title: p.Title, Headings: p.HeadingPath, Text: p.Text}
	}
	for _, p := range extract.Ordered(question, passages) {
		if len(out) == passagesKept {
			break
		}
		if n, err := strconv.Atoi(p.ID); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// passagesKept bounds the passages of a facet that sentences are chosen from:
// pages are long.
const passagesKept = 24

// choose selects sentences of passages, by their places, for a question.
func (e *Evidence) choose(question string, places []int, near nearness, weights Weights, o extract.Options) chosen {
	passages := make([]extract.Passage, len(places))
	for i, n := range places {
		p := e.Passages[n]
		passages[i] = extract.Passage{ID: p.ID, Title: p.Title, Headings: p.HeadingPath, Text: p.Text, Near: near[p.ID]}
	}
	s := extract.Select(question, passages, weights, o)
	out := chosen{verdict: verdict{s.Answered, s.Confidence}}
	for _, q := range s.Quotes {
		p := e.Passages[places[q.Passage]]
		at := p.Passage
		at.Start, at.End, at.Line = p.Start+q.Start, p.Start+q.End, 0
		at.MarkStart, at.MarkEnd = p.Start+q.Mark.Start, p.Start+q.Mark.End
		if src, ok := e.Ledger.Source(p.Source); ok {
			if snap := e.Snapshots[src.Snapshot]; snap != nil {
				at.Line = snap.Line(at.MarkStart)
			}
		}
		out.Quotes = append(out.Quotes, at)
	}
	return out
}

// onTheWay are sentences for a facet whose answer is some steps away.
func (g *gathering) onTheWay(facet int, byID map[string]int, weights Weights, have []cite.Passage) []cite.Passage {
	if g.Trail > 0 {
		return g.along(facet, byID, weights, have)
	}
	return g.ledOn(facet, byID, weights, have)
}

const (
	ledOnPages  = 3 // best leads of a facet among which one counts that only a follow-up found
	ledOnEach   = 1 // quotes of one follow-up
	ledOnQuotes = 2 // of all
)

// ledOn are sentences for a facet whose answer is two steps away: what was found
// names something, a follow-up asked about that, and what it found is among the
// best. Its sentences share few words with the facet and are chosen for the
// follow-up instead.
func (g *gathering) ledOn(facet int, byID map[string]int, weights Weights, have []cite.Passage) []cite.Passage {
	best := make(map[string]bool)
	for _, l := range first(g.ranked(facet), ledOnPages) {
		best[l.ID] = true
	}
	for i := range g.firstAsked[facet] {
		for _, h := range g.found[facet][i].Hits {
			delete(best, h.ID)
		}
	}
	var out []cite.Passage
	for i, query := range g.searches[facet] {
		if i < g.firstAsked[facet] {
			continue
		}
		var leads []Lead
		for _, h := range g.found[facet][i].Hits {
			if best[h.ID] {
				leads = append(leads, g.leads[h.ID])
			}
		}
		got := g.evidence.choose(query, g.passagesAmong(leads, query, byID), g.near[facet], weights, extract.Options{Quotes: ledOnEach})
		if !got.Answered {
			continue
		}
		for _, q := range got.Quotes {
			same := func(p cite.Passage) bool { return p.Source == q.Source && p.Start < q.End && q.Start < p.End }
			if len(out) < ledOnQuotes && !slices.ContainsFunc(have, same) && !slices.ContainsFunc(out, same) {
				out = append(out, q)
			}
		}
	}
	return out
}

// even weighs all words the same, for a corpus that went away.
type even struct{}

func (even) Weight(string) float64 { return 1 }
