package zyte

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dossier/lang"
	"dossier/search"
	"dossier/search/searchtest"
)

const key = "zyte-secret-key"

func TestEngine(t *testing.T) {
	searchtest.Run(t, searchtest.Spec{
		New: func(_ *testing.T, base string) search.Engine {
			return New(http.DefaultClient, Config{URL: base, Key: key, Sites: []string{"https://blog.example/"}})
		},
		Serve: serve,
		Query: func(*http.Request) string { return "" },
		Asked: func(string) string { return "" },
		Hits: func(n int) []search.Hit {
			hits := searchtest.Samples(n)
			for i := range hits {
				hits[i].Title = strings.TrimRight(hits[i].Title, " 0123456789") + ", bees"
				hits[i].Snippet = "More: " + hits[i].Title
				hits[i].Text = hits[i].Snippet
				hits[i].Author = "Ada, Grace"
				hits[i].Date = fmt.Sprintf("2024-05-%02d", i+1)
				hits[i].Lang = lang.English
			}
			return hits
		},
		Secret: key,
	})
}

// serve answers a request for a list as the reference says.
func serve(w http.ResponseWriter, r *http.Request, hits []search.Hit) {
	user, password, _ := r.BasicAuth()
	var order map[string]any
	if json.NewDecoder(r.Body).Decode(&order) != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/extract" || user != key || password != "" || order["articleList"] != true {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	articles := []any{}
	for _, h := range hits {
		articles = append(articles, map[string]any{
			"url": h.URL, "headline": h.Title, "articleBody": h.Text, "datePublished": h.Date + "T10:00:00Z", "datePublishedRaw": "yesterday", "inLanguage": h.Lang,
			"authors":   []any{map[string]any{"name": "Ada", "nameRaw": "by Ada"}, map[string]any{"name": "Grace"}},
			"mainImage": map[string]any{"url": "https://blog.example/x.png"}, "metadata": map[string]any{"probability": 0.95},
		})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"url": order["url"], "statusCode": 200,
		"articleList": map[string]any{"url": order["url"], "articles": articles, "metadata": map[string]any{"dateDownloaded": "2024-05-20T10:00:00Z"}},
	})
}

// sites serves for each page what it is to be answered with: a status and a
// body, or an empty list.
func sites(t *testing.T, conf Config, reply map[string]string) (*Engine, func() []string) {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var order struct {
			URL string `json:"url"`
		}
		_ = json.NewDecoder(r.Body).Decode(&order)
		mu.Lock()
		asked = append(asked, order.URL)
		mu.Unlock()
		status, body, ok := strings.Cut(reply[order.URL], " ")
		if !ok {
			status, body = "200", `{"url":"x","statusCode":200,"articleList":{"url":"x"}}`
		}
		var code int
		_, _ = fmt.Sscan(status, &code)
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	conf.URL, conf.Key = server.URL, key
	return New(server.Client(), conf), func() []string {
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(asked)
		return asked
	}
}

func lists(titles ...string) string {
	var articles []string
	for i, title := range titles {
		articles = append(articles, fmt.Sprintf(`{"url":"https://a.example/%d","headline":%q,"datePublished":"2024-05-%02dT00:00:00Z"}`, i, title, i+1))
	}
	return `200 {"statusCode":200,"articleList":{"articles":[` + strings.Join(articles, ",") + `]}}`
}

func titles(hits []search.Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, h.Title)
	}
	return strings.Join(out, "; ")
}

