package sources

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"dossier/event"
	"dossier/index"
	"dossier/lang"
	"dossier/run"
)

// query is one that a round puts to the corpus, for some of the facets.
type query struct {
	text   string
	facets []int
	found  Finding
	err    error
}

// queriesOf returns the queries of a round, each once however many facets ask
// it, as far as the limit of searches goes.
func (g *gathering) queriesOf(asked []FollowUp) (_ []*query, cut bool) {
	var out []*query
	byKey := make(map[string]*query)
	for _, f := range asked {
		key := strings.ToLower(f.Query)
		q := byKey[key]
		if q == nil {
			q = &query{text: f.Query}
			byKey[key] = q
			out = append(out, q)
		}
		q.facets = append(q.facets, f.Facet-1)
	}
	n := g.scope.Budget().Allot(run.Searches, g.searched, len(out))
	g.searched += n
	if n < len(out) {
		g.evidence.Stopped = &run.BudgetError{What: run.Searches, Limit: float64(g.searched), Spent: float64(g.searched)}
	}
	return out[:n], n < len(out)
}

// find is the step of a query. The first round takes place even when the run
// was told to finish or its time is up: without it there is nothing to finish
// with.
func (g *gathering) find(ctx context.Context, s *run.Scope, q *query, round int) (Finding, error) {
	return run.Step(ctx, s, "find", func(ctx context.Context, s *run.Scope) (Finding, error) {
		if err := s.Budget().Check(run.Searches); err != nil {
			if limit, ok := errors.AsType[*run.BudgetError](err); round > 1 || ok && limit.What == run.Searches {
				return Finding{}, err
			}
		}
		s.Charge(run.Spent{Searches: 1})
		asked := Query{Text: q.text, Limit: g.Tuning.MaxResults, Engines: g.enginesFor(q), Tiers: g.Tiers, Wide: g.Wide || round > 1}
		if q.text == g.translated {
			asked.Lang = lang.English
		}
		return g.Corpus.Find(ctx, asked)
	})
}

// round puts queries to the corpus, in parallel, and returns how many leads
// were new. Queries that fail are told; that all of them fail is an error.
func (g *gathering) round(ctx context.Context, s *run.Scope, n int, asked []FollowUp) (int, error) {
	queries, cut := g.queriesOf(asked)
	tasks := make([]*run.Task, len(queries))
	for i, q := range queries {
		if err := g.scope.Emit(event.SearchStarted{Query: q.text, Engine: g.asking(q), Round: n}); err != nil {
			return 0, err
		}
		tasks[i] = run.Go(ctx, s, fmt.Sprintf("search-%d", i+1), func(ctx context.Context, s *run.Scope) error {
			q.found, q.err = g.find(ctx, s, q, n)
			if run.Stopped(q.err) {
				return q.err
			}
			return nil
		})
	}
	if err := run.All(ctx, tasks...); err != nil {
		return 0, err
	}
	if cut {
		if err := g.scope.Budget().Short(run.Searches); err != nil {
			return 0, err
		}
	}
	fresh, failed := 0, 0
	for _, q := range queries {
		told := g.results(q)
		if q.err != nil {
			told.Error = faultOf(q.err).Message
			if Spent(q.err) {
				g.evidence.Stopped = q.err
			} else {
				failed++
				g.trouble("research.search-failed", "query", q.text, "why", told.Error)
			}
		}
		told.New = g.take(q)
		fresh += told.New
		if err := g.scope.Emit(told); err != nil {
			return 0, err
		}
	}
	if failed > 0 && failed == len(queries) && len(g.leads) == 0 {
		all := make([]error, len(queries))
		for i, q := range queries {
			all[i] = q.err
		}
		return 0, &SearchError{all}
	}
	return fresh, nil
}

// take adds what a query found to the rankings of its facets and returns how
// many leads are new.
func (g *gathering) take(q *query) int {
	fresh := 0
	ranking := index.Ranking{Weight: 1}
	for _, l := range q.found.Leads {
		if _, ok := g.leads[l.ID]; !ok {
			g.leads[l.ID] = l
			fresh++
		}
		ranking.Hits = append(ranking.Hits, index.Hit{ID: l.ID, Score: l.Ranking})
	}
	for _, f := range q.facets {
		g.near[f].add(q.found.Leads)
		ranking.Weight = 1
		if own := g.planned[f].Queries; len(own) > 0 && strings.EqualFold(q.text, own[0]) {
			ranking.Weight = ownWeight
		}
		g.found[f] = append(g.found[f], ranking)
		g.searches[f] = append(g.searches[f], q.text)
	}
	return fresh
}

// nearness is how near leads come to what was searched for by their meaning, by
// their IDs, as in extract.Passage.
type nearness map[string]float64

func (n *nearness) add(leads []Lead) {
	for _, l := range leads {
		if l.Near > (*n)[l.ID] {
			if *n == nil {
				*n = make(nearness)
			}
			(*n)[l.ID] = l.Near
		}
	}
}

// results tells what came back, and makes trouble of engines that did not
// answer while others did.
func (g *gathering) results(q *query) event.SearchResults {
	told := q.found.Event(q.text, g.Corpus.Name())
	for _, e := range told.Engines {
		if e.Error != "" {
			g.trouble("research.engine-failed", "engine", e.Engine, "why", e.Error)
		}
	}
	return told
}

// SearchError says that not one search came through.
type SearchError struct {
	failed []error // what became of each
}

func (e *SearchError) Error() string {
	return "nothing could be searched: " + faultOf(e.failed[0]).Message
}

// Unwrap returns the failures of all searches: a run that failed for them tries
// them again when it is resumed.
func (e *SearchError) Unwrap() []error { return e.failed }

// Fault tells the kernel how to record the error.
func (e *SearchError) Fault() (code, hint string) {
	f := faultOf(e.failed[0])
	return f.Code, f.Hint
}
