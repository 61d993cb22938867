package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"dossier/agent"
	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/lang"
	"dossier/llm"
	"dossier/llm/llmtest"
	"dossier/run"
	"dossier/tool"
)

// model answers with what its function says, and remembers what it was asked.
type model struct {
	mu    sync.Mutex
	asked []*llm.Request
	reply func(n int, req *llm.Request) (llm.Message, error)
}

func (m *model) Stream(_ context.Context, req *llm.Request, sink func(llm.Chunk)) (*llm.Response, error) {
	m.mu.Lock()
	n := len(m.asked)
	m.asked = append(m.asked, req)
	m.mu.Unlock()
	said, err := m.reply(n+1, req)
	if err != nil {
		return nil, err
	}
	said.Role = llm.RoleAssistant
	if sink != nil && said.Content != "" {
		sink(llm.Chunk{Text: said.Content})
	}
	return &llm.Response{Model: "scripted", Message: said, Finish: llm.FinishStop, Usage: llm.Usage{Input: 10, Output: 5}}, nil
}

func (m *model) models() *llm.Models {
	return &llm.Models{Roles: map[llm.RoleName]llm.Setting{llm.ForDefault: {Model: m, Name: "scripted", Endpoint: "test"}}}
}

// says makes a model that says one thing after another, and the last one for
// ever.
func says(replies ...llm.Message) *model {
	return &model{reply: func(n int, _ *llm.Request) (llm.Message, error) { return replies[min(n, len(replies))-1], nil }}
}

func call(name, args string) llm.Message {
	return llm.Message{ToolCalls: []llm.ToolCall{{ID: "call_" + name, Name: name, Arguments: args}}}
}

func text(s string) llm.Message { return llm.Message{Content: s} }

type addArgs struct {
	A int `json:"a" jsonschema:"a number"`
	B int `json:"b" jsonschema:"another number"`
}

type finalArgs struct {
	Reasoning string   `json:"reasoning"`
	Steps     []string `json:"completed_steps" min:"1" max:"5"`
	Answer    string   `json:"answer"`
	Status    string   `json:"status" enum:"completed,failed"`
}

func (f *finalArgs) Validate() error {
	if strings.TrimSpace(f.Answer) == "" {
		return errors.New("answer is empty: write the whole answer there")
	}
	return nil
}

var (
	add = tool.New(tool.Spec{Name: "add", Description: "Add two integers."}, func(_ context.Context, _ *tool.Call, in addArgs) (tool.Result, error) {
		return tool.JSON(map[string]int{"sum": in.A + in.B})
	})
	final = tool.New(tool.Spec{Name: "finalanswertool", Description: "End the work with the answer.", Kind: tool.Final, System: true},
		func(_ context.Context, _ *tool.Call, in finalArgs) (tool.Result, error) {
			return tool.Result{Text: in.Answer, Change: tool.Change{Answer: &tool.Answer{Text: in.Answer, Status: tool.Status(in.Status)}}}, nil
		})
	clarify = tool.New(tool.Spec{Name: "clarificationtool", Description: "Ask the user.", Kind: tool.Clarify, System: true},
		func(_ context.Context, _ *tool.Call, in struct {
			Questions []string `json:"questions" min:"1" max:"3"`
		}) (tool.Result, error) {
			return tool.Result{Text: strings.Join(in.Questions, "\n"), Change: tool.Change{Ask: &run.Question{Questions: in.Questions}}}, nil
		})
)

const finalCall = `{"reasoning":"r","completed_steps":["added"],"answer":"the sum is 5","status":"completed"}`

