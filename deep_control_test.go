package dossier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
	"dossier/report"
	"dossier/run"
)

// held is a model whose n-th call waits, with all that come after it.
type held struct {
	rules   []llmtest.Rule
	there   chan struct{} // closed when the call has come
	free    chan struct{} // closed to let all go
	reached atomic.Int64
}

func holdAt(n int, rules []llmtest.Rule) *held {
	h := &held{rules: slices.Clone(rules), there: make(chan struct{}), free: make(chan struct{})}
	for i := range h.rules {
		do := h.rules[i].Reply.Func
		h.rules[i].Reply = llmtest.Do(func(q *llmtest.Request) *llmtest.Reply {
			if c := h.reached.Add(1); c >= int64(n) {
				if c == int64(n) {
					close(h.there)
				}
				<-h.free
			}
			return do(q)
		})
	}
	return h
}

// oneByOne are settings by which the order of the work does not depend on who was
// faster.
var oneByOne = map[string]string{"deep_research.num_agents": "1"}

// whole is what a deep research comes to that nobody disturbs.
func whole(t *testing.T, w *webtest.Web, deep deepEngine, flags map[string]string) (text string, calls int) {
	t.Helper()
	srv := llmtest.Start(t, llmtest.Script{Rules: deep.rules})
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, flags, connected(srv)))
	defer func() { _ = e.Close() }()
	id := follow(t, e, onTheWeb("deep_research", deep.question))[0].Run
	return reportText(t, e, id), len(srv.Calls())
}

