package huggingface

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dossier/search"
	"dossier/search/searchtest"
)

const key = "hf_secretsecret"

func TestPapers(t *testing.T) {
	searchtest.Run(t, searchtest.Spec{
		New: func(_ *testing.T, base string) search.Engine {
			return Papers(http.DefaultClient, Config{URL: base, Key: key})
		},
		Serve:  servePapers,
		Query:  func(r *http.Request) string { return r.URL.Query().Get("q") },
		Hits:   papers,
		Secret: key,
	})
}

func papers(n int) []search.Hit {
	hits := searchtest.Samples(n)
	for i := range hits {
		hits[i].URL = fmt.Sprintf("https://huggingface.co/papers/2310.%05d", i)
		hits[i].Text = hits[i].Snippet
		hits[i].Author = "Albert Q. Jiang, 吴恩达"
		hits[i].Date = fmt.Sprintf("2023-10-%02d", i+1)
	}
	return hits
}

// servePapers writes the list of both endpoints: entries that hold a paper, and
// say some of it twice.
func servePapers(w http.ResponseWriter, r *http.Request, hits []search.Hit) {
	if r.Header.Get("Authorization") != "Bearer "+key {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	entries := []any{}
	for _, h := range hits {
		authors := []any{}
		for name := range strings.SplitSeq(h.Author, ", ") {
			authors = append(authors, map[string]any{"_id": "65278a2d0d3a0ba5b5c7d4e1", "name": name, "hidden": false})
		}
		paper := map[string]any{
			"id": strings.TrimPrefix(h.URL, service+"/papers/"), "authors": authors, "publishedAt": h.Date + "T17:54:05.000Z",
			"title": strings.Replace(h.Title, " ", "\n  ", 1), "summary": strings.Replace(h.Text, " ", "\n", 1), "upvotes": 55, "discussionId": "6525…", "ai_keywords": []string{"bees"},
		}
		entries = append(entries, map[string]any{
			"paper": paper, "publishedAt": "2030-01-01T01:31:00.000Z", "title": "not this", "summary": "nor this", "numComments": 3, "isAuthorParticipating": false,
			"submittedBy": map[string]any{"fullname": "AK", "name": "akhaliq"}, "thumbnail": "https://cdn.example/x.png",
		})
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(entries)
}

func TestBlog(t *testing.T) {
	searchtest.Run(t, searchtest.Spec{
		New: func(_ *testing.T, base string) search.Engine {
			return Blog(http.DefaultClient, Config{URL: base})
		},
		Serve: serveBlog,
		Query: func(*http.Request) string { return "" },
		Asked: func(string) string { return "" },
		Hits: func(n int) []search.Hit {
			hits := searchtest.Samples(n)
			for i := range hits {
				hits[i] = search.Hit{URL: fmt.Sprintf("https://huggingface.co/blog/nvidia/%d", i), Title: strings.TrimRight(hits[i].Title, " 0123456789") + ", bees", Date: fmt.Sprintf("2026-03-%02d", i+1)}
			}
			return hits
		},
	})
}

func serveBlog(w http.ResponseWriter, r *http.Request, hits []search.Hit) {
	if r.URL.Path != "/blog/feed.xml" {
		http.NotFound(w, r)
		return
	}
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>Hugging Face - Blog</title><description>Open-source</description><link>https://huggingface.co/blog</link><atom:link href="https://huggingface.co/blog/feed.xml" rel="self" type="application/rss+xml"/>`)
	for _, h := range hits {
		day, _ := time.Parse(time.DateOnly, h.Date)
		b.WriteString("<item><title>")
		_ = xml.EscapeText(&b, []byte(h.Title))
		fmt.Fprintf(&b, `</title><pubDate>%s GMT</pubDate><link>%s</link><guid isPermaLink="false">%[2]s</guid></item>`, day.Add(19*time.Hour).Format("Mon, 02 Jan 2006 15:04:05"), h.URL)
	}
	b.WriteString("</channel></rss>")
	w.Header().Set("Content-Type", "application/xml")
	_, _ = w.Write([]byte(b.String()))
}

func TestWeeks(t *testing.T) {
	day := func(s string) time.Time {
		d, err := time.Parse(time.DateOnly, s)
		if err != nil && s != "" {
			t.Fatal(err)
		}
		return d
	}
	now := day("2025-03-05") // a Wednesday
	for _, c := range []struct {
		since, until string
		want         []string
	}{
		{"", "", []string{"2025-W10"}},
		{"2025-03-04", "", []string{"2025-W10"}},
		{"2025-03-02", "", []string{"2025-W10", "2025-W09"}},
		{"2020-01-01", "", []string{"2025-W10", "2025-W09", "2025-W08", "2025-W07"}},
		{"2024-12-28", "2025-01-05", []string{"2025-W01", "2024-W52"}},
		{"2025-02-20", "2030-01-01", []string{"2025-W10", "2025-W09", "2025-W08"}},
		{"2031-01-01", "", []string{"2025-W10"}},
	} {
		if got := weeks(day(c.since), day(c.until), now); !slices.Equal(got, c.want) {
			t.Errorf("%s to %s: %v, not %v", c.since, c.until, got, c.want)
		}
	}
	// On a Monday the week before is over, at whatever hour.
	for hour := range 24 {
		now := day("2025-03-03").Add(time.Duration(hour) * time.Hour)
		for _, since := range []time.Time{{}, now, day("2025-03-03")} {
			if got := weeks(since, time.Time{}, now); !slices.Equal(got, []string{"2025-W10"}) {
				t.Errorf("on Monday at %d from %s: %v", hour, since, got)
			}
		}
	}
}

// recent serves hits with one kind of request and other with the other.
func recent(t *testing.T, searched, daily http.HandlerFunc) (*PaperEngine, func() []string) {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.Path)
		mu.Unlock()
		if r.URL.Path == "/api/papers/search" {
			searched(w, r)
		} else {
			daily(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return Papers(server.Client(), Config{URL: server.URL}), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return asked
	}
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func TestSinceAsksForDailyPapersToo(t *testing.T) {
	now := time.Now()
	today := now.UTC().Format(time.DateOnly)
	e, asked := recent(t,
		says(200, `[{"paper":{"id":"1","title":"old bees","publishedAt":"2019-01-01T00:00:00Z"}},{"id":"2","title":"new bees","publishedAt":"`+today+`T00:00:00Z","authors":null}]`),
		says(200, `[{"paper":{"id":"3","title":"cats","publishedAt":"`+today+`"}},{"paper":{"id":"2","title":"new bees"}},{"paper":{"id":"4","title":"the dance of bees","publishedAt":"`+today+`"}},{"title":"no id"}]`))
	hits, err := e.Search(t.Context(), search.Query{Text: "bees", Since: now})
	var got []string
	for _, h := range hits {
		got = append(got, h.Title)
	}
	if err != nil || !slices.Equal(got, []string{"new bees", "the dance of bees"}) || len(asked()) != 2 {
		t.Errorf("%q after %q, %v", got, asked(), err)
	}

	e, asked = recent(t, says(500, ""), says(200, `[{"paper":{"id":"3","title":"cats"}},{"paper":{"id":"4","title":"dogs"}}]`))
	if hits, err := e.Search(t.Context(), search.Query{Text: " "}); err != nil || len(hits) != 2 || len(asked()) != 1 {
		t.Errorf("%+v after %q, %v", hits, asked(), err)
	}
}

func TestPartOfThePapersFails(t *testing.T) {
	good := says(200, `[{"paper":{"id":"2","title":"bees"}}]`)
	for name, c := range map[string]struct {
		searched, daily http.HandlerFunc
		hits            int
		want            search.Reason
	}{
		"the search":                      {says(429, ""), good, 0, search.RateLimited},
		"the daily papers":                {good, says(503, ""), 1, ""},
		"and nothing was found":           {says(200, `[]`), says(503, ""), 0, search.Unavailable},
		"nothing was found":               {says(200, `[]`), says(200, `[]`), 0, ""},
		"another shape":                   {says(200, `{"error":"x"}`), good, 0, search.Malformed},
		"a query that is too long for it": {says(400, `{"error":"✖ Too big: expected string to have <=250 characters\n → at q"}`), good, 0, search.Rejected},
	} {
		e, _ := recent(t, c.searched, c.daily)
		hits, err := e.Search(t.Context(), search.Query{Text: "bees", Since: time.Now()})
		if len(hits) != c.hits || search.ReasonOf(err) != c.want || (c.want == "") != (err == nil) {
			t.Errorf("%s: %+v, %v", name, hits, err)
		}
	}
}

func TestPosts(t *testing.T) {
	server := httptest.NewServer(says(200, `<rss><channel>
		<item><title><![CDATA[Up to 3.2x Faster Inference]]></title><link>https://huggingface.co/blog/faster</link><pubDate>Thu, 20 Aug 2026 16:52:57 GMT</pubDate></item>
		<item><title>Measuring &amp; benchmarking inference</title><link> https://huggingface.co/blog/measuring </link><pubDate>Fri, 20 Mar 2026 01:00:00 GMT</pubDate><description>&lt;p&gt;How fast&lt;/p&gt; is it?</description></item>
		<item><title>inference, but nowhere</title></item>
		<item><title>Welcome Gemma</title><guid>https://huggingface.co/blog/gemma</guid></item>
	</channel></rss>`))
	defer server.Close()
	e := Blog(server.Client(), Config{URL: server.URL})
	titles := func(q search.Query) string {
		hits, err := e.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var titles []string
		for _, h := range hits {
			titles = append(titles, h.Title+" "+h.Date)
		}
		return strings.Join(titles, "; ")
	}
	april := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	for want, q := range map[string]search.Query{
		"Up to 3.2x Faster Inference 2026-08-20; Measuring & benchmarking inference 2026-03-20":                 {Text: "inference"},
		"Measuring & benchmarking inference 2026-03-20":                                                         {Text: "inference", Until: april},
		"Up to 3.2x Faster Inference 2026-08-20":                                                                {Text: "faster inference", Since: april},
		"Up to 3.2x Faster Inference 2026-08-20; Measuring & benchmarking inference 2026-03-20; Welcome Gemma ": {},
	} {
		if got := titles(q); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	empty := httptest.NewServer(says(200, `<rss version="2.0"></rss>`))
	defer empty.Close()
	if _, err := Blog(empty.Client(), Config{URL: empty.URL}).Search(t.Context(), search.Query{}); search.ReasonOf(err) != search.Malformed {
		t.Error(err)
	}
}