func set(t testing.TB, tools ...tool.Tool) *tool.Set {
	t.Helper()
	s, err := tool.NewSet(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// journey is a run of an agent on a store that is forgotten afterwards.
type journey struct {
	store  *memory.Store
	done   agent.Done
	status run.Status
	events []event.Event
}

// travel has an agent work on a task, answering each of its questions.
func travel(t testing.TB, a *agent.Agent, task agent.Task, answers ...string) *journey {
	t.Helper()
	j := &journey{store: memory.New(memory.Options{})}
	x := run.NewExecutor(run.ExecutorConfig{Journal: j.store, Owner: "test", Program: func(run.Record) (run.Func, run.Limits, error) {
		return func(ctx context.Context, s *run.Scope) (err error) {
			j.done, err = a.Run(ctx, s, task)
			return err
		}, run.Limits{}, nil
	}})
	defer x.Close()
	ctx := t.Context()
	if err := j.store.Create(ctx, run.Record{ID: "r1", Session: "r1", Mode: "agent", Created: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, nil, nil); err != nil {
		t.Fatal(err)
	}
	for {
		var err error
		if j.status, err = x.Execute(ctx, "r1"); err != nil {
			t.Fatal(err)
		}
		if j.status != run.Waiting || len(answers) == 0 {
			break
		}
		if err := j.store.Answer(ctx, "r1", "", answers[0]); err != nil {
			t.Fatal(err)
		}
		answers = answers[1:]
	}
	placed, err := j.store.Events(ctx, "r1", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range placed {
		j.events = append(j.events, e.Event)
	}
	if j.status.Ended() {
		j.replay(t, a, task, placed)
	}
	return j
}

// replay has the agent work on the task once more from the journal alone: it
// has to come to the same end by the same events.
func (j *journey) replay(t testing.TB, a *agent.Agent, task agent.Task, log []run.PlacedEvent) {
	t.Helper()
	history, err := j.store.History(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	var again agent.Done
	if _, err := run.Replay(t.Context(), history, log, func(ctx context.Context, s *run.Scope) (err error) {
		again, err = a.Run(ctx, s, task)
		return err
	}, run.Limits{}); err != nil {
		t.Errorf("the replay: %v", err)
		return
	}
	first, _ := json.Marshal(j.done)
	second, _ := json.Marshal(again)
	if string(first) != string(second) {
		t.Errorf("the replay came to\n%s instead of\n%s", second, first)
	}
}

func newAgent(t testing.TB, d agent.DeciderName, m *model, tools ...tool.Tool) *agent.Agent {
	t.Helper()
	a := &agent.Agent{Definition: agent.Definition{Name: "tester", Decider: d}, Tools: set(t, tools...), Role: llm.ForResearcher}
	if m != nil {
		a.Models = m.models()
	}
	return a
}

var task = agent.Task{Text: "What is 2 + 3?", Lang: lang.English}

const reasoning = `{"reasoning_steps":["add","answer"],"current_situation":"two numbers","plan_status":"begun","enough_data":false,"remaining_steps":["answer"],"task_completed":false}`

// Each decider goes from a question over a tool to the answer.
func TestDecidersReachTheAnswer(t *testing.T) {
	nextStep := func(function string) llm.Message {
		return text(strings.TrimSuffix(reasoning, "}") + `,"function":` + function + `}`)
	}
	chosen := func(name string) llm.Message {
		return text(strings.TrimSuffix(reasoning, "}") + `,"function_name_choice":"` + name + `"}`)
	}
	for _, test := range []struct {
		decider agent.DeciderName
		model   *model
		calls   int
	}{
		{agent.Native, says(call("add", `{"a":2,"b":3}`), call("finalanswertool", finalCall)), 2},
		{agent.Hybrid, says(call("reasoningtool", reasoning), call("add", `{"a":2,"b":3}`), call("reasoningtool", reasoning), call("finalanswertool", finalCall)), 4},
		{agent.SGR, says(nextStep(`{"tool_name_discriminator":"add","a":2,"b":3}`), nextStep(strings.Replace(finalCall, "{", `{"tool_name_discriminator":"finalanswertool",`, 1))), 2},
		{agent.Iron, says(chosen("add"), text("```json\n{'a': 2, 'b': 3,}\n```"), chosen("finalanswertool"), text(finalCall)), 4},
		{agent.ReAct, says(text("Thought: add them\nAction: add {\"a\": 2, \"b\": 3}\nObservation: 6"), text("Thought: enough\nFinalAnswer: the sum is 5")), 2},
	} {
		t.Run(string(test.decider), func(t *testing.T) {
			j := travel(t, newAgent(t, test.decider, test.model, add, final), task)
			if j.status != run.Done || j.done.Answer.Text != "the sum is 5" || j.done.Answer.Status != tool.Completed {
				t.Fatalf("%s: %+v", j.status, j.done)
			}
			if n := len(test.model.asked); n != test.calls {
				t.Errorf("%d calls of the model, want %d", n, test.calls)
			}
			if j.done.State.Calls["add"] != 1 {
				t.Errorf("calls: %v", j.done.State.Calls)
			}
			last := test.model.asked[len(test.model.asked)-1]
			if err := llmtest.CheckConversation(last.Messages); err != nil {
				t.Errorf("the conversation: %v", err)
			}
			if !strings.Contains(fmt.Sprint(last.Messages), `"sum":5`) {
				t.Errorf("the result is not in the conversation: %+v", last.Messages)
			}
		})
	}
}

func TestRulesDecideWithoutAModel(t *testing.T) {
	search := tool.New(tool.Spec{Name: "websearchtool", Kind: tool.Searching}, func(_ context.Context, _ *tool.Call, in struct {
		Reasoning string `json:"reasoning"`
		Query     string `json:"query"`
		Max       int    `json:"max_results" default:"5" min:"1" max:"20"`
	}) (tool.Result, error) {
		return tool.Result{Text: "found", Change: tool.Change{Searches: 1, Sources: []tool.Source{{URL: "http://a/", Title: in.Query}}}}, nil
	})
	read := tool.New(tool.Spec{Name: "extractpagecontenttool", Kind: tool.Reading}, func(_ context.Context, _ *tool.Call, in struct {
		Reasoning string   `json:"reasoning"`
		URLs      []string `json:"urls" min:"1" max:"5"`
	}) (tool.Result, error) {
		return tool.Result{Text: "read", Change: tool.Change{Sources: []tool.Source{{URL: in.URLs[0], Text: "sha256-x", Letters: 9}}}}, nil
	})
	for _, decider := range agent.Deciders {
		a := newAgent(t, decider, nil, search, read, final)
		a.Compose = func(_ context.Context, s *tool.State) (string, error) {
			return "as " + s.Sources[0].Text + " says", nil
		}
		j := travel(t, a, task)
		if !j.done.Extractive || j.done.Answer.Text != "as sha256-x says" || j.done.State.Searches != 1 {
			t.Errorf("%s: %s %+v", decider, j.status, j.done)
		}
	}
}

// Whatever a model does, there is an answer.
func TestMisbehavingModels(t *testing.T) {
	for name, test := range map[string]struct {
		model *model
		want  string // in the answer, or in a result that the model saw
	}{
		"an unknown tool":        {says(call("subtract", `{}`), call("finalanswertool", finalCall)), "there is no tool \\\"subtract\\\""},
		"wrong types":            {says(call("add", `{"a":"two","b":[]}`), call("finalanswertool", finalCall)), "don't fit"},
		"missing arguments":      {says(call("add", ``), call("finalanswertool", finalCall)), "don't fit"},
		"two tools":              {says(llm.Message{ToolCalls: []llm.ToolCall{{ID: "x", Name: "add", Arguments: `{"a":1,"b":1}`}, {ID: "x", Name: "add", Arguments: `{"a":2,"b":2}`}}}, call("finalanswertool", finalCall)), `"sum\":4`},
		"none, in text":          {says(text("the sum is 5")), "the sum is 5"},
		"none, and nothing":      {says(text("")), "could not find"},
		"a call in text":         {says(text("I will call it: {\"name\": \"add\", \"arguments\": {\"a\": 2, \"b\": 3}}"), call("finalanswertool", finalCall)), `"sum\":5`},
		"the same call for ever": {says(call("add", `{"a":1,"b":1}`)), "same arguments"},
		"an empty answer":        {says(call("finalanswertool", `{"reasoning":"","completed_steps":["x"],"answer":" ","status":"completed"}`), call("finalanswertool", finalCall)), "answer is empty"},
		"no iteration is enough": {&model{reply: func(n int, _ *llm.Request) (llm.Message, error) {
			return call("add", fmt.Sprintf(`{"a":%d,"b":1}`, n)), nil
		}}, "not available"},
		"questions for ever": {&model{reply: func(n int, _ *llm.Request) (llm.Message, error) {
			return call("clarificationtool", fmt.Sprintf(`{"questions":["q%d?"]}`, n)), nil
		}}, "no more than 3 questions"},
		"no provider": {&model{reply: func(int, *llm.Request) (llm.Message, error) {
			return llm.Message{}, &llm.Error{Kind: llm.ErrUnreachable, Message: "refused"}
		}}, `refused","then":"rules"`},
		"tools are not supported": {&model{reply: func(n int, req *llm.Request) (llm.Message, error) {
			if len(req.Tools) > 0 {
				return llm.Message{}, &llm.Error{Kind: llm.ErrBadRequest, Unsupported: "tools", Message: "no tools"}
			}
			return text(`{"function_name_choice":"finalanswertool","reasoning":"r","completed_steps":["a"],"answer":"the sum is 5","status":"completed"}`), nil
		}}, `"then":"without_tools"`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, decider := range []agent.DeciderName{agent.Native, agent.Hybrid} {
				test.model.asked = nil
				j := travel(t, newAgent(t, decider, test.model, add, clarify, final), task, "a1", "a2", "a3", "a4", "a5")
				if j.status != run.Done || j.done.Answer.Text == "" {
					t.Fatalf("%s: %s %+v", decider, j.status, j.done)
				}
				seen, _ := json.Marshal(j.events)
				if !strings.Contains(string(seen), test.want) && !strings.Contains(j.done.Answer.Text, test.want) {
					t.Errorf("%s: no %q in %s", decider, test.want, seen)
				}
				if decider == agent.Native && j.done.State.Iteration > 13 {
					t.Errorf("%d iterations", j.done.State.Iteration)
				}
			}
		})
	}
}

// A tool that misbehaves is a result.
func TestMisbehavingTools(t *testing.T) {
	for name, test := range map[string]struct {
		do      func(ctx context.Context) (tool.Result, error)
		want    string
		timeout time.Duration
	}{
		"panics":    {func(context.Context) (tool.Result, error) { panic("boom") }, "broke down (boom)", 0},
		"hangs":     {func(ctx context.Context) (tool.Result, error) { <-ctx.Done(); return tool.Result{}, ctx.Err() }, "no answer in", time.Millisecond},
		"ignores":   {func(context.Context) (tool.Result, error) { select {} }, "no answer in", time.Millisecond},
		"fails":     {func(context.Context) (tool.Result, error) { return tool.Result{}, errors.New("no luck today") }, "no luck today", 0},
		"50 MB":     {func(context.Context) (tool.Result, error) { return tool.Result{Text: strings.Repeat("x", 50<<20)}, nil }, "[cut: ", 0},
		"not UTF-8": {func(context.Context) (tool.Result, error) { return tool.Result{Text: "a\xff\xfeb"}, nil }, "a\uFFFDb", 0},
		"broken data": {func(context.Context) (tool.Result, error) {
			return tool.Result{Text: "fine", Data: json.RawMessage("{")}, nil
		}, "fine", 0},
	} {
		t.Run(name, func(t *testing.T) {
			odd := tool.New(tool.Spec{Name: "odd", Timeout: test.timeout}, func(ctx context.Context, _ *tool.Call, _ struct{}) (tool.Result, error) { return test.do(ctx) })
			m := says(call("odd", `{}`), call("finalanswertool", finalCall))
			j := travel(t, newAgent(t, agent.Native, m, odd, final), task)
			if j.status != run.Done || j.done.Answer.Text != "the sum is 5" {
				t.Fatalf("%s %+v", j.status, j.done)
			}
			messages := m.asked[1].Messages
			if got := messages[len(messages)-1].Content; !strings.Contains(got, test.want) || len(got) > 1<<20 {
				t.Errorf("the model reads %.200q", got)
			}
		})
	}
}

func TestClarification(t *testing.T) {
	m := says(call("clarificationtool", `{"questions":["Which numbers?"]}`), call("finalanswertool", finalCall))
	j := travel(t, newAgent(t, agent.Native, m, clarify, final), task, "two and three")
	if j.status != run.Done || j.done.State.Clarifications != 1 {
		t.Fatalf("%s %+v", j.status, j.done)
	}
	messages := m.asked[1].Messages
	if got := messages[len(messages)-1]; got.Role != llm.RoleUser || !strings.Contains(got.Content, "two and three") {
		t.Errorf("the model reads %+v", got)
	}
	skipped := says(call("clarificationtool", `{"questions":["Which numbers?"]}`), call("finalanswertool", finalCall))
	travel(t, newAgent(t, agent.Native, skipped, clarify, final), task, "直接开始研究")
	messages = skipped.asked[1].Messages
	if got := messages[len(messages)-1].Content; !strings.Contains(got, "best assumptions") {
		t.Errorf("after a skip the model reads %q", got)
	}
}

func TestAgentsCallAgents(t *testing.T) {
	inner := newAgent(t, agent.Native, says(call("add", `{"a":2,"b":3}`), call("finalanswertool", `{"reasoning":"r","completed_steps":["s"],"answer":"5 [1]","status":"completed"}`)), add, final)
	inner.Definition.Name = "adder"
	outer := newAgent(t, agent.Native, says(call("agent_adder", `{"task":"add 2 and 3"}`), call("finalanswertool", finalCall)), final,
		agent.AsTool(inner.Definition, func(context.Context, *run.Scope) (*agent.Agent, error) { return inner, nil }))
	j := travel(t, outer, task)
	if j.status != run.Done || j.done.Answer.Text != "the sum is 5" {
		t.Fatalf("%s %+v", j.status, j.done)
	}
	var paths []string
	for _, e := range j.events {
		if e.Kind() == event.KindAgentStarted {
			paths = append(paths, e.Agent)
		}
	}
	if len(paths) != 2 || paths[1] == "" {
		t.Errorf("agents started at %q", paths)
	}
	// Two that call each other.
	var a, b *agent.Agent
	lend := func(get func() *agent.Agent, name string) tool.Tool {
		return agent.AsTool(agent.Definition{Name: name}, func(context.Context, *run.Scope) (*agent.Agent, error) { return get(), nil })
	}
	a = newAgent(t, agent.Native, says(call("agent_b", `{"task":"you do it"}`), call("finalanswertool", finalCall)), final, lend(func() *agent.Agent { return b }, "b"))
	b = newAgent(t, agent.Native, says(call("agent_a", `{"task":"no, you"}`), call("finalanswertool", finalCall)), final, lend(func() *agent.Agent { return a }, "a"))
	a.Definition.Name, b.Definition.Name = "a", "b"
	j = travel(t, a, task)
	seen, _ := json.Marshal(j.events)
	if j.status != run.Done || !strings.Contains(string(seen), "go round in circles") {
		t.Errorf("%s: %s", j.status, seen)
	}
}

// A conversation that outgrows the model's window is shortened, and each call
// stays with its result.
func TestLongConversationsFitTheWindow(t *testing.T) {
	long := tool.New(tool.Spec{Name: "long"}, func(_ context.Context, _ *tool.Call, in addArgs) (tool.Result, error) {
		return tool.Result{Text: strings.Repeat(fmt.Sprintf("result %d. ", in.A), 200)}, nil
	})
	m := &model{reply: func(n int, _ *llm.Request) (llm.Message, error) {
		if n > 20 {
			return call("finalanswertool", finalCall), nil
		}
		return call("long", fmt.Sprintf(`{"a":%d,"b":1}`, n)), nil
	}}
	a := newAgent(t, agent.Native, m, long, final)
	a.Definition.Limits.Iterations = 30
	const window = 4096
	windows := &llm.Windows{Override: map[string]int{"scripted": window}}
	a.Models.Roles[llm.ForDefault] = llm.Setting{Model: windows.Wrap(m, "scripted", llm.FitOptions{}), Name: "scripted", Endpoint: "test"}
	j := travel(t, a, task)
	if j.status != run.Done || j.done.Answer.Text != "the sum is 5" {
		t.Fatalf("%s %+v", j.status, j.done)
	}
	for i, req := range m.asked {
		if err := llmtest.CheckConversation(req.Messages); err != nil {
			t.Errorf("call %d: %v", i+1, err)
		}
		if n := llm.CountRequest(req); n > window {
			t.Errorf("call %d has %d tokens", i+1, n)
		}
		if !strings.Contains(fmt.Sprint(req.Messages), "What is 2 + 3?") {
			t.Errorf("call %d has lost the task", i+1)
		}
	}
}

// What the user says unasked reaches the model, and a replaced phase is asked
// instead of the loop's own.
func TestPhasesCanBeReplaced(t *testing.T) {
	m := says(call("add", `{"a":2,"b":3}`), call("finalanswertool", finalCall))
	a := newAgent(t, agent.Native, m, add, final)
	reflected := 0
	a.Phases = agent.Phases{
		PrepareContext: func(ctx context.Context, w *agent.Work) ([]llm.Message, error) {
			messages, err := w.PrepareContext(ctx)
			return append(messages, llm.Message{Role: llm.RoleUser, Content: "mind the time"}), err
		},
		PrepareTools: func(ctx context.Context, w *agent.Work) ([]tool.Tool, error) {
			tools, err := w.PrepareTools(ctx)
			if w.State.Iteration > 1 {
				tools = tools[1:]
			}
			return tools, err
		},
		Reflect: func(_ context.Context, w *agent.Work) error {
			reflected++
			w.Tell("was that right?")
			return nil
		},
	}
	j := travel(t, a, task)
	if j.status != run.Done || reflected != 2 { // once, and once in the replay
		t.Fatalf("%s, reflected %d times", j.status, reflected)
	}
	last := m.asked[1]
	said := fmt.Sprint(last.Messages)
	if len(last.Tools) != 1 || !strings.Contains(said, "mind the time") || !strings.Contains(said, "was that right?") {
		t.Errorf("%d tools, %s", len(last.Tools), said)
	}
}

// A call that only looks is broken off when the run is told to finish; the
// answer is made of what there is.
func TestFinishEndsACallThatLooks(t *testing.T) {
	store := memory.New(memory.Options{})
	var x *run.Executor
	stuck := tool.New(tool.Spec{Name: "stuck", Kind: tool.Searching, Timeout: time.Hour}, func(ctx context.Context, _ *tool.Call, _ struct{}) (tool.Result, error) {
		if err := store.Signal(t.Context(), "r1", run.Signal{Kind: run.SignalFinish}); err != nil {
			return tool.Result{}, err
		}
		if _, err := x.Notify(t.Context(), "r1"); err != nil {
			return tool.Result{}, err
		}
		<-ctx.Done()
		return tool.Result{}, context.Cause(ctx)
	})
	a := newAgent(t, agent.Native, says(call("stuck", `{}`)), stuck, final)
	var done agent.Done
	x = run.NewExecutor(run.ExecutorConfig{Journal: store, Owner: "test", Program: func(run.Record) (run.Func, run.Limits, error) {
		return func(ctx context.Context, s *run.Scope) (err error) {
			done, err = a.Run(ctx, s, agent.Task{Text: "Кто там?", Lang: lang.Russian})
			return err
		}, run.Limits{}, nil
	}})
	defer x.Close()
	if err := store.Create(t.Context(), run.Record{ID: "r1", Session: "r1", Mode: "agent", Created: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, nil, nil); err != nil {
		t.Fatal(err)
	}
	status, err := x.Execute(t.Context(), "r1")
	if err != nil || status != run.Done || done.Answer.Status != tool.Failed || !strings.Contains(done.Answer.Text, "(запуск велено закончить с тем, что есть)") {
		t.Errorf("%s %v %+v", status, err, done.Answer)
	}
}
