package index

import "dossier/lang"

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

// usual are function words that nearly every paragraph of a language has.
var usual = map[lang.Code][]string{
	lang.English: {"the", "of", "to"}, lang.Russian: {"и", "в", "на"}, lang.Chinese: {"的", "是", "在"},
}

// Holds reports whether at least one document in two hundred is written in
// English, Russian or Chinese, as their commonest words tell. Of other
// languages it knows nothing.
func (x *Index) Holds(code lang.Code) bool { return x.Share(code) >= 1.0/rareTongue }

// Share is that of the documents that are written in English, Russian or
// Chinese, about.
func (x *Index) Share(code lang.Code) float64 {
	var stems stemmer
	most := 0
	for _, word := range usual[code] {
		k := latin
		switch code {
		case lang.Russian:
			k = cyrillic
		case lang.Chinese:
			k = character
		}
		docs := 0
		for _, s := range x.segments {
			if l, err := s.find(stems.term(word, k, inEnglish)); err == nil {
				docs += l.docs
			}
		}
		most = max(most, docs)
	}
	return float64(most) / float64(max(1, x.docs))
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
