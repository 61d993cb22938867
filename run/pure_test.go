package run_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dossier/run"
)

// batches notes which entries each commit had, and refuses those after the first few.
type batches struct {
	run.Journal
	after   int
	entries [][]string
}

var errGone = errors.New("the disk is gone")

func (j *batches) Commit(b *run.Batch, done func(error)) {
	if j.after--; j.after < 0 {
		done(errGone)
		return
	}
	var keys []string
	for _, e := range b.Entries {
		keys = append(keys, e.Key)
	}
	j.entries = append(j.entries, keys)
	j.Journal.Commit(b, done)
}

func (j *batches) execute(w *world) (run.Status, error) {
	x := run.NewExecutor(run.ExecutorConfig{
		Journal: j, Owner: "w", TTL: time.Second,
		Program: func(run.Record) (run.Func, run.Limits, error) { return w.fn, w.limit, nil },
	})
	defer x.Close()
	return x.Execute(w.t.Context(), "r")
}

func compute(ctx context.Context, s *run.Scope, effect run.Effect, name string, calls *[]string) error {
	_, err := run.EffectStep(ctx, s, effect, name, func(context.Context, *run.Scope) (int, error) {
		*calls = append(*calls, name)
		return 1, nil
	})
	return err
}

// A pure step is recorded with the next one, and soon where none comes.
func TestAPureStepIsRecordedWithTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []string
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			for _, step := range []struct {
				name   string
				effect run.Effect
			}{{"sum", run.Pure}, {"read", run.Read}, {"mean", run.Pure}} {
				if err := compute(ctx, s, step.effect, step.name, &calls); err != nil {
					return err
				}
			}
			time.Sleep(time.Minute)
			return nil
		})
		w.create("r")
		j := &batches{Journal: w.store, after: 100}
		// The lease is renewed meanwhile.
		if st, err := j.execute(w); err != nil || st != run.Done {
			t.Fatal(st, err)
		}
		if !slices.EqualFunc(j.entries, [][]string{{"sum", "read"}, {"mean"}, nil}, slices.Equal) {
			t.Errorf("%q", j.entries)
		}
		w.replays("r")
	})
}

// After a crash before that it is computed again; what others got to see was
// made from results that are still there.
func TestWhatOthersSeeFollowsFromWhatIsDurable(t *testing.T) {
	for _, effect := range []run.Effect{run.Idempotent, run.Effectful} {
		synctest.Test(t, func(t *testing.T) {
			var calls []string
			w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
				for _, name := range []string{"sum", "mean"} {
					if err := compute(ctx, s, run.Pure, name, &calls); err != nil {
						return err
					}
				}
				return compute(ctx, s, effect, "publish", &calls)
			})
			w.create("r")
			j := &batches{Journal: w.store}
			if _, err := j.execute(w); !errors.Is(err, errGone) {
				t.Fatal(err)
			}
			if want := []string{"sum", "mean"}; !slices.Equal(calls, want) {
				t.Errorf("before: %q", calls)
			}
			calls = nil
			time.Sleep(time.Minute)
			j = &batches{Journal: w.store, after: 1}
			if _, err := j.execute(w); !errors.Is(err, errGone) {
				t.Fatal(err)
			}
			if want := []string{"sum", "mean", "publish"}; !slices.Equal(calls, want) {
				t.Errorf("then: %q", calls)
			}
			if effect == run.Effectful {
				return // the next one asks
			}
			calls = nil
			time.Sleep(time.Minute)
			if st := w.execute(w.worker("v"), "r"); st != run.Done {
				t.Errorf("status %s", st)
			}
			if want := []string{"publish"}; !slices.Equal(calls, want) {
				t.Errorf("at last: %q", calls)
			}
			w.replays("r")
		})
	}
}
