package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"strings"
	"sync"

	"dossier/cite"
	"dossier/extract"
	"dossier/internal/store/memory"
	"dossier/lang/terms"
	"dossier/reader"
	"dossier/report"
	"dossier/search"
	"dossier/sources"
)

// website is a page that a search engine has found.
type website struct {
	URL     string
	Title   string
	Snippet string
	HTML    string // "" if there is nothing to read at the URL any more
}

// web is the product over the web, which for each question is what a search
// engine found for it. Pages are read by the product's reader, out of memory.
type web struct {
	product

	reader *reader.Reader
}

func openWeb() *web {
	return &web{product: product{store: memory.New(memory.Options{})}, reader: reader.New(reader.Config{})}
}

func (w *web) close() { w.reader.Close() }

// ask answers a question from pages that were found for it. order puts them as
// an engine does for a query; nil leaves them as they stand. It also returns
// the pages that were read.
func (w *web) ask(ctx context.Context, question string, pages []website, order func(query string) ([]website, error)) (*report.Report, []extract.Passage, error) {
	if order == nil {
		order = func(string) ([]website, error) { return pages, nil }
	}
	e := &engine{order: order, pages: map[string]website{}, reader: w.reader}
	for _, p := range pages {
		u, err := search.NormalURL(p.URL)
		if err != nil {
			return nil, nil, fmt.Errorf("the page %s: %w", p.URL, err)
		}
		e.pages[u] = p
	}
	holdings := &sources.Holdings{Web: &sources.Web{Engines: []search.Engine{search.Polite(e, search.Manners{})}, Pages: e, Terms: terms.Default()}}
	r, err := w.product.ask(ctx, holdings, sources.Target{Web: &sources.WebScope{}}, question)
	return r, e.read, err
}

// solve asks a puzzle of pages, judges the answer and records both.
func (w *web) solve(ctx context.Context, e *Env, p puzzle, part string, pages []website, order func(query string) ([]website, error)) (solution, error) {
	r, read, err := w.ask(ctx, p.Text, pages, order)
	if err != nil {
		return solution{}, fmt.Errorf("question %s: %w", p.ID, err)
	}
	got := quotes(r, func(s *report.Source) string { return s.Snapshot })
	got.passages = read
	texts := map[string]string{}
	for _, q := range got.Quotes {
		raw, err := w.store.Blob(ctx, q.Doc)
		if err != nil {
			return solution{}, err
		}
		texts[q.Doc] = string(raw)
	}
	s := solution{report: r, quoted: quoted(got.Quotes, func(doc string) string { return texts[doc] })}
	s.outcome, err = e.judge(p, part, got, s.quoted)
	return s, err
}

// solution is the answer to a puzzle from the web.
type solution struct {
	outcome

	report *report.Report
	quoted []string
}

// engine is a search engine with one set of results, and the web behind them.
type engine struct {
	order  func(query string) ([]website, error)
	pages  map[string]website // by URL in its normal form
	reader *reader.Reader

	mu   sync.Mutex
	read []extract.Passage
}

// Info implements search.Engine.
func (e *engine) Info() search.Info {
	return search.Info{Name: "found", Topics: []search.Topic{search.General}}
}

// Search implements search.Engine.
func (e *engine) Search(_ context.Context, q search.Query) ([]search.Hit, error) {
	pages, err := e.order(q.Text)
	if err != nil {
		return nil, err
	}
	if q.Limit > 0 {
		pages = pages[:min(q.Limit, len(pages))]
	}
	hits := make([]search.Hit, len(pages))
	for i, p := range pages {
		hits[i] = search.Hit{URL: p.URL, Title: p.Title, Snippet: p.Snippet, Engine: e.Info().Name}
	}
	return hits, nil
}

// Fetch implements sources.Pages.
func (e *engine) Fetch(ctx context.Context, url string) (*reader.Fetched, error) {
	p, ok := e.pages[url]
	if !ok || p.HTML == "" {
		return nil, fmt.Errorf("%s: there is no such page", url)
	}
	got := &reader.Fetched{URL: url, Document: reader.Document{URL: url, Body: []byte(p.HTML), ContentType: "text/html; charset=utf-8"}}
	var err error
	if got.Page, err = e.reader.Read(ctx, got.Document); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.read = append(e.read, extract.Passage{ID: url, Title: got.Page.Title, Text: got.Page.Text})
	return got, nil
}

// snippetChars is how much of a text an engine shows.
const snippetChars = 300

// pageOf makes a page of a text. Its address tells nothing about it: what
// ranks alike may be put in the order of addresses.
func pageOf(text string) website {
	sum := sha256.Sum256([]byte(text))
	name := hex.EncodeToString(sum[:6])
	var body strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			body.WriteString("<p>" + html.EscapeString(line) + "</p>\n")
		}
	}
	snippet := strings.Join(strings.Fields(text), " ")
	if runes := []rune(snippet); len(runes) > snippetChars {
		snippet = string(runes[:snippetChars]) + "…"
	}
	return website{
		URL: "https://" + name + ".example/" + name, Snippet: snippet,
		HTML: "<!DOCTYPE html><html><head><meta charset=\"utf-8\"></head><body><article>\n" + body.String() + "</article></body></html>",
	}
}

// contrasts reports whether a conflict of the report has one text on one side
// and the other on the other.
func contrasts(r *report.Report, one, other [][]string) bool {
	for _, c := range r.Conflicts {
		for _, sides := range [][2]cite.Statement{{c.A, c.B}, {c.B, c.A}} {
			if holds([]string{sides[0].Quote}, one) && holds([]string{sides[1].Quote}, other) {
				return true
			}
		}
	}
	return false
}
