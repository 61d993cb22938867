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

// research is a run with everything in it: parallel branches, events inside
// and outside steps, a mailbox, a question, a fault.
func research(calls *atomic.Int64, model *atomic.Value) run.Func {
	call := func(ctx context.Context, s *run.Scope, name string) (string, error) {
		return run.Step(ctx, s, name, func(_ context.Context, s *run.Scope) (string, error) {
			calls.Add(1)
			time.Sleep(time.Duration(len(s.Path())%7) * time.Second)
			s.Charge(run.Spent{Calls: 1, InputTokens: 10})
			m := model.Load().(string)
			return m + ":" + name, s.Emit(event.Usage{Model: m, Input: 10})
		})
	}
	return func(ctx context.Context, s *run.Scope) error {
		if _, err := call(ctx, s, "plan"); err != nil {
			return err
		}
		inbox := run.NewMailbox[string](s, "findings")
		var tasks []*run.Task
		for _, name := range []string{"anna", "boris", "chen"} {
			tasks = append(tasks, run.Go(ctx, s, name, func(ctx context.Context, s *run.Scope) error {
				for i := range 2 {
					v, err := call(ctx, s, fmt.Sprint("look-", i))
					if err != nil {
						return err
					}
					if err := s.Emit(note(v)); err != nil {
						return err
					}
					if err := inbox.Send(s, v); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		for i := range 6 {
			v, err := inbox.Receive(ctx)
			if err != nil {
				return err
			}
			if err := s.Emit(event.SupervisorDecision{Decision: "continue", Reason: v}); err != nil {
				return err
			}
			if i == 3 {
				_, err := run.Step(ctx, s, "shaky", func(context.Context, *run.Scope) (int, error) { return 0, errors.New("no luck") })
				if _, ok := run.FaultOf(err); !ok {
					return err
				}
			}
		}
		if err := run.All(ctx, tasks...); err != nil {
			return err
		}
		a, err := s.Ask(ctx, run.Question{Questions: []string{"how long?"}})
		if err != nil {
			return err
		}
		text, err := call(ctx, s, "report")
		if err != nil {
			return err
		}
		return s.Emit(event.Message{Role: "assistant", Text: text + " " + a.Text})
	}
}

func finished(t *testing.T, calls *atomic.Int64, model *atomic.Value) (*world, *run.History, []run.PlacedEvent) {
	t.Helper()
	w := newWorld(t, research(calls, model))
	w.create("r")
	x := w.worker("w1")
	if st := w.execute(x, "r"); st != run.Waiting {
		t.Fatalf("status %s", st)
	}
	if err := w.store.Answer(t.Context(), "r", "", "long"); err != nil {
		t.Fatal(err)
	}
	if st := w.execute(x, "r"); st != run.Done {
		t.Fatalf("status %s", st)
	}
	h, err := w.store.History(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	log, err := w.store.Events(t.Context(), "r", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return w, h, log
}

func TestReplayGivesTheSameLogWithoutAnyEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		var model atomic.Value
		model.Store("small")
		w, h, log := finished(t, &calls, &model)
		made := calls.Load()
		got, err := run.Replay(t.Context(), h, log, w.fn, run.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if calls.Load() != made {
			t.Errorf("the replay made %d calls", calls.Load()-made)
		}
		want := make([]event.Event, len(log))
		for i := range log {
			want[i] = log[i].Event
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("the replayed log differs")
		}

		other := func(ctx context.Context, s *run.Scope) error {
			if err := s.Emit(note("new code")); err != nil {
				return err
			}
			return w.fn(ctx, s)
		}
		if _, err := run.Replay(t.Context(), h, log, other, run.Limits{}); err == nil {
			t.Error("changed code replays without an error")
		}
		more := func(ctx context.Context, s *run.Scope) error {
			if err := w.fn(ctx, s); err != nil {
				return err
			}
			_, err := run.Step(ctx, s, "extra", count(&calls, ""))
			return err
		}
		if _, err := run.Replay(t.Context(), h, log, more, run.Limits{}); !errors.Is(err, run.ErrLive) {
			t.Errorf("a live effect gives %v", err)
		}
	})
}

// A log that an earlier program wrote lacks the fields that kinds got since. It
// replays, and comes out as it is; what it has must still be so.
func TestReplayOfAnEarlierLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := "the answer"
		w := newWorld(t, func(_ context.Context, s *run.Scope) error {
			if err := s.Emit(event.AgentStarted{Name: "a", ID: "a_1"}); err != nil {
				return err
			}
			return s.Emit(event.Message{Role: "assistant", Text: "# " + said, Answer: said})
		})
		w.create("r")
		if st := w.execute(w.worker("w1"), "r"); st != run.Done {
			t.Fatalf("status %s", st)
		}
		h, err := w.store.History(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		log, err := w.store.Events(t.Context(), "r", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range log[:len(log)-2] { // the last event that the code emits is of this program
			log[i].Data = event.Earlier(log[i].Data)
		}
		got, err := run.Replay(t.Context(), h, log, w.fn, run.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range log {
			if !reflect.DeepEqual(got[i], log[i].Event) {
				t.Errorf("%+v became %+v", log[i].Data, got[i].Data)
			}
		}
		said = "another answer"
		if _, err := run.Replay(t.Context(), h, log, w.fn, run.Limits{}); err == nil {
			t.Error("another answer replays without an error")
		}
	})
}

func TestForkRunsOnlyWhatFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, at := range []string{"plan", "boris/look-1", "report"} {
			var calls atomic.Int64
			var model atomic.Value
			model.Store("small")
			w, h, log := finished(t, &calls, &model)
			entries, events, err := run.Fork(h, log, at)
			if err != nil {
				t.Fatal(err)
			}
			rec := run.Record{ID: "fork", Session: "s", Mode: "test", Status: run.Queued, Created: time.Now(), ForkOf: "r", ForkAt: at}
			if err := w.store.Create(t.Context(), rec, entries, events); err != nil {
				t.Fatal(err)
			}
			calls.Store(0)
			model.Store("large")
			x := w.worker("w2")
			st := w.execute(x, "fork")
			if st == run.Waiting {
				if err := w.store.Answer(t.Context(), "fork", "", "long"); err != nil {
					t.Fatal(err)
				}
				st = w.execute(x, "fork")
			}
			if st != run.Done {
				t.Fatalf("%s: status %s", at, st)
			}
			kept := 0
			for _, e := range entries {
				if e.Kind == run.EntryStep {
					kept++
				}
			}
			if want := int64(8 - kept); calls.Load() != want {
				t.Errorf("%s: %d calls, want %d", at, calls.Load(), want)
			}
			final := strings.Join(w.log("fork"), "\n")
			if !strings.Contains(final, `"text":"large:report long"`) {
				t.Errorf("%s: no new answer in\n%s", at, final)
			}
			// What the fork's log tells of its steps is what its steps gave.
			if got := strings.Count(final, `"model":"large"`); got != int(calls.Load()) {
				t.Errorf("%s: %d usage events of the new model, %d calls", at, got, calls.Load())
			}
			if strings.Count(final, "usage {") != 8 {
				t.Errorf("%s: usage events are missing or doubled:\n%s", at, final)
			}
		}
		var calls atomic.Int64
		var model atomic.Value
		model.Store("small")
		_, h, log := finished(t, &calls, &model)
		if _, _, err := run.Fork(h, log, "nowhere"); err == nil {
			t.Error("a fork at a step that does not exist")
		}
	})
}

// What other branches had not done yet when a run failed is no part of it.
func TestReplayOfAFailureThatInterruptedOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			run.Go(ctx, s, "slow", func(ctx context.Context, s *run.Scope) error {
				if err := s.Emit(note("begun")); err != nil {
					return err
				}
				_, err := run.Step(ctx, s, "work", func(ctx context.Context, _ *run.Scope) (int, error) {
					<-ctx.Done()
					return 0, ctx.Err()
				})
				return err
			})
			_, err := run.Step(ctx, s, "fails", func(context.Context, *run.Scope) (int, error) {
				time.Sleep(time.Second)
				return 0, errors.New("no")
			})
			return err
		})
		w.create("r")
		if st := w.execute(w.worker("w"), "r"); st != run.Failed {
			t.Fatal(st)
		}
		for range 20 { // in whatever order its branches come to their ends
			w.replays("r")
		}
		w.fn = func(ctx context.Context, s *run.Scope) error {
			_, _ = run.Step(ctx, s, "other", func(context.Context, *run.Scope) (int, error) { return 0, nil })
			return errors.New("step fails: no")
		}
		h, err := w.store.History(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Replay(t.Context(), h, nil, w.fn, w.limit); !errors.Is(err, run.ErrLive) {
			t.Errorf("code that does something else: %v", err)
		}
	})
}

