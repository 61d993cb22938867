package bocha_test

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
	"dossier/search/bocha"
	"dossier/search/searchtest"
)

const key = "sk-s3cr3t"

func samples(n int) []search.Hit {
	hits := searchtest.Samples(n)
	for i := range hits {
		hits[i].Site = "搜狐网"
		if i%2 == 0 {
			hits[i].Date, hits[i].Text = "2024-07-22", "第一段。\n第二段 <原文> & more."
		}
	}
	return hits
}

func answer(w http.ResponseWriter, hits []search.Hit) {
	value := []map[string]any{}
	for i, h := range hits {
		v := map[string]any{
			"id": fmt.Sprintf("https://api.bochaai.com/v1/#WebPages.%d", i), "name": h.Title, "url": h.URL, "displayUrl": h.URL, "snippet": h.Snippet,
			"siteName": h.Site, "siteIcon": "https://th.bochaai.com/favicon?domain_url=" + h.URL, "dateLastCrawled": "2024-07-22T00:00:00Z",
			"cachedPageUrl": nil, "language": nil, "isFamilyFriendly": nil, "isNavigational": nil,
		}
		if h.Date != "" {
			v["datePublished"], v["summary"] = h.Date+"T23:30:00+08:00", h.Text
		}
		value = append(value, v)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"code": 200, "log_id": "d71841fb8f51b4c6", "msg": nil,
		"data": map[string]any{
			"_type": "SearchResponse", "queryContext": map[string]any{"originalQuery": "bees"},
			"webPages": map[string]any{"webSearchUrl": "https://bochaai.com/search?q=bees", "totalEstimatedMatches": 8912791, "value": value, "someResultsRemoved": true},
			"images":   map[string]any{"id": nil, "value": []any{}}, "videos": nil,
		},
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
			return bocha.New(http.DefaultClient, bocha.Config{URL: base, Key: key})
		},
		Serve: func(w http.ResponseWriter, r *http.Request, hits []search.Hit) {
			if r.Method != http.MethodPost || r.URL.Path != "/v1/web-search" {
				http.NotFound(w, r)
				return
			}
			if r.Header.Get("Authorization") != "Bearer "+key {
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

func serve(t *testing.T, h http.HandlerFunc) *bocha.Engine {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return bocha.New(server.Client(), bocha.Config{URL: server.URL, Key: key})
}

func TestRequest(t *testing.T) {
	var got map[string]any
	e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = fields(r)
		answer(w, samples(1))
	})
	for name, c := range map[string]struct {
		query search.Query
		want  map[string]any
	}{
		"plain": {search.Query{Text: "bees"}, map[string]any{"query": "bees", "summary": true}},
		"all": {
			search.Query{
				Text: "bees", Limit: 99, Lang: "zh", Sites: []string{"a.example", "b.example"},
				Since: time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC), Until: time.Date(2025, 3, 4, 0, 0, 0, 0, time.UTC),
			},
			map[string]any{"query": "bees", "summary": true, "count": 50.0, "freshness": "2024-01-02..2025-03-04", "include": "a.example|b.example"},
		},
	} {
		if _, err := e.Search(t.Context(), c.query); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, not %v; %v", name, got, c.want, err)
		}
	}
}

// The service names its errors in the body, with the code as a text or a
// number, and under the status of the code or of success.
func TestFaults(t *testing.T) {
	for body, want := range map[string]search.Reason{
		`{"code":"401","message":"Invalid API KEY","log_id":"c66aac17eac1bb7e"}`:              search.Unauthorized,
		`{"code":"403","message":"You do not have enough money","log_id":"c66aac17eac1bb7e"}`: search.Unauthorized,
		`{"code":"429","message":"You have reached the request limit","log_id":"c66a"}`:       search.RateLimited,
		`{"code":400,"msg":"Missing parameter query","data":null}`:                            search.Rejected,
		`{"code":"500","message":"Internal error","log_id":"c66a"}`:                           search.Unavailable,
	} {
		for _, ok := range []bool{true, false} {
			e := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if !ok {
					var status struct{ Code any }
					_ = json.Unmarshal([]byte(body), &status)
					var n int
					_, _ = fmt.Sscan(fmt.Sprint(status.Code), &n)
					w.WriteHeader(n)
				}
				fmt.Fprint(w, body)
			})
			_, err := e.Search(t.Context(), search.Query{Text: "bees"})
			if search.ReasonOf(err) != want || len(strings.Split(err.Error(), ": ")) < 3 {
				t.Errorf("%s: %v", body, err)
			}
		}
	}
	if _, err := bocha.New(http.DefaultClient, bocha.Config{}).Search(t.Context(), search.Query{Text: "bees"}); search.ReasonOf(err) != search.Unauthorized {
		t.Error(err)
	}
}

func TestOddResults(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		hits   int
		reason search.Reason
	}{
		"without an address": {`{"code":200,"data":{"_type":"SearchResponse","webPages":{"value":[{"name":"x"},{"url":"https://a.example/","name":null}]}}}`, 1, ""},
		"without pages":      {`{"code":200,"data":{"_type":"SearchResponse","webPages":null}}`, 0, ""},
		"without data":       {`{"code":200,"data":null}`, 0, search.Malformed},
		"other data":         {`{"code":200,"data":{"x":1}}`, 0, search.Malformed},
	} {
		e := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, c.body) })
		hits, err := e.Search(t.Context(), search.Query{Text: "bees"})
		if len(hits) != c.hits || search.ReasonOf(err) != c.reason {
			t.Errorf("%s: %+v, %v", name, hits, err)
		}
	}
}
