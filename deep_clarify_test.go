package dossier

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"dossier/event"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
	"dossier/mode/evidence"
	"dossier/report"
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

// unsureTeam asks as unsureScholar does.
var unsureTeam = func() scriptedTeam {
	c := theTeam
	c.Unclear, c.Asks = unsureScholar.Unclear, unsureScholar.Asks
	return c
}()

// unsure are the models of both engines in doubt, each for a question.
func unsure(asks int) []deepEngine {
	c, s := unsureTeam, unsureScholar
	c.Asks, s.Asks = asks, asks
	return []deepEngine{{"supervisor", teamQuestion, c.Rules()}, {"loop", oststrandQuestion, s.Rules()}}
}

// refined is the question as the first plan of a run has it.
func refined(t *testing.T, e *Engine, id string) string {
	t.Helper()
	log, err := e.Log(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range log {
		if p, ok := ev.Data.(event.PlanUpdated); ok && ev.Agent == "" {
			return p.Question
		}
	}
	return ""
}

// The questions of a run are answered, each once, also after a restart and at the
// same time as it goes on elsewhere; what was said is part of the question.
func TestDeepResearchIsAnswered(t *testing.T) {
	for _, deep := range unsure(2) {
		t.Run(deep.name, func(t *testing.T) {
			w := startWeb(t, webtest.Options{Slow: time.Millisecond})
			srv := llmtest.Start(t, llmtest.Script{Rules: deep.rules})
			flags := onWeb(t, w, map[string]string{"deep_research.engine": deep.name}, connected(srv))
			disk := &kept{memory.New(memory.Options{})}
			first := engine(t, disk, flags)
			rec, err := first.Start(t.Context(), onTheWeb("deep_research", deep.question))
			if err != nil {
				t.Fatal(err)
			}
			waitFor(t, first, rec.ID, run.Waiting)
			_ = first.Close()
			before := len(srv.Calls())

			e := engine(t, disk, flags)
			d, err := e.Show(t.Context(), rec.ID)
			if err != nil || len(d.Asks) != 1 || d.Asks[0].Questions[0] != unsureTeam.Unclear {
				t.Fatalf("%+v, %v", d.Asks, err)
			}
			if n := len(srv.Calls()); n != before {
				t.Errorf("%d calls while the run waits", n-before)
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
			if got := refined(t, e, rec.ID); asked != 2 || got != deep.question+" (the town) (as it is now)" {
				t.Errorf("%d questions, then %q", asked, got)
			}
			if n := callsBySchema(srv, 0)["clarity"]; n != 3 {
				t.Errorf("the model was asked %d times whether it is clear", n)
			}
			if r := reportOf(t, e); r.Outcome != report.Answered || len(r.Sections) < 3 {
				t.Errorf("%s, %d sections", r.Outcome, len(r.Sections))
			}
			if _, err := e.Replay(t.Context(), rec.ID); err != nil {
				t.Error(err)
			}
		})
	}
}

// A user who does not want to answer is not asked again; what is assumed is named.
func TestDeepResearchIsNotAnswered(t *testing.T) {
	for _, deep := range unsure(100) {
		for name, c := range map[string]struct {
			answer string
			set    map[string]string
			asked  int
			silent bool // nothing is assumed
		}{
			"skip": {answer: "skip", asked: 1}, "пропустить": {answer: "Пропустить.", asked: 1}, "直接开始研究": {answer: "直接开始研究", asked: 1},
			"nobody": {}, "late": {set: map[string]string{"deep_research.clarify_wait": "1ms"}, asked: 1},
			"in time": {answer: "skip", set: map[string]string{"deep_research.clarify_wait": "1h"}, asked: 1},
			"off":     {set: map[string]string{"deep_research_enable_clarifying_questions": "false"}, silent: true}, "always unclear": {answer: "both", asked: 3},
		} {
			t.Run(deep.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := startWeb(t, webtest.Options{Slow: time.Millisecond})
				srv := llmtest.Start(t, llmtest.Script{Rules: deep.rules})
				e := engine(t, memory.New(memory.Options{}), onWeb(t, w, map[string]string{"deep_research.engine": deep.name}, connected(srv), c.set))
				req := onTheWeb("deep_research", deep.question)
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
						if c.answer != "" {
							if err := e.Answer(t.Context(), ev.Run, ask.ID, c.answer); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
				if asked != c.asked {
					t.Errorf("asked %d times", asked)
				}
				r := reportOf(t, e)
				named := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, unsureTeam.Unclear) })
				if named == c.silent || len(r.Sections) == 0 {
					t.Errorf("%d sections, notes %q", len(r.Sections), r.Notes)
				}
				if _, err := e.Replay(t.Context(), id); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// The plan is shown before anything is spent on it, and can be changed. What the
// user drops is not looked for, and what is added is.
func TestTeamPlanIsReviewed(t *testing.T) {
	inhabitants, newt, bridge, mayor := theTeam.Tasks[0], theTeam.Tasks[1], theTeam.Tasks[2], theTeam.Tasks[3]
	tower, pilots := theTeam.Rubric[4], "What do the pilots of Oststrand earn?"
	for name, c := range map[string]struct {
		how     string
		noInput bool
		answers []string
		tasks   []string
		rubric  int
	}{
		"auto":        {how: "auto", tasks: []string{inhabitants, newt, bridge, mayor}, rubric: 5},
		"show":        {how: "show", answers: []string{"drop 1"}, tasks: []string{inhabitants, newt, bridge, mayor}, rubric: 5},
		"edit":        {how: "edit", answers: []string{"drop 2; add " + pilots, "start"}, tasks: []string{inhabitants, bridge, mayor, pilots}, rubric: 5},
		"edit, twice": {how: "edit", answers: []string{"убрать 1", "删除 1", "start"}, tasks: []string{bridge, mayor}, rubric: 3},
		"edit, whole": {how: "edit", answers: []string{"# New\n\n## Mayor\nWho is the mayor of Oststrand?\n- mayor Oststrand\n"}, tasks: []string{mayor}, rubric: 1},
		"nobody":      {how: "edit", noInput: true, tasks: []string{inhabitants, newt, bridge, mayor}, rubric: 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startWeb(t, webtest.Options{Slow: time.Millisecond})
			srv := llmtest.Start(t, llmtest.Script{Rules: theTeam.Rules()})
			e := engine(t, memory.New(memory.Options{}), onWeb(t, w, connected(srv), map[string]string{"deep_research.plan": c.how, "deep_research.run_deep_search_first": "false"}))
			req := onTheWeb("deep_research", teamQuestion)
			req.NoInput = c.noInput
			asked, id := 0, ""
			var begun []string
			covered := event.Coverage{}
			for ev, err := range e.Run(t.Context(), req) {
				if err != nil {
					t.Fatal(err)
				}
				id = ev.Run
				switch d := ev.Data.(type) {
				case event.ClarifyAsked:
					if n := len(w.Searches()); n > 0 {
						t.Errorf("%d searches before the plan was seen", n)
					}
					if !strings.Contains(d.Questions[0], "## ") {
						t.Errorf("the question does not show the plan: %q", d.Questions)
					}
					if err := e.Answer(t.Context(), ev.Run, d.ID, c.answers[asked]); err != nil {
						t.Fatal(err)
					}
					asked++
				case event.TodoUpdated:
					if d.State == "active" && !slices.Contains(begun, d.Title) {
						begun = append(begun, d.Title)
					}
				case event.Coverage:
					if d.Of == "rubric" {
						covered = d
					}
				}
			}
			if asked != len(c.answers) || covered.Total != c.rubric {
				t.Errorf("asked %d times; the rubric has %d items", asked, covered.Total)
			}
			for _, task := range []string{inhabitants, newt, bridge, mayor, pilots} {
				if slices.Contains(begun, task) != slices.Contains(c.tasks, task) {
					t.Errorf("of %q these tasks were begun: %q", c.tasks, begun)
				}
			}
			if wanted := c.rubric > 1; slices.Contains(begun, tower) != wanted {
				t.Errorf("the item of the rubric that no task is for: %q", begun)
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
