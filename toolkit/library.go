package toolkit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dossier/extract"
	"dossier/kb"
	"dossier/lang"
	"dossier/reader"
	"dossier/search"
	"dossier/sources"
	"dossier/tool"
)

// The names of the tools for the user's documents.
const (
	QueryPlan      = "query_plan"
	Search         = "search"
	Rerank         = "rerank"
	FetchDocs      = "fetch_docs"
	ComposeContext = "compose_context"
	Verify         = "verify"
	RouterSelect   = "router_select"
)

// ForDocuments are the names of all of these.
var ForDocuments = []string{RouterSelect, QueryPlan, Search, Rerank, FetchDocs, ComposeContext, Verify}

// What the tools for documents tell each other, in the state's Custom.
const (
	KeyRoute    = "kb_route"    // a kb.Route
	KeyPlan     = "kb_plan"     // of query_plan
	KeySearches = "kb_searches" // what was found, the last search first
	KeyCoverage = "kb_coverage" // the share of the plan's questions that the context answers
)

// Reserved says whether an entry of the state's Custom is for what these tools tell
// each other: nobody else may write it.
func Reserved(key string) bool { return strings.HasPrefix(key, "kb_") }

func (k *Toolkit) libraryMakers() []maker {
	with := func(name string, build func(*collection) tool.Tool) maker {
		return maker{name: name, make: func(config json.RawMessage, _ Settings) (tool.Tool, error) {
			s := &collection{parts: k.parts}
			if err := readConfig(name, config, &s.conf); err != nil {
				return nil, err
			}
			return build(s), nil
		}}
	}
	return []maker{
		with(RouterSelect, routerSelect), with(QueryPlan, queryPlan), with(Search, searchLibrary), with(Rerank, rerankHits),
		with(FetchDocs, fetchDocs), with(ComposeContext, composeContext), with(Verify, verifyClaims),
	}
}

// collection is the one that a tool works on.
type collection struct {
	parts Parts
	conf  collectionConfig
}

// collectionConfig are the settings of the tools for documents.
type collectionConfig struct {
	Collection string `json:"collection"` // the one in use when empty
}

// name of the collection, which has to be one that the run's user may ask.
func (s *collection) name(ctx context.Context, c *tool.Call) (string, error) {
	if s.parts.Library == nil {
		return "", errors.New("there are no documents to look in. Do without them")
	}
	name := s.conf.Collection
	if name == "" && s.parts.Active != nil {
		var err error
		if name, err = s.parts.Active(ctx); err != nil {
			return "", err
		}
	}
	none := errors.New("no collection of documents is in use. Do without documents")
	if name == "" {
		return "", none
	}
	if c.Scope == nil || c.Scope.Record().User == "" {
		return name, nil
	}
	if _, err := s.parts.Library.GetFor(ctx, c.Scope.Record().User, name); errors.Is(err, kb.ErrNoCollection) {
		return "", none
	} else if err != nil {
		return "", err
	}
	return name, nil
}

// librarySpec has what all these tools have in common.
func librarySpec(name, description string, examples ...string) tool.Spec {
	return tool.Spec{Name: name, Description: description, Timeout: libraryTimeout, Tags: []string{"documents", "knowledge base"}, Examples: examples}
}

// filterArgs leave documents out.
type filterArgs struct {
	Paths   []string `json:"paths,omitempty" max:"20" jsonschema:"files, folders or patterns such as reports/**/*.pdf"`
	Langs   []string `json:"langs,omitempty" max:"10" jsonschema:"codes of languages such as ru"`
	Formats []string `json:"formats,omitempty" max:"10" jsonschema:"formats such as pdf"`
	After   string   `json:"after,omitempty" jsonschema:"the first date, as 2025-01-31, 2025-01 or 2025"`
	Before  string   `json:"before,omitempty" jsonschema:"the last date"`
}

func (f *filterArgs) filter() kb.Filter {
	if f == nil {
		return kb.Filter{}
	}
	out := kb.Filter{Paths: f.Paths, After: f.After, Before: f.Before}
	for _, l := range f.Langs {
		out.Langs = append(out.Langs, lang.Code(l))
	}
	for _, name := range f.Formats {
		out.Formats = append(out.Formats, reader.Format(strings.ToLower(name)))
	}
	return out
}

