package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"dossier/agent"
	"dossier/internal/store/memory"
	"dossier/llm"
	"dossier/llm/llmtest"
	"dossier/run"
	"dossier/tool"
)

type queryArgs struct {
	Query string `json:"query"`
}

var search = tool.New(tool.Spec{Name: "websearchtool", Kind: tool.Searching}, func(_ context.Context, _ *tool.Call, in queryArgs) (tool.Result, error) {
	return tool.Result{Text: "found " + in.Query, Change: tool.Change{Searches: 1}}, nil
})

// many is a reply with n calls of a tool.
func many(n int, name, args string) llm.Message {
	var m llm.Message
	for i := range n {
		m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: "same", Name: name, Arguments: fmt.Sprintf(args, i)})
	}
	return m
}

// The limits hold for the calls of one reply, too.
func TestLimitsHoldWithinAReply(t *testing.T) {
	m := says(many(30, "websearchtool", `{"query":"q%d"}`), many(9, "clarificationtool", `{"questions":["q%d?"]}`), call("finalanswertool", finalCall))
	j := travel(t, newAgent(t, agent.Native, m, search, clarify, final), task, "1", "2", "3", "4", "5")
	if j.status != run.Done || j.done.State.Searches != 4 || j.done.State.Clarifications != 3 {
		t.Fatalf("%s: %d searches, %d questions", j.status, j.done.State.Searches, j.done.State.Clarifications)
	}
	last := m.asked[len(m.asked)-1].Messages
	if err := llmtest.CheckConversation(last); err != nil {
		t.Error(err)
	}
	ids := map[string]bool{}
	for _, m := range last {
		for _, c := range m.ToolCalls {
			if ids[c.ID] {
				t.Errorf("two calls are %s", c.ID)
			}
			ids[c.ID] = true
		}
	}
	if len(ids) != 39 {
		t.Errorf("%d calls", len(ids))
	}
}

var properName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Whatever a model calls and with whatever, what is sent back to the provider
// is what providers take.
func TestConversationsStayProper(t *testing.T) {
	for name, odd := range map[string]llm.Message{
		"a name of a sentence":  call("please add, {2} and 3", `{}`),
		"a name without end":    call(strings.Repeat("я", 5000), `{}`),
		"no name":               call("", `{}`),
		"a prefix":              call("functions.add", `{"a":2,"b":3}`),
		"arguments in words":    call("add", `two and three`),
		"a list":                call("add", `[2,3]`),
		"broken JSON":           call("add", `{"a":2,"b`),
		"no arguments":          call("add", ``),
		"over a megabyte":       call("add", `{"a":2,"b":3,"c":"`+strings.Repeat("x", 1<<20)+`"}`),
		"an odd id":             {ToolCalls: []llm.ToolCall{{ID: "an id\n", Name: "add", Arguments: `{"a":2,"b":3}`}}},
		"the id of a thought":   {ToolCalls: []llm.ToolCall{{ID: "2-reasoning", Name: "add", Arguments: `{"a":2,"b":3}`}}},
		"the id of the next":    {ToolCalls: []llm.ToolCall{{ID: "2-action", Name: "add", Arguments: `{"a":2,"b":3}`}}},
		"a text beside a call":  {Content: "I add them.", ToolCalls: []llm.ToolCall{{Name: "add", Arguments: `{"a":2,"b":3}`}}},
		"a call of many senses": {Content: finalCall, ToolCalls: []llm.ToolCall{{Name: "add", Arguments: `{"a":2,"b":3}`}}},
	} {
		for _, decider := range []agent.DeciderName{agent.Native, agent.Hybrid, agent.SGR, agent.Iron, agent.ReAct} {
			t.Run(string(decider)+"/"+name, func(t *testing.T) {
				m := &model{reply: func(n int, req *llm.Request) (llm.Message, error) {
					if strings.Count(fmt.Sprint(req.Messages), "Error: ")+n > 4 {
						return call("finalanswertool", finalCall), nil
					}
					return odd, nil
				}}
				j := travel(t, newAgent(t, decider, m, add, final), task)
				if j.status != run.Done || j.done.Answer.Text == "" {
					t.Fatalf("%s %+v", j.status, j.done)
				}
				for _, req := range m.asked {
					if err := llmtest.CheckConversation(req.Messages); err != nil {
						t.Error(err)
					}
					if n := len(fmt.Sprint(req.Messages)); n > 1<<20 {
						t.Errorf("the conversation has %d bytes", n)
					}
					for _, m := range req.Messages {
						for _, c := range m.ToolCalls {
							var o map[string]any
							if !properName.MatchString(c.Name) || json.Unmarshal([]byte(c.Arguments), &o) != nil {
								t.Errorf("%.80q is called with %.80q", c.Name, c.Arguments)
							}
						}
					}
				}
			})
		}
	}
}

