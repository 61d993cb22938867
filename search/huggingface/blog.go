package huggingface

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"dossier/search"
	"dossier/search/internal/text"
)

const blogName = "hf_blog"

// BlogEngine searches the posts of the blog.
type BlogEngine struct{ hub }

// Blog returns the engine for posts.
func Blog(client *http.Client, c Config) *BlogEngine {
	return &BlogEngine{newHub(client, c)}
}

// Info implements search.Engine.
func (*BlogEngine) Info() search.Info {
	return search.Info{Name: blogName, Topics: []search.Topic{search.Blogs, search.Code}, Document: service + "/blog/feed.xml"}
}

// Search gets the feed, which lists every post, and ranks the posts of the
// query's time by the words that they share with the query; newer before older
// among equals. A query without words returns the newest. Lang and Sites are
// not told.
func (e *BlogEngine) Search(ctx context.Context, q search.Query) ([]search.Hit, error) {
	body, err := e.get(ctx, blogName, "/blog/feed.xml")
	if err != nil {
		return nil, err
	}
	var feed struct {
		XMLName struct{} `xml:"rss"`
		Channel *struct {
			Items []post `xml:"item"`
		} `xml:"channel"`
	}
	if err := search.DecodeXML(blogName, body, &feed); err != nil {
		return nil, err
	}
	if feed.Channel == nil {
		return nil, search.Missing(blogName, "channel")
	}
	var hits []search.Hit
	for _, p := range feed.Channel.Items {
		if h := p.hit(); strings.HasPrefix(h.URL, "http") {
			hits = append(hits, h)
		}
	}
	hits = text.Rank(q.Text, text.Within(hits, q))
	return hits[:min(len(hits), cmp.Or(q.Limit, defaultLimit))], nil
}

// post is an item of the feed. What feeds call a description may be HTML; this
// one has had none so far.
type post struct {
	Title       string `xml:"title"`
	Link        string `xml:"link"`
	GUID        string `xml:"guid"`
	Published   string `xml:"pubDate"`
	Description string `xml:"description"`
}

func (p post) hit() search.Hit {
	about := search.Plain(p.Description)
	return search.Hit{
		URL:     cmp.Or(strings.TrimSpace(p.Link), strings.TrimSpace(p.GUID)),
		Title:   search.Line(p.Title),
		Snippet: text.Lead(about),
		Text:    text.Cut(about, text.Body),
		Date:    search.Day(p.Published),
		Engine:  blogName,
	}
}
