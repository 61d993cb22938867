package index

import (
	"cmp"
	"slices"
)

// Parameters of BM25 and of the fields, the same for all languages.
const (
	saturation = 1.2  // k1: how soon more of a term stops to count
	lengthBias = 0.75 // b: how much long documents are held back
	shortest   = 0.5  // of the average length: what is shorter gains no more by it
	headWeight = 2    // what a word of a title or heading counts
	askWeight  = 0.2  // what a function word in a query counts

	characterWeight = 0.6 // what a character counts beside its pairs
)

// A query is not stemmed in languages of fewer than one document in rareTongue:
// most of those were misjudged, and each costs every query.
const rareTongue = 200

// Index searches segments as one collection. It is safe for concurrent use.
type Index struct {
	segments []*Segment
	docs     int
	tongues  uint32 // as bits, in which Latin words are stemmed
	gain     [countCodes << 8]float32
	spoken   languages
}

// Query asks for documents.
type Query struct {
	Text   string
	Limit  int                  // how many; 10 if zero
	Filter func(id string) bool // leaves documents out; nil for none
	// Groups are other ways to say parts of the text.
	Groups []Group
}

// Hit is a document that was found.
type Hit struct {
	ID    string
	Score float64
}

// New searches segments together.
func New(segments ...*Segment) *Index {
	x := &Index{segments: segments}
	var tokens, total uint64
	var inTongue [inNone + 1]uint64
	for _, s := range segments {
		x.docs += int(s.docs)
		tokens += s.tokens
		for _, l := range s.languages {
			inTongue[tongueOf(l.code)] += l.docs
			total += l.docs
		}
	}
	for t, docs := range inTongue {
		if docs > 0 && docs*rareTongue >= total {
			x.tongues |= 1 << t
		}
	}
	if x.tongues == 0 {
		x.tongues = 1 << inEnglish
	}
	average := float32(max(1, float64(tokens)/float64(max(1, x.docs))))
	for c, n := range counts {
		for l, length := range lengths {
			// A few words that repeat the question are no better an answer than a
			// paragraph about it.
			norm := saturation * (1 - lengthBias + lengthBias*max(shortest, length/average))
			x.gain[c<<8|l] = n * (saturation + 1) / (n + norm)
		}
	}
	return x
}

// Len returns how many documents a search can find.
func (x *Index) Len() int {
	n := 0
	for _, s := range x.segments {
		n += s.Len()
	}
	return n
}

// Search returns the best documents for a query, the best first; documents of
// equal score come in order of their ids.
func (x *Index) Search(q Query) ([]Hit, error) {
	choices, err := x.choices(q)
	if err != nil {
		return nil, err
	}
	return x.search(terms(x.parse(q.Text)), choices, q.Limit, q.Filter)
}

// source is a term with its postings in each segment.
type source struct {
	name  string
	worth float32 // weight times inverse document frequency
	lists []list
}

func (x *Index) search(terms []term, choices []choice, limit int, filter func(string) bool) ([]Hit, error) {
	if limit <= 0 {
		limit = 10
	}
	for _, s := range x.segments {
		if err := s.Verify(); err != nil {
			return nil, err
		}
	}
	sources := make([]source, 0, len(terms))
	lists := make([]list, len(terms)*len(x.segments))
	for _, t := range terms {
		src := source{name: t.name, lists: lists[:len(x.segments):len(x.segments)]}
		lists = lists[len(x.segments):]
		docs := 0
		for i, s := range x.segments {
			l, err := s.find(t.name)
			if err != nil {
				return nil, err
			}
			src.lists[i] = l
			docs += l.docs
		}
		if docs > 0 {
			src.worth = t.weight * x.rarity(docs)
			sources = append(sources, src)
		}
	}
	// The order does not depend on segments, so that sums do not either.
	slices.SortFunc(sources, func(a, b source) int {
		return cmp.Or(cmp.Compare(b.worth, a.worth), cmp.Compare(a.name, b.name))
	})
	w := scratch.Get().(*work)
	defer scratch.Put(w)
	w.best = best{limit: limit, heap: w.best.heap[:0]}
	for i, s := range x.segments {
		if s.docs == 0 {
			continue
		}
		if err := x.searchSegment(w, i, sources, choices, filter); err != nil {
			return nil, err
		}
	}
	return w.best.hits(), nil
}
