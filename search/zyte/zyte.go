// Package zyte searches the articles that configured sites list, and opens an
// article, through the automatic extraction of Zyte API: articleList and article
// of https://docs.zyte.com/zyte-api/usage/reference.html.
//
// Zyte reads pages and knows nothing of words: every search reads the list of
// each site and ranks what stands there by the words that it shares with the
// query. Of a query Sites choose the sites, Since and Until the articles. Each
// site is a request that costs money.
package zyte

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"dossier/lang"
	"dossier/search"
	"dossier/search/internal/text"
)

const (
	name     = "zyte"
	service  = "https://api.zyte.com"
	document = "https://docs.zyte.com/zyte-api/usage/reference.html"

	defaultLimit = 10
	mostSites    = 20 // of one query
	atOnce       = 8
)

// Config says where Zyte is, who asks, and which sites are read.
type Config struct {
	URL string // Zyte's own when empty
	Key string
	// Sites are the addresses of pages that list articles: the front page of a
	// blog, a section of a newspaper.
	Sites []string
}

// Engine searches lists of articles.
type Engine struct {
	client *http.Client
	base   string
	conf   Config
}

// New returns the engine.
func New(client *http.Client, c Config) *Engine {
	return &Engine{client: client, base: strings.TrimRight(cmp.Or(c.URL, service), "/"), conf: c}
}

// Info implements search.Engine.
func (*Engine) Info() search.Info {
	return search.Info{Name: name, Topics: []search.Topic{search.Blogs}, Document: document}
}

// Search returns what the sites list and the words fit. A site that can't be
// read does not keep the others from counting; when none can it is the first
// one's error.
func (e *Engine) Search(ctx context.Context, q search.Query) ([]search.Hit, error) {
	lists := pages(e.conf.Sites, q.Sites)
	if len(lists) == 0 {
		return nil, &search.Error{Engine: name, Reason: search.Rejected, Detail: "there is no site to look at: configure some, or name them with --site"}
	}
	found := make([][]search.Hit, len(lists))
	faults := make([]error, len(lists))
	var wg sync.WaitGroup
	turns := make(chan struct{}, atOnce)
	for i, page := range lists {
		wg.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			found[i], faults[i] = e.list(ctx, page)
		})
	}
	wg.Wait()
	var hits []search.Hit
	read := 0
	for i, list := range found {
		hits = append(hits, list...)
		if faults[i] == nil {
			read++
		}
	}
	if read == 0 {
		return nil, cmp.Or(faults...)
	}
	hits = text.Rank(q.Text, text.Within(hits, q))
	return hits[:min(len(hits), cmp.Or(q.Limit, defaultLimit))], nil
}

// article is one of a list, or a page.
type article struct {
	URL       string    `json:"url"`
	Headline  string    `json:"headline"`
	Summary   string    `json:"description"`
	Body      string    `json:"articleBody"`
	Published string    `json:"datePublished"`
	Lang      lang.Code `json:"inLanguage"`
	Authors   []struct {
		Name string `json:"name"`
	} `json:"authors"`
}

func (a article) hit(most int) search.Hit {
	names := make([]string, len(a.Authors))
	for i, author := range a.Authors {
		names[i] = author.Name
	}
	return search.Hit{
		URL:     a.URL,
		Title:   search.Line(a.Headline),
		Snippet: text.Lead(cmp.Or(a.Summary, a.Body)),
		Text:    text.Cut(a.Body, most),
		Author:  text.Names(names),
		Date:    search.Day(a.Published),
		Lang:    a.Lang,
		Engine:  name,
	}
}

func (e *Engine) list(ctx context.Context, page string) ([]search.Hit, error) {
	var reply struct {
		Status int `json:"statusCode"`
		List   *struct {
			Articles []article `json:"articles"`
		} `json:"articleList"`
	}
	if err := e.extract(ctx, page, "articleList", &reply); err != nil {
		return nil, err
	}
	if reply.List == nil {
		return nil, search.Missing(name, "articleList")
	}
	var hits []search.Hit
	for _, a := range reply.List.Articles {
		if strings.HasPrefix(a.URL, "http") {
			hits = append(hits, a.hit(text.Body))
		}
	}
	if len(hits) == 0 && reply.Status >= 400 {
		return nil, refused(reply.Status)
	}
	return hits, nil
}

// Open implements search.Opener for every address on the web.
func (e *Engine) Open(ctx context.Context, page string) (search.Hit, error) {
	if u, err := url.Parse(page); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return search.Hit{}, search.ErrNotMine
	}
	var reply struct {
		Status  int      `json:"statusCode"`
		Article *article `json:"article"`
	}
	if err := e.extract(ctx, page, "article", &reply); err != nil {
		return search.Hit{}, err
	}
	switch {
	case reply.Article == nil:
		return search.Hit{}, search.Missing(name, "article")
	case reply.Article.Body != "":
		hit := reply.Article.hit(text.Page)
		hit.URL = cmp.Or(hit.URL, page)
		return hit, nil
	case reply.Status >= 400:
		return search.Hit{}, refused(reply.Status)
	}
	return search.Hit{}, fmt.Errorf("zyte sees no article there: %w", search.ErrNotMine)
}

// refused is the error for a page that the site itself did not give.
func refused(status int) error {
	return &search.Error{Engine: name, Reason: search.Unavailable, Detail: fmt.Sprintf("the site answered %d", status)}
}

// extract asks for one kind of data of a page.
func (e *Engine) extract(ctx context.Context, page, kind string, reply any) error {
	if e.conf.Key == "" {
		return search.NoKey(name)
	}
	order, err := json.Marshal(map[string]any{"url": page, kind: true})
	if err != nil {
		return fmt.Errorf("zyte: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base+"/v1/extract", bytes.NewReader(order))
	if err != nil {
		return search.BadAddress(name)
	}
	req.Header.Set("Content-Type", "application/json")
	req.SetBasicAuth(e.conf.Key, "")
	body, err := search.Call(ctx, e.client, name, req)
	if err != nil {
		// Zyte forbids those whose account is suspended, not robots.
		if fault, ok := errors.AsType[*search.Error](err); ok && fault.Status == http.StatusForbidden {
			fault.Reason = search.Unauthorized
		}
		return err
	}
	return search.Decode(name, body, reply)
}
