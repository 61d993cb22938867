package sources

import (
	"slices"
	"testing"

	"dossier/run"
)

// TestTrailIsFollowed holds that with a trail the rounds go where names lead
// although something answers already, and that what lies on the way is quoted for
// the names: the last document shares no word with the question.
func TestTrailIsFollowed(t *testing.T) {
	c := newShelf(
		"Kestrel Bridge", "The Kestrel Bridge was designed by the architect Maria Lindqvist and is made of steel.",
		"Maria Lindqvist", "Maria Lindqvist was born in Tarnholm. She painted in her later years.",
		"Tarnholm", "Tarnholm lies on the river Aune. It has a fair in May.",
		"Tulips", "Tulips bloom in spring.",
	)
	question := "In which town was the architect of the Kestrel Bridge born?"
	tuning := Tuning{Queries: 2, Iterations: 1, MaxResults: 8, TopK: 6, ReadTop: 1}
	quoted := func(trail int) (titles []string, rounds int) {
		e, d := gather(t, Job{Corpus: c, Question: question, Tuning: tuning, Trail: trail}, run.Limits{})
		for _, f := range e.Facets {
			for _, q := range f.Quotes {
				if src, ok := e.Ledger.Source(q.Source); ok && !slices.Contains(titles, src.Title) {
					titles = append(titles, src.Title)
				}
			}
		}
		return titles, len(d.rounds())
	}
	if got, rounds := quoted(0); !slices.Equal(got, []string{"Kestrel Bridge"}) || rounds != 1 {
		t.Errorf("without a trail %q are quoted after %d rounds", got, rounds)
	}
	if got, rounds := quoted(TrailRounds); !slices.Equal(got, []string{"Kestrel Bridge", "Maria Lindqvist", "Tarnholm"}) || rounds < 2 || rounds > TrailRounds {
		t.Errorf("with a trail %q are quoted after %d rounds", got, rounds)
	}
}
