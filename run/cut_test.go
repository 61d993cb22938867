package run_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dossier/event"
	"dossier/run"
)

// A search in three branches: two that fail and one that is paid for.
func TestReopenTriesAgainWhatFailedAndKeepsWhatDidNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		down.Store(true)
		var calls [3]atomic.Int64
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			if err := s.Emit(note("begin")); err != nil {
				return err
			}
			var tasks []*run.Task
			var failed [3]error
			for i := range 3 {
				tasks = append(tasks, run.Go(ctx, s, fmt.Sprint("q", i), func(ctx context.Context, s *run.Scope) error {
					_, failed[i] = run.Step(ctx, s, "search", func(_ context.Context, s *run.Scope) (string, error) {
						time.Sleep(time.Duration(i) * time.Second)
						calls[i].Add(1)
						if i < 2 && down.Load() {
							return "", errors.Join(errors.New("refused"), s.Emit(note("in vain")))
						}
						return "hit", s.Emit(note("found"))
					})
					if failed[i] != nil {
						return s.Emit(note("failed"))
					}
					return s.Emit(note("worked"))
				}))
			}
			if err := run.All(ctx, tasks...); err != nil {
				return err
			}
			if err := errors.Join(failed[:]...); err != nil {
				return fmt.Errorf("no engine answered: %w", err)
			}
			return s.Emit(note("end"))
		})
		w.create("r")
		if st := w.execute(w.worker("w1"), "r"); st != run.Failed {
			t.Fatal(st)
		}
		w.replays("r")
		rec, err := w.store.Run(t.Context(), "r")
		if err != nil || rec.Failure == nil || !slices.Equal(rec.Failure.Steps, []string{"q0/search", "q1/search"}) {
			t.Fatalf("failure %+v, %v", rec.Failure, err)
		}
		before := w.log("r")
		down.Store(false)
		r := w.reopen("r", run.ReopenOptions{})
		if got := w.log("r")[:len(before)]; !reflect.DeepEqual(got, before) {
			t.Errorf("what clients have seen was changed:\n%s", strings.Join(got, "\n"))
		}
		if st := w.execute(w.worker("w2"), "r"); st != run.Done {
			t.Fatal(st)
		}
		if a, b, c := calls[0].Load(), calls[1].Load(), calls[2].Load(); a != 2 || b != 2 || c != 1 {
			t.Errorf("%d, %d and %d calls; the third was paid for", a, b, c)
		}
		w.replays("r")
		told, ok := r.Event.Data.(event.RunReopened)
		if !ok || len(told.Steps) != 2 || len(told.Void) == 0 {
			t.Fatalf("%+v", r.Event.Data)
		}
		// What is not void is the log of a run that never failed.
		if got, want := valid(t, w, "r"), []string{"begin", "q2 found", "q2 worked", "q0 found", "q0 worked", "q1 found", "q1 worked", "end"}; !reflect.DeepEqual(got, want) {
			t.Errorf("valid: %q", got)
		}
	})
}

// valid are the notes of a run's log that no reopening made void.
func valid(t *testing.T, w *world, id string) (out []string) {
	t.Helper()
	log, err := w.store.Events(t.Context(), id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	void := make(map[int64]bool)
	for _, p := range log {
		if r, ok := p.Data.(event.RunReopened); ok {
			for _, v := range r.Void {
				for seq := v[0]; seq <= v[1]; seq++ {
					void[seq] = true
				}
			}
		}
	}
	for _, p := range log {
		if n, ok := p.Data.(event.NoteAdded); ok && !void[p.Seq] {
			out = append(out, strings.TrimSpace(p.Agent+" "+n.Text))
		}
		if void[p.Seq] != run.IsVoid(p.Place) {
			t.Errorf("event %d at %q: void by the log: %v", p.Seq, p.Place, void[p.Seq])
		}
	}
	return out
}

// What was recorded after the failing step, and may have come of it, is done
// anew: here the code went on by another way.
func TestReopenVoidsWhatCameOfTheFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var up atomic.Bool
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			_, err := run.Step(ctx, s, "best", func(context.Context, *run.Scope) (int, error) {
				if !up.Load() {
					return 0, errors.New("no luck")
				}
				return 1, nil
			})
			if err == nil {
				return s.Emit(note("best"))
			}
			if run.Stopped(err) {
				return err
			}
			if err := s.Emit(note("second best")); err != nil {
				return err
			}
			task := run.Go(ctx, s, "other", func(ctx context.Context, s *run.Scope) error {
				_, err := run.Step(ctx, s, "way", func(context.Context, *run.Scope) (int, error) { return 2, nil })
				return err
			})
			if err := task.Wait(ctx); err != nil {
				return err
			}
			return err
		})
		w.create("r")
		if st := w.execute(w.worker("w1"), "r"); st != run.Failed {
			t.Fatal(st)
		}
		up.Store(true)
		r := w.reopen("r", run.ReopenOptions{})
		if want := []run.EntryRef{{Key: "best", Kind: run.EntryFault}, {Key: "other/way", Kind: run.EntryStep}}; !reflect.DeepEqual(r.Drop, want) {
			t.Errorf("dropped %v", r.Drop)
		}
		if st := w.execute(w.worker("w2"), "r"); st != run.Done {
			t.Fatal(st)
		}
		w.replays("r")
		if got := valid(t, w, "r"); !reflect.DeepEqual(got, []string{"best"}) {
			t.Errorf("%q", got)
		}
	})
}