// custom reads an entry of the state; what is not there leaves v as it is.
func custom(s *tool.State, key string, v any) {
	if raw, ok := s.Custom[key]; ok {
		_ = json.Unmarshal(raw, v) // another tool's entry is as good as none
	}
}

// setting is a change of one entry.
func setting(key string, v any) (tool.Change, error) {
	raw, err := json.Marshal(v)
	return tool.Change{Custom: map[string]json.RawMessage{key: raw}}, err
}

// plan is what query_plan keeps.
type plan struct {
	Query   string      `json:"query"`
	Facets  []facet     `json:"facets"`
	Filters *filterArgs `json:"filters,omitempty"`
}

type facet struct {
	Question string   `json:"question"`
	Queries  []string `json:"queries"`
}

type planArgs struct {
	Query   string      `json:"query" jsonschema:"the user's question"`
	Filters *filterArgs `json:"filters,omitempty" jsonschema:"which documents to look in"`
}

// Validate refuses an empty query.
func (a *planArgs) Validate() error { return needsQuery(a.Query) }

func queryPlan(*collection) tool.Tool {
	return tool.New(librarySpec(QueryPlan, "Split a question into parts and queries for the user's documents. Searches that follow keep its filters.",
		"plan the search in the documents"),
		func(_ context.Context, _ *tool.Call, in planArgs) (tool.Result, error) {
			p := plan{Query: in.Query, Filters: in.Filters}
			for _, question := range extract.Facets(in.Query) {
				p.Facets = append(p.Facets, facet{question, extract.Queries(question)})
			}
			change, err := setting(KeyPlan, p)
			if err != nil {
				return tool.Result{}, err
			}
			return asJSON(p, change)
		})
}

type routeArgs struct {
	Query string `json:"query" jsonschema:"what is to be searched for"`
}

// Validate refuses an empty query.
func (a *routeArgs) Validate() error { return needsQuery(a.Query) }

func routerSelect(s *collection) tool.Tool {
	return tool.New(librarySpec(RouterSelect, "Choose how to search the user's documents for a query: by words (bm25), by meaning (dense) or by both (hybrid).",
		"how should the documents be searched"),
		func(ctx context.Context, c *tool.Call, in routeArgs) (tool.Result, error) {
			name, err := s.name(ctx, c)
			if err != nil {
				return tool.Result{}, err
			}
			words, err := s.parts.Library.WhyWords(ctx, name)
			if err != nil {
				return tool.Result{}, err
			}
			route, reason := chooseRoute(in.Query)
			if words != "" {
				route, reason = kb.BM25, words
			}
			change, err := setting(KeyRoute, route)
			if err != nil {
				return tool.Result{}, err
			}
			return asJSON(struct {
				Route  kb.Route `json:"route"`
				Reason string   `json:"reason"`
			}{route, reason}, change)
		})
}

// chooseRoute goes by what a query looks like.
func chooseRoute(query string) (kb.Route, string) {
	const longQuestion = 12 // words
	switch words := strings.Fields(query); {
	case strings.ContainsAny(query, "\"«»“”「」"):
		return kb.BM25, "the query quotes words that have to stand there"
	case slices.ContainsFunc(words, identifier):
		return kb.BM25, "the query has a name or number that stands in the text as it is"
	case lang.Words(query) >= longQuestion:
		return kb.Dense, "the query is a long description, whose words may not stand in the text"
	}
	return kb.Hybrid, "neither words nor meaning alone are enough for the query"
}

