package catalog

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"dossier/index"
	"dossier/lang"
)

// Found is an entry that was found.
type Found struct {
	Entry
	// Score orders what one search found; those of two searches, or of two
	// catalogs, don't compare.
	Score float64
	// Confidence is how surely the tool serves the query, from 0 to 1, whatever
	// else the catalog holds; see Enough.
	Confidence float64
}

// How the words of a query count.
const (
	vagueWeight    = 0.5
	quotedWeight   = 0.4
	conceptWeight  = 0.7 // of another word of the same group
	spellingWeight = 0.6
	pairWeight     = 0.6
)

// How the parts of a query and of a catalog play together.
const (
	clausePower  = 0.5 // how far a weak clause is raised to the strongest: 0 not at all, 1 wholly
	clauseWeight = 1.0 // of the best clause beside the whole query
	originShare  = 0.2 // of the best tool of an origin, for all of its tools
)

const (
	queryBytes = 16 << 10 // what is read of a query
	fusedDepth = 50       // places of each ranking that are fused
	fusedK     = 60
)

// wanted is a word of a query.
type wanted struct {
	term   term // -1 for one that no entry has
	weight float64
	also   []wanted // other ways to say it: the best counts
}

// Search returns the k best entries for what somebody wants done, in any
// number of sentences, the best first; entries of equal score come in their
// own order. Without a word in common nothing is found. When the embedder
// fails, words alone decide; the error is that of the context.
func (x *Index) Search(ctx context.Context, query string, k int) ([]Found, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	k = max(0, min(k, len(x.entries)))
	query = plain(head(query, queryBytes))
	depth := k
	if x.vectors != nil {
		depth = max(k, min(fusedDepth, len(x.entries)))
	}
	best := x.best(query, depth)
	if x.vectors != nil {
		fused, err := x.fuse(ctx, query, best, depth)
		if err != nil {
			return nil, err
		}
		best = fused
	}
	ask := x.questioned(query)
	found := make([]Found, min(k, len(best)))
	for i := range found {
		n := best[i].entry
		found[i] = Found{x.entries[n], best[i].score, ask.confidence(n)}
	}
	return found, nil
}

// head returns the beginning of a text, in whole characters.
func head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// scored is an entry with its score.
type scored struct {
	entry int
	score float64
}

// before says whether a comes before b.
func (a scored) before(b scored) bool {
	return a.score > b.score || a.score == b.score && a.entry < b.entry
}

// sums are what a search adds up in, kept for the next one.
type sums struct{ whole, clause, best, scratch []float64 }

var pool = sync.Pool{New: func() any { return new(sums) }}

// best returns the entries with the highest scores by words.
func (x *Index) best(query string, k int) []scored {
	if k == 0 {
		return nil
	}
	n := len(x.entries)
	s := pool.Get().(*sums)
	defer pool.Put(s)
	for _, v := range []*[]float64{&s.whole, &s.clause, &s.best, &s.scratch} {
		*v = slices.Grow((*v)[:0], n)[:n]
		clear(*v)
	}
	x.sum(x.parse(query), s.whole, s.scratch)
	if parts := clauses(query); len(parts) > 1 {
		x.sumClauses(parts, s)
	}
	x.lift(s.whole)
	top := make([]scored, 0, k+1)
	for i, score := range s.whole {
		one := scored{i, score}
		if score == 0 || len(top) == k && !one.before(top[k-1]) {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, one, func(a, b scored) int {
			if a.before(b) {
				return -1
			}
			return 1
		})
		if top = slices.Insert(top, at, one); len(top) > k {
			top = top[:k]
		}
	}
	return top
}

// sumClauses adds to the scores of the whole query those of the clause that
// each entry fits best, so that every thing that is asked for brings its tools
// in.
func (x *Index) sumClauses(parts []string, s *sums) {
	for _, c := range parts {
		clear(s.clause)
		x.sum(x.parse(c), s.clause, s.scratch)
		top := highest(s.clause)
		if top == 0 {
			continue
		}
		raise := math.Pow(top, -clausePower)
		for i, score := range s.clause {
			s.best[i] = max(s.best[i], score*raise)
		}
	}
	top, best := highest(s.whole), highest(s.best)
	if top == 0 || best == 0 {
		return
	}
	for i := range s.whole {
		s.whole[i] = s.whole[i]/top + clauseWeight*s.best[i]/best
	}
}

// highest of scores, which are not negative.
func highest(scores []float64) float64 {
	top := 0.0
	for _, s := range scores {
		if s > top {
			top = s
		}
	}
	return top
}

