package sources

import (
	"context"
	"maps"
	"strings"
	"testing"

	"dossier/cite"
	"dossier/run"
)

// verify gathers over one document and verifies a text against it.
func verify(t *testing.T, m *script, w Writing) (*cite.Result, done) {
	t.Helper()
	m.replies["plan"], m.replies["note"] = planOf("q", "Where does Ingrid keep the bees?"), noNote
	w.Models, w.Language = m.models(), "en"
	var result *cite.Result
	d := perform(t, run.Limits{}, func(ctx context.Context, s *run.Scope, b Blobs) error {
		e, err := Gather(ctx, s, Job{
			Models: m.models(), Blobs: b, Corpus: newShelf("bees", bees), Question: "q", Language: "en", Where: "a shelf",
			Tuning: Tuning{Queries: 1, Iterations: 1, MaxResults: 4, TopK: 4, ReadTop: 4},
		})
		if err != nil {
			return err
		}
		r, err := e.Verify(ctx, s, w)
		if result == nil {
			result = r
		}
		return err
	})
	if d.rec.Status != run.Done {
		t.Fatalf("%s: %+v", d.rec.Status, d.rec.Failure)
	}
	return result, d
}

func judged(verdict string, passage int) map[string]any {
	return map[string]any{"judgements": []any{map[string]any{"claim": 1, "verdict": verdict, "passage": passage}}}
}

func TestVerify(t *testing.T) {
	const (
		good  = "Ingrid keeps the bees behind the chapel [1]."
		other = "Ингрид держит пчёл за часовней [1]."
		bad   = "Ingrid also owns nine camels and a zeppelin [1]."
	)
	for _, c := range []struct {
		name             string
		text             string
		replies          map[string]any
		drop             bool
		judged, rewrites int
		want             string
		covered          int
	}{
		{name: "words are enough", text: good, want: good, covered: 1},
		{
			name: "the judge knows better than words", text: other, replies: map[string]any{"judge": judged("supported", 1)},
			judged: 1, want: other, covered: 1,
		},
		{
			name: "support by no passage is none", text: good + " " + other,
			replies: map[string]any{"judge": judged("supported", 7), "rewrite": map[string]any{"answer": good}},
			judged:  1, rewrites: 1, want: good, covered: 1,
		},
		{
			name: "what fails is rewritten", text: good + " " + bad,
			replies: map[string]any{"judge": judged("unsupported", 0), "rewrite": map[string]any{"answer": good}},
			judged:  1, rewrites: 1, want: good, covered: 1,
		},
		{
			name: "once, then it is marked", text: good + " " + bad,
			replies: map[string]any{"judge": judged("contradicted", 1), "rewrite": map[string]any{"answer": good + " " + bad}},
			judged:  2, rewrites: 1, want: good + " " + strings.TrimSuffix(bad, ".") + " [?].", covered: 1,
		},
		{
			name: "or dropped", text: good + " " + bad, drop: true,
			replies: map[string]any{"judge": judged("unsupported", 0), "rewrite": map[string]any{"answer": good + " " + bad}},
			judged:  3, rewrites: 1, want: good, covered: 1,
		},
		{
			name: "a rewrite that holds no better is not taken", text: good + " " + bad,
			replies: map[string]any{"judge": judged("unsupported", 0), "rewrite": map[string]any{"answer": bad + " Camels are fond of zeppelins [1]."}},
			judged:  2, rewrites: 1, want: good + " " + strings.TrimSuffix(bad, ".") + " [?].", covered: 1,
		},
		{
			name: "nor one that loses what held", text: good + " The honey is sold in August at the harbour market [1]. " + bad,
			replies: map[string]any{"judge": judged("unsupported", 0), "rewrite": map[string]any{"answer": good}},
			judged:  1, rewrites: 1, want: good + " The honey is sold in August at the harbour market [1]. " + strings.TrimSuffix(bad, ".") + " [?].", covered: 2,
		},
		{
			name: "what it does not mend is dropped from the first", text: good + " " + bad, drop: true,
			replies: map[string]any{"judge": judged("unsupported", 0), "rewrite": map[string]any{"answer": bad}},
			judged:  3, rewrites: 1, want: good, covered: 1,
		},
		{
			name: "nobody there to judge or mend", text: good + " " + bad, judged: 1, rewrites: 1,
			want: good + " " + strings.TrimSuffix(bad, ".") + " [?].", covered: 1,
		},
		{
			name: "nobody there, and dropped", text: good + " " + bad, drop: true, judged: 2, rewrites: 1, want: good, covered: 1,
		},
		{
			name: "a quotation that stands nowhere is no matter of opinion", text: good + ` She said “the bees will rule the world” [1].`,
			replies:  map[string]any{"judge": judged("supported", 1), "rewrite": map[string]any{"answer": good}},
			rewrites: 1, want: good, covered: 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := scripted(map[string]any{})
			maps.Copy(m.replies, c.replies)
			r, _ := verify(t, m, Writing{Text: c.text, Drop: c.drop, Better: true})
			if r.Text != c.want || r.Covered != c.covered {
				t.Errorf("%d covered:\n%s\nnot\n%s", r.Covered, r.Text, c.want)
			}
			if m.calls["judge"] != c.judged || m.calls["rewrite"] != c.rewrites {
				t.Errorf("calls %v", m.calls)
			}
		})
	}
}

// The rewrite sees what is wrong, and what the sources say.
func TestRewriteIsToldWhy(t *testing.T) {
	m := scripted(map[string]any{"judge": judged("unsupported", 0), "rewrite": map[string]any{"answer": "x"}})
	verify(t, m, Writing{Text: "The harbour market sells camels on Sundays [1]. It rains [9]."})
	p := m.prompts["rewrite"]
	for _, want := range []string{"the source does not say it", "it cites no source, or one that does not exist", bees} {
		if !strings.Contains(p, want) {
			t.Errorf("%q is missing in\n%s", want, p)
		}
	}
}
