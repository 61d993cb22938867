// Package searxng searches through an instance of SearXNG, by its JSON API:
// https://docs.searxng.org/dev/search_api.html. What the page leaves open (the
// fields of a result, the words for engines that did not respond) is as SearXNG
// itself has it in searx/webutils.py and searx/result_types.
package searxng

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dossier/search"
)

const name = "searxng"

// mostPages bounds the pages that are asked for to fill one Limit: an instance
// does not say how many it has.
const mostPages = 3

// Config is where the instance is.
type Config struct {
	// URL of the instance, which has no default.
	URL string
}

// Engine asks one instance.
type Engine struct {
	client *http.Client
	base   string
}

// New returns the engine of an instance.
func New(client *http.Client, c Config) *Engine {
	return &Engine{client: client, base: strings.TrimRight(c.URL, "/")}
}

// Info describes the engine.
func (e *Engine) Info() search.Info {
	return search.Info{Name: name, Topics: []search.Topic{search.General}, Document: "https://docs.searxng.org/dev/search_api.html"}
}

// Search asks for page after page until there are Limit hits, a page brings
// nothing new, or mostPages were asked for; without a Limit it asks for one.
// Since becomes the shortest of SearXNG's ranges that reaches back to it, Until
// can't be expressed, and Sites become operators of the query.
func (e *Engine) Search(ctx context.Context, q search.Query) ([]search.Hit, error) {
	var hits []search.Hit
	seen := map[string]bool{}
	for page := 1; page <= mostPages; page++ {
		found, err := e.page(ctx, q, page)
		if err != nil {
			if page > 1 && ctx.Err() == nil {
				return hits, nil // what the first pages held is still true
			}
			return nil, err
		}
		before := len(hits)
		for _, h := range found {
			if q.Limit > 0 && len(hits) == q.Limit {
				return hits, nil
			}
			if !seen[h.URL] {
				seen[h.URL] = true
				hits = append(hits, h)
			}
		}
		if len(hits) >= q.Limit || len(hits) == before {
			break
		}
	}
	return hits, nil
}

type reply struct {
	Results *[]struct {
		URL       words   `json:"url"`
		Title     words   `json:"title"`
		Content   words   `json:"content"`
		Author    words   `json:"author"`
		Published words   `json:"publishedDate"`
		Score     float64 `json:"score"`
	} `json:"results"`
	// Unresponsive has a pair for each engine behind the instance that failed:
	// its name and why.
	Unresponsive [][]words `json:"unresponsive_engines"`
}

// words is a text, or several: results come from more than two hundred
// different engines, and not each of them keeps to the type of a field.
type words string

func (w *words) UnmarshalJSON(data []byte) error {
	var several []string
	if one := ""; json.Unmarshal(data, &one) == nil {
		*w = words(one)
	} else if json.Unmarshal(data, &several) == nil {
		*w = words(strings.Join(several, ", "))
	}
	return nil
}

func (e *Engine) page(ctx context.Context, q search.Query, page int) ([]search.Hit, error) {
	if e.base == "" {
		return nil, &search.Error{Engine: name, Reason: search.Unreachable, Detail: "it has no address: set the URL of an instance"}
	}
	form := url.Values{"q": {q.WithSites()}, "format": {"json"}, "pageno": {strconv.Itoa(page)}}
	if q.Lang != "" {
		form.Set("language", string(q.Lang))
	}
	if age := q.Age(time.Now()); age != "" {
		form.Set("time_range", age)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+"/search?"+form.Encode(), nil)
	if err != nil {
		return nil, search.BadAddress(name)
	}
	// An instance with its limiter on turns away who does not accept pages or
	// names no language, and says in this one why engines failed.
	req.Header.Set("Accept", "application/json, text/html;q=0.1")
	req.Header.Set("Accept-Language", "en")
	body, err := search.Call(ctx, e.client, name, req)
	if err != nil {
		if fault, ok := errors.AsType[*search.Error](err); ok && fault.Status == http.StatusForbidden {
			fault.Detail = cmp.Or(fault.Detail, "it does not give results as JSON: its settings.yml must list json under search.formats")
		}
		return nil, err
	}
	var r reply
	if err := search.Decode(name, body, &r); err != nil {
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
		hits = append(hits, search.Hit{
			URL: string(found.URL), Title: search.Line(string(found.Title)), Snippet: search.Line(string(found.Content)),
			Author: search.Line(string(found.Author)), Date: search.Day(string(found.Published)), Score: found.Score, Engine: name,
		})
	}
	if len(hits) == 0 && len(r.Unresponsive) > 0 {
		return nil, silent(r.Unresponsive)
	}
	return hits, nil
}

// reasons are what an instance says of an engine that failed, the most telling
// first. "Suspended: " may stand before each.
var reasons = []struct {
	said   string
	reason search.Reason
}{
	{"captcha", search.Blocked},
	{"access denied", search.Blocked},
	{"too many requests", search.RateLimited},
	{"timeout", search.TooSlow},
}

// silent is the error for a reply without results in which engines failed: they
// might have found something.
func silent(unresponsive [][]words) error {
	var said []string
	for _, engine := range unresponsive {
		var parts []string
		for _, w := range engine {
			if w != "" {
				parts = append(parts, search.Line(string(w)))
			}
		}
		said = append(said, strings.Join(parts, ": "))
	}
	fault := &search.Error{
		Engine: name, Reason: search.Unavailable, Status: http.StatusOK,
		Detail: fmt.Sprintf("no results, and %d of its engines did not respond: %s", len(said), strings.Join(said, "; ")),
	}
	for _, r := range reasons {
		if strings.Contains(strings.ToLower(fault.Detail), r.said) {
			fault.Reason = r.reason
			break
		}
	}
	return fault
}
