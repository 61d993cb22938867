package run_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/run"
)

// world is a store with workers on it.
type world struct {
	t     *testing.T
	store *memory.Store
	fn    run.Func
	limit run.Limits

	mu     sync.Mutex
	events []event.Event // as published
}

func newWorld(t *testing.T, fn run.Func) *world {
	return &world{t: t, store: memory.New(memory.Options{}), fn: fn}
}

func (w *world) worker(name string) *run.Executor {
	x := run.NewExecutor(run.ExecutorConfig{
		Journal: w.store, Owner: name, TTL: 9 * time.Second,
		Program: func(run.Record) (run.Func, run.Limits, error) { return w.fn, w.limit, nil },
		Publish: func(e event.Event) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, e)
		},
	})
	w.t.Cleanup(x.Close)
	return x
}

func (w *world) create(id string) {
	w.t.Helper()
	if err := w.store.Create(w.t.Context(), run.Record{ID: id, Session: "s", Mode: "test", Status: run.Queued, Created: time.Now()}, nil, nil); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) execute(x *run.Executor, id string) run.Status {
	w.t.Helper()
	st, err := x.Execute(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return st
}

// reopen takes a run up again.
func (w *world) reopen(id string, o run.ReopenOptions) run.Reopening {
	w.t.Helper()
	h, err := w.store.History(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := run.Reopen(h, o)
	if err == nil {
		err = w.store.Reopen(w.t.Context(), id, r)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// replays checks that a run that is over can be replayed.
func (w *world) replays(id string) {
	w.t.Helper()
	h, err := w.store.History(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	log, err := w.store.Events(w.t.Context(), id, 0, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := run.Replay(w.t.Context(), h, log, w.fn, w.limit); err != nil {
		w.t.Error(err)
	}
}

// log returns the durable events as "agent kind data".
func (w *world) log(id string) []string {
	w.t.Helper()
	placed, err := w.store.Events(context.Background(), id, 0, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for i, p := range placed {
		if p.Seq != int64(i+1) {
			w.t.Fatalf("event %d has sequence %d", i+1, p.Seq)
		}
		data, err := event.EncodeData(p.Data)
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", p.Agent, p.Kind(), data)))
	}
	return out
}

func note(text string) event.NoteAdded { return event.NoteAdded{Text: text} }

// count is a step that counts how often it really ran.
func count(n *atomic.Int64, result string) func(context.Context, *run.Scope) (string, error) {
	return func(context.Context, *run.Scope) (string, error) {
		n.Add(1)
		return result, nil
	}
}

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

func TestAskParksAndAnswerResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var before, after atomic.Int64
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			if _, err := run.Step(ctx, s, "before", count(&before, "")); err != nil {
				return err
			}
			a, err := s.Ask(ctx, run.Question{Questions: []string{"which year?"}})
			if err != nil {
				return err
			}
			if _, err := run.Step(ctx, s, "after", count(&after, "")); err != nil {
				return err
			}
			return s.Emit(note("year " + a.Text))
		})
		w.create("r")
		if st := w.execute(w.worker("w1"), "r"); st != run.Waiting {
			t.Fatalf("status %s", st)
		}
		asks, err := w.store.Asks(t.Context(), "r")
		if err != nil || len(asks) != 1 {
			t.Fatalf("asks %v, %v", asks, err)
		}
		time.Sleep(72 * time.Hour) // virtual: answers may come days later
		if err := w.store.Answer(t.Context(), "r", asks[0].Key, "2026"); err != nil {
			t.Fatal(err)
		}
		if st := w.execute(w.worker("w2"), "r"); st != run.Done {
			t.Fatalf("status %s", st)
		}
		if before.Load() != 1 || after.Load() != 1 {
			t.Errorf("steps ran %d and %d times", before.Load(), after.Load())
		}
		log := strings.Join(w.log("r"), "\n")
		for _, want := range []string{"clarify.asked", `clarify.answered {"id":"?1","answer":"2026"}`, `"text":"year 2026"`, `"status":"waiting"`} {
			if strings.Count(log, want) != 1 {
				t.Errorf("the log has %q %d times:\n%s", want, strings.Count(log, want), log)
			}
		}
	})
}

// An Ask in one branch lets the others work to their ends before it parks.
func TestAskWaitsForOtherBranches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var work atomic.Int64
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			asking := run.Go(ctx, s, "asking", func(ctx context.Context, s *run.Scope) error {
				_, err := s.Ask(ctx, run.Question{Questions: []string{"?"}})
				return err
			})
			working := run.Go(ctx, s, "working", func(ctx context.Context, s *run.Scope) error {
				for i := range 5 {
					if _, err := run.Step(ctx, s, fmt.Sprint("step-", i), func(context.Context, *run.Scope) (int, error) {
						time.Sleep(time.Second)
						return int(work.Add(1)), nil
					}); err != nil {
						return err
					}
				}
				return nil
			})
			return run.All(ctx, asking, working)
		})
		w.create("r")
		if st := w.execute(w.worker("w1"), "r"); st != run.Waiting || work.Load() != 5 {
			t.Fatalf("status %s after %d steps", st, work.Load())
		}
		if err := w.store.Answer(t.Context(), "r", "", "yes"); err != nil {
			t.Fatal(err)
		}
		if st := w.execute(w.worker("w2"), "r"); st != run.Done || work.Load() != 5 {
			t.Errorf("status %s after %d steps", st, work.Load())
		}
	})
}

