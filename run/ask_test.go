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
