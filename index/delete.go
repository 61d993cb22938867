package index

import (
	"math/bits"
	"slices"
)

// Without returns the segment less the documents of these ids; ids that it
// does not hold are ignored. The bytes stay as they are: keep
// [Segment.Tombstones] beside them and give them to [Segment.Bury] after
// opening.
func (s *Segment) Without(ids ...string) (*Segment, error) {
	if err := s.Verify(); err != nil {
		return nil, err
	}
	numbers := s.numbers()
	gone := slices.Clone(s.gone)
	for _, id := range ids {
		if doc, ok := numbers[id]; ok {
			if gone == nil {
				gone = make([]uint64, (s.docs+63)/64)
			}
			gone[doc>>6] |= 1 << (doc & 63)
		}
	}
	return s.withGone(gone), nil
}

func (s *Segment) withGone(gone []uint64) *Segment {
	view := *s
	view.gone, view.deleted = gone, 0
	for _, w := range gone {
		view.deleted += bits.OnesCount64(w)
	}
	return &view
}

// Tombstones returns the deleted documents as bytes, nil if there is none.
func (s *Segment) Tombstones() []byte {
	if s.deleted == 0 {
		return nil
	}
	out := make([]byte, (s.docs+7)/8)
	for i := range out {
		out[i] = byte(s.gone[i/8] >> (i % 8 * 8))
	}
	return out
}

// Bury returns the segment less the documents that tombstones name.
func (s *Segment) Bury(tombstones []byte) (*Segment, error) {
	if len(tombstones) == 0 {
		return s, nil
	}
	if len(tombstones) != int(s.docs+7)/8 || s.docs%8 != 0 && tombstones[len(tombstones)-1]>>(s.docs%8) != 0 {
		return nil, corrupt("tombstones of another segment")
	}
	gone := make([]uint64, (s.docs+63)/64)
	copy(gone, s.gone)
	for i, b := range tombstones {
		gone[i/8] |= uint64(b) << (i % 8 * 8)
	}
	return s.withGone(gone), nil
}

// numberIDs maps ids to documents. The last of several with one id wins.
func (s *Segment) numberIDs() map[string]uint32 {
	m := make(map[string]uint32, s.docs)
	for doc := range s.docs {
		m[s.id(doc)] = doc
	}
	return m
}