// An answer that comes while other branches work goes straight to the branch.
func TestAnswerWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			asking := run.Go(ctx, s, "asking", func(ctx context.Context, s *run.Scope) error {
				a, err := s.Ask(ctx, run.Question{Questions: []string{"?"}})
				if err != nil {
					return err
				}
				return s.Emit(note("heard " + a.Text))
			})
			working := run.Go(ctx, s, "working", func(ctx context.Context, s *run.Scope) error {
				_, err := run.Step(ctx, s, "long", func(context.Context, *run.Scope) (int, error) {
					time.Sleep(time.Minute)
					return 1, nil
				})
				return err
			})
			return run.All(ctx, asking, working)
		})
		w.create("r")
		x := w.worker("w")
		done := make(chan run.Status, 1)
		go func() { done <- w.execute(x, "r") }()
		time.Sleep(10 * time.Second)
		if err := w.store.Answer(t.Context(), "r", "", "you"); err != nil {
			t.Fatal(err)
		}
		if live, err := x.Notify(t.Context(), "r"); !live || err != nil {
			t.Fatalf("live %v, %v", live, err)
		}
		if st := <-done; st != run.Done {
			t.Errorf("status %s", st)
		}
		if rec, _ := w.store.Run(t.Context(), "r"); rec.Epoch != 1 {
			t.Errorf("the run was parked: epoch %d", rec.Epoch)
		}
	})
}

func TestMailboxOrderSurvives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var crash atomic.Bool
		crash.Store(true)
		delays := []time.Duration{3, 1, 2}
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			inbox := run.NewMailbox[string](s, "findings")
			var tasks []*run.Task
			for i := range delays {
				tasks = append(tasks, run.Go(ctx, s, fmt.Sprint("agent-", i), func(ctx context.Context, s *run.Scope) error {
					v, err := run.Step(ctx, s, "work", func(context.Context, *run.Scope) (string, error) {
						time.Sleep(delays[i] * time.Second)
						return fmt.Sprint("finding ", i), nil
					})
					if err != nil {
						return err
					}
					return inbox.Send(s, v)
				}))
			}
			for n := range delays {
				v, err := inbox.Receive(ctx)
				if err != nil {
					return err
				}
				if err := s.Emit(note(v)); err != nil {
					return err
				}
				if _, err := run.Step(ctx, s, fmt.Sprint("review-", n), func(context.Context, *run.Scope) (string, error) { return v, nil }); err != nil {
					return err
				}
				if n == 1 && crash.Load() {
					return errors.New("crash")
				}
			}
			return run.All(ctx, tasks...)
		})
		w.create("r")
		if st := w.execute(w.worker("w1"), "r"); st != run.Failed {
			t.Fatalf("status %s", st)
		}
		crash.Store(false)
		w.reopen("r", run.ReopenOptions{})
		delays = []time.Duration{1, 2, 3} // another order now
		if st := w.execute(w.worker("w2"), "r"); st != run.Done {
			t.Fatalf("status %s: %v", st, w.log("r"))
		}
		var order []string
		for _, line := range w.log("r") {
			if _, text, ok := strings.Cut(line, `{"text":"finding `); ok {
				order = append(order, text[:1])
			}
		}
		if got := strings.Join(order, ""); got != "120" {
			t.Errorf("order %s", got)
		}
	})
}

func TestReceiveWithoutSendersIsAnError(t *testing.T) {
	w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
		inbox := run.NewMailbox[int](s, "inbox")
		run.Go(ctx, s, "silent", func(context.Context, *run.Scope) error { return nil })
		_, err := inbox.Receive(ctx)
		return err
	})
	w.create("r")
	w.execute(w.worker("w"), "r")
	rec, err := w.store.Run(t.Context(), "r")
	if err != nil || rec.Failure == nil || rec.Failure.Message != run.ErrNoSender.Error() {
		t.Errorf("failure %+v, %v", rec.Failure, err)
	}
}

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
