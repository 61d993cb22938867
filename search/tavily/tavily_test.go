package tavily_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"dossier/search"
	"dossier/search/searchtest"
	"dossier/search/tavily"
)

const key = "tvly-dev-s3cr3t"

func samples(n int) []search.Hit {
	hits := searchtest.Samples(n)
	for i := range hits {
		if i%2 == 1 {
			hits[i].Date = "2025-09-12"
		}
	}
	return hits
}

func answer(w http.ResponseWriter, query string, hits []search.Hit) {
	results := []map[string]any{}
	for i, h := range hits {
		r := map[string]any{"url": h.URL, "title": h.Title, "content": h.Snippet, "score": 0.99 / float64(i+1), "raw_content": nil, "favicon": "https://a.example/favicon.ico"}
		if h.Date != "" {
			r["published_date"] = "Fri, 12 Sep 2025 09:00:00 GMT"
		}
		results = append(results, r)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"query": query, "follow_up_questions": nil, "answer": nil, "images": []any{}, "results": results, "response_time": 1.09,
		"request_id": "123e4567-e89b-12d3-a456-426614174111",
	})
}

// fields returns what was posted, which can be read again afterwards.
func fields(r *http.Request) map[string]any {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var out map[string]any
	_ = json.Unmarshal(body, &out)
	return out
}

func TestEngine(t *testing.T) {
	searchtest.Run(t, searchtest.Spec{
		New: func(_ *testing.T, base string) search.Engine {
			return tavily.New(http.DefaultClient, tavily.Config{URL: base, Key: key})
		},
		Serve: func(w http.ResponseWriter, r *http.Request, hits []search.Hit) {
			if r.Method != http.MethodPost || r.URL.Path != "/search" {
				http.NotFound(w, r)
				return
			}
			if r.Header.Get("Authorization") != "Bearer "+key {
				w.WriteHeader(401)
				fmt.Fprint(w, `{"detail":{"error":"Unauthorized: missing or invalid API key."}}`)
				return
			}
			answer(w, "bees", hits)
		},
		Query:  func(r *http.Request) string { q, _ := fields(r)["query"].(string); return q },
		Hits:   samples,
		Secret: key,
	})
}

func serve(t *testing.T, c tavily.Config, h http.HandlerFunc) *tavily.Engine {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c.URL = server.URL
	return tavily.New(server.Client(), c)
}

func TestRequest(t *testing.T) {
	var got map[string]any
	h := func(w http.ResponseWriter, r *http.Request) {
		got = fields(r)
		answer(w, "bees", samples(1))
	}
	for name, c := range map[string]struct {
		conf  tavily.Config
		query search.Query
		want  map[string]any
	}{
		"plain": {tavily.Config{Key: key}, search.Query{Text: "bees"}, map[string]any{"query": "bees"}},
		"all": {
			tavily.Config{Key: key, Depth: "advanced", Topic: "news"},
			search.Query{
				Text: "bees", Limit: 50, Lang: "ru", Sites: []string{"a.example", "b.example"},
				Since: time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC), Until: time.Date(2025, 3, 4, 0, 0, 0, 0, time.UTC),
			},
			map[string]any{
				"query": "bees", "max_results": 20.0, "search_depth": "advanced", "topic": "news",
				"start_date": "2024-01-02", "end_date": "2025-03-04", "include_domains": []any{"a.example", "b.example"},
			},
		},
	} {
		if _, err := serve(t, c.conf, h).Search(t.Context(), c.query); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, not %v; %v", name, got, c.want, err)
		}
	}
}

func TestRanked(t *testing.T) {
	if !tavily.New(http.DefaultClient, tavily.Config{}).Info().Ranked {
		t.Error("its results would be ranked again")
	}
}

func TestUsedUp(t *testing.T) {
	for status, body := range map[int]string{
		432: `{"detail":{"error":"This request exceeds your plan's set usage limit. Please upgrade your plan or contact support@tavily.com"}}`,
		433: `{"detail":{"error":"This request exceeds the pay-as-you-go limit."}}`,
	} {
		_, err := serve(t, tavily.Config{Key: key}, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}).Search(t.Context(), search.Query{Text: "bees"})
		if search.ReasonOf(err) != search.Unauthorized || !strings.Contains(err.Error(), "limit") {
			t.Error(err)
		}
	}
}

func TestNoKey(t *testing.T) {
	e := serve(t, tavily.Config{}, func(http.ResponseWriter, *http.Request) { t.Error("it was asked") })
	if _, err := e.Search(t.Context(), search.Query{Text: "bees"}); search.ReasonOf(err) != search.Unauthorized {
		t.Error(err)
	}
	if _, err := e.Open(t.Context(), "https://a.example/"); search.ReasonOf(err) != search.Unauthorized {
		t.Error(err)
	}
}

func TestOpen(t *testing.T) {
	const page = "https://a.example/bees"
	for name, c := range map[string]struct {
		body   string
		text   string
		mine   bool
		reason search.Reason
	}{
		"read": {`{"results":[{"url":"https://a.example/bees","title":"Bees","raw_content":"First line.\nSecond line.\n","images":[]}],"failed_results":[],"response_time":0.02}`,
			"First line.\nSecond line.", true, ""},
		"failed":      {`{"results":[],"failed_results":[{"url":"https://a.example/bees","error":"Failed to fetch url"}],"response_time":0.02}`, "", false, ""},
		"only listed": {`{"results":[],"failed_results":["https://a.example/bees"]}`, "", false, ""},
		"no text":     {`{"results":[{"url":"https://a.example/bees","raw_content":null}],"failed_results":[]}`, "", false, ""},
		"other JSON":  {`{"detail":"?"}`, "", true, search.Malformed},
		"a page":      {`<html>`, "", true, search.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			var got map[string]any
			e := serve(t, tavily.Config{Key: key}, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/extract" || r.Header.Get("Authorization") != "Bearer "+key {
					t.Errorf("%s %v", r.URL, r.Header)
				}
				got = fields(r)
				fmt.Fprint(w, c.body)
			})
			var opener search.Opener = e
			hit, err := opener.Open(t.Context(), page)
			if want := map[string]any{"urls": []any{page}, "format": "text"}; !reflect.DeepEqual(got, want) {
				t.Errorf("%v, not %v", got, want)
			}
			if hit.Text != c.text || errors.Is(err, search.ErrNotMine) == c.mine || search.ReasonOf(err) != c.reason {
				t.Errorf("%+v, %v", hit, err)
			}
			if c.text != "" && (hit.URL != page || hit.Title != "Bees" || hit.Engine != "tavily") {
				t.Errorf("%+v", hit)
			}
			if name == "failed" && !strings.Contains(err.Error(), "Failed to fetch") {
				t.Errorf("%v: not what the service said", err)
			}
		})
	}
}

func TestOddResults(t *testing.T) {
	e := serve(t, tavily.Config{Key: key}, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"results":[{"title":"no address"},{"url":"https://a.example/","title":null,"content":"one\n\n two"}]}`)
	})
	hits, err := e.Search(t.Context(), search.Query{Text: "bees"})
	if err != nil || len(hits) != 1 || hits[0].Snippet != "one two" {
		t.Errorf("%+v, %v", hits, err)
	}
}
