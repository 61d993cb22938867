package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dossier/agent"
	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/run"
	"dossier/tool"
)

// A tool that may have changed something and does not come back holds nobody up:
// not when the time of the run is up, nor when it is told to finish. That its
// effect is unknown is recorded and told, and it is called once.
func TestEffectsAreLeftBehind(t *testing.T) {
	const limit = 20 * time.Second
	for name, limits := range map[string]run.Limits{"the time is up": {Time: limit}, "told to finish": {}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				over := make(chan struct{})
				var calls atomic.Int64
				defer close(over)
				send := tool.New(tool.Spec{Name: "send", Effect: run.Effectful, Timeout: 10 * time.Minute}, func(context.Context, *tool.Call, struct{}) (tool.Result, error) {
					calls.Add(1)
					<-over // whatever its context says
					return tool.Result{}, nil
				})
				m := says(call("send", `{}`), call("finalanswertool", finalCall))
				a := newAgent(t, agent.Native, m, send, final)
				var done agent.Done
				code := func(ctx context.Context, s *run.Scope) (err error) {
					done, err = a.Run(ctx, s, task)
					return err
				}
				store := memory.New(memory.Options{})
				x := run.NewExecutor(run.ExecutorConfig{Journal: store, Owner: "test", Program: func(run.Record) (run.Func, run.Limits, error) { return code, limits, nil }})
				defer x.Close()
				if err := store.Create(t.Context(), run.Record{ID: "r1", Session: "r1", Mode: "agent", Created: time.Now()}, nil, nil); err != nil {
					t.Fatal(err)
				}
				if limits.Time == 0 {
					time.AfterFunc(limit, func() {
						if err := store.Signal(t.Context(), "r1", run.Signal{Kind: run.SignalFinish}); err != nil {
							t.Error(err)
						}
						if _, err := x.Notify(t.Context(), "r1"); err != nil {
							t.Error(err)
						}
					})
				}
				began := time.Now()
				status, err := x.Execute(t.Context(), "r1")
				if took := time.Since(began); err != nil || status != run.Done || took > limit+3*time.Second {
					t.Fatalf("%s after %s, %v", status, took, err)
				}
				if done.Answer.Text == "" || calls.Load() != 1 || len(m.asked) != 1 {
					t.Errorf("%+v; %d calls, the model was asked %d times", done, calls.Load(), len(m.asked))
				}
				h, err := store.History(t.Context(), "r1")
				if err != nil {
					t.Fatal(err)
				}
				var fault run.Fault
				for _, entry := range h.Entries {
					if entry.Key == "act-1" && entry.Kind == run.EntryFault {
						if err := json.Unmarshal(entry.Value, &fault); err != nil {
							t.Fatal(err)
						}
					}
				}
				if fault.Code != run.CodeUnknownEffect || !strings.Contains(fault.Message, "unknown whether it took effect") {
					t.Errorf("recorded is %+v", fault)
				}
				log, err := store.Events(t.Context(), "r1", 0, 0)
				if err != nil {
					t.Fatal(err)
				}
				told, read := false, false
				for _, p := range log {
					switch d := p.Data.(type) {
					case event.RunError:
						told = told || d.Code == run.CodeUnknownEffect && !d.Fatal && d.Hint != ""
					case event.AgentAction:
						read = read || d.Failed && strings.Contains(d.Result, "unknown whether it took effect")
					}
				}
				if !told || !read {
					t.Errorf("the user is told: %v, and what came of the call: %v", told, read)
				}
				if _, err := run.Replay(t.Context(), h, log, code, limits); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
