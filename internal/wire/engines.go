package wire

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"dossier/egress"
	"dossier/internal/base/usage"
	"dossier/internal/config"
	"dossier/search"
	"dossier/search/mcpengine"
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
// they are preferred, and what each of the others needs. The program's own come
// first, whatever is configured, and replace those of their name.
func (o *outside) connectEngines(cfg *config.Config, kept search.Cache, own []search.Engine) (ready []search.Engine, missing map[string]string, err error) {
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
	enter := func(e search.Engine, at config.SearchEngine) {
		polite := search.Polite(search.Discreet(e, o.redactor), search.Manners{Every: at.Every, Concurrent: at.AtOnce, Timeout: cfg.Search.Timeout})
		ready = append(ready, search.Cached(polite, kept, cfg.Search.CacheTTL))
	}
	named := make(map[string]bool)
	for _, e := range own {
		enter(e, config.SearchEngine{})
		named[e.Info().Name] = true
	}
	wanted := cfg.Search.Engines
	if slices.Equal(wanted, []string{noEngines}) {
		return ready, nil, nil
	}
	missing = make(map[string]string)
	add := func(e engineEntry) {
		switch {
		case named[e.name]:
			return
		case e.needs != "":
			missing[e.name] = e.needs
			return
		}
		made := e.make(client)
		if c, ok := made.(io.Closer); ok {
			o.closers = append(o.closers, c.Close)
		}
		enter(made, e.at)
	}
	if len(wanted) == 0 {
		for _, e := range all {
			add(e)
		}
		return ready, missing, nil
	}
	for _, name := range wanted {
		found := named[name] // and there already
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
			return nil, nil, &usage.Error{Message: fmt.Sprintf("search.engines: there is no search engine %q", name), Hint: "those there are: " + strings.Join(names, ", ") + "; or " + noEngines}
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