// A run that ended before its questions were answered is replayed with them:
// its own, and the kernel's about an effect of which nobody knows.
func TestReplayOfQuestionsWithoutAnswers(t *testing.T) {
	for name, ask := range map[string]run.Func{
		"the run's": func(ctx context.Context, s *run.Scope) error {
			_, err := s.Ask(ctx, run.Question{Questions: []string{"go on?"}})
			return err
		},
		"the kernel's": func(ctx context.Context, s *run.Scope) error {
			_, err := run.EffectStep(ctx, s, run.Effectful, "effect", func(ctx context.Context, _ *run.Scope) (int, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fail := true
				w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
					asks := run.Go(ctx, s, "asks", ask)
					_, err := run.Step(ctx, s, "work", func(context.Context, *run.Scope) (int, error) {
						time.Sleep(time.Second)
						if fail {
							return 0, errors.New("no")
						}
						return 0, nil
					})
					if err != nil {
						return err
					}
					return asks.Wait(ctx)
				})
				x := w.worker("w")
				w.create("r")
				for range 2 { // the second time the effect is uncertain
					if st := w.execute(x, "r"); st != run.Failed {
						t.Fatal(st)
					}
					w.replays("r")
					w.reopen("r", run.ReopenOptions{})
				}
				fail = false
				if st := w.execute(x, "r"); st != run.Waiting {
					t.Fatal(st)
				}
				if err := w.store.Signal(t.Context(), "r", run.Signal{Kind: run.SignalCancel}); err != nil {
					t.Fatal(err)
				}
				if st := w.execute(x, "r"); st != run.Cancelled {
					t.Fatal(st)
				}
				w.replays("r")
			})
		})
	}
}