// identifier says whether a word is a code, a path or a name of a program.
func identifier(word string) bool {
	word = strings.Trim(word, ".,;:!?()")
	letters := strings.ContainsFunc(word, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' })
	digits := strings.ContainsAny(word, "0123456789")
	return letters && digits || strings.ContainsAny(word, "_/\\@#") || strings.Contains(word, "::")
}

type searchArgs struct {
	Query    string      `json:"query" jsonschema:"what to search for"`
	Route    string      `json:"route,omitempty" enum:"bm25,dense,hybrid" jsonschema:"by words, by meaning or by both; that of router_select when left out"`
	Limit    int         `json:"limit" default:"10" min:"1" max:"50" jsonschema:"how many passages"`
	TopBM25  int         `json:"hybrid_top_bm25" default:"50" min:"1" max:"1000" jsonschema:"how many passages found by words are looked at; more for a second attempt"`
	TopDense int         `json:"hybrid_top_dense" default:"50" min:"1" max:"1000" jsonschema:"how many found by meaning"`
	Filters  *filterArgs `json:"filters,omitempty" jsonschema:"which documents to look in; those of query_plan when left out"`
}

// Validate refuses an empty query.
func (a *searchArgs) Validate() error { return needsQuery(a.Query) }

// librarySearch is a search that was made.
type librarySearch struct {
	Query string   `json:"query"`
	IDs   []string `json:"ids"`
}

// mostSearches bounds the searches that are remembered.
const mostSearches = 24

// remember puts a search before those that were made.
func remember(s *tool.State, made librarySearch) (tool.Change, error) {
	var all []librarySearch
	custom(s, KeySearches, &all)
	all = slices.DeleteFunc(all, func(o librarySearch) bool { return strings.EqualFold(o.Query, made.Query) })
	all = slices.Insert(all, 0, made)
	return setting(KeySearches, all[:min(len(all), mostSearches)])
}

// shownPassage is how many characters of a passage a list shows: those that are
// no longer than passages are by default are shown whole.
const shownPassage = 900

// libraryHit is a passage as a list shows it.
type libraryHit struct {
	ID       string   `json:"id"`
	Document int64    `json:"document"`
	Title    string   `json:"title"`
	Headings []string `json:"headings,omitempty"`
	Page     int      `json:"page,omitempty"`
	Date     string   `json:"date,omitempty"`
	Score    float64  `json:"score,omitempty"`
	Text     string   `json:"text"`
}

func shownHit(p kb.Passage, score float64, most int) libraryHit {
	text := cut(p.Text, most)
	if len(text) < len(p.Text) {
		text += "..."
	}
	return libraryHit{p.ID, p.Document, p.Title, p.Headings, p.Page, p.Date, score, text}
}

func searchLibrary(s *collection) tool.Tool {
	spec := librarySpec(Search, "Search the user's documents by words and by meaning, both rankings fused. Passages have ids for compose_context, rerank and fetch_docs.",
		"search my documents", "what do our files say about", "найди в моих документах", "在我的文档中搜索")
	spec.Kind = tool.Lookup
	return tool.New(spec,
		func(ctx context.Context, c *tool.Call, in searchArgs) (tool.Result, error) {
			name, err := s.name(ctx, c)
			if err != nil {
				return tool.Result{}, err
			}
			var made plan
			custom(c.State, KeyPlan, &made)
			route := kb.Route(in.Route)
			if route == "" {
				custom(c.State, KeyRoute, &route)
			}
			got, err := s.parts.Library.Search(ctx, name, kb.Query{
				Text: in.Query, Limit: cmp.Or(in.Limit, 10), Route: route, TopBM25: in.TopBM25, TopDense: in.TopDense,
				Filter: cmp.Or(in.Filters, made.Filters).filter(),
			})
			if err != nil {
				return tool.Result{}, err
			}
			search := librarySearch{Query: in.Query, IDs: []string{}}
			out := struct {
				Route kb.Route     `json:"route"`
				Note  string       `json:"note,omitempty"`
				Hits  []libraryHit `json:"hits"`
			}{got.Route, got.Note, []libraryHit{}}
			for _, h := range got.Hits {
				search.IDs = append(search.IDs, h.ID)
				out.Hits = append(out.Hits, shownHit(h.Passage, h.Score, shownPassage))
			}
			change, err := remember(c.State, search)
			if err != nil {
				return tool.Result{}, err
			}
			result, err := asJSON(out, change)
			if err != nil {
				return result, err
			}
			result.Data, err = json.Marshal(got) // whole, for programs
			return result, err
		})
}

type rerankArgs struct {
	Query  string   `json:"query" jsonschema:"what the passages are to answer"`
	HitIDs []string `json:"hit_ids,omitempty" max:"100" jsonschema:"ids of passages; those of the last search when left out"`
	TopK   int      `json:"top_k" default:"10" min:"1" max:"50" jsonschema:"how many to keep"`
}

// Validate refuses an empty query.
func (a *rerankArgs) Validate() error { return needsQuery(a.Query) }

func rerankHits(s *collection) tool.Tool {
	return tool.New(librarySpec(Rerank, "Put passages of the user's documents in the order of how well they answer a query, and keep the best.",
		"which of these passages answers best"),
		func(ctx context.Context, c *tool.Call, in rerankArgs) (tool.Result, error) {
			ids := in.HitIDs
			if len(ids) == 0 {
				var made []librarySearch
				if custom(c.State, KeySearches, &made); len(made) > 0 {
					ids = made[0].IDs
				}
			}
			passages, missing, err := s.fetch(ctx, c, 0, ids)
			if err != nil {
				return tool.Result{}, err
			}
			texts := make([]string, len(passages))
			for i, p := range passages {
				texts[i] = p.Title + "\n" + strings.Join(p.Headings, " / ") + "\n" + p.Text
			}
			var ranker search.Reranker = sources.Words{}
			if s.parts.Reranker != nil {
				ranker = s.parts.Reranker
			}
			scores, err := ranker.Rerank(ctx, in.Query, texts)
			if err != nil {
				return tool.Result{}, fmt.Errorf("the passages could not be ranked: %w. Use them as they stand", err)
			}
			hits := make([]libraryHit, len(passages))
			for i, p := range passages {
				hits[i] = shownHit(p, scores[i], shownPassage)
			}
			slices.SortStableFunc(hits, func(a, b libraryHit) int { return cmp.Compare(b.Score, a.Score) })
			hits = hits[:min(len(hits), cmp.Or(in.TopK, 10))]
			best := librarySearch{Query: in.Query}
			for _, h := range hits {
				best.IDs = append(best.IDs, h.ID)
			}
			change, err := remember(c.State, best)
			if err != nil {
				return tool.Result{}, err
			}
			return asJSON(struct {
				Hits    []libraryHit `json:"hits"`
				Missing []string     `json:"missing,omitempty"`
			}{hits, missing}, change)
		})
}

// fetch reads passages. None at all is an error.
func (s *collection) fetch(ctx context.Context, c *tool.Call, neighbours int, ids []string) (passages []kb.Passage, missing []string, err error) {
	name, err := s.name(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if len(ids) == 0 {
		return nil, nil, errors.New("there are no passages yet. Call " + Search + " first, or name ids")
	}
	got, err := s.parts.Library.Fetch(ctx, name, neighbours, ids...)
	if err == nil && len(got.Passages) == 0 {
		err = fmt.Errorf("none of the ids names a passage or document: %s. Use ids of %s", strings.Join(got.Missing, ", "), Search)
	}
	return got.Passages, got.Missing, err
}

type fetchArgs struct {
	IDs        []string `json:"ids" min:"1" max:"20" jsonschema:"ids of passages such as 12.3, or numbers of documents such as 12"`
	Neighbours int      `json:"neighbours" default:"0" min:"0" max:"3" jsonschema:"how many passages before and after each"`
}

// shownDocuments is how many characters fetch_docs shows of all documents
// together.
const shownDocuments = 40_000

func fetchDocs(s *collection) tool.Tool {
	return tool.New(librarySpec(FetchDocs, "Read passages of the user's documents by their ids, with what stands around them, or whole documents by their numbers.",
		"show the whole document", "read more around this passage"),
		func(ctx context.Context, c *tool.Call, in fetchArgs) (tool.Result, error) {
			passages, missing, err := s.fetch(ctx, c, in.Neighbours, in.IDs)
			if err != nil {
				return tool.Result{}, err
			}
			docs := make([]libraryHit, len(passages))
			for i, p := range passages {
				docs[i] = shownHit(p, 0, shownDocuments/len(passages))
			}
			return asJSON(struct {
				Documents []libraryHit `json:"documents"`
				Missing   []string     `json:"missing,omitempty"`
			}{docs, missing}, tool.Change{})
		})
}
