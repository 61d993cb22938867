package run_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dossier/run"
)

// What the user said is seen once, also when the run is taken up in between,
// and a fork hears what is said to it.
func TestSteeringIsNotSeenAgainAfterAResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(ctx context.Context, s *run.Scope) error {
			first, err := s.Steer()
			if err != nil {
				return err
			}
			if _, err := s.Ask(ctx, run.Question{Questions: []string{"go on?"}}); err != nil {
				return err
			}
			if _, err := run.Step(ctx, s, "work", func(context.Context, *run.Scope) (int, error) { return 0, nil }); err != nil {
				return err
			}
			then, err := s.Steer()
			if err != nil {
				return err
			}
			return s.Emit(note(strings.Join(first, "+") + " then " + strings.Join(then, "+")))
		})
		say := func(id, text string) {
			if err := w.store.Signal(t.Context(), id, run.Signal{Kind: run.SignalSteer, Text: text}); err != nil {
				t.Fatal(err)
			}
		}
		w.create("r")
		x := w.worker("w")
		say("r", "early")
		w.execute(x, "r")
		say("r", "late")
		if err := w.store.Answer(t.Context(), "r", "", "yes"); err != nil {
			t.Fatal(err)
		}
		if st := w.execute(x, "r"); st != run.Done {
			t.Fatal(st)
		}
		if log := strings.Join(w.log("r"), "\n"); !strings.Contains(log, `"early then late"`) {
			t.Error(log)
		}

		h, err := w.store.History(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		placed, err := w.store.Events(t.Context(), "r", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		entries, events, err := run.Fork(h, placed, "work")
		if err != nil {
			t.Fatal(err)
		}
		fork := run.Record{ID: "fork", Session: "s", Mode: "test", Status: run.Queued, Created: time.Now()}
		if err := w.store.Create(t.Context(), fork, entries, events); err != nil {
			t.Fatal(err)
		}
		say("fork", "other")
		if st := w.execute(x, "fork"); st != run.Done {
			t.Fatal(st)
		}
		if log := strings.Join(w.log("fork"), "\n"); !strings.Contains(log, `"early then other"`) {
			t.Error(log)
		}
	})
}
