package agent_test

import (
	"context"
	"slices"
	"testing"

	"dossier/agent"
	"dossier/llm"
	"dossier/run"
	"dossier/tool"
)

// TestToolsKnowWhatIsPrivate: what the user said and gave along, and what tools
// said that look at the user's own, is private to those that open addresses; what
// came from the web is not.
func TestToolsKnowWhatIsPrivate(t *testing.T) {
	library := tool.New(tool.Spec{Name: "library", Kind: tool.Lookup}, func(context.Context, *tool.Call, struct{}) (tool.Result, error) {
		return tool.Result{Text: "a page of the contract"}, nil
	})
	web := tool.New(tool.Spec{Name: "web", Kind: tool.Searching}, func(context.Context, *tool.Call, struct{}) (tool.Result, error) {
		return tool.Result{Text: "a page of the web"}, nil
	})
	var private []string
	opens := tool.New(tool.Spec{Name: "opens", Kind: tool.Reading}, func(_ context.Context, c *tool.Call, _ struct{}) (tool.Result, error) {
		private = slices.Clone(c.Private)
		return tool.Result{Text: "read"}, nil
	})
	m := &model{reply: func(n int, _ *llm.Request) (llm.Message, error) {
		return call([]string{"library", "web", "opens", "finalanswertool"}[n-1], []string{"{}", "{}", "{}", finalCall}[n-1]), nil
	}}
	asked := agent.Task{Text: "What is 2 + 3?", Lang: "en", Material: "what came along", History: []llm.Message{{Role: llm.RoleUser, Content: "said before"}}}
	if j := travel(t, newAgent(t, agent.Native, m, library, web, opens, final), asked); j.status != run.Done {
		t.Fatal(j.status)
	}
	if want := []string{"what came along", "said before", "a page of the contract"}; !slices.Equal(private, want) {
		t.Errorf("private are %q, not %q", private, want)
	}
}
