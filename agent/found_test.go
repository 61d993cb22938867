package agent_test

import (
	"context"
	"fmt"
	"testing"

	"dossier/agent"
	"dossier/run"
	"dossier/tool"
)

// fleeting is a catalog whose tools are there only the first times.
type fleeting struct {
	tools []tool.Tool
	gone  bool
}

func (f *fleeting) Select(context.Context, string, *tool.Set, agent.ToolSearch) ([]string, error) {
	if f.gone {
		return nil, fmt.Errorf("the catalog is closed")
	}
	return []string{f.tools[0].Spec().Name}, nil
}

func (f *fleeting) Get(_ context.Context, name string) (tool.Tool, error) {
	for _, t := range f.tools {
		if t.Spec().Name == name && !f.gone {
			return t, nil
		}
	}
	return nil, nil
}

// A run knows the tools that it has found, also when the catalog has lost them
// by the time that it is taken up again.
func TestFoundToolsOutliveTheCatalog(t *testing.T) {
	outside := func(name string) tool.Tool {
		return tool.New(tool.Spec{Name: name, Origin: "mcp:there"}, func(context.Context, *tool.Call, struct {
			N int `json:"n" default:"1"`
		}) (tool.Result, error) {
			return tool.Result{Text: name + " did it"}, nil
		})
	}
	catalog := &fleeting{tools: []tool.Tool{outside("chosen"), outside("found")}}
	find := tool.New(tool.Spec{Name: "searchtoolstool", Kind: tool.Finding}, func(context.Context, *tool.Call, struct{}) (tool.Result, error) {
		return tool.Result{Text: "found", Change: tool.Change{Found: []string{"found", "add"}}}, nil
	})
	m := says(
		call("chosen", `{}`), call("searchtoolstool", `{}`), call("found", `{"n":2}`), call("clarificationtool", `{"questions":["What?"]}`),
		call("chosen", `{"n":3}`), call("finalanswertool", finalCall),
	)
	vanish := tool.New(*clarify.Spec(), func(_ context.Context, _ *tool.Call, in struct {
		Questions []string `json:"questions" min:"1" max:"3"`
	}) (tool.Result, error) {
		catalog.gone = true
		return tool.Result{Change: tool.Change{Ask: &run.Question{Questions: in.Questions}}}, nil
	})
	a := newAgent(t, agent.Native, m, find, add, vanish, final)
	a.Definition.Search.OnDemand = true
	a.Finder = catalog
	j := travel(t, a, task, "this") // and its replay, which has no catalog at all
	if j.status != run.Done || j.done.Answer.Text != "the sum is 5" {
		t.Fatalf("%s %+v", j.status, j.done)
	}
	var results []string
	for _, m := range m.asked[len(m.asked)-1].Messages {
		if m.Role == "tool" && (m.Name == "chosen" || m.Name == "found") {
			results = append(results, m.Content)
		}
	}
	want := []string{"chosen did it", "found did it", "Error: chosen can't be reached now (it comes from mcp:there). Do without it"}
	if fmt.Sprint(results) != fmt.Sprint(want) {
		t.Errorf("results %q, want %q", results, want)
	}
	if n := len(m.asked[len(m.asked)-1].Tools); n != 6 {
		t.Errorf("%d tools at the end", n)
	}
}
