package dossier

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"dossier/event"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
	"dossier/mode/evidence"
	"dossier/run"
)

// unsureScholar asks twice before it is sure what is meant.
var unsureScholar = func() scholar {
	s := townScholar
	s.Unclear, s.Asks, s.Enough = "Do you mean the town or the county?", 2, 1
	return s
}()

// stateNow is the state of a run as runs show tells it.
func stateNow(t *testing.T, e *Engine, id string) evidence.State {
	t.Helper()
	d, err := e.Show(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var s evidence.State
	if err := json.Unmarshal(d.State, &s); err != nil {
		t.Fatalf("the state %s: %v", d.State, err)
	}
	return s
}

// The questions of a run are answered, each once, also after a restart; what was
// said is part of the question from then on.
func TestLoopIsAnswered(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	flags := onWeb(t, w, looped, connected(llmtest.Start(t, llmtest.Script{Rules: unsureScholar.Rules()})))
	disk := &kept{memory.New(memory.Options{})}
	first := engine(t, disk, flags)
	rec, err := first.Start(t.Context(), onTheWeb("deep_research", oststrandQuestion))
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, first, rec.ID, run.Waiting)
	if s := stateNow(t, first, rec.ID); s.PendingQuestion != unsureScholar.Unclear || s.IsClarified || s.OriginalQuery != oststrandQuestion {
		t.Errorf("%+v", s)
	}
	_ = first.Close()

	e := engine(t, disk, flags)
	d, err := e.Show(t.Context(), rec.ID)
	if err != nil || len(d.Asks) != 1 {
		t.Fatalf("%+v, %v", d.Asks, err)
	}
	if err := e.Answer(t.Context(), rec.ID, d.Asks[0].ID, "the town"); err != nil {
		t.Fatal(err)
	}
	if err := e.Answer(t.Context(), rec.ID, d.Asks[0].ID, "the county"); !errors.Is(err, store.ErrAnswered) && !errors.Is(err, store.ErrNotWaiting) {
		t.Errorf("answered twice: %v", err)
	}
	asked := 0
	for ev, err := range e.Events(t.Context(), rec.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if ask, ok := ev.Data.(event.ClarifyAsked); ok {
			if asked++; asked == 2 {
				if err := e.Answer(t.Context(), rec.ID, ask.ID, "as it is now"); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	s := stateNow(t, e, rec.ID)
	if asked != 2 || !s.IsClarified || s.PendingQuestion != "" || s.ClarifiedQuery != oststrandQuestion+" (the town) (as it is now)" {
		t.Errorf("%d questions, %+v", asked, s)
	}
	if s.FinalReport == "" || s.ResearchTitle != townScholar.Title || len(s.Sections) != 3 || s.IterationCount != 1 || s.MaxIterations != 5 ||
		!s.IsSufficient || len(s.GatheredInfo) == 0 || len(s.VisitedSources) == 0 {
		t.Errorf("%+v", s)
	}
	if _, err := e.Replay(t.Context(), rec.ID); err != nil {
		t.Error(err)
	}
}

// A user who does not want to answer is not asked again; what is assumed is named.
func TestLoopIsNotAnswered(t *testing.T) {
	never := unsureScholar
	never.Asks = 100
	for name, answer := range map[string]string{
		"skip": "skip", "пропустить": "пропустить", "直接开始研究": "直接开始研究", "nobody": "", "late": "", "off": "", "always unclear": "both",
	} {
		t.Run(name, func(t *testing.T) {
			more := map[string]string{}
			switch name {
			case "late":
				more["deep_research.clarify_wait"] = "1ms"
			case "off":
				more["deep_research_enable_clarifying_questions"] = "false"
			}
			e, _ := startLoop(t, &never, more)
			req := onTheWeb("deep_research", oststrandQuestion)
			req.NoInput = name == "nobody"
			asked := 0
			var id string
			for ev, err := range e.Run(t.Context(), req) {
				if err != nil {
					t.Fatal(err)
				}
				id = ev.Run
				if ask, ok := ev.Data.(event.ClarifyAsked); ok {
					asked++
					if answer != "" {
						if err := e.Answer(t.Context(), ev.Run, ask.ID, answer); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			want := map[string]int{"nobody": 0, "off": 0, "always unclear": 3}
			if n, ok := want[name]; asked != n && ok || !ok && asked != 1 {
				t.Errorf("asked %d times", asked)
			}
			r := reportOf(t, e)
			named := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, never.Unclear) })
			if named != (name != "off") || len(r.Sections) == 0 {
				t.Errorf("%d sections, notes %q", len(r.Sections), r.Notes)
			}
			if _, err := e.Replay(t.Context(), id); err != nil {
				t.Error(err)
			}
		})
	}
}

// The plan is shown before anything is spent, and can be changed.
func TestLoopPlanIsReviewed(t *testing.T) {
	for _, c := range []struct {
		how     string
		answers []string
		want    []string
	}{
		{"auto", nil, []string{"Population", "Government", "Bridge"}},
		{"show", []string{"drop 1"}, []string{"Population", "Government", "Bridge"}},
		{"edit", []string{"drop 1; add Harbour of Oststrand", "start"}, []string{"Government", "Bridge", "Harbour of Oststrand"}},
		{"edit", []string{"# New\n\n## Mayor\nWho is the mayor of Oststrand?\n- mayor Oststrand\n"}, []string{"Mayor"}},
	} {
		t.Run(c.how, func(t *testing.T) {
			e, w := startLoop(t, &townScholar, map[string]string{"deep_research.plan": c.how})
			asked, id := 0, ""
			for ev, err := range e.Run(t.Context(), onTheWeb("deep_research", oststrandQuestion)) {
				if err != nil {
					t.Fatal(err)
				}
				id = ev.Run
				if ask, ok := ev.Data.(event.ClarifyAsked); ok {
					if n := len(w.Searches()); n > 0 {
						t.Errorf("%d searches before the plan was seen", n)
					}
					if !strings.Contains(ask.Questions[0], "## ") {
						t.Errorf("the question does not show the plan: %q", ask.Questions)
					}
					if err := e.Answer(t.Context(), ev.Run, ask.ID, c.answers[asked]); err != nil {
						t.Fatal(err)
					}
					asked++
				}
			}
			if asked != len(c.answers) {
				t.Errorf("asked %d times", asked)
			}
			var got []string
			for _, s := range stateNow(t, e, id).Sections {
				got = append(got, s.Title)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("sections %q, want %q", got, c.want)
			}
			if _, err := e.Replay(t.Context(), id); err != nil {
				t.Error(err)
			}
		})
	}
}
