package extract

import (
	"strings"
	"testing"

	"dossier/index"
)

func TestSearchPrefersWordsTogether(t *testing.T) {
	far := strings.Repeat("Other things happen elsewhere. ", 30)
	passages := []Passage{{ID: "apart", Text: "A saxon came. " + far + "A garden grew."}, {ID: "close", Text: far + "The saxon garden grew. " + far}}
	x := collectionOf(t, passages)
	var asked []string
	read := func(hits []index.Hit) ([]Candidate, error) {
		var out []Candidate
		for _, h := range hits {
			asked = append(asked, h.ID)
			for _, p := range passages {
				if p.ID == h.ID {
					out = append(out, Candidate{Passage: p, Score: 1})
				}
			}
		}
		return out, nil
	}
	hits, err := Search(x, index.Query{Text: "the saxon garden"}, read)
	if err != nil || len(hits) != 2 || hits[0].ID != "close" || len(asked) != 2 {
		t.Errorf("%v, %v; asked for %v", hits, err, asked)
	}
	if hits, err = Search(x, index.Query{Text: "the saxon garden", Limit: 1}, read); err != nil || len(hits) != 1 || hits[0].ID != "close" {
		t.Errorf("one: %v, %v", hits, err)
	}
}
