package index

import (
	"cmp"
	"math"
	"slices"
)

// How documents that were found first widen a query.
const (
	feedbackDocs   = 5    // that are taken to be about the query
	feedbackTerms  = 20   // that join it
	feedbackWeight = 0.15 // of the most telling of them
	feedbackReach  = 80   // places around the place that answers best
	rankDepth      = 50   // documents that are ranked by their words
)

// Rank searches with all that the package knows: the words that are telling
// of the first documents join the query, a second search is made, and what it
// finds is ordered by [Index.Rerank]. The function read gives a document's
// text; it is called for at most fifty documents, or as many as the limit, and
// for one of them twice at most.
func (x *Index) Rank(q Query, read func(id string) (Doc, error)) ([]Hit, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = 10
	}
	words := terms(x.parse(q.Text))
	choices, err := x.choices(q)
	if err != nil {
		return nil, err
	}
	hits, err := x.search(words, choices, feedbackDocs, q.Filter)
	if err != nil {
		return nil, err
	}
	first := make([]Doc, len(hits))
	for i, h := range hits {
		if first[i], err = read(h.ID); err != nil {
			return nil, err
		}
	}
	if words, err = x.widen(q.Text, choices, words, first); err != nil {
		return nil, err
	}
	if hits, err = x.search(words, choices, max(limit, rankDepth), q.Filter); err != nil {
		return nil, err
	}
	candidates := make([]Candidate, len(hits))
	for i, h := range hits {
		d, err := read(h.ID)
		if err != nil {
			return nil, err
		}
		candidates[i] = Candidate{ID: h.ID, Title: d.Title, Heading: d.Heading, Text: d.Text, Score: h.Score}
	}
	if hits, err = x.rerank(q.Text, choices, candidates); err != nil {
		return nil, err
	}
	return hits[:min(limit, len(hits))], nil
}

// widen adds the terms that several docs share and few others have, weighed
// by how far they differ from chance (Bose-Einstein, as Bo1 does). Of a long
// document only what stands around the words of the query is read.
func (x *Index) widen(query string, choices []choice, words []term, docs []Doc) ([]term, error) {
	r, err := x.newReranker(query, choices)
	if err != nil {
		return nil, err
	}
	type use struct{ times, docs, last int }
	uses := map[string]*use{}
	var scan scanner
	var stems stemmer
	for i, d := range docs {
		r.find(d.Title, d.Heading, d.Text)
		_, end := r.together()
		place := 0
		for _, text := range [...]string{d.Title, d.Heading, d.Text} {
			scan.reset(text)
			for scan.next() {
				place += scan.kind.places()
				if place < end-windowSize-feedbackReach || place > end+feedbackReach ||
					scan.kind == character || functional(scan.surface, scan.kind, x.tongues) {
					continue
				}
				x.eachTerm(&stems, string(scan.surface), scan.kind, func(name string) {
					u := uses[name]
					if u == nil {
						u = &use{last: -1}
						uses[name] = u
					}
					u.times++
					if u.last != i {
						u.docs, u.last = u.docs+1, i
					}
				})
			}
			place += fieldGap
		}
	}
	var telling []term
	for name, u := range uses {
		if u.docs < 2 {
			continue
		}
		held := 0
		for _, s := range x.segments {
			l, err := s.find(name)
			if err != nil {
				return nil, err
			}
			held += l.docs
		}
		if held > 0 {
			chance := float64(held) / float64(x.docs)
			mean := float64(u.times) / float64(len(docs))
			telling = append(telling, term{name, float32(mean*math.Log2((1+chance)/chance) + math.Log2(1+chance))})
		}
	}
	slices.SortFunc(telling, func(a, b term) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.name, b.name))
	})
	if len(telling) == 0 {
		return words, nil
	}
	most := telling[0].weight
	for _, t := range telling[:min(feedbackTerms, len(telling))] {
		t.weight *= feedbackWeight / most
		if i := slices.IndexFunc(words, func(w term) bool { return w.name == t.name }); i >= 0 {
			words[i].weight += t.weight
		} else {
			words = append(words, t)
		}
	}
	return words, nil
}
