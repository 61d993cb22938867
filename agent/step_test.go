package agent_test

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"dossier/agent"
	"dossier/event"
	"dossier/llm"
	"dossier/run"
	"dossier/tool"
)

// The whole step can be replaced: by one that is put together from the loop's own
// parts, and by one that looks on. The loop counts and keeps its limits.
func TestStepCanBeReplaced(t *testing.T) {
	m := says(call("add", `{"a":2,"b":3}`), call("add", `{"a":20,"b":30}`))
	a := newAgent(t, agent.Native, m, add, final)
	a.Phases.Step = func(ctx context.Context, w *agent.Work) error {
		if w.State.Iteration == 2 { // it asks no model
			w.Finish(tool.Answer{Text: "it is " + string(w.State.Custom["unit"]), Status: tool.Completed})
			return nil
		}
		messages, err := w.PrepareContext(ctx)
		if err != nil {
			return err
		}
		in := agent.Input{Messages: messages, Tools: a.Tools.All()}
		thought, err := w.Reason(ctx, in)
		if err != nil {
			return err
		}
		choice, err := w.Select(ctx, in, thought)
		if err != nil {
			return err
		}
		done, err := w.Act(ctx, in, choice.Calls[0], 1)
		if err != nil {
			return err
		}
		w.Record(thought, choice, []agent.Action{done})
		return nil
	}
	with := task
	with.Custom = map[string]json.RawMessage{"unit": json.RawMessage(`"apples"`)}
	j := travel(t, a, with)
	if j.status != run.Done || j.done.Answer.Text != `it is "apples"` || j.done.State.Iteration != 2 || j.done.State.Calls["add"] != 1 || len(m.asked) != 1 {
		t.Errorf("%s %+v after %d calls of the model", j.status, j.done, len(m.asked))
	}

	steps := 0
	a = newAgent(t, agent.Native, says(call("add", `{"a":2,"b":3}`), call("finalanswertool", finalCall)), add, final)
	a.Phases.Step = func(ctx context.Context, w *agent.Work) error { steps++; return w.Step(ctx) }
	if j := travel(t, a, task); j.status != run.Done || j.done.Answer.Text != "the sum is 5" || steps != 4 { // the replay's too
		t.Errorf("%s %+v, %d steps", j.status, j.done, steps)
	}

	// One that never ends is ended, and one whose model is gone goes on by rules.
	a = newAgent(t, agent.Native, says(), add, final)
	a.Phases.Step = func(context.Context, *agent.Work) error { return nil }
	if j := travel(t, a, task); j.status != run.Done || j.done.Answer.Status != tool.Failed {
		t.Errorf("%s %+v", j.status, j.done)
	}
	a = newAgent(t, agent.Native, says(), add, final)
	a.Models = new(llm.Models)
	a.Phases.Step = func(ctx context.Context, w *agent.Work) error {
		in := agent.Input{Tools: a.Tools.All()}
		_, err := w.Select(ctx, in, agent.Thought{})
		return err
	}
	if j := travel(t, a, task); j.status != run.Done || !j.done.ByRules {
		t.Errorf("%s %+v", j.status, j.done)
	}
}

