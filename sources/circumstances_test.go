package sources

import (
	"context"
	"slices"
	"strings"
	"testing"

	"dossier/event"
	"dossier/run"
	"dossier/search"
)

// ranking is a reranker that likes the last best.
type ranking struct{}

func (ranking) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	scores := make([]float64, len(texts))
	for i := range scores {
		scores[i] = float64(i)
	}
	return scores, nil
}

// What a run does follows from the engines and rerankers that it began with, and
// what it gets from those that are there.
func TestGatheringKeepsToItsCircumstances(t *testing.T) {
	papers := search.Info{Name: "papers", Topics: []search.Topic{search.Papers}}
	for name, c := range map[string]struct {
		known  *Circumstances
		now    map[string]search.Reranker
		rerank string
		want   []string // of what the run tells
		not    []string
	}{
		"as it began":              {known: &Circumstances{Engines: []search.Info{general("g")}}, not: []string{"papers", "reranker"}},
		"other engines than then":  {known: &Circumstances{Engines: []search.Info{papers}}, want: []string{"asks papers"}},
		"a reranker that is gone":  {known: &Circumstances{Engines: []search.Info{general("g")}, Rerankers: []string{"endpoint"}}, rerank: "endpoint", want: []string{"reranker failed", "not set up any more"}},
		"a reranker that is new":   {known: &Circumstances{Engines: []search.Info{general("g")}}, now: map[string]search.Reranker{"endpoint": ranking{}}, rerank: "endpoint", not: []string{"step rerank"}},
		"nothing was recorded":     {now: map[string]search.Reranker{"endpoint": ranking{}}, rerank: "endpoint", want: []string{"step rerank"}, not: []string{"papers"}},
		"an engine that came late": {known: &Circumstances{}, want: []string{"step engines"}},
	} {
		t.Run(name, func(t *testing.T) {
			h, _ := holdings(t, "")
			tuning := webTuning
			tuning.Rerank = c.rerank
			var trouble []string
			var steps []string
			d := perform(t, run.Limits{}, func(ctx context.Context, s *run.Scope, b Blobs) error {
				o, err := h.Open(ctx, s, Asked{In: Target{Web: &WebScope{}}, Language: "en", Known: c.known})
				if err != nil {
					return err
				}
				e, err := Gather(ctx, s, Job{
					Corpus: o.Corpus, Blobs: b, Question: "Which paper says where Ingrid keeps the bees?", Tuning: tuning, Language: "en", Known: c.known, Rerankers: c.now,
				})
				if err == nil {
					trouble = e.Trouble
				}
				return err
			})
			if d.rec.Status != run.Done {
				t.Fatalf("%s %+v", d.rec.Status, d.rec.Failure)
			}
			told := trouble
			for _, key := range d.steps {
				steps = append(steps, "step "+key[strings.LastIndex(key, "/")+1:])
			}
			for _, data := range d.log {
				if s, ok := data.(event.SearchStarted); ok {
					told = append(told, "asks "+s.Engine)
				}
			}
			all := strings.Join(slices.Concat(told, steps), "\n")
			for _, want := range c.want {
				if !strings.Contains(all, want) {
					t.Errorf("no %q in\n%s", want, all)
				}
			}
			for _, not := range c.not {
				if strings.Contains(all, not) {
					t.Errorf("%q in\n%s", not, all)
				}
			}
		})
	}
}

// A run that has no engine to ask fails in a step, which a resumed one tries
// again; so does one whose engines are gone.
func TestWantOfAnEngineIsAStepsFailure(t *testing.T) {
	for name, c := range map[string]struct {
		known *Circumstances
		web   *WebScope
		step  string
		want  string
	}{
		"there was none":             {&Circumstances{}, &WebScope{}, "engines", "no search engine is configured"},
		"none of that name":          {&Circumstances{Engines: []search.Info{general("g")}}, &WebScope{Engines: []string{"h"}}, "engines", `there is no search engine "h"`},
		"it has gone":                {&Circumstances{Engines: []search.Info{general("g")}}, &WebScope{}, "round-1/search-1/find", "nothing could be searched: no search engine is configured"},
		"the one that was named has": {&Circumstances{Engines: []search.Info{general("g")}}, &WebScope{Engines: []string{"g"}}, "round-1/search-1/find", "nothing could be searched: no search engine is configured"},
	} {
		t.Run(name, func(t *testing.T) {
			h, _ := holdings(t, "")
			h.Web.Engines = nil
			d := perform(t, run.Limits{}, func(ctx context.Context, s *run.Scope, b Blobs) error {
				o, err := h.Open(ctx, s, Asked{In: Target{Web: c.web}, Language: "en", Known: c.known})
				if err != nil {
					return err
				}
				_, err = Gather(ctx, s, Job{Corpus: o.Corpus, Blobs: b, Question: "Where does Ingrid keep the bees?", Tuning: webTuning, Language: "en", Known: c.known})
				return err
			})
			f := d.rec.Failure
			if d.rec.Status != run.Failed || f == nil || f.Step != c.step || f.Message != c.want || f.Hint == "" {
				t.Errorf("%s %+v", d.rec.Status, f)
			}
		})
	}
}
