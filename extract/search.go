package extract

import (
	"dossier/index"
)

// searchDepth is how many passages are read for a question.
const searchDepth = 120

// Search finds passages by their words and puts them in the order of [Rank]. The
// function read gives what was found as candidates, in any order; those that it
// leaves out are no hits. It is called once, with at most 120 passages or as
// many as the limit.
func Search(x *index.Index, q index.Query, read func(hits []index.Hit) ([]Candidate, error)) ([]index.Hit, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = 10
	}
	q.Limit = max(limit, searchDepth)
	hits, err := x.Search(q)
	if err != nil {
		return nil, err
	}
	found, err := read(hits)
	if err != nil {
		return nil, err
	}
	hits = hits[:0]
	for _, r := range Rank(q.Text, found, x, q.Groups...) {
		if len(hits) == limit {
			break
		}
		hits = append(hits, index.Hit{ID: found[r.Candidate].ID, Score: r.Score})
	}
	return hits, nil
}
