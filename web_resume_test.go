package dossier

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strings"
	"testing"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
	"dossier/run"
)

// longWebRuns are runs in which a model decides everything that there is to
// decide: several rounds, a dead page, a claim that is judged and rewritten.
var longWebRuns = []struct {
	mode, question string
	model          scribe
}{
	{"web_search", "How many years does an Aune spotted newt live, and who is the mayor of Veyholm?", scribe{
		Facets: []facet{
			{Title: "How many years does an Aune spotted newt live?", Queries: []string{"Aune spotted newt age"}},
			{Title: "Who is the mayor of Veyholm?", Queries: []string{"mayor of Veyholm"}},
		},
		FollowUps: []string{"Veyholm council", "Veyholm island", "Aune newt pools"},
		Lie:       "The newts of the Aune speak Latin with each other [1].",
	}},
	{"deep_search", "Когда открыли Заречный виадук и кто выиграл чемпионат Яросельска по шахматам в 1977 году?", scribe{
		Facets: []facet{
			{Title: "Когда открыли Заречный виадук?", Queries: []string{"Заречный виадук открытие"}},
			{Title: "Кто выиграл чемпионат Яросельска по шахматам в 1977 году?", Queries: []string{"чемпионат Яросельска шахматы 1977"}},
		},
		FollowUps: []string{"Яросельск спорт", "Платон Верховцев биография", "завод «Северплёнка»", "студёнский хариус"},
		Lie:       "Чемпионат Яросельска по шахматам выиграл говорящий хариус [1].",
	}},
}

// deadPage is one of those that the runs want to read.
const deadPage = "/slovar.example/st/zarechny-viadukt"

// webWithADeadPage starts the web with one page less.
func webWithADeadPage(t *testing.T) *webtest.Web {
	t.Helper()
	w := startWeb(t, webtest.Options{})
	if err := w.BreakPage(w.Searx()+deadPage, webtest.Fault{Kind: webtest.ServerError}); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestWebSurvivesAPowerCut cuts the power after each commit of a run. Another
// engine goes on: the log and the answer are the same, the model, the engine
// and the pages are asked for nothing whose step was recorded, and the replay
// agrees. Nothing is kept between two searches that could hide a repetition.
func TestWebSurvivesAPowerCut(t *testing.T) {
	for _, c := range longWebRuns {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			script := llmtest.Script{Rules: c.model.Rules()}
			// Calls that a cut broke off may arrive late: who goes on has a model
			// of its own, at which they are not counted.
			srv, later := llmtest.Start(t, script), llmtest.Start(t, script)
			whole := webWithADeadPage(t)
			e := engine(t, memory.New(memory.Options{}), onWeb(t, whole, connected(srv), forgetful))
			calm := undisturbed(t, e, whole, srv, follow(t, e, onTheWeb(c.mode, c.question))[0].Run)
			for _, schema := range schemaOf {
				if calm.calls[schema] == 0 {
					t.Fatalf("a run without a call for %s is no test", schema)
				}
			}
			cuts := 0
			for n := int64(1); cutAfter(t, n, calm, onTheWeb(c.mode, c.question), srv, later); n++ {
				cuts++
			}
			if cuts < 20 {
				t.Fatalf("a run of %d commits is no test", cuts)
			}
			t.Logf("%d cuts, %d calls of the model, %d searches, %d pages", cuts, sum(calm.calls), len(calm.queries), sum(calm.pages))
		})
	}
}

// forgetful settings keep no results and no pages.
var forgetful = map[string]string{"search.cache_ttl": "0s"}

// calmRun is what a run told and asked for that nobody disturbed.
type calmRun struct {
	told    string
	calls   map[string]int    // of the model, by schema
	queries map[string]string // by the step that asks
	asked   map[string]int    // how often the engine got each query
	pages   map[string]int    // how often each page was asked for, by its place
}

