package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"dossier/search"
	"dossier/search/searchtest"
)

const key = "ghp_0123456789secret"

func TestRepositories(t *testing.T) {
	searchtest.Run(t, searchtest.Spec{
		New: func(_ *testing.T, base string) search.Engine {
			return Repositories(http.DefaultClient, Config{URL: base, Key: key})
		},
		Serve: serve,
		Query: func(r *http.Request) string {
			return strings.TrimSuffix(r.URL.Query().Get("q"), " in:name,description,topics,readme")
		},
		Hits: func(n int) []search.Hit {
			hits := searchtest.Samples(n)
			for i := range hits {
				hits[i].URL = fmt.Sprintf("https://github.com/dtrupenn/Tetris%d", i)
				hits[i].Title = fmt.Sprintf("dtrupenn/Tetris%d", i)
				hits[i].Text = hits[i].Snippet + "\nLanguage: Assembly\nTopics: bees, hives\nStars: 1"
				hits[i].Author = "dtrupenn"
				hits[i].Date = fmt.Sprintf("2012-01-%02d", i+1)
			}
			return hits
		},
		Secret: key,
	})
}

func TestIssues(t *testing.T) {
	searchtest.Run(t, searchtest.Spec{
		New: func(_ *testing.T, base string) search.Engine {
			return Issues(http.DefaultClient, Config{URL: base, Key: key})
		},
		Serve: serve,
		Query: func(r *http.Request) string { return r.URL.Query().Get("q") },
		Hits: func(n int) []search.Hit {
			hits := searchtest.Samples(n)
			for i := range hits {
				hits[i].URL = fmt.Sprintf("https://github.com/batterseapower/pinyin-toolkit/issues/%d", i)
				hits[i].Text = hits[i].Snippet
				hits[i].Author = "Nick3C"
				hits[i].Date = fmt.Sprintf("2009-07-%02d", i+1)
			}
			return hits
		},
		Secret: key,
	})
}

