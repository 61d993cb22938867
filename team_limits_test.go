package dossier

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
	"dossier/report"
	"dossier/run"
)

// teamCounts is what a run of a team came to.
type teamCounts struct {
	researchers, tasks int
	atOnce             int            // tasks under way
	calls              int            // of the supervisor
	iterations         map[string]int // of each call
	steps              map[string]int // of each task
	searches           map[string]int
	reflected          int
	decisions          []string
	finished           run.Status

	engine *Engine
	model  *llmtest.Server
}

var taskScope = regexp.MustCompile(`^agent_\d+/task_\d+`)

// countTeam has a team work and counts.
func countTeam(t *testing.T, c scriptedTeam, flags map[string]string) teamCounts {
	t.Helper()
	w := startWeb(t, webtest.Options{})
	srv := llmtest.Start(t, llmtest.Script{Rules: c.Rules()})
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, connected(srv), flags))
	events := follow(t, e, onTheWeb("deep_research", teamQuestion))
	got := teamCounts{iterations: make(map[string]int), steps: make(map[string]int), searches: make(map[string]int), finished: statusOf(t, e, events[0].Run), engine: e, model: srv}
	active := 0
	for _, ev := range events {
		task := taskScope.FindString(ev.Agent)
		switch d := ev.Data.(type) {
		case event.AgentStarted:
			switch {
			case d.Name == "supervisor":
				got.calls++
			case ev.Agent == "":
				got.researchers++
			}
		case event.TodoUpdated:
			switch d.State {
			case "active":
				got.tasks++
				active++
				got.atOnce = max(got.atOnce, active)
			case "done":
				active--
			}
		case event.AgentReasoning:
			if task != "" {
				got.steps[task]++
			} else if strings.HasPrefix(ev.Agent, "supervisor-") {
				got.iterations[ev.Agent]++
			}
		case event.SearchStarted:
			if task != "" {
				got.searches[task]++
			}
		case event.AgentReflected:
			got.reflected++
		case event.SupervisorDecision:
			got.decisions = append(got.decisions, d.Decision)
		}
	}
	if _, err := e.Replay(t.Context(), events[0].Run); err != nil {
		t.Error(err)
	}
	return got
}

func most(counts map[string]int) int {
	return slices.Max(slices.Concat([]int{0}, slices.Collect(maps.Values(counts))))
}

// endless is a team that never comes to an end by itself: researchers search
// for ever, and the supervisor gives more tasks than can be done.
func endless() scriptedTeam {
	c := theTeam
	var queries, todos atomic.Int64
	c.Researcher = func(*llmtest.Request) *llmtest.Reply {
		return act("web_search", map[string]any{"query": fmt.Sprintf("Oststrand %d", queries.Add(1))})
	}
	c.Supervisor = func(q *llmtest.Request) *llmtest.Reply {
		n := todos.Add(1)
		return act("create_agent_todo", map[string]any{"agent_id": fmt.Sprintf("agent_%d", n%4+1), "task": fmt.Sprintf("What is number %d of Oststrand?", n), "items": []string{}})
	}
	return c
}

// Each limit of the seed, with its default, holds against a team that knows none.
func TestTeamLimits(t *testing.T) {
	got := countTeam(t, endless(), nil)
	e := got.engine
	if got.researchers != 4 || got.atOnce != 4 {
		t.Errorf("%d researchers, %d at once", got.researchers, got.atOnce)
	}
	if got.calls > 6 || most(got.iterations) > 10 || got.tasks > 15 {
		t.Errorf("%d calls of the supervisor, %d iterations in one, %d tasks", got.calls, most(got.iterations), got.tasks)
	}
	if most(got.iterations) != 10 || most(got.steps) != 5 || got.reflected != len(got.steps) {
		t.Errorf("%d iterations, %d steps, %d reflections on %d tasks", most(got.iterations), most(got.steps), got.reflected, len(got.steps))
	}
	if n := most(got.searches); n != 4 {
		t.Errorf("%d searches in a task of 5 steps, whose last is for the note", n)
	}
	if got.finished != run.Done {
		t.Errorf("the run is %s", got.finished)
	}
	if r := reportOf(t, e); r.Outcome == report.Nothing {
		t.Error("the deep search had found something")
	}
}

func TestTeamLimitsAreSettings(t *testing.T) {
	got := countTeam(t, endless(), map[string]string{
		"deep_research.num_agents": "9", "deep_research.agent_max_steps": "12", "deep_research.max_supervisor_calls": "2",
		"deep_research.supervisor_max_iterations": "3", "deep_research.default_max_iterations": "7", "deep_research.run_deep_search_first": "false",
	})
	if got.researchers != 5 || most(got.steps) != 12 || most(got.iterations) != 3 || got.tasks > 7 || got.calls > 2 {
		t.Errorf("%+v", got)
	}
	if n := most(got.searches); n != 6 {
		t.Errorf("%d searches: a query is worded anew five times", n)
	}
	got = countTeam(t, theTeam, map[string]string{"deep_research.num_agents": "-3"})
	if got.researchers != 1 || got.atOnce != 1 {
		t.Errorf("%d researchers, %d at once", got.researchers, got.atOnce)
	}
}

