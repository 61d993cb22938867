package prompt_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
)

type plan struct {
	Steps []string `json:"steps"`
}

var files = fstest.MapFS{"plan.md": {Data: []byte(`{{define "system"}}Plan.{{end}}{{define "user"}}{{.}}{{end}}`)}}

func task(fallback func(string) (plan, error)) *prompt.Task[string, plan] {
	return &prompt.Task[string, plan]{Name: "plan", Role: llm.ForSummarizer, Template: prompt.Parse(files, "plan.md"), Fallback: fallback}
}

func split(question string) (plan, error) { return plan{strings.Fields(question)}, nil }

// model is a function as a model.
type model func(req *llm.Request) (*llm.Response, error)

func (m model) Stream(_ context.Context, req *llm.Request, sink func(llm.Chunk)) (*llm.Response, error) {
	resp, err := m(req)
	if err == nil && sink != nil {
		sink(llm.Chunk{Text: resp.Message.Content})
	}
	return resp, err
}

func says(text string) model {
	return func(*llm.Request) (*llm.Response, error) {
		return &llm.Response{Model: "m", Message: llm.Message{Role: llm.RoleAssistant, Content: text}, Finish: llm.FinishStop, Usage: llm.Usage{Input: 7, Output: 3}}, nil
	}
}

func models(m llm.Model) *llm.Models {
	if m == nil {
		return &llm.Models{}
	}
	return &llm.Models{MaxObjectRetries: -1, Roles: map[llm.RoleName]llm.Setting{llm.ForDefault: {Model: m, Name: "m"}}}
}

// decide executes a run that makes one decision.
func decide(t *testing.T, tk *prompt.Task[string, plan], m llm.Model, limits run.Limits) (prompt.Decision[plan], run.Record, error) {
	t.Helper()
	s := memory.New(memory.Options{})
	if err := s.Create(t.Context(), run.Record{ID: "r", Status: run.Queued, Created: time.Now()}, nil, nil); err != nil {
		t.Fatal(err)
	}
	var got prompt.Decision[plan]
	var gotErr error
	x := run.NewExecutor(run.ExecutorConfig{Journal: s, Owner: "w", Program: func(run.Record) (run.Func, run.Limits, error) {
		return func(ctx context.Context, sc *run.Scope) error {
			if limits.Tokens > 0 {
				if _, err := run.Step(ctx, sc, "spend", func(_ context.Context, sc *run.Scope) (int, error) {
					sc.Charge(run.Spent{InputTokens: limits.Tokens})
					return 0, nil
				}); err != nil {
					return err
				}
			}
			got, gotErr = tk.Do(ctx, sc, models(m), "one two", prompt.Options[plan]{})
			return gotErr
		}, limits, nil
	}, Publish: func(event.Event) {}})
	defer x.Close()
	if _, err := x.Execute(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	rec, err := s.Run(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	return got, rec, gotErr
}

func TestTheModelDecides(t *testing.T) {
	got, rec, err := decide(t, task(split), says(`{"steps":["a"]}`), run.Limits{})
	if err != nil || got.Extractive || len(got.Value.Steps) != 1 || got.Model != "m" {
		t.Errorf("%+v, %v", got, err)
	}
	if rec.Spent.InputTokens != 7 || rec.Spent.OutputTokens != 3 || rec.Spent.Calls != 1 {
		t.Errorf("spent %+v", rec.Spent)
	}
}

func TestTheFallbackDecides(t *testing.T) {
	broken := model(func(*llm.Request) (*llm.Response, error) {
		return nil, &llm.Error{Kind: llm.ErrServer, Endpoint: "x", Message: "down"}
	})
	for name, c := range map[string]struct {
		m      llm.Model
		limits run.Limits
		why    string
	}{
		"no model":        {nil, run.Limits{}, "no model is configured"},
		"model fails":     {broken, run.Limits{}, "down"},
		"nonsense":        {says("I would rather not."), run.Limits{}, "no usable object"},
		"budget is spent": {says(`{"steps":[]}`), run.Limits{Tokens: 5}, "budget of tokens"},
	} {
		got, _, err := decide(t, task(split), c.m, c.limits)
		if err != nil || !got.Extractive || len(got.Value.Steps) != 2 || !strings.Contains(got.Why, c.why) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestWithoutFallbackTheReasonIsTheError(t *testing.T) {
	_, rec, err := decide(t, task(nil), nil, run.Limits{})
	if !errors.Is(err, llm.ErrNotConfigured) || rec.Failure == nil || rec.Failure.Code != prompt.CodeNoModel || rec.Failure.Hint == "" {
		t.Errorf("%v, %+v", err, rec.Failure)
	}
}

func TestLabelStaysInItsPlace(t *testing.T) {
	if got := prompt.Label("a\n\"> </passage>\n b"); got != "a ”› ‹/passage› b" {
		t.Errorf("%q", got)
	}
}

// Why nothing more may be spent is told in the user's language, and what else a
// model fails of as it is.
func TestWhyIsTold(t *testing.T) {
	for why, want := range map[string]string{
		run.Reason(&run.BudgetError{What: "time", Limit: 1, Spent: 1.25}):  "отведённое время вышло",
		run.Reason(&run.BudgetError{What: "tokens", Limit: 1, Spent: 490}): "бюджет токенов исчерпан",
		run.Reason(run.ErrFinish): "запуск велено закончить с тем, что есть",
		"down":                    "down",
	} {
		if got := prompt.Told(lang.Russian, why); got != want {
			t.Errorf("%q is told as %q", why, got)
		}
	}
	for _, limit := range []string{"tokens", "cost", "time", run.Searches, run.Pages} {
		why := run.Reason(&run.BudgetError{What: limit})
		if got := prompt.Told(lang.Chinese, why); got == why || strings.Contains(got, "why.") {
			t.Errorf("%q is told as %q", why, got)
		}
	}
}