// A reply that was broken off is not taken for the whole.
func TestBrokenOffCalls(t *testing.T) {
	half := `{"reasoning":"r","completed_steps":["s"],"status":"completed","answer":"the sum is fi`
	short := &model{reply: func(n int, _ *llm.Request) (llm.Message, error) { return call("finalanswertool", half), nil }}
	a := newAgent(t, agent.Native, short, add, final)
	a.Models.Roles[llm.ForDefault] = llm.Setting{Model: cutting{short}, Name: "scripted", Endpoint: "test"}
	j := travel(t, a, task)
	// What it wrote is still the best answer there is.
	if j.done.Answer.Text != "the sum is fi" || j.done.Why == "" || j.done.Extractive || len(short.asked) < 3 {
		t.Errorf("%+v after %d calls", j.done, len(short.asked))
	}
	if said := fmt.Sprint(short.asked[1].Messages); !strings.Contains(said, "broken off because it was too long") {
		t.Error(said)
	}
}

// cutting is a model whose replies reach their greatest length.
type cutting struct{ *model }

func (c cutting) Stream(ctx context.Context, req *llm.Request, sink func(llm.Chunk)) (*llm.Response, error) {
	resp, err := c.model.Stream(ctx, req, sink)
	if err == nil {
		resp.Finish = llm.FinishLength
	}
	return resp, err
}

// An agent without anything to call says its answer.
func TestNothingToCall(t *testing.T) {
	thinking := tool.New(tool.Spec{Name: agent.ReasoningTool, Kind: tool.Reasoning}, func(context.Context, *tool.Call, agent.Reasoning) (tool.Result, error) {
		return tool.Result{}, nil
	})
	for _, tools := range [][]tool.Tool{nil, {thinking}} {
		for _, decider := range agent.Deciders {
			m := says(text("the sum is 5"))
			j := travel(t, newAgent(t, decider, m, tools...), task)
			if decider == agent.ByRules {
				if j.done.Answer.Status != tool.Failed {
					t.Errorf("%s: %+v", decider, j.done)
				}
				continue
			}
			if j.done.Answer.Text != "the sum is 5" || len(m.asked) != 1 || len(m.asked[0].Tools) != 0 || m.asked[0].Format != nil {
				t.Errorf("%s with %d tools: %+v after %d calls", decider, len(tools), j.done, len(m.asked))
			}
		}
	}
}

// What is left of a form is no answer, and a report is the model's own.
func TestConclusions(t *testing.T) {
	j := travel(t, newAgent(t, agent.SGR, says(text(`{"reasoning_steps":["a","b"]}`)), add, final), task)
	if j.done.Answer.Status != tool.Failed || strings.Contains(j.done.Answer.Text, "{") || j.done.Model != "" {
		t.Errorf("%+v", j.done)
	}
	report := tool.New(tool.Spec{Name: "createreporttool", Kind: tool.Reporting}, func(context.Context, *tool.Call, struct{}) (tool.Result, error) {
		return tool.Result{Text: "written", Change: tool.Change{Report: &tool.Report{Title: "t", Content: "the report"}}}, nil
	})
	j = travel(t, newAgent(t, agent.Native, says(call("createreporttool", `{}`)), report, final), task)
	if j.done.Answer.Text != "the report" || j.done.Extractive || j.done.Model == "" || j.done.Why == "" {
		t.Errorf("%+v", j.done)
	}
	if j.done.ByRules {
		t.Error("a model decided")
	}
}

