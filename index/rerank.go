package index

import (
	"cmp"
	"slices"
)

// What the reranker adds to a first score, measured in the worth of the words
// it is about. Each was chosen on several collections in four languages at
// once; a ranking that ignores them loses a few tenths of a point of nDCG.
const (
	pairBonus   = 0.2  // neighbours in the query that stand near each other
	windowBonus = 0.4  // words found together in one place
	headBonus   = 0.15 // words found in the title or heading
	windowSize  = 40   // places
	pairReach   = 8    // places
	farPair     = 0.3  // of a pair that is near but not adjacent
	fieldGap    = 50   // places between fields, so that nothing is near across them
)

// places returns how many places a token of this kind takes: a word or a
// character one, and a pair of characters none, since its characters have
// theirs. Else a window over a script without spaces would reach half as far.
func (k kind) places() int {
	if k == gram || k == whole {
		return 0
	}
	return 1
}

// Candidate is a document with what a reranker reads of it.
type Candidate struct {
	ID      string
	Title   string
	Heading string
	Text    string
	Score   float64 // of [Index.Search]
}

// occurrence is a word of the query in a candidate.
type occurrence struct {
	at   int // place
	word int
}

// Rerank orders candidates by their first score and by how the words of the
// query stand in them: together in one place, in the order of the query, in
// the title. The statistics are those of the index.
func (x *Index) Rerank(query string, candidates []Candidate) ([]Hit, error) {
	return x.rerank(query, nil, candidates)
}

func (x *Index) rerank(query string, choices []choice, candidates []Candidate) ([]Hit, error) {
	r, err := x.newReranker(query, choices)
	if err != nil {
		return nil, err
	}
	out := make([]Hit, len(candidates))
	for i, c := range candidates {
		out[i] = Hit{c.ID, c.Score + r.bonus(c.Title, c.Heading, c.Text)}
	}
	slices.SortFunc(out, byScore)
	return out, nil
}

// byScore orders hits, the better first.
func byScore(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
}

// reranker scores texts for one query.
type reranker struct {
	x      *Index
	worth  []float32      // by word
	gram   []bool         // by word: pairs of characters, which are phrases already
	byTerm map[string]int // word
	seen   map[string]int // word by surface, -1 for none
	stems  stemmer
	scan   scanner
	found  []occurrence
	have   []int     // by word: how often
	pairs  []float32 // by word: how often with the next one
}

func (x *Index) newReranker(query string, choices []choice) (*reranker, error) {
	r := &reranker{x: x, byTerm: map[string]int{}, seen: map[string]int{}}
	for _, w := range x.parse(query) {
		docs, known := 0, false
		for _, name := range w.names {
			if _, ok := r.byTerm[name]; ok {
				known = true
				break
			}
			for _, s := range x.segments {
				if err := s.Verify(); err != nil {
					return nil, err
				}
				l, err := s.find(name)
				if err != nil {
					return nil, err
				}
				docs += l.docs
			}
		}
		if known {
			continue
		}
		for _, name := range w.names {
			r.byTerm[name] = len(r.worth)
		}
		r.worth = append(r.worth, w.weight()*x.rarity(docs))
		r.gram = append(r.gram, w.kind == gram || w.kind == character)
	}
	if len(choices) > 0 {
		r.addChoices(choices)
	}
	r.have, r.pairs = make([]int, len(r.worth)), make([]float32, len(r.worth))
	return r, nil
}

// match returns the word that the scanned token is, or -1.
func (r *reranker) match() int {
	if w, ok := r.seen[string(r.scan.surface)]; ok {
		return w
	}
	surface, found := string(r.scan.surface), -1
	r.x.eachTerm(&r.stems, surface, r.scan.kind, func(name string) {
		if w, ok := r.byTerm[name]; ok && found < 0 {
			found = w
		}
	})
	r.seen[surface] = found
	return found
}

// bonus scores a candidate's text.
func (r *reranker) bonus(title, heading, text string) float64 {
	heads := r.find(title, heading, text)
	together, _ := r.together()
	return float64(pairBonus*r.near() + windowBonus*together + headBonus*r.distinct(r.found[:heads]))
}

// find sets the words that were found, and returns how many of them stand
// before the text.
func (r *reranker) find(title, heading, text string) int {
	r.found = r.found[:0]
	place, heads := 0, 0
	for _, field := range [...]string{title, heading, text} {
		heads = len(r.found)
		r.scan.reset(field)
		for r.scan.next() {
			place += r.scan.kind.places()
			if w := r.match(); w >= 0 {
				r.found = append(r.found, occurrence{place, w})
			}
		}
		place += fieldGap
	}
	return heads
}

// near scores neighbours of the query that stand near each other.
func (r *reranker) near() float32 {
	clear(r.pairs)
	for i, a := range r.found {
		for _, b := range r.found[i+1:] {
			if b.at-a.at > pairReach {
				break
			}
			switch {
			case b.word == a.word+1 && b.at == a.at+1:
				r.pairs[a.word]++
			case b.word == a.word+1:
				r.pairs[a.word] += farPair
			case b.word == a.word-1:
				r.pairs[b.word] += farPair
			}
		}
	}
	sum := float32(0)
	for i, n := range r.pairs {
		if n > 0 && !(r.gram[i] && r.gram[i+1]) {
			sum += min(r.worth[i], r.worth[i+1]) * n * (saturation + 1) / (n + saturation)
		}
	}
	return sum
}

// together returns the most that the different words of one window are worth,
// and the place at which that window ends.
func (r *reranker) together() (most float32, end int) {
	clear(r.have)
	sum, from := float32(0), 0
	for _, o := range r.found {
		for ; r.found[from].at < o.at-windowSize; from++ {
			w := r.found[from].word
			if r.have[w]--; r.have[w] == 0 {
				sum -= r.worth[w]
			}
		}
		if r.have[o.word]++; r.have[o.word] == 1 {
			sum += r.worth[o.word]
		}
		if sum > most {
			most, end = sum, o.at
		}
	}
	return most, end
}

// distinct returns what the different words among these are worth.
func (r *reranker) distinct(found []occurrence) float32 {
	clear(r.have)
	sum := float32(0)
	for _, o := range found {
		if r.have[o.word]++; r.have[o.word] == 1 {
			sum += r.worth[o.word]
		}
	}
	return sum
}