func undisturbed(t *testing.T, e *Engine, w *webtest.Web, srv *llmtest.Server, id string) calmRun {
	t.Helper()
	c := calmRun{told: sameOnEachStart(t, w, told(t, e, id)), calls: callsBySchema(srv, 0), queries: make(map[string]string), pages: pagesOf(w)}
	c.asked = askedOf(w)
	log, err := e.Log(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	inRound := make(map[int]int)
	for _, ev := range log {
		if d, ok := ev.Data.(event.SearchStarted); ok {
			inRound[d.Round]++
			c.queries[fmt.Sprintf("round-%d/search-%d/find", d.Round, inRound[d.Round])] = d.Query
		}
	}
	return c
}

// askedOf counts the queries that an engine got.
func askedOf(w *webtest.Web) map[string]int {
	out := make(map[string]int)
	for _, q := range w.Searches() {
		out[q]++
	}
	return out
}

// pagesOf counts the requests for pages, by their place in the web.
func pagesOf(w *webtest.Web) map[string]int {
	out := make(map[string]int)
	for at, n := range w.Fetches() {
		out[strings.TrimPrefix(at, w.Searx())] += n
	}
	return out
}

func sum(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// cutAfter cuts the power after n commits and has another engine go on. It says
// whether there was something left to do.
func cutAfter(t *testing.T, n int64, calm calmRun, req Request, srv, later *llmtest.Server) bool {
	t.Helper()
	w := webWithADeadPage(t)
	defer w.Close()
	disk := memory.New(memory.Options{})
	cut := &cutStore{Store: disk}
	cut.left.Store(n)
	first := engine(t, cut, onWeb(t, w, connected(srv), forgetful))
	rec, err := first.Start(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range first.Events(t.Context(), rec.ID, 0) {
		if err != nil {
			break
		}
	}
	_ = first.Close()
	if got, err := disk.Run(t.Context(), rec.ID); err != nil || got.Status == run.Done {
		return false
	}
	before, err := disk.History(t.Context(), rec.ID)
	if err != nil {
		t.Fatal(err)
	}
	calls := len(later.Calls())
	if err := evictAll(t.Context(), disk); err != nil {
		t.Fatal(err)
	}
	second := engine(t, disk, onWeb(t, w, connected(later), forgetful))
	defer second.Close()
	if err := second.Resume(t.Context(), rec.ID, ResumeOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, err := range second.Events(t.Context(), rec.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := sameOnEachStart(t, w, told(t, second, rec.ID)); got != calm.told {
		t.Fatalf("cut after %d commits, the run says\n%s\ninstead of\n%s", n, got, calm.told)
	}
	if again := repeated(before.Entries, calm, w, callsBySchema(later, calls)); len(again) > 0 {
		t.Errorf("cut after %d commits: %s", n, strings.Join(again, "; "))
	}
	if _, err := second.Replay(t.Context(), rec.ID); err != nil {
		t.Errorf("cut after %d commits: %v", n, err)
	}
	return true
}

// repeated is what was done again although it had been recorded. The calls are
// those of who went on; engine and pages were visited by both, and only what a
// cut kept from being recorded may have been asked for twice.
func repeated(recorded []run.Entry, calm calmRun, w *webtest.Web, calls map[string]int) []string {
	var out []string
	due, asked, pages := maps.Clone(calm.calls), askedOf(w), pagesOf(w)
	for _, entry := range recorded {
		if entry.Kind != run.EntryStep {
			continue
		}
		due[schemaOf[path.Base(entry.Key)]]--
		if q, ok := calm.queries[entry.Key]; ok && asked[q] != calm.asked[q] {
			out = append(out, fmt.Sprintf("the engine was asked %d times for %q", asked[q], q))
		}
		if at := strings.TrimPrefix(pageRead(entry), w.Searx()); at != "" && pages[at] != calm.pages[at] {
			out = append(out, fmt.Sprintf("%s was asked for %d times", at, pages[at]))
		}
	}
	for schema, n := range calls {
		if n != due[schema] {
			out = append(out, fmt.Sprintf("%d calls for %s, %d were left to do", n, schema, due[schema]))
		}
	}
	return out
}

// pageRead is the address that the step of a reading was about, "" for others.
func pageRead(entry run.Entry) string {
	var got struct{ URI, Failure string }
	if path.Base(entry.Key) != "read" || json.Unmarshal(entry.Value, &got) != nil {
		return ""
	}
	if got.URI != "" {
		return got.URI
	}
	return strings.TrimSuffix(strings.Fields(strings.TrimPrefix(got.Failure, "fetch ") + " ")[0], ":")
}
