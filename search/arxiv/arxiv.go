// Package arxiv searches arXiv's preprints and opens one by its number. It
// speaks the Atom API of https://info.arxiv.org/help/api/user-manual.html.
//
// Of a query it passes on the words, Limit, and Since and Until as the time of
// the first version. arXiv knows no languages and is one site.
package arxiv

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dossier/search"
	"dossier/search/internal/text"
)

const (
	name     = "arxiv"
	service  = "https://export.arxiv.org"
	document = "https://info.arxiv.org/help/api/user-manual.html"

	defaultLimit = 10
	mostResults  = 100
	// politePause is what the manual and the terms of use ask for between two
	// requests.
	politePause = 3 * time.Second
)

// Config says where arXiv is.
type Config struct {
	URL string // arXiv's own when empty
	// Pause is the time between the two requests that a search may need; three
	// seconds when 0.
	Pause time.Duration
}

// Engine searches arXiv.
type Engine struct {
	client *http.Client
	base   string
	pause  time.Duration
}

// New returns the engine.
func New(client *http.Client, c Config) *Engine {
	return &Engine{
		client: client,
		base:   strings.TrimRight(cmp.Or(c.URL, service), "/"),
		pause:  cmp.Or(c.Pause, politePause),
	}
}

// Info implements search.Engine.
func (*Engine) Info() search.Info {
	return search.Info{Name: name, Topics: []search.Topic{search.Papers}, Document: document}
}

// Search asks for papers with all of the words. When there are none it asks
// once more, for papers with any of them: the relevance by which arXiv orders
// them puts those with most of the words first. A question in whole sentences
// is found that way, and a precise one is not buried under what merely shares
// a word with it.
func (e *Engine) Search(ctx context.Context, q search.Query) ([]search.Hit, error) {
	words := terms(q.Text)
	if len(words) == 0 {
		return nil, &search.Error{Engine: name, Reason: search.Rejected, Detail: "there is no word to look for"}
	}
	hits, err := e.matching(ctx, words, " AND ", q)
	if err != nil || len(hits) > 0 || len(words) == 1 {
		return hits, err
	}
	timer := time.NewTimer(e.pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, search.Broken(ctx, name, context.Cause(ctx))
	case <-timer.C:
	}
	return e.matching(ctx, words, " OR ", q)
}

func (e *Engine) matching(ctx context.Context, words []string, operator string, q search.Query) ([]search.Hit, error) {
	limit := min(cmp.Or(q.Limit, defaultLimit), mostResults)
	hits, err := e.query(ctx, url.Values{
		"search_query": {dated(strings.Join(words, operator), q.Since, q.Until)},
		"start":        {"0"},
		"max_results":  {strconv.Itoa(limit)},
		"sortBy":       {"relevance"},
		"sortOrder":    {"descending"},
	})
	return hits[:min(len(hits), limit)], err
}

// Open implements search.Opener: the abstract of the paper that a URL of arXiv
// names, in the version that it names.
func (e *Engine) Open(ctx context.Context, page string) (search.Hit, error) {
	id, ok := paper(page)
	if !ok {
		return search.Hit{}, search.ErrNotMine
	}
	hits, err := e.query(ctx, url.Values{"id_list": {id}, "max_results": {"1"}})
	if err != nil {
		return search.Hit{}, err
	}
	if len(hits) == 0 {
		return search.Hit{}, fmt.Errorf("arxiv has no paper %s: %w", id, search.ErrNotMine)
	}
	return hits[0], nil
}

func (e *Engine) query(ctx context.Context, params url.Values) ([]search.Hit, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+"/api/query?"+params.Encode(), nil)
	if err != nil {
		return nil, search.BadAddress(name)
	}
	body, err := search.Call(ctx, e.client, name, req)
	if err != nil {
		return nil, err
	}
	var f feed
	if err := search.DecodeXML(name, body, &f); err != nil {
		return nil, err
	}
	return f.hits()
}

// feed is a reply. Its titles and summaries are text that is wrapped at the
// width of a terminal.
type feed struct {
	XMLName struct{} `xml:"http://www.w3.org/2005/Atom feed"`
	Total   int      `xml:"http://a9.com/-/spec/opensearch/1.1/ totalResults"`
	Entries []entry  `xml:"http://www.w3.org/2005/Atom entry"`
}

type entry struct {
	ID        string   `xml:"id"`
	Title     string   `xml:"title"`
	Summary   string   `xml:"summary"`
	Published string   `xml:"published"`
	Authors   []string `xml:"author>name"`
	Links     []struct {
		Href string `xml:"href,attr"`
		Rel  string `xml:"rel,attr"`
	} `xml:"link"`
}

func (f feed) hits() ([]search.Hit, error) {
	var hits []search.Hit
	for _, e := range f.Entries {
		id, title := strings.TrimSpace(e.ID), search.Line(e.Title)
		if title == "Error" && strings.Contains(id, "/api/errors") {
			return nil, &search.Error{Engine: name, Reason: search.Rejected, Detail: text.Lead(e.Summary)}
		}
		page := id
		for _, link := range e.Links {
			if link.Rel == "alternate" && link.Href != "" {
				page = link.Href
			}
		}
		// A number that nobody was given comes back as an entry without a title.
		if page == "" || title == "" {
			continue
		}
		abstract := search.Line(e.Summary)
		hits = append(hits, search.Hit{
			URL:     page,
			Title:   title,
			Snippet: text.Lead(abstract),
			Text:    abstract,
			Author:  text.Names(e.Authors),
			Date:    search.Day(e.Published),
			Engine:  name,
		})
	}
	if len(f.Entries) == 0 && f.Total > 0 {
		return nil, &search.Error{Engine: name, Reason: search.Unavailable, Detail: "it counts results and sends none"}
	}
	return hits, nil
}
