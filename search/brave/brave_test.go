package brave_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"dossier/lang"
	"dossier/search"
	"dossier/search/brave"
	"dossier/search/searchtest"
)

const key = "BSA-s3cr3t"

func samples(n int) []search.Hit {
	hits := searchtest.Samples(n)
	langs := []lang.Code{"en", "ru", "zh"}
	for i := range hits {
		hits[i].Lang, hits[i].Site = langs[i%3], "Site & Co"
		if i%2 == 0 {
			hits[i].Date = "2024-03-05"
			hits[i].Text = hits[i].Title + "\n" + hits[i].Snippet
		}
	}
	return hits
}

// marked is text as the service sends it: the first word in bold, characters of
// markup as entities.
func marked(text string) string {
	first, rest, _ := strings.Cut(text, " ")
	return "<strong>" + html.EscapeString(first) + "</strong> " + html.EscapeString(rest)
}

func answer(w http.ResponseWriter, hits []search.Hit, more bool) {
	reply := map[string]any{
		"type":  "search",
		"query": map[string]any{"original": "bees", "is_navigational": false, "country": "us", "bad_results": false, "more_results_available": more},
		"mixed": map[string]any{"type": "mixed", "main": []any{}, "top": []any{}, "side": []any{}},
	}
	var results []map[string]any
	for i, h := range hits {
		r := map[string]any{
			"type": "search_result", "subtype": "generic", "is_live": false, "is_source_local": false, "is_source_both": false, "family_friendly": true,
			"url": h.URL, "title": marked(h.Title), "description": marked(h.Snippet), "language": string(h.Lang),
			"profile":  map[string]any{"name": html.EscapeString(h.Site), "url": h.URL, "long_name": "site.example", "img": "https://imgs.search.brave.com/x"},
			"meta_url": map[string]any{"scheme": "https", "netloc": "site.example", "hostname": "site.example", "favicon": "", "path": "› path"},
		}
		if h.Lang == "zh" {
			r["language"] = "zh-hans"
		}
		switch {
		case h.Date == "":
			r["age"] = "3 days ago"
		case i%4 == 0:
			r["page_age"], r["age"] = h.Date+"T10:11:12", "a week ago"
		default:
			r["age"] = "March 5, 2024"
		}
		if h.Text != "" {
			r["extra_snippets"] = []string{marked(h.Title), marked(h.Snippet)}
		}
		results = append(results, r)
	}
	if results != nil {
		reply["web"] = map[string]any{"type": "search", "results": results, "family_friendly": true}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reply)
}

func TestEngine(t *testing.T) {
	searchtest.Run(t, searchtest.Spec{
		New: func(_ *testing.T, base string) search.Engine {
			return brave.New(http.DefaultClient, brave.Config{URL: base, Key: key})
		},
		Serve: func(w http.ResponseWriter, r *http.Request, hits []search.Hit) {
			if r.URL.Path != "/res/v1/web/search" {
				http.NotFound(w, r)
				return
			}
			if r.Header.Get("X-Subscription-Token") != key {
				w.WriteHeader(422)
				return
			}
			answer(w, hits, false)
		},
		Query:  func(r *http.Request) string { return r.FormValue("q") },
		Hits:   samples,
		Secret: key,
	})
}

func serve(t *testing.T, c brave.Config, h http.HandlerFunc) *brave.Engine {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c.URL = server.URL + c.URL
	return brave.New(server.Client(), c)
}

func TestRequest(t *testing.T) {
	var got url.Values
	h := func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.Query()
		answer(w, samples(1), false)
	}
	for name, c := range map[string]struct {
		conf  brave.Config
		query search.Query
		want  url.Values
	}{
		"plain": {brave.Config{Key: key}, search.Query{Text: "bees"}, url.Values{"q": {"bees"}, "search_lang": {"en"}}},
		"all": {
			brave.Config{Key: key, ExtraSnippets: true},
			search.Query{
				Text: "bees", Limit: 7, Lang: "zh", Sites: []string{"a.example"},
				Since: time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC), Until: time.Date(2025, 3, 4, 0, 0, 0, 0, time.UTC),
			},
			url.Values{"q": {"bees site:a.example"}, "count": {"7"}, "search_lang": {"zh-hans"}, "freshness": {"2024-01-02to2025-03-04"}, "extra_snippets": {"1"}},
		},
		"Japanese":         {brave.Config{Key: key}, search.Query{Text: "bees", Lang: "ja"}, url.Values{"q": {"bees"}, "search_lang": {"jp"}}},
		"Russian":          {brave.Config{Key: key}, search.Query{Text: "bees", Lang: "ru"}, url.Values{"q": {"bees"}, "search_lang": {"ru"}}},
		"one it has not":   {brave.Config{Key: key}, search.Query{Text: "bees", Lang: "sw"}, url.Values{"q": {"bees"}}},
		"more than a page": {brave.Config{Key: key}, search.Query{Text: "мёд", Limit: 50}, url.Values{"q": {"мёд"}, "count": {"20"}, "search_lang": {"ru"}}},
	} {
		c.want.Set("country", "ALL")
		c.want.Set("result_filter", "web")
		c.want.Set("text_decorations", "0")
		if _, err := serve(t, c.conf, h).Search(t.Context(), c.query); err != nil || got.Encode() != c.want.Encode() {
			t.Errorf("%s: %v, not %v; %v", name, got, c.want, err)
		}
	}
}

