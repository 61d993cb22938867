package run_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dossier/event"
	"dossier/run"
)

func TestStepRunsOnceAndEventsAreNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var first, second atomic.Int64
		crash := true
		w := newWorld(t, nil)
		w.fn = func(ctx context.Context, s *run.Scope) error {
			if err := s.Emit(note("start")); err != nil {
				return err
			}
			a, err := run.Step(ctx, s, "first", count(&first, "A"))
			if err != nil {
				return err
			}
			if err := s.Emit(note("after " + a)); err != nil {
				return err
			}
			if crash {
				return errors.New("boom")
			}
			b, err := run.Step(ctx, s, "second", count(&second, "B"))
			if err != nil {
				return err
			}
			return s.Emit(note("end " + a + b))
		}
		w.create("r")
		if st := w.execute(w.worker("w1"), "r"); st != run.Failed {
			t.Fatalf("status %s", st)
		}
		crash = false
		w.reopen("r", run.ReopenOptions{})
		if st := w.execute(w.worker("w2"), "r"); st != run.Done {
			t.Fatalf("status %s", st)
		}
		if first.Load() != 1 || second.Load() != 1 {
			t.Errorf("first ran %d times, second %d", first.Load(), second.Load())
		}
		want := []string{
			`run.status {"status":"running"}`,
			`note.added {"text":"start"}`,
			`note.added {"text":"after A"}`,
			`run.error {"code":"failed","message":"boom","fatal":true}`,
			`run.status {"status":"failed","reason":"boom"}`,
			`run.reopened {}`,
			`run.status {"status":"running","reason":"resumed"}`,
			`note.added {"text":"end AB"}`,
			`run.status {"status":"done"}`,
		}
		if got := w.log("r"); !reflect.DeepEqual(got, want) {
			t.Errorf("log:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		synctest.Wait()
		if len(w.events) != len(want)-1 { // whoever reopens a run tells of that
			t.Errorf("%d events published, %d stored", len(w.events), len(want))
		}
	})
}

func TestDuplicateNamesAreAnError(t *testing.T) {
	for name, fn := range map[string]run.Func{
		"steps": func(ctx context.Context, s *run.Scope) error {
			var n atomic.Int64
			if _, err := run.Step(ctx, s, "x", count(&n, "")); err != nil {
				return err
			}
			_, err := run.Step(ctx, s, "x", count(&n, ""))
			return err
		},
		"children": func(ctx context.Context, s *run.Scope) error {
			s.Child("x")
			var n atomic.Int64
			_, err := run.Step(ctx, s.Child("x"), "y", count(&n, ""))
			return err
		},
		"bad name": func(ctx context.Context, s *run.Scope) error {
			var n atomic.Int64
			_, err := run.Step(ctx, s, "a/b", count(&n, ""))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, fn)
			w.create("r")
			if st := w.execute(w.worker("w"), "r"); st != run.Failed {
				t.Errorf("status %s", st)
			}
		})
	}
}

func TestFaultIsRecordedAndReplayed(t *testing.T) {
	var tries atomic.Int64
	var crash atomic.Bool
	crash.Store(true)
	w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
		_, err := run.Step(ctx, s, "shaky", func(context.Context, *run.Scope) (int, error) {
			tries.Add(1)
			return 0, errors.New("no luck")
		})
		f, ok := run.FaultOf(err)
		if !ok {
			return fmt.Errorf("not a fault: %w", err)
		}
		if err := s.Emit(note("went on after: " + f.Message)); err != nil {
			return err
		}
		if crash.Load() {
			return errors.New("later")
		}
		return nil
	})
	w.create("r")
	w.execute(w.worker("w1"), "r")
	crash.Store(false)
	w.reopen("r", run.ReopenOptions{})
	if st := w.execute(w.worker("w2"), "r"); st != run.Done || tries.Load() != 1 {
		t.Errorf("status %s after %d tries", st, tries.Load())
	}
}

