package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestEngineSettings(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string // engine key address, of those that have one
		env  string
	}{
		"nothing":              {"", "", ""},
		"the older shape":      {"search: {tavily_api_key: hush-1, tavily_api_base_url: 'https://t.example'}", "tavily hush-1 https://t.example", ""},
		"the newer shape":      {"tools: {web_search_tool: {engine: brave, api_key: hush-1}}", "brave hush-1", ""},
		"with an address":      {"tools: {WebSearchTool: {Engine: Perplexity, API_Key: hush-1, api_base_url: 'https://p.example/search'}}", "perplexity hush-1 https://p.example/search", ""},
		"no engine":            {"tools: {web_search_tool: {api_key: hush-1}}", "tavily hush-1", ""},
		"the page reader":      {"tools: {extract_page_content_tool: {tavily_api_key: hush-1, tavily_api_base_url: 'https://t.example'}}", "tavily hush-1 https://t.example", ""},
		"not the reader's":     {"tools: {extract_page_content_tool: {api_key: hush-1, engine: brave}}", "", ""},
		"search before reader": {"tools: {extract_page_content_tool: {tavily_api_key: hush-1}, web_search_tool: {engine: tavily, api_key: hush-2}}", "tavily hush-2", ""},
		"a second name":        {"tools: {fast: {base_class: sgr_agent_core.tools.WebSearchTool, engine: brave, api_key: hush-1}, web_search_tool: {api_key: hush-2}}", "tavily hush-2, brave hush-1", ""},
		"another tool":         {"tools: {my_tool: {engine: brave, api_key: hush-1}}", "", ""},
		"a variable":           {"tools: {web_search_tool: {engine: brave, api_key: '${SEARCH_KEY}'}}", "brave hush-env", ""},
		"a variable's name":    {"tools: {web_search_tool: {engine: brave, api_key: SEARCH_KEY}}", "brave hush-env", ""},
		"one that is not set":  {"tools: {web_search_tool: {engine: brave, api_key: NO_SUCH_KEY}}", "", ""},
		"an engine it has not": {"tools: {web_search_tool: {engine: altavista, api_key: hush-1}}", "", ""},
		"empty":                {"tools: {web_search_tool: {engine: brave, api_key: , api_base_url: ''}}", "", ""},
		"a number":             {"tools: {web_search_tool: {engine: brave, api_key: 1234}}", "brave 1234", ""},

		"the section search wins": {
			"search: {brave: {api_key: hush-1, base_url: 'https://b.example'}}\ntools: {web_search_tool: {engine: brave, api_key: hush-2, api_base_url: 'https://evil.example'}}",
			"brave hush-1 https://b.example", "",
		},
		"also from a variable":          {"tools: {web_search_tool: {engine: brave, api_key: hush-2, api_base_url: 'https://a.example'}}", "brave hush-v", "BRAVE_API_KEY=hush-v"},
		"the address of the same key":   {"tools: {web_search_tool: {engine: brave, api_key: '${BRAVE_API_KEY}', api_base_url: 'https://a.example'}}", "brave hush-v https://a.example", "BRAVE_API_KEY=hush-v"},
		"an address alone":              {"tools: {web_search_tool: {engine: perplexity, api_base_url: 'https://a.example'}}", "perplexity hush-v https://a.example", "PERPLEXITY_API_KEY=hush-v"},
		"an agent's address alone":      {"agents: {a: {tools: [{web_search_tool: {engine: brave, api_base_url: 'https://a.example'}}]}}", "brave hush-v", "BRAVE_API_KEY=hush-v"},
		"an address without any key":    {"tools: {web_search_tool: {engine: brave, api_base_url: 'https://a.example'}}", "", ""},
		"a key, the section's address":  {"search: {brave: {base_url: 'https://b.example'}}\ntools: {web_search_tool: {engine: brave, api_key: hush-1}}", "brave hush-1 https://b.example", ""},
		"an agent's key":                {"agents: {a: {tools: [{web_search_tool: {engine: brave, api_key: hush-1}}]}}", "brave hush-1", ""},
		"an agent's second name":        {"agents: {a: {tools: [{fast: {base_class: WebSearchTool, engine: perplexity, api_key: hush-1, api_base_url: 'https://a.example'}}]}}", "perplexity hush-1 https://a.example", ""},
		"an agent's section search":     {"agents: {a: {search: {tavily_api_key: hush-1}}, b: {search: {brave: {api_key: hush-2, base_url: 'https://b.example'}}}}", "tavily hush-1, brave hush-2 https://b.example", ""},
		"the section tools before":      {"agents: {a: {tools: [{web_search_tool: {api_key: hush-1}}]}}\ntools: {web_search_tool: {engine: brave, api_key: hush-2}}", "brave hush-2", ""},
		"agents by their names":         {"agents: {b: {tools: [{web_search_tool: {engine: brave, api_key: hush-2}}]}, a: {tools: [{web_search_tool: {engine: brave, api_key: hush-1}}]}}", "brave hush-1", ""},
		"an agent's key, shared engine": {"agents: {a: {tools: [{web_search_tool: {api_key: hush-1}}]}}\ntools: {web_search_tool: {engine: perplexity, api_base_url: 'https://p.example'}}", "perplexity hush-1 https://p.example", ""},

		// A key of one service is never sent to another.
		"an agent with another engine": {"agents: {a: {tools: [{web_search_tool: {engine: brave}}]}}\ntools: {web_search_tool: {engine: tavily, api_key: hush-1, api_base_url: 'https://t.example'}}", "tavily hush-1 https://t.example", ""},
		"and its key":                  {"agents: {a: {tools: [{web_search_tool: {engine: brave, api_key: hush-2}}]}}\ntools: {web_search_tool: {api_key: hush-1, api_base_url: 'https://t.example'}}", "tavily hush-1 https://t.example, brave hush-2", ""},
	} {
		t.Run(name, func(t *testing.T) {
			loaded := mustLoad(t, Sources{Env: append([]string{"SEARCH_KEY=hush-env"}, c.env)}, yamlFile(c.text))
			s, err := loaded.EngineSettings()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range []struct {
				name string
				key  Secret
				url  URL
			}{{"tavily", s.TavilyAPIKey, s.TavilyAPIBaseURL}, {"brave", s.Brave.APIKey, s.Brave.BaseURL}, {"perplexity", s.Perplexity.APIKey, s.Perplexity.BaseURL}} {
				if e.url == "https://api.tavily.com" {
					e.url = "" // the default
				}
				if !e.key.IsZero() {
					got = append(got, strings.TrimSpace(e.name+" "+e.key.Reveal()+" "+string(e.url)))
				}
			}
			if have := strings.Join(got, ", "); have != c.want {
				t.Errorf("%q, not %q", have, c.want)
			}
			for _, verb := range []string{"%v", "%+v", "%#v"} {
				quiet(t, verb, fmt.Sprintf(verb, s))
			}
		})
	}
}

