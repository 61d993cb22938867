package dossier

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"dossier/event"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/run"
)

// asking is a mode that asks its user three questions.
type asking struct{}

func (asking) Name() string  { return "chat" }
func (asking) Settings() any { return struct{}{} }

func (asking) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	var heard []string
	for i := range 3 {
		a, err := s.Ask(ctx, run.Question{Questions: []string{fmt.Sprintf("question %d?", i)}})
		if err != nil {
			return mode.Answer{}, err
		}
		if a.Skipped {
			a.Text = "(skipped)"
		}
		heard = append(heard, a.Text)
	}
	return mode.Answer{Text: strings.Join(heard, " ")}, nil
}

func askingEngine(t *testing.T, s store.Store) *Engine {
	t.Helper()
	e := newEngine(parts{store: s, modes: []mode.Mode{asking{}}, log: slog.New(slog.DiscardHandler), owner: newID(time.Now())})
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// Answers race with the parking of the run; none may be lost.
func TestNoAnswerIsLost(t *testing.T) {
	e := askingEngine(t, memory.New(memory.Options{}))
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			n := 0
			var last event.Event
			for ev, err := range e.Run(ctx, ask(fmt.Sprintf("run %d", i))) {
				if err != nil {
					t.Errorf("run %d after %d answers: %v", i, n, err)
					return
				}
				last = ev
				if asked, ok := ev.Data.(event.ClarifyAsked); ok {
					n++
					if err := e.Answer(ctx, ev.Run, asked.ID, fmt.Sprint(n)); err != nil {
						t.Errorf("run %d: %v", i, err)
					}
				}
			}
			if last.Data != (event.RunStatus{Status: "done"}) || n != 3 {
				t.Errorf("run %d: %d questions, last %+v", i, n, last.Data)
			}
		})
	}
	wg.Wait()
}

// waitFor follows a run until it has this status.
func waitFor(t *testing.T, e *Engine, id string, want run.Status) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for ev, err := range e.Events(ctx, id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := ev.Data.(event.RunStatus); ok && run.Status(s.Status) == want {
			return
		}
	}
	t.Fatalf("the run ended without being %s", want)
}

func TestAnswersToRunsThatDontWait(t *testing.T) {
	e := askingEngine(t, memory.New(memory.Options{}))
	rec, err := e.Start(t.Context(), ask("x"))
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, e, rec.ID, run.Waiting)
	var wg sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		wg.Go(func() {
			errs[i] = e.Answer(t.Context(), rec.ID, "?1", fmt.Sprint("answer ", i))
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, store.ErrAnswered):
			t.Errorf("%v", err)
		}
	}
	if won != 1 {
		t.Errorf("%d answers at once were taken", won)
	}
	if err := e.Finish(t.Context(), rec.ID); err != nil {
		t.Fatal(err)
	}
	waitFor(t, e, rec.ID, run.Done)
	if err := e.Answer(t.Context(), rec.ID, "", "late"); !errors.Is(err, store.ErrNotWaiting) {
		t.Errorf("an answer to a run that is over: %v", err)
	}
}

func TestCancelOfAWaitingRun(t *testing.T) {
	e := askingEngine(t, memory.New(memory.Options{}))
	rec, err := e.Start(t.Context(), ask("x"))
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, e, rec.ID, run.Waiting)
	if err := e.Cancel(t.Context(), rec.ID); err != nil {
		t.Fatal(err)
	}
	waitFor(t, e, rec.ID, run.Cancelled)
}

// A waiting run is a row: another process goes on with it.
func TestWaitingRunSurvivesTheProcess(t *testing.T) {
	s := &kept{Store: memory.New(memory.Options{})}
	e := askingEngine(t, s)
	rec, err := e.Start(t.Context(), ask("x"))
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, e, rec.ID, run.Waiting)
	_ = e.Close()
	e = askingEngine(t, s)
	for n := range 3 {
		if err := e.Answer(t.Context(), rec.ID, fmt.Sprintf("?%d", n+1), fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
		want := run.Waiting
		if n == 2 {
			want = run.Done
		}
		for {
			d, err := e.Show(t.Context(), rec.ID)
			if err != nil {
				t.Fatal(err)
			}
			if d.Record.Status == want && (want == run.Done || len(d.Asks) == 1 && d.Asks[0].ID == fmt.Sprintf("?%d", n+2)) {
				break
			}
		}
	}
	log, err := e.Log(t.Context(), rec.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := answerOf(log); m.Text != "0 1 2" {
		t.Errorf("answer %q", m.Text)
	}
}

// Told to finish in the middle of its answer, a chat delivers what it has.
func TestFinishDeliversWhatThereIs(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Script{ChunkSize: 8, Rules: []llmtest.Rule{{
		Reply: llmtest.JSON(map[string]any{"answer": strings.Repeat("word ", 50), "reasoning": "", "key_points": []string{}}),
		Fault: &llmtest.Fault{Kind: llmtest.Stall, After: 12},
	}}})
	e := engine(t, memory.New(memory.Options{}), connected(srv))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var events []event.Event
	told := false
	for ev, err := range e.Run(ctx, ask("talk")) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev)
		if d, ok := ev.Data.(event.AnswerDelta); ok && strings.Contains(d.Text, "word") && !told {
			told = true
			if err := e.Finish(ctx, ev.Run); err != nil {
				t.Fatal(err)
			}
		}
	}
	m, _ := answerOf(events)
	if !strings.HasPrefix(m.Text, "word") || !strings.HasSuffix(m.Text, "…") {
		t.Errorf("answer %q: %+v", m.Text, events)
	}
}
