package toolkit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dossier/event"
	"dossier/lang"
	"dossier/run"
	"dossier/sources"
	"dossier/tool"
)

func (k *Toolkit) webMakers() []maker {
	return []maker{{name: WebSearch, make: k.webSearch, check: k.checkEngine}, {name: ExtractPages, make: k.extractPages}}
}

// webSearchConfig are the settings of the web search. The key and the address
// have no use here: whoever makes the engines takes them out of the operator's
// configuration.
type webSearchConfig struct {
	Engine      string `json:"engine"`
	APIKey      string `json:"api_key"`
	APIBaseURL  string `json:"api_base_url"`
	MaxSearches int    `json:"max_searches"`
	MaxResults  int    `json:"max_results"`
}

type webSearchArgs struct {
	Reasoning  string `json:"reasoning" jsonschema:"what the search is to find out"`
	Query      string `json:"query" jsonschema:"what to search for, in the language in which the best pages are written"`
	MaxResults int    `json:"max_results" default:"5" min:"1" max:"20" jsonschema:"how many results"`
	Offset     int    `json:"offset" default:"0" min:"0" jsonschema:"how many results to pass over, for more of an earlier search"`
}

// Validate refuses an empty query.
func (a *webSearchArgs) Validate() error { return needsQuery(a.Query) }

func needsQuery(query string) error {
	if strings.TrimSpace(query) == "" {
		return errors.New("query is empty: write what to search for")
	}
	return nil
}

const (
	// mostOffset bounds how far into the results a search goes.
	mostOffset = 100
	// spare is how many results more are asked for than are wanted: copies and
	// what may not be opened are left out.
	spare = 5
	// shownSnippet is what clients expect of a snippet, in characters, and
	// keptSnippet what the state keeps of it.
	shownSnippet = 100
	keptSnippet  = 400
)

// scope is the part of the web that is searched.
func (c webSearchConfig) scope() sources.WebScope {
	if c.Engine == "" {
		return sources.WebScope{}
	}
	return sources.WebScope{Engines: []string{strings.ToLower(c.Engine)}}
}

// checkEngine refuses an engine that does not exist. One that is not set up is
// an error of the call: the agent may do without.
func (k *Toolkit) checkEngine(config json.RawMessage, _ Settings) error {
	var conf webSearchConfig
	if err := readConfig(WebSearch, config, &conf); err != nil || conf.Engine == "" || k.parts.Web == nil {
		return err
	}
	var none *sources.EngineError
	if _, err := k.parts.Web.Corpus(conf.scope(), ""); err != nil && !errors.As(err, &none) {
		return fmt.Errorf("%s: %w", WebSearch, withHint(err))
	}
	return nil
}

func (k *Toolkit) webSearch(config json.RawMessage, s Settings) (tool.Tool, error) {
	var conf webSearchConfig
	if err := readConfig(WebSearch, config, &conf); err != nil {
		return nil, err
	}
	scope := conf.scope()
	most := cmp.Or(conf.MaxResults, s.MaxResults)
	return tool.New(tool.Spec{
		Name: WebSearch, Kind: tool.Searching, Timeout: webTimeout, Tags: []string{"web", "search"},
		Description: "Search the web. The result lists titles, addresses and short snippets under the numbers by which sources are cited; pages are read with " + ExtractPages + ".",
		Examples:    []string{"search the web", "find news about", "look something up on the internet", "найди в интернете", "上网搜索"},
	}, func(ctx context.Context, c *tool.Call, in webSearchArgs) (tool.Result, error) {
		if conf.MaxSearches > 0 && c.State.Searches >= conf.MaxSearches {
			return tool.Result{}, fmt.Errorf("the %d searches of this task are used up. Answer with what was found", conf.MaxSearches)
		}
		want, skip := min(cmp.Or(in.MaxResults, 5), most), min(in.Offset, mostOffset)
		got, err := k.ask(ctx, c, asked{scope: scope, query: in.Query, limit: skip + want + spare})
		if err != nil {
			return tool.Result{}, err
		}
		got.leads = got.leads[min(skip, len(got.leads)):]
		return got.result(c, want, func(s tool.Source, _ sources.Lead) string {
			snippet := s.Snippet
			if short := cut(snippet, shownSnippet); len(short) < len(snippet) {
				snippet = short + "..."
			}
			return sourceLine(s) + "\n" + snippet + "\n\n"
		})
	}), nil
}