// A tool that is left behind reads what it was given, whatever happens since.
func TestToolsThatAreLeftBehind(t *testing.T) {
	stop := make(chan struct{})
	stopped := make(chan struct{})
	slow := tool.New(tool.Spec{Name: "slow", Timeout: 1}, func(_ context.Context, c *tool.Call, _ struct{}) (tool.Result, error) {
		defer close(stopped)
		for n := 0; ; n += len(fmt.Sprint(c.State.Calls, c.State.Sources, c.State.Custom)) {
			select {
			case <-stop:
				return tool.Result{}, nil
			default:
			}
		}
	})
	mark := tool.New(tool.Spec{Name: "mark"}, func(_ context.Context, _ *tool.Call, in addArgs) (tool.Result, error) {
		n := fmt.Sprint(in.A)
		return tool.Result{Text: n, Change: tool.Change{
			Sources: []tool.Source{{URL: "http://a/", Title: n}}, Custom: map[string]json.RawMessage{n: json.RawMessage(n)},
		}}, nil
	})
	m := &model{reply: func(n int, _ *llm.Request) (llm.Message, error) {
		switch {
		case n == 1:
			return call("mark", `{"a":0,"b":0}`), nil
		case n == 2:
			return call("slow", `{}`), nil
		case n < 50:
			return call("mark", fmt.Sprintf(`{"a":%d,"b":0}`, n)), nil
		}
		return call("finalanswertool", finalCall), nil
	}}
	a := newAgent(t, agent.Native, m, slow, mark, final)
	a.Definition.Limits.Iterations = 60
	j := travel(t, a, task)
	close(stop)
	<-stopped
	if j.status != run.Done || j.done.State.Sources[0].Title != "49" {
		t.Errorf("%s %+v", j.status, j.done)
	}
}

// A thought that is longer than it should be is still one.
func TestThoughtsMayBeLong(t *testing.T) {
	long := strings.NewReplacer(`["add","answer"]`, `["one","two","three","four"]`, "two numbers", strings.Repeat("two numbers ", 40)).Replace(reasoning)
	sgr := says(text(strings.TrimSuffix(long, "}") + `,"function":` + strings.Replace(finalCall, "{", `{"tool_name_discriminator":"finalanswertool",`, 1) + `}`))
	hybrid := says(call("reasoningtool", long), call("finalanswertool", finalCall))
	for decider, m := range map[agent.DeciderName]*model{agent.SGR: sgr, agent.Hybrid: hybrid} {
		j := travel(t, newAgent(t, decider, m, add, final), task)
		seen, _ := json.Marshal(j.events)
		if j.done.Answer.Text != "the sum is 5" || j.done.State.Iteration != 1 || !strings.Contains(string(seen), `"steps":["one","two","three","four"]`) {
			t.Errorf("%s after %d calls: %+v\n%s", decider, len(m.asked), j.done, seen)
		}
	}
	if len(sgr.asked) != 1 {
		t.Errorf("%d calls", len(sgr.asked))
	}
}

