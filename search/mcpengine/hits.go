package mcpengine

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier/search"
	"dossier/search/internal/text"
)

// hits reads a tool's result: its structured content if there are hits in it,
// otherwise its texts, which are JSON or prose with links, and its resources.
func (e *Engine) hits(result *mcp.CallToolResult) ([]search.Hit, error) {
	said := spoken(result)
	if result.IsError {
		return nil, e.complaint(search.Unavailable, said)
	}
	var found finder
	found.value(result.StructuredContent, 0)
	structured := len(found.hits) > 0
	for _, content := range result.Content {
		switch c := content.(type) {
		case *mcp.TextContent:
			if !structured {
				found.text(c.Text)
			}
		case *mcp.ResourceLink:
			found.add(search.Hit{URL: c.URI, Title: cmp.Or(c.Title, c.Name), Snippet: c.Description})
		case *mcp.EmbeddedResource:
			if c.Resource != nil {
				found.add(search.Hit{URL: c.Resource.URI, Text: c.Resource.Text})
			}
		}
	}
	if len(found.hits) == 0 {
		switch {
		case troubled.MatchString(said): // servers that don't mark their errors
			return nil, e.complaint(search.Unavailable, said)
		case found.odd:
			return nil, search.Missing(e.conf.Name, "list of results")
		}
	}
	for i := range found.hits {
		found.hits[i].Engine = e.conf.Name
	}
	return found.hits, nil
}

func spoken(result *mcp.CallToolResult) string {
	var texts []string
	for _, content := range result.Content {
		if c, ok := content.(*mcp.TextContent); ok {
			texts = append(texts, c.Text)
		}
	}
	return strings.Join(texts, "\n")
}

var (
	troubled = regexp.MustCompile(`(?i)^\W*(error|failed|failure|exception|rate limit|too many requests|unauthori[sz]ed|forbidden|ошибка|错误|失败)`)
	signs    = []struct {
		pattern *regexp.Regexp
		reason  search.Reason
	}{
		{regexp.MustCompile(`(?i)rate.?limit|too many requests|\b429\b|quota`), search.RateLimited},
		{regexp.MustCompile(`(?i)unauthori[sz]ed|api.?key|invalid token|\b401\b`), search.Unauthorized},
		{regexp.MustCompile(`(?i)timed?[ -]?out|deadline`), search.TooSlow},
		{regexp.MustCompile(`(?i)captcha|forbidden|\b403\b`), search.Blocked},
	}
)

// complaint is the error for what a server said went wrong. What its words are a
// sign of goes before the reason that is supposed.
func (e *Engine) complaint(reason search.Reason, said string) error {
	said = search.Line(said)
	for _, sign := range signs {
		if sign.pattern.MatchString(said) {
			reason = sign.reason
			break
		}
	}
	return &search.Error{Engine: e.conf.Name, Reason: reason, Detail: text.Cut(said, 200)}
}

// finder gathers hits.
type finder struct {
	hits []search.Hit
	// odd says that there was JSON, and nothing in it that could have held hits
	// or said that there are none.
	odd bool
}

func (f *finder) add(h search.Hit) {
	if h.URL = strings.TrimSpace(h.URL); !address.MatchString(h.URL) {
		return
	}
	h.Title, h.Snippet, h.Text = search.Line(clean(h.Title)), text.Lead(clean(h.Snippet)), text.Cut(strings.TrimSpace(clean(h.Text)), text.Body)
	if h.Snippet == "" {
		h.Snippet = text.Lead(h.Text)
	}
	f.hits = append(f.hits, h)
}

func (f *finder) text(said string) {
	said = strings.TrimSpace(said)
	if strings.HasPrefix(said, "{") || strings.HasPrefix(said, "[") {
		var v any
		if json.Unmarshal([]byte(said), &v) == nil {
			f.value(v, 0)
			return
		}
	}
	// One object in each line is JSON too.
	if lines := strings.Split(said, "\n"); len(lines) > 1 && strings.HasPrefix(said, "{") {
		values := make([]any, 0, len(lines))
		for _, line := range lines {
			var v any
			if json.Unmarshal([]byte(line), &v) == nil {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			f.value(values, 0)
			return
		}
	}
	for _, h := range linked(said) {
		f.add(h)
	}
}
