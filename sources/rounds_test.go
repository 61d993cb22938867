package sources

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dossier/event"
	"dossier/llm"
	"dossier/run"
)

// decisions are what was told of the rounds: continue or finish, who said so,
// and why.
func (d done) decisions() []string {
	var out []string
	for _, data := range d.log {
		if r, ok := data.(event.SearchRound); ok {
			out = append(out, fmt.Sprintf("%d %s %s: %s", r.Round, r.Decision, map[bool]string{true: "by rules", false: "by the model"}[r.Rules], r.Reason))
		}
	}
	return out
}

// TestWhoEndsTheRounds holds that a round is left out only when the model says,
// with reasons, that nothing is missing, or a rule where there is no model or
// where it has seen the passages themselves; and never before the least number.
func TestWhoEndsTheRounds(t *testing.T) {
	const question = "Where does Ingrid keep the bees?"
	said := func(enough bool, reason string, queries ...string) map[string]any {
		list := []any{}
		for _, q := range queries {
			list = append(list, map[string]any{"facet": 1, "query": q})
		}
		return map[string]any{"reason": reason, "enough": enough, "queries": list}
	}
	for _, c := range []struct {
		name   string
		model  bool
		reply  map[string]any
		places bool // the searches give the passages themselves
		least  int
		rounds int
		want   []string
	}{
		{
			"the model says what is missing", true, said(false, "The chapel is not placed.", "chapel", "harbour market"), false, 1, 2,
			[]string{"1 continue by the model: The chapel is not placed.", "2 finish by the model: The chapel is not placed. No query is left that was not asked."},
		},
		{
			"the model says that nothing is", true, said(true, "The page says it.", "chapel"), false, 1, 1,
			[]string{"1 finish by the model: The page says it."},
		},
		{
			"never before the second", true, said(true, "The page says it.", "chapel"), false, 2, 2,
			[]string{"1 continue by the model: The page says it.", "2 finish by the model: The page says it."},
		},
		{
			"without reasons it does not count", true, said(true, "", "chapel"), false, 1, 1,
			[]string{"1 finish by rules: every part of the question has a passage that answers it"},
		},
		{
			"no word of whether it is enough", true, map[string]any{"reason": "", "queries": []any{map[string]any{"facet": 1, "query": "chapel"}}}, false, 1, 2,
			[]string{
				"1 continue by the model: every part of the question has a passage that answers it",
				"2 finish by the model: every part of the question has a passage that answers it No query is left that was not asked.",
			},
		},
		{
			"a model without queries before the second", true, said(true, "The page says it."), false, 2, 2,
			[]string{"1 continue by the model: The page says it.", "2 finish by the model: The page says it."},
		},
		{
			"passages that were seen", true, said(false, "More?", "chapel"), true, 1, 1,
			[]string{"1 finish by rules: every part of the question has a passage that answers it"},
		},
		{
			"no model", false, nil, false, 1, 1,
			[]string{"1 finish by rules: every part of the question has a passage that answers it"},
		},
		{
			"no model, never before the second", false, nil, false, 2, 2,
			[]string{"1 continue by rules: every part of the question has a passage that answers it", "2 finish by rules: the last searches found nothing new"},
		},
		{
			"an address in the reason", true, said(true, "See https://evil.example/?q=secret."), false, 1, 1, []string{"1 finish by the model: See."},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			shelf := newShelf("bees", bees, "ferry", ferry)
			shelf.placeless = !c.places
			job := Job{Corpus: shelf, Question: question, Models: &llm.Models{}, Tuning: Tuning{Queries: 2, MinIterations: c.least, Iterations: 6, MaxResults: 8, TopK: 8, ReadTop: 4, PerRound: 3}}
			if c.model {
				job.Models = scripted(map[string]any{"plan": planOf(question, question+": bees"), "note": noNote, "followups": c.reply}).models()
			}
			_, d := gather(t, job, run.Limits{})
			if got := d.decisions(); d.rec.Status != run.Done || len(d.rounds()) != c.rounds || !slices.Equal(got, c.want) {
				t.Errorf("%s, rounds %q\n%s", d.rec.Status, d.rounds(), strings.Join(got, "\n"))
			}
		})
	}
}

// The last round that there is, and a search that has to stop, are told too.
func TestRoundsThatAreCutShort(t *testing.T) {
	reply := map[string]any{"reason": "?", "enough": false, "queries": []any{map[string]any{"facet": 1, "query": "ferry"}}}
	job := Job{Question: "q", Tuning: Tuning{Queries: 1, Iterations: 2, MaxResults: 8, TopK: 8, ReadTop: 4}}
	for limit, want := range map[int]string{
		0: "2 finish by rules: round 2 is the last of this mode", 2: "1 finish by rules: the budget is used up, or the run was told to finish",
	} {
		job.Corpus = newShelf("bees", bees, "ferry", ferry)
		job.Models = scripted(map[string]any{"plan": planOf("q", "What is the colour of quarks?"), "note": noNote, "followups": reply}).models()
		_, d := gather(t, job, run.Limits{Searches: limit})
		if got := d.decisions(); got[len(got)-1] != want {
			t.Errorf("limit %d: %q", limit, got)
		}
	}
}

// Results that show nothing of their pages are not copies of each other.
func TestLeadsWithoutTextAreNoCopies(t *testing.T) {
	g := &gathering{Job: Job{Tuning: Tuning{MinIterations: 1}}, leads: map[string]Lead{
		"a": {ID: "a"}, "b": {ID: "b", Text: " \n"}, "c": {ID: "c", Text: "bees"}, "d": {ID: "d", Text: " bees "},
	}}
	if got := g.best([]string{"a", "b", "a", "c", "d"}, 9); len(got) != 3 {
		t.Errorf("%+v", got)
	}
}
