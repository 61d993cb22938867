package wikipedia_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"dossier/lang"
	"dossier/search"
	"dossier/search/searchtest"
	"dossier/search/wikipedia"
)

func samples(n int) []search.Hit {
	hits := searchtest.Samples(n)
	for i := range hits {
		hits[i].Site, hits[i].Lang, hits[i].Date = "Wikipedia", "en", "2025-11-30"
		hits[i].Text = hits[i].Title + " is an article.\n<It> has two paragraphs & no markup."
	}
	return hits
}

// answer gives the pages in the order of their numbers, as the API does, which
// is not that of the search.
func answer(w http.ResponseWriter, hits []search.Hit) {
	found, pages := []map[string]any{}, []map[string]any{}
	for i, h := range hits {
		id := 1000 - i
		first, rest, _ := strings.Cut(h.Snippet, " ")
		found = append(found, map[string]any{
			"ns": 0, "title": h.Title, "pageid": id, "timestamp": h.Date + "T12:13:14Z",
			"snippet": `<span class="searchmatch">` + html.EscapeString(first) + "</span> " + html.EscapeString(rest),
		})
		pages = append(pages, map[string]any{
			"pageid": id, "ns": 0, "title": h.Title, "index": i + 1, "extract": h.Text, "contentmodel": "wikitext", "pagelanguage": "en", "pagelanguagedir": "ltr",
			"touched": "2026-01-02T03:04:05Z", "lastrevid": 123, "length": 456, "fullurl": h.URL, "canonicalurl": h.URL, "editurl": h.URL + "&action=edit",
		})
	}
	slices.Reverse(pages)
	query := map[string]any{"searchinfo": map[string]any{"totalhits": len(hits)}, "search": found}
	if len(pages) > 0 {
		query["pages"] = pages
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"batchcomplete": true, "continue": map[string]any{"sroffset": 10, "gsroffset": 10, "continue": "gsroffset||"},
		"warnings": map[string]any{"extracts": map[string]any{"warnings": "…"}}, "query": query,
	})
}

func TestEngine(t *testing.T) {
	searchtest.Run(t, searchtest.Spec{
		New: func(_ *testing.T, base string) search.Engine {
			return wikipedia.New(http.DefaultClient, wikipedia.Config{URL: base})
		},
		Serve: func(w http.ResponseWriter, r *http.Request, hits []search.Hit) {
			if r.URL.Path != "/w/api.php" || r.FormValue("action") != "query" || strings.HasPrefix(r.UserAgent(), "Go-") {
				w.WriteHeader(403)
				return
			}
			answer(w, hits)
		},
		Query: func(r *http.Request) string {
			if r.FormValue("srsearch") != r.FormValue("gsrsearch") {
				return "two different questions"
			}
			return r.FormValue("srsearch")
		},
		Hits: samples,
	})
}

// asked is a client that keeps the request and answers that nothing was found.
type asked struct{ url *url.URL }

