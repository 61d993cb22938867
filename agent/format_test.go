package agent_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"dossier/agent"
	"dossier/llm"
	"dossier/run"
)

// manglings are the ways in which models break JSON, each done to a good object.
var manglings = map[string]func(string) string{
	"as it should be":     func(s string) string { return s },
	"in a fence":          func(s string) string { return "```json\n" + s + "\n```" },
	"in an open fence":    func(s string) string { return "```json\n" + s },
	"in prose":            func(s string) string { return "Sure! Here is the JSON:\n\n" + s + "\n\nLet me know if you need more." },
	"after thoughts":      func(s string) string { return "<think>hm {not this}</think>\n" + s },
	"single quotes":       func(s string) string { return strings.ReplaceAll(s, `"`, `'`) },
	"curly quotes":        func(s string) string { return quoteMarks.ReplaceAllString(s, "“$1”") },
	"trailing commas":     func(s string) string { return strings.NewReplacer("}", ",}", "]", ",]").Replace(s) },
	"a missing bracket":   func(s string) string { return strings.TrimSuffix(s, "}") },
	"Python's words":      func(s string) string { return strings.NewReplacer("false", "False", "true", "True").Replace(s) },
	"a comment":           func(s string) string { return strings.Replace(s, "{", "{ // the reply\n", 1) },
	"numbers in quotes":   func(s string) string { return strings.NewReplacer(`"a":2`, `"a":"2"`, `"b":3`, `"b":"3"`).Replace(s) },
	"bare keys":           func(s string) string { return strings.NewReplacer(`"a":`, `a:`, `"answer":`, `answer:`).Replace(s) },
	"camel case":          func(s string) string { return strings.ReplaceAll(s, "completed_steps", "completedSteps") },
	"one for a list":      func(s string) string { return strings.ReplaceAll(s, `["added"]`, `"added"`) },
	"in a list":           func(s string) string { return "[" + s + "]" },
	"escaped":             func(s string) string { raw, _ := json.Marshal(s); return string(raw) },
	"a line break inside": func(s string) string { return strings.Replace(s, "the sum", "the\nsum", 1) },
}

var quoteMarks = regexp.MustCompile(`"([^"]*)"`)

// A model that breaks the format in one of the ways still gets to the answer,
// and one that only talks gets to some answer.
func TestBrokenFormatsEndInAnAnswer(t *testing.T) {
	withCall := func(function string) string {
		return strings.TrimSuffix(reasoning, "}") + `,"function":` + function + `}`
	}
	named := func(name string) string {
		return strings.TrimSuffix(reasoning, "}") + `,"function_name_choice":"` + name + `"}`
	}
	addArgs := `{"a":2,"b":3}`
	for how, mangle := range manglings {
		for decider, replies := range map[agent.DeciderName][]llm.Message{
			agent.SGR: {
				text(mangle(withCall(`{"tool_name_discriminator":"add","a":2,"b":3}`))),
				text(mangle(withCall(strings.Replace(finalCall, "{", `{"tool_name_discriminator":"finalanswertool",`, 1)))),
			},
			agent.Native: {call("add", mangle(addArgs)), call("finalanswertool", mangle(finalCall))},
			agent.Hybrid: {call("reasoningtool", mangle(reasoning)), call("add", mangle(addArgs)), call("reasoningtool", mangle(reasoning)), call("finalanswertool", mangle(finalCall))},
			agent.Iron:   {text(mangle(named("add"))), text(mangle(addArgs)), text(mangle(named("finalanswertool"))), text(mangle(finalCall))},
			agent.ReAct:  {text("Thought: t\nAction: add " + mangle(addArgs)), text("FinalAnswer: the sum is 5")},
		} {
			t.Run(string(decider)+"/"+how, func(t *testing.T) {
				j := travel(t, newAgent(t, decider, says(replies...), add, final), task)
				got := strings.ReplaceAll(j.done.Answer.Text, "\n", " ")
				if j.status != run.Done || !strings.Contains(got, "the sum is 5") {
					t.Fatalf("%s %q", j.status, got)
				}
				if j.done.State.Calls["add"] != 1 {
					t.Errorf("calls: %v", j.done.State.Calls)
				}
			})
		}
	}
}

func TestEveryDeciderSurvivesNonsense(t *testing.T) {
	for _, nonsense := range []string{"", "I'm sorry, I can't do that.", "{", "}{", "null", "[]", "[1,2]", `{"function":{}}`, `{"function":{"tool_name_discriminator":"nope"}}`, "Action:", "Action: nope {}", "FinalAnswer:", "\x00\x01", strings.Repeat("{", 5000), "答案", "Thought: Thought: Thought:"} {
		for _, decider := range agent.Deciders {
			for _, how := range []llm.Message{text(nonsense), call("add", nonsense), call(nonsense, "{}"), call("reasoningtool", nonsense)} {
				j := travel(t, newAgent(t, decider, says(how), add, final), task)
				if j.status != run.Done || j.done.Answer.Text == "" {
					t.Errorf("%s with %.30q: %s %+v", decider, fmt.Sprint(how), j.status, j.done)
				}
			}
		}
	}
}

func FuzzDeciders(f *testing.F) {
	f.Add("Thought: t\nAction: add {\"a\": 1, \"b\": 2}")
	f.Add(reasoning)
	f.Add(finalCall)
	f.Fuzz(func(t *testing.T, said string) {
		for _, decider := range []agent.DeciderName{agent.SGR, agent.Iron, agent.ReAct, agent.Native} {
			a := newAgent(t, decider, says(text(said)), add, final)
			a.Definition.Limits.Iterations = 2
			if j := travel(t, a, task); j.status != run.Done || j.done.Answer.Text == "" {
				t.Errorf("%s: %s %+v", decider, j.status, j.done)
			}
		}
	})
}
