package text

import (
	"cmp"
	"math"
	"slices"
	"time"
	"unicode"

	"dossier/search"
)

const (
	// leastShare is the part of a question's weight that a hit has to meet:
	// below it the hit shares only words that everything shares.
	leastShare = 0.15
	// leastOfBest is how far behind the best hit the others may be.
	leastOfBest = 1.0 / 3
)

// Rank returns those of hits that have words of query, the best first and
// otherwise in the order in which they came, with their scores from 0 to 1. A
// word weighs more the fewer of the hits have it and the longer it is; where in
// a hit it stands and how often does not matter. No query returns all as they are.
func Rank(query string, hits []search.Hit) []search.Hit {
	asked := Words(query)
	slices.Sort(asked)
	asked = slices.Compact(asked)
	if len(asked) == 0 {
		return hits
	}
	weight := make([]float64, len(asked))
	has := make([][]bool, len(hits))
	for i, h := range hits {
		words := Words(h.Title + "\n" + h.Snippet + "\n" + h.Text + "\n" + h.Author)
		slices.Sort(words)
		words = slices.Compact(words)
		has[i] = make([]bool, len(asked))
		for k, w := range asked {
			if slices.ContainsFunc(words, func(x string) bool { return alike(w, x) }) {
				has[i][k] = true
				weight[k]++
			}
		}
	}
	total := 0.0
	for k, n := range weight {
		weight[k] = math.Log(1+float64(len(hits))/max(1, n)) * substance(asked[k])
		total += weight[k]
	}
	best := 0.0
	var found []search.Hit
	for i, h := range hits {
		h.Score = 0
		for k, ok := range has[i] {
			if ok {
				h.Score += weight[k] / total
			}
		}
		best = max(best, h.Score)
		found = append(found, h)
	}
	found = slices.DeleteFunc(found, func(h search.Hit) bool { return h.Score < leastShare || h.Score < best*leastOfBest })
	slices.SortStableFunc(found, func(a, b search.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return found
}

// substance is what a word's length says about it, in every language alike: the
// words that only hold a sentence together are short. Ideographs and digits say
// much in little space.
func substance(word string) float64 {
	const long = 6
	length := 0
	for _, r := range word {
		if unicode.IsDigit(r) || unicode.Is(unicode.Ideographic, r) {
			return 1
		}
		length++
	}
	return min(1, float64(length)/long)
}

// Within leaves out the hits that are known to be of another time than the
// query's, for services that can't be told the time. A date that is only a month
// or a year, or none, is not known to be.
func Within(hits []search.Hit, q search.Query) []search.Hit {
	const day = time.DateOnly
	var in []search.Hit
	for _, h := range hits {
		early := !q.Since.IsZero() && h.Date < q.Since.UTC().Format(day)
		late := !q.Until.IsZero() && h.Date > q.Until.UTC().Format(day)
		if len(h.Date) != len(day) || !early && !late {
			in = append(in, h)
		}
	}
	return in
}
