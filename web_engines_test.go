package dossier

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/report"
	"dossier/run"
	"dossier/search"
)

// braveServer answers as the Brave Search API does, whatever it is asked.
type braveServer struct {
	*httptest.Server

	asked  atomic.Int64
	status int // 200 if 0
}

// startBrave starts a server that finds these hits.
func startBrave(t *testing.T, hits ...search.Hit) *braveServer {
	t.Helper()
	b := &braveServer{}
	b.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		b.asked.Add(1)
		if b.status != 0 {
			rw.WriteHeader(b.status)
			return
		}
		results := []any{}
		for _, h := range hits {
			results = append(results, map[string]any{"type": "search_result", "url": h.URL, "title": h.Title, "description": h.Snippet, "page_age": h.Date})
		}
		rw.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(rw).Encode(map[string]any{
			"type": "search", "query": map[string]any{"more_results_available": false}, "web": map[string]any{"type": "search", "results": results},
		})
	}))
	t.Cleanup(b.Close)
	return b
}

// second are the settings for both engines, Brave after the other.
func (b *braveServer) second() map[string]string {
	return map[string]string{
		"search.engines": "searxng,brave", "search.brave.base_url": b.URL, "search.brave.api_key": "BSA-s3cr3t", "search.brave.every": "0s",
	}
}

// alone are the settings for Brave without another.
func (b *braveServer) alone() map[string]string {
	set := b.second()
	set["search.engines"] = "brave"
	return set
}

// pageOn is a page of the web as an engine finds it.
func pageOn(t *testing.T, w *webtest.Web, place string) search.Hit {
	t.Helper()
	for _, p := range w.Pages() {
		if p.URL == w.Searx()+place {
			return search.Hit{URL: p.URL, Title: p.Title, Snippet: p.Text[:min(len(p.Text), 300)], Date: p.Date}
		}
	}
	t.Fatalf("there is no page %s", place)
	return search.Hit{}
}

const (
	aboutOststrand = "How many inhabitants does Oststrand have?"
	oststrandPage  = "/encyclo.example/wiki/oststrand"
	oststrandNews  = "/harbourpost.example/2024/oststrand"
)

// engineFaults are the ways in which an engine fails, and what is said of each.
var engineFaults = []struct {
	fault  webtest.Fault
	reason search.Reason
	detail string
}{
	{webtest.Fault{Kind: webtest.RateLimited, RetryAfter: time.Hour}, search.RateLimited, ""},
	{webtest.Fault{Kind: webtest.ServerError}, search.Unavailable, "500"},
	{webtest.Fault{Kind: webtest.HTMLPage}, search.Malformed, "a page instead of results"},
	{webtest.Fault{Kind: webtest.Captcha}, search.Blocked, "human"},
	{webtest.Fault{Kind: webtest.Garbage}, search.Malformed, "not what it documents"},
	{webtest.Fault{Kind: webtest.Dropped}, search.Unreachable, "connection"},
	{webtest.Fault{Kind: webtest.Unresponsive}, search.Blocked, "3 of its engines did not respond"},
	{webtest.Fault{Kind: webtest.NoJSON}, search.Blocked, "search.formats"},
	{webtest.Fault{Kind: webtest.Never}, search.TooSlow, "did not answer"},
}

// soon is how long an engine may take where one never answers.
func soon(f webtest.Fault) map[string]string {
	if f.Kind == webtest.Never {
		return map[string]string{"search.timeout": "5s"}
	}
	return nil
}

// TestWebFallsBackToTheNextEngine lets the first engine fail in every way: the
// next one takes over, and log and answer say which failed and why.
func TestWebFallsBackToTheNextEngine(t *testing.T) {
	for _, c := range engineFaults {
		t.Run(string(c.fault.Kind), func(t *testing.T) {
			t.Parallel()
			w := startWeb(t, webtest.Options{})
			w.Break(c.fault)
			b := startBrave(t, pageOn(t, w, oststrandPage), pageOn(t, w, oststrandNews))
			e := engine(t, memory.New(memory.Options{}), onWeb(t, w, b.second(), soon(c.fault)))
			events := follow(t, e, onTheWeb("web_search", aboutOststrand))
			r := reportOf(t, e)
			if r.Outcome != report.Answered || !strings.Contains(quotes(r), "18,240") || b.asked.Load() == 0 {
				t.Errorf("%s\n%s", r.Outcome, report.Markdown(r))
			}
			for _, told := range resultsIn(events) {
				i := slices.IndexFunc(told.Engines, func(e event.EngineReply) bool { return e.Engine == "searxng" })
				if told.Error != "" || i < 0 || !strings.HasPrefix(told.Engines[i].Error, string(c.reason)) {
					t.Errorf("told %+v", told)
				}
			}
			notes := strings.Join(r.Notes, "\n")
			if !strings.Contains(notes, "the search engine searxng did not answer: "+string(c.reason)) || !strings.Contains(notes, c.detail) || strings.Contains(notes, "s3cr3t") {
				t.Errorf("notes %q", r.Notes)
			}
			if _, err := e.Replay(t.Context(), r.Run); err != nil {
				t.Error(err)
			}
		})
	}
}

