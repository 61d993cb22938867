package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"dossier/run"
)

// A notice is told by each execution and is no part of the run's code.
func TestNoticesAreNoPartOfTheCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		told := 0
		w.fn = func(ctx context.Context, s *run.Scope) error {
			told++
			if told <= 2 { // a replay has nothing to tell
				if err := s.Notice("weather", note(fmt.Sprintf("rain %d", told))); err != nil {
					return err
				}
			}
			if _, err := s.Ask(ctx, run.Question{Questions: []string{"Go on?"}}); err != nil {
				return err
			}
			return s.Emit(note("done"))
		}
		w.create("r")
		x := w.worker("w")
		if st := w.execute(x, "r"); st != run.Waiting {
			t.Fatal(st)
		}
		if err := w.store.Answer(t.Context(), "r", "", "yes"); err != nil {
			t.Fatal(err)
		}
		if st := w.execute(x, "r"); st != run.Done {
			t.Fatal(st)
		}
		log := strings.Join(w.log("r"), "\n")
		if strings.Count(log, "rain") != 2 || !strings.Contains(log, "rain 1") || !strings.Contains(log, "rain 2") {
			t.Error(log)
		}
		w.replays("r")
		told = 0
		w.replays("r") // nor is it told then
	})
}
