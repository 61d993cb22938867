package arxiv

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"dossier/search"
	"dossier/search/searchtest"
)

func TestEngine(t *testing.T) {
	searchtest.Run(t, searchtest.Spec{
		New: func(_ *testing.T, base string) search.Engine {
			return New(http.DefaultClient, Config{URL: base, Pause: 1})
		},
		Serve: serve,
		Query: func(r *http.Request) string { return asked(r.URL.Query().Get("search_query")) },
		Asked: func(text string) string { return asked(strings.Join(terms(text), " AND ")) },
		Hits:  papers,
	})
}

// asked is the words of a search_query.
func asked(query string) string {
	return strings.NewReplacer("all:", "", " AND ", " ", `"`, "").Replace(query)
}

// papers are the samples as arXiv has them.
func papers(n int) []search.Hit {
	hits := searchtest.Samples(n)
	for i := range hits {
		hits[i].URL = fmt.Sprintf("https://arxiv.org/abs/2301.%05dv2", i)
		hits[i].Text = hits[i].Snippet
		hits[i].Author = "Ada Lovelace, 吴恩达"
		hits[i].Date = fmt.Sprintf("2023-01-%02d", i+1)
	}
	return hits
}

// serve writes the feed in the way of the manual's section 3.3: namespaces,
// wrapped lines, links that are not the page.
func serve(w http.ResponseWriter, r *http.Request, hits []search.Hit) {
	w.Header().Set("Content-Type", "application/atom+xml; charset=UTF-8")
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <link href="http://arxiv.org/api/query?%s" rel="self" type="application/atom+xml"/>
  <title type="html">ArXiv Query: %s</title>
  <id>http://arxiv.org/api/cHxbiOdZaP56ODnBPIenZhzg5f8</id>
  <updated>2023-01-31T00:00:00-05:00</updated>
  <opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">%d</opensearch:totalResults>
  <opensearch:startIndex xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">0</opensearch:startIndex>
  <opensearch:itemsPerPage xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">%[3]d</opensearch:itemsPerPage>
`, escaped(r.URL.RawQuery), escaped(r.URL.RawQuery), len(hits))
	for _, h := range hits {
		fmt.Fprintf(&b, `  <entry>
    <id>%s</id>
    <updated>2024-02-28T10:00:00Z</updated>
    <published>%sT17:09:59Z</published>
    <title>%s</title>
    <summary>  %s
</summary>
`, strings.Replace(h.URL, "https", "http", 1), h.Date, wrapped(h.Title), wrapped(h.Text))
		for author := range strings.SplitSeq(h.Author, ", ") {
			fmt.Fprintf(&b, "    <author>\n      <name>%s</name>\n      <arxiv:affiliation xmlns:arxiv=\"http://arxiv.org/schemas/atom\">NMSU</arxiv:affiliation>\n    </author>\n", author)
		}
		fmt.Fprintf(&b, `    <arxiv:comment xmlns:arxiv="http://arxiv.org/schemas/atom">23 pages</arxiv:comment>
    <link title="doi" href="http://dx.doi.org/10.1529/biophysj.104.047340" rel="related"/>
    <link href="%s" rel="alternate" type="text/html"/>
    <link title="pdf" href="http://arxiv.org/pdf/hep-ex/0307015v1" rel="related" type="application/pdf"/>
    <arxiv:primary_category xmlns:arxiv="http://arxiv.org/schemas/atom" term="cs.LG" scheme="http://arxiv.org/schemas/atom"/>
    <category term="cs.LG" scheme="http://arxiv.org/schemas/atom"/>
  </entry>
`, h.URL)
	}
	b.WriteString("</feed>\n")
	_, _ = w.Write([]byte(b.String()))
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}

// wrapped breaks a text in its middle, as arXiv does with long lines.
func wrapped(text string) string {
	return strings.Replace(escaped(text), " ", "\n  ", 1)
}

// engine returns one whose server gives reply, and the requests that it gets.
func engine(t *testing.T, reply http.HandlerFunc) (*Engine, func() []string) {
	t.Helper()
	var mu sync.Mutex
	var queries []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		queries = append(queries, r.URL.Query().Get("search_query"))
		mu.Unlock()
		reply(w, r)
	}))
	t.Cleanup(server.Close)
	return New(server.Client(), Config{URL: server.URL + "/", Pause: 1}), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return queries
	}
}

func TestQuery(t *testing.T) {
	for typed, want := range map[string]string{
		"electron":                          `all:electron`,
		"self-attention  in vision":         `all:"self attention" AND all:in AND all:vision`,
		`"graph neural" nets (2024)`:        `all:"graph neural" AND all:nets AND all:2024`,
		`ti:cats AND NOT au:"del maestro"`:  `all:"ti cats" AND all:and AND all:not AND all:au AND all:"del maestro"`,
		`unclosed "phrase goes on`:          `all:unclosed AND all:phrase AND all:goes AND all:on`,
		"C++ & c#":                          `all:C AND all:c`,
		"пчёлы: мёд!":                       `all:пчёлы AND all:мёд`,
		"x] TO submittedDate:[0 TO 9":       `all:x AND all:to AND all:"submittedDate 0" AND all:to AND all:9`,
		`\" all:"*" ANDNOT %22) OR cat:a.b`: `all:all AND all:andnot AND all:22 AND all:or AND all:"cat a b"`,
	} {
		if got := strings.Join(terms(typed), " AND "); got != want {
			t.Errorf("%s: %s, not %s", typed, got, want)
		}
	}
}

