package index

// Weight returns how telling a term of [Tokens] is in this collection: its
// inverse document frequency, from 0 for one that every document has. A term
// that no document has weighs most.
func (x *Index) Weight(term string) float64 {
	docs := 0
	for _, s := range x.segments {
		// A damaged segment fails the search; here its terms are unknown.
		if l, err := s.find(term); err == nil {
			docs += l.docs
		}
	}
	return float64(x.rarity(docs))
}

// Known reports whether a document has a term of [Tokens].
func (x *Index) Known(term string) bool {
	for _, s := range x.segments {
		if l, err := s.find(term); err == nil && l.docs > 0 {
			return true
		}
	}
	return false
}
