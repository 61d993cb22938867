package dossier

import (
	"fmt"
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
	"dossier/search/openalex"
	"dossier/search/searxng"
	"dossier/search/tavily"
	"dossier/search/wikipedia"
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
	tavilyKey, braveKey, bochaKey := c.TavilyAPIKey.Reveal(), c.Brave.APIKey.Reveal(), c.Bocha.APIKey.Reveal()
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
		{"wikipedia", "", func(h *http.Client) search.Engine {
			return wikipedia.New(h, wikipedia.Config{URL: string(c.Wikipedia.BaseURL)})
		}, c.Wikipedia},
	}
}

// noEngines in search.engines is no engine at all.
const noEngines = "none"

// connectEngines returns the engines that are set up, in the order in which
// they are preferred, and what each of the others needs.
func connectEngines(cfg *config.Config, kept search.Cache) ([]search.Engine, map[string]string, error) {
	client, err := egress.Plain(egress.PlainConfig{})
	if err != nil {
		return nil, nil, err
	}
	all := knownEngines(cfg.Search)
	servers, err := mcpEngines(cfg)
	if err != nil {
		return nil, nil, err
	}
	all = append(all, servers...)
	wanted := cfg.Search.Engines
	if slices.Equal(wanted, []string{noEngines}) {
		return nil, nil, nil
	}
	var ready []search.Engine
	missing := make(map[string]string)
	add := func(e engineEntry) {
		if e.needs != "" {
			missing[e.name] = e.needs
			return
		}
		polite := search.Polite(e.make(client), search.Manners{Every: e.at.Every, Concurrent: e.at.AtOnce, Timeout: cfg.Search.Timeout})
		ready = append(ready, search.Cached(polite, kept, cfg.Search.CacheTTL))
	}
	if len(wanted) == 0 {
		for _, e := range all {
			add(e)
		}
		return ready, missing, nil
	}
	for _, name := range wanted {
		i := slices.IndexFunc(all, func(e engineEntry) bool { return e.name == name })
		if i < 0 {
			var names []string
			for _, e := range all {
				names = append(names, e.name)
			}
			return nil, nil, &UsageError{Message: fmt.Sprintf("search.engines: there is no search engine %q", name), Hint: "those there are: " + strings.Join(names, ", ") + "; or " + noEngines}
		}
		add(all[i])
	}
	return ready, missing, nil
}

func mcpEngines(*config.Config) ([]engineEntry, error) { return nil, nil }
