package search

import (
	"cmp"
	"context"
	"slices"
)

// usualK is the constant of reciprocal rank fusion with which it was published:
// it makes what several find count for more than the first place of one.
const usualK = 60

// Fused asks all at once and joins what they find by Fuse; k is 60 if it is not
// positive. It returns more hits than Query.Limit if there are: the limit is for
// each. Those that fail are in the trace; if all fail, the error is an
// *ExhaustedError.
func Fused(k float64, searchers ...Searcher) Searcher { return fused{k, searchers} }

type fused struct {
	k         float64
	searchers []Searcher
}

func (f fused) Search(ctx context.Context, q Query) ([]Hit, error) {
	type reply struct {
		from int
		hits []Hit
		err  error
	}
	replies := make(chan reply, len(f.searchers)) // nobody waits in vain if we leave
	for i, s := range f.searchers {
		go func() {
			hits, err := ask(ctx, nameOf(s), func(ctx context.Context) ([]Hit, error) { return s.Search(ctx, q) })
			replies <- reply{i, hits, err}
		}()
	}
	lists, errs := make([][]Hit, len(f.searchers)), make([]error, len(f.searchers))
	for range f.searchers {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case r := <-replies:
			lists[r.from], errs[r.from] = r.hits, r.err
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	tried := outcomes{query: q.Text}
	for i, s := range f.searchers {
		tried.add(s, errs[i])
		tellRepeated(TraceOf(ctx), lists[i])
	}
	if err := tried.err(); err != nil {
		return nil, err
	}
	return Fuse(f.k, lists...), nil
}

// Fuse joins ranked lists into one by reciprocal rank fusion: a page scores
// 1/(k + rank) in each list that has it, by the best of its ranks there, and the
// sum orders the result. k is 60 if it is not positive. Hits of one page are one
// hit with what each of them says: the longest snippet and text, the first
// title, date, author, site and language, and the names of all engines, joined
// by commas. Score is the sum.
func Fuse(k float64, lists ...[]Hit) []Hit {
	if !(k > 0) {
		k = usualK
	}
	var found pages
	var scores []float64
	var counted []int // the last list that scored
	for l, hits := range lists {
		for rank, h := range hits {
			at, fresh := found.add(h)
			if fresh {
				scores, counted = append(scores, 0), append(counted, -1)
			}
			if counted[at] != l {
				counted[at] = l
				scores[at] += 1 / (k + float64(rank+1))
			}
		}
	}
	for i := range found.hits {
		found.hits[i].Score = scores[i]
	}
	slices.SortStableFunc(found.hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return found.hits
}
