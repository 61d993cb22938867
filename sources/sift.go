package sources

import (
	"context"

	"dossier/extract"
	"dossier/run"
)

// verdict is whether a facet is answered, as a step records it.
type verdict struct {
	Answered   bool    `json:"answered"`
	Confidence float64 `json:"confidence"`
}

// sifted is what a look at all that was found for a facet tells.
type sifted struct {
	verdict
	// Open says that another round is worth it: nothing answers, or names in
	// what answers lead on to what the question asks.
	Open bool `json:"open,omitempty"`
	// Next are queries for it.
	Next []string `json:"next,omitempty"`
	// Order are the leads by what they say together.
	Order []string `json:"order,omitempty"`
}

// sift decides which facets have an answer by now, what to search for next, and
// how what was found is ranked, unless the step before did that by meaning.
func (g *gathering) sift(ctx context.Context, s *run.Scope) error {
	all, err := run.Step(ctx, s, "sift", func(ctx context.Context, _ *run.Scope) ([]sifted, error) {
		weights, err := g.Corpus.Weights(ctx)
		if err != nil {
			return nil, err
		}
		out := make([]sifted, len(g.planned))
		for i := range g.planned {
			out[i] = g.siftOne(i, weights)
		}
		return out, nil
	})
	if err != nil {
		for i := range g.unsettled {
			g.unsettled[i] = !g.evidence.Facets[i].Answered
		}
		return g.forgive(err)
	}
	for i, v := range all {
		f := &g.evidence.Facets[i]
		f.Answered, f.Confidence = v.Answered, v.Confidence
		g.unsettled[i], g.next[i] = v.Open, v.Next
		if !g.meaning || g.Trail > 0 {
			g.order[i] = v.Order
		}
	}
	return nil
}

// siftOne looks at a facet.
func (g *gathering) siftOne(facet int, weights Weights) sifted {
	title := g.planned[facet].Title
	trail := extract.Follow(title, g.foundFor(facet), weights)
	var out sifted
	for _, p := range trail.Order() {
		out.Order = append(out.Order, p.ID)
	}
	out.Order = g.withTranslated(facet, out.Order)
	ranked := g.ranked(facet)
	if !g.meaning || g.Trail > 0 {
		ranked = g.best(out.Order, g.Tuning.TopK)
	}
	passages := g.passagesOf(facet, ranked)
	chosen := extract.Select(title, passages, g.weighing(weights, facet), extract.Options{})
	out.verdict = verdict{chosen.Answered, chosen.Confidence}
	next := trail.Queries()
	if out.Open = !chosen.Answered || trail.Open() || g.Trail > 0 && len(next) > 0; out.Open {
		out.Next = next
	}
	if !chosen.Answered || g.Tuning.MinIterations > 1 { // there is another round in any case
		out.Next = append(out.Next, extract.FollowUps(title, passages)...)
	}
	return out
}

// foundFor is what the searches for a facet found, that for the facet in its own
// words first.
func (g *gathering) foundFor(facet int) []extract.Found {
	var out []extract.Found
	for i, query := range g.searches[facet] {
		if query == g.translated {
			continue // names in another language lead nowhere in the question's
		}
		f := extract.Found{Query: query}
		for _, h := range g.found[facet][i].Hits {
			f.Passages = append(f.Passages, g.passagesOf(facet, []Lead{g.leads[h.ID]})...)
		}
		if query == g.planned[facet].Title && i > 0 {
			out = append([]extract.Found{f}, out...)
			continue
		}
		out = append(out, f)
	}
	return out
}
