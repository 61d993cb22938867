package index

import (
	"cmp"
	"slices"
)

// Ranking is a list of hits, the best first, and what it counts in a fusion.
type Ranking struct {
	Hits   []Hit
	Weight float64 // 1 if zero
}

// Fuse joins rankings by reciprocal rank: a document at place r of a ranking
// gets the ranking's weight divided by k + r, and the sums decide. A k of 60
// is customary; a smaller one trusts the first places more.
func Fuse(k float64, rankings ...Ranking) []Hit {
	score := map[string]float64{}
	var order []string
	for _, r := range rankings {
		weight := r.Weight
		if weight == 0 {
			weight = 1
		}
		for i, h := range r.Hits {
			if _, ok := score[h.ID]; !ok {
				order = append(order, h.ID)
			}
			score[h.ID] += weight / (k + float64(i) + 1)
		}
	}
	out := make([]Hit, len(order))
	for i, id := range order {
		out[i] = Hit{id, score[id]}
	}
	slices.SortFunc(out, byScore)
	return out
}

// byScore orders hits, the better first.
func byScore(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
}
