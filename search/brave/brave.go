// Package brave searches with the Brave Search API:
// https://api-dashboard.search.brave.com/api-reference/web/search/get.
package brave

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"dossier/lang"
	"dossier/search"
)

const (
	name        = "brave"
	defaultBase = "https://api.search.brave.com"
	endpoint    = "/res/v1/web/search"
	// mostCount is how many results a page has at most.
	mostCount = 20
	// mostPages bounds the requests for one Limit: each of them is paid for.
	mostPages = 3
)

// Config is how to reach the service.
type Config struct {
	// URL of the service or of its search; "" is its own.
	URL string
	Key string
	// ExtraSnippets asks for up to five more passages of each page. Only some
	// plans have them; the others refuse the request.
	ExtraSnippets bool
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
		Name: name, Topics: []search.Topic{search.General},
		Document: "https://api-dashboard.search.brave.com/api-reference/web/search/get",
	}
}

// Search passes on the language where the service has it, both bounds of time,
// and the sites as operators of the query. A Limit above a page is filled from
// the next ones while the service says that it has more. The service takes a
// query without a language for one in English from the United States, so it is
// told the language that the words are in, and that every country will do.
func (e *Engine) Search(ctx context.Context, q search.Query) ([]search.Hit, error) {
	if e.conf.Key == "" {
		return nil, search.NoKey(name)
	}
	var hits []search.Hit
	seen := map[string]bool{} // pages may overlap
	for page := range mostPages {
		found, more, err := e.page(ctx, q, page)
		if err != nil {
			if page > 0 && ctx.Err() == nil {
				return hits, nil // what the first pages held is still true
			}
			return nil, err
		}
		for _, h := range found {
			if !seen[h.URL] {
				seen[h.URL] = true
				hits = append(hits, h)
			}
		}
		if !more || len(hits) >= q.Limit {
			break
		}
	}
	if q.Limit > 0 && len(hits) > q.Limit {
		hits = hits[:q.Limit]
	}
	return hits, nil
}

type reply struct {
	// Type is "search". A reply without results has no Web.
	Type  string `json:"type"`
	Query struct {
		More bool `json:"more_results_available"`
	} `json:"query"`
	Web struct {
		Results []struct {
			URL         string   `json:"url"`
			Title       string   `json:"title"`
			Description string   `json:"description"`
			Extra       []string `json:"extra_snippets"`
			PageAge     string   `json:"page_age"` // a time
			Age         string   `json:"age"`      // a day, or "3 hours ago"
			Language    string   `json:"language"`
			Profile     struct {
				Name string `json:"name"`
			} `json:"profile"`
		} `json:"results"`
	} `json:"web"`
}

func (e *Engine) page(ctx context.Context, q search.Query, page int) ([]search.Hit, bool, error) {
	form := url.Values{"q": {q.WithSites()}, "country": {"ALL"}, "result_filter": {"web"}, "text_decorations": {"0"}}
	if q.Limit > 0 {
		form.Set("count", strconv.Itoa(min(q.Limit, mostCount)))
	}
	if page > 0 {
		form.Set("offset", strconv.Itoa(page)) // in pages
	}
	if code := searchLang(cmp.Or(q.Lang, lang.DetectAmong(q.Text, lang.English, lang.Russian, lang.Chinese))); code != "" {
		form.Set("search_lang", code)
	}
	if span := q.Span("to", time.Now()); span != "" {
		form.Set("freshness", span)
	}
	if e.conf.ExtraSnippets {
		form.Set("extra_snippets", "1")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.conf.URL+endpoint+"?"+form.Encode(), nil)
	if err != nil {
		return nil, false, search.BadAddress(name)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("X-Subscription-Token", e.conf.Key)
	body, err := search.Call(ctx, e.client, name, req)
	if err != nil {
		// The service answers a wrong key like a wrong parameter.
		if fault, ok := errors.AsType[*search.Error](err); ok && fault.Status == http.StatusUnprocessableEntity &&
			strings.Contains(strings.ToLower(fault.Detail), "subscription token") {
			fault.Reason = search.Unauthorized
		}
		return nil, false, err
	}
	var r reply
	if err := search.Decode(name, body, &r); err != nil {
		return nil, false, err
	}
	if r.Type != "search" {
		return nil, false, search.Missing(name, `type "search"`)
	}
	var hits []search.Hit
	for _, found := range r.Web.Results {
		if found.URL == "" {
			continue
		}
		extra := make([]string, len(found.Extra))
		for i, text := range found.Extra {
			extra[i] = search.Plain(text)
		}
		hits = append(hits, search.Hit{
			URL: found.URL, Title: search.Plain(found.Title), Snippet: search.Plain(found.Description), Text: strings.Join(extra, "\n"),
			Date: cmp.Or(search.Day(found.PageAge), search.Day(found.Age)), Site: search.Plain(found.Profile.Name), Lang: pageLang(found.Language), Engine: name,
		})
	}
	return hits, r.Query.More, nil
}

// plainCodes are the languages that the service names as we do, and otherCodes
// those that it names in its own way.
var (
	plainCodes = strings.Fields("ar eu bn bg ca hr cs da nl en et fi fr gl de gu he hi hu is it kn ko lv lt ms ml mr nb pl pa ro ru sr sk sl es sv ta te th tr uk vi")
	otherCodes = map[lang.Code]string{"zh": "zh-hans", "ja": "jp", "pt": "pt-br", "no": "nb"}
)

// searchLang is the service's name for a language, or "" if it has none: it
// refuses requests with others.
func searchLang(code lang.Code) string {
	if other, ok := otherCodes[code]; ok {
		return other
	}
	if slices.Contains(plainCodes, string(code)) {
		return string(code)
	}
	return ""
}

func pageLang(code string) lang.Code {
	code, _, _ = strings.Cut(strings.ToLower(code), "-")
	if code == "jp" {
		code = "ja"
	}
	return lang.Code(code)
}
