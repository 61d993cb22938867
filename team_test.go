package dossier

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"dossier/event"
	"dossier/internal/config"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/lang"
	"dossier/llm"
	"dossier/llm/llmtest"
	"dossier/report"
	"dossier/run"
)

// theTeam researches four things about the invented web, and one that nobody can
// find out.
var theTeam = scriptedTeam{
	scribe: scribe{
		facets: []facet{{"How many inhabitants does Oststrand have?", []string{"Oststrand inhabitants"}}},
		enough: "it will do", after: 1,
	},
	rubric: []string{
		"How many inhabitants does Oststrand have?", "How many years does an Aune spotted newt live?", "When was the Keldra Bridge opened to traffic?", "Who is the mayor of Oststrand?",
		"How high is the tower of the Pellin Point Lighthouse?",
	},
	tasks: []string{
		"How many inhabitants does Oststrand have?", "How many years does an Aune spotted newt live?", "When was the Keldra Bridge opened to traffic?", "Who is the mayor of Oststrand?",
	},
}

const teamQuestion = "What is known about Oststrand, its mayor, the Keldra Bridge and the Aune spotted newt?"

// inTurn makes researchers end their first tasks one after the other: each waits
// until the supervisor is through with the first step for the one before, which
// is recorded by then. It remembers that beyond the end of a process.
type inTurn struct {
	mu   sync.Mutex
	open map[int]chan struct{}
}

func (g *inTurn) gate(n int) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = make(map[int]chan struct{})
	}
	if g.open[n] == nil {
		g.open[n] = make(chan struct{})
	}
	return g.open[n]
}

func (g *inTurn) pass(n int) {
	c := g.gate(n)
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-c:
	default:
		close(c)
	}
}

var callNumber = regexp.MustCompile(`This is call (\d+) of`)

// team is the model with its researchers in turn, as long as somebody waits for
// its replies.
func (g *inTurn) team(c scriptedTeam, left <-chan struct{}) scriptedTeam {
	c.researcher = func(q *llmtest.Request) *llmtest.Reply {
		reply := theTeam.research(q)
		view, _ := viewOf(q)
		n := slices.Index(c.tasks, strings.TrimSpace(between(view, "Your task: ", "\n")))
		if n < 0 {
			n = len(c.tasks) // those that come later wait for all of the first
		}
		if n > 0 && strings.Contains(reply.Text, "Action: done") {
			select {
			case <-g.gate(n):
			case <-left:
			}
		}
		return reply
	}
	c.supervisor = func(q *llmtest.Request) *llmtest.Reply {
		view, _ := viewOf(q)
		if slices.ContainsFunc(q.Messages, func(m llm.Message) bool { return m.Role == llm.RoleAssistant }) {
			g.pass(number(callNumber.FindStringSubmatch(view)[1]))
		}
		return theTeam.supervise(q)
	}
	return c
}

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
	srv := llmtest.Start(t, llmtest.Script{Rules: new(inTurn).team(theTeam, nil).rules()})
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
