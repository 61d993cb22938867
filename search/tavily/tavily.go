// Package tavily searches with Tavily and lets it read pages:
// https://docs.tavily.com/documentation/api-reference/endpoint/search and
// https://docs.tavily.com/documentation/api-reference/endpoint/extract.
package tavily

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"dossier/search"
)

const (
	name        = "tavily"
	defaultBase = "https://api.tavily.com"
	// mostResults is what the service gives at most.
	mostResults = 20

	// The service's own statuses: the limit of the plan is reached, and the
	// limit of what is paid as one goes.
	planUsedUp = 432
	paidUsedUp = 433
)

// Config is how to reach the service.
type Config struct {
	// URL of the service; "" is its own.
	URL string
	Key string
	// Depth of a search, "basic" or "advanced", which costs twice as much; ""
	// leaves it to the service.
	Depth string
	// Topic is "general", "news" or "finance"; "" leaves it to the service.
	Topic string
}

// Engine asks the service.
type Engine struct {
	client *http.Client
	conf   Config
}

// New returns the engine.
func New(client *http.Client, c Config) *Engine {
	c.URL = strings.TrimRight(cmp.Or(c.URL, defaultBase), "/")
	return &Engine{client: client, conf: c}
}

// Info describes the engine.
func (e *Engine) Info() search.Info {
	return search.Info{
		Name: name, Topics: []search.Topic{search.General}, Ranked: true,
		Document: "https://docs.tavily.com/documentation/api-reference/endpoint/search",
	}
}

type question struct {
	Query      string   `json:"query"`
	Depth      string   `json:"search_depth,omitempty"`
	Topic      string   `json:"topic,omitempty"`
	MaxResults int      `json:"max_results,omitempty"`
	StartDate  string   `json:"start_date,omitempty"`
	EndDate    string   `json:"end_date,omitempty"`
	Domains    []string `json:"include_domains,omitempty"`
}

type found struct {
	URL       string  `json:"url"`
	Title     string  `json:"title"`
	Content   string  `json:"content"`        // of a search
	Raw       string  `json:"raw_content"`    // of a page that was read
	Published string  `json:"published_date"` // of news only
	Score     float64 `json:"score"`
}

// Search passes on the limit up to mostResults, both bounds of time and the
// sites. The service has no parameter for a language.
func (e *Engine) Search(ctx context.Context, q search.Query) ([]search.Hit, error) {
	ask := question{
		Query: q.Text, Depth: e.conf.Depth, Topic: e.conf.Topic, MaxResults: min(q.Limit, mostResults), Domains: q.Sites,
		StartDate: date(q.Since), EndDate: date(q.Until),
	}
	var reply struct {
		Results *[]found `json:"results"`
	}
	if err := e.post(ctx, "/search", ask, &reply); err != nil {
		return nil, err
	}
	if reply.Results == nil {
		return nil, search.Missing(name, "results")
	}
	var hits []search.Hit
	for _, f := range *reply.Results {
		if f.URL == "" {
			continue
		}
		if q.Limit > 0 && len(hits) == q.Limit {
			break
		}
		hits = append(hits, search.Hit{
			URL: f.URL, Title: search.Line(f.Title), Snippet: search.Line(f.Content),
			Date: search.Day(f.Published), Score: f.Score, Engine: name,
		})
	}
	return hits, nil
}

// Open has the service read the page. What it can't read is not its own: the
// error is search.ErrNotMine with what the service says about it.
func (e *Engine) Open(ctx context.Context, url string) (search.Hit, error) {
	ask := struct {
		URLs   []string `json:"urls"`
		Format string   `json:"format"`
	}{[]string{url}, "text"}
	var reply struct {
		Results *[]found          `json:"results"`
		Failed  []json.RawMessage `json:"failed_results"`
	}
	if err := e.post(ctx, "/extract", ask, &reply); err != nil {
		return search.Hit{}, err
	}
	if reply.Results == nil {
		return search.Hit{}, search.Missing(name, "results")
	}
	for _, f := range *reply.Results {
		if text := strings.TrimSpace(f.Raw); text != "" {
			return search.Hit{URL: cmp.Or(f.URL, url), Title: search.Line(f.Title), Text: text, Engine: name}, nil
		}
	}
	for _, failed := range reply.Failed {
		var why struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(failed, &why) == nil && why.Error != "" {
			return search.Hit{}, fmt.Errorf("%s: %w: %s", name, search.ErrNotMine, search.Line(why.Error))
		}
	}
	return search.Hit{}, fmt.Errorf("%s: %w", name, search.ErrNotMine)
}

func (e *Engine) post(ctx context.Context, path string, ask, reply any) error {
	if e.conf.Key == "" {
		return search.NoKey(name)
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.conf.URL+path, bytes.NewReader(body))
	if err != nil {
		return search.BadAddress(name)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+e.conf.Key)
	got, err := search.Call(ctx, e.client, name, req)
	if err != nil {
		// A key that is used up does not get better by waiting: only who owns it
		// can raise the limit, so it counts as a key that is not accepted.
		if fault, ok := errors.AsType[*search.Error](err); ok && (fault.Status == planUsedUp || fault.Status == paidUsedUp) {
			fault.Reason, fault.Detail = search.Unauthorized, cmp.Or(fault.Detail, "the limit of use is reached")
		}
		return err
	}
	return search.Decode(name, got, reply)
}

func date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}