func resultsIn(events []event.Event) []event.SearchResults {
	var out []event.SearchResults
	for _, ev := range events {
		if d, ok := ev.Data.(event.SearchResults); ok {
			out = append(out, d)
		}
	}
	return out
}

// TestWebWithAllEnginesDown fails with what was tried.
func TestWebWithAllEnginesDown(t *testing.T) {
	for _, c := range engineFaults {
		t.Run(string(c.fault.Kind), func(t *testing.T) {
			t.Parallel()
			w := startWeb(t, webtest.Options{})
			w.Break(c.fault)
			b := startBrave(t)
			b.status = http.StatusTooManyRequests
			for _, set := range []map[string]string{nil, b.second()} {
				e := engine(t, memory.New(memory.Options{}), onWeb(t, w, set, soon(c.fault)))
				events := follow(t, e, onTheWeb("web_search", aboutOststrand))
				rec, err := e.Get(t.Context(), "last")
				if err != nil || rec.Status != run.Failed || rec.Failure == nil {
					t.Fatalf("%+v, %v", rec, err)
				}
				f := rec.Failure
				tried := []string{"searxng: " + string(c.reason), c.detail}
				if set != nil {
					tried = append(tried, "brave: "+string(search.RateLimited))
				}
				for _, want := range tried {
					if !strings.Contains(f.Message, want) {
						t.Errorf("%q is missing in %q", want, f.Message)
					}
				}
				if f.Code != "search_unavailable" || f.Hint == "" || strings.Contains(f.Message, "step ") || strings.Contains(f.Message, "s3cr3t") {
					t.Errorf("failure %+v", f)
				}
				for _, told := range resultsIn(events) {
					if told.Error == "" {
						t.Errorf("a search that failed is told as one that found nothing: %+v", told)
					}
				}
			}
		})
	}
}

// An engine that found nothing has answered: the next is asked, and if none has
// anything that is the answer.
func TestWebEnginesThatFindNothing(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	w.Break(webtest.Fault{Kind: webtest.NoResults})
	b := startBrave(t, pageOn(t, w, oststrandPage))
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, b.second()))
	follow(t, e, onTheWeb("web_search", aboutOststrand))
	if r := reportOf(t, e); !strings.Contains(quotes(r), "18,240") || len(r.Notes) > 0 {
		t.Errorf("%s", report.Markdown(r))
	}
	e = engine(t, memory.New(memory.Options{}), onWeb(t, w, startBrave(t).second()))
	follow(t, e, onTheWeb("web_search", aboutOststrand))
	rec, err := e.Get(t.Context(), "last")
	if r := reportOf(t, e); err != nil || rec.Status != run.Done || r.Outcome != report.Nothing {
		t.Errorf("%s, %v\n%s", rec.Status, err, report.Markdown(r))
	}
	// One that fails beside one that finds nothing: nothing was found, and the
	// answer says who did not answer.
	w.Break(webtest.Fault{Kind: webtest.Captcha})
	e = engine(t, memory.New(memory.Options{}), onWeb(t, w, startBrave(t).second()))
	follow(t, e, onTheWeb("web_search", aboutOststrand))
	if r := reportOf(t, e); r.Outcome != report.Nothing || !strings.Contains(strings.Join(r.Notes, "\n"), "searxng did not answer") {
		t.Errorf("%s", report.Markdown(r))
	}
}

// An engine that asked for peace is left in peace, by the next question too.
func TestWebLeavesAnEngineInPeace(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	w.Break(webtest.Fault{Kind: webtest.RateLimited, RetryAfter: time.Hour, Times: 8})
	b := startBrave(t, pageOn(t, w, oststrandPage))
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, b.second()))
	follow(t, e, onTheWeb("web_search", aboutOststrand))
	asked := len(w.Searches())
	follow(t, e, onTheWeb("web_search", "Who is the mayor of Oststrand?"))
	if r := reportOf(t, e); len(w.Searches()) != asked || !strings.Contains(strings.Join(r.Notes, "\n"), "left alone") {
		t.Errorf("asked %d times, then %d\n%s", asked, len(w.Searches()), report.Markdown(r))
	}
}