// A step that finds no room for what it has to keep has not failed: nothing is
// recorded of it, and whoever takes the run up does it again.
func TestAStepWithoutRoomHasNotFailed(t *testing.T) {
	var full atomic.Bool
	full.Store(true)
	w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
		_, err := run.Step(ctx, s, "keep", func(context.Context, *run.Scope) (int, error) {
			if full.Load() {
				return 0, fmt.Errorf("keeping a page: %w", &run.UnstoredError{Code: "disk_full", Message: "the disk is full"})
			}
			return 1, nil
		})
		if _, failed := run.FaultOf(err); failed {
			return s.Emit(note("went on without it"))
		}
		return err
	})
	w.create("r")
	var unstored *run.UnstoredError
	if _, err := w.worker("w1").Execute(t.Context(), "r"); !errors.As(err, &unstored) {
		t.Fatalf("the run stops with %v", err)
	}
	if h, err := w.store.History(t.Context(), "r"); err != nil || len(h.Entries) != 0 || h.Record.Status != run.Running {
		t.Fatalf("%+v, %v", h, err)
	}
	full.Store(false)
	if err := w.store.Evict(t.Context(), "w1"); err != nil {
		t.Fatal(err)
	}
	if st := w.execute(w.worker("w2"), "r"); st != run.Done {
		t.Error(st)
	}
}

func TestReopenRetriesTheStepThatFailedTheRun(t *testing.T) {
	var tries atomic.Int64
	w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
		_, err := run.Step(ctx, s, "shaky", func(context.Context, *run.Scope) (int, error) {
			if tries.Add(1) == 1 {
				return 0, errors.New("no luck")
			}
			return 7, nil
		})
		return err
	})
	w.create("r")
	if st := w.execute(w.worker("w1"), "r"); st != run.Failed {
		t.Fatalf("status %s", st)
	}
	rec, err := w.store.Run(t.Context(), "r")
	if err != nil || rec.Failure == nil || rec.Failure.Step != "shaky" || rec.Failure.Message != "no luck" {
		t.Fatalf("failure %+v, %v", rec.Failure, err)
	}
	w.reopen("r", run.ReopenOptions{})
	if st := w.execute(w.worker("w2"), "r"); st != run.Done || tries.Load() != 2 {
		t.Errorf("status %s after %d tries", st, tries.Load())
	}
}

func TestPanicEndsTheRunAndNothingElse(t *testing.T) {
	w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
		task := run.Go(ctx, s, "child", func(context.Context, *run.Scope) error { panic("oh") })
		return run.All(ctx, task)
	})
	w.create("r")
	if st := w.execute(w.worker("w"), "r"); st != run.Failed {
		t.Errorf("status %s", st)
	}
}

// A worker that can't renew its lease gives the run up, and whoever is on it
// next is not disturbed.
func TestZombieIsFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int64
		block := make(chan struct{})
		w := newWorld(t, nil)
		w.fn = func(ctx context.Context, s *run.Scope) error {
			if _, err := run.Step(ctx, s, "slow", func(context.Context, *run.Scope) (int, error) {
				if ran.Add(1) == 1 {
					<-block // the zombie hangs here
				}
				return 1, nil
			}); err != nil {
				return err
			}
			return s.Emit(note("done"))
		}
		w.create("r")
		// The zombie's renewals stop with it: a journal that hears nothing.
		zombie := run.NewExecutor(run.ExecutorConfig{
			Journal: deaf{w.store}, Owner: "zombie", TTL: 9 * time.Second,
			Program: func(run.Record) (run.Func, run.Limits, error) { return w.fn, w.limit, nil },
		})
		t.Cleanup(zombie.Close)
		result := make(chan error, 1)
		go func() {
			_, err := zombie.Execute(t.Context(), "r")
			result <- err
		}()
		time.Sleep(time.Second)
		if _, err := w.worker("early").Execute(t.Context(), "r"); !errors.Is(err, run.ErrLeased) {
			t.Fatalf("a live lease was taken: %v", err)
		}
		time.Sleep(10 * time.Second)
		if st := w.execute(w.worker("heir"), "r"); st != run.Done {
			t.Fatalf("status %s", st)
		}
		want := w.log("r")
		close(block)
		if err := <-result; !errors.Is(err, run.ErrLapsed) {
			t.Errorf("the zombie got %v", err)
		}
		if got := w.log("r"); !reflect.DeepEqual(got, want) {
			t.Errorf("the zombie wrote:\n%s", strings.Join(got, "\n"))
		}
	})
}