func reportText(t *testing.T, e *Engine, id string) string {
	t.Helper()
	r, err := e.Report(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(runDate.ReplaceAllString(report.Markdown(r), "DATE $1"), id, "RUN")
}

// A deep research that is paused, at whichever of its calls, rests with nothing
// under way; resumed, by this engine or another, it ends with the same report, and
// the model was asked nothing twice.
func TestDeepResearchIsPaused(t *testing.T) {
	w := startWeb(t, webtest.Options{Slow: time.Millisecond})
	for _, deep := range deepEngines {
		flags := onWeb(t, w, oneByOne, map[string]string{"deep_research.engine": deep.name})
		want, calls := whole(t, w, deep, flags)
		for _, n := range []int{1, calls / 4, calls / 2, calls - 3} {
			t.Run(fmt.Sprintf("%s/%d", deep.name, n), func(t *testing.T) {
				t.Parallel()
				h := holdAt(n, deep.rules)
				srv := llmtest.Start(t, llmtest.Script{Rules: h.rules})
				disk := &kept{memory.New(memory.Options{})}
				e := engine(t, disk, onWeb(t, w, flags, connected(srv)))
				rec, err := e.Start(t.Context(), onTheWeb("deep_research", deep.question))
				if err != nil {
					t.Fatal(err)
				}
				<-h.there
				if err := e.Pause(t.Context(), rec.ID); err != nil {
					t.Fatal(err)
				}
				close(h.free)
				waitFor(t, e, rec.ID, run.Paused)
				rested := len(srv.Calls())
				if n%2 == 0 { // somebody else goes on
					_ = e.Close()
					e = engine(t, disk, onWeb(t, w, flags, connected(srv)))
				}
				if got := statusOf(t, e, rec.ID); got != run.Paused || rested >= calls {
					t.Errorf("the run is %s after %d calls", got, rested)
				}
				if err := e.Resume(t.Context(), rec.ID, ResumeOptions{}); err != nil {
					t.Fatal(err)
				}
				for _, err := range e.Events(t.Context(), rec.ID, 0) {
					if err != nil {
						t.Fatal(err)
					}
				}
				if got := reportText(t, e, rec.ID); got != want {
					t.Errorf("paused at call %d, the report is\n%s\ninstead of\n%s", n, got, want)
				}
				if got := len(srv.Calls()); got != calls {
					t.Errorf("%d calls, not %d", got, calls)
				}
				if _, err := e.Replay(t.Context(), rec.ID); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A deep research that is told to finish, at whichever of its calls, asks its
// model nothing more and ends with a report of what there is, which says so.
// Resumed, it goes on and ends with the whole report.
func TestDeepResearchIsFinished(t *testing.T) {
	w := startWeb(t, webtest.Options{Slow: time.Millisecond})
	for _, deep := range deepEngines {
		flags := onWeb(t, w, oneByOne, map[string]string{"deep_research.engine": deep.name})
		want, calls := whole(t, w, deep, flags)
		for _, n := range []int{1, calls / 4, calls / 2, calls - 3} {
			t.Run(fmt.Sprintf("%s/%d", deep.name, n), func(t *testing.T) {
				t.Parallel()
				h := holdAt(n, deep.rules)
				srv := llmtest.Start(t, llmtest.Script{Rules: h.rules})
				e := engine(t, memory.New(memory.Options{}), onWeb(t, w, flags, connected(srv)))
				rec, err := e.Start(t.Context(), onTheWeb("deep_research", deep.question))
				if err != nil {
					t.Fatal(err)
				}
				<-h.there
				if err := e.Finish(t.Context(), rec.ID); err != nil {
					t.Fatal(err)
				}
				for _, err := range e.Events(t.Context(), rec.ID, 0) {
					if err != nil {
						t.Fatal(err)
					}
				}
				close(h.free)
				if got := statusOf(t, e, rec.ID); got != run.Done {
					t.Fatalf("the run is %s", got)
				}
				r := reportOf(t, e)
				if len(r.Sections) == 0 || r.Summary == "" || r.Conclusion == "" {
					t.Errorf("%s:\n%s", r.Outcome, report.Markdown(r))
				}
				if !slices.ContainsFunc(r.Notes, func(n string) bool {
					return strings.Contains(n, "cut short") || strings.Contains(n, "told to finish")
				}) {
					t.Errorf("the report does not say that it was finished early: %q", r.Notes)
				}
				if _, err := e.Replay(t.Context(), rec.ID); err != nil {
					t.Error(err)
				}
				if err := e.Resume(t.Context(), rec.ID, ResumeOptions{}); err != nil {
					t.Fatal(err)
				}
				for _, err := range e.Events(t.Context(), rec.ID, 0) {
					if err != nil {
						t.Fatal(err)
					}
				}
				if got := reportText(t, e, rec.ID); got != want {
					t.Errorf("finished at call %d and resumed, the report is\n%s\ninstead of\n%s", n, got, want)
				}
			})
		}
	}
}

// A deep research that is cancelled ends at once, without a report, whoever of a
// team is at work.
func TestDeepResearchIsCancelled(t *testing.T) {
	w := startWeb(t, webtest.Options{Slow: time.Millisecond})
	for _, deep := range deepEngines {
		for _, n := range []int{1, 15, 30} {
			t.Run(fmt.Sprintf("%s/%d", deep.name, n), func(t *testing.T) {
				t.Parallel()
				h := holdAt(n, deep.rules)
				srv := llmtest.Start(t, llmtest.Script{Rules: h.rules})
				e := engine(t, memory.New(memory.Options{}), onWeb(t, w, map[string]string{"deep_research.engine": deep.name}, connected(srv)))
				rec, err := e.Start(t.Context(), onTheWeb("deep_research", deep.question))
				if err != nil {
					t.Fatal(err)
				}
				<-h.there
				if err := e.Cancel(t.Context(), rec.ID); err != nil {
					t.Fatal(err)
				}
				for _, err := range e.Events(t.Context(), rec.ID, 0) {
					if err != nil {
						t.Fatal(err)
					}
				}
				close(h.free)
				if got := statusOf(t, e, rec.ID); got != run.Cancelled {
					t.Errorf("the run is %s", got)
				}
				if _, err := e.Report(t.Context(), rec.ID); !errors.Is(err, ErrNoReport) {
					t.Errorf("a report of what was cancelled: %v", err)
				}
			})
		}
	}
}

// What the user says while the loop goes round changes its plan or is looked for,
// also when it was about to end.
func TestLoopIsSteered(t *testing.T) {
	for name, c := range map[string]struct {
		at       int // the reflection during which it is said
		say      []string
		sections []string
		rounds   int
	}{
		"on the way": {1, []string{"drop 3; add How long is the Keldra Bridge?", "Mind the harbour pilots."}, []string{"Population", "Government", "How long is the Keldra Bridge?"}, 2},
		"at the end": {2, []string{"добавь How long is the Keldra Bridge?", "Mind the harbour pilots."}, []string{"Population", "Government", "Bridge", "How long is the Keldra Bridge?"}, 3},
		"a remark":   {2, []string{"Mind the harbour pilots."}, []string{"Population", "Government", "Bridge"}, 3},
		"dropped":    {2, []string{"删除 3"}, []string{"Population", "Government"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startWeb(t, webtest.Options{Slow: time.Millisecond})
			looks, told := make(chan struct{}), make(chan struct{})
			var reflected atomic.Int64
			rules := slices.Clone(townScholar.Rules())
			for i := range rules {
				do := rules[i].Reply.Func
				if rules[i].Schema == "reflection" {
					rules[i].Reply = llmtest.Do(func(q *llmtest.Request) *llmtest.Reply {
						if reflected.Add(1) == int64(c.at) {
							close(looks)
							<-told
						}
						return do(q)
					})
				}
			}
			srv := llmtest.Start(t, llmtest.Script{Rules: rules})
			e := engine(t, memory.New(memory.Options{}), onWeb(t, w, looped, connected(srv)))
			rec, err := e.Start(t.Context(), onTheWeb("deep_research", oststrandQuestion))
			if err != nil {
				t.Fatal(err)
			}
			<-looks
			for _, text := range c.say {
				if err := e.Steer(context.Background(), rec.ID, text); err != nil {
					t.Fatal(err)
				}
			}
			close(told)
			for _, err := range e.Events(t.Context(), rec.ID, 0) {
				if err != nil {
					t.Fatal(err)
				}
			}
			s := stateNow(t, e, rec.ID)
			var got []string
			for _, section := range s.Sections {
				got = append(got, section.Title)
			}
			if !slices.Equal(got, c.sections) || s.IterationCount != c.rounds {
				t.Errorf("%d rounds for %q", s.IterationCount, got)
			}
			text := s.FinalReport
			for _, section := range c.sections {
				if !strings.Contains(text, section) {
					t.Errorf("the report has no section %q", section)
				}
			}
			if strings.Contains(strings.Join(c.say, " "), "pilots") && !strings.Contains(strings.Join(w.Searches(), "\n"), "harbour pilots") {
				t.Errorf("what the user said was not looked for: %q", w.Searches())
			}
			if _, err := e.Replay(t.Context(), rec.ID); err != nil {
				t.Error(err)
			}
		})
	}
}

// A task that the user changes is another one: what it was for is not looked for
// any more, and the rubric asks for the new one.
func TestTeamTasksAreChanged(t *testing.T) {
	w := startWeb(t, webtest.Options{Slow: time.Millisecond})
	c := theTeam
	h := holdAt(1, nil)
	c.Researcher = func(q *llmtest.Request) *llmtest.Reply {
		if h.reached.Add(1) == 1 {
			close(h.there)
		}
		<-h.free
		return theTeam.Research(q)
	}
	srv := llmtest.Start(t, llmtest.Script{Rules: c.Rules()})
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, connected(srv), oneByOne, map[string]string{"deep_research.run_deep_search_first": "false"}))
	rec, err := e.Start(t.Context(), onTheWeb("deep_research", teamQuestion))
	if err != nil {
		t.Fatal(err)
	}
	<-h.there
	const wanted = "When did Oststrand receive its town rights?"
	for _, text := range []string{"изменить: newt -> " + wanted, "删除：Who is the mayor of Oststrand?"} {
		if err := e.Steer(context.Background(), rec.ID, text); err != nil {
			t.Fatal(err)
		}
	}
	close(h.free)
	states := make(map[string][]string)
	var covered event.Coverage
	for ev, err := range e.Events(t.Context(), rec.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		switch d := ev.Data.(type) {
		case event.TodoUpdated:
			states[d.Title] = append(states[d.Title], d.State)
		case event.Coverage:
			if d.Of == "rubric" {
				covered = d
			}
		}
	}
	dropped := []string{"pending", "dropped"}
	if !slices.Equal(states[theTeam.Tasks[1]], dropped) || !slices.Equal(states[theTeam.Tasks[3]], dropped) || !slices.Contains(states[wanted], "done") {
		t.Errorf("%q", states)
	}
	if covered.Total != 5 || covered.Covered != 5 { // who the mayor is was found by then
		t.Errorf("%+v", covered)
	}
	if r := reportOf(t, e); !strings.Contains(report.Markdown(r), "1417") || slices.ContainsFunc(r.Coverage.Missing, func(q string) bool { return strings.Contains(q, "newt") }) {
		t.Errorf("%q:\n%s", r.Coverage.Missing, report.Markdown(r))
	}
	if _, err := e.Replay(t.Context(), rec.ID); err != nil {
		t.Error(err)
	}
}