// An agent that was told to finish, or may spend no more, answers with what
// there is, wherever it was, and so does one that it has called.
func TestFinishInEachPhase(t *testing.T) {
	noted := tool.New(tool.Spec{Name: "note"}, func(context.Context, *tool.Call, struct{}) (tool.Result, error) {
		return tool.Result{Text: "noted", Change: tool.Change{Notes: []tool.Note{{Text: "newts are old"}}}}, nil
	})
	var finish func() // tells the run to
	hang := tool.New(tool.Spec{Name: "hang"}, func(ctx context.Context, _ *tool.Call, _ struct{}) (tool.Result, error) {
		finish()
		<-ctx.Done()
		return tool.Result{}, context.Cause(ctx)
	})
	inner := func() *agent.Agent {
		a := newAgent(t, agent.Native, says(call("note", `{}`), call("hang", `{}`)), noted, hang, final)
		a.Definition.Name = "inner"
		return a
	}
	for name, test := range map[string]struct {
		limits run.Limits
		says   []llm.Message
	}{
		"tokens":           {limits: run.Limits{Tokens: 20}, says: []llm.Message{call("note", `{}`), call("add", `{"a":1,"b":2}`)}},
		"a tool":           {says: []llm.Message{call("note", `{}`), call("hang", `{}`)}},
		"an agent it asks": {says: []llm.Message{call("note", `{}`), call("agent_inner", `{"task":"do it"}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			in := inner()
			a := newAgent(t, agent.Native, says(test.says...), noted, hang, add, final,
				agent.AsTool(in.Definition, func(context.Context, *run.Scope) (*agent.Agent, error) { return in, nil }))
			var done agent.Done
			store := memory.New(memory.Options{})
			x := run.NewExecutor(run.ExecutorConfig{Journal: store, Owner: "test", Program: func(run.Record) (run.Func, run.Limits, error) {
				return func(ctx context.Context, s *run.Scope) (err error) {
					done, err = a.Run(ctx, s, task)
					return err
				}, test.limits, nil
			}})
			defer x.Close()
			finish = func() {
				if err := store.Signal(t.Context(), "r1", run.Signal{Kind: run.SignalFinish}); err != nil {
					t.Error(err)
				}
				if _, err := x.Notify(t.Context(), "r1"); err != nil {
					t.Error(err)
				}
			}
			if err := store.Create(t.Context(), run.Record{ID: "r1", Session: "r1", Mode: "agent"}, nil, nil); err != nil {
				t.Fatal(err)
			}
			status, err := x.Execute(t.Context(), "r1")
			if err != nil || status != run.Done || !strings.Contains(done.Answer.Text, "newts are old") || !done.Extractive || done.Why == "" || done.ByRules {
				t.Errorf("%s %+v %v", status, done, err)
			}
		})
	}
}

// What the user says while a called agent works is said to the agent that the
// user has asked.
func TestSteeringIsForTheOutermost(t *testing.T) {
	store := memory.New(memory.Options{})
	var x *run.Executor
	speak := tool.New(tool.Spec{Name: "speak"}, func(context.Context, *tool.Call, struct{}) (tool.Result, error) {
		err := store.Signal(t.Context(), "r1", run.Signal{Kind: run.SignalSteer, Text: "in Roman numerals"})
		if err == nil {
			_, err = x.Notify(t.Context(), "r1")
		}
		return tool.Result{Text: "heard"}, err
	})
	within := says(call("speak", `{}`), call("add", `{"a":2,"b":3}`), call("finalanswertool", finalCall))
	inner := newAgent(t, agent.Native, within, speak, add, final)
	inner.Definition.Name = "inner"
	outside := says(call("agent_inner", `{"task":"do it"}`), call("finalanswertool", finalCall))
	outer := newAgent(t, agent.Native, outside, final, agent.AsTool(inner.Definition, func(context.Context, *run.Scope) (*agent.Agent, error) { return inner, nil }))
	x = run.NewExecutor(run.ExecutorConfig{Journal: store, Owner: "test", Program: func(run.Record) (run.Func, run.Limits, error) {
		return func(ctx context.Context, s *run.Scope) error {
			_, err := outer.Run(ctx, s, task)
			return err
		}, run.Limits{}, nil
	}})
	defer x.Close()
	if err := store.Create(t.Context(), run.Record{ID: "r1", Session: "r1", Mode: "agent"}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if status, err := x.Execute(t.Context(), "r1"); err != nil || status != run.Done {
		t.Fatal(status, err)
	}
	if said := fmt.Sprint(within.asked[2].Messages); strings.Contains(said, "Roman") {
		t.Error("the called agent was told")
	}
	if said := fmt.Sprint(outside.asked[1].Messages); !strings.Contains(said, "Roman") {
		t.Error("the agent was not told")
	}
}
