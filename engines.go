package dossier

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"dossier/egress"
	"dossier/internal/config"
	"dossier/search"
	"dossier/search/arxiv"
	"dossier/search/bocha"
	"dossier/search/brave"
	"dossier/search/duckduckgo"
	"dossier/search/github"
	"dossier/search/hackernews"
	"dossier/search/huggingface"
	"dossier/search/mcpengine"
	"dossier/search/openalex"
	"dossier/search/perplexity"
	"dossier/search/searxng"
	"dossier/search/tavily"
	"dossier/search/wikipedia"
	"dossier/search/zyte"
	"dossier/sources"
)

// engineEntry is a search engine as the wiring knows it.
type engineEntry struct {
	name string
	// needs is the setting without which it can't be asked, "" if it can.
	needs string
	make  func(client *http.Client) search.Engine
	at    config.SearchEngine // how often it may be asked
}

// knownEngines are all engines, those first that are preferred for everything
// and those for papers before those for what is written about them.
func knownEngines(c config.Search) []engineEntry {
	without := func(set bool, needs string) string {
		if set {
			return ""
		}
		return needs
	}
	tavilyKey, braveKey, perplexityKey := c.TavilyAPIKey.Reveal(), c.Brave.APIKey.Reveal(), c.Perplexity.APIKey.Reveal()
	bochaKey, zyteKey := c.Bocha.APIKey.Reveal(), c.Zyte.APIKey.Reveal()
	return []engineEntry{
		{"tavily", without(tavilyKey != "", "search.tavily_api_key"), func(h *http.Client) search.Engine {
			return tavily.New(h, tavily.Config{URL: string(c.TavilyAPIBaseURL), Key: tavilyKey})
		}, config.SearchEngine{AtOnce: 8}},
		{"searxng", without(c.SearXNG.BaseURL != "", "search.searxng.base_url"), func(h *http.Client) search.Engine {
			return searxng.New(h, searxng.Config{URL: string(c.SearXNG.BaseURL)})
		}, c.SearXNG},
		{"brave", without(braveKey != "", "search.brave.api_key"), func(h *http.Client) search.Engine {
			return brave.New(h, brave.Config{URL: string(c.Brave.BaseURL), Key: braveKey})
		}, c.Brave},
		{"perplexity", without(perplexityKey != "", "search.perplexity.api_key"), func(h *http.Client) search.Engine {
			return perplexity.New(h, perplexity.Config{URL: string(c.Perplexity.BaseURL), Key: perplexityKey})
		}, c.Perplexity},
		{"bocha", without(bochaKey != "", "search.bocha.api_key"), func(h *http.Client) search.Engine {
			return bocha.New(h, bocha.Config{URL: string(c.Bocha.BaseURL), Key: bochaKey})
		}, c.Bocha},
		{"duckduckgo", "", func(h *http.Client) search.Engine {
			return duckduckgo.New(h, duckduckgo.Config{URL: string(c.DuckDuckGo.BaseURL)})
		}, c.DuckDuckGo},
		{"arxiv", "", func(h *http.Client) search.Engine {
			return arxiv.New(h, arxiv.Config{URL: string(c.ArXiv.BaseURL), Pause: c.ArXiv.Every})
		}, c.ArXiv},
		{"hf_papers", "", func(h *http.Client) search.Engine {
			return huggingface.Papers(h, huggingface.Config{URL: string(c.HFPapers.BaseURL), Key: c.HFPapers.APIKey.Reveal()})
		}, c.HFPapers},
		{"openalex", "", func(h *http.Client) search.Engine {
			return openalex.New(h, openalex.Config{URL: string(c.OpenAlex.BaseURL), Key: c.OpenAlex.APIKey.Reveal()})
		}, c.OpenAlex},
		{"hf_blog", "", func(h *http.Client) search.Engine {
			return huggingface.Blog(h, huggingface.Config{URL: string(c.HFBlog.BaseURL), Key: c.HFBlog.APIKey.Reveal()})
		}, c.HFBlog},
		{"github_repos", "", func(h *http.Client) search.Engine {
			return github.Repositories(h, github.Config{URL: string(c.GitHub.BaseURL), Key: c.GitHub.APIKey.Reveal()})
		}, c.GitHub},
		{"github_issues", "", func(h *http.Client) search.Engine {
			return github.Issues(h, github.Config{URL: string(c.GitHub.BaseURL), Key: c.GitHub.APIKey.Reveal()})
		}, c.GitHub},
		{"hackernews", "", func(h *http.Client) search.Engine {
			return hackernews.New(h, hackernews.Config{URL: string(c.HackerNews.BaseURL)})
		}, c.HackerNews},
		{"zyte", cmp.Or(without(zyteKey != "", "search.zyte.api_key"), without(len(c.ZyteSites) > 0, "search.zyte_sites")), func(h *http.Client) search.Engine {
			return zyte.New(h, zyte.Config{URL: string(c.Zyte.BaseURL), Key: zyteKey, Sites: c.ZyteSites})
		}, c.Zyte},
		{"wikipedia", "", func(h *http.Client) search.Engine {
			return wikipedia.New(h, wikipedia.Config{URL: string(c.Wikipedia.BaseURL)})
		}, c.Wikipedia},
	}
}

