package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"dossier/index"
)

// lexicon is what everything is measured against: plain BM25, k1 1.2, b 0.75,
// without stems and stop words, over words and pairs of Chinese characters.
type lexicon struct {
	ids      []string
	lengths  []float64
	average  float64
	postings map[string][]posting
}

type posting struct {
	doc   int
	count float64
}

// newLexicon indexes texts in their order, with their names in the same order.
func newLexicon(ids, texts []string) *lexicon {
	x := &lexicon{ids: ids, postings: map[string][]posting{}}
	for i, text := range texts {
		words := plainWords(text)
		counts := map[string]float64{}
		for _, w := range words {
			counts[w]++
		}
		for w, n := range counts {
			x.postings[w] = append(x.postings[w], posting{i, n})
		}
		x.lengths = append(x.lengths, float64(len(words)))
		x.average += float64(len(words)) / float64(len(texts))
	}
	return x
}

// search returns the best texts. Of equals the first comes first.
func (x *lexicon) search(query string, limit int) ranking {
	const k1, b = 1.2, 0.75
	scores := map[int]float64{}
	for _, w := range plainWords(query) {
		found := x.postings[w]
		n := float64(len(found))
		rarity := math.Log(1 + (float64(len(x.ids))-n+0.5)/(n+0.5))
		for _, p := range found {
			scores[p.doc] += rarity * p.count * (k1 + 1) / (p.count + k1*(1-b+b*x.lengths[p.doc]/x.average))
		}
	}
	order := make([]int, 0, len(scores))
	for doc := range scores {
		order = append(order, doc)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	var out ranking
	for _, doc := range order[:min(limit, len(order))] {
		out = append(out, index.Hit{ID: x.ids[doc], Score: scores[doc]})
	}
	return out
}

// plainWords are the words of a text in lower case; of a run of Chinese
// characters its pairs, or the one that it is.
func plainWords(text string) []string {
	var out []string
	var run []rune
	chinese := false
	flush := func() {
		switch {
		case len(run) == 0:
		case !chinese || len(run) == 1:
			out = append(out, string(run))
		default:
			for i := range len(run) - 1 {
				out = append(out, string(run[i:i+2]))
			}
		}
		run = run[:0]
	}
	for _, r := range strings.ToLower(text) {
		han := r >= 0x2e80 && unicode.Is(unicode.Han, r)
		switch {
		case !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_':
			flush()
		default:
			if han != chinese {
				flush()
			}
			chinese = han
			run = append(run, r)
		}
	}
	flush()
	return out
}