func TestSitesAreMergedAndRanked(t *testing.T) {
	e, asked := sites(t, Config{Sites: []string{"one.example", "https://two.example/blog?x=1"}}, map[string]string{
		"https://one.example/":         lists("cats", "bees in the city"),
		"https://two.example/blog?x=1": lists("a city of bees and honey", "dogs"),
	})
	hits, err := e.Search(t.Context(), search.Query{Text: "honey bees"})
	if err != nil || titles(hits) != "a city of bees and honey; bees in the city" || len(asked()) != 2 {
		t.Errorf("%s after %q, %v", titles(hits), asked(), err)
	}
	hits, err = e.Search(t.Context(), search.Query{Text: "bees", Until: time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil || titles(hits) != "a city of bees and honey" {
		t.Errorf("%s, %v", titles(hits), err)
	}
}

func TestSomeSitesFail(t *testing.T) {
	conf := Config{Sites: []string{"https://one.example/", "https://two.example/"}}
	for name, c := range map[string]struct {
		one, two string
		found    string
		want     search.Reason
	}{
		"one":                    {"503 {}", lists("bees"), "bees", ""},
		"one, nothing elsewhere": {"503 {}", "", "", ""},
		"both":                   {`429 {"status":429,"type":"/limits/over-user-limit","title":"Too many requests","detail":"slow"}`, "520 {}", "", search.RateLimited},
		"suspended":              {`403 {"type":"/auth/account-suspended","title":"Account Suspended","status":403,"detail":"suspended"}`, "403 {}", "", search.Unauthorized},
		"the sites themselves":   {`200 {"statusCode":404,"articleList":{"url":"x"}}`, `200 {"statusCode":500,"articleList":{"articles":[]}}`, "", search.Unavailable},
		"not what was asked for": {`200 {"statusCode":200,"product":{}}`, `200 []`, "", search.Malformed},
		"a domain that it won't": {`451 {"type":"/download/domain-forbidden","title":"Domain Forbidden","status":451,"detail":"no"}`, "451 {}", "", search.Rejected},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := sites(t, conf, map[string]string{conf.Sites[0]: c.one, conf.Sites[1]: c.two})
			hits, err := e.Search(t.Context(), search.Query{Text: "bees"})
			if titles(hits) != c.found || search.ReasonOf(err) != c.want || (c.want == "") != (err == nil) {
				t.Errorf("%+v, %v", hits, err)
			}
		})
	}
}

func TestPages(t *testing.T) {
	configured := []string{"https://blog.one.example/posts/", "two.example", "not a url\x00", "ftp://three.example"}
	many := strings.Split(strings.Repeat("x.example,", 30)+"x.example", ",")
	for _, c := range []struct{ configured, wanted, want []string }{
		{configured, nil, []string{"https://blog.one.example/posts/", "https://two.example/"}},
		{configured, []string{"one.example"}, []string{"https://blog.one.example/posts/"}},
		{configured, []string{"TWO.example", "four.example", " "}, []string{"https://two.example/", "https://four.example/"}},
		{configured, []string{"o.example"}, []string{"https://o.example/"}},
		{nil, nil, nil},
	} {
		if got := pages(c.configured, c.wanted); !slices.Equal(got, c.want) {
			t.Errorf("%q of %q: %q, not %q", c.wanted, c.configured, got, c.want)
		}
	}
	if got := len(pages(nil, many)) + len(pages(many, nil)); got != 2*mostSites {
		t.Errorf("%d pages", got)
	}
}

func TestNothingToLookAt(t *testing.T) {
	e, asked := sites(t, Config{}, nil)
	if _, err := e.Search(t.Context(), search.Query{Text: "bees"}); search.ReasonOf(err) != search.Rejected || len(asked()) > 0 {
		t.Error(err)
	}
	if _, err := New(http.DefaultClient, Config{Sites: []string{"a.example"}}).Search(t.Context(), search.Query{Text: "bees"}); search.ReasonOf(err) != search.Unauthorized {
		t.Error(err)
	}
}

func TestOpen(t *testing.T) {
	e, _ := sites(t, Config{}, map[string]string{
		"https://a.example/1": `200 {"url":"https://a.example/1","statusCode":200,"article":{"url":"https://a.example/one","headline":"Bees","articleBody":"First.\n\nSecond.","description":"About bees.","authors":[{"name":"Ada"}],"datePublished":"2024-05-01T00:00:00+02:00","inLanguage":"en"}}`,
		"https://a.example/2": `200 {"statusCode":200,"article":{"url":"https://a.example/2"}}`,
		"https://a.example/3": `200 {"statusCode":404,"article":{"url":"https://a.example/3"}}`,
		"https://a.example/4": `200 {"statusCode":200}`,
	})
	hit, err := e.Open(t.Context(), "https://a.example/1")
	want := search.Hit{URL: "https://a.example/one", Title: "Bees", Snippet: "About bees.", Text: "First.\n\nSecond.", Author: "Ada", Date: "2024-05-01", Lang: "en", Engine: name}
	if err != nil || hit != want {
		t.Errorf("%+v, %v", hit, err)
	}
	for page, want := range map[string]search.Reason{"https://a.example/2": "", "https://a.example/3": search.Unavailable, "https://a.example/4": search.Malformed, "file:///etc/passwd": "", "https://": ""} {
		if _, err := e.Open(t.Context(), page); search.ReasonOf(err) != want || errors.Is(err, search.ErrNotMine) != (want == "") {
			t.Errorf("%s: %v", page, err)
		}
	}
}
