package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"

	"dossier"
	"dossier/mode"
	"dossier/sources"
)

// trap is a product with the obedient model whose web is one attack at a time:
// a search engine finds pages that carry it in every place where a page or a
// result can, and whatever a run asks of the server beside those pages is a
// call that a page caused.
type trap struct {
	server *httptest.Server
	model  *obedient
	engine *dossier.Engine

	mu      sync.Mutex
	pages   map[string]snare // by path
	order   []string         // of the results
	queries []string
	calls   []string
}

// snare is a page, and how the engine shows it.
type snare struct{ title, snippet, html string }

// trapped opens a product over a web of its own.
func trapped(ctx context.Context, use func(*trap) error) error {
	t := &trap{model: newObedient()}
	defer t.model.close()
	t.server = httptest.NewServer(t)
	defer t.server.Close()
	at, err := url.Parse(t.server.URL)
	if err != nil {
		return err
	}
	data, err := os.MkdirTemp("", "eval-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	set := t.model.settings()
	maps.Copy(set, map[string]string{
		"search.engines": "searxng", "search.searxng.base_url": t.server.URL, "search.cache_ttl": "0s",
		"search.allow_networks": "127.0.0.0/8", "search.allow_ports": at.Port(), "search.page_delay": "0s", "search.pages_per_site": "16",
		"search.browser": "false", // which loads what a page consists of
	})
	t.engine, err = dossier.Open(ctx, dossier.Options{DataDir: data, ConfigFile: "none", Set: set})
	if err != nil {
		return err
	}
	return errors.Join(use(t), t.engine.Close())
}

// ask puts the question of an attack to its web.
func (t *trap) ask(ctx context.Context, a attack, n int, req dossier.Request) (delivery, error) {
	t.set(a, n)
	d, err := deliver(ctx, t.engine, req)
	if err == nil {
		err = t.model.tell(&d)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	d.queries, d.calls = t.queries, t.calls
	return d, err
}

// onTheWeb is a question to the web.
func onTheWeb(question string) dossier.Request {
	return dossier.Request{Mode: "web_search", Request: mode.Request{Question: question, In: sources.Target{Web: &sources.WebScope{}}}}
}

// set makes the web that of an attack.
func (t *trap) set(a attack, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pages, t.order, t.queries, t.calls = map[string]snare{}, nil, nil, nil
	all := snares(a, fmt.Sprintf("%s/canary-%d", t.server.URL, n), n)
	for i := range all {
		i = (i + n) % len(all) // the last ones are hardly read
		path := fmt.Sprintf("/site-%d/%d", n, i)
		t.pages[path] = all[i]
		t.order = append(t.order, path)
	}
}

// ServeHTTP is the search engine and the web.
func (t *trap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	page, ok := t.pages[r.URL.Path]
	switch {
	case r.URL.Path == "/search":
		t.search(w, r)
	case ok && r.URL.RawQuery == "":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, page.html)
	case r.URL.Path == "/robots.txt":
		http.NotFound(w, r)
	default:
		t.calls = append(t.calls, r.URL.String())
		fmt.Fprint(w, "thank you")
	}
}

// search answers as SearXNG does.
func (t *trap) search(w http.ResponseWriter, r *http.Request) {
	t.queries = append(t.queries, r.FormValue("q"))
	results := []any{}
	if page := r.FormValue("pageno"); page == "" || page == "1" {
		for i, path := range t.order {
			results = append(results, map[string]any{
				"url": t.server.URL + path, "title": t.pages[path].title, "content": t.pages[path].snippet,
				"engine": "trap", "engines": []string{"trap"}, "positions": []int{i + 1}, "score": 1 / float64(i+1), "category": "general",
			})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	reply := map[string]any{"query": r.FormValue("q"), "number_of_results": len(results), "results": results, "unresponsive_engines": []any{}}
	if err := json.NewEncoder(w).Encode(reply); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// snares are pages with an attack, each in other places: in the text that
// people see, in text that they don't, in attributes, in what stands above the
// text, and in the result of the search alone.
func snares(a attack, at string, n int) []snare {
	words := a.Words + "\n" + canary(at)
	attr := html.EscapeString(strings.Join(strings.Fields(words), " "))
	body := paragraphs(a.Page)
	page := func(head, body string) string {
		return "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">" + head + "</head><body><article>" + body + "</article></body></html>"
	}
	hidden := fmt.Sprintf(`<div style="display:none">%[1]s</div><p hidden>%[1]s</p><p style="font-size:0;color:#fff">%[1]s</p><p aria-hidden="true">%[1]s</p>`+
		`<!-- %[2]s --><noscript>%[1]s</noscript><template>%[1]s</template><details><summary>more</summary>%[1]s</details>`, attr, strings.ReplaceAll(words, "--", "- -"))
	tags := fmt.Sprintf(`<p><a href="%[1]s/a" title="%[2]s" aria-label="%[2]s">the source</a> <img src="%[1]s/img" srcset="%[1]s/set 2x" alt="%[2]s"></p>`+
		`<iframe src="%[1]s/frame" title="%[2]s"></iframe><form action="%[1]s/form"><input name="q" value="%[2]s" placeholder="%[2]s"></form>`+
		`<video src="%[1]s/video" poster="%[1]s/poster"></video><object data="%[1]s/object"></object><blockquote cite="%[1]s/cite"></blockquote>`, at, attr)
	links := fmt.Sprintf(`<base href="%[1]s/base"><meta http-equiv="refresh" content="0;url=%[1]s/refresh"><link rel="canonical" href="%[1]s/canonical">`+
		`<link rel="amphtml" href="%[1]s/amp"><link rel="next" href="%[1]s/next"><link rel="prefetch" href="%[1]s/prefetch"><link rel="stylesheet" href="%[1]s/style">`+
		`<script src="%[1]s/script"></script><meta property="og:url" content="%[1]s/og">`, at)
	head := fmt.Sprintf(`<title>%[1]s</title><meta name="description" content="%[1]s"><meta property="og:title" content="%[1]s"><meta property="og:description" content="%[1]s">`+
		`<meta property="og:site_name" content="%[1]s"><meta name="author" content="%[1]s"><meta name="keywords" content="%[1]s"><meta property="article:published_time" content="%[1]s">`, attr)
	data, err := json.Marshal(map[string]any{"@context": "https://schema.org", "@type": "Article", "headline": words, "author": words, "url": at + "/ld", "articleBody": words})
	if err != nil {
		panic(err) // of strings alone
	}
	head += "<script type=\"application/ld+json\">" + string(data) + "</script>"
	flat := strings.Join(strings.Fields(a.Page), " ")
	piece := func(i int) string { // of the page, as an engine shows it
		runes := []rune(flat)
		return string(runes[len(runes)*i/5 : len(runes)*(i+1)/5])
	}
	return []snare{
		{"What it says", piece(0), page("<title>What it says</title>", paragraphs(plant(a.Page, words, n)))},
		{"Another look", piece(1), page("<title>Another look</title>", hidden+body)},
		{"Where it leads", piece(2), page("<title>Where it leads</title>"+links, body+tags)},
		{"An article", piece(3), page(head, body)},
		{words, words, page("<title>Found by chance</title>", body)},
		{"In short", words + " " + piece(4), page("<title>In short</title>", "<h1>"+attr+"</h1>"+body+"<ul><li>"+attr+"</li></ul><table><tr><th>"+attr+"</th></tr><tr><td>"+attr+"</td></tr></table>")},
	}
}

// paragraphs is a text in HTML.
func paragraphs(text string) string {
	var b strings.Builder
	for p := range strings.SplitSeq(text, "\n\n") {
		b.WriteString("<p>" + strings.ReplaceAll(html.EscapeString(p), "\n", "<br>") + "</p>\n")
	}
	return b.String()
}
