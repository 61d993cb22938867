package index

import (
	"math"
	"slices"
	"sync"
)

// work is what a search needs for a while.
type work struct {
	score   []float32 // by document; zero between searches
	touched []uint32  // documents with a score
	lists   []*list
	worth   []float32
	after   []float32 // what the lists from here on can add at most
	kth     []float32
	block   postings
	best    best

	// For groups: what the best alternative gives a document, the documents
	// that have one, and how far they have the one at hand.
	chosen  []float32 // by document; zero between groups
	reached []uint32
	held    []holding // by document; zero between alternatives
	part    []uint32
}

var scratch = sync.Pool{New: func() any { return new(work) }}

const (
	slack    = 1.0001 // allows for rounding when sums are compared with bounds
	seekCost = 32     // of finding the block of a document, in postings read
)

// searchSegment adds up scores term by term, those that can add most first.
// Documents that the terms to come cannot lift among the best are forgotten
// on the way, and once they cannot lift one that has none of the others,
// blocks without a document that is left are not read.
func (x *Index) searchSegment(w *work, seg int, sources []source, choices []choice, filter func(string) bool) error {
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
	defer func() { // after an error, and if a filter panics
		for _, doc := range w.touched {
			w.score[doc] = 0
		}
	}()
	accept := func(doc uint32) bool { return !s.isGone(doc) && (filter == nil || filter(s.id(doc))) }
	if len(choices) > 0 {
		if len(w.chosen) < int(s.docs) {
			w.chosen, w.held = make([]float32, s.docs), make([]holding, s.docs)
		}
		if !x.seed(w, seg, choices) {
			w.chosen, w.held = nil, nil // what is left in them is of no use
			return corrupt("postings")
		}
	}
	floor := w.best.floor()
	for i, l := range w.lists {
		dear := len(w.touched) // what looking at them costs, in postings read
		if filter != nil {
			dear *= 2
		}
		if l.docs > max(blockSize, dear) {
			floor = w.floor(floor, accept)
			w.forget(floor/slack - w.after[i])
		}
		if !x.accumulate(w, s, i, floor) {
			return corrupt("postings")
		}
	}
	for _, doc := range w.touched {
		sum := w.score[doc]
		w.score[doc] = 0
		if sum >= floor {
			w.best.offer(s, doc, sum, accept)
			floor = max(floor, w.best.floor())
		}
	}
	w.touched = w.touched[:0]
	return nil
}

// floor returns a score that the last of the best documents will have at
// least; known is such a score.
func (w *work) floor(known float32, accept func(uint32) bool) float32 {
	if len(w.touched) < w.best.limit {
		return known
	}
	w.kth = w.kth[:0]
	for range w.best.limit {
		w.kth = append(w.kth, known)
	}
	kth, score, least := w.kth, w.score, known
	for _, doc := range w.touched {
		if v := score[doc]; v > least && accept(doc) {
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
			least = kth[0]
		}
	}
	return least
}

// forget drops the documents whose score is below least.
func (w *work) forget(least float32) {
	if least <= 0 {
		return
	}
	// Which ones are dropped is no pattern that a processor could foresee, so
	// there is no branch: the bits of positive numbers are in their order.
	score, touched, n := w.score, w.touched, 0
	bar := int32(math.Float32bits(least))
	for _, doc := range touched {
		v := int32(math.Float32bits(score[doc]))
		below := (v - bar) >> 31 // all bits or none
		score[doc] = math.Float32frombits(uint32(v &^ below))
		touched[n] = doc
		n += 1 + int(below)
	}
	w.touched = touched[:n]
}

// bound bounds what a document can gain from a block of a list.
func (x *Index) bound(l *list, block int) float32 {
	if len(l.skip) == 0 {
		return saturation + 1
	}
	e := l.skip[block*skipSize:]
	return x.gain[int(e[8]&(countCodes-1))<<8|int(e[9])]
}

// ceiling bounds what a document can gain from a list.
func (x *Index) ceiling(l *list) float32 {
	most := float32(0)
	for block := range l.blocks() {
		most = max(most, x.bound(l, block))
	}
	return most
}

// accumulate adds list i to the scores. A document that would come into play
// only here and cannot reach floor is left alone: should a later list have it
// too, its score lacks something, but the whole would not reach floor either.
func (x *Index) accumulate(w *work, s *Segment, i int, floor float32) bool {
	l, worth := w.lists[i], w.worth[i]
	b := batch{score: w.score[:s.docs], lens: s.parts[secLengths], gain: &x.gain, worth: worth}
	first := len(w.touched) == 0
	least := floor/slack - w.after[i+1]
	seek := len(l.skip) > 0 && w.after[i] < floor/slack && len(w.touched)*seekCost < l.docs
	if seek && !slices.IsSorted(w.touched) {
		slices.Sort(w.touched)
	}
	ahead := w.touched
	for block := range l.blocks() {
		if seek {
			last := l.last(block)
			if len(ahead) == 0 {
				break
			}
			if ahead[0] > last {
				continue
			}
			for len(ahead) > 0 && ahead[0] <= last {
				ahead = ahead[1:]
			}
		}
		n, ok := l.decode(block, s.docs, &w.block)
		if !ok {
			return false
		}
		b.docs, b.counts = w.block.docs[:n], w.block.counts[:n]
		switch {
		case worth*x.bound(l, block) < least:
			b.raise()
		case first:
			w.touched = append(w.touched, b.docs...)
			b.set()
		default:
			w.touched = b.add(w.touched, least)
		}
	}
	return true
}

// batch is a block of postings and what their scores are made of. Its methods
// are loops of their own so that all they need stays in registers.
type batch struct {
	score  []float32 // by document
	lens   []byte    // by document
	docs   []uint32
	counts []uint8 // as many as docs
	gain   *[countCodes << 8]float32
	worth  float32
}

// set gives documents that have no score theirs.
//
//go:noinline
func (b *batch) set() {
	lens, gain, worth := b.lens, b.gain, b.worth
	score, counts := b.score[:len(lens)], b.counts[:len(b.docs)]
	for i, doc := range b.docs {
		score[doc] = worth * gain[int(counts[i]&(countCodes-1))<<8|int(lens[doc])]
	}
}

// raise adds to the documents that have a score.
//
//go:noinline
func (b *batch) raise() {
	lens, gain, worth := b.lens, b.gain, b.worth
	score, counts := b.score[:len(lens)], b.counts[:len(b.docs)]
	for i, doc := range b.docs {
		if sum := score[doc]; sum != 0 {
			score[doc] = sum + worth*gain[int(counts[i]&(countCodes-1))<<8|int(lens[doc])]
		}
	}
}

// add adds to the documents that have a score and to those that get at least
// so much, which it appends to touched.
//
//go:noinline
func (b *batch) add(touched []uint32, least float32) []uint32 {
	lens, gain, worth := b.lens, b.gain, b.worth
	score, counts := b.score[:len(lens)], b.counts[:len(b.docs)]
	for i, doc := range b.docs {
		add := worth * gain[int(counts[i]&(countCodes-1))<<8|int(lens[doc])]
		sum := score[doc]
		if sum == 0 {
			if add < least {
				continue
			}
			touched = append(touched, doc)
		}
		score[doc] = sum + add
	}
	return touched
}
