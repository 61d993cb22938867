package searxng_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"dossier/search"
	"dossier/search/searchtest"
	"dossier/search/searxng"
)

// samples have what an instance knows of some of its results.
func samples(n int) []search.Hit {
	hits := searchtest.Samples(n)
	for i := range hits {
		if i%2 == 0 {
			hits[i].Date = "2024-03-05"
		}
		if i%3 == 0 {
			hits[i].Author = "Ada Lovelace"
		}
	}
	return hits
}

// result is an entry of the kind MainResult, or where i is odd one of the older
// kind, which leaves out fields or has null in them.
func result(i int, h search.Hit) map[string]any {
	at, _ := url.Parse(h.URL)
	r := map[string]any{
		"url": h.URL, "title": h.Title, "content": h.Snippet, "template": "default.html",
		"engine": "brave", "engines": []string{"brave", "duckduckgo"}, "positions": []int{i + 1, i + 3}, "score": 1 / float64(i+1), "category": "general",
		"parsed_url": []string{at.Scheme, at.Host, at.Path, "", at.RawQuery, ""}, "priority": "", "img_src": "", "thumbnail": nil, "publishedDate": nil,
	}
	if i%2 == 0 {
		r["iframe_src"], r["audio_src"], r["pubdate"], r["length"], r["views"], r["metadata"], r["open_group"] = "", "", "", nil, "", "", false
	}
	if h.Date != "" {
		r["publishedDate"] = h.Date + "T00:00:00"
	}
	if h.Author != "" {
		r["author"] = h.Author
	}
	return r
}

func answer(w http.ResponseWriter, r *http.Request, results []map[string]any, unresponsive ...[]string) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"query": r.FormValue("q"), "number_of_results": 0, "results": results, "answers": []any{}, "corrections": []any{}, "infoboxes": []any{},
		"suggestions": []string{"bees for sale"}, "unresponsive_engines": unresponsive,
	})
}

func entries(hits []search.Hit) []map[string]any {
	out := []map[string]any{}
	for i, h := range hits {
		out = append(out, result(i, h))
	}
	return out
}

func TestEngine(t *testing.T) {
	searchtest.Run(t, searchtest.Spec{
		New: func(_ *testing.T, base string) search.Engine {
			return searxng.New(http.DefaultClient, searxng.Config{URL: base + "/"})
		},
		Serve: func(w http.ResponseWriter, r *http.Request, hits []search.Hit) {
			if r.URL.Path != "/search" || r.FormValue("format") != "json" {
				http.NotFound(w, r)
				return
			}
			if r.FormValue("pageno") != "1" {
				hits = nil
			}
			answer(w, r, entries(hits))
		},
		Query: func(r *http.Request) string { return r.FormValue("q") },
		Hits:  samples,
	})
}

func serve(t *testing.T, h http.HandlerFunc) *searxng.Engine {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return searxng.New(server.Client(), searxng.Config{URL: server.URL})
}

func TestRequest(t *testing.T) {
	var got *http.Request
	e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		got = r
		answer(w, r, entries(samples(3)))
	})
	q := search.Query{Text: "bees", Limit: 2, Lang: "ru", Sites: []string{"a.example", "b.example"}, Since: time.Now().Add(-5 * 24 * time.Hour)}
	if _, err := e.Search(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	want := url.Values{"q": {"bees (site:a.example OR site:b.example)"}, "format": {"json"}, "pageno": {"1"}, "language": {"ru"}, "time_range": {"week"}}
	if got.Form.Encode() != want.Encode() {
		t.Errorf("%v, not %v", got.Form, want)
	}
	// What the limiter of an instance looks for.
	if !strings.Contains(got.Header.Get("Accept"), "text/html") || got.Header.Get("Accept-Language") == "" || strings.HasPrefix(got.UserAgent(), "Go-") {
		t.Errorf("%v", got.Header)
	}
}

