package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dossier/run"
	"dossier/tool"
)

// A call is left when the run is to finish, whatever the tool makes of its
// context. Of one that may have changed something it is said that nobody knows.
func TestInvokeLeavesWhenTheRunIsToFinish(t *testing.T) {
	const after = 20 * time.Second // the run is to finish
	enough := errors.New("the run was told to finish")
	type wants struct {
		took    time.Duration
		text    string // of the outcome
		unknown string // of the error
	}
	for name, test := range map[string]struct {
		effect  run.Effect
		timeout time.Duration
		call    func(ctx context.Context, over <-chan struct{}) (tool.Result, error)
		want    wants
	}{
		"it reads and does not heed": {
			run.Read, time.Hour, func(_ context.Context, over <-chan struct{}) (tool.Result, error) { <-over; return tool.Result{}, nil },
			wants{took: after, text: "Error: the run was told to finish"},
		},
		"it changes something and does not heed": {
			run.Effectful, time.Hour, func(_ context.Context, over <-chan struct{}) (tool.Result, error) { <-over; return tool.Result{}, nil },
			wants{took: after + 2*time.Second, unknown: "(the run was told to finish)"},
		},
		"it changes something and heeds": {
			run.Effectful, time.Hour, func(ctx context.Context, _ <-chan struct{}) (tool.Result, error) {
				<-ctx.Done()
				return tool.Result{}, errors.New("stopped halfway")
			},
			wants{took: after, unknown: "(the run was told to finish)"},
		},
		"it has changed it by then": {
			run.Effectful, time.Hour, func(ctx context.Context, _ <-chan struct{}) (tool.Result, error) {
				<-ctx.Done()
				time.Sleep(time.Second)
				return tool.Result{Text: "sent"}, nil
			},
			wants{took: after + time.Second, text: "sent"},
		},
		"it can be done again and does not heed": {
			run.Idempotent, time.Hour, func(_ context.Context, over <-chan struct{}) (tool.Result, error) { <-over; return tool.Result{}, nil },
			wants{took: after + 2*time.Second, text: "Error: the run was told to finish"},
		},
		"it changes something and is too slow": {
			run.Effectful, 5 * time.Second, func(_ context.Context, over <-chan struct{}) (tool.Result, error) { <-over; return tool.Result{}, nil },
			wants{took: 7 * time.Second, unknown: "(there was no answer in 5s)"},
		},
		"it changes something and fails by itself": {
			run.Effectful, time.Hour, func(context.Context, <-chan struct{}) (tool.Result, error) {
				return tool.Result{}, errors.New("no such address")
			},
			wants{text: "Error: no such address"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				over := make(chan struct{})
				defer close(over)
				until, cancel := context.WithTimeoutCause(t.Context(), after, enough)
				defer cancel()
				calls := tool.New(tool.Spec{Name: "send", Effect: test.effect, Timeout: test.timeout}, func(ctx context.Context, _ *tool.Call, _ struct{}) (tool.Result, error) {
					return test.call(ctx, over)
				})
				began := time.Now()
				out, err := tool.Invoke(t.Context(), calls, &tool.Call{Args: json.RawMessage("{}")}, tool.Guard{Until: until})
				if took := time.Since(began); took != test.want.took {
					t.Errorf("it took %s, not %s", took, test.want.took)
				}
				unknown, ok := errors.AsType[*tool.UnknownEffectError](err)
				if ok != (test.want.unknown != "") || ok && !strings.Contains(unknown.Error(), test.want.unknown) || !ok && err != nil || out.Text != test.want.text {
					t.Errorf("%+v, %v", out, err)
				}
				if ok {
					if code, hint := unknown.Fault(); code != "unknown_effect" || hint == "" {
						t.Errorf("%s, %q", code, hint)
					}
				}
			})
		})
	}
}

// A call that would change something is not made when the run is to finish.
func TestInvokeBeginsNothingAtTheEnd(t *testing.T) {
	until, cancel := context.WithCancelCause(t.Context())
	cancel(run.ErrFinish)
	called := false
	send := tool.New(tool.Spec{Name: "send", Effect: run.Effectful}, func(context.Context, *tool.Call, struct{}) (tool.Result, error) {
		called = true
		return tool.Result{}, nil
	})
	out, err := tool.Invoke(t.Context(), send, &tool.Call{Args: json.RawMessage("{}")}, tool.Guard{Until: until})
	if called || !errors.Is(err, run.ErrFinish) || !strings.Contains(err.Error(), "send was not called") {
		t.Errorf("called %v: %+v, %v", called, out, err)
	}
	// What can be done again is what there is to finish with.
	report := tool.New(tool.Spec{Name: "report", Effect: run.Idempotent}, func(context.Context, *tool.Call, struct{}) (tool.Result, error) {
		return tool.Result{Text: "written"}, nil
	})
	if out, err := tool.Invoke(t.Context(), report, &tool.Call{Args: json.RawMessage("{}")}, tool.Guard{Until: until}); err != nil || out.Text != "written" {
		t.Errorf("%+v, %v", out, err)
	}
}
