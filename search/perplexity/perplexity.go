// Package perplexity searches with Perplexity's Search API, which lists pages
// and writes no answer: https://docs.perplexity.ai/api-reference/search-post and
// https://docs.perplexity.ai/guides/search-filters.
package perplexity

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"dossier/search"
)

const (
	name        = "perplexity"
	defaultBase = "https://api.perplexity.ai"
	endpoint    = "/search"
	// mostResults and mostSites are what the service takes at most.
	mostResults = 20
	mostSites   = 20
	// pageTokens bounds what the service sends of each page as its snippet. Its
	// own bound is four times as high, more than anybody reads of a hit.
	pageTokens = 1024
	// longSnippet is the length in bytes from which a snippet is also kept as
	// text, with its lines.
	longSnippet = 2000
)

// Config is how to reach the service.
type Config struct {
	// URL of the service or of its search; "" is its own.
	URL string
	Key string
}

// Engine asks the service.
type Engine struct {
	client *http.Client
	conf   Config
}

// New returns the engine.
func New(client *http.Client, c Config) *Engine {
	c.URL = strings.TrimRight(cmp.Or(c.URL, defaultBase), "/")
	c.URL = strings.TrimSuffix(c.URL, endpoint)
	return &Engine{client: client, conf: c}
}

// Info describes the engine.
func (e *Engine) Info() search.Info {
	return search.Info{
		Name: name, Topics: []search.Topic{search.General}, Ranked: true,
		Document: "https://docs.perplexity.ai/api-reference/search-post",
	}
}

type question struct {
	Query      string   `json:"query"`
	MaxResults int      `json:"max_results,omitempty"`
	PageTokens int      `json:"max_tokens_per_page"`
	Sites      []string `json:"search_domain_filter,omitempty"`
	After      string   `json:"search_after_date_filter,omitempty"`
	Before     string   `json:"search_before_date_filter,omitempty"`
}

type reply struct {
	Results *[]struct {
		URL     string `json:"url"`
		Title   string `json:"title"`
		Snippet string `json:"snippet"`
		Date    string `json:"date"`
	} `json:"results"`
}

// Search passes on the limit up to mostResults, both bounds of time and the
// first mostSites sites. The language is not passed on: the service would leave
// out what is in another one, and it is only a preference.
func (e *Engine) Search(ctx context.Context, q search.Query) ([]search.Hit, error) {
	if e.conf.Key == "" {
		return nil, search.NoKey(name)
	}
	body, err := json.Marshal(question{
		Query: q.Text, MaxResults: min(q.Limit, mostResults), PageTokens: pageTokens, Sites: q.Sites[:min(len(q.Sites), mostSites)],
		// The service speaks of what is after one day and before another: a day
		// more on both sides keeps the bounds themselves in.
		After: date(q.Since, -1), Before: date(q.Until, +1),
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.conf.URL+endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, search.BadAddress(name)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+e.conf.Key)
	got, err := search.Call(ctx, e.client, name, req)
	if err != nil {
		return nil, err
	}
	var r reply
	if err := search.Decode(name, got, &r); err != nil {
		return nil, err
	}
	if r.Results == nil {
		return nil, search.Missing(name, "results")
	}
	var hits []search.Hit
	for _, found := range *r.Results {
		if found.URL == "" {
			continue
		}
		if q.Limit > 0 && len(hits) == q.Limit {
			break
		}
		h := search.Hit{URL: found.URL, Title: search.Line(found.Title), Snippet: search.Line(found.Snippet), Date: search.Day(found.Date), Engine: name}
		if len(found.Snippet) > longSnippet {
			h.Text = strings.TrimSpace(found.Snippet)
		}
		hits = append(hits, h)
	}
	return hits, nil
}

// date is the day that is some days from t, in the form that the service takes.
func date(t time.Time, days int) string {
	if t.IsZero() {
		return ""
	}
	return t.AddDate(0, 0, days).Format("01/02/2006")
}
