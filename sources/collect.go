package sources

import (
	"context"
	"slices"

	"dossier/index"
	"dossier/run"
)

// Collected is what searches of somebody else found for a question, as it comes:
// an agent makes them, and what is read, quoted and looked for next is decided as
// Gather decides it without a model.
type Collected struct{ g *gathering }

// Collect begins to take in what is found for the facets of a plan.
func Collect(s *run.Scope, j Job, p Plan) *Collected {
	g := newGathering(j, s, &Evidence{Question: p.Question})
	g.noModel, g.told = true, true
	g.meaning = true // a collection has put what it found in order by what it says
	g.planned = distinctFacets(first(p.Facets, mostFacets))
	n := len(g.planned)
	g.found, g.order, g.searches, g.next, g.unsettled = make([][]index.Ranking, n), make([][]string, n), make([][]string, n), make([][]string, n), make([]bool, n)
	g.near, g.firstAsked = make([]nearness, n), make([]int, n)
	for _, f := range g.planned {
		g.evidence.Facets = append(g.evidence.Facets, FacetEvidence{Title: f.Title})
	}
	return &Collected{g}
}

// Facets are those of the plan that are looked for, ones of one meaning as one. By
// their places Take and Next name them.
func (c *Collected) Facets() []Facet { return c.g.planned }

// Take adds what a query found, in the order in which it was found, to the facets
// that it was asked for, by their places; none are all. First says that it is one
// of the plan's own.
func (c *Collected) Take(text string, leads []Lead, first bool, facets ...int) {
	g := c.g
	if len(facets) == 0 {
		for i := range g.planned {
			facets = append(facets, i)
		}
	}
	g.ask(text)
	g.take(&query{text: text, facets: facets, found: Finding{Leads: leads}})
	if first {
		for _, f := range facets {
			g.firstAsked[f] = len(g.searches[f])
		}
	}
}

// Round says that what was taken since the last one is a round of searches, and
// returns how many there were: the more, the more is read.
func (c *Collected) Round() int {
	c.g.rounds++
	return c.g.rounds
}

// Next is a facet for which another search is worth it, by its place, and the
// queries that were not asked yet.
type Next struct {
	Facet   int
	Title   string
	Queries []string
}

// Next looks at what was found, in a step of the scope, and says for which facets
// something is missing or leads on.
func (c *Collected) Next(ctx context.Context, s *run.Scope) ([]Next, error) {
	g := c.g
	if err := g.sift(ctx, s); err != nil {
		return nil, err
	}
	var out []Next
	for i, f := range g.planned {
		if !g.unsettled[i] {
			continue
		}
		n := Next{Facet: i, Title: f.Title}
		for _, q := range g.next[i] {
			if q = Searchable(q); len(n.Queries) < g.Tuning.Queries && q != "" && !g.askedSet[sameQuery(q)] && !slices.Contains(n.Queries, q) {
				n.Queries = append(n.Queries, q)
			}
		}
		out = append(out, n)
	}
	return out, nil
}

// Evidence reads the best of what was taken, in steps of the scope, and chooses
// what to quote. Known are sources that have their numbers already, and were told:
// it takes them over.
func (c *Collected) Evidence(ctx context.Context, s *run.Scope, known *Evidence) (*Evidence, error) {
	g := *c.g
	g.scope, g.rounds, g.planned = s, max(1, g.rounds), slices.Clone(g.planned)
	g.evidence = &Evidence{Question: c.g.evidence.Question, Ledger: known.Ledger, Snapshots: known.Snapshots, Leads: len(g.leads), Trouble: slices.Clone(c.g.evidence.Trouble)}
	for _, f := range g.planned {
		g.evidence.Facets = append(g.evidence.Facets, FacetEvidence{Title: f.Title})
	}
	if err := g.sift(ctx, s); err != nil {
		return nil, err
	}
	if err := g.read(ctx); err != nil {
		return nil, err
	}
	if err := g.quote(ctx); err != nil {
		return nil, err
	}
	g.uniteFacets()
	return g.evidence, nil
}