func FuzzTerms(f *testing.F) {
	f.Add(`"exact phrase" +c# AND x:y`)
	term := regexp.MustCompile(`^all:("[\pL\pN\pM]+( [\pL\pN\pM]+)+"|[\pL\pN\pM]+)$`)
	f.Fuzz(func(t *testing.T, typed string) {
		for _, got := range terms(typed) {
			if !term.MatchString(got) {
				t.Errorf("%q has the condition %q", typed, got)
			}
		}
	})
}

func TestBoundsOfTime(t *testing.T) {
	since, until := time.Date(2023, 1, 1, 6, 0, 0, 0, time.UTC), time.Date(2024, 1, 1, 9, 0, 0, 0, time.FixedZone("", 3*3600))
	for want, q := range map[string]search.Query{
		"(all:a) AND submittedDate:[202301010600 TO 202401010600]": {Text: "a", Since: since, Until: until},
		"(all:a) AND submittedDate:[202301010600 TO 299912312359]": {Text: "a", Since: since},
		"(all:a) AND submittedDate:[199101010000 TO 202401010600]": {Text: "a", Until: until},
	} {
		e, queries := engine(t, func(w http.ResponseWriter, r *http.Request) { serve(w, r, papers(1)) })
		if _, err := e.Search(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		if got := queries(); len(got) != 1 || got[0] != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestLooserWhenNothingHasAllWords(t *testing.T) {
	e, queries := engine(t, func(w http.ResponseWriter, r *http.Request) {
		found := 0
		if strings.Contains(r.URL.Query().Get("search_query"), " OR ") {
			found = 2
		}
		serve(w, r, papers(found))
	})
	hits, err := e.Search(t.Context(), search.Query{Text: "why do bees dance"})
	if err != nil || len(hits) != 2 {
		t.Errorf("%d hits, %v", len(hits), err)
	}
	if got := queries(); len(got) != 2 || got[1] != "all:why OR all:do OR all:bees OR all:dance" {
		t.Errorf("%q", got)
	}
}

func TestStrangeReplies(t *testing.T) {
	for body, want := range map[string]search.Reason{
		`<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/api/errors#incorrect_id_format_for_1234.12345</id><title>Error</title><summary>incorrect id format for 1234.12345</summary><link href="http://arxiv.org/api/errors#incorrect_id_format_for_1234.12345" rel="alternate" type="text/html"/><author><name>arXiv api core</name></author></entry></feed>`: search.Rejected,
		`<feed xmlns="http://www.w3.org/2005/Atom"><opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">12</opensearch:totalResults></feed>`:                                                                                                                                                                                                             search.Unavailable,
		`<rss version="2.0"><channel/></rss>`: search.Malformed,
	} {
		e, _ := engine(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
		_, err := e.Search(t.Context(), search.Query{Text: "a"})
		if search.ReasonOf(err) != want {
			t.Errorf("%s: %v", body, err)
		}
		if want == search.Rejected && !strings.Contains(err.Error(), "incorrect id format") {
			t.Error(err)
		}
	}
	e, queries := engine(t, func(http.ResponseWriter, *http.Request) {})
	if _, err := e.Search(t.Context(), search.Query{Text: `"!" ?`}); search.ReasonOf(err) != search.Rejected || len(queries()) > 0 {
		t.Errorf("%v after %d requests", err, len(queries()))
	}
}

func TestOpen(t *testing.T) {
	for page, id := range map[string]string{
		"https://arxiv.org/abs/2301.00001":                 "2301.00001",
		"http://www.arxiv.org/abs/2301.00001v3":            "2301.00001v3",
		"https://arxiv.org/pdf/2301.00001v2.pdf":           "2301.00001v2",
		"https://arxiv.org/pdf/0704.0001":                  "0704.0001",
		"https://arxiv.org/html/2301.00001v1/":             "2301.00001v1",
		"https://arxiv.org/abs/hep-th/9901001":             "hep-th/9901001",
		"https://arxiv.org/pdf/math.GT/0309136v1":          "math.GT/0309136v1",
		"https://export.arxiv.org/abs/2301.00001?x#y":      "2301.00001",
		"https://ar5iv.labs.arxiv.org/html/2301.00001":     "2301.00001",
		"https://doi.org/10.48550/arXiv.2301.00001":        "2301.00001",
		"https://arxiv.org/list/cs.LG/recent":              "",
		"https://arxiv.org/abs/2301.00001,2301.00002":      "",
		"https://notarxiv.org/abs/2301.00001":              "",
		"https://doi.org/10.1000/182":                      "",
		"https://doi.org/10.48550/arXiv.2301.00001/../etc": "",
		"ftp://arxiv.org/abs/2301.00001":                   "",
		":":                                                "",
	} {
		asked := ""
		e, _ := engine(t, func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.Query().Get("id_list")
			serve(w, r, papers(1))
		})
		hit, err := e.Open(t.Context(), page)
		if asked != id || (id == "") != errors.Is(err, search.ErrNotMine) || id != "" && hit.Text == "" {
			t.Errorf("%s: asked for %q: %+v, %v", page, asked, hit, err)
		}
	}
	for name, body := range map[string]string{
		"no entry":      `<feed xmlns="http://www.w3.org/2005/Atom"></feed>`,
		"an empty one":  `<feed xmlns="http://www.w3.org/2005/Atom"><opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">1</opensearch:totalResults><entry><id>http://arxiv.org/abs/2399.99999</id></entry></feed>`,
		"another error": `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/api/errors#x</id><title>Error</title></entry></feed>`,
	} {
		e, _ := engine(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
		_, err := e.Open(t.Context(), "https://arxiv.org/abs/2399.99999")
		if errors.Is(err, search.ErrNotMine) == (name == "another error") || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