func TestPages(t *testing.T) {
	for name, c := range map[string]struct {
		limit, perPage, pages int // of the server
		hits, asked           int
	}{
		"all on the first":   {5, 10, 9, 5, 1},
		"two":                {15, 10, 9, 15, 2},
		"no more than three": {100, 10, 9, 30, 3},
		"the last is empty":  {25, 10, 1, 10, 2},
		"no limit":           {0, 10, 9, 10, 1},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			e := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked++
				if r.FormValue("pageno") != fmt.Sprint(asked) {
					t.Errorf("page %s, not %d", r.FormValue("pageno"), asked)
				}
				var hits []search.Hit
				if asked <= c.pages {
					hits = samples(100)[(asked-1)*c.perPage : asked*c.perPage]
				}
				answer(w, r, entries(hits))
			})
			hits, err := e.Search(t.Context(), search.Query{Text: "bees", Limit: c.limit})
			if err != nil || len(hits) != c.hits || asked != c.asked {
				t.Errorf("%d hits from %d pages, %v", len(hits), asked, err)
			}
		})
	}
}

// A page that repeats the one before brings nothing new, and one that fails
// takes nothing away.
func TestNextPageFails(t *testing.T) {
	for name, second := range map[string]http.HandlerFunc{
		"the same again": func(w http.ResponseWriter, r *http.Request) { answer(w, r, entries(samples(4))) },
		"too many":       func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) },
		"none responds": func(w http.ResponseWriter, r *http.Request) {
			answer(w, r, entries(nil), []string{"brave", "too many requests"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.FormValue("pageno") == "1" {
					answer(w, r, entries(samples(4)))
					return
				}
				second(w, r)
			})
			hits, err := e.Search(t.Context(), search.Query{Text: "bees", Limit: 10})
			if err != nil || len(hits) != 4 {
				t.Errorf("%d hits, %v", len(hits), err)
			}
		})
	}
}

func TestUnresponsive(t *testing.T) {
	for said, want := range map[string]search.Reason{
		"CAPTCHA":                      search.Blocked,
		"Suspended: CAPTCHA":           search.Blocked,
		"access denied":                search.Blocked,
		"too many requests":            search.RateLimited,
		"Suspended: too many requests": search.RateLimited,
		"timeout":                      search.TooSlow,
		"HTTP connection error":        search.Unavailable,
		"unexpected crash":             search.Unavailable,
	} {
		e := serve(t, func(w http.ResponseWriter, r *http.Request) {
			answer(w, r, entries(nil), []string{"brave", said}, []string{"wikidata", "parsing error"})
		})
		hits, err := e.Search(t.Context(), search.Query{Text: "bees"})
		if search.ReasonOf(err) != want || len(hits) > 0 || !strings.Contains(err.Error(), "brave: "+said) {
			t.Errorf("%s: %v", said, err)
		}
	}
	// One that fails beside others that found something is no fault.
	e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, entries(samples(2)), []string{"google", "CAPTCHA"})
	})
	if hits, err := e.Search(t.Context(), search.Query{Text: "bees", Limit: 2}); err != nil || len(hits) != 2 {
		t.Errorf("%v, %v", hits, err)
	}
}

func TestOddResults(t *testing.T) {
	e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, []map[string]any{
			{"url": nil, "title": "no address"},
			{"title": "no address either"},
			{"url": "https://a.example/", "title": nil, "content": nil, "author": []string{"Ada", "Bob"}, "publishedDate": 7, "score": 0},
			{"url": "https://b.example/", "title": " two\n lines ", "content": "a<b & c>d"},
		})
	})
	hits, err := e.Search(t.Context(), search.Query{Text: "bees"})
	if err != nil || len(hits) != 2 {
		t.Fatalf("%+v, %v", hits, err)
	}
	if hits[0].Author != "Ada, Bob" || hits[0].Date != "" || hits[1].Title != "two lines" || hits[1].Snippet != "a<b & c>d" {
		t.Errorf("%+v", hits)
	}
}

func TestRefused(t *testing.T) {
	e := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(403)
		fmt.Fprint(w, "<!doctype html>\n<html lang=en>\n<title>403 Forbidden</title>\n<h1>Forbidden</h1>\n")
	})
	_, err := e.Search(t.Context(), search.Query{Text: "bees"})
	if err == nil || !strings.Contains(err.Error(), "search.formats") {
		t.Error(err)
	}
	_, err = searxng.New(http.DefaultClient, searxng.Config{}).Search(t.Context(), search.Query{Text: "bees"})
	if search.ReasonOf(err) != search.Unreachable || !strings.Contains(err.Error(), "address") {
		t.Error(err)
	}
	_, err = searxng.New(http.DefaultClient, searxng.Config{URL: "http://a b"}).Search(t.Context(), search.Query{Text: "bees"})
	if search.ReasonOf(err) != search.Unreachable {
		t.Error(err)
	}
}
