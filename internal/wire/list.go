package wire

import (
	"cmp"
	"net/http"
	"path/filepath"

	"dossier/internal/config"
	"dossier/lang"
	"dossier/llm"
	"dossier/llm/anthropic"
	"dossier/llm/gigachat"
	"dossier/llm/openai"
	"dossier/mode"
	"dossier/mode/agents"
	"dossier/mode/chat"
	"dossier/mode/evidence"
	"dossier/mode/ingest"
	"dossier/mode/kbqa"
	"dossier/mode/relay"
	"dossier/mode/supervised"
	"dossier/mode/toolcall"
	"dossier/mode/websearch"
	"dossier/search"
	"dossier/search/arxiv"
	"dossier/search/bocha"
	"dossier/search/brave"
	"dossier/search/duckduckgo"
	"dossier/search/github"
	"dossier/search/hackernews"
	"dossier/search/huggingface"
	"dossier/search/openalex"
	"dossier/search/perplexity"
	"dossier/search/searxng"
	"dossier/search/tavily"
	"dossier/search/wikipedia"
	"dossier/search/zyte"
	"dossier/sources"
	"dossier/toolkit"
)

// This file is the list of what exists: modes, tools, providers of models and
// search engines. Nothing enters itself.

// modes are all modes.
func modes(cfg *config.Config, l lang.Code, p *Product, s Site, found websearch.Parts, local *sources.Local) []mode.Mode {
	deep := websearch.New("deep_search", found, searchSettings(cfg, cfg.DeepSearch, l, p.rerank, 2, 800, 1200))
	return []mode.Mode{
		chat.New(found.Models, found.History, chat.Settings{HistoryLimit: cfg.Chat.HistoryLimit, Lang: l}),
		websearch.New("web_search", found, searchSettings(cfg, cfg.WebSearch, l, p.rerank, 1, 400, 600)),
		deep,
		websearch.New("quality", found, searchSettings(cfg, cfg.Quality, l, p.rerank, 2, 800, 1200)),
		newDeepResearch(cfg.DeepResearch.Engine,
			supervised.New("supervisor", supervised.Parts{
				Models: found.Models, Holdings: found.Holdings, Blobs: found.Blobs, History: found.History, Rerankers: found.Rerankers, DeepSearch: deep,
				Past:     pastIn(s.Store),
				Sessions: supervised.Sessions{Dir: filepath.Join(s.Dir, "agent_sessions"), Keep: cfg.DeepResearch.KeepSessions},
			}, teamSettings(cfg, l)),
			evidence.New(evidence.Parts{
				Models: found.Models, Holdings: found.Holdings, Blobs: found.Blobs, History: found.History, Rerankers: found.Rerankers, Past: pastIn(s.Store),
			}, loopSettings(cfg, l, p.rerank)),
		),
		ingest.New(local),
		newAgentMode(cfg, p, agents.New(agents.Parts{
			Resolve: p.Agency.resolve, Builtin: p.Agency.builtinOf, Tools: p.Agency.tools, Models: p.Agency.modelsOf,
			Finder: p.Agency.Stock, Used: p.Agency.used, Blobs: found.Blobs, History: found.History,
		}), kbqa.Parts{
			Local: local, Blobs: found.Blobs, History: found.History,
		}),
		toolcall.New(p.Agency.tool),
		relay.New(found.Models),
		newConsole(cfg, p, s),
	}
}

// tools are all tools of the program: those that package toolkit lists, and the
// extras.
func tools(p *Product, s Site) *toolkit.Toolkit {
	return toolkit.New(toolkit.Parts{Web: p.Web, Library: p.Library, Active: s.Active, Reranker: p.rerankers[p.rerank], Blobs: s.Store, Added: s.Tools})
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

// provider makes the client of a model's API. What speaks OpenAI's protocol is
// told apart by configuration alone.
func provider(m config.Model, client *http.Client, c config.Governor) (llm.Model, llm.Embedder, error) {
	switch m.Provider {
	case config.Anthropic:
		a, err := anthropic.New(anthropic.Config{
			BaseURL: string(m.BaseURL), Key: m.APIKey.Reveal(), Model: m.Model, HTTP: client, FirstByte: c.FirstByteTimeout, Idle: c.IdleTimeout, Timeout: c.CallTimeout,
		})
		return a, nil, err
	case config.GigaChat:
		g, err := gigachat.New(gigachat.Config{
			BaseURL: string(m.BaseURL), AuthURL: string(m.AuthURL), Key: m.APIKey.Reveal(), Scope: m.Scope, Model: m.Model,
			HTTP: client, FirstByte: c.FirstByteTimeout, Idle: c.IdleTimeout, Timeout: c.CallTimeout,
		})
		return g, g, err
	}
	o, err := openai.New(openai.Config{
		BaseURL: string(m.BaseURL), Key: m.APIKey.Reveal(), Model: m.Model, HTTP: client, FirstByte: c.FirstByteTimeout, Idle: c.IdleTimeout, Timeout: c.CallTimeout,
	})
	return o, o, err
}
