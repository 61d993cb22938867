package mcpengine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier/search"
)

func list(hits []search.Hit) string {
	var b strings.Builder
	for _, h := range hits {
		fmt.Fprintf(&b, "%s | %s | %s | %s | %s | %s\n", h.URL, h.Title, h.Snippet, strings.ReplaceAll(h.Text, "\n", "⏎"), h.Author, h.Date)
	}
	return b.String()
}

func TestJSON(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"Algolia": {
			`{"hits":[{"objectID":"1","title":"Y Combinator","url":"https://ycombinator.com","author":"pg","created_at":"2006-10-09T18:21:51.000Z","points":57,"children":[]},{"title":"Ask HN","url":null}]}`,
			"https://ycombinator.com | Y Combinator |  |  | pg | 2006-10-09\n",
		},
		"Hacker News": {
			`[{"id":8863,"by":"dhouston","time":1175714200,"title":"My YC app","url":"http://www.getdropbox.com/u/2/screencast.html","text":"<p>Throw &amp; away"}]`,
			"http://www.getdropbox.com/u/2/screencast.html | My YC app | Throw & away | Throw & away | dhouston | 2007-04-04\n",
		},
		"Brave": {
			`{"type":"search","web":{"type":"search","results":[{"title":"A","url":"https://a.example/","description":"one <strong>two</strong>","age":"3 days ago"}]}}`,
			"https://a.example/ | A | one two |  |  | \n",
		},
		"Exa": {
			`{"results":[{"id":"https://a.example/","title":"A","url":"https://a.example/","publishedDate":"2024-05-01T00:00:00.000Z","author":null,"text":"First.\n\nSecond."}],"autopromptString":"x"}`,
			"https://a.example/ | A | First. Second. | First.⏎⏎Second. |  | 2024-05-01\n",
		},
		"GitHub":             {`{"total_count":1,"items":[{"full_name":"golang/go","html_url":"https://github.com/golang/go","url":"https://api.github.com/repos/golang/go","description":"The Go","owner":{"login":"golang"}}]}`, "https://github.com/golang/go | golang/go | The Go |  |  | \n"},
		"an envelope":        {`{"url":"https://api.example/?q=x","results":[{"link":"https://a.example/","name":"A"}]}`, "https://a.example/ | A |  |  |  | \n"},
		"items in an object": {`{"data":{"stories":[{"item":{"source_url":"https://a.example/","headline":"A","authors":[{"name":"Ada"},"Grace"]}}]}}`, "https://a.example/ | A |  |  | Ada, Grace | \n"},
		"one alone":          {`{"url":"https://a.example/","title":"A","publishedAt":1714521600000}`, "https://a.example/ | A |  |  |  | 2024-05-01\n"},
		"addresses":          {`["https://a.example/","not one","https://b.example/x"]`, "https://a.example/ |  |  |  |  | \nhttps://b.example/x |  |  |  |  | \n"},
		"lines":              {`{"url":"https://a.example/"}` + "\n" + `{"url":"https://b.example/"}`, "https://a.example/ |  |  |  |  | \nhttps://b.example/ |  |  |  |  | \n"},
		"no address":         {`[{"url":"javascript:alert(1)","title":"x"},{"url":"/relative"},{"url":5}]`, ""},
		"text with a <":      {`[{"url":"https://a.example/","title":"if a <in> b & c","snippet":"x < y"}]`, "https://a.example/ | if a <in> b & c | x < y |  |  | \n"},
	} {
		var f finder
		f.text(c.in)
		if got := list(f.hits); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
	deep := strings.Repeat(`{"data":[`, 1000) + strings.Repeat(`]}`, 1000)
	var f finder
	f.text(deep)
	if len(f.hits) > 0 {
		t.Error("found something")
	}
}

func TestProse(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"Markdown": {
			"Found 2 results:\n\n1. [Bees & honey](https://a.example/bees?x=1) - all about bees\n2. [Wax](<https://b.example/wax>)\n   A candle.",
			"https://a.example/bees?x=1 | Bees & honey - all about bees |  |  |  | \nhttps://b.example/wax | Wax | A candle. |  |  | \n",
		},
		"labels": {
			"Title: Bees\nAuthor: Ada\nPublished Date: 2024-05-01T10:00:00Z\nURL: https://a.example/1\nText: First part.\nSecond part.\n\nA paragraph that goes on.\n\nTitle: Wax\nURL: https://b.example/2",
			"https://a.example/1 | Bees | First part. Second part. A paragraph that goes on. | First part.⏎Second part.⏎⏎A paragraph that goes on. | Ada | 2024-05-01\nhttps://b.example/2 | Wax |  |  |  | \n",
		},
		"bold labels": {
			"**Title:** Пчёлы\n**URL:** https://a.example/1\n**Summary:** О мёде.\n\n---\n\n**Title:** 蜜蜂\n**URL:** https://b.example/2",
			"https://a.example/1 | Пчёлы | О мёде. |  |  | \nhttps://b.example/2 | 蜜蜂 |  |  |  | \n",
		},
		"a title above": {
			"Bees in the city\nhttps://a.example/1\nThey live on roofs.\n\nWax\nhttps://b.example/2.",
			"https://a.example/1 | Bees in the city | They live on roofs. |  |  | \nhttps://b.example/2 | Wax |  |  |  | \n",
		},
		"headings": {
			"# Results\n\n## Bees\n\nSource: https://a.example/(x)\n\nAll about them.\n\n## Wax\nLink: https://b.example/2",
			"https://a.example/(x) | Bees | All about them. | All about them. |  | \nhttps://b.example/2 | Wax |  |  |  | \n",
		},
		"Hacker News": {
			"1. Show HN: A hive (https://a.example/hive)\n   120 points by ada | 30 comments\n2. Wax (https://b.example/2)\n   5 points",
			"https://a.example/hive | Show HN: A hive | 120 points by ada | 30 comments |  |  | \nhttps://b.example/2 | Wax | 5 points |  |  | \n",
		},
		"a bare address": {"See https://a.example/x, please.", "https://a.example/x | See , please. |  |  |  | \n"},
		"none":           {"No results found.", ""},
	} {
		var f finder
		f.text(c.in)
		if got := list(f.hits); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("1. [a](https://a.example) b\n\n## c\nURL: https://b.example")
	f.Add(`{"results":[{"url":"https://a.example","authors":[{"name":1}]}]}`)
	f.Fuzz(func(t *testing.T, said string) {
		var found finder
		found.text(said)
		for _, h := range found.hits {
			if !strings.HasPrefix(h.URL, "http://") && !strings.HasPrefix(h.URL, "https://") || strings.ContainsAny(h.URL, " \n") || strings.Contains(h.Title, "\n") {
				t.Errorf("%+v", h)
			}
		}
	})
}

