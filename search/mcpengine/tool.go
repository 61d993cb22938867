package mcpengine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier/search"
)

// tool is what searches at a server.
type tool struct {
	name         string
	query, limit string // its arguments; limit may be empty
	most         int    // that limit may be; 0 is any number
}

func (t tool) arguments(words string, limit int) map[string]any {
	args := map[string]any{t.query: words}
	if t.limit != "" {
		if t.most > 0 {
			limit = min(limit, t.most)
		}
		args[t.limit] = limit
	}
	return args
}

// The names that tools give to their arguments, the likelier first. They are
// compared without case, "_" and "-".
var (
	queryNames = []string{"query", "q", "searchquery", "search", "searchterm", "searchtext", "term", "terms", "keywords", "keyword", "text", "question", "prompt", "input", "topic"}
	limitNames = []string{"limit", "numresults", "maxresults", "resultcount", "count", "num", "size", "perpage", "pagesize", "hitsperpage", "topk", "k", "n", "max", "numstories", "maxitems"}
	saysSearch = []string{"search", "поиск", "搜索", "搜尋", "検索"}
)

func squashed(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

// choose asks the server for its tools and picks the one that searches.
func (e *Engine) choose(ctx context.Context, session *mcp.ClientSession) (tool, error) {
	var all []*mcp.Tool
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return tool{}, err
		}
		all = append(all, t)
	}
	return e.pick(all)
}

func (e *Engine) pick(all []*mcp.Tool) (tool, error) {
	if e.conf.Tool != "" {
		i := slices.IndexFunc(all, func(t *mcp.Tool) bool { return t.Name == e.conf.Tool })
		if i < 0 {
			return tool{}, e.unsuitable("it has no tool %q, only %s", e.conf.Tool, names(all))
		}
		chosen, ok := e.fits(all[i])
		if !ok {
			return tool{}, e.unsuitable("no argument of its tool %q is a text to search for; name one", e.conf.Tool)
		}
		return chosen, nil
	}
	says := func(text string) bool {
		text = strings.ToLower(text)
		return slices.ContainsFunc(saysSearch, func(word string) bool { return strings.Contains(text, word) })
	}
	for _, of := range []func(*mcp.Tool) string{
		func(t *mcp.Tool) string { return t.Name },
		func(t *mcp.Tool) string { return t.Title + " " + t.Description },
	} {
		for _, t := range all {
			if chosen, ok := e.fits(t); ok && says(of(t)) {
				return chosen, nil
			}
		}
	}
	return tool{}, e.unsuitable("none of its tools searches: %s; name one", names(all))
}

func (e *Engine) unsuitable(format string, args ...any) error {
	return &search.Error{Engine: e.conf.Name, Reason: search.Rejected, Detail: fmt.Sprintf(format, args...)}
}

func names(tools []*mcp.Tool) string {
	var out []string
	for _, t := range tools {
		if len(out) == 10 {
			out = append(out, "…")
			break
		}
		out = append(out, t.Name)
	}
	if len(out) == 0 {
		return "none at all"
	}
	return strings.Join(out, ", ")
}

// schema is the part of a tool's input schema that says what its arguments are.
// A type is a name or a list of them.
type schema struct {
	Properties map[string]struct {
		Type    any     `json:"type"`
		Maximum float64 `json:"maximum"`
	} `json:"properties"`
	Required []string `json:"required"`
}

// fits says whether a tool can be asked with a text alone, or with a text and a
// number, and how. A tool that was named by the user is taken at his word.
func (e *Engine) fits(t *mcp.Tool) (tool, bool) {
	var s schema
	raw, err := json.Marshal(t.InputSchema)
	if err != nil || json.Unmarshal(raw, &s) != nil {
		s = schema{}
	}
	is := func(name, kind string) bool {
		switch types := s.Properties[name].Type.(type) {
		case string:
			return types == kind
		case []any:
			return slices.Contains(types, any(kind))
		}
		return false
	}
	texts := s.named(queryNames, func(name string) bool { return is(name, "string") })
	numbers := s.named(limitNames, func(name string) bool { return is(name, "integer") || is(name, "number") })
	for _, name := range s.Required {
		if is(name, "string") && !slices.Contains(texts, name) {
			texts = append(texts, name)
		}
	}
	out := tool{name: t.Name, query: e.conf.QueryArg, limit: e.conf.LimitArg}
	if out.query == "" && len(texts) > 0 {
		out.query = texts[0]
	}
	if out.limit == "" && len(numbers) > 0 {
		out.limit = numbers[0]
	}
	out.most = int(s.Properties[out.limit].Maximum)
	for _, name := range s.Required {
		if name != out.query && name != out.limit && e.conf.Tool == "" {
			return out, false // nobody knows what to put there
		}
	}
	return out, out.query != ""
}

// named returns the properties that have one of the common names, the likelier
// first, and are of the right kind.
func (s schema) named(common []string, right func(string) bool) []string {
	var out []string
	for _, want := range common {
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if squashed(name) == want && right(name) {
				out = append(out, name)
			}
		}
	}
	return out
}