// TestEngineSettingsRefused tells where the mistake is, and not what stands
// there.
func TestEngineSettingsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"tools: {web_search_tool: {engine: brave, api_key: {hush: hush}}}":                              "c.yaml:1: tools.web_search_tool.api_key: expected a text",
		"tools: {extract_page_content_tool: {tavily_api_base_url: hush.example}}":                       "c.yaml:1: tools.extract_page_content_tool.tavily_api_base_url: expected an address such as https://host/v1",
		"\nagents: {a: {tools: [{web_search_tool: {engine: brave, api_base_url: 'ftp://u:hush@b/'}}]}}": "c.yaml:2: tools.web_search_tool.api_base_url: expected an address that begins with http:// or https://",
	} {
		_, err := mustLoad(t, Sources{}, yamlFile(text)).EngineSettings()
		if err == nil || err.Error() != want {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

// TestTemplatesHaveNoKeys: no document that is stored says where a search goes.
func TestTemplatesHaveNoKeys(t *testing.T) {
	c := mustLoad(t, Sources{}, yamlFile("tools: {web_search_tool: {engine: brave, max_results: 3}}"))
	for _, document := range []string{"tools: [{web_search_tool: {api_key: hush}}]", "tools: [{web_search_tool: {api_base_url: 'https://evil.example'}}]", "search: {brave: {api_key: hush}}"} {
		if _, err := c.WithTemplate("t", []byte(document)); err == nil || !strings.Contains(err.Error(), notStored) {
			t.Errorf("%s: %v", document, err)
		}
	}
}

// Whatever setting holds a secret, a new one too, is known to who keeps secrets
// out of texts; the name of a variable is none.
func TestSecrets(t *testing.T) {
	flags := map[string]string{}
	for _, l := range schema().leaves {
		if l.typ == reflect.TypeFor[Secret]() {
			flags[l.path] = "plain-" + l.path
		}
	}
	if len(flags) < len(Roles())+10 {
		t.Fatalf("%d settings hold secrets", len(flags))
	}
	var got []string
	reveal := func(c *Config) {
		for _, s := range c.Secrets() {
			got = append(got, s.Reveal())
		}
	}
	reveal(mustLoad(t, Sources{Flags: flags}, nil))
	for path, secret := range flags {
		if !slices.Contains(got, secret) {
			t.Errorf("%s is not among them", path)
		}
	}
	got = nil
	reveal(mustLoad(t, Sources{Env: []string{"ANTHROPIC_API_KEY=hush-env"}}, yamlFile(`
models: {writer: {provider: openai, api_key: NO_SUCH_KEY}, default: {provider: anthropic}}
tools: {web_search_tool: {engine: brave, api_key: hush-tool}}
agents: {a: {search: {tavily_api_key: hush-agent}}}
`)))
	slices.Sort(got)
	if want := []string{"hush-agent", "hush-env", "hush-tool"}; !slices.Equal(slices.Compact(got), want) {
		t.Errorf("%q, not %q", got, want)
	}
}
