package run_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dossier/run"
)

// lose executes a run until its worker is lost.
func (w *world) lose(name string, after time.Duration) {
	w.t.Helper()
	ctx, lost := context.WithTimeout(w.t.Context(), after)
	defer lost()
	if st := w.executeIn(ctx, w.worker(name), "r"); st != run.Queued {
		w.t.Fatal(st)
	}
}

func (w *world) executeIn(ctx context.Context, x *run.Executor, id string) run.Status {
	w.t.Helper()
	st, err := x.Execute(ctx, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return st
}

// Each attempt of an effectful step whose end is not known is asked about: a
// worker that is lost after "retry" leaves another one.
func TestEffectThatIsUncertainTwiceAsksTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fired atomic.Int64
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			n, err := run.EffectStep(ctx, s, run.Effectful, "pay", func(ctx context.Context, _ *run.Scope) (int64, error) {
				n := fired.Add(1)
				if n < 3 {
					<-ctx.Done()
				}
				return n, nil
			})
			if err != nil {
				return err
			}
			return s.Emit(note(fmt.Sprint("paid at try ", n)))
		})
		w.create("r")
		w.lose("w1", time.Minute)
		for i := range int64(2) {
			name := fmt.Sprint("w", 2+i)
			for range 2 { // looking at it again fires nothing
				if st := w.execute(w.worker(name), "r"); st != run.Waiting || fired.Load() != i+1 {
					t.Fatalf("status %s, fired %d times", st, fired.Load())
				}
			}
			asks, err := w.store.Asks(t.Context(), "r")
			if err != nil || len(asks) != 1 {
				t.Fatal(asks, err)
			}
			if err := w.store.Answer(t.Context(), "r", "", "retry"); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				w.lose("lost", time.Minute)
			}
		}
		if st := w.execute(w.worker("w9"), "r"); st != run.Done || fired.Load() != 3 {
			t.Fatalf("status %s, fired %d times", st, fired.Load())
		}
		w.replays("r")
	})
}

// Of a step that was tried twice the log has what the try emitted whose result
// is recorded.
func TestEventsOfALostAttemptAreLostWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int64
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			_, err := run.Step(ctx, s, "look", func(ctx context.Context, s *run.Scope) (int64, error) {
				n := tries.Add(1)
				if err := s.Emit(note(fmt.Sprint("try ", n))); err != nil {
					return 0, err
				}
				if n == 1 {
					<-ctx.Done()
				}
				return n, ctx.Err()
			})
			return err
		})
		w.create("r")
		w.lose("w1", time.Minute)
		if st := w.execute(w.worker("w2"), "r"); st != run.Done {
			t.Fatal(st)
		}
		w.replays("r")
		if got := valid(t, w, "r"); !reflect.DeepEqual(got, []string{"try 2"}) {
			t.Errorf("%q", got)
		}
	})
}

// A step that its context refuses is recorded: code that goes another way for
// that goes the same way when it runs again.
func TestAStepThatItsContextRefusesIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crash := true
		var late atomic.Int64
		w := newWorld(t, nil)
		w.fn = func(ctx context.Context, s *run.Scope) error {
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			if crash { // a slow machine, the first time
				time.Sleep(2 * time.Second)
			}
			_, err := run.Step(short, s, "late", count(&late, "x"))
			if run.Stopped(err) {
				return err
			}
			if err := s.Emit(note(fmt.Sprint("late: ", err))); err != nil {
				return err
			}
			if crash {
				return run.ErrShutdown
			}
			return nil
		}
		w.create("r")
		if st := w.execute(w.worker("w1"), "r"); st == run.Done {
			t.Fatal(st)
		}
		crash = false
		w.reopen("r", run.ReopenOptions{})
		if st := w.execute(w.worker("w2"), "r"); st != run.Done || late.Load() != 0 {
			t.Fatal(st, late.Load())
		}
		w.replays("r")
		if got := valid(t, w, "r"); len(got) != 1 || !strings.Contains(got[0], "not begun: context deadline exceeded") {
			t.Errorf("%q", got)
		}
	})
}

// A receive that brought nothing brings nothing when the run is taken up again,
// though somebody could send by then.
func TestAReceiveInVainIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, wait := range map[string]time.Duration{"nobody could send": 0, "the receiver's time was up": time.Second} {
			crash := true
			w := newWorld(t, nil)
			w.fn = func(ctx context.Context, s *run.Scope) error {
				inbox := run.NewMailbox[string](s, "inbox")
				listening, cancel := ctx, context.CancelFunc(func() {})
				if wait > 0 {
					listening, cancel = context.WithTimeout(ctx, wait)
				}
				defer cancel()
				busy := run.Go(ctx, s, "busy", func(ctx context.Context, s *run.Scope) error {
					_, err := run.Step(ctx, s, "work", func(context.Context, *run.Scope) (int, error) {
						time.Sleep(time.Minute)
						return 1, nil
					})
					return err
				})
				if !crash { // not what a run's code may do, and what other code would
					if err := inbox.Send(s, "late"); err != nil {
						return err
					}
				}
				_, err := inbox.Receive(listening)
				if run.Stopped(err) {
					return err
				}
				if err := s.Emit(note(fmt.Sprint(err))); err != nil {
					return err
				}
				if err := busy.Wait(ctx); err != nil {
					return err
				}
				if crash {
					return errors.New("boom")
				}
				return nil
			}
			w.create("r")
			if st := w.execute(w.worker("w1"), "r"); st != run.Failed {
				t.Fatal(name, st)
			}
			w.replays("r")
			crash = false
			w.reopen("r", run.ReopenOptions{})
			if st := w.execute(w.worker("w2"), "r"); st != run.Done {
				t.Fatal(name, st)
			}
			if got := valid(t, w, "r"); len(got) != 1 || got[0] == "<nil>" {
				t.Errorf("%s: %q", name, got)
			}
		}
	})
}

