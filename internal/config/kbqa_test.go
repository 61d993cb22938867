package config

import "testing"

// The settings of the agent of the knowledge base have the names and defaults that
// its users know, also as variables.
func TestKBQA(t *testing.T) {
	if got, want := mustLoad(t, Sources{}, nil).KBQA, (KBQA{
		MaxSteps: 15, DefaultSteps: 8, TokenBudget: 2000, ToolTimeout: 5, Threshold: 0.8, MaxRefinements: 1, Verify: true,
	}); got != want {
		t.Errorf("%+v", got)
	}
	env := []string{
		"AGENT_MAX_STEPS=20", "AGENT_DEFAULT_STEPS=4", "AGENT_TOKEN_BUDGET=900", "AGENT_TOOL_TIMEOUT=2.5", "COVERAGE_THRESHOLD=0.9", "MAX_REFINEMENTS=2",
		"ENABLE_VERIFY_STEP=false",
	}
	if got, want := mustLoad(t, Sources{Env: env}, nil).KBQA, (KBQA{
		MaxSteps: 20, DefaultSteps: 4, TokenBudget: 900, ToolTimeout: 2.5, Threshold: 0.9, MaxRefinements: 2,
	}); got != want {
		t.Errorf("%+v", got)
	}
	if got := mustLoad(t, Sources{}, yamlFile("coverage_threshold: 0.5\nkbqa: {max_refinements: 3}")).KBQA; got.Threshold != 0.5 || got.MaxRefinements != 3 {
		t.Errorf("%+v", got)
	}
}
