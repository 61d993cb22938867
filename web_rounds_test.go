package dossier

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/llm"
	"dossier/llm/llmtest"
)

// seedTable is what the modes do for a question by themselves: rounds of
// searching, queries of a round, results of a query, pages read.
var seedTable = []struct {
	mode                            string
	rounds, queries, results, pages int
}{
	{"web_search", 2, 3, 8, 4}, {"deep_search", 6, 3, 8, 8}, {"quality", 25, 3, 8, 8},
}

const morrow = "When was the Morrow line opened?"

// archive is a web with an engine that has eight other pages for each query,
// all of them about the Morrow line.
type archive struct {
	*httptest.Server
	plain bool // the results have no snippets

	mu    sync.Mutex
	known map[string]int // queries
	pages []string       // that were read
}

func startArchive(t *testing.T) *archive {
	t.Helper()
	a := &archive{known: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /search", a.search)
	mux.HandleFunc("GET /paper/{n}", a.paper)
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	return a
}

func (a *archive) sentence(n int) string {
	return fmt.Sprintf("The Morrow line was opened in 1874, as paper %d of the county archive says on sheet %d.", n, n*7+3)
}

func (a *archive) search(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := r.FormValue("q")
	if _, ok := a.known[q]; !ok {
		a.known[q] = len(a.known)
	}
	results := []map[string]any{}
	if page := r.FormValue("pageno"); page == "" || page == "1" {
		for i := range 8 {
			n := 8*a.known[q] + i + 1
			hit := map[string]any{"url": fmt.Sprint(a.URL, "/paper/", n), "title": fmt.Sprint("Paper ", n), "engine": "archive", "engines": []string{"archive"}, "content": a.sentence(n)}
			if a.plain {
				hit["content"] = ""
			}
			results = append(results, hit)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"query": q, "results": results})
}

func (a *archive) paper(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.PathValue("n"))
	a.mu.Lock()
	a.pages = append(a.pages, r.URL.Path)
	a.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<html><head><title>Paper %d</title></head><body><article><h1>Paper %d</h1><p>%s</p><p>Box %d of the archive holds what was printed about it.</p></article></body></html>", n, n, a.sentence(n), n+100)
}

func (a *archive) flags(t *testing.T, more ...map[string]string) map[string]string {
	t.Helper()
	u, err := url.Parse(a.URL)
	if err != nil {
		t.Fatal(err)
	}
	return merged(append([]map[string]string{{
		"search.engines": "searxng", "search.searxng.base_url": a.URL, "search.allow_networks": "127.0.0.0/8",
		"search.allow_ports": u.Port(), "search.page_delay": "0s", "search.pages_per_site": "64", "search.browser": "false",
	}}, more...)...)
}

func merged(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}

// curious is a model that plans three queries and always has three others.
func curious() scribe {
	s := scribe{Facets: []facet{{Title: morrow, Queries: []string{"Morrow line opening", "Morrow line history", "Morrow railway 1874"}}}}
	for i := range 80 {
		s.FollowUps = append(s.FollowUps, fmt.Sprintf("Morrow line sheet %d", i+1))
	}
	return s
}

// TestWebModesDoTheSeedsTable runs each mode on a question that the first
// result answers already: what is done for it is what the seed's table says, and
// the model is asked after every round but the last.
func TestWebModesDoTheSeedsTable(t *testing.T) {
	var out strings.Builder
	for _, c := range seedTable {
		a := startArchive(t)
		srv := llmtest.Start(t, llmtest.Script{Rules: curious().Rules()})
		e := engine(t, memory.New(memory.Options{}), a.flags(t, connected(srv)))
		events := follow(t, e, onTheWeb(c.mode, morrow))
		got := effortOf(events)
		r := reportOf(t, e)
		asked := len(srv.CallsFor("", "follow_up_list"))
		deltas, resets, rounds := 0, 0, []event.SearchRound{}
		for _, ev := range events {
			switch d := ev.Data.(type) {
			case event.AnswerDelta:
				deltas++
			case event.ReportReset:
				resets++
			case event.SearchRound:
				rounds = append(rounds, d)
			}
		}
		fmt.Fprintf(&out, "%s: %d rounds, %d queries, %d of a round, %d results of a query, %d follow-up calls, %d pages, %d sources, %d deltas, %d resets\n",
			c.mode, len(got.rounds), len(slices.Concat(got.rounds...)), got.queries(), got.results(), asked, len(a.pages), len(r.Sources), deltas, resets)
		for _, d := range rounds {
			fmt.Fprintf(&out, "  after round %d: %s, because %s %q\n", d.Round, d.Decision, d.Reason, d.Queries)
		}
		for n, queries := range got.rounds {
			if len(queries) != c.queries {
				t.Errorf("%s: the queries of round %d are %q", c.mode, n+1, queries)
			}
		}
		if len(got.rounds) != c.rounds || asked != c.rounds-1 || got.results() != c.results || len(a.pages) != c.pages || len(r.Sources) != c.pages || deltas == 0 {
			t.Errorf("%s: %d rounds, %d follow-up calls, %d results, %d pages, %d sources, %d deltas", c.mode, len(got.rounds), asked, got.results(), len(a.pages), len(r.Sources), deltas)
		}
	}
	golden(t, "web-modes.golden", []byte(out.String()))
}

