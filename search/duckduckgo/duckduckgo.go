// Package duckduckgo searches with the page of DuckDuckGo for browsers without
// scripts, https://html.duckduckgo.com/html/, by the form on it. The service has
// no API for this; the form, its fields and what the service takes for a robot
// are described at https://docs.searxng.org/dev/engines/online/duckduckgo.html.
// It lets few questions pass before it asks for proof that a person is there.
package duckduckgo

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dossier/lang"
	"dossier/search"
)

const (
	name        = "duckduckgo"
	defaultBase = "https://html.duckduckgo.com"
	// mostText is the longest query that the service takes, in characters.
	mostText = 499
)

// Config is how to reach the service.
type Config struct {
	// URL of the service; "" is its own.
	URL string
}

// Engine asks the service.
type Engine struct {
	client *http.Client
	base   string
}

// New returns the engine.
func New(client *http.Client, c Config) *Engine {
	return &Engine{client: client, base: strings.TrimRight(cmp.Or(c.URL, defaultBase), "/")}
}

// Info describes the engine.
func (e *Engine) Info() search.Info {
	return search.Info{
		Name: name, Topics: []search.Topic{search.General},
		Document: "https://docs.searxng.org/dev/engines/online/duckduckgo.html",
	}
}

// Search returns the first page of results, and never asks for the next: that
// is what the service takes for the sign of a robot. Lang becomes the region in
// which it is spoken, Since the shortest of the form's ranges that reaches back
// to it, and Sites operators of the query. Until can't be expressed.
func (e *Engine) Search(ctx context.Context, q search.Query) ([]search.Hit, error) {
	q.Text = quoted(q.Text)
	text := q.WithSites()
	if utf8.RuneCountInString(text) > mostText {
		return nil, &search.Error{Engine: name, Reason: search.Rejected, Detail: "the query is longer than it takes"}
	}
	form := url.Values{"q": {text}, "b": {""}, "kl": {regions[q.Lang]}}
	if age := q.Age(time.Now()); age != "" {
		form.Set("df", age[:1]) // d, w, m or y
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base+"/html/", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, search.BadAddress(name)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Accept-Language", string(cmp.Or(q.Lang, lang.English)))
	req.Header.Set("Referer", e.base+"/")
	body, err := search.Call(ctx, e.client, name, req)
	if err != nil {
		return nil, err
	}
	return read(body, q.Limit)
}

// quoted puts words that begin with ! or \ in quotation marks: the service
// would send us on to another one.
func quoted(text string) string {
	if !strings.ContainsAny(text, `!\`) {
		return text
	}
	words := strings.Fields(text)
	for i, w := range words {
		if w[0] == '!' || w[0] == '\\' {
			words[i] = `"` + w + `"`
		}
	}
	return strings.Join(words, " ")
}

func read(body []byte, limit int) ([]search.Hit, error) {
	page, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil, search.Unexpected(name, body, err)
	}
	var hits []search.Hit
	none, blocked := false, false
	for n := range page.Descendants() {
		switch {
		case n.Type != html.ElementNode:
		case has(n, "web-result"):
			if h := hit(n); h.URL != "" && (limit <= 0 || len(hits) < limit) {
				hits = append(hits, h)
			}
		case has(n, "no-results"):
			none = true
		case attr(n, "id") == "challenge-form", strings.HasPrefix(attr(n, "class"), "anomaly-modal"):
			blocked = true
		}
	}
	switch {
	case len(hits) > 0:
		return hits, nil
	case blocked:
		return nil, &search.Error{Engine: name, Reason: search.Blocked, Status: http.StatusOK, Detail: "it asks to prove that we are human"}
	case none:
		return nil, nil
	}
	return nil, search.Unexpected(name, body, nil)
}

// hit reads one result. It has no URL if it is an advertisement, or one of the
// results that only say that there are no more.
func hit(result *html.Node) search.Hit {
	h := search.Hit{Engine: name}
	if has(result, "result--ad", "result--no-result") {
		return h
	}
	for n := range result.Descendants() {
		switch {
		case n.Type != html.ElementNode:
		case has(n, "result__a"):
			h.Title, h.URL = text(n), target(attr(n, "href"))
		case has(n, "result__snippet"):
			h.Snippet = text(n)
		case n.DataAtom == atom.Span && has(n.Parent, "result__extras__url"):
			h.Date = cmp.Or(h.Date, search.Day(text(n)))
		}
	}
	if h.Title == "EOF" {
		h.URL = ""
	}
	return h
}

// target unwraps the address through which the service counts clicks. It is ""
// for an advertisement.
func target(href string) string {
	u, err := url.Parse(href)
	if err != nil {
		return href
	}
	if host := u.Hostname(); host != "duckduckgo.com" && !strings.HasSuffix(host, ".duckduckgo.com") {
		return href
	}
	switch u.Path {
	case "/l/":
		return u.Query().Get("uddg")
	case "/y.js":
		return ""
	}
	return href
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// has says whether n is of one of the classes.
func has(n *html.Node, classes ...string) bool {
	return slices.ContainsFunc(strings.Fields(attr(n, "class")), func(c string) bool { return slices.Contains(classes, c) })
}

func text(n *html.Node) string {
	var out strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			out.WriteString(d.Data)
		}
	}
	return search.Line(out.String())
}

// regions are the values of the form's field kl, the largest region of each
// language. An empty one is all of them.
var regions = map[lang.Code]string{
	"ar": "xa-ar", "bg": "bg-bg", "ca": "es-ca", "cs": "cz-cs", "da": "dk-da", "de": "de-de", "el": "gr-el", "en": "us-en", "es": "es-es",
	"et": "ee-et", "fi": "fi-fi", "fr": "fr-fr", "hr": "hr-hr", "hu": "hu-hu", "is": "is-is", "it": "it-it", "ja": "jp-jp", "ko": "kr-kr",
	"lt": "lt-lt", "lv": "lv-lv", "nb": "no-no", "no": "no-no", "nl": "nl-nl", "pl": "pl-pl", "pt": "br-pt", "ro": "ro-ro", "ru": "ru-ru",
	"sk": "sk-sk", "sl": "sl-sl", "sv": "se-sv", "tr": "tr-tr", "uk": "ua-uk", "zh": "cn-zh",
}