// TestAddress takes the address of the search for that of the service, as other
// programs write it.
func TestAddress(t *testing.T) {
	for _, end := range []string{"", "/", "/res/v1/web/search", "/res/v1/web/search/"} {
		var at string
		e := serve(t, brave.Config{Key: key, URL: end}, func(w http.ResponseWriter, r *http.Request) {
			at = r.URL.Path
			answer(w, nil, false)
		})
		if _, err := e.Search(t.Context(), search.Query{Text: "bees"}); err != nil || at != "/res/v1/web/search" {
			t.Errorf("%q: %s, %v", end, at, err)
		}
	}
}

func TestPages(t *testing.T) {
	for name, c := range map[string]struct {
		limit, pages, failAt int
		hits, asked          int
	}{
		"one":                {20, 9, 0, 20, 1},
		"two":                {30, 9, 0, 30, 2},
		"no more than three": {200, 9, 0, 60, 3},
		"it has no more":     {50, 2, 0, 40, 2},
		"they overlap":       {25, -1, 0, 20, 3},
		"the second fails":   {50, 9, 2, 20, 2},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			e := serve(t, brave.Config{Key: key}, func(w http.ResponseWriter, r *http.Request) {
				if want := fmt.Sprint(asked); asked > 0 && r.FormValue("offset") != want {
					t.Errorf("offset %q, not %q", r.FormValue("offset"), want)
				}
				asked++
				if asked == c.failAt {
					w.WriteHeader(429)
					return
				}
				if c.pages < 0 {
					answer(w, samples(20), true)
					return
				}
				answer(w, samples(200)[(asked-1)*20:asked*20], asked < c.pages)
			})
			hits, err := e.Search(t.Context(), search.Query{Text: "bees", Limit: c.limit})
			if err != nil || len(hits) != c.hits || asked != c.asked {
				t.Errorf("%d hits from %d pages, %v", len(hits), asked, err)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   search.Reason
	}{
		"wrong key": {422, `{"id":"5d83","status":422,"type":"ErrorResponse","error":{"id":"5d83","status":422,"code":"SUBSCRIPTION_TOKEN_INVALID","detail":"The provided subscription token is invalid.","meta":{"component":"authentication"}},"time":1663072993}`,
			search.Unauthorized},
		"wrong parameter": {422, `{"type":"ErrorResponse","error":{"status":422,"code":"VALIDATION","detail":"Unable to validate request parameter(s)","meta":{"errors":[{"loc":["query","count"]}]}}}`,
			search.Rejected},
		"too fast": {429, `{"type":"ErrorResponse","error":{"status":429,"code":"RATE_LIMITED","detail":"Request rate limit exceeded for plan.","meta":{"plan":"Free"}}}`,
			search.RateLimited},
	} {
		e := serve(t, brave.Config{Key: key}, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		})
		if _, err := e.Search(t.Context(), search.Query{Text: "bees"}); search.ReasonOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	e := serve(t, brave.Config{}, func(http.ResponseWriter, *http.Request) { t.Error("it was asked") })
	if _, err := e.Search(t.Context(), search.Query{Text: "bees"}); search.ReasonOf(err) != search.Unauthorized {
		t.Error(err)
	}
}

func TestOddResults(t *testing.T) {
	e := serve(t, brave.Config{Key: key}, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"type":"search","web":{"results":[{"title":"no address"},{"url":"https://a.example/","title":null,"description":"x&#x27;s <strong>y</strong>","language":"jp"}]}}`)
	})
	hits, err := e.Search(t.Context(), search.Query{Text: "bees"})
	if err != nil || len(hits) != 1 || hits[0].Snippet != "x's y" || hits[0].Lang != "ja" {
		t.Errorf("%+v, %v", hits, err)
	}
}
