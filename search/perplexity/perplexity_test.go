package perplexity_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"dossier/search"
	"dossier/search/perplexity"
	"dossier/search/searchtest"
)

const key = "pplx-s3cr3t"

func samples(n int) []search.Hit {
	hits := searchtest.Samples(n)
	for i := range hits {
		if i%2 == 1 {
			hits[i].Date = "2025-03-20"
		}
	}
	return hits
}

func answer(w http.ResponseWriter, hits []search.Hit) {
	results := []map[string]any{}
	for _, h := range hits {
		r := map[string]any{"url": h.URL, "title": h.Title, "snippet": h.Snippet, "date": nil, "last_updated": "2025-09-19"}
		if h.Date != "" {
			r["date"] = h.Date
		}
		results = append(results, r)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"id": "e38104d5-6bd7-4d82-bc4e-0a21179d1f77", "results": results, "server_time": nil})
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
			return perplexity.New(http.DefaultClient, perplexity.Config{URL: base, Key: key})
		},
		Serve: func(w http.ResponseWriter, r *http.Request, hits []search.Hit) {
			if r.Method != http.MethodPost || r.URL.Path != "/search" {
				http.NotFound(w, r)
				return
			}
			if r.Header.Get("Authorization") != "Bearer "+key || r.Header.Get("Content-Type") != "application/json" {
				w.WriteHeader(401)
				return
			}
			answer(w, hits)
		},
		Query:  func(r *http.Request) string { q, _ := fields(r)["query"].(string); return q },
		Hits:   samples,
		Secret: key,
	})
}

func serve(t *testing.T, c perplexity.Config, h http.HandlerFunc) *perplexity.Engine {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c.URL = server.URL + c.URL
	return perplexity.New(server.Client(), c)
}

func TestRequest(t *testing.T) {
	var got map[string]any
	h := func(w http.ResponseWriter, r *http.Request) {
		got = fields(r)
		answer(w, samples(1))
	}
	many := make([]string, 30)
	for i := range many {
		many[i] = fmt.Sprintf("s%d.example", i)
	}
	for name, c := range map[string]struct {
		query search.Query
		want  map[string]any
	}{
		"plain": {search.Query{Text: "bees"}, map[string]any{"query": "bees"}},
		"all": {
			search.Query{
				Text: "bees", Limit: 50, Lang: "ru", Sites: []string{"a.example", "b.example"},
				Since: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2025, 3, 4, 0, 0, 0, 0, time.UTC),
			},
			map[string]any{
				"query": "bees", "max_results": 20.0, "search_domain_filter": []any{"a.example", "b.example"},
				"search_after_date_filter": "12/31/2023", "search_before_date_filter": "03/05/2025",
			},
		},
		"since": {
			search.Query{Text: "bees", Limit: 3, Since: time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC)},
			map[string]any{"query": "bees", "max_results": 3.0, "search_after_date_filter": "05/05/2024"},
		},
	} {
		c.want["max_tokens_per_page"] = 1024.0
		if _, err := serve(t, perplexity.Config{Key: key}, h).Search(t.Context(), c.query); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, not %v; %v", name, got, c.want, err)
		}
	}
	_, err := serve(t, perplexity.Config{Key: key}, h).Search(t.Context(), search.Query{Text: "bees", Sites: many})
	if sites, _ := got["search_domain_filter"].([]any); err != nil || len(sites) != 20 {
		t.Errorf("%d sites, %v", len(sites), err)
	}
}

// TestAddress takes the address of the search for that of the service, as other
// programs write it.
func TestAddress(t *testing.T) {
	for _, end := range []string{"", "/", "/search", "/search/", "/proxy"} {
		var at string
		e := serve(t, perplexity.Config{Key: key, URL: end}, func(w http.ResponseWriter, r *http.Request) {
			at = r.URL.Path
			answer(w, nil)
		})
		want := "/search"
		if end == "/proxy" {
			want = "/proxy/search"
		}
		if _, err := e.Search(t.Context(), search.Query{Text: "bees"}); err != nil || at != want {
			t.Errorf("%q: %s, %v", end, at, err)
		}
	}
}

func TestRanked(t *testing.T) {
	if !perplexity.New(http.DefaultClient, perplexity.Config{}).Info().Ranked {
		t.Error("its results would be ranked again")
	}
}

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   search.Reason
		told   string
	}{
		"wrong key":       {401, "<html>\r\n<head><title>401 Authorization Required</title></head>\r\n<body><hr><center>openresty</center></body></html>", search.Unauthorized, ""},
		"used up":         {401, `{"error":{"message":"You exceeded your current quota, please check your plan.","type":"insufficient_quota","code":401}}`, search.Unauthorized, "quota"},
		"wrong parameter": {400, `{"error":{"message":"max_results must be between 1 and 20","type":"invalid_parameter","code":400}}`, search.Rejected, "max_results"},
		"too fast":        {429, `{"error":{"message":"Request rate limit exceeded","type":"rate_limit_exceeded","code":429}}`, search.RateLimited, ""},
		"no results":      {200, `{"id":"x"}`, search.Malformed, "results"},
		"an answer":       {200, `{"id":"x","results":"bees"}`, search.Malformed, ""},
	} {
		_, err := serve(t, perplexity.Config{Key: key}, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		}).Search(t.Context(), search.Query{Text: "bees"})
		if search.ReasonOf(err) != c.want || !strings.Contains(err.Error(), c.told) || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", name, err)
		}
	}
	e := serve(t, perplexity.Config{}, func(http.ResponseWriter, *http.Request) { t.Error("it was asked") })
	if _, err := e.Search(t.Context(), search.Query{Text: "bees"}); search.ReasonOf(err) != search.Unauthorized {
		t.Error(err)
	}
}

func TestOddResults(t *testing.T) {
	long := strings.Repeat("A line about bees.\n", 200)
	e := serve(t, perplexity.Config{Key: key}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"results": []any{
			map[string]any{"title": "no address", "snippet": "x"},
			map[string]any{"url": "https://a.example/", "title": nil, "snippet": "one\n\n two", "date": "3 days ago"},
			map[string]any{"url": "https://b.example/", "title": "B", "snippet": long, "date": "2025-01"},
		}})
	})
	hits, err := e.Search(t.Context(), search.Query{Text: "bees"})
	if err != nil || len(hits) != 2 {
		t.Fatalf("%+v, %v", hits, err)
	}
	if h := hits[0]; h.Snippet != "one two" || h.Text != "" || h.Date != "" {
		t.Errorf("%+v", h)
	}
	if h := hits[1]; h.Text != strings.TrimSpace(long) || strings.Contains(h.Snippet, "\n") || h.Date != "2025-01" {
		t.Errorf("%+v", h)
	}
}