// A receiver that got a message of a branch that is done anew gets it anew.
func TestReopenFollowsMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries, used atomic.Int64
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			work := run.Go(ctx, s, "work", func(ctx context.Context, s *run.Scope) error {
				inbox := run.NewMailbox[string](s, "inbox")
				sender := run.Go(ctx, s, "sender", func(ctx context.Context, s *run.Scope) error {
					text, err := run.Step(ctx, s, "write", func(context.Context, *run.Scope) (string, error) {
						if tries.Add(1) == 1 {
							return "", errors.New("no luck")
						}
						return "news", nil
					})
					if err != nil && !run.Stopped(err) {
						text = "nothing"
					}
					return errors.Join(inbox.Send(s, text), err)
				})
				text, err := inbox.Receive(ctx)
				if err != nil {
					return err
				}
				if _, err := run.Step(ctx, s, "use", count(&used, text)); err != nil {
					return err
				}
				if err := s.Emit(note("used " + text)); err != nil {
					return err
				}
				return sender.Wait(ctx)
			})
			return work.Wait(ctx)
		})
		w.create("r")
		if st := w.execute(w.worker("w1"), "r"); st != run.Failed {
			t.Fatal(st)
		}
		w.reopen("r", run.ReopenOptions{})
		if st := w.execute(w.worker("w2"), "r"); st != run.Done || used.Load() != 2 {
			t.Fatal(st, used.Load())
		}
		w.replays("r")
		if got := valid(t, w, "r"); !reflect.DeepEqual(got, []string{"work used news"}) {
			t.Errorf("%q", got)
		}
	})
}

func TestReopenFromAStep(t *testing.T) {
	var calls [3]atomic.Int64
	w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
		for i := range 3 {
			if _, err := run.Step(ctx, s, fmt.Sprint("s", i), count(&calls[i], "x")); err != nil {
				return err
			}
		}
		return errors.New("no use")
	})
	w.create("r")
	w.execute(w.worker("w1"), "r")
	w.reopen("r", run.ReopenOptions{From: "s1"})
	w.execute(w.worker("w2"), "r")
	if a, b, c := calls[0].Load(), calls[1].Load(), calls[2].Load(); a != 1 || b != 2 || c != 2 {
		t.Errorf("%d, %d and %d calls", a, b, c)
	}
	h, err := w.store.History(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	var none *run.NoStepError
	if _, err := run.Reopen(h, run.ReopenOptions{From: "s9"}); !errors.As(err, &none) {
		t.Error(err)
	}
}

