package index

import (
	"sync"

	"dossier/lang"
)

// usual are function words that nearly every paragraph of a language has.
var usual = [...]struct {
	code  lang.Code
	kind  kind
	words [3]string
}{
	{lang.English, latin, [3]string{"the", "of", "to"}},
	{lang.Russian, cyrillic, [3]string{"и", "в", "на"}},
	{lang.Chinese, character, [3]string{"的", "是", "在"}},
}

// languages is how many documents of an index are written in which of the
// usual languages. It is counted when first asked for.
type languages struct {
	once sync.Once
	docs [len(usual)]int
}

// Holds reports whether at least one document in two hundred is written in
// English, Russian or Chinese. A document is in that of the three whose
// commonest words it has most of. Of other languages Holds knows nothing.
func (x *Index) Holds(code lang.Code) bool {
	x.spoken.once.Do(x.countLanguages)
	for i, u := range usual {
		if u.code == code {
			return x.spoken.docs[i] > 0 && x.spoken.docs[i]*rareTongue >= x.docs
		}
	}
	return false
}

func (x *Index) countLanguages() {
	var stems stemmer
	var block postings
	for _, s := range x.segments {
		if s.Verify() != nil {
			continue // the search fails anyway
		}
		used := make([][len(usual)]float32, s.docs) // how often the words of a language
		for i, u := range usual {
			for _, word := range u.words {
				l, err := s.find(stems.term(word, u.kind, inEnglish))
				if err != nil {
					continue
				}
				for b := range l.blocks() {
					n, ok := l.decode(b, s.docs, &block)
					if !ok {
						break
					}
					for j, doc := range block.docs[:n] {
						used[doc][i] += counts[block.counts[j]&(countCodes-1)]
					}
				}
			}
		}
		for _, by := range used {
			most := 0
			for i, n := range by {
				if n > by[most] {
					most = i
				}
			}
			if by[most] > 0 {
				x.spoken.docs[most]++
			}
		}
	}
}