// A question that goes on a conversation: the rewritten one is told, and who
// writes the answer sees what was said before.
func TestWebAnswerSeesTheConversation(t *testing.T) {
	for _, name := range []string{"web_search", "deep_search", "quality"} {
		a := startArchive(t)
		s := curious()
		s.Question, s.Enough = morrow, "A paper says it."
		srv := llmtest.Start(t, llmtest.Script{Rules: s.Rules()})
		e := engine(t, memory.New(memory.Options{}), a.flags(t, connected(srv)))
		req := onTheWeb(name, "And when was it opened?")
		req.History = []llm.Message{{Role: llm.RoleUser, Content: "Who built the Morrow line?"}, {Role: llm.RoleAssistant, Content: strings.Repeat("Ada Quill built the Morrow line. ", 500)}}
		var plans []event.PlanUpdated
		for _, ev := range follow(t, e, req) {
			if p, ok := ev.Data.(event.PlanUpdated); ok {
				plans = append(plans, p)
			}
		}
		if len(plans) == 0 || plans[0].Question != morrow {
			t.Errorf("%s: %+v", name, plans)
		}
		for _, c := range srv.CallsFor("", "synthesized_answer") {
			m := c.Request.Messages
			if len(m) != 4 || !strings.Contains(m[1].Content, "Who built") || !strings.Contains(m[2].Content, "Ada Quill") || len(m[2].Content) > 1600 || !strings.Contains(m[3].Content, morrow) {
				t.Errorf("%s: the answer is written after %d messages", name, len(m))
			}
		}
	}
}

// TestWebAnswersStream holds what is seen of an answer while it is written
// against what is delivered: where that is something else, what was seen is void.
func TestWebAnswersStream(t *testing.T) {
	wrong := func([]passage) string { return "Cats built all of it [1]. Dogs rode the first train [1]." }
	for _, c := range []struct {
		name   string
		model  scribe
		resets int
	}{
		{"what holds", scribe{}, 0},
		{"a sentence does not hold", scribe{Lie: "The line was built of chocolate [1]."}, 1},
		{"nothing holds", scribe{Answer: wrong}, 1},
	} {
		for _, name := range []string{"web_search", "deep_search", "quality"} {
			a := startArchive(t)
			c.model.Facets, c.model.Enough = curious().Facets, "A paper says it."
			e := engine(t, memory.New(memory.Options{}), a.flags(t, connected(llmtest.Start(t, llmtest.Script{Rules: c.model.Rules()}))))
			log := follow(t, e, onTheWeb(name, morrow))
			shown, deltas, resets, over := "", 0, 0, false
			for _, ev := range log {
				switch d := ev.Data.(type) {
				case event.AnswerDelta:
					shown += d.Text
					if deltas++; d.Reset || over {
						t.Errorf("%s, %s: %+v after the answer", name, c.name, d)
					}
				case event.ReportReset:
					over = true
					if resets++; d.Reason == "" {
						t.Errorf("%s, %s: no reason", name, c.name)
					}
				}
			}
			m, _ := answerOf(log)
			if deltas < 2 || resets != c.resets || strings.Contains(m.Text, shown) != (resets == 0) {
				t.Errorf("%s, %s: %d deltas, %d resets, shown %q\n%s", name, c.name, deltas, resets, shown, m.Text)
			}
		}
	}
}

// Results that come without a snippet are read like others: nothing says that
// they are copies of each other.
func TestWebReadsResultsWithoutASnippet(t *testing.T) {
	for _, c := range seedTable[:2] {
		for _, model := range []bool{true, false} {
			a := startArchive(t)
			a.plain = true
			flags := a.flags(t)
			if s := curious(); model {
				flags = a.flags(t, modelled(t, &s))
			}
			e := engine(t, memory.New(memory.Options{}), flags)
			follow(t, e, onTheWeb(c.mode, morrow))
			if r := reportOf(t, e); len(a.pages) != c.pages || len(r.Sources) == 0 {
				t.Errorf("%s, model %v: %d pages were read, and the answer has %d sources", c.mode, model, len(a.pages), len(r.Sources))
			}
		}
	}
}