// A panic in a step is the step's failure: it is recorded with its stack, the
// log has it, and the run can be replayed and resumed.
func TestPanicInAStepIsItsFailure(t *testing.T) {
	var tries atomic.Int64
	var logged bytes.Buffer
	w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
		_, err := run.Step(ctx, s, "fragile", func(context.Context, *run.Scope) (int, error) {
			if tries.Add(1) == 1 {
				var none []int
				none[tries.Load()]++
			}
			return 1, nil
		})
		return err
	})
	w.create("r")
	x := run.NewExecutor(run.ExecutorConfig{
		Journal: w.store, Owner: "w1", Log: slog.New(slog.NewTextHandler(&logged, nil)),
		Program: func(run.Record) (run.Func, run.Limits, error) { return w.fn, w.limit, nil },
	})
	defer x.Close()
	if st := w.execute(x, "r"); st != run.Failed {
		t.Fatal(st)
	}
	h, err := w.store.History(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	const here = "TestPanicInAStepIsItsFailure"
	f := h.Record.Failure
	if f.Code != "panic" || f.Step != "fragile" || !strings.Contains(f.Stack, here) || len(h.Entries) != 1 || !strings.Contains(string(h.Entries[0].Value), here) {
		t.Errorf("%+v, %+v", f, h.Entries)
	}
	if !strings.Contains(logged.String(), here) {
		t.Errorf("the log lacks the stack: %s", logged.String())
	}
	w.replays("r")
	w.reopen("r", run.ReopenOptions{})
	if st := w.execute(w.worker("w2"), "r"); st != run.Done {
		t.Fatal(st)
	}
	w.replays("r")
}

// A worker whose renewals fail starts nothing more once its lease may have
// ended, and stops what is under way before it does.
func TestALapsedLeaseStopsTheWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, journal := range map[string]func(run.Journal) run.Journal{
			"renewals fail": func(j run.Journal) run.Journal { return deaf{j} },
			"renewals hang": func(j run.Journal) run.Journal { return stuck{j} },
		} {
			var broken time.Duration
			began := time.Now()
			var calls atomic.Int64
			w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
				for i := range 100 {
					if _, err := run.Step(ctx, s, fmt.Sprint("call-", i), func(ctx context.Context, _ *run.Scope) (int, error) {
						calls.Add(1)
						select {
						case <-time.After(time.Minute):
							return 1, nil
						case <-ctx.Done():
							broken = time.Since(began)
							return 0, ctx.Err()
						}
					}); err != nil {
						return err
					}
				}
				return nil
			})
			w.create("r")
			x := run.NewExecutor(run.ExecutorConfig{
				Journal: journal(w.store), Owner: "w", TTL: 9 * time.Second,
				Program: func(run.Record) (run.Func, run.Limits, error) { return w.fn, w.limit, nil },
			})
			_, err := x.Execute(t.Context(), "r")
			if !errors.Is(err, run.ErrLapsed) || calls.Load() != 1 || broken >= 9*time.Second || broken < 5*time.Second {
				t.Errorf("%s: %v after %v and %d calls", name, err, broken, calls.Load())
			}
			x.Close()
		}
	})
}

// stuck is a journal whose renewals get no answer.
type stuck struct{ run.Journal }

func (stuck) Renew(ctx context.Context, _ string, _ time.Duration, _ map[string]int64) ([]string, []string, error) {
	<-ctx.Done()
	return nil, nil, ctx.Err()
}

// A process that was asleep past its lease starts nothing when it wakes: the
// clock is looked at before each step.
func TestASleeperStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			if _, err := run.Step(ctx, s, "first", count(&calls, "x")); err != nil {
				return err
			}
			time.Sleep(9 * time.Second) // exactly to the end of the lease, and nothing was renewed
			_, err := run.Step(ctx, s, "second", count(&calls, "x"))
			return err
		})
		w.create("r")
		x := run.NewExecutor(run.ExecutorConfig{
			Journal: deaf{w.store}, Owner: "w", TTL: 9 * time.Second,
			Program: func(run.Record) (run.Func, run.Limits, error) { return w.fn, w.limit, nil },
		})
		defer x.Close()
		if _, err := x.Execute(t.Context(), "r"); !errors.Is(err, run.ErrLapsed) || calls.Load() != 1 {
			t.Errorf("%v after %d calls", err, calls.Load())
		}
	})
}
