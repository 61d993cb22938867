package terms

import (
	"cmp"
	"slices"
	"strings"

	"dossier/lang/terms/internal/table"
)

// translations collects terms, each with the most that was said for it.
type translations struct {
	list []Translation
	at   map[string]int // by term in lower case
}

func (s *translations) add(text string, weight float64) {
	if text == "" || !(weight > 0) {
		return
	}
	if s.at == nil {
		s.at = map[string]int{}
	}
	weight = min(1, weight)
	folded := strings.ToLower(text)
	if i, ok := s.at[folded]; ok {
		s.list[i].Weight = max(s.list[i].Weight, weight)
		return
	}
	s.at[folded] = len(s.list)
	s.list = append(s.list, Translation{text, weight})
}

func (s *translations) addAll(meanings []table.Meaning, share float64) {
	for _, m := range meanings {
		s.add(m.Text, share*m.Weight)
	}
}

// best returns up to maxTranslations of them, the best first. Nothing is added
// after that.
func (s *translations) best() []Translation {
	slices.SortStableFunc(s.list, func(a, b Translation) int { return cmp.Compare(b.Weight, a.Weight) })
	n := min(maxTranslations, len(s.list))
	return s.list[:n:n]
}