// What is told of an agent has its id, the iteration, and the whole of what it
// thought.
func TestEventsOfAnAgent(t *testing.T) {
	think := func(situation string) llm.Message {
		return call(agent.ReasoningTool, `{"reasoning_steps":["a","b"],"current_situation":"`+situation+`","plan_status":"begun","enough_data":true,"remaining_steps":[],"task_completed":false}`)
	}
	m := says(think("first"), call("add", `{"a":2,"b":3}`), think("last"), call("finalanswertool", finalCall))
	j := travel(t, newAgent(t, agent.Hybrid, m, add, final), task)
	var thoughts []event.AgentReasoning
	var actions []event.AgentAction
	var started event.AgentStarted
	for _, ev := range j.events {
		switch d := ev.Data.(type) {
		case event.AgentStarted:
			started = d
		case event.AgentReasoning:
			thoughts = append(thoughts, d)
		case event.AgentAction:
			actions = append(actions, d)
		}
	}
	if !regexp.MustCompile(`^\w+_[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$`).MatchString(started.ID) || !strings.HasPrefix(started.ID, started.Name+"_") {
		t.Errorf("%+v", started)
	}
	if len(thoughts) != 2 || len(actions) != 4 {
		t.Fatalf("%+v %+v", thoughts, actions)
	}
	for i, d := range thoughts {
		want := event.AgentReasoning{
			Text: []string{"first", "last"}[i], Steps: []string{"a", "b"}, Iteration: i + 1,
			Reasoning: &event.Reasoning{Steps: []string{"a", "b"}, Situation: []string{"first", "last"}[i], PlanStatus: "begun", Enough: true, Remaining: []string{}},
		}
		if !reflect.DeepEqual(d, want) {
			t.Errorf("%+v %+v", d, d.Reasoning)
		}
	}
	for i, d := range actions {
		if d.Iteration != 1+i/2 {
			t.Errorf("%+v", d)
		}
	}
	with := task
	with.ID = "known_as"
	j = travel(t, newAgent(t, agent.Native, says(call("finalanswertool", finalCall)), add, final), with)
	for _, ev := range j.events {
		if d, ok := ev.Data.(event.AgentStarted); ok && d.ID != "known_as" {
			t.Errorf("%+v", d)
		}
	}
}

// An id is found in a text whatever the agent is called.
func TestIDs(t *testing.T) {
	for name, want := range map[string]string{"sgr_agent": "sgr_agent_", "мой агент": "мой_агент_", "a-b@3": "a_b_3_"} {
		id := agent.ID(name, "r1")
		if !strings.HasPrefix(id, want) || id == agent.ID(name, "r2") || id != agent.ID(name, "r1") {
			t.Errorf("%s: %s", name, id)
		}
	}
}

// What comes along with a task reaches the tools of agents that are called, too:
// what the tools of the caller made of it does not.
func TestCalledAgentsGetWhatCameAlong(t *testing.T) {
	given := make(map[string]string)
	look := func(name string) tool.Tool {
		return tool.New(tool.Spec{Name: name}, func(_ context.Context, c *tool.Call, _ struct{}) (tool.Result, error) {
			given[name] = string(c.State.Custom["tenant"])
			return tool.Result{Text: "seen", Change: tool.Change{Custom: map[string]json.RawMessage{"tenant": json.RawMessage(`"changed"`)}}}, nil
		})
	}
	inner := newAgent(t, agent.Native, says(call("look_inside", `{}`), call("finalanswertool", finalCall)), look("look_inside"), final)
	inner.Definition.Name = "inner"
	outer := newAgent(t, agent.Native, says(call("look", `{}`), call("agent_inner", `{"task":"look"}`), call("finalanswertool", finalCall)), look("look"), final,
		agent.AsTool(inner.Definition, func(context.Context, *run.Scope) (*agent.Agent, error) { return inner, nil }))
	with := task
	with.Custom = map[string]json.RawMessage{"tenant": json.RawMessage(`"Quill"`)}
	j := travel(t, outer, with)
	if want := map[string]string{"look": `"Quill"`, "look_inside": `"Quill"`}; j.status != run.Done || !maps.Equal(given, want) {
		t.Errorf("%s: %v", j.status, given)
	}
	if got := string(j.done.State.Custom["tenant"]); got != `"changed"` || string(with.Custom["tenant"]) != `"Quill"` {
		t.Errorf("%s in the end, %s at first", got, with.Custom["tenant"])
	}
}

// Where no tool ends the work, the answer is what the model says without a call:
// what it said with one is void.
func TestSpokenAnswersAreShown(t *testing.T) {
	first := call("add", `{"a":2,"b":3}`)
	first.Content = "Let me see. I shall add."
	a := newAgent(t, agent.Native, says(first, text("It is 5. That is all.")), add)
	j := travel(t, a, task)
	if shown := j.done.Shown; j.status != run.Done || j.done.Answer.Text != "It is 5. That is all." || shown != j.done.Answer.Text {
		t.Errorf("%s %+v, shown %q", j.status, j.done.Answer, shown)
	}
}
