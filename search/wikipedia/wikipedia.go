// Package wikipedia searches the Wikipedia of a language with the API of
// MediaWiki: https://www.mediawiki.org/wiki/API:Search, with the beginnings of
// the articles from https://www.mediawiki.org/wiki/Extension:TextExtracts.
package wikipedia

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dossier/lang"
	"dossier/search"
)

const (
	name        = "wikipedia"
	defaultBase = "https://{lang}.wikipedia.org"
	// mostPages is how many beginnings of articles one reply may hold.
	mostPages    = 20
	defaultPages = 10
	// maxLag is how many seconds the wiki's databases may be behind before it
	// leaves our question for later, and lagPause how long it asks us to wait
	// then, both as MediaWiki advises.
	maxLag   = "5"
	lagPause = 5 * time.Second
	// variant is the form of Chinese in which texts are wanted.
	variant = "zh-cn"
)

// Config is where the wikis are.
type Config struct {
	// URL of a wiki, with {lang} where its language stands; "" is Wikipedia.
	URL string
}

// Engine asks the wiki of the query's language.
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
		Name: name, Topics: []search.Topic{search.Encyclopedia}, Document: "https://www.mediawiki.org/wiki/API:Search",
	}
}

type reply struct {
	Error *struct {
		Code string `json:"code"`
		Info string `json:"info"`
	} `json:"error"`
	Query *struct {
		Search *[]struct {
			PageID  int    `json:"pageid"`
			Title   string `json:"title"`
			Snippet string `json:"snippet"`   // markup
			Edited  string `json:"timestamp"` // of the last edit
		} `json:"search"`
		Pages []page `json:"pages"`
	} `json:"query"`
}

type page struct {
	PageID   int               `json:"pageid"`
	Extract  string            `json:"extract"`
	URL      string            `json:"fullurl"`
	Variants map[string]string `json:"varianttitles"`
}

// Search asks the wiki of Lang, or of the language that the text is in. A hit's
// text is the beginning of the article and its date that of the last edit, which
// is how old the text is. Bounds of time can't be expressed. Where Sites leave
// out the wiki there is nothing to find, and it is not asked.
func (e *Engine) Search(ctx context.Context, q search.Query) ([]search.Hit, error) {
	code := wiki(q)
	base := strings.ReplaceAll(e.base, "{lang}", string(code))
	limit := min(q.Limit, mostPages)
	if limit <= 0 {
		limit = defaultPages
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/w/api.php?"+question(q.Text, code, limit).Encode(), nil)
	if err != nil {
		return nil, search.BadAddress(name)
	}
	if !wanted(req.URL.Hostname(), q.Sites) {
		return nil, nil
	}
	req.Header.Set("Accept", "application/json")
	body, err := search.Call(ctx, e.client, name, req)
	if err != nil {
		return nil, err
	}
	var r reply
	if err := search.Decode(name, body, &r); err != nil {
		return nil, err
	}
	switch {
	case r.Error != nil:
		return nil, fault(r.Error.Code, r.Error.Info)
	case r.Query == nil || r.Query.Search == nil:
		return nil, search.Missing(name, "query.search")
	}
	pages := map[int]page{}
	for _, p := range r.Query.Pages {
		pages[p.PageID] = p
	}
	var hits []search.Hit
	for _, found := range *r.Query.Search {
		if len(hits) == limit {
			break
		}
		p := pages[found.PageID]
		if p.URL == "" && found.PageID > 0 {
			p.URL = base + "/?curid=" + strconv.Itoa(found.PageID)
		}
		if p.URL == "" {
			continue
		}
		hits = append(hits, search.Hit{
			URL: p.URL, Title: search.Line(cmp.Or(p.Variants[variant], found.Title)), Snippet: search.Plain(found.Snippet), Text: strings.TrimSpace(p.Extract),
			Date: search.Day(found.Edited), Site: "Wikipedia", Lang: code, Engine: name,
		})
	}
	return hits, nil
}

// question asks for the same search twice in one request: as a list, for the
// order and the passages that match, and as a generator, for the pages'
// addresses and beginnings.
func question(text string, code lang.Code, limit int) url.Values {
	n := strconv.Itoa(limit)
	form := url.Values{
		"action": {"query"}, "format": {"json"}, "formatversion": {"2"}, "maxlag": {maxLag},
		"list": {"search"}, "srsearch": {text}, "srlimit": {n}, "srprop": {"snippet|timestamp"},
		"generator": {"search"}, "gsrsearch": {text}, "gsrlimit": {n},
		"prop": {"extracts|info"}, "exintro": {"1"}, "explaintext": {"1"}, "exlimit": {"max"}, "inprop": {"url"},
	}
	if code == lang.Chinese {
		// Articles are written in either script: this turns titles and texts
		// into one. The passages stay as they were written.
		form.Set("variant", variant)
		form.Set("uselang", variant)
		form.Set("converttitles", "1")
		form.Set("inprop", "url|varianttitles")
	}
	return form
}

// sure is how probable a language must be for its wiki to be asked because of
// the words alone; names are alike in many languages.
const sure = 0.8

// wiki is the language of the wiki to ask.
func wiki(q search.Query) lang.Code {
	code := q.Lang
	if code == "" || code == lang.Unknown {
		code = lang.DetectAmong(q.Text, lang.English, lang.Russian, lang.Chinese)
		if all := lang.DetectAll(q.Text); len(all) > 0 && all[0].Prob >= sure {
			code = all[0].Code
		}
	}
	switch {
	case code == "nb":
		return "no" // as the wiki of Norwegian Bokmål is called
	case strings.Trim(string(code), "abcdefghijklmnopqrstuvwxyz") != "": // it becomes part of an address
		return lang.English
	}
	return code
}

// wanted says whether host is one of sites or below one.
func wanted(host string, sites []string) bool {
	for _, site := range sites {
		if site = strings.ToLower(strings.TrimSpace(site)); site != "" && strings.HasSuffix("."+host, "."+site) {
			return true
		}
	}
	return len(sites) == 0
}

// fault is the error that the wiki names in a reply, whose status is that of
// success.
func fault(code, info string) error {
	e := &search.Error{Engine: name, Reason: search.Rejected, Status: http.StatusOK, Detail: search.Line(code + ": " + info)}
	switch {
	case code == "maxlag":
		e.Reason, e.RetryAfter = search.Unavailable, lagPause
	case code == "ratelimited", strings.Contains(code, "too-busy"):
		e.Reason = search.RateLimited
	case code == "readonly", strings.HasPrefix(code, "internal_api_error"), strings.Contains(code, "backend-error"), code == "search-error":
		e.Reason = search.Unavailable
	case strings.HasSuffix(code, "blocked"), code == "readapidenied", code == "permissiondenied":
		e.Reason = search.Blocked
	}
	return e
}