func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	a.url = r.URL
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"batchcomplete":true,"query":{"searchinfo":{"totalhits":0},"search":[]}}`))}, nil
}

func TestWiki(t *testing.T) {
	for _, c := range []struct {
		text string
		lang lang.Code
		host string
	}{
		{"bees in the city", "", "en.wikipedia.org"},
		{"пчёлы в городе", "", "ru.wikipedia.org"},
		{"пчела", "", "ru.wikipedia.org"},
		{"城市里的蜜蜂", "", "zh.wikipedia.org"},
		{"Bienen in der Stadt", "", "de.wikipedia.org"},
		{"Albert Einstein", "", "en.wikipedia.org"}, // a name is of no language
		{"Kubernetes", "", "en.wikipedia.org"},
		{"42", "", "en.wikipedia.org"},
		{"bees in the city", "ru", "ru.wikipedia.org"},
		{"пчёлы в городе", "und", "ru.wikipedia.org"},
		{"bier", "nb", "no.wikipedia.org"},
		{"bees", "en.evil.example/?", "en.wikipedia.org"},
	} {
		a := &asked{}
		hits, err := wikipedia.New(&http.Client{Transport: a}, wikipedia.Config{}).Search(t.Context(), search.Query{Text: c.text, Lang: c.lang})
		if err != nil || len(hits) > 0 || a.url.Scheme != "https" || a.url.Host != c.host {
			t.Errorf("%q in %q: %v, %v", c.text, c.lang, a.url, err)
		}
	}
}

func TestRequest(t *testing.T) {
	want := url.Values{
		"action": {"query"}, "format": {"json"}, "formatversion": {"2"}, "maxlag": {"5"},
		"list": {"search"}, "srsearch": {"bees"}, "srlimit": {"10"}, "srprop": {"snippet|timestamp"},
		"generator": {"search"}, "gsrsearch": {"bees"}, "gsrlimit": {"10"},
		"prop": {"extracts|info"}, "exintro": {"1"}, "explaintext": {"1"}, "exlimit": {"max"}, "inprop": {"url"},
	}
	a := &asked{}
	e := wikipedia.New(&http.Client{Transport: a}, wikipedia.Config{URL: "https://{lang}.wiki.example/"})
	ask := func(q search.Query) {
		t.Helper()
		a.url = nil
		if _, err := e.Search(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	ask(search.Query{Text: "bees", Lang: "en"})
	if a.url.Host != "en.wiki.example" || a.url.Query().Encode() != want.Encode() {
		t.Errorf("%v, not %v", a.url.Query(), want)
	}
	ask(search.Query{Text: "bees", Lang: "en", Limit: 50})
	if a.url.Query().Get("srlimit") != "20" || a.url.Query().Get("gsrlimit") != "20" {
		t.Errorf("%v: more than has beginnings", a.url.Query())
	}
	ask(search.Query{Text: "蜜蜂"})
	if got := a.url.Query(); got.Get("variant") != "zh-cn" || got.Get("converttitles") != "1" || got.Get("inprop") != "url|varianttitles" {
		t.Errorf("%v", got)
	}
	for site, sent := range map[string]bool{"wiki.example": true, "En.Wiki.example": true, "i.example": false, "other.example": false} {
		if ask(search.Query{Text: "bees", Lang: "en", Sites: []string{site}}); (a.url != nil) != sent {
			t.Errorf("%q: %v", site, a.url)
		}
	}
}

func serve(t *testing.T, body string) *wikipedia.Engine {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
	t.Cleanup(server.Close)
	return wikipedia.New(server.Client(), wikipedia.Config{URL: server.URL})
}

func TestChinese(t *testing.T) {
	e := serve(t, `{"batchcomplete":true,"query":{"searchinfo":{"totalhits":1},
		"search":[{"ns":0,"title":"想見你 (電影)","pageid":7,"snippet":"<span class=\"searchmatch\">想見</span>你","timestamp":"2024-05-06T07:08:09Z"}],
		"pages":[{"pageid":7,"ns":0,"title":"想見你 (電影)","index":1,"extract":"《想见你》是2022年上映的电影。","fullurl":"https://zh.wikipedia.org/wiki/%E6%83%B3",
			"varianttitles":{"zh":"想見你 (電影)","zh-hans":"想见你 (电影)","zh-cn":"想见你 (电影)","zh-tw":"想見你 (電影)"}}]}}`)
	hits, err := e.Search(t.Context(), search.Query{Text: "想见你"})
	if err != nil || len(hits) != 1 {
		t.Fatalf("%+v, %v", hits, err)
	}
	want := search.Hit{
		URL: "https://zh.wikipedia.org/wiki/%E6%83%B3", Title: "想见你 (电影)", Snippet: "想見你", Text: "《想见你》是2022年上映的电影。",
		Date: "2024-05-06", Site: "Wikipedia", Lang: "zh", Engine: "wikipedia",
	}
	if hits[0] != want {
		t.Errorf("%+v, not %+v", hits[0], want)
	}
}

// A page that the generator did not give still has an address, by its number.
func TestWithoutPage(t *testing.T) {
	e := serve(t, `{"query":{"search":[{"title":"Bees","pageid":7,"snippet":"x"},{"title":"no number"}]}}`)
	hits, err := e.Search(t.Context(), search.Query{Text: "bees", Lang: "en"})
	if err != nil || len(hits) != 1 || !strings.HasSuffix(hits[0].URL, "/?curid=7") {
		t.Errorf("%+v, %v", hits, err)
	}
}

// The wiki names its errors under the status of success.
func TestFaults(t *testing.T) {
	for code, want := range map[string]search.Reason{
		"maxlag":                          search.Unavailable,
		"ratelimited":                     search.RateLimited,
		"cirrussearch-too-busy-error":     search.RateLimited,
		"cirrussearch-backend-error":      search.Unavailable,
		"internal_api_error_DBQueryError": search.Unavailable,
		"readonly":                        search.Unavailable,
		"blocked":                         search.Blocked,
		"autoblocked":                     search.Blocked,
		"readapidenied":                   search.Blocked,
		"missingparam":                    search.Rejected,
	} {
		e := serve(t, fmt.Sprintf(`{"error":{"code":%q,"info":"Waiting for db1: 6.2 seconds lagged.","host":"db1","lag":6.2,"docref":"See https://en.wikipedia.org/w/api.php"},"servedby":"mw1"}`, code))
		_, err := e.Search(t.Context(), search.Query{Text: "bees"})
		fault, ok := errors.AsType[*search.Error](err)
		if !ok || fault.Reason != want || !strings.Contains(fault.Detail, code) {
			t.Errorf("%s: %v", code, err)
		}
		if code == "maxlag" && fault.RetryAfter < 5*time.Second {
			t.Errorf("to be left alone for %v", fault.RetryAfter)
		}
	}
}
