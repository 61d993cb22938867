package dossier

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/report"
	"dossier/run"
)

// resumed has an engine go on with a run and follows it to its end.
func resumed(t *testing.T, e *Engine, id string, o ResumeOptions) []event.Event {
	t.Helper()
	rec, err := e.Get(t.Context(), id)
	if err == nil {
		err = e.Resume(t.Context(), id, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	var events []event.Event
	for ev, err := range e.Events(t.Context(), id, rec.LastSeq) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev)
	}
	if _, err := e.Replay(t.Context(), id); err != nil {
		t.Error(err)
	}
	return events
}

// A run for which no engine answered asks them again when it is resumed.
func TestResumeAsksEnginesAgain(t *testing.T) {
	for _, mode := range []string{"web_search", "deep_search", "quality"} {
		w := startWeb(t, webtest.Options{})
		w.Break(webtest.Fault{Kind: webtest.ServerError})
		disk := &kept{memory.New(memory.Options{})}
		e := engine(t, disk, onWeb(t, w))
		id := follow(t, e, onTheWeb(mode, aboutOststrand))[0].Run
		rec, err := e.Get(t.Context(), id)
		if err != nil || rec.Status != run.Failed || rec.Failure.Step == "" {
			t.Fatalf("%+v, %v", rec, err)
		}
		if _, err := e.Replay(t.Context(), id); err != nil {
			t.Error(err)
		}
		w.Mend()
		e = engine(t, disk, onWeb(t, w)) // the engine in the first one is at rest
		events := resumed(t, e, id, ResumeOptions{})
		if first, ok := events[0].Data.(event.RunReopened); !ok || !slices.Contains(first.Steps, rec.Failure.Step) || len(first.Void) == 0 {
			t.Errorf("%+v", events[0].Data)
		}
		if r := reportOf(t, e); r.Outcome != report.Answered || !strings.Contains(quotes(r), "18,240") || len(r.Notes) > 0 {
			t.Errorf("%s: %s", mode, report.Markdown(r))
		}
	}
}

// A run that ended with what there was goes on when its limit is raised.
func TestResumeWithHigherLimits(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w))
	req := onTheWeb("deep_search", "How many inhabitants does Oststrand have, and who is its mayor?")
	req.Limits = run.Limits{Searches: 1, Pages: 1}
	id := follow(t, e, req)[0].Run
	if n := len(w.Searches()); n != 1 {
		t.Fatalf("%d searches", n)
	}
	read := sum(w.Fetches())
	var usage *UsageError
	if err := e.Resume(t.Context(), id, ResumeOptions{}); !errors.As(err, &usage) || !strings.Contains(usage.Hint, "--max-") {
		t.Errorf("%v", err)
	}
	if err := e.Resume(t.Context(), id, ResumeOptions{Limits: run.Limits{Tokens: 5}}); !errors.As(err, &usage) {
		t.Errorf("%v", err)
	}
	events := resumed(t, e, id, ResumeOptions{Limits: run.Limits{Searches: 20, Pages: 8}})
	if first, ok := events[0].Data.(event.RunReopened); !ok || !slices.Equal(first.Raised, []string{run.Searches, run.Pages}) {
		t.Errorf("%+v", events[0].Data)
	}
	rec, err := e.Get(t.Context(), id)
	if err != nil || rec.Status != run.Done {
		t.Fatalf("%+v, %v", rec, err)
	}
	if searches, pages := len(w.Searches()), sum(w.Fetches()); searches < 3 || pages <= read {
		t.Errorf("%d searches, %d pages", searches, pages)
	}
	if all := w.Searches(); slices.Contains(all[1:], all[0]) {
		t.Errorf("%q was asked twice", all[0])
	}
	if err := e.Resume(t.Context(), id, ResumeOptions{}); err == nil || !errors.Is(err, run.ErrEnded) && !errors.As(err, &usage) {
		t.Errorf("a run that has all it wants: %v", err)
	}
}

// A step that the user names is done anew, with what came of it and nothing
// else.
func TestResumeFromAStep(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	w.Break(webtest.Fault{Kind: webtest.ServerError})
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w))
	id := follow(t, e, onTheWeb("web_search", aboutOststrand))[0].Run
	var usage *UsageError
	if err := e.Resume(t.Context(), id, ResumeOptions{From: "nowhere"}); !errors.As(err, &usage) || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("%v", err)
	}
	events := resumed(t, e, id, ResumeOptions{From: "plan"})
	if first, ok := events[0].Data.(event.RunReopened); !ok || !slices.Equal(first.Steps, []string{"plan"}) {
		t.Errorf("%+v", events[0].Data)
	}
}