// deaf is a journal whose renewals never reach it.
type deaf struct{ run.Journal }

func (deaf) Renew(context.Context, string, time.Duration, map[string]int64) ([]string, []string, error) {
	return nil, nil, errors.New("not heard")
}

func TestShutdownQueuesTheRunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			_, err := run.Step(ctx, s, "long", func(ctx context.Context, _ *run.Scope) (int, error) {
				select {
				case <-ctx.Done():
					return 0, ctx.Err()
				case <-time.After(time.Hour):
					return 1, nil
				}
			})
			return err
		})
		w.create("r")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		st, err := w.worker("w1").Execute(ctx, "r")
		if err != nil || st != run.Queued {
			t.Fatalf("%s, %v", st, err)
		}
		if st := w.execute(w.worker("w2"), "r"); st != run.Done {
			t.Errorf("status %s", st)
		}
	})
}

func TestEffectfulStepAsksAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, answer := range []string{"retry", "skip"} {
			var fired atomic.Int64
			w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
				_, err := run.EffectStep(ctx, s, run.Effectful, "pay", func(ctx context.Context, _ *run.Scope) (int, error) {
					if fired.Add(1) == 1 {
						<-ctx.Done() // the machine is lost while the money is on its way
					}
					return 1, nil
				})
				if f, ok := run.FaultOf(err); ok && f.Code == "unknown_effect" {
					return s.Emit(note("skipped"))
				}
				return err
			})
			w.create("r")
			ctx, lost := context.WithTimeout(t.Context(), time.Minute)
			if _, err := w.worker("w1").Execute(ctx, "r"); err != nil {
				t.Fatal(err)
			}
			lost()
			if st := w.execute(w.worker("w2"), "r"); st != run.Waiting || fired.Load() != 1 {
				t.Fatalf("status %s, fired %d times", st, fired.Load())
			}
			if err := w.store.Answer(t.Context(), "r", "", answer); err != nil {
				t.Fatal(err)
			}
			st := w.execute(w.worker("w3"), "r")
			skipped := strings.Contains(strings.Join(w.log("r"), "\n"), "skipped")
			if st != run.Done || (answer == "skip") != skipped || (answer == "retry") != (fired.Load() == 2) {
				t.Errorf("%s: status %s, fired %d, skipped %v", answer, st, fired.Load(), skipped)
			}
		}
	})
}

func TestOutOfStorageStopsTheRun(t *testing.T) {
	w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
		var n atomic.Int64
		for i := range 3 {
			if _, err := run.Step(ctx, s, fmt.Sprint("step-", i), count(&n, "")); err != nil {
				return err
			}
		}
		return nil
	})
	w.create("r")
	full := errors.New("the disk is full")
	x := run.NewExecutor(run.ExecutorConfig{
		Journal: &flaky{Journal: w.store, after: 2, err: full}, Owner: "w",
		Program: func(run.Record) (run.Func, run.Limits, error) { return w.fn, w.limit, nil },
	})
	defer x.Close()
	if _, err := x.Execute(t.Context(), "r"); !errors.Is(err, full) {
		t.Errorf("err %v", err)
	}
}

// flaky fails every commit after the first few.
type flaky struct {
	run.Journal
	after int
	err   error
}

func (f *flaky) Commit(b *run.Batch, done func(error)) {
	if f.after--; f.after < 0 {
		done(f.err)
		return
	}
	f.Journal.Commit(b, done)
}

