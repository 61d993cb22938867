package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dossier/tool"
)

// boundTool is a tool of an agent with its settings from all places.
type boundTool struct {
	name   string
	of     string // the tool that it is, when name is a second name
	config map[string]any
	origin origin   // of the entry in the agent's list
	layer  layer    // likewise
	below  *setting // of the section tools; nil: none
	own    map[string]any
}

// layerOf is the layer that gives the tool a setting.
func (t *boundTool) layerOf(key string) layer {
	switch {
	case keyOf(t.own, key) != "":
		return t.layer
	case keyOf(t.config, key) != "" && t.below != nil:
		return t.below.layer
	}
	return layerDefault
}

// is says whether it is the built-in tool of a plain name.
func (t *boundTool) is(plain string) bool {
	if t.of != "" {
		return tool.PlainName(t.of) == plain
	}
	return tool.PlainName(t.name) == plain
}

const (
	webSearch   = "websearchtool"
	extractPage = "extractpagecontenttool"
)

// listed are the tools that the agent or the template lists, else the usual ones.
func (st *state) listed() []toolEntry {
	if s := st.said("tools"); s != nil {
		return s.value.([]toolEntry)
	}
	usual := slices.Clone(builtIn()[defaultTools].own("tools").value.([]toolEntry))
	for i := range usual {
		usual[i].origin, usual[i].layer = origin{name: "default"}, layerDefault
	}
	return usual
}

// shared finds the settings of a tool in the section tools, whose names are
// compared as those of tools are; of several the highest layer counts.
func (st *state) shared(name string) (found *setting) {
	plain := tool.PlainName(name)
	for _, settings := range st.layers {
		for i := range settings {
			if s := &settings[i]; s.leaf == schema().tools && tool.PlainName(s.key) == plain {
				found = s
			}
		}
	}
	return found
}

// bind lays an entry of the agent's list over the section tools.
func (st *state) bind(e toolEntry) (boundTool, error) {
	t := boundTool{name: e.name, origin: e.origin, layer: e.layer, own: e.config, config: map[string]any{}}
	if t.below = st.shared(e.name); t.below != nil && t.below.value != nil {
		config, ok := t.below.value.(map[string]any)
		if !ok {
			err := &Error{Key: "tools." + t.below.key, Problem: "expected the tool's settings (key: value)"}
			err.at(t.below.origin)
			return t, err
		}
		maps.Copy(t.config, config)
	}
	for k := range e.config {
		delete(t.config, keyOf(t.config, k))
	}
	maps.Copy(t.config, e.config)
	k := keyOf(t.config, "base_class")
	if k == "" {
		return t, nil
	}
	base, ok := t.config[k].(string)
	base = base[strings.LastIndexByte(base, '.')+1:]
	if !ok || tool.PlainName(base) == "" {
		err := &Error{Key: "tools." + t.name + ".base_class", Problem: "expected the name of a tool"}
		if _, own := e.config[k]; own || t.below == nil {
			err.at(e.origin)
		} else {
			err.at(t.below.origin)
		}
		return t, err
	}
	delete(t.config, k)
	if tool.PlainName(base) != tool.PlainName(t.name) {
		t.of = base
	}
	return t, nil
}

// keyOf finds a key in any case, the same one each time; "" when there is none.
func keyOf(m map[string]any, key string) (found string) {
	if _, ok := m[key]; ok {
		return key
	}
	for k := range m {
		if strings.EqualFold(k, key) && (found == "" || k < found) {
			found = k
		}
	}
	return found
}

// tools are those of the agent: the ones that it lists, then the MCP servers
// that it has and does not list. A server that is only inherited is left to
// the search for tools where the agent may search.
func (c *Config) tools(onDemand bool) ([]boundTool, error) {
	st := c.st()
	bad := &problems{}
	_, err := st.searchLimits()
	bad.addError(err)
	servers, err := c.table(schema().mcp, "mcpServers")
	bad.addError(err)
	var out []boundTool
	listed := map[string]bool{}
	for _, e := range st.listed() {
		t, err := st.bind(e)
		bad.addError(err)
		if rest, ok := strings.CutPrefix(t.name, "mcp:"); ok {
			server, _, _ := strings.Cut(rest, "/")
			listed[server] = true
			if _, known := servers.entries[server]; !known {
				err := &Error{Key: "tools", Problem: "there is no MCP server " + shorten(printable(server), 40) + " in mcp.mcpServers", Nearest: nearest(server, servers.names)}
				err.at(t.origin)
				bad.add(err)
			}
		}
		c.complete(&t)
		out = append(out, t)
	}
	for _, name := range servers.names {
		if listed[name] || onDemand && servers.from.layer < layerAgent {
			continue
		}
		t, err := st.bind(toolEntry{name: "mcp:" + name, origin: servers.from.origin, layer: servers.from.layer})
		bad.addError(err)
		out = append(out, t)
	}
	return out, bad.err()
}

// complete gives the tools for the web what the section search says about them
// in a higher layer than their settings do.
func (c *Config) complete(t *boundTool) {
	for _, k := range []struct{ plain, key, path string }{
		{webSearch, "max_results", "search.max_results"},
		{extractPage, "content_limit", "search.content_limit"},
	} {
		s := c.setting(k.path)
		if !t.is(k.plain) || s == nil || s.layer <= t.layerOf(k.key) {
			continue
		}
		delete(t.config, keyOf(t.config, k.key))
		t.config[k.key] = s.value
	}
	if k := keyOf(t.config, "max_searches"); k != "" && t.is(webSearch) {
		t.config[k] = c.Search.MaxSearches
	}
}

// implied are the settings that follow from others.
func (st *state) implied() []setting {
	settings, _ := st.searchLimits()
	return append(settings, st.depths()...)
}

// searchLimits are the max_searches among the settings of the tool that
// searches the web: they count as search.max_searches in the same layer.
func (st *state) searchLimits() (out []setting, err error) {
	names := []toolEntry{{name: "web_search_tool"}}
	if st.ofAgent() {
		names = append(names, st.listed()...)
	}
	bad := &problems{}
	for _, e := range names {
		t, err := st.bind(e)
		if err != nil || !t.is(webSearch) {
			continue // tools reports it
		}
		if t.below != nil {
			config, _ := t.below.value.(map[string]any)
			out = limitOf(out, config, t, t.below.origin, t.below.layer, bad)
		}
		out = limitOf(out, e.config, t, e.origin, e.layer, bad)
	}
	return out, bad.err()
}

func limitOf(out []setting, config map[string]any, t boundTool, at origin, ly layer, bad *problems) []setting {
	k := keyOf(config, "max_searches")
	if k == "" || config[k] == nil {
		return out
	}
	l := schema().byPath["search.max_searches"]
	via := "tools." + t.name + "." + k
	text := fmt.Sprint(config[k])
	v, problem := l.parse(text)
	if problem != "" {
		e := &Error{Key: via, Problem: problem + ", " + l.found(text)}
		e.at(at)
		bad.add(e)
		return out
	}
	s := setting{leaf: l, value: v.Interface(), layer: ly, origin: at, via: via}
	same := func(have setting) bool { return have.origin == s.origin && have.layer == s.layer }
	if slices.ContainsFunc(out, same) {
		return out
	}
	return append(out, s)
}
