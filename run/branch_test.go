package run_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dossier/run"
)

// A branch begins anew with what it came of, although an effect that it may
// have had is not forgotten.
func TestABranchThatHadAnEffectBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var noPlan atomic.Bool
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			_, err := run.Step(ctx, s, "plan", func(context.Context, *run.Scope) (int, error) {
				if noPlan.Load() {
					return 0, errors.New("no plan")
				}
				return 1, nil
			})
			if err != nil {
				return err
			}
			press := run.Go(ctx, s, "press", func(ctx context.Context, s *run.Scope) error {
				_, err := run.EffectStep(ctx, s, run.Effectful, "publish", func(context.Context, *run.Scope) (int, error) { return 1, nil })
				if err != nil {
					return err
				}
				return s.Emit(note("published"))
			})
			if err := press.Wait(ctx); err != nil {
				return err
			}
			_, err = run.Step(ctx, s, "report", func(context.Context, *run.Scope) (int, error) { return 0, errors.New("no report") })
			return err
		})
		w.create("r")
		if st := w.execute(w.worker("w1"), "r"); st != run.Failed {
			t.Fatal(st)
		}
		w.reopen("r", run.ReopenOptions{From: "plan"})
		if st := w.execute(w.worker("w2"), "r"); st != run.Waiting {
			t.Fatal(st)
		}
		if err := w.store.Answer(t.Context(), "r", "press/publish@1?1", "retry"); err != nil {
			t.Fatal(err)
		}
		if st := w.execute(w.worker("w3"), "r"); st != run.Failed {
			t.Fatal(st)
		}
		w.replays("r")
		noPlan.Store(true)
		w.reopen("r", run.ReopenOptions{From: "plan"})
		if st := w.execute(w.worker("w4"), "r"); st != run.Failed {
			t.Fatal(st)
		}
		w.replays("r")
		if got := valid(t, w, "r"); len(got) > 0 {
			t.Errorf("valid without a plan: %q", got)
		}
	})
}

// What a branch did after its worker was lost is not taken for something that
// came of what others had recorded by then.
func TestBranchesAreAsOldAfterALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slow, later atomic.Int64
		work := func(n *atomic.Int64, takes time.Duration) func(context.Context, *run.Scope) (string, error) {
			return func(ctx context.Context, _ *run.Scope) (string, error) {
				n.Add(1)
				select {
				case <-time.After(takes):
					return "done", nil
				case <-ctx.Done():
					return "", ctx.Err()
				}
			}
		}
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			if _, err := run.Step(ctx, s, "plan", count(new(atomic.Int64), "plan")); err != nil {
				return err
			}
			one := run.Go(ctx, s, "one", func(ctx context.Context, s *run.Scope) error {
				_, err := run.Step(ctx, s, "slow", work(&slow, 2*time.Minute))
				return err
			})
			two := run.Go(ctx, s, "two", func(ctx context.Context, s *run.Scope) error {
				_, err := run.Step(ctx, s, "quick", work(new(atomic.Int64), time.Second))
				return err
			})
			if err := run.All(ctx, one, two); err != nil {
				return err
			}
			// This one came of both.
			three := run.Go(ctx, s, "three", func(ctx context.Context, s *run.Scope) error {
				_, err := run.Step(ctx, s, "later", work(&later, time.Second))
				return err
			})
			if err := three.Wait(ctx); err != nil {
				return err
			}
			_, err := run.Step(ctx, s, "report", func(context.Context, *run.Scope) (int, error) { return 0, errors.New("no report") })
			return err
		})
		w.create("r")
		w.lose("w1", time.Minute)
		if st := w.execute(w.worker("w2"), "r"); st != run.Failed {
			t.Fatal(st)
		}
		if slow.Load() != 2 || later.Load() != 1 {
			t.Fatalf("%d and %d calls", slow.Load(), later.Load())
		}
		w.reopen("r", run.ReopenOptions{From: "two/quick"})
		if st := w.execute(w.worker("w3"), "r"); st != run.Failed {
			t.Fatal(st)
		}
		if slow.Load() != 2 || later.Load() != 2 {
			t.Errorf("%d calls of the branch beside the step that was done anew, %d of the one that came of it", slow.Load(), later.Load())
		}
		w.replays("r")
	})
}