// lift gives the tools of an origin a share of the score of its best one: who
// needs one tool of a server often needs the next.
func (x *Index) lift(scores []float64) {
	if x.origins < 2 {
		return
	}
	best := make([]float64, x.origins)
	for i, score := range scores {
		o := x.origin[i]
		best[o] = max(best[o], score)
	}
	for i := range scores {
		scores[i] += originShare * best[x.origin[i]]
	}
}

// parse returns the words of a query and their pairs, each once.
func (x *Index) parse(query string) []wanted {
	spans := quoted(query)
	var all []wanted
	seen := map[string]bool{}
	last := term(-1)
	for _, w := range tokens(query) {
		if w.Function {
			continue
		}
		t, known := x.words[w.Term]
		if !known {
			t = -1
		}
		if t >= 0 && last >= 0 {
			if pair, known := x.pairs[[2]term{last, t}]; known {
				all = append(all, wanted{term: pair, weight: pairWeight})
			}
		}
		last = t
		weight := 1.0
		switch {
		case w.Number || manners()[w.Term] == polite || seen[w.Term]:
			continue
		case manners()[w.Term] == vague:
			weight = vagueWeight
		}
		seen[w.Term] = true
		if within(spans, w.Start) {
			weight *= quotedWeight
		}
		all = append(all, wanted{term: t, weight: weight, also: x.otherwise(w, known)})
	}
	return all
}

// otherwise returns other ways to say a word of a query.
func (x *Index) otherwise(w index.Token, known bool) []wanted {
	var also []wanted
	groups := concepts()[w.Term]
	share := conceptWeight / math.Sqrt(float64(len(groups)))
	for _, g := range groups {
		if c, there := x.concepts[g]; there {
			also = append(also, wanted{term: c, weight: share})
		}
	}
	if !known && !w.Pair {
		for _, l := range x.alike(w.Term) {
			also = append(also, wanted{term: l.term, weight: spellingWeight * l.share})
		}
	}
	return also
}

func within(spans []lang.Span, at int) bool {
	return slices.ContainsFunc(spans, func(s lang.Span) bool { return at >= s.Start && at < s.End })
}

// sum adds what the words of a query say for each entry.
func (x *Index) sum(words []wanted, scores, scratch []float64) {
	var touched []int32
	for _, w := range words {
		if len(w.also) == 0 {
			if w.term < 0 {
				continue
			}
			weight := w.weight * x.rarity[w.term]
			for _, p := range x.postingsOf(w.term) {
				scores[p.entry] += weight * float64(p.impact)
			}
			continue
		}
		touched = touched[:0]
		for i := -1; i < len(w.also); i++ {
			t, weight := w.term, w.weight
			if i >= 0 {
				t, weight = w.also[i].term, weight*w.also[i].weight
			}
			if t < 0 {
				continue
			}
			weight *= x.rarity[t]
			for _, p := range x.postingsOf(t) {
				if scratch[p.entry] == 0 {
					touched = append(touched, p.entry)
				}
				scratch[p.entry] = max(scratch[p.entry], weight*float64(p.impact))
			}
		}
		for _, i := range touched {
			scores[i] += scratch[i]
			scratch[i] = 0
		}
	}
}

// fuse joins the ranking by words with the one by meaning.
func (x *Index) fuse(ctx context.Context, query string, words []scored, depth int) ([]scored, error) {
	vectors, err := x.embedder.Embed(ctx, []string{query})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var near []index.Hit
	if err == nil && len(vectors) == 1 && len(vectors[0]) == x.vectors.Dims() {
		near, err = x.vectors.Nearest(vectors[0], depth, nil)
	}
	if err != nil {
		near = nil // meaning is not to be had: words decide
	}
	if len(near) == 0 {
		return words, nil
	}
	byWords := make([]index.Hit, len(words))
	for i, s := range words {
		byWords[i] = index.Hit{ID: entryID(s.entry), Score: s.score}
	}
	var fused []scored
	for _, h := range index.Fuse(fusedK, index.Ranking{Hits: byWords}, index.Ranking{Hits: near}) {
		n, err := strconv.Atoi(strings.TrimLeft(h.ID, "0"))
		if err != nil {
			n = 0 // the id of the first is all zeros
		}
		fused = append(fused, scored{n, h.Score})
	}
	slices.SortStableFunc(fused, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.entry, b.entry))
	})
	return fused, nil
}
