package index

import (
	"bytes"
	"cmp"
	"slices"
)

// best keeps the best documents seen: a heap with the worst on top.
type best struct {
	limit int
	heap  []found
}

type found struct {
	segment *Segment
	doc     uint32
	score   float32
}

// compare orders found documents, the better first.
func (a found) compare(b found) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	return bytes.Compare(a.segment.idBytes(a.doc), b.segment.idBytes(b.doc))
}

// floor is the score of the worst, or zero while there is room.
func (b *best) floor() float32 {
	if len(b.heap) < b.limit {
		return 0
	}
	return b.heap[0].score
}

// offer keeps a document if it is among the best and accepted.
func (b *best) offer(s *Segment, doc uint32, score float32, accept func(uint32) bool) {
	f := found{s, doc, score}
	if len(b.heap) == b.limit {
		if score < b.heap[0].score || f.compare(b.heap[0]) > 0 || !accept(doc) {
			return
		}
		b.heap[0] = f
		b.sink()
		return
	}
	if !accept(doc) {
		return
	}
	b.heap = append(b.heap, f)
	for i := len(b.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if b.heap[up].compare(b.heap[i]) >= 0 {
			break
		}
		b.heap[up], b.heap[i] = b.heap[i], b.heap[up]
		i = up
	}
}

// sink moves the first element to its place.
func (b *best) sink() {
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(b.heap) {
			return
		}
		if c+1 < len(b.heap) && b.heap[c+1].compare(b.heap[c]) > 0 {
			c++
		}
		if b.heap[i].compare(b.heap[c]) >= 0 {
			return
		}
		b.heap[i], b.heap[c] = b.heap[c], b.heap[i]
		i = c
	}
}

// hits empties the heap into a ranking.
func (b *best) hits() []Hit {
	slices.SortFunc(b.heap, found.compare)
	out := make([]Hit, len(b.heap))
	for i, f := range b.heap {
		out[i] = Hit{f.segment.id(f.doc), float64(f.score)}
	}
	clear(b.heap)
	return out
}
