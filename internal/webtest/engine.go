package webtest

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"dossier/index"
	"dossier/lang"
)

// perPage is how many results a page of results has.
const perPage = 10

// reply is what SearXNG answers with format=json.
type reply struct {
	Query        string     `json:"query"`
	Number       int        `json:"number_of_results"`
	Results      []result   `json:"results"`
	Answers      []any      `json:"answers"`
	Corrections  []string   `json:"corrections"`
	Infoboxes    []any      `json:"infoboxes"`
	Suggestions  []string   `json:"suggestions"`
	Unresponsive [][]string `json:"unresponsive_engines"`
}

type result struct {
	URL           string   `json:"url"`
	Engine        string   `json:"engine"`
	ParsedURL     []string `json:"parsed_url"` // scheme, host, path, parameters, query, fragment
	Template      string   `json:"template"`
	Title         string   `json:"title"`
	Content       string   `json:"content"`
	ImgSrc        string   `json:"img_src"`
	Thumbnail     string   `json:"thumbnail"`
	PublishedDate *string  `json:"publishedDate"`
	Pubdate       string   `json:"pubdate,omitempty"`
	Author        string   `json:"author"`
	Priority      string   `json:"priority"`
	Engines       []string `json:"engines"`
	Positions     []int    `json:"positions"`
	Score         float64  `json:"score"`
	Category      string   `json:"category"`
}

// search answers as SearXNG does.
func (w *Web) search(rw http.ResponseWriter, r *http.Request) {
	if r.FormValue("q") == "" {
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(rw, "<!DOCTYPE html><html><head><title>SearXNG</title></head><body><form action=\"/search\"><input name=\"q\"></form></body></html>")
		return
	}
	w.mu.Lock()
	w.searches = append(w.searches, r.FormValue("q"))
	f := w.broken
	w.broken = f.spend()
	w.mu.Unlock()
	w.watched(Visit{Query: r.FormValue("q")})
	if !w.wait(r.Context(), w.opt.EngineLatency) {
		panic(http.ErrAbortHandler)
	}
	if f.Kind == NoJSON {
		http.Error(rw, "Forbidden", http.StatusForbidden)
		return
	}
	if w.fail(rw, r, f) {
		return
	}
	answer := reply{Query: r.FormValue("q"), Results: []result{}, Answers: []any{}, Corrections: []string{}, Infoboxes: []any{}, Suggestions: []string{}, Unresponsive: [][]string{}}
	switch f.Kind {
	case NoResults:
	case Unresponsive:
		answer.Unresponsive = [][]string{{"brave", "too many requests"}, {"duckduckgo", "CAPTCHA"}, {"google", "Suspended: access denied"}}
	default:
		found, err := w.find(r)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusInternalServerError)
			return
		}
		answer.Results, answer.Number = found, len(found)
	}
	if r.FormValue("format") != "json" {
		w.searchPage(rw, &answer)
		return
	}
	body, err := json.Marshal(answer)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	send(rw, "application/json", http.StatusOK, body)
}

// spans are the lengths of time_range in days.
var spans = map[string]int{"day": 1, "week": 7, "month": 31, "year": 366}

// find ranks the pages for a request.
func (w *Web) find(r *http.Request) ([]result, error) {
	words, sites := operators(r.FormValue("q"))
	code, _, _ := strings.Cut(strings.ToLower(r.FormValue("language")), "-")
	since := ""
	if days := spans[r.FormValue("time_range")]; days > 0 {
		since = Today.AddDate(0, 0, -days).Format(time.DateOnly)
	}
	nth, _ := strconv.Atoi(r.FormValue("pageno"))
	nth = max(nth, 1)
	hits, err := w.site.index.Search(index.Query{Text: words, Limit: nth * perPage, Filter: func(id string) bool {
		p := w.site.byURL[id]
		return (code == "" || code == "all" || code == "auto" || p.Lang == lang.Code(code)) && p.Date >= since && on(p.URL, sites)
	}})
	if err != nil {
		return nil, err
	}
	out := []result{}
	for i, h := range hits[min(len(hits), (nth-1)*perPage):] {
		p := w.site.byURL[h.ID]
		at := w.shown(p.URL)
		u, err := url.Parse(at)
		if err != nil {
			return nil, err
		}
		found := result{URL: at, Engine: "webtest", ParsedURL: []string{u.Scheme, u.Host, u.Path, "", u.RawQuery, ""}, Template: "default.html",
			Title: p.Title, Content: w.shown(w.site.snippet(words, p)), Author: p.Author, Engines: []string{"webtest"}, Positions: []int{i + 1}, Score: 1 / float64(i+1), Category: "general"}
		if p.Date != "" {
			found.PublishedDate = new(p.Date + "T08:00:00")
			found.Pubdate = p.Date + " 08:00:00"
		}
		out = append(out, found)
	}
	return out, nil
}

// operators takes "site:" out of a query.
func operators(q string) (words string, sites []string) {
	var left []string
	for word := range strings.FieldsSeq(q) {
		if s, ok := strings.CutPrefix(word, "site:"); ok {
			sites = append(sites, s)
		} else if word != "OR" {
			left = append(left, word)
		}
	}
	return strings.Join(left, " "), sites
}

// on says whether a URL is on one of the sites, or whether there are none.
func on(at string, sites []string) bool {
	host := hostOf(at)
	return len(sites) == 0 || slices.ContainsFunc(sites, func(s string) bool {
		return host == s || strings.HasSuffix(host, "."+s)
	})
}

// mostSnippet bounds a snippet, in characters.
const mostSnippet = 320

// snippet is the sentences of a page that say most about a query.
func (s *site) snippet(query string, p *page) string {
	type candidate struct{ at, score int }
	var all []candidate
	sentences := lang.Sentences(p.Text)
	for i, span := range sentences {
		text := span.In(p.Text)
		words := map[string]bool{}
		for _, h := range s.index.Highlight(query, text) {
			words[strings.ToLower(text[h.Start:h.End])] = true
		}
		all = append(all, candidate{i, len(words)})
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return b.score - a.score })
	all = all[:min(2, len(all))]
	slices.SortFunc(all, func(a, b candidate) int { return a.at - b.at })
	var parts []string
	for _, c := range all {
		parts = append(parts, strings.Join(strings.Fields(sentences[c.at].In(p.Text)), " "))
	}
	text := strings.Join(parts, " … ")
	if chars := []rune(text); len(chars) > mostSnippet {
		return string(chars[:mostSnippet-1]) + "…"
	}
	return text
}

// searchPage is what people see.
func (w *Web) searchPage(rw http.ResponseWriter, a *reply) {
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(rw, "<!DOCTYPE html><html><head><title>%s - SearXNG</title></head><body><main id=\"results\"><div id=\"urls\">", html.EscapeString(a.Query))
	for _, r := range a.Results {
		fmt.Fprintf(rw, "<article class=\"result result-default category-general\"><h3><a href=\"%s\">%s</a></h3><p class=\"content\">%s</p></article>\n", html.EscapeString(r.URL), html.EscapeString(r.Title), html.EscapeString(r.Content))
	}
	fmt.Fprint(rw, "</div></main></body></html>")
}
