package openalex

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

	"pgregory.net/rapid"

	"dossier/lang"
	"dossier/search"
	"dossier/search/searchtest"
)

const key = "424242-secret"

func TestEngine(t *testing.T) {
	searchtest.Run(t, searchtest.Spec{
		New: func(_ *testing.T, base string) search.Engine {
			return New(http.DefaultClient, Config{URL: base, Key: key, Mail: "me@example.org"})
		},
		Serve: serve,
		Query: func(r *http.Request) string { return r.URL.Query().Get("search") },
		Hits: func(n int) []search.Hit {
			hits := searchtest.Samples(n)
			for i := range hits {
				hits[i].Text = hits[i].Snippet
				hits[i].Author = "Jason Priem, 吴恩达"
				hits[i].Date = fmt.Sprintf("2018-02-%02d", i+1)
				hits[i].Site = "PeerJ"
				hits[i].Lang = lang.English
			}
			return hits
		},
		Secret: key,
	})
}

// serve writes a list of works as https://docs.openalex.org/api-entities/works
// shows it: nulls where nothing is known, abstracts inside out.
func serve(w http.ResponseWriter, r *http.Request, hits []search.Hit) {
	if r.URL.Path != "/works" || r.URL.Query().Get("api_key") != key || r.URL.Query().Get("mailto") == "" {
		http.Error(w, `{"error":"Invalid query parameters error.","message":"no such thing"}`, http.StatusForbidden)
		return
	}
	results := []any{}
	for i, h := range hits {
		authors := []any{}
		for name := range strings.SplitSeq(h.Author, ", ") {
			authors = append(authors, map[string]any{"author_position": "middle", "author": map[string]any{"id": "https://openalex.org/A5023888391", "display_name": name, "orcid": nil}, "institutions": []any{}})
		}
		results = append(results, map[string]any{
			"id":                      fmt.Sprintf("https://openalex.org/W%d", i),
			"doi":                     "https://doi.org/10.7717/peerj.4375",
			"display_name":            html.EscapeString(h.Title),
			"publication_date":        h.Date,
			"language":                h.Lang,
			"abstract_inverted_index": inverted(html.EscapeString(h.Text)),
			"authorships":             authors,
			"best_oa_location":        map[string]any{"is_oa": true, "landing_page_url": h.URL, "pdf_url": nil, "source": nil, "version": "publishedVersion"},
			"open_access":             map[string]any{"is_oa": true, "oa_status": "gold", "oa_url": "https://peerj.com/articles/4375.pdf", "any_repository_has_fulltext": true},
			"primary_location":        map[string]any{"is_oa": true, "landing_page_url": "https://doi.org/10.1073/pnas.17.6.401", "source": map[string]any{"display_name": h.Site, "issn_l": "0027-8424"}},
		})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"meta":     map[string]any{"count": len(hits), "db_response_time_ms": 929, "page": 1, "per_page": 25},
		"results":  results,
		"group_by": []any{},
	})
}

func inverted(text string) map[string][]int {
	if text == "" {
		return nil
	}
	at := map[string][]int{}
	for i, word := range strings.Split(text, " ") {
		at[word] = append(at[word], i)
	}
	return at
}

func ask(t *testing.T, q search.Query, reply string) ([]search.Hit, url.Values, error) {
	t.Helper()
	var asked url.Values
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Query()
		_, _ = w.Write([]byte(reply))
	}))
	defer server.Close()
	hits, err := New(server.Client(), Config{URL: server.URL}).Search(t.Context(), q)
	return hits, asked, err
}

func TestFilters(t *testing.T) {
	since, until := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2022, 1, 26, 0, 0, 0, 0, time.UTC)
	for want, q := range map[string]search.Query{
		"": {Text: "a"},
		"from_publication_date:2022-01-01,to_publication_date:2022-01-26,language:ru": {Text: "a", Since: since, Until: until, Lang: lang.Russian},
		"to_publication_date:2022-01-26":                                              {Text: "a", Until: until, Lang: lang.Unknown},
	} {
		_, asked, err := ask(t, q, `{"results":[]}`)
		if err != nil || asked.Get("filter") != want || asked.Has("filter") != (want != "") {
			t.Errorf("%v, %v", asked, err)
		}
		if asked.Has("mailto") || asked.Has("api_key") || asked.Get("per-page") != "10" {
			t.Errorf("%v", asked)
		}
	}
	if _, asked, _ := ask(t, search.Query{Text: "a", Limit: 5000}, `{"results":[]}`); asked.Get("per-page") != "100" {
		t.Errorf("%v", asked)
	}
}

func TestLinks(t *testing.T) {
	for name, c := range map[string]struct{ work, want string }{
		"a file":       {`"best_oa_location":{"landing_page_url":null,"pdf_url":"https://a.example/x.pdf"},"doi":"https://doi.org/1"`, "https://a.example/x.pdf"},
		"open access":  {`"best_oa_location":null,"open_access":{"oa_url":"https://b.example/"},"doi":"https://doi.org/1"`, "https://b.example/"},
		"a DOI":        {`"best_oa_location":null,"open_access":{"is_oa":false,"oa_url":null},"doi":"https://doi.org/1","primary_location":{"landing_page_url":"https://c.example/","source":null}`, "https://doi.org/1"},
		"only a page":  {`"doi":null,"primary_location":{"landing_page_url":"https://c.example/"},"id":"https://openalex.org/W1"`, "https://c.example/"},
		"nothing":      {`"id":"https://openalex.org/W1","authorships":[],"abstract_inverted_index":null,"language":null,"publication_date":null`, "https://openalex.org/W1"},
		"not even one": {`"display_name":"x"`, ""},
	} {
		hits, _, err := ask(t, search.Query{Text: "a"}, `{"results":[{`+c.work+`}]}`)
		if err != nil || c.want == "" != (len(hits) == 0) || c.want != "" && hits[0].URL != c.want {
			t.Errorf("%s: %+v, %v", name, hits, err)
		}
	}
}

func TestMarkup(t *testing.T) {
	hits, _, err := ask(t, search.Query{Text: "a"}, `{"results":[{"id":"https://openalex.org/W1","display_name":"Growth of <i>E. coli</i> &amp; CO<sub>2</sub>","abstract_inverted_index":{"<jats:p>Cells":[0],"grow.</jats:p>":[1]}}]}`)
	if err != nil || len(hits) != 1 || hits[0].Title != "Growth of E. coli & CO2" || hits[0].Text != "Cells grow." {
		t.Errorf("%+v, %v", hits, err)
	}
}

func TestUpright(t *testing.T) {
	if got := upright(map[string][]int{"a": {0, 2}, "b": {1}, "c": {5}, "far": {1 << 40}, "before": {-3}}); got != "a b a c" {
		t.Errorf("%q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-zа-я]{1,5}`)).Draw(t, "words")
		want := strings.Join(words, " ")
		if got := upright(inverted(want)); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	})
}