// What is kept of earlier work is bounded: a researcher sees its last ten notes,
// the supervisor the last fifteen findings; nobody sees the conversation.
func TestTeamSeesWhatItShould(t *testing.T) {
	c := theTeam
	var todos atomic.Int64
	c.Supervisor = func(q *llmtest.Request) *llmtest.Reply {
		if view, _ := viewOf(q); strings.Contains(view, "[pending]") {
			return act("make_final_decision", map[string]any{"decision": "continue", "reason": "more", "not_found": []string{}})
		}
		pages := []string{"Oststrand", "Keldra Bridge", "Aune spotted newt", "Veyholm", "Grenmoor", "Tarnholm"}
		n := todos.Add(1)
		return act("create_agent_todo", map[string]any{"agent_id": "agent_1", "task": fmt.Sprintf("What is fact number %d about %s?", n, pages[int(n)%len(pages)]), "items": []string{}})
	}
	srv := countTeam(t, c, map[string]string{
		"deep_research.num_agents": "1", "deep_research.max_supervisor_calls": "40", "deep_research.default_max_iterations": "20",
	}).model
	notes, findings := 0, 0
	for _, call := range srv.Calls() {
		if call.Request == nil || len(call.Request.Messages) == 0 {
			continue
		}
		view, _ := viewOf(call.Request)
		switch system := call.Request.Messages[0].Content; {
		case strings.HasPrefix(system, "You are a researcher in a team"):
			own := between(view, "Your own last notes on earlier tasks:\n", "Your task:")
			notes = max(notes, strings.Count(own, "<material>"))
			for _, want := range []string{teamQuestion, "What a first search found"} {
				if !strings.Contains(view, want) {
					t.Fatalf("a researcher is not told %q", want)
				}
			}
			if n := len(call.Request.Messages); n > 5 {
				t.Fatalf("a prompt of %d messages: it is not made anew", n)
			}
		case strings.HasPrefix(system, "You supervise a team"):
			findings = max(findings, strings.Count(view, "<found id="))
			if !strings.Contains(view, "The rubric:\n- r1 [") {
				t.Fatal("the supervisor does not see the rubric")
			}
		}
	}
	if notes != 10 || findings != 15 {
		t.Errorf("a researcher saw %d of its notes, the supervisor %d findings", notes, findings)
	}
}

// A supervisor that finishes at once is held to the rubric and to one more round
// after the first draft; one that says nothing, or nothing useful, is replaced by
// rules.
func TestSupervisorsThatDoNot(t *testing.T) {
	for name, reply := range map[string]func(q *llmtest.Request) *llmtest.Reply{
		"finishes at once": func(*llmtest.Request) *llmtest.Reply {
			return act("make_final_decision", map[string]any{"decision": "finish", "reason": "enough", "not_found": []string{}})
		},
		"finds nothing to be there": func(*llmtest.Request) *llmtest.Reply {
			return act("make_final_decision", map[string]any{"decision": "finish", "reason": "enough", "not_found": []string{"r5", "r9"}})
		},
		"is silent": func(*llmtest.Request) *llmtest.Reply { return llmtest.Say("I see.") },
		"says replan": func(*llmtest.Request) *llmtest.Reply {
			return act("make_final_decision", map[string]any{"decision": "replan", "reason": "wrong", "not_found": []string{}})
		},
		"calls what is not there": func(*llmtest.Request) *llmtest.Reply { return act("fire_everybody", map[string]any{}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := theTeam
			c.Supervisor = reply
			got := countTeam(t, c, nil)
			if got.finished != run.Done || got.calls > 6 || got.tasks > 15 || most(got.iterations) > 10 {
				t.Errorf("%+v", got)
			}
			if name == "is silent" {
				asked := 0
				for _, call := range got.model.Calls() {
					if len(call.Request.Messages) > 0 && strings.HasPrefix(call.Request.Messages[0].Content, "You supervise") {
						asked++
					}
				}
				if asked != 2 {
					t.Errorf("a supervisor that called no tool was asked %d times", asked)
				}
			}
			if got.tasks < 5 {
				t.Errorf("%d tasks: the item of the rubric that no task was for was not looked for", got.tasks)
			}
			r := reportOf(t, got.engine)
			if r.Outcome != report.Answered || !strings.Contains(report.Markdown(r), "37 metres") {
				t.Errorf("%s: what the last tasks found is not in the report", r.Outcome)
			}
		})
	}
}

// What a model is told and what it calls stays a conversation that providers take,
// whichever way it is asked.
func TestTeamDeciders(t *testing.T) {
	for _, decider := range []string{"tool_calling", "sgr", "sgr_tool_calling", "iron"} {
		t.Run(decider, func(t *testing.T) {
			t.Parallel()
			w := startWeb(t, webtest.Options{})
			c := theTeam
			srv := llmtest.Start(t, llmtest.Script{Rules: c.Rules()[:len(c.Rules())-1]}) // the default replies of the server
			e := engine(t, memory.New(memory.Options{}), onWeb(t, w, connected(srv), map[string]string{"deep_research.decider": decider}))
			events := follow(t, e, onTheWeb("deep_research", teamQuestion))
			if got := statusOf(t, e, events[0].Run); got != run.Done {
				t.Errorf("the run is %s", got)
			}
			for _, call := range srv.Calls() {
				if len(call.Request.Messages) == 0 {
					continue
				}
				if err := llmtest.CheckConversation(call.Request.Messages); err != nil {
					t.Fatalf("%s: %v", call.Request.Messages[0].Content[:min(40, len(call.Request.Messages[0].Content))], err)
				}
			}
			if _, err := e.Replay(t.Context(), events[0].Run); err != nil {
				t.Error(err)
			}
		})
	}
}
