package run_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
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
