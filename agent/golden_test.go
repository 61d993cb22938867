package agent_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dossier/agent"
	"dossier/internal/agenttest"
	"dossier/lang"
	"dossier/llm"
	"dossier/run"
	"dossier/tool"
	"dossier/toolkit"
)

var update = flag.Bool("update", false, "rewrite golden files")

// sent is a request as a golden file holds it.
type sent struct {
	Messages   []llm.Message     `json:"messages"`
	Tools      []json.RawMessage `json:"tools,omitempty"`
	ToolChoice string            `json:"tool_choice,omitempty"`
	Format     *llm.Format       `json:"format,omitempty"`
	Stop       []string          `json:"stop,omitempty"`
}

// The prompts are frozen: a change of what a model is asked first is seen in
// review. Each file holds the requests up to the first call.
func TestPromptsAreFrozen(t *testing.T) {
	kit := toolkit.New(toolkit.Parts{})
	kitSet := func(names ...string) []tool.Tool {
		var tools []tool.Tool
		for _, name := range names {
			made, err := kit.Make(name, nil, toolkit.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			tools = append(tools, made)
		}
		return tools
	}
	research := kitSet("clarificationtool", "generateplantool", "adaptplantool", "websearchtool", "extractpagecontenttool", "createreporttool", "finalanswertool")
	plain := append([]tool.Tool{add}, kitSet("finalanswertool")...)
	lastWords := strings.TrimSuffix(reasoning, "}") + `,"function":` + strings.Replace(finalCall, "{", `{"tool_name_discriminator":"finalanswertool",`, 1) + `}`
	for _, decider := range agent.Deciders {
		if decider == agent.ByRules {
			continue // it asks no model
		}
		for name, test := range map[string]struct {
			tools    []tool.Tool
			task     agent.Task
			research bool
		}{
			"research": {research, agent.Task{Text: agenttest.Task, Lang: lang.English}, true},
			"plain":    {plain, agent.Task{Text: "Сколько будет 2 + 3?", Lang: lang.Russian}, false},
		} {
			m := &model{reply: func(n int, req *llm.Request) (llm.Message, error) {
				switch {
				case len(req.Tools) == 1 && req.Tools[0].Name == agent.ReasoningTool:
					return call(agent.ReasoningTool, reasoning), nil
				case len(req.Tools) > 0:
					return call("finalanswertool", finalCall), nil
				case decider == agent.SGR:
					return text(lastWords), nil
				case decider == agent.ReAct, decider == agent.KB:
					return text("Thought: enough\nFinalAnswer: the sum is 5"), nil
				case n == 1:
					return text(strings.TrimSuffix(reasoning, "}") + `,"function_name_choice":"finalanswertool"}`), nil
				}
				return text(finalCall), nil
			}}
			a := newAgent(t, decider, m, test.tools...)
			a.Definition.Research = test.research
			if j := travel(t, a, test.task); j.status != run.Done || j.done.State.Iteration != 1 {
				t.Fatalf("%s: %s %+v", decider, j.status, j.done)
			}
			var all []sent
			for _, req := range m.asked {
				s := sent{Messages: req.Messages, ToolChoice: req.ToolChoice, Format: req.Format, Stop: req.Stop}
				for _, t := range req.Tools {
					s.Tools = append(s.Tools, llm.AppendTool(nil, &t))
				}
				all = append(all, s)
			}
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			if err := e.Encode(all); err != nil {
				t.Fatal(err)
			}
			golden(t, "first-"+name+"-"+string(decider)+".json", b.Bytes())
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-update rewrites it):\n%s", path, got)
	}
}
