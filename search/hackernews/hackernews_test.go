package hackernews

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"dossier/search"
	"dossier/search/internal/text"
	"dossier/search/searchtest"
)

func TestEngine(t *testing.T) {
	searchtest.Run(t, searchtest.Spec{
		New: func(_ *testing.T, base string) search.Engine {
			return New(http.DefaultClient, Config{URL: base})
		},
		Serve: serve,
		Query: func(r *http.Request) string { return r.URL.Query().Get("query") },
		Hits: func(n int) []search.Hit {
			hits := searchtest.Samples(n)
			for i := range hits {
				hits[i].Text = hits[i].Snippet
				hits[i].Author = "pg"
				hits[i].Date = fmt.Sprintf("2006-10-%02d", i+1)
			}
			return hits
		},
	})
}

// serve writes the reply that https://hn.algolia.com/api shows: title as text,
// what was written as HTML, and what was highlighted beside it.
func serve(w http.ResponseWriter, r *http.Request, hits []search.Hit) {
	if r.URL.Path != "/api/v1/search" || r.URL.Query().Get("tags") != "story" {
		http.NotFound(w, r)
		return
	}
	found := []any{}
	for i, h := range hits {
		found = append(found, map[string]any{
			"title": h.Title, "url": h.URL, "author": h.Author, "points": 57, "num_comments": 2, "objectID": fmt.Sprint(i + 1),
			"story_text": "<p>" + html.EscapeString(h.Snippet) + "</p>", "comment_text": nil, "story_id": i + 1,
			"created_at": h.Date + "T18:21:51.000Z", "created_at_i": 1160418111, "_tags": []string{"story", "author_pg"},
			"_highlightResult": map[string]any{"title": map[string]any{"value": "<em>" + h.Title + "</em>", "matchLevel": "full", "matchedWords": []string{"bees"}}},
		})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"hits": found, "page": 0, "nbHits": len(found), "nbPages": 1, "hitsPerPage": 20, "processingTimeMS": 1, "query": "pg", "params": "query=pg",
	})
}

func engine(t *testing.T, h http.HandlerFunc) *Engine {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return New(server.Client(), Config{URL: server.URL})
}

func TestBoundsAndLength(t *testing.T) {
	var asked url.Values
	e := engine(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Query()
		_, _ = w.Write([]byte(`{"hits":[]}`))
	})
	for want, q := range map[string]search.Query{
		"":                                    {},
		"created_at_i>=100":                   {Since: time.Unix(100, 0)},
		"created_at_i<=200":                   {Until: time.Unix(200, 0)},
		"created_at_i>=100,created_at_i<=200": {Since: time.Unix(100, 0), Until: time.Unix(200, 0)},
	} {
		q.Text = strings.Repeat("word ", 200)
		if _, err := e.Search(t.Context(), q); err != nil || asked.Get("numericFilters") != want || len(asked.Get("query")) > mostQuery {
			t.Errorf("%v, %v", asked, err)
		}
	}
}

func TestStories(t *testing.T) {
	e := engine(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"hits":[
			{"objectID":"8863","title":"My YC app: Dropbox &#8211; Throw away your USB drive","url":"http://www.getdropbox.com/u/2/screencast.html","points":104,"num_comments":71,"story_text":null,"created_at":"2007-04-04T19:16:40Z"},
			{"objectID":"121003","title":"Ask HN: The Arc Effect","url":"","story_text":"<i>or</i> HN: the Next Iteration<p>I get the impression &gt; 1","author":"tel"},
			{"objectID":"","title":"nowhere","url":null}
		]}`))
	})
	hits, err := e.Search(t.Context(), search.Query{Text: "x"})
	if err != nil || len(hits) != 2 {
		t.Fatalf("%+v, %v", hits, err)
	}
	if h := hits[0]; h.Title != "My YC app: Dropbox – Throw away your USB drive" || h.Snippet != "Hacker News: 104 points, 71 comments" || h.Date != "2007-04-04" {
		t.Errorf("%+v", h)
	}
	if h := hits[1]; h.URL != "https://news.ycombinator.com/item?id=121003" || h.Snippet != "or HN: the Next Iteration I get the impression > 1" {
		t.Errorf("%+v", h)
	}
}

const thread = `{"id":1,"created_at":"2006-10-09T18:21:51.000Z","created_at_i":1160418111,"type":"story","author":"pg","title":"Y Combinator","url":"https://ycombinator.com","text":null,"points":57,"parent_id":null,"children":[
	{"id":15,"created_at":"2006-10-09T19:51:01.000Z","type":"comment","author":"sama","text":"<p>&#34;the rising star of venture capital&#34; -unknown VC</p><p>eating lunch</p>","points":5,"parent_id":1,"children":[
		{"id":17,"type":"comment","author":"pg","text":"<p>Is there <i>anywhere</i> to eat on Sandhill Road?</p>","parent_id":15,"children":[]}]},
	{"id":16,"children":[{"id":18,"author":"late","text":"still here","children":[]}]},
	{"id":19,"author":null,"text":"no name","children":null}]}`

func TestOpen(t *testing.T) {
	asked := ""
	e := engine(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path
		_, _ = w.Write([]byte(thread))
	})
	hit, err := e.Open(t.Context(), "https://news.ycombinator.com/item?id=1&p=2#15")
	if err != nil || asked != "/api/v1/items/1" {
		t.Fatalf("%s: %v", asked, err)
	}
	want := "Link: https://ycombinator.com\n\nsama: \"the rising star of venture capital\" -unknown VC\neating lunch\n\npg to sama: Is there anywhere to eat on Sandhill Road?\n\nlate: still here\n\nsomebody: no name"
	if hit.Text != want || hit.Title != "Y Combinator" || hit.Date != "2006-10-09" || hit.Author != "pg" || hit.URL != item+"1" {
		t.Errorf("%+v", hit)
	}
	for _, page := range []string{"https://news.ycombinator.com/", "https://news.ycombinator.com/item?id=1/../../users/pg", "https://news.ycombinator.com/item?id=0", "https://evil.example/item?id=1", "news.ycombinator.com/item?id=1", "\x00"} {
		if _, err := e.Open(t.Context(), page); !errors.Is(err, search.ErrNotMine) {
			t.Errorf("%s: %v", page, err)
		}
	}
}

func TestOpenFaults(t *testing.T) {
	status, body := 404, `{"status":404,"error":"Not Found"}`
	e := engine(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
	if _, err := e.Open(t.Context(), item+"1"); !errors.Is(err, search.ErrNotMine) {
		t.Error(err)
	}
	status = 503
	if _, err := e.Open(t.Context(), item+"1"); search.ReasonOf(err) != search.Unavailable {
		t.Error(err)
	}
	status, body = 200, `{}`
	if _, err := e.Open(t.Context(), item+"1"); search.ReasonOf(err) != search.Malformed {
		t.Error(err)
	}
	// A discussion without end is cut, and one without bottom is no crash.
	long := strings.Repeat("word ", 1000)
	body = `{"id":1,"children":[` + strings.Repeat(`{"id":2,"author":"a","text":"`+long+`"},`, 200) + `{"id":3}]}`
	if hit, err := e.Open(t.Context(), item+"1"); err != nil || len(hit.Text) > text.Page || len(hit.Text) < text.Page/2 {
		t.Errorf("%d bytes, %v", len(hit.Text), err)
	}
	body = strings.Repeat(`{"id":1,"children":[`, 50_000) + strings.Repeat(`]}`, 50_000)
	if _, err := e.Open(t.Context(), item+"1"); search.ReasonOf(err) != search.Malformed {
		t.Error(err)
	}
}
