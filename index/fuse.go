package index

import "slices"

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

// Group turns a ranking of passages into one of documents: each counts as its
// best passage. The function parent names the document of a passage.
func Group(passages []Hit, parent func(id string) string) []Hit {
	best := map[string]int{}
	var out []Hit
	for _, h := range passages {
		id := parent(h.ID)
		if at, ok := best[id]; ok {
			out[at].Score = max(out[at].Score, h.Score)
			continue
		}
		best[id] = len(out)
		out = append(out, Hit{id, h.Score})
	}
	slices.SortFunc(out, byScore)
	return out
}