// A run that ended with what there was, because its budget was spent or it was
// told to finish, goes on where it fell short when it may.
func TestReopenWithMoreToSpend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, inside := range map[string]bool{"checked in the step": true, "checked before it": false} {
			var calls, writes atomic.Int64
			w := newWorld(t, nil)
			w.fn = func(ctx context.Context, s *run.Scope) error {
				found := 0
				for i := range 4 {
					if !inside && s.Budget().Check() != nil {
						break
					}
					n, err := run.Step(ctx, s, fmt.Sprint("look-", i), func(_ context.Context, s *run.Scope) (int, error) {
						if spent := inside && s.Budget().Check() != nil; spent {
							return 0, nil
						}
						calls.Add(1)
						s.Charge(run.Spent{InputTokens: 10})
						return 1, nil
					})
					if err != nil {
						return err
					}
					found += n
				}
				if _, err := run.Step(ctx, s, "write", count(&writes, "x")); err != nil {
					return err
				}
				return s.Emit(note(fmt.Sprint(found, " found")))
			}
			w.limit = run.Limits{Tokens: 20}
			w.create("r")
			if st := w.execute(w.worker("w1"), "r"); st != run.Done || calls.Load() != 2 {
				t.Fatal(name, st, calls.Load())
			}
			h, err := w.store.History(t.Context(), "r")
			if err != nil {
				t.Fatal(err)
			}
			var spent *run.SpentError
			if _, err := run.Reopen(h, run.ReopenOptions{}); !errors.As(err, &spent) || spent.What != "tokens" {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := run.Reopen(h, run.ReopenOptions{Raised: []string{"cost"}}); !errors.As(err, &spent) {
				t.Errorf("%s: %v", name, err)
			}
			w.limit.Tokens = 100
			w.reopen("r", run.ReopenOptions{Raised: []string{"tokens"}})
			if st := w.execute(w.worker("w2"), "r"); st != run.Done || calls.Load() != 4 || writes.Load() != 2 {
				t.Fatal(name, st, calls.Load(), writes.Load())
			}
			w.replays("r")
			if got := valid(t, w, "r"); !reflect.DeepEqual(got, []string{"4 found"}) {
				t.Errorf("%s: %q", name, got)
			}
			h, err = w.store.History(t.Context(), "r")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := run.Reopen(h, run.ReopenOptions{}); !errors.Is(err, run.ErrEnded) {
				t.Errorf("%s: a run that lacks nothing: %v", name, err)
			}
		}
	})
}

func TestReopenAfterFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			text, err := run.Step(ctx, s, "write", func(ctx context.Context, s *run.Scope) (string, error) {
				ctx, cancel := s.UntilFinish(ctx)
				defer cancel()
				calls.Add(1)
				select {
				case <-ctx.Done():
					return "half", nil
				case <-time.After(time.Minute):
					return "whole", nil
				}
			})
			if err != nil {
				return err
			}
			a, err := s.Ask(ctx, run.Question{Questions: []string{"enough?"}})
			if err != nil {
				return err
			}
			return s.Emit(note(fmt.Sprint(text, " ", a.Skipped)))
		})
		w.create("r")
		x := w.worker("w1")
		go func() {
			time.Sleep(time.Second)
			if err := w.store.Signal(t.Context(), "r", run.Signal{Kind: run.SignalFinish}); err == nil {
				_, _ = x.Notify(t.Context(), "r")
			}
		}()
		if st := w.execute(x, "r"); st != run.Done {
			t.Fatal(st)
		}
		if got := valid(t, w, "r"); !reflect.DeepEqual(got, []string{"half true"}) {
			t.Fatalf("%q", got)
		}
		w.reopen("r", run.ReopenOptions{})
		if st := w.execute(x, "r"); st != run.Waiting {
			t.Fatal(st)
		}
		if err := w.store.Answer(t.Context(), "r", "", "yes"); err != nil {
			t.Fatal(err)
		}
		if st := w.execute(x, "r"); st != run.Done || calls.Load() != 2 {
			t.Fatal(st, calls.Load())
		}
		w.replays("r")
		if got := valid(t, w, "r"); !reflect.DeepEqual(got, []string{"whole false"}) {
			t.Errorf("%q", got)
		}
	})
}

// A question that is asked again may be another one: its answer is not taken
// from before.
func TestReopenAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int64
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			n, err := run.Step(ctx, s, "think", func(context.Context, *run.Scope) (int64, error) { return tries.Add(1), nil })
			if err != nil {
				return err
			}
			a, err := s.Ask(ctx, run.Question{Questions: []string{fmt.Sprint("question ", n)}})
			if err != nil {
				return err
			}
			if n == 1 {
				return errors.New("no use")
			}
			return s.Emit(note(a.Text))
		})
		w.create("r")
		x := w.worker("w")
		answer := func(text string) {
			t.Helper()
			if st := w.execute(x, "r"); st != run.Waiting {
				t.Fatal(st)
			}
			if err := w.store.Answer(t.Context(), "r", "", text); err != nil {
				t.Fatal(err)
			}
		}
		answer("one")
		if st := w.execute(x, "r"); st != run.Failed {
			t.Fatal(st)
		}
		w.reopen("r", run.ReopenOptions{From: "think"})
		answer("two")
		if st := w.execute(x, "r"); st != run.Done {
			t.Fatal(st)
		}
		if got := valid(t, w, "r"); !reflect.DeepEqual(got, []string{"two"}) {
			t.Errorf("%q", got)
		}
		w.replays("r")
	})
}
