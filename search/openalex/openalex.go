// Package openalex searches OpenAlex's catalogue of scholarly works. It speaks
// the API of https://docs.openalex.org/api-entities/works/search-works.
//
// Of a query it passes on the words, with the operators that OpenAlex knows
// (AND, OR and NOT in capitals, quotes, parentheses), Limit, Since and Until as
// days of publication, and Lang. Sites are nothing that it can filter by.
package openalex

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
	"dossier/search/internal/text"
)

const (
	name     = "openalex"
	service  = "https://api.openalex.org"
	document = "https://docs.openalex.org/api-entities/works/search-works"

	defaultLimit = 10
	mostResults  = 100
	// fields are all that is asked for: a whole work is many times as long.
	fields = "id,doi,display_name,publication_date,language,authorships,abstract_inverted_index,best_oa_location,open_access,primary_location"
)

// Config says where OpenAlex is and who asks.
type Config struct {
	URL string // OpenAlex's own when empty
	Key string // may be empty
	// Mail is an address at which OpenAlex can reach who asks; it serves those
	// who give one better. It may be empty.
	Mail string
}

// Engine searches OpenAlex.
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
	return search.Info{Name: name, Topics: []search.Topic{search.Papers}, Document: document}
}

// Search implements search.Searcher.
func (e *Engine) Search(ctx context.Context, q search.Query) ([]search.Hit, error) {
	limit := min(cmp.Or(q.Limit, defaultLimit), mostResults)
	params := url.Values{"search": {q.Text}, "per-page": {strconv.Itoa(limit)}, "select": {fields}}
	for key, value := range map[string]string{"filter": filter(q), "mailto": e.conf.Mail, "api_key": e.conf.Key} {
		if value != "" {
			params.Set(key, value)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+"/works?"+params.Encode(), nil)
	if err != nil {
		return nil, search.BadAddress(name)
	}
	body, err := search.Call(ctx, e.client, name, req)
	if err != nil {
		return nil, err
	}
	var reply struct {
		Results *[]work `json:"results"`
	}
	if err := search.Decode(name, body, &reply); err != nil {
		return nil, err
	}
	if reply.Results == nil {
		return nil, search.Missing(name, "results")
	}
	var hits []search.Hit
	for _, w := range *reply.Results {
		if h := w.hit(); h.URL != "" && len(hits) < limit {
			hits = append(hits, h)
		}
	}
	return hits, nil
}

// filter returns the conditions of a query beside its words.
func filter(q search.Query) string {
	var conditions []string
	if !q.Since.IsZero() {
		conditions = append(conditions, "from_publication_date:"+q.Since.Format(time.DateOnly))
	}
	if !q.Until.IsZero() {
		conditions = append(conditions, "to_publication_date:"+q.Until.Format(time.DateOnly))
	}
	if q.Lang != "" && q.Lang != lang.Unknown {
		conditions = append(conditions, "language:"+string(q.Lang))
	}
	return strings.Join(conditions, ",")
}

// work is a result. Its title may hold markup of the publisher's.
type work struct {
	ID          string           `json:"id"`
	DOI         string           `json:"doi"`
	Title       string           `json:"display_name"`
	Date        string           `json:"publication_date"`
	Lang        lang.Code        `json:"language"`
	Abstract    map[string][]int `json:"abstract_inverted_index"`
	Best        location         `json:"best_oa_location"`
	Primary     location         `json:"primary_location"`
	Authorships []struct {
		Author struct {
			Name string `json:"display_name"`
		} `json:"author"`
	} `json:"authorships"`
	Access struct {
		URL string `json:"oa_url"`
	} `json:"open_access"`
}

type location struct {
	Page   string `json:"landing_page_url"`
	PDF    string `json:"pdf_url"`
	Source struct {
		Name string `json:"display_name"`
	} `json:"source"`
}

// hit links to where the work can be read: the best page that is open to all,
// then a file, and only then the page that may be closed.
func (w work) hit() search.Hit {
	names := make([]string, len(w.Authorships))
	for i, a := range w.Authorships {
		names[i] = a.Author.Name
	}
	abstract := upright(w.Abstract)
	return search.Hit{
		URL:     cmp.Or(w.Best.Page, w.Best.PDF, w.Access.URL, w.DOI, w.Primary.Page, w.ID),
		Title:   search.Plain(w.Title),
		Snippet: text.Lead(abstract),
		Text:    text.Cut(abstract, text.Body),
		Author:  text.Names(names),
		Date:    search.Day(w.Date),
		Site:    search.Line(w.Primary.Source.Name),
		Lang:    w.Lang,
		Engine:  name,
	}
}

// mostWords bounds an abstract: positions come from outside.
const mostWords = 20_000

// upright returns the text whose words stand at the positions that inverted
// gives. A position that no word claims leaves no gap.
func upright(inverted map[string][]int) string {
	last := -1
	for _, at := range inverted {
		for _, i := range at {
			if i < mostWords {
				last = max(last, i)
			}
		}
	}
	words := make([]string, last+1)
	for word, at := range inverted {
		for _, i := range at {
			if 0 <= i && i <= last {
				words[i] = word
			}
		}
	}
	return search.Plain(strings.Join(words, " "))
}
