package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dossier/run"
)

func TestCancelInterruptsAndPauseDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var finished atomic.Int64
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			for i := range 3 {
				if _, err := run.Step(ctx, s, fmt.Sprint("step-", i), func(ctx context.Context, _ *run.Scope) (int, error) {
					select {
					case <-time.After(time.Minute):
						return int(finished.Add(1)), nil
					case <-ctx.Done():
						return 0, ctx.Err()
					}
				}); err != nil {
					return err
				}
			}
			return nil
		})
		for _, c := range []struct {
			kind  run.SignalKind
			want  run.Status
			steps int64
		}{{run.SignalPause, run.Paused, 1}, {run.SignalCancel, run.Cancelled, 0}} {
			finished.Store(0)
			id := string(c.kind)
			w.create(id)
			x := w.worker("w-" + id)
			done := make(chan run.Status, 1)
			go func() { done <- w.execute(x, id) }()
			time.Sleep(10 * time.Second)
			if err := w.store.Signal(t.Context(), id, run.Signal{Kind: c.kind}); err != nil {
				t.Fatal(err)
			}
			// No Notify: the renewal of the lease finds the signal.
			if st := <-done; st != c.want || finished.Load() != c.steps {
				t.Errorf("%s: status %s after %d steps", c.kind, st, finished.Load())
			}
		}
		w.reopen("pause", run.ReopenOptions{})
		finished.Store(0)
		if st := w.execute(w.worker("w3"), "pause"); st != run.Done || finished.Load() != 2 {
			t.Errorf("resumed: status %s after %d more steps", st, finished.Load())
		}
	})
}

func TestFinishNowAndBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			var stop error
			n := 0
			for stop = s.Budget().Check(); stop == nil; stop = s.Budget().Check() {
				n++
				if _, err := run.Step(ctx, s, fmt.Sprint("call-", n), func(_ context.Context, s *run.Scope) (int, error) {
					s.Charge(run.Spent{Calls: 1, InputTokens: 30})
					time.Sleep(time.Second)
					return n, nil
				}); err != nil {
					return err
				}
			}
			return s.Emit(note(fmt.Sprintf("%d calls: %v", n, stop)))
		})
		w.limit = run.Limits{Tokens: 100}
		w.create("budget")
		if st := w.execute(w.worker("w1"), "budget"); st != run.Done {
			t.Fatalf("status %s", st)
		}
		w.replays("budget")
		log := strings.Join(w.log("budget"), "\n")
		for _, want := range []string{`{"what":"tokens","limit":100,"spent":90}`, `"spent":120,"hit":true`, "4 calls: the budget of tokens is spent: 120 of 100"} {
			if !strings.Contains(log, want) {
				t.Errorf("no %q in\n%s", want, log)
			}
		}
		rec, err := w.store.Run(t.Context(), "budget")
		if err != nil || rec.Spent.InputTokens != 120 || rec.Spent.Calls != 4 || rec.Active < 4*time.Second {
			t.Errorf("record %+v, %v", rec, err)
		}

		w.limit = run.Limits{}
		w.create("finish")
		x := w.worker("w2")
		done := make(chan run.Status, 1)
		go func() { done <- w.execute(x, "finish") }()
		time.Sleep(2500 * time.Millisecond)
		if err := w.store.Signal(t.Context(), "finish", run.Signal{Kind: run.SignalFinish}); err != nil {
			t.Fatal(err)
		}
		if _, err := x.Notify(t.Context(), "finish"); err != nil {
			t.Fatal(err)
		}
		if st := <-done; st != run.Done || !strings.Contains(strings.Join(w.log("finish"), "\n"), "3 calls: the run was told to finish") {
			t.Errorf("status %s, log %v", st, w.log("finish"))
		}
	})
}

func TestSteerIsSeenOnceAtTheSamePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var crash atomic.Bool
		crash.Store(true)
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			for i := range 3 {
				texts, err := s.Steer()
				if err != nil {
					return err
				}
				if err := s.Emit(note(fmt.Sprintf("%d:%s", i, strings.Join(texts, "+")))); err != nil {
					return err
				}
				if _, err := run.Step(ctx, s, fmt.Sprint("step-", i), func(context.Context, *run.Scope) (int, error) {
					time.Sleep(10 * time.Second)
					return i, nil
				}); err != nil {
					return err
				}
			}
			if crash.Load() {
				return errors.New("crash")
			}
			return nil
		})
		w.create("r")
		x := w.worker("w1")
		done := make(chan run.Status, 1)
		go func() { done <- w.execute(x, "r") }()
		time.Sleep(15 * time.Second)
		if err := w.store.Signal(t.Context(), "r", run.Signal{Kind: run.SignalSteer, Text: "look at 2026"}); err != nil {
			t.Fatal(err)
		}
		<-done
		crash.Store(false)
		w.reopen("r", run.ReopenOptions{})
		if st := w.execute(w.worker("w2"), "r"); st != run.Done {
			t.Fatal(st)
		}
		log := strings.Join(w.log("r"), "\n")
		if strings.Count(log, "look at 2026") != 1 || !strings.Contains(log, `"2:look at 2026"`) {
			t.Error(log)
		}
	})
}
