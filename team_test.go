package dossier

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dossier/event"
	"dossier/internal/config"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/lang"
	"dossier/llm/llmtest"
	"dossier/report"
	"dossier/run"
)

// engineIn is an engine whose data directory the test looks into.
func engineIn(t *testing.T, dir string, s store.Store, flags map[string]string) *Engine {
	t.Helper()
	cfg, err := config.Load(config.Sources{Env: []string{"HOME=" + t.TempDir(), "DOSSIER_SEARCH_ENGINES=none"}, File: config.NoFile, Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	e, err := assemble(cfg, site{dir: dir}, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// TestTeam has four researchers and a supervisor work on a question: what is told
// of it is frozen, each file of the folder is there, the rubric is covered, and
// no page is cited that was not read.
func TestTeam(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	srv := llmtest.Start(t, llmtest.Script{Rules: new(inTurn).Team(theTeam, nil).Rules()})
	dir := t.TempDir()
	e := engineIn(t, dir, memory.New(memory.Options{}), onWeb(t, w, connected(srv)))
	events := follow(t, e, onTheWeb("deep_research", teamQuestion))
	id := events[0].Run
	r := reportOf(t, e)
	if n := lang.Words(report.Markdown(r)); r.Outcome != report.Answered || len(r.Sections) < 3 || n < 1300 || r.Summary == "" || r.Conclusion == "" {
		t.Errorf("%s with %d sections and %d words", r.Outcome, len(r.Sections), n)
	}
	fetched := pagesOf(w)
	for _, src := range r.Sources {
		if src.Snapshot == "" || fetched[strings.TrimPrefix(src.URI, w.Searx())] == 0 {
			t.Errorf("%s is cited and was not read", src.URI)
		}
	}
	var covered event.Coverage
	for _, ev := range events {
		if c, ok := ev.Data.(event.Coverage); ok && c.Of == "rubric" {
			covered = c
		}
	}
	if covered.Total != 5 || covered.Share < 0.9 {
		t.Errorf("the rubric is covered by %+v", covered)
	}
	golden(t, "team.golden", []byte(byScope(t, w, events, id)))
	golden(t, "team-folder.golden", []byte(folderOf(t, w, filepath.Join(dir, "agent_sessions", id), id)))
	if _, err := e.Replay(t.Context(), id); err != nil {
		t.Error(err)
	}
}

// byScope is a log with the events of each branch of the run together: which of
// them was faster is not frozen.
func byScope(t *testing.T, w *webtest.Web, events []event.Event, id string) string {
	t.Helper()
	scopes := make(map[string][]string)
	for _, ev := range events {
		if _, usage := ev.Data.(event.Usage); usage || ev.Transient() {
			continue
		}
		data, err := event.EncodeData(ev.Data)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if runes := []rune(text); len(runes) > 400 {
			text = string(runes[:400]) + "…"
		}
		scopes[ev.Agent] = append(scopes[ev.Agent], fmt.Sprintf("%s %s\n", ev.Kind(), text))
	}
	var out strings.Builder
	for _, scope := range slices.Sorted(maps.Keys(scopes)) {
		fmt.Fprintf(&out, "# %s\n%s", scope, strings.Join(scopes[scope], ""))
	}
	return strings.ReplaceAll(sameOnEachStart(t, w, out.String()), id, "RUN")
}

// folderOf is what stands in the files of a run's folder.
func folderOf(t *testing.T, w *webtest.Web, dir, id string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		fmt.Fprintf(&out, "-- %s --\n%s", filepath.ToSlash(name), raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(sameOnEachStart(t, w, out.String()), id, "RUN")
}

// statusOf is that of a run.
func statusOf(t *testing.T, e *Engine, id string) run.Status {
	t.Helper()
	rec, err := e.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return rec.Status
}
