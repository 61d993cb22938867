// Package github searches GitHub and opens what it finds. It speaks the REST
// API of https://docs.github.com/en/rest/search/search.
//
// Repositories and issues are two engines, not one with its hits mixed: GitHub
// scores the two by measures that can't be compared, counts a request for each
// against ten a minute without a key, and a question is mostly about one of
// them.
//
// Of a query they pass on the words, with the qualifiers that GitHub knows
// (repo:, user:, label: …), Limit, and Since and Until: for a repository the
// time of its last push, for an issue that of its creation, which are also the
// dates of the hits. GitHub knows no natural languages and is one site.
package github

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dossier/search"
	"dossier/search/internal/text"
)

const (
	service  = "https://api.github.com"
	document = "https://docs.github.com/en/rest/search/search"

	defaultLimit = 10
	mostResults  = 100
	// mostQuery is how many characters a query may have beside its qualifiers.
	mostQuery = 256
	// secondary is how long GitHub wants to be left alone when it does not say
	// for how long.
	secondary = time.Minute
)

// Config says where GitHub is and who asks.
type Config struct {
	URL string // GitHub's own when empty; of an Enterprise server https://HOST/api/v3
	// Key is a token. Without one fewer questions a minute are answered.
	Key string
	// Site is the host of the pages; github.com when empty.
	Site string
}

// Engine searches a part of GitHub.
type Engine struct {
	client *http.Client
	base   string
	conf   Config
	kind   kind
}

// kind is a part of GitHub.
type kind struct {
	name   string
	path   string
	topics []search.Topic
	// fixed and dated are the qualifiers of every query and of the time.
	fixed, dated string
	hit          func(item) search.Hit
}

var (
	repositories = kind{
		name:   "github_repos",
		path:   "/search/repositories",
		topics: []search.Topic{search.Code},
		fixed:  "in:name,description,topics,readme",
		dated:  "pushed:",
		hit:    item.repository,
	}
	issues = kind{
		name:   "github_issues",
		path:   "/search/issues",
		topics: []search.Topic{search.Code, search.Discussion},
		dated:  "created:",
		hit:    item.issue,
	}
)

// Repositories returns the engine for repositories.
func Repositories(client *http.Client, c Config) *Engine { return engine(client, c, repositories) }

// Issues returns the engine for issues and pull requests.
func Issues(client *http.Client, c Config) *Engine { return engine(client, c, issues) }

func engine(client *http.Client, c Config, k kind) *Engine {
	c.Site = strings.ToLower(cmp.Or(c.Site, "github.com"))
	return &Engine{client: client, base: strings.TrimRight(cmp.Or(c.URL, service), "/"), conf: c, kind: k}
}

// Info implements search.Engine.
func (e *Engine) Info() search.Info {
	return search.Info{Name: e.kind.name, Topics: e.kind.topics, Document: document}
}

// Search implements search.Searcher.
func (e *Engine) Search(ctx context.Context, q search.Query) ([]search.Hit, error) {
	limit := min(cmp.Or(q.Limit, defaultLimit), mostResults)
	params := url.Values{"q": {e.kind.query(q)}, "per_page": {strconv.Itoa(limit)}}
	body, err := e.get(ctx, e.kind.path+"?"+params.Encode(), "application/vnd.github+json")
	if err != nil {
		return nil, err
	}
	var reply struct {
		Incomplete bool    `json:"incomplete_results"`
		Items      *[]item `json:"items"`
	}
	if err := search.Decode(e.kind.name, body, &reply); err != nil {
		return nil, err
	}
	switch {
	case reply.Items == nil:
		return nil, search.Missing(e.kind.name, "items")
	case reply.Incomplete && len(*reply.Items) == 0:
		return nil, &search.Error{Engine: e.kind.name, Reason: search.Unavailable, Detail: "it ran out of time before it found anything"}
	}
	var hits []search.Hit
	for _, i := range *reply.Items {
		if i.Page == "" || len(hits) == limit {
			continue
		}
		h := e.kind.hit(i)
		h.URL, h.Score, h.Engine = i.Page, i.Score, e.kind.name
		hits = append(hits, h)
	}
	return hits, nil
}

// query is the words, shortened to what GitHub takes, and the qualifiers.
func (k kind) query(q search.Query) string {
	parts := []string{text.Cut(q.Text, mostQuery)}
	if k.fixed != "" {
		parts = append(parts, k.fixed)
	}
	since, until := q.Since.UTC().Format(time.DateOnly), q.Until.UTC().Format(time.DateOnly)
	switch {
	case !q.Since.IsZero() && !q.Until.IsZero():
		parts = append(parts, k.dated+since+".."+until)
	case !q.Since.IsZero():
		parts = append(parts, k.dated+">="+since)
	case !q.Until.IsZero():
		parts = append(parts, k.dated+"<="+until)
	}
	return strings.Join(parts, " ")
}

func (e *Engine) get(ctx context.Context, path, accept string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+path, nil)
	if err != nil {
		return nil, search.BadAddress(e.kind.name)
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	if e.conf.Key != "" {
		req.Header.Set("Authorization", "Bearer "+e.conf.Key)
	}
	body, err := search.Call(ctx, e.client, e.kind.name, req)
	if fault, ok := asError(err); ok && fault.Reason == search.RateLimited && fault.RetryAfter == 0 {
		fault.RetryAfter = secondary
	}
	return body, err
}