// Whoever follows a run sees a transient event after the durable ones that were
// emitted before it, though those have to be stored first.
func TestTransientEventsKeepTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			for i := range 3 {
				if err := s.Emit(note(fmt.Sprint(i))); err != nil {
					return err
				}
				if err := s.Emit(event.AnswerDelta{Text: fmt.Sprint(i)}); err != nil {
					return err
				}
			}
			return nil
		})
		w.create("r")
		journal := newSlow(w.store)
		defer close(journal.queue)
		x := run.NewExecutor(run.ExecutorConfig{
			Journal: journal, Owner: "w",
			Program: func(run.Record) (run.Func, run.Limits, error) { return w.fn, w.limit, nil },
			Publish: func(e event.Event) { w.events = append(w.events, e) },
		})
		defer x.Close()
		w.execute(x, "r")
		var got []event.Kind
		for _, e := range w.events {
			got = append(got, e.Kind())
		}
		want := []event.Kind{
			"run.status", "note.added", "answer.delta", "note.added", "answer.delta", "note.added", "answer.delta", "run.status",
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v", got)
		}
	})
}

// slow is a journal that takes its time.
type slow struct {
	run.Journal
	queue chan func()
}

func newSlow(j run.Journal) slow {
	s := slow{j, make(chan func(), 100)}
	go func() {
		for report := range s.queue {
			time.Sleep(time.Second)
			report()
		}
	}()
	return s
}

func (s slow) Commit(b *run.Batch, done func(error)) {
	s.Journal.Commit(b, func(err error) { s.queue <- func() { done(err) } })
}

// A loop over a mailbox ends when nobody is left to send, live and replayed.
func TestMailboxLoopReplays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			inbox := run.NewMailbox[int](s, "inbox")
			for i := range 3 {
				run.Go(ctx, s, fmt.Sprint("agent-", i), func(ctx context.Context, s *run.Scope) error {
					v, err := run.Step(ctx, s, "work", func(context.Context, *run.Scope) (int, error) { return i, nil })
					if err != nil {
						return err
					}
					return inbox.Send(s, v)
				})
			}
			sum := 0
			for {
				v, err := inbox.Receive(ctx)
				if errors.Is(err, run.ErrNoSender) {
					return s.Emit(note(fmt.Sprint("sum ", sum)))
				}
				if err != nil {
					return err
				}
				sum += v
			}
		})
		w.create("r")
		if st := w.execute(w.worker("w"), "r"); st != run.Done {
			t.Fatalf("status %s: %v", st, w.log("r"))
		}
		w.replays("r")
	})
}

// Code that passes over a pause does not get its answer recorded, and a finish
// that comes while it unwinds is not lost.
func TestPauseThatTheCodePassesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			for i := range 3 {
				if _, err := run.Step(ctx, s, fmt.Sprint("step-", i), func(context.Context, *run.Scope) (int, error) {
					time.Sleep(10 * time.Second)
					return i, nil
				}); err != nil {
					time.Sleep(10 * time.Second) // takes its time
					return s.Emit(note("made without the step"))
				}
			}
			if err := s.Budget().Check(); errors.Is(err, run.ErrFinish) {
				return s.Emit(note("finished early"))
			}
			return s.Emit(note("made with all"))
		})
		w.create("r")
		x := w.worker("w")
		done := make(chan run.Status, 1)
		go func() { done <- w.execute(x, "r") }()
		time.Sleep(5 * time.Second)
		for _, kind := range []run.SignalKind{run.SignalPause, run.SignalFinish} {
			if err := w.store.Signal(t.Context(), "r", run.Signal{Kind: kind}); err != nil {
				t.Fatal(err)
			}
			if _, err := x.Notify(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second) // the code sees the pause before the finish comes
		}
		if st := <-done; st != run.Done {
			t.Fatalf("status %s: %v", st, w.log("r"))
		}
		log := strings.Join(w.log("r"), "\n")
		if strings.Contains(log, "made without") || !strings.Contains(log, "finished early") {
			t.Error(log)
		}
	})
}
