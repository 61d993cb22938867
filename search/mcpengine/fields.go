package mcpengine

import (
	"maps"
	"regexp"
	"slices"
	"time"

	"dossier/search"
	"dossier/search/internal/text"
)

// The names that servers give to the parts of a hit, the likelier first,
// compared without case, "_" and "-"; and to what holds the hits.
var (
	urlNames     = []string{"htmlurl", "weburl", "pageurl", "url", "link", "href", "sourceurl", "storyurl", "articleurl", "permalink", "uri", "source"}
	titleNames   = []string{"title", "headline", "name", "fullname", "storytitle", "heading", "displayname"}
	snippetNames = []string{"snippet", "description", "summary", "excerpt", "highlight", "preview"}
	textNames    = []string{"text", "content", "body", "abstract", "rawcontent", "pagecontent", "markdown", "storytext", "commenttext"}
	authorNames  = []string{"author", "authors", "by", "creator", "username", "user"}
	dateNames    = []string{"date", "published", "publishedat", "publisheddate", "datepublished", "publicationdate", "pubdate", "createdat", "created", "time", "timestamp"}
	listNames    = []string{"results", "hits", "items", "data", "stories", "articles", "posts", "documents", "papers", "entries", "pages", "records", "organic", "web", "value", "result"}
)

// mostDepth is how deep lists may lie in one another.
const mostDepth = 12

// value looks for hits in a JSON value: objects with an address, in lists or
// alone.
func (f *finder) value(v any, depth int) {
	if depth > mostDepth {
		return
	}
	switch v := v.(type) {
	case string:
		f.add(search.Hit{URL: v})
	case []any:
		f.odd = false
		for _, item := range v {
			f.value(item, depth+1)
		}
	case map[string]any:
		f.object(v, depth)
	}
}

func (f *finder) object(o map[string]any, depth int) {
	fields := make(map[string]any, len(o))
	for name, value := range o {
		fields[squashed(name)] = value
	}
	before := len(f.hits)
	for _, name := range listNames {
		switch list := fields[name].(type) {
		case []any, map[string]any:
			f.value(list, depth+1)
		}
	}
	if len(f.hits) > before {
		return
	}
	if page := stringIn(fields, urlNames, address.MatchString); page != "" {
		f.add(search.Hit{
			URL:     page,
			Title:   stringIn(fields, titleNames, nil),
			Snippet: stringIn(fields, snippetNames, nil),
			Text:    stringIn(fields, textNames, nil),
			Author:  authors(fields),
			Date:    day(fields),
		})
		return
	}
	lists := false
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch inner := fields[name].(type) {
		case []any:
			lists = true
			f.value(inner, depth+1)
		case map[string]any:
			f.value(inner, depth+1)
		}
	}
	if depth == 0 && !lists && len(f.hits) == before {
		f.odd = true
	}
}

// stringIn returns the first text under one of the names that is right.
func stringIn(fields map[string]any, names []string, right func(string) bool) string {
	for _, name := range names {
		if s, ok := fields[name].(string); ok && s != "" && (right == nil || right(s)) {
			return s
		}
	}
	return ""
}

func authors(fields map[string]any) string {
	for _, name := range authorNames {
		var names []string
		list, ok := fields[name].([]any)
		if !ok {
			list = []any{fields[name]}
		}
		for _, one := range list {
			switch a := one.(type) {
			case string:
				names = append(names, a)
			case map[string]any:
				names = append(names, stringIn(a, []string{"name", "login", "display_name", "displayName", "username"}, nil))
			}
		}
		if out := text.Names(names); out != "" {
			return out
		}
	}
	return ""
}

func day(fields map[string]any) string {
	for _, name := range dateNames {
		switch d := fields[name].(type) {
		case string:
			if out := search.Day(d); out != "" {
				return out
			}
		case float64: // seconds since 1970, or milliseconds
			if d > 1e11 {
				d /= 1000
			}
			if 0 < d && d < 1e11 {
				return time.Unix(int64(d), 0).UTC().Format(time.DateOnly)
			}
		}
	}
	return ""
}

// markup is HTML as services have it in their texts; anything else between "<"
// and ">" is text.
var markup = regexp.MustCompile(`(?i)</?(?:p|br|b|i|em|strong|a|div|span|ul|ol|li|code|pre|mark|h[1-6])(?:\s[^<>]*)?/?>|&(?:#\d+|#x[0-9a-f]+|amp|lt|gt|quot|nbsp);`)

func clean(s string) string {
	if markup.MatchString(s) {
		return search.Plain(s)
	}
	return s
}
