package index

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync"

	"dossier/lang"
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
}

// Query asks for documents.
type Query struct {
	Text   string
	Limit  int                  // how many; 10 if zero
	Filter func(id string) bool // leaves documents out; nil for none
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

// Languages returns the languages in which the Latin words of documents were
// stemmed.
func (x *Index) Languages() []lang.Code {
	var out []lang.Code
	for t := range tongues {
		if x.tongues>>t&1 != 0 {
			out = append(out, tongues[t].code)
		}
	}
	return out
}

// Search returns the best documents for a query, the best first; documents of
// equal score come in order of their ids.
func (x *Index) Search(q Query) ([]Hit, error) {
	return x.search(terms(x.parse(q.Text)), q.Limit, q.Filter)
}

// source is a term with its postings in each segment.
type source struct {
	name  string
	worth float32 // weight times inverse document frequency
	lists []list
}

func (x *Index) search(terms []term, limit int, filter func(string) bool) ([]Hit, error) {
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
		if err := x.searchSegment(w, i, sources, filter); err != nil {
			return nil, err
		}
	}
	return w.best.hits(), nil
}

// work is what a search needs for a while.
type work struct {
	score   []float32 // by document; zero between searches
	touched []uint32  // documents with a score
	left    []uint32  // those that can still be among the best
	lists   []*list
	worth   []float32
	after   []float32 // what the lists from here on can add at most
	kth     []float32
	best    best
}

var scratch = sync.Pool{New: func() any { return new(work) }}

// searchSegment adds up scores term by term. Once the terms that are left
// cannot lift a document that has none of the others among the best, only
// documents that still can are looked up in their lists.
func (x *Index) searchSegment(w *work, seg int, sources []source, filter func(string) bool) error {
	s := x.segments[seg]
	if len(w.score) < int(s.docs) {
		w.score = make([]float32, s.docs)
	}
	w.touched, w.lists, w.worth = w.touched[:0], w.lists[:0], w.worth[:0]
	for i := range sources {
		if l := &sources[i].lists[seg]; l.docs > 0 {
			w.lists = append(w.lists, l)
			w.worth = append(w.worth, sources[i].worth)
		}
	}
	w.after = append(w.after[:0], make([]float32, len(w.lists)+1)...)
	for i := len(w.lists) - 1; i >= 0; i-- {
		w.after[i] = w.after[i+1] + w.worth[i]*x.ceiling(w.lists[i])
	}
	defer func() {
		for _, doc := range w.touched {
			w.score[doc] = 0
		}
	}()
	accept := func(doc uint32) bool { return !s.isGone(doc) && (filter == nil || filter(s.id(doc))) }
	for i, l := range w.lists {
		if l.docs > max(blockSize, 2*len(w.touched)) {
			if floor := w.floor(accept); w.after[i]*slack < floor && w.hopeful(i, floor)*seekCost < l.docs {
				return x.finish(w, seg, i, accept)
			}
		}
		if !x.accumulate(w, s, l, w.worth[i]) {
			return corrupt("postings")
		}
	}
	floor := w.best.floor()
	for _, doc := range w.touched {
		sum := w.score[doc]
		w.score[doc] = 0
		if sum >= floor {
			w.best.offer(s, doc, sum, accept)
			floor = w.best.floor()
		}
	}
	w.touched = w.touched[:0]
	return nil
}

const (
	slack    = 1.0001 // allows for rounding when sums are compared with bounds
	seekCost = 8      // of looking a document up in a list, in postings read
)

// hopeful gathers the documents that can reach floor with the lists from i
// on, and returns how many there are.
func (w *work) hopeful(i int, floor float32) int {
	w.left = w.left[:0]
	for _, doc := range w.touched {
		if (w.score[doc]+w.after[i])*slack >= floor {
			w.left = append(w.left, doc)
		}
	}
	return len(w.left)
}

// ceiling bounds what a document can gain from a list.
func (x *Index) ceiling(l *list) float32 {
	if len(l.skip) == 0 {
		return saturation + 1
	}
	most := float32(0)
	for e := l.skip; len(e) >= skipSize; e = e[skipSize:] {
		most = max(most, x.gain[int(e[8]&(countCodes-1))<<8|int(e[9])])
	}
	return most
}

// accumulate adds a list to the scores.
func (x *Index) accumulate(w *work, s *Segment, l *list, worth float32) bool {
	lens := s.parts[secLengths]
	score := w.score[:len(lens)]
	touched := w.touched
	gain := &x.gain
	for block := range l.blocks() {
		from, next, ok := l.span(block)
		if !ok {
			return false
		}
		n := min(blockSize, l.docs-block*blockSize)
		countWidth := uint(l.body[from+1]) & 7
		width := uint(l.body[from]) + countWidth
		mask, countMask := uint64(1)<<width-1, uint64(1)<<countWidth-1
		body := l.body[from+2:]
		bit := uint(0)
		for range n {
			v := binary.LittleEndian.Uint64(body[bit>>3:]) >> (bit & 7) & mask
			bit += width
			doc := next + uint32(v>>countWidth)
			if int(doc) >= len(lens) || doc < next {
				w.touched = touched
				return false
			}
			next = doc + 1
			add := worth * gain[(v&countMask)<<8&(countCodes<<8-1)|uint64(lens[doc])]
			sum := score[doc]
			if sum == 0 {
				touched = append(touched, doc)
			}
			score[doc] = sum + add
		}
	}
	w.touched = touched
	return true
}

// floor returns a score that the last of the best documents will have at
// least.
func (w *work) floor(accept func(uint32) bool) float32 {
	w.kth = append(w.kth[:0], make([]float32, w.best.limit)...)
	kth := w.kth
	if len(w.touched) < len(kth) {
		return w.best.floor()
	}
	for _, doc := range w.touched {
		if v := w.score[doc]; v > kth[0] && accept(doc) {
			// kth is a heap with the least on top.
			i := 0
			for {
				c := 2*i + 1
				if c >= len(kth) {
					break
				}
				if c+1 < len(kth) && kth[c+1] < kth[c] {
					c++
				}
				if kth[c] >= v {
					break
				}
				kth[i] = kth[c]
				i = c
			}
			kth[i] = v
		}
	}
	return max(kth[0], w.best.floor())
}

// finish adds the lists from i on to the hopeful documents only.
func (x *Index) finish(w *work, seg, i int, accept func(uint32) bool) error {
	s := x.segments[seg]
	lens := s.parts[secLengths]
	left := w.left
	slices.Sort(left)
	var buf [blockSize]posting
	for ; i < len(w.lists); i++ {
		l, worth := w.lists[i], w.worth[i]
		block, have, at := -1, 0, 0
		for _, doc := range left {
			if block < 0 || have > 0 && buf[have-1].doc < doc {
				b := max(block, 0)
				if len(l.skip) > 0 {
					for b < l.blocks() && l.last(b) < doc {
						b++
					}
				} else if block >= 0 {
					break
				}
				if b >= l.blocks() {
					break
				}
				if b != block {
					n, ok := l.decode(b, s.docs, buf[:])
					if !ok {
						return corrupt("postings")
					}
					block, have, at = b, n, 0
				}
			}
			for at < have-8 && buf[at+8].doc < doc {
				at += 8
			}
			for at < have && buf[at].doc < doc {
				at++
			}
			if at < have && buf[at].doc == doc {
				w.score[doc] += worth * x.gain[int(buf[at].count)<<8|int(lens[doc])]
			}
		}
	}
	for _, doc := range left {
		w.best.offer(s, doc, w.score[doc], accept)
	}
	return nil
}
