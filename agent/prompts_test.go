package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dossier/internal/store/memory"
	"dossier/run"
	"dossier/tool"
)

// TestFill holds the placeholders of a prompt to what replacing them says.
func TestFill(t *testing.T) {
	tools, err := tool.NewSet(thinking)
	if err != nil {
		t.Fatal(err)
	}
	store := memory.New(memory.Options{})
	created := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	x := run.NewExecutor(run.ExecutorConfig{Journal: store, Owner: "test", Program: func(run.Record) (run.Func, run.Limits, error) {
		return func(_ context.Context, s *run.Scope) error {
			w := &Work{Agent: &Agent{Tools: tools}, Scope: s, Task: Task{Text: "why {language}?", Lang: "de"}}
			want := strings.NewReplacer("{available_tools}", listed(tools.All()), "{current_date}", "2026-05-04 03:02:01",
				"{language}", w.Task.Lang.Name(), "{task}", w.Task.Text)
			rapid.Check(t, func(t *rapid.T) {
				parts := rapid.SliceOf(rapid.SampledFrom([]string{"{task}", "{language}", "{current_date}", "{available_tools}", "{", "}", "{other}", "text", "task", "ё"})).Draw(t, "parts")
				text := strings.Join(parts, "")
				if got := w.fill(text); got != want.Replace(text) {
					t.Errorf("%q became %q instead of %q", text, got, want.Replace(text))
				}
			})
			return nil
		}, run.Limits{}, nil
	}})
	defer x.Close()
	if err := store.Create(t.Context(), run.Record{ID: "r", Session: "r", Mode: "test", Created: created}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if status, err := x.Execute(t.Context(), "r"); err != nil || status != run.Done {
		t.Fatal(status, err)
	}
}
