package index

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
)

// IDs returns the ids of the documents that a search can find, in the order in
// which they were added. A damaged segment has none; [Segment.Verify] says so.
func (s *Segment) IDs() iter.Seq[string] {
	return func(yield func(string) bool) {
		if s.Verify() != nil {
			return
		}
		for doc := range s.docs {
			if !s.isGone(doc) && !yield(s.id(doc)) {
				return
			}
		}
	}
}

// Has reports whether a search can find the document.
func (s *Segment) Has(id string) bool {
	if s.Verify() != nil {
		return false
	}
	doc, ok := s.numbers()[id]
	return ok && !s.isGone(doc)
}

// Deleted returns how many documents of the segment a search cannot find.
func (s *Segment) Deleted() int { return s.deleted }

// IDs returns the ids of the vectors in the order in which they were added.
// Damaged vectors have none.
func (v *Vectors) IDs() iter.Seq[string] {
	return func(yield func(string) bool) {
		if v.verify() != nil {
			return
		}
		for i := range v.n {
			if !yield(v.id(i)) {
				return
			}
		}
	}
}

// MergeVectors makes one set of vectors of several, in their order, without
// loss; keep, unless nil, leaves documents out.
func MergeVectors(keep func(id string) bool, sets ...*Vectors) ([]byte, error) {
	b := &VectorBuilder{}
	for _, v := range sets {
		if err := v.verify(); err != nil {
			return nil, err
		}
		if v.n == 0 {
			continue
		}
		if b.dims == 0 {
			b.dims = v.dims
		}
		if v.dims != b.dims {
			return nil, fmt.Errorf("vectors of %d and of %d dimensions cannot be joined", b.dims, v.dims)
		}
		for i := range v.n {
			id := v.id(i)
			if keep != nil && !keep(id) {
				continue
			}
			b.starts = append(b.starts, uint32(len(b.ids)))
			b.ids = append(b.ids, id...)
			b.coarse = append(b.coarse, v.coarse[i*v.row:(i+1)*v.row]...)
			b.fine = append(b.fine, v.fine[i*v.row:(i+1)*v.row]...)
			b.scales = append(b.scales, math.Float32frombits(binary.LittleEndian.Uint32(v.scales[4*i:])))
		}
	}
	return b.Bytes(), nil
}
