// Package huggingface searches the papers and the blog of Hugging Face: two
// engines, hf_papers and hf_blog.
//
// The papers come from the endpoints /api/papers/search and /api/daily_papers
// of https://huggingface.co/docs/hub/api, the posts from the feed of the blog,
// which has the title, the address and the day of each and nothing else. The
// social posts of /api/posts are left out: they are not documented.
package huggingface

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"dossier/search"
	"dossier/search/internal/text"
)

const (
	service  = "https://huggingface.co"
	document = "https://huggingface.co/docs/hub/api"

	papersName   = "hf_papers"
	defaultLimit = 10
	mostResults  = 100
	mostQuery    = 250 // characters that the search takes
	mostWeeks    = 4   // of daily papers for one query
)

// Config says where Hugging Face is and who asks.
type Config struct {
	URL string // Hugging Face's own when empty
	Key string // a token; may be empty
}

// hub makes the requests of both engines.
type hub struct {
	client    *http.Client
	base, key string
}

func newHub(client *http.Client, c Config) hub {
	return hub{client: client, base: strings.TrimRight(cmp.Or(c.URL, service), "/"), key: c.Key}
}

func (h hub) get(ctx context.Context, engine, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.base+path, nil)
	if err != nil {
		return nil, search.BadAddress(engine)
	}
	if h.key != "" {
		req.Header.Set("Authorization", "Bearer "+h.key)
	}
	return search.Call(ctx, h.client, engine, req)
}

// PaperEngine searches papers.
type PaperEngine struct{ hub }

// Papers returns the engine for papers.
func Papers(client *http.Client, c Config) *PaperEngine {
	return &PaperEngine{newHub(client, c)}
}

// Info implements search.Engine.
func (*PaperEngine) Info() search.Info {
	return search.Info{Name: papersName, Topics: []search.Topic{search.Papers}, Document: document}
}

// Search finds papers by the words of the query. The service's search knows no
// time and prefers what is known over what is new; so with Since it also gets
// the papers that people put forward in the weeks of that time, the last four of
// them at most, and ranks them by the words that they share with the query. What
// the search found comes first. A query without words lists the daily papers.
// Lang and Sites are nothing that the service can filter by.
func (e *PaperEngine) Search(ctx context.Context, q search.Query) ([]search.Hit, error) {
	limit := min(cmp.Or(q.Limit, defaultLimit), mostResults)
	var requests []string
	asked := strings.TrimSpace(q.Text) != ""
	if asked {
		requests = append(requests, "/api/papers/search?"+url.Values{"q": {text.Cut(q.Text, mostQuery)}, "limit": {strconv.Itoa(limit)}}.Encode())
	}
	if !asked || !q.Since.IsZero() {
		for _, week := range weeks(q.Since, q.Until, time.Now()) {
			requests = append(requests, "/api/daily_papers?"+url.Values{"week": {week}, "sort": {"trending"}, "limit": {strconv.Itoa(mostResults)}}.Encode())
		}
	}
	found := make([][]search.Hit, len(requests))
	faults := make([]error, len(requests))
	var wg sync.WaitGroup
	for i, path := range requests {
		wg.Go(func() { found[i], faults[i] = e.list(ctx, path) })
	}
	wg.Wait()

	var hits, daily []search.Hit
	if asked {
		if faults[0] != nil {
			return nil, faults[0]
		}
		hits, found = found[0], found[1:]
	}
	for _, list := range found {
		daily = append(daily, list...)
	}
	hits = text.Within(append(hits, text.Rank(q.Text, daily)...), q)
	hits = distinct(hits)
	if len(hits) == 0 { // then the weeks that could not be looked at count
		return nil, cmp.Or(faults...)
	}
	return hits[:min(len(hits), limit)], nil
}

func (e *PaperEngine) list(ctx context.Context, path string) ([]search.Hit, error) {
	body, err := e.get(ctx, papersName, path)
	if err != nil {
		return nil, err
	}
	var entries []struct {
		Paper *paper `json:"paper"`
		paper
	}
	if err := search.Decode(papersName, body, &entries); err != nil {
		return nil, err
	}
	var hits []search.Hit
	for _, entry := range entries {
		p := cmp.Or(entry.Paper, &entry.paper)
		if p.ID == "" {
			continue
		}
		names := make([]string, len(p.Authors))
		for i, a := range p.Authors {
			names[i] = a.Name
		}
		abstract := search.Line(cmp.Or(p.Summary, entry.Summary))
		hits = append(hits, search.Hit{
			URL:     service + "/papers/" + url.PathEscape(p.ID),
			Title:   search.Line(cmp.Or(p.Title, entry.Title)),
			Snippet: text.Lead(abstract),
			Text:    text.Cut(abstract, text.Body),
			Author:  text.Names(names),
			Date:    search.Day(cmp.Or(p.Published, entry.Published)),
			Engine:  papersName,
		})
	}
	return hits, nil
}

// paper stands in an entry of a list, or is the entry.
type paper struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Summary   string `json:"summary"`
	Published string `json:"publishedAt"`
	Authors   []struct {
		Name string `json:"name"`
	} `json:"authors"`
}

// weeks returns the ISO weeks from since to until in the form 2025-W09, the
// latest first. Without since it is the week of until, without until now's.
func weeks(since, until, now time.Time) []string {
	if until.IsZero() || until.After(now) {
		until = now
	}
	if since.IsZero() || since.After(until) {
		since = until
	}
	until = until.UTC().Truncate(24 * time.Hour)
	monday := until.AddDate(0, 0, -int(until.Weekday()+6)%7)
	var out []string
	for day := monday; len(out) < mostWeeks && day.AddDate(0, 0, 7).After(since); day = day.AddDate(0, 0, -7) {
		year, week := day.ISOWeek()
		out = append(out, fmt.Sprintf("%d-W%02d", year, week))
	}
	return out
}

func distinct(hits []search.Hit) []search.Hit {
	seen := map[string]bool{}
	var out []search.Hit
	for _, h := range hits {
		if !seen[h.URL] {
			seen[h.URL] = true
			out = append(out, h)
		}
	}
	return out
}
