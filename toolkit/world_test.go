package toolkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/kb"
	"dossier/reader"
	"dossier/run"
	"dossier/search"
	"dossier/search/searxng"
	"dossier/sources"
	"dossier/tool"
)

func TestMain(m *testing.M) {
	reader.WorkerMain()
	os.Exit(m.Run())
}

// created is when the runs of tests were made.
var created = time.Date(2026, time.May, 4, 13, 14, 15, 0, time.UTC)

// world is what tools work with in a test.
type world struct {
	t        *testing.T
	store    *memory.Store
	parts    Parts
	settings Settings
	limits   run.Limits
	state    tool.State // at the beginning of the run
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := memory.New(memory.Options{})
	return &world{t: t, store: s, parts: Parts{Blobs: s}, state: tool.State{Task: "Find out about the Keldra Bridge."}}
}

// overWeb gives the world the invented web.
func (w *world) overWeb(o webtest.Options) *webtest.Web {
	w.t.Helper()
	o.Memory = true
	web, err := webtest.Start(o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(web.Close)
	r := reader.New(reader.Config{CacheDir: w.t.TempDir()})
	w.t.Cleanup(r.Close)
	w.parts.Web = &sources.Web{
		Engines: []search.Engine{search.Polite(searxng.New(web.HTTP(), searxng.Config{URL: web.Searx()}), search.Manners{})},
		Missing: map[string]string{"tavily": "search.tavily_api_key", "zyte": "search.zyte.api_key"},
		Pages:   &reader.Fetcher{Client: web.Client(), Reader: r}, Allowed: web.Client().Check,
	}
	return web
}

// overFiles gives the world a collection of documents.
func (w *world) overFiles(files map[string]string) string {
	w.t.Helper()
	dir := w.t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	r := reader.New(reader.Config{CacheDir: w.t.TempDir()})
	w.t.Cleanup(r.Close)
	w.parts.Library = kb.New(w.store, r, nil, kb.Options{})
	if _, err := w.parts.Library.Create(w.t.Context(), "files", dir); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.parts.Library.Sync(w.t.Context(), "files", kb.SyncOptions{}); err != nil {
		w.t.Fatal(err)
	}
	w.parts.Active = func(context.Context) (string, error) { return "files", nil }
	return dir
}

// call is a call of a tool.
type call struct {
	tool, args string
	config     string
	private    []string
}

// did is what came of calls.
type did struct {
	outcomes []tool.Outcome
	state    tool.State
	events   []event.Data
	rec      run.Record
}

func (d did) last() tool.Outcome { return d.outcomes[len(d.outcomes)-1] }

// kinds of the events, without those of the run itself.
func (d did) kinds() string {
	var out []string
	for _, e := range d.events {
		if k := string(e.Kind()); !strings.HasPrefix(k, "run.") {
			out = append(out, k)
		}
	}
	return strings.Join(out, " ")
}

// do makes calls, one after the other, in a run of their own and replays it.
func (w *world) do(calls ...call) did {
	w.t.Helper()
	var out did
	w.exec(func(ctx context.Context, s *run.Scope, state *tool.State) error {
		out.outcomes = nil
		for i, c := range calls {
			o, err := w.one(ctx, s, state, fmt.Sprintf("call-%d", i+1), c)
			if err != nil {
				return err
			}
			state.Apply(o.Change)
			out.outcomes = append(out.outcomes, o)
		}
		out.state = *state
		return nil
	}, &out)
	return out
}

func (w *world) one(ctx context.Context, s *run.Scope, state *tool.State, step string, c call) (tool.Outcome, error) {
	t, err := New(w.parts).Make(c.tool, json.RawMessage(c.config), w.settings)
	if err != nil {
		return tool.Outcome{}, err
	}
	args, err := t.Spec().Schema.Read(c.args)
	if err != nil {
		return tool.Outcome{}, fmt.Errorf("%s %s: %w", c.tool, c.args, err)
	}
	return run.EffectStep(ctx, s, t.Spec().Effect, step, func(ctx context.Context, s *run.Scope) (tool.Outcome, error) {
		return tool.Invoke(ctx, t, &tool.Call{ID: "c", Args: args, State: state, Scope: s, Private: c.private}, tool.Guard{})
	})
}

var runs int

// exec executes code as a run.
func (w *world) exec(code func(context.Context, *run.Scope, *tool.State) error, out *did) {
	w.t.Helper()
	runs++
	id := fmt.Sprintf("run-%d", runs)
	if err := w.store.Create(w.t.Context(), run.Record{ID: id, Session: id, Status: run.Queued, Created: created}, nil, nil); err != nil {
		w.t.Fatal(err)
	}
	fn := func(ctx context.Context, s *run.Scope) error {
		state := w.state
		state.Sources = slices.Clone(state.Sources)
		return code(ctx, s, &state)
	}
	x := run.NewExecutor(run.ExecutorConfig{
		Journal: w.store, Owner: "w", Publish: func(event.Event) {},
		Program: func(run.Record) (run.Func, run.Limits, error) { return fn, w.limits, nil },
	})
	defer x.Close()
	if status, err := x.Execute(w.t.Context(), id); err != nil || status != run.Done {
		h, _ := w.store.History(w.t.Context(), id)
		w.t.Fatalf("the run is %s: %v %+v", status, err, h.Record.Failure)
	}
	h, err := w.store.History(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	placed, err := w.store.Events(w.t.Context(), id, 0, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	out.rec = h.Record
	for _, p := range placed {
		out.events = append(out.events, p.Data)
	}
	kept := *out
	if _, err := run.Replay(w.t.Context(), h, placed, fn, w.limits); err != nil {
		w.t.Error(err)
	}
	*out = kept
}

func args(v map[string]any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// noPages has no page.
type noPages struct{}

func (noPages) Fetch(context.Context, string) (*reader.Fetched, error) {
	return nil, errors.New("the site answers 404")
}
