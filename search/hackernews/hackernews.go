// Package hackernews searches the stories of Hacker News and opens a
// discussion. It speaks the API of https://hn.algolia.com/api.
//
// Of a query it passes on the words, with the quotes and the minus that the
// service knows, Limit, and Since and Until as the time of posting. Stories
// have no language, and the service can't filter by the site that they link to.
package hackernews

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"dossier/search"
	"dossier/search/internal/text"
)

const (
	name     = "hackernews"
	service  = "https://hn.algolia.com"
	document = "https://hn.algolia.com/api"
	item     = "https://news.ycombinator.com/item?id="

	defaultLimit = 10
	mostResults  = 100
	mostQuery    = 500 // characters that the service reads of a query
)

// Config says where Hacker News is searched.
type Config struct {
	URL string // the service's own when empty
}

// Engine searches Hacker News.
type Engine struct {
	client *http.Client
	base   string
}

// New returns the engine.
func New(client *http.Client, c Config) *Engine {
	return &Engine{client: client, base: strings.TrimRight(cmp.Or(c.URL, service), "/")}
}

// Info implements search.Engine.
func (*Engine) Info() search.Info {
	return search.Info{Name: name, Topics: []search.Topic{search.Discussion, search.Code}, Document: document}
}

// story is a result. Its title is text, what was written under it HTML.
type story struct {
	ID       string `json:"objectID"`
	Title    string `json:"title"`
	URL      string `json:"url"`
	Text     string `json:"story_text"`
	Author   string `json:"author"`
	Created  string `json:"created_at"`
	Points   int    `json:"points"`
	Comments int    `json:"num_comments"`
}

// Search finds stories that have all words of the query or, when there is none,
// as many as possible. A hit links to what the story links to, and to its
// discussion where it is one only.
func (e *Engine) Search(ctx context.Context, q search.Query) ([]search.Hit, error) {
	limit := min(cmp.Or(q.Limit, defaultLimit), mostResults)
	params := url.Values{
		"query":                  {text.Cut(q.Text, mostQuery)},
		"tags":                   {"story"},
		"hitsPerPage":            {strconv.Itoa(limit)},
		"removeWordsIfNoResults": {"allOptional"},
	}
	var bounds []string
	if !q.Since.IsZero() {
		bounds = append(bounds, fmt.Sprint("created_at_i>=", q.Since.Unix()))
	}
	if !q.Until.IsZero() {
		bounds = append(bounds, fmt.Sprint("created_at_i<=", q.Until.Unix()))
	}
	if len(bounds) > 0 {
		params.Set("numericFilters", strings.Join(bounds, ","))
	}
	var reply struct {
		Hits *[]story `json:"hits"`
	}
	if err := e.get(ctx, "/api/v1/search?"+params.Encode(), &reply); err != nil {
		return nil, err
	}
	if reply.Hits == nil {
		return nil, search.Missing(name, "hits")
	}
	var hits []search.Hit
	for _, s := range *reply.Hits {
		if h := s.hit(); h.URL != "" && len(hits) < limit {
			hits = append(hits, h)
		}
	}
	return hits, nil
}

func (s story) hit() search.Hit {
	page := s.URL
	if page == "" && s.ID != "" {
		page = item + url.QueryEscape(s.ID)
	}
	written := search.Plain(s.Text)
	return search.Hit{
		URL:     page,
		Title:   search.Line(html.UnescapeString(s.Title)),
		Snippet: cmp.Or(text.Lead(written), fmt.Sprintf("Hacker News: %d points, %d comments", s.Points, s.Comments)),
		Text:    text.Cut(written, text.Body),
		Author:  s.Author,
		Date:    search.Day(s.Created),
		Engine:  name,
	}
}

func (e *Engine) get(ctx context.Context, path string, reply any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+path, nil)
	if err != nil {
		return search.BadAddress(name)
	}
	body, err := search.Call(ctx, e.client, name, req)
	if err != nil {
		return err
	}
	return search.Decode(name, body, reply)
}

// post is an item with what was answered to it. Of a deleted one only the id and
// the answers are left.
type post struct {
	ID       int    `json:"id"`
	Type     string `json:"type"`
	Title    string `json:"title"`
	URL      string `json:"url"`
	Text     string `json:"text"`
	Author   string `json:"author"`
	Created  string `json:"created_at"`
	Children []post `json:"children"`
}

// Open implements search.Opener: a discussion, or the part of it below a
// comment, as text.
func (e *Engine) Open(ctx context.Context, page string) (search.Hit, error) {
	id, ok := discussion(page)
	if !ok {
		return search.Hit{}, search.ErrNotMine
	}
	var p post
	if err := e.get(ctx, "/api/v1/items/"+id, &p); err != nil {
		if fault, ok := errors.AsType[*search.Error](err); ok && fault.Status == http.StatusNotFound {
			return search.Hit{}, fmt.Errorf("hacker news has no item %s: %w", id, search.ErrNotMine)
		}
		return search.Hit{}, err
	}
	if p.ID == 0 {
		return search.Hit{}, search.Missing(name, "item")
	}
	whole := p.text()
	return search.Hit{
		URL:     item + id,
		Title:   search.Line(html.UnescapeString(p.Title)),
		Snippet: text.Lead(whole),
		Text:    whole,
		Author:  p.Author,
		Date:    search.Day(p.Created),
		Engine:  name,
	}, nil
}

// discussion returns the number in the address of a discussion.
func discussion(page string) (string, bool) {
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Path != "/item" {
		return "", false
	}
	if host := strings.ToLower(u.Hostname()); host != "news.ycombinator.com" && host != "hn.algolia.com" {
		return "", false
	}
	n, err := strconv.ParseUint(u.Query().Get("id"), 10, 63)
	return strconv.FormatUint(n, 10), err == nil && n > 0
}

// text is the post and its answers, each under the name of who wrote it and in
// the order of a thread, as far as a page's length goes. Who answers whom is
// told by name: indents would be taken for code.
func (p post) text() string {
	var b strings.Builder
	if p.URL != "" {
		fmt.Fprintf(&b, "Link: %s\n\n", p.URL)
	}
	if written := text.Cut(search.Plain(p.Text), text.Page/2); written != "" {
		b.WriteString(written + "\n\n")
	}
	left := text.Page - b.Len()
	var thread func(posts []post, to string)
	thread = func(posts []post, to string) {
		for _, c := range posts {
			if written := search.Plain(c.Text); written != "" {
				head := cmp.Or(c.Author, "somebody")
				if to != "" {
					head += " to " + to
				}
				left -= len(head) + len(written) + len(": \n\n")
				if left < 0 {
					return
				}
				fmt.Fprintf(&b, "%s: %s\n\n", head, written)
			}
			thread(c.Children, c.Author)
		}
	}
	thread(p.Children, "")
	return strings.TrimSpace(b.String())
}
