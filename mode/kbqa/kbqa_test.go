package kbqa

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"dossier/agent"
	"dossier/cite"
	"dossier/llm"
)

func TestSteps(t *testing.T) {
	for _, c := range []struct{ wanted, standard, most, want int }{
		{0, 8, 15, 8}, {3, 8, 15, 3}, {99, 8, 15, 15}, {-1, 8, 15, 8}, {0, 20, 15, 15}, {15, 8, 15, 15},
	} {
		if got := Steps(c.wanted, c.standard, c.most); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestShouldRefine(t *testing.T) {
	for _, c := range []struct {
		state AgentState
		want  bool
	}{
		{AgentState{Coverage: 0.8, MaxRefinements: 1}, false},
		{AgentState{Coverage: 0.79, MaxRefinements: 1}, true},
		{AgentState{Coverage: 0.5, RefinementCount: 1, MaxRefinements: 1}, false},
		{AgentState{Coverage: 0, MaxRefinements: 0}, false},
		{AgentState{Coverage: 0.5, RefinementCount: 1, MaxRefinements: 2}, true},
	} {
		if got := c.state.shouldRefine(0.8); got != c.want {
			t.Errorf("%+v: %v", c.state, got)
		}
	}
	raw, err := json.Marshal(AgentState{MaxRefinements: 1})
	if err != nil || string(raw) != `{"coverage":0,"refinement_count":0,"max_refinements":1}` {
		t.Errorf("%s %v", raw, err)
	}
}

// What two parts of a question want is searched for once, for both.
func TestEachQueryIsAskedOnce(t *testing.T) {
	var a asking
	a.add(0, "Who built it?", "built pier", "built pier")
	a.add(1, "When was it built?", "Built pier")
	if got := fmt.Sprint(a); got != "[{Who built it? [0]} {built pier [0 1]} {When was it built? [1]}]" {
		t.Error(got)
	}
}

// The budget of a reply holds for agents with a prompt of their own too, which are told
// the form beside it.
func TestTokenBudget(t *testing.T) {
	for own, want := range map[string]agent.Decider{"": agent.ReActWithin(123, true), "You know the pier.": agent.ReActWithin(123, false)} {
		c := &course{
			set:  Settings{Agent: agent.Definition{Name: "a", Decider: agent.KB, Prompts: agent.Prompts{System: own}}, KB: Tuning{TokenBudget: 123}},
			mode: New(Parts{Models: func(context.Context, *Settings) *llm.Models { return &llm.Models{} }}),
		}
		a, err := c.agent(t.Context(), nil)
		if err != nil || a.Decider != want || (own != "") != (a.Definition.Prompts.System == own) {
			t.Errorf("%q: %+v %v", own, a, err)
		}
	}
}

// Observations are for reading: no JSON, whatever the tool.
func TestObservations(t *testing.T) {
	for _, c := range []struct{ tool, data, want string }{
		{"router_select", `{"route":"bm25","reason":"the query quotes words"}`, "Route: bm25 (the query quotes words)"},
		{"query_plan", `{"facets":[{"question":"Who?","queries":["who","a"]}]}`, "Parts of the question: 1\n1. Who?\n   queries: who | a"},
		{"search", `{"route":"hybrid","hits":[{"id":"1.2","title":"T","headings":["H"],"page":3,"score":1.5,"text":"a\n\nb"}]}`, "Found 1 passages by hybrid\n1.2 T / H, p. 3 (1.50): a b"},
		{"fetch_docs", `{"documents":[{"id":"1","title":"T","text":"whole\ntext"}],"missing":["9"]}`, "Passages: 1\n1 T: whole\ntext\nNot found: 9"},
		{"verify", `{"confidence":0.5,"claims":[{"claim":"C.","verdict":"supported","confidence":0.5,"evidence":{"title":"T","text":"E"}}]}`, "Confidence: 0.50\n1. supported (0.50): C.\n   T: E"},
		{"compose_context", `{"context":"x"}`, ""},
		{"search", `broken`, ""},
	} {
		if got := observation(c.tool, json.RawMessage(c.data)); got != c.want {
			t.Errorf("%s: %q", c.tool, got)
		}
	}
}

func TestConfidence(t *testing.T) {
	claims := []cite.Checked{{Verified: true, Score: 0.8}, {Verified: false, Score: 0.9}}
	if got := mean(claims); got != 0.4 {
		t.Error(got)
	}
	if got := mean(nil); got != 0 {
		t.Error(got)
	}
}

// The system prompt has the form, the tools, the rules and examples.
func TestSystemPrompt(t *testing.T) {
	for _, part := range []string{"Thought:", "Action: tool_name {", "FinalAnswer:", "Observation", "{tool_parameters}", "Rules:", "Examples:", "{language}", "{current_date}", noAnswer} {
		if !strings.Contains(systemPrompt, part) {
			t.Errorf("%s is missing", part)
		}
	}
}