func TestContent(t *testing.T) {
	e := New(nil, Config{Name: "m", Command: "none"})
	result := &mcp.CallToolResult{
		StructuredContent: map[string]any{"results": []any{map[string]any{"url": "https://a.example/", "title": "A"}}},
		Content: []mcp.Content{
			&mcp.TextContent{Text: `[{"url":"https://a.example/","title":"said twice"}]`},
			&mcp.ResourceLink{URI: "https://b.example/", Name: "b.html", Title: "B", Description: "about b"},
			&mcp.ResourceLink{URI: "file:///etc/passwd", Name: "no"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "https://c.example/", Text: "the page"}},
			&mcp.EmbeddedResource{},
			&mcp.ImageContent{},
		},
	}
	hits, err := e.hits(result)
	want := "https://a.example/ | A |  |  |  | \nhttps://b.example/ | B | about b |  |  | \nhttps://c.example/ |  | the page | the page |  | \n"
	if err != nil || list(hits) != want || hits[0].Engine != "m" {
		t.Errorf("%s, %v", list(hits), err)
	}
}

func TestChoice(t *testing.T) {
	made := func(name, description, schema string) *mcp.Tool {
		return &mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(schema)}
	}
	text := `{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`
	for name, c := range map[string]struct {
		conf  Config
		tools []*mcp.Tool
		want  tool
	}{
		"by name":            {Config{}, []*mcp.Tool{made("lookup", "search the web", text), made("web_search", "", text)}, tool{name: "web_search", query: "query"}},
		"by description":     {Config{}, []*mcp.Tool{made("get", "gets", text), made("lookup", "Поиск в сети", text)}, tool{name: "lookup", query: "query"}},
		"one that fits":      {Config{}, []*mcp.Tool{made("search_user", "", `{"properties":{"id":{"type":"integer"}}}`), made("search_in", "", `{"properties":{"query":{"type":"string"},"repo":{"type":"string"}},"required":["query","repo"]}`), made("search", "", text)}, tool{name: "search", query: "query"}},
		"other names":        {Config{}, []*mcp.Tool{made("search", "", `{"properties":{"maxResults":{"type":["integer","null"],"maximum":5},"Search_Term":{"type":"string"},"sort":{"type":"string"}}}`)}, tool{name: "search", query: "Search_Term", limit: "maxResults", most: 5}},
		"a name of its own":  {Config{}, []*mcp.Tool{made("search", "", `{"properties":{"anliegen":{"type":"string"},"stil":{"type":"string"}},"required":["anliegen"]}`)}, tool{name: "search", query: "anliegen"}},
		"named by the user":  {Config{Tool: "get", QueryArg: "what", LimitArg: "howmany"}, []*mcp.Tool{made("search", "", text), made("get", "", `{"properties":{},"required":["what","other"]}`)}, tool{name: "get", query: "what", limit: "howmany"}},
		"not there":          {Config{Tool: "get"}, []*mcp.Tool{made("search", "", text)}, tool{}},
		"takes no text":      {Config{Tool: "get"}, []*mcp.Tool{made("get", "", `true`)}, tool{}},
		"nothing that looks": {Config{}, []*mcp.Tool{made("get", "gets", text)}, tool{}},
		"nothing":            {Config{}, nil, tool{}},
	} {
		t.Run(name, func(t *testing.T) {
			c.conf.Name, c.conf.Command = "m", "none"
			got, err := New(nil, c.conf).pick(c.tools)
			if got != c.want || search.ReasonOf(err) != map[bool]search.Reason{true: search.Rejected}[c.want == tool{}] {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	if got := (tool{query: "q", limit: "n", most: 5}).arguments("x", 9); got["q"] != "x" || got["n"] != 5 {
		t.Errorf("%v", got)
	}
}