// EngineNames are the names by which search engines can be asked for, beside
// those of MCP servers: engines, what several of them have in common, and
// topics.
func EngineNames() []string {
	var out []string
	for _, e := range knownEngines(config.Search{}) {
		out = append(out, e.name)
	}
	out = append(out, "github", "hf")
	for _, t := range []search.Topic{search.Papers, search.Code, search.Discussion, search.Blogs, search.Encyclopedia} {
		out = append(out, string(t))
	}
	return append(out, sources.LocalName)
}

// noEngines in search.engines is no engine at all.
const noEngines = "none"

// connectEngines returns the engines that are set up, in the order in which
// they are preferred, and what each of the others needs.
func (o *outside) connectEngines(cfg *config.Config, kept search.Cache) (ready []search.Engine, missing map[string]string, err error) {
	client, err := egress.Plain(egress.PlainConfig{})
	if err != nil {
		return nil, nil, err
	}
	settings, err := cfg.EngineSettings()
	if err != nil {
		return nil, nil, err
	}
	all := knownEngines(settings)
	servers, err := mcpEngines(cfg)
	if err != nil {
		return nil, nil, err
	}
	all = append(all, servers...)
	wanted := cfg.Search.Engines
	if slices.Equal(wanted, []string{noEngines}) {
		return nil, nil, nil
	}
	missing = make(map[string]string)
	add := func(e engineEntry) {
		if e.needs != "" {
			missing[e.name] = e.needs
			return
		}
		made := e.make(client)
		if c, ok := made.(io.Closer); ok {
			o.closers = append(o.closers, c.Close)
		}
		polite := search.Polite(made, search.Manners{Every: e.at.Every, Concurrent: e.at.AtOnce, Timeout: cfg.Search.Timeout})
		ready = append(ready, search.Cached(polite, kept, cfg.Search.CacheTTL))
	}
	if len(wanted) == 0 {
		for _, e := range all {
			add(e)
		}
		return ready, missing, nil
	}
	for _, name := range wanted {
		found := false
		for _, e := range all {
			if e.name == name || strings.HasPrefix(e.name, name+"_") {
				found = true
				add(e)
			}
		}
		if !found {
			var names []string
			for _, e := range all {
				names = append(names, e.name)
			}
			return nil, nil, &UsageError{Message: fmt.Sprintf("search.engines: there is no search engine %q", name), Hint: "those there are: " + strings.Join(names, ", ") + "; or " + noEngines}
		}
	}
	return ready, missing, nil
}

// mcpEngines are the servers of the section mcp that search.mcp_servers names.
func mcpEngines(cfg *config.Config) ([]engineEntry, error) {
	var out []engineEntry
	for _, name := range cfg.Search.MCPServers {
		s, err := cfg.MCPServer(name)
		if err != nil {
			return nil, err
		}
		c := mcpengine.Config{
			Name: name, Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL, Headers: s.Headers,
			Tool: s.Search.Tool, QueryArg: s.Search.Query, LimitArg: s.Search.Limit,
		}
		for _, t := range s.Search.Topics {
			c.Topics = append(c.Topics, search.Topic(t))
		}
		out = append(out, engineEntry{name, "", func(h *http.Client) search.Engine { return mcpengine.New(h, c) }, config.SearchEngine{AtOnce: 4}})
	}
	return out, nil
}
