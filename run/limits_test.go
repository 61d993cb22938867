package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dossier/run"
)

// A limit of searches or pages stops those who search or read, and nobody else.
func TestLimitsConcernThoseWhoSpend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			_, err := run.Step(ctx, s, "find", func(_ context.Context, s *run.Scope) (int, error) {
				s.Charge(run.Spent{Searches: 2, Pages: 1})
				return 0, nil
			})
			if err != nil {
				return err
			}
			b := s.Budget()
			return s.Emit(note(fmt.Sprintf("model: %t; search: %v; read: %t", b.Check() == nil, b.Check(run.Searches), b.Check(run.Pages) == nil)))
		})
		w.limit = run.Limits{Searches: 2, Pages: 9}
		w.create("r")
		w.execute(w.worker("w"), "r")
		w.replays("r")
		if log := strings.Join(w.log("r"), "\n"); !strings.Contains(log, "model: true; search: the budget of searches is spent: 2 of 2; read: true") {
			t.Error(log)
		}
	})
}

// Branches that read at once stay within the limit together, and what could not
// be read is given back to the others.
func TestReservedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			read := func(name string, takes time.Duration, fails bool) *run.Task {
				return run.Go(ctx, s, name, func(ctx context.Context, s *run.Scope) error {
					said, err := run.Step(ctx, s, "read", func(_ context.Context, s *run.Scope) (string, error) {
						release, err := s.Budget().Reserve(run.Pages)
						if err != nil {
							return run.Reason(err), nil
						}
						defer release()
						if time.Sleep(takes); fails {
							return "gone", nil
						}
						s.Charge(run.Spent{Pages: 1})
						return "read", nil
					})
					if err != nil {
						return err
					}
					return s.Emit(note(name + ": " + said))
				})
			}
			// Both pages are being read when the third comes.
			first, second := read("a", time.Second, false), read("b", time.Second, true)
			time.Sleep(time.Millisecond)
			if err := run.All(ctx, first, second, read("c", 0, false)); err != nil {
				return err
			}
			return run.All(ctx, read("d", 0, false), read("e", time.Second, false))
		})
		w.limit = run.Limits{Pages: 2}
		w.create("r")
		if st := w.execute(w.worker("w"), "r"); st != run.Done {
			t.Fatal(st)
		}
		w.replays("r")
		log := strings.Join(w.log("r"), "\n")
		for _, want := range []string{"a: read", "b: gone", "c: the budget of pages is spent"} {
			if !strings.Contains(log, want) {
				t.Errorf("%q is missing:\n%s", want, log)
			}
		}
		if d, e := strings.Contains(log, "d: read"), strings.Contains(log, "e: read"); d == e {
			t.Errorf("one more may be read:\n%s", log)
		}
	})
}

// Work that can be broken off ends when the time of the run is up, and the user
// is told.
func TestTimeIsUpWhileWorking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			why, err := run.Step(ctx, s, "work", func(ctx context.Context, s *run.Scope) (string, error) {
				ctx, cancel := s.UntilFinish(ctx)
				defer cancel()
				<-ctx.Done()
				return context.Cause(ctx).Error(), nil
			})
			if err != nil {
				return err
			}
			return s.Emit(note(why))
		})
		w.limit = run.Limits{Time: 3 * time.Second}
		w.create("r")
		if st := w.execute(w.worker("w"), "r"); st != run.Done {
			t.Fatal(st)
		}
		w.replays("r")
		log := strings.Join(w.log("r"), "\n")
		for _, want := range []string{"the budget of time is spent: 3 of 3", `"hit":true`} {
			if !strings.Contains(log, want) {
				t.Errorf("%q is missing:\n%s", want, log)
			}
		}
	})
}
