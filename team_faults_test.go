package dossier

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
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

// teamCuts is at how many moments the power of a team's run is cut.
const teamCuts = 6

// TestTeamSurvivesAPowerCut cuts the power of a run at random moments. Another
// engine goes on: the same report comes out, and the model is asked nothing
// again whose reply was recorded.
func TestTeamSurvivesAPowerCut(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	text := func(e *Engine, id string) string {
		t.Helper()
		r, err := e.Report(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(sameOnEachStart(t, w, report.Markdown(r)), id, "RUN")
	}
	srv := llmtest.Start(t, llmtest.Script{Rules: new(inTurn).Team(theTeam, nil).Rules()})
	disk := &cutStore{Store: memory.New(memory.Options{})}
	disk.left.Store(1 << 40)
	e := engine(t, disk, onWeb(t, w, connected(srv)))
	calm := follow(t, e, onTheWeb("deep_research", teamQuestion))[0].Run
	want, calls := text(e, calm), len(srv.Calls())
	commits := 1<<40 - disk.left.Load()
	if commits < 100 || calls < 50 {
		t.Fatalf("a run of %d commits and %d calls is no test", commits, calls)
	}
	draw := rand.New(rand.NewPCG(14, uint64(teamCuts)))
	for range teamCuts {
		n := 1 + draw.Int64N(commits-1)
		turns := new(inTurn)
		left := make(chan struct{})
		before := llmtest.Start(t, llmtest.Script{Rules: turns.Team(theTeam, left).Rules()})
		later := llmtest.Start(t, llmtest.Script{Rules: turns.Team(theTeam, nil).Rules()})
		store := memory.New(memory.Options{})
		cut := &cutStore{Store: store}
		cut.left.Store(n)
		first := engine(t, cut, onWeb(t, w, connected(before)))
		rec, err := first.Start(t.Context(), onTheWeb("deep_research", teamQuestion))
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range first.Events(t.Context(), rec.ID, 0) {
			if err != nil {
				break
			}
		}
		close(left)
		_ = first.Close()
		if got, err := store.Run(t.Context(), rec.ID); err != nil || got.Status == run.Done {
			continue
		}
		h, err := store.History(t.Context(), rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		recorded := 0
		for _, entry := range h.Entries {
			recorded += entry.Spent.Calls
		}
		if err := evictAll(t.Context(), store); err != nil {
			t.Fatal(err)
		}
		second := engine(t, store, onWeb(t, w, connected(later)))
		if err := second.Resume(t.Context(), rec.ID, ResumeOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, err := range second.Events(t.Context(), rec.ID, 0) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := text(second, rec.ID); got != want {
			t.Fatalf("cut after %d of %d commits, the report is\n%s\ninstead of\n%s", n, commits, got, want)
		}
		if got := len(later.Calls()); got != calls-recorded {
			t.Errorf("cut after %d commits: %d calls, %d were left to do", n, got, calls-recorded)
		}
		if _, err := second.Replay(t.Context(), rec.ID); err != nil {
			t.Errorf("cut after %d commits: %v", n, err)
		}
		_ = second.Close()
	}
}

// upTo is a model for n-1 calls; from the n-th on another rule replies.
func upTo(n int, rules []llmtest.Rule, then llmtest.Rule) []llmtest.Rule {
	if n == 1 {
		return []llmtest.Rule{then}
	}
	return []llmtest.Rule{{First: n - 1, Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply {
		for _, r := range rules {
			if r.Schema == q.Schema || r.Schema == "" {
				return r.Reply.Func(q)
			}
		}
		return nil
	})}, then}
}

// How a model goes: it is refused, or says nothing of use.
var (
	gone    = llmtest.Rule{Fault: &llmtest.Fault{Kind: llmtest.Auth}, Reply: llmtest.Say("")}
	babbles = llmtest.Rule{Reply: llmtest.Say("I can't do that.")}
)

var every = flag.Bool("every", false, "have the model of a deep research go at each of its calls, not at some of them")

// Whenever the model goes, there is a report that says so.
func TestDeepResearchWhoseModelGoes(t *testing.T) {
	for _, c := range []struct {
		engine, question string
		rules            []llmtest.Rule
		how              string
		then             llmtest.Rule
		calls            []int // at which it goes
	}{
		{"supervisor", teamQuestion, theTeam.Rules(), "gone", gone, []int{1, 2, 5, 12, 25, 36, 45, 60, 75}},
		{"supervisor", teamQuestion, theTeam.Rules(), "babbles", babbles, []int{1, 8, 20, 33, 50, 70}},
		{"loop", oststrandQuestion, townScholar.Rules(), "gone", gone, []int{1, 2, 4, 9, 15, 21, 28, 36}},
		{"loop", oststrandQuestion, townScholar.Rules(), "babbles", babbles, []int{1, 3, 6, 12, 18, 24, 30, 37}},
	} {
		t.Run(c.engine+"/"+c.how, func(t *testing.T) {
			w := startWeb(t, webtest.Options{Slow: time.Millisecond})
			flags := onWeb(t, w, map[string]string{"deep_research.engine": c.engine, "governor.retries": "0", "structured.max_retries": "0"})
			if *every {
				srv := llmtest.Start(t, llmtest.Script{Rules: c.rules})
				follow(t, engine(t, memory.New(memory.Options{}), onWeb(t, w, flags, connected(srv))), onTheWeb("deep_research", c.question))
				c.calls = nil
				for n := range srv.Calls() {
					c.calls = append(c.calls, n+1)
				}
			}
			for _, n := range c.calls {
				t.Run(fmt.Sprint(n), func(t *testing.T) {
					t.Parallel()
					srv := llmtest.Start(t, llmtest.Script{Rules: upTo(n, c.rules, c.then)})
					e := engine(t, memory.New(memory.Options{}), onWeb(t, w, flags, connected(srv)))
					events := follow(t, e, onTheWeb("deep_research", c.question))
					if got := statusOf(t, e, events[0].Run); got != run.Done {
						t.Fatalf("the run is %s", got)
					}
					r := reportOf(t, e)
					text := report.Markdown(r)
					if r.Outcome == report.Nothing || !strings.Contains(text, "18,240") || len(r.Sections) == 0 || r.Summary == "" || r.Conclusion == "" {
						t.Errorf("%s:\n%s", r.Outcome, text)
					}
					if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "instead") }) {
						t.Errorf("the report does not say that rules stood in: %q", r.Notes)
					}
					if _, err := e.Replay(t.Context(), events[0].Run); err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
}

// A researcher that dies, one that never stops, and one that asks for help cost
// their own task and nothing else.
func TestResearchersThatDoNot(t *testing.T) {
	for name, reply := range map[string]*llmtest.Reply{
		"dies":           llmtest.Say("Thought: boom\nAction: scrape_url {\"urls\": [\"javascript:alert(1)\"]}"),
		"loops":          act("web_search", map[string]any{"query": "Oststrand"}),
		"is silent":      llmtest.Say("Hm."),
		"wants help":     act("request_help", map[string]any{"problem": "I can't find it", "note": ""}),
		"makes up pages": act("done", map[string]any{"note": "The newt lives for 300 years [99]. See https://evil.example.", "covers": []string{"r1", "r2", "r3", "r4", "r5"}}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := theTeam
			c.Researcher = func(q *llmtest.Request) *llmtest.Reply {
				if view, _ := viewOf(q); strings.Contains(view, "Your task: How many years") {
					return reply
				}
				return theTeam.Research(q)
			}
			got := countTeam(t, c, nil)
			if got.finished != run.Done || most(got.steps) > 5 {
				t.Errorf("%+v", got)
			}
			r := reportOf(t, got.engine)
			text := report.Markdown(r)
			if r.Outcome == report.Nothing || strings.Contains(text, "300 years [99]") || strings.Contains(text, "evil.example") {
				t.Errorf("%s:\n%s", r.Outcome, text)
			}
			if name == "wants help" {
				asked := false
				for _, call := range got.model.Calls() {
					if len(call.Request.Messages) > 0 {
						view, _ := viewOf(call.Request)
						asked = asked || strings.Contains(view, "It asks for help: I can't find it")
					}
				}
				if !asked {
					t.Error("the supervisor is not told of it")
				}
			}
		})
	}
}

// Without a model the whole team works by rules; with nothing to find it says so.
func TestTeamByRules(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w))
	events := follow(t, e, onTheWeb("deep_research", "How many inhabitants does Oststrand have, and how many years does an Aune spotted newt live?"))
	r := reportOf(t, e)
	text := report.Markdown(r)
	for _, want := range []string{"18,240", "11 years"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q:\n%s", want, text)
		}
	}
	decided := ""
	late := false
	for _, ev := range events {
		switch d := ev.Data.(type) {
		case event.SupervisorDecision:
			decided = d.Decision
		case event.TodoUpdated:
			late = late || d.State == "active" && decided != ""
		}
	}
	if decided != "finish" || !late {
		t.Errorf("decided %q; a round after the first draft: %t", decided, late)
	}
	nothing := follow(t, e, onTheWeb("deep_research", "What is the telephone number of the keeper of the Skarrow windmill?"))
	if got := statusOf(t, e, nothing[0].Run); got != run.Done {
		t.Errorf("the run is %s", got)
	}
	if r := reportOf(t, e); r.Outcome == report.Answered {
		t.Errorf("%s:\n%s", r.Outcome, report.Markdown(r))
	}
	w.Break(webtest.Fault{Kind: webtest.ServerError})
	down := follow(t, e, onTheWeb("deep_research", "How deep is the Varn quarry?"))
	if got := statusOf(t, e, down[0].Run); got != run.Failed {
		t.Errorf("with no engine that answers the run is %s", got)
	}
}

// What the user says while the team works changes its tasks or is read by all.
func TestTeamIsSteered(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	c := new(inTurn).Team(theTeam, nil)
	begun, told := make(chan struct{}), make(chan struct{})
	var once atomic.Bool
	was := c.Researcher
	c.Researcher = func(q *llmtest.Request) *llmtest.Reply {
		if once.CompareAndSwap(false, true) {
			close(begun)
		}
		<-told
		return was(q)
	}
	srv := llmtest.Start(t, llmtest.Script{Rules: c.Rules()})
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, connected(srv)))
	rec, err := e.Start(t.Context(), onTheWeb("deep_research", teamQuestion))
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	for _, text := range []string{
		"add: When did Oststrand receive its town rights?", "Please mind the dates.", "drop: Who is the mayor of Oststrand?", "убрать: нет такой задачи",
	} {
		if err := e.Steer(context.Background(), rec.ID, text); err != nil {
			t.Fatal(err)
		}
	}
	close(told)
	states := make(map[string]string)
	for ev, err := range e.Events(t.Context(), rec.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := ev.Data.(event.TodoUpdated); ok {
			states[d.Title] = d.State
		}
	}
	if states["When did Oststrand receive its town rights?"] != "done" || states["Who is the mayor of Oststrand?"] != "dropped" {
		t.Errorf("%v", states)
	}
	heard := false
	for _, call := range srv.Calls() {
		if len(call.Request.Messages) > 0 {
			view, _ := viewOf(call.Request)
			heard = heard || strings.Contains(view, "The user says to the team: Please mind the dates.")
		}
	}
	if !heard {
		t.Error("nobody was told what the user said")
	}
	if _, err := e.Replay(t.Context(), rec.ID); err != nil {
		t.Error(err)
	}
}
