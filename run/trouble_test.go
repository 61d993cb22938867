package run_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"dossier/event"
	"dossier/run"
)

// TestTroubleIsLogged holds what the log of a worker has of its runs: what went
// wrong, at its level, and nothing else; code that runs again writes nothing
// twice.
func TestTroubleIsLogged(t *testing.T) {
	var logged bytes.Buffer
	w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
		if err := s.Emit(event.NoteAdded{Text: "all is well"}); err != nil {
			return err
		}
		_, err := run.Step(ctx, s, "call", func(_ context.Context, s *run.Scope) (int, error) {
			return 1, s.Emit(event.ModelFailed{Role: "writer", Code: "server", Message: "HTTP 500", Then: "repeated"})
		})
		if err != nil {
			return err
		}
		if _, err := s.Ask(ctx, run.Question{Questions: []string{"go on?"}}); err != nil {
			return err
		}
		return errors.New("the engine is gone")
	})
	w.create("r")
	x := run.NewExecutor(run.ExecutorConfig{
		Journal: w.store, Owner: "w1", Log: slog.New(slog.NewTextHandler(&logged, nil)),
		Program: func(run.Record) (run.Func, run.Limits, error) { return w.fn, w.limit, nil },
	})
	defer x.Close()
	w.execute(x, "r")
	if err := w.store.Answer(t.Context(), "r", "", "yes"); err != nil {
		t.Fatal(err)
	}
	if st := w.execute(x, "r"); st != run.Failed {
		t.Fatal(st)
	}
	var warned, failed, other int
	for line := range strings.Lines(logged.String()) {
		switch {
		case strings.Contains(line, "level=WARN") && strings.Contains(line, "step=model.failed") && strings.Contains(line, "HTTP 500") && strings.Contains(line, "run=r"):
			warned++
		case strings.Contains(line, "level=ERROR") && strings.Contains(line, "step=run.error") && strings.Contains(line, "the engine is gone"):
			failed++
		default:
			other++
		}
	}
	if warned != 1 || failed != 1 || other != 0 {
		t.Errorf("%d warnings, %d errors, %d other lines:\n%s", warned, failed, other, logged.String())
	}
}
