package sources

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dossier/extract"
	"dossier/index"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
)

// The ways to rank leads.
const (
	ByWords = "lexical"
	ByModel = "model"
)

// mostRanked bounds the leads of a facet that are ranked again.
const mostRanked = 30

// rerank puts the leads of each facet in the order of what they say about it,
// unless their search has done so.
func (g *gathering) rerank(ctx context.Context, s *run.Scope, fresh int) error {
	if fresh == 0 {
		return nil
	}
	candidates := make([][]Lead, len(g.planned))
	needed := false
	for f := range g.planned {
		for _, h := range first(index.Fuse(fuseK, g.found[f]...), mostRanked) {
			candidates[f] = append(candidates[f], g.leads[h.ID])
		}
		needed = needed || slices.ContainsFunc(candidates[f], func(l Lead) bool { return !l.Ranked })
	}
	if !needed {
		g.meaning = true // the searches have put them in order by what they say
		return nil
	}
	g.meaning = g.Tuning.Rerank == ByModel && !g.noModel || g.ranker(g.Tuning.Rerank)
	if !g.meaning {
		return nil // the trail of names ranks by words, and sees all that was found
	}
	orders, err := g.reranked(ctx, s, candidates)
	if err != nil {
		return err
	}
	for f, order := range orders {
		g.order[f] = nil
		for _, n := range order {
			if f < len(candidates) && n >= 0 && n < len(candidates[f]) {
				g.order[f] = append(g.order[f], candidates[f][n].ID)
			}
		}
	}
	return nil
}

// reranked returns the order of the candidates of each facet, as places in
// their list.
func (g *gathering) reranked(ctx context.Context, s *run.Scope, candidates [][]Lead) ([][]int, error) {
	if g.Tuning.Rerank == ByModel && !g.noModel {
		return g.rankedByModel(ctx, s, candidates)
	}
	type result struct {
		Orders  [][]int `json:"orders"`
		Failure string  `json:"failure,omitempty"`
	}
	made, err := run.Step(ctx, s, "rerank", func(ctx context.Context, _ *run.Scope) (result, error) {
		var out result
		ranker := g.Rerankers[g.Tuning.Rerank]
		if ranker == nil {
			out.Failure = fmt.Sprintf("the way %q is not set up any more", g.Tuning.Rerank)
		}
		for f, leads := range candidates {
			texts := leadTexts(leads)
			if out.Failure == "" && len(texts) > 0 {
				scores, err := ranker.Rerank(ctx, g.planned[f].Title, texts)
				if ctx.Err() != nil {
					return out, context.Cause(ctx)
				}
				if err == nil {
					out.Orders = append(out.Orders, byScore(scores))
					continue
				}
				out.Failure = faultOf(err).Message
			}
			out.Orders = append(out.Orders, g.orderByWords(f, leads))
		}
		return out, nil
	})
	if made.Failure != "" {
		g.trouble("research.rerank-failed", "why", made.Failure)
	}
	return made.Orders, err
}

func leadTexts(leads []Lead) []string {
	texts := make([]string, len(leads))
	for i, l := range leads {
		texts[i] = strings.TrimSpace(l.Title + "\n" + l.Text)
	}
	return texts
}

// byScore returns places, the highest score first.
func byScore(scores []float64) []int {
	out := make([]int, len(scores))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return out
}

// orderByWords fuses the order of the engines, who see more than the snippet,
// with that of the snippets' words.
func (g *gathering) orderByWords(facet int, leads []Lead) []int {
	engines, words := index.Ranking{Weight: 1}, index.Ranking{Weight: 1}
	for i := range leads {
		engines.Hits = append(engines.Hits, index.Hit{ID: strconv.Itoa(i)})
	}
	for _, i := range byWords(g.planned[facet].Title, leadTexts(leads)) {
		words.Hits = append(words.Hits, index.Hit{ID: strconv.Itoa(i)})
	}
	var out []int
	for _, h := range index.Fuse(fuseK, engines, words) {
		n, err := strconv.Atoi(h.ID)
		if err == nil {
			out = append(out, n)
		}
	}
	return out
}

// Words ranks texts by the words that they share with the query.
type Words struct{}

// Rerank implements search.Reranker. It never fails.
func (Words) Rerank(_ context.Context, query string, texts []string) ([]float64, error) {
	scores := make([]float64, len(texts))
	for place, i := range byWords(query, texts) {
		scores[i] = 1 / float64(place+1)
	}
	return scores, nil
}

// byWords returns the places of texts in the order in which they may answer a
// question.
func byWords(question string, texts []string) []int {
	passages := make([]extract.Passage, len(texts))
	for i, t := range texts {
		passages[i] = extract.Passage{ID: strconv.Itoa(i), Text: t}
	}
	out := make([]int, 0, len(texts))
	for _, p := range extract.Ordered(question, passages) {
		if n, err := strconv.Atoi(p.ID); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// rankedResult is what a model says of one part of the question.
type rankedResult struct {
	Part    int   `json:"part" jsonschema:"number of the part"`
	Results []int `json:"results" jsonschema:"numbers of the results that may answer it, the best first"`
}

// rankedList is what the model is asked for.
type rankedList struct {
	Parts []rankedResult `json:"parts" jsonschema:"one for each part of the question"`
}

type rerankInput struct {
	Question string
	Parts    []rerankPart
	rules    func() rankedList
}

type rerankPart struct {
	Number  int
	Title   string
	Results []rerankResult
}

type rerankResult struct {
	Number            int
	Title, Site, Date string
	Text              string
}

var rerank = &prompt.Task[rerankInput, rankedList]{
	Name:     "rerank",
	Role:     llm.ForSummarizer,
	Template: prompt.Parse(files, "rerank.md"),
	Fallback: func(in rerankInput) (rankedList, error) { return in.rules(), nil },
}

// snippetShown is how many characters of a result a model sees to rank it.
const snippetShown = 400

func (g *gathering) rankedByModel(ctx context.Context, s *run.Scope, candidates [][]Lead) ([][]int, error) {
	in := rerankInput{Question: g.evidence.Question}
	for f, leads := range candidates {
		part := rerankPart{Number: f + 1, Title: g.planned[f].Title}
		for i, l := range leads {
			part.Results = append(part.Results, rerankResult{i + 1, l.Title, l.Site, l.Date, cut(l.Text, snippetShown)})
		}
		in.Parts = append(in.Parts, part)
	}
	in.rules = func() rankedList {
		var out rankedList
		for f, leads := range candidates {
			order := g.orderByWords(f, leads)
			for i := range order {
				order[i]++
			}
			out.Parts = append(out.Parts, rankedResult{f + 1, order})
		}
		return out
	}
	made, err := rerank.Do(ctx, s, g.Models, in, prompt.Options[rankedList]{Model: g.Model})
	if err != nil {
		return nil, err
	}
	g.overruled(made.Overruled(), made.Why)
	out := make([][]int, len(candidates))
	for _, p := range made.Value.Parts {
		if p.Part < 1 || p.Part > len(out) {
			continue
		}
		for _, n := range p.Results {
			if !slices.Contains(out[p.Part-1], n-1) {
				out[p.Part-1] = append(out[p.Part-1], n-1)
			}
		}
	}
	return out, nil
}