// serve answers both searches in the shape of the examples of
// https://docs.github.com/en/rest/search/search.
func serve(w http.ResponseWriter, r *http.Request, hits []search.Hit) {
	if r.Header.Get("Authorization") != "Bearer "+key || r.Header.Get("Accept") != "application/vnd.github+json" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	items := []any{}
	for i, h := range hits {
		if r.URL.Path == "/search/repositories" {
			items = append(items, map[string]any{
				"id": 3081286, "name": "Tetris", "full_name": h.Title, "html_url": h.URL, "url": "https://api.github.com/repos/" + h.Title,
				"owner": map[string]any{"login": h.Author, "id": 872147, "type": "User"}, "private": false, "fork": false,
				"description": h.Snippet, "language": "Assembly", "topics": []string{"bees", "hives"}, "stargazers_count": 1,
				"created_at": "2012-01-01T00:31:50Z", "updated_at": "2013-01-05T17:58:47Z", "pushed_at": h.Date + "T00:37:02Z",
				"homepage": nil, "license": nil, "score": 1.0,
			})
			continue
		}
		items = append(items, map[string]any{
			"url": "https://api.github.com/repos/batterseapower/pinyin-toolkit/issues/132", "html_url": h.URL, "id": 35802, "number": i,
			"title": h.Title, "user": map[string]any{"login": h.Author}, "labels": []any{}, "state": "open", "assignee": nil, "milestone": nil,
			"comments": 15, "created_at": h.Date + "T19:12:56Z", "closed_at": nil, "pull_request": map[string]any{"html_url": nil},
			"body": "<!-- Thank you for reporting! -->\r\n" + h.Snippet, "score": 1.0,
		})
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(map[string]any{"total_count": len(items), "incomplete_results": false, "items": items})
}

func at(t *testing.T, h http.HandlerFunc) *Engine {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return Issues(server.Client(), Config{URL: server.URL})
}

func TestQualifiers(t *testing.T) {
	since, until := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		kind kind
		q    search.Query
		want string
	}{
		{repositories, search.Query{Text: "vector db"}, "vector db in:name,description,topics,readme"},
		{repositories, search.Query{Text: "a", Since: since}, "a in:name,description,topics,readme pushed:>=2023-01-01"},
		{issues, search.Query{Text: "a repo:golang/go", Since: since, Until: until}, "a repo:golang/go created:2023-01-01..2024-01-02"},
		{issues, search.Query{Text: "a", Until: until}, "a created:<=2024-01-02"},
	} {
		if got := c.kind.query(c.q); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
	long := issues.query(search.Query{Text: strings.Repeat("слово ", 100)})
	if utf8.RuneCountInString(long) > mostQuery || !strings.HasSuffix(long, " слово") {
		t.Errorf("%q", long)
	}
}

func TestNoKeyIsNoHeader(t *testing.T) {
	e := at(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Values("Authorization") != nil {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = w.Write([]byte(`{"total_count":0,"incomplete_results":false,"items":[{"title":"no page"}]}`))
	})
	if hits, err := e.Search(t.Context(), search.Query{Text: "a"}); err != nil || len(hits) > 0 {
		t.Errorf("%v, %v", hits, err)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		header map[string]string
		body   string
		want   search.Reason
		after  time.Duration // about
	}{
		"primary limit":          {403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": fmt.Sprint(time.Now().Add(30 * time.Second).Unix())}, `{"message":"API rate limit exceeded for 192.0.2.1."}`, search.RateLimited, 30 * time.Second},
		"secondary limit":        {403, nil, `{"documentation_url":"https://docs.github.com/…","message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`, search.RateLimited, time.Minute},
		"secondary, with a time": {429, map[string]string{"Retry-After": "20"}, `{"message":"slow down"}`, search.RateLimited, 20 * time.Second},
		"cannot be searched":     {422, nil, `{"message":"Validation Failed","errors":[{"message":"The search is longer than 256 characters.","resource":"Search","field":"q","code":"invalid"}]}`, search.Rejected, 0},
		"bad key":                {401, nil, `{"message":"Bad credentials"}`, search.Unauthorized, 0},
		"ran out of time":        {200, nil, `{"total_count":0,"incomplete_results":true,"items":[]}`, search.Unavailable, 0},
		"no items":               {200, nil, `{"total_count":0}`, search.Malformed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			e := at(t, func(w http.ResponseWriter, _ *http.Request) {
				for k, v := range c.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			})
			_, err := e.Search(t.Context(), search.Query{Text: "a"})
			fault, ok := asError(err)
			if !ok || fault.Reason != c.want || fault.RetryAfter > c.after || fault.RetryAfter < c.after-5*time.Second {
				t.Errorf("%v after %v", err, fault.RetryAfter)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	var asked []string
	e := at(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RequestURI())
		switch r.URL.Path {
		case "/repos/golang/go/readme":
			if r.Header.Get("Accept") == "application/vnd.github.raw+json" {
				_, _ = w.Write([]byte("# The Go Programming Language\n\n<!-- hidden -->Go is an open source language.\xff"))
			}
		case "/repos/golang/.github/readme":
			_, _ = w.Write([]byte("the organisation"))
		case "/repos/golang/go/issues/1", "/repos/golang/go/issues/2":
			_, _ = w.Write([]byte(`{"html_url":"https://github.com/golang/go/issues/1","title":"it breaks","body":null,"comments":` + r.URL.Path[len(r.URL.Path)-1:] + `,"user":{"login":"rsc"},"created_at":"2009-10-22T06:05:57Z"}`))
		case "/repos/golang/go/issues/1/comments":
			_, _ = w.Write([]byte(`[{"user":{"login":"ken"},"body":"yes"},{"user":null,"body":"no"}]`))
		case "/repos/golang/go/issues/2/comments":
			w.WriteHeader(http.StatusBadGateway)
		case "/repos/golang/go/issues/3":
			_, _ = w.Write([]byte(`{"html_url":"https://github.com/golang/go/pull/3","title":"fix","body":"does","comments":0}`))
		case "/repos/golang/go/issues/4":
			_, _ = w.Write([]byte(`{}`))
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"message":"Not Found","status":"404"}`))
		}
	})
	for page, want := range map[string]string{
		"https://github.com/golang/go":                        "# The Go Programming Language\n\nGo is an open source language.\uFFFD",
		"http://www.GitHub.com/golang/go.git/?tab=readme#top": "# The Go Programming Language\n\nGo is an open source language.\uFFFD",
		"https://github.com/golang/go/issues/1#comment":       "ken: yes\n\nsomebody: no",
		"https://github.com/golang/go/pull/3":                 "does",
		"https://github.com/golang/.github":                   "the organisation",
	} {
		hit, err := e.Open(t.Context(), page)
		if err != nil || hit.Text != want || hit.Title == "" || hit.URL != page || hit.Engine != "github_issues" {
			t.Errorf("%s: %+v, %v", page, hit, err)
		}
	}
	asked = nil
	for _, page := range []string{"https://github.com/", "https://github.com/golang", "https://github.com/golang/go/blob/master/README.md", "https://gist.github.com/a/b", "https://github.com.evil.example/a/b", "https://github.com/a/b/issues/../../x", "https://github.com/a/b%2f..%2fc", "https://github.com/a/..", "https://github.com/../issues/issues/1", "ssh://github.com/a/b"} {
		if _, err := e.Open(t.Context(), page); !errors.Is(err, search.ErrNotMine) {
			t.Errorf("%s: %v", page, err)
		}
	}
	if len(asked) > 0 {
		t.Errorf("asked for %q", asked)
	}
	for page, want := range map[string]search.Reason{
		"https://github.com/topics/go":          "",
		"https://github.com/golang/go/issues/9": "",
		"https://github.com/golang/go/issues/2": search.Unavailable,
		"https://github.com/golang/go/issues/4": search.Malformed,
	} {
		_, err := e.Open(t.Context(), page)
		if search.ReasonOf(err) != want || errors.Is(err, search.ErrNotMine) != (want == "") {
			t.Errorf("%s: %v", page, err)
		}
	}
}

func TestEnterprise(t *testing.T) {
	e := Repositories(http.DefaultClient, Config{URL: "https://git.example/api/v3/", Site: "Git.example"})
	if u, err := url.Parse(e.base); err != nil || u.Path != "/api/v3" || e.conf.Site != "git.example" {
		t.Errorf("%s, %s", e.base, e.conf.Site)
	}
}