// asked is one query to engines.
type asked struct {
	scope sources.WebScope
	query string
	limit int
}

// found is what came of it.
type found struct {
	asked
	leads []sources.Lead
	event event.SearchResults
}

// private is what no address that is opened may carry.
func private(c *tool.Call) []string {
	return append(slices.Clip(c.Private), c.Scope.Record().ID)
}

// ask asks engines, within the budget.
func (k *Toolkit) ask(ctx context.Context, c *tool.Call, a asked) (found, error) {
	if !strings.Contains(c.State.Task, strings.TrimSpace(a.query)) {
		// A model that has read a page may have been told what to search for.
		if a.query = sources.Searchable(a.query); a.query == "" {
			return found{}, errors.New("the query has no words to search for. Write some; addresses are not searched for")
		}
	}
	out := found{asked: a}
	if k.parts.Web == nil {
		return out, errNoWeb
	}
	corpus, err := k.parts.Web.Corpus(a.scope, preferred(a.query, c.State.Lang), private(c)...)
	if err != nil {
		return out, withHint(err)
	}
	if err := c.Scope.Budget().Check(run.Searches); err != nil {
		return out, err
	}
	engine := cmp.Or(strings.Join(a.scope.Engines, ","), corpus.Name())
	if err := c.Scope.Emit(event.SearchStarted{Query: a.query, Engine: engine}); err != nil {
		return out, err
	}
	finding, err := corpus.Find(ctx, sources.Query{Text: a.query, Limit: a.limit})
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	if err != nil {
		told := event.SearchResults{Query: a.query, Engine: engine, Error: err.Error()}
		return out, errors.Join(c.Scope.Emit(told), fmt.Errorf("the search failed: %w. Try other words or another tool, or answer with what there is", err))
	}
	c.Scope.Charge(run.Spent{Searches: 1})
	out.leads, out.event = finding.Leads, finding.Event(a.query, engine)
	return out, nil
}

var errNoWeb = errors.New("no search engine is configured. Do without the web")

// withHint is an error with what it says to do.
func withHint(err error) error {
	var known interface{ Fault() (code, hint string) }
	if errors.As(err, &known) {
		if _, hint := known.Fault(); hint != "" {
			return fmt.Errorf("%w (%s)", err, hint)
		}
	}
	return err
}

// preferred is the language in which results are preferred: that of the query
// where its script leaves no doubt or the answer is to be in it too.
func preferred(query, answer string) lang.Code {
	switch code := lang.Detect(query); {
	case code == lang.Russian, code == lang.Chinese, string(code) == answer:
		return code
	}
	return ""
}

// result numbers what was found and tells of it.
func (f found) result(c *tool.Call, most int, show func(tool.Source, sources.Lead) string) (tool.Result, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "Search Query: %s\n\nSearch Results (titles, links, short snippets):\n\n", oneLine(f.query))
	change := tool.Change{Searches: 1}
	var fresh []tool.Source
	for _, l := range f.leads[:min(most, len(f.leads))] {
		n, known := c.State.Number(l.URI, len(fresh))
		s := tool.Source{Number: n, Title: oneLine(l.Title), URL: l.URI, Snippet: cut(oneLine(l.Text), keptSnippet)}
		if !known {
			fresh = append(fresh, s)
		}
		change.Sources = append(change.Sources, s)
		b.WriteString(show(s, l))
	}
	if len(change.Sources) == 0 {
		b.WriteString("No results. Use other words.\n\n")
	}
	f.event.Found, f.event.New = len(change.Sources), len(fresh)
	if err := c.Scope.Emit(f.event); err != nil {
		return tool.Result{}, err
	}
	for _, s := range fresh {
		if err := c.Scope.Emit(event.SourceFound{Number: s.Number, Title: s.Title, URL: s.URL, Snippet: s.Snippet}); err != nil {
			return tool.Result{}, err
		}
	}
	data, err := json.Marshal(change.Sources)
	return tool.Result{Text: b.String(), Data: data, Change: change}, err
}

// day reads a date of a call; none is no bound.
func day(name, text string) (time.Time, error) {
	if strings.TrimSpace(text) == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, strings.TrimSpace(text))
	if err != nil {
		return t, fmt.Errorf("%s is no day: write it as 2026-01-31", name)
	}
	return t, nil
}
