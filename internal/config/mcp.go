package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MCPServer is how a server of the section mcp is reached.
type MCPServer struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	// Search says which of its tools is a search engine, for a server that is
	// named in search.mcp_servers; empty finds one.
	Search MCPSearch `json:"search"`
}

// MCPSearch is a tool that searches.
type MCPSearch struct {
	Tool   string   `json:"tool"`
	Query  string   `json:"query"` // argument
	Limit  string   `json:"limit"` // argument
	Topics []string `json:"topics"`
}

// MCPServers are the names of the servers of the section mcp, in the order in
// which the file has them.
func (c *Config) MCPServers() ([]string, error) {
	t, err := c.table(schema().mcp, "mcpServers")
	return t.names, err
}

// MCPServer returns a server of the section mcp by its name.
func (c *Config) MCPServer(name string) (MCPServer, error) {
	var s MCPServer
	t, err := c.table(schema().mcp, "mcpServers")
	if err == nil {
		err = t.decode(name, &s, "server", "url and command are texts, args a list, headers and env texts by name")
	}
	if err != nil {
		return MCPServer{}, err
	}
	if (s.URL == "") == (s.Command == "") {
		err := &Error{Key: "mcp.mcpServers." + name, Problem: "it needs either url or command"}
		err.at(t.from.origin)
		keys, _ := t.entries[name].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if near := nearest(key, []string{"url", "command"}); near != "" && near != key {
				err.Problem, err.Nearest = err.Problem+" and has "+shorten(printable(key), 40), near
			}
		}
		return s, err
	}
	return s, nil
}

// RemoteAgent is an agent of another server, reached over A2A.
type RemoteAgent struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
}

// RemoteAgents are the names of the agents of the section a2a, in the order in
// which the file has them.
func (c *Config) RemoteAgents() ([]string, error) {
	t, err := c.table(schema().a2a, "agents")
	return t.names, err
}

// RemoteAgent returns an agent of the section a2a by its name.
func (c *Config) RemoteAgent(name string) (RemoteAgent, error) {
	var a RemoteAgent
	t, err := c.table(schema().a2a, "agents")
	if err == nil {
		err = t.decode(name, &a, "agent", "url is a text, headers texts by name")
	}
	if err != nil {
		return RemoteAgent{}, err
	}
	var address URL
	if err := address.UnmarshalText([]byte(a.URL)); err != nil || address == "" {
		return a, &Error{Key: "a2a.agents." + name, Problem: "it needs a url such as https://host/"}
	}
	return a, nil
}

// table is the entry of a free section that names things.
type table struct {
	path    string
	entries map[string]any
	names   []string // in the order of the file
	from    *setting // nil: nothing was said
}

// table finds the entry in any case; of several the highest layer counts.
func (c *Config) table(l *leaf, key string) (table, error) {
	t := table{path: l.path + "." + key}
	for i := c.st().last[l.id]; i >= 0; i = c.st().settings[i].prev {
		s := &c.st().settings[i]
		if t.from != nil || s.value == nil || !strings.EqualFold(s.key, key) {
			continue
		}
		t.from = s
		entries, ok := s.value.(map[string]any)
		if !ok {
			return table{}, &Error{File: s.origin.name, Line: s.origin.line, Key: t.path, Problem: "it is not as {name: {url: …}}"}
		}
		t.entries, t.names = entries, s.order
	}
	return t, nil
}

// decode reads one entry of the table into out.
func (t table) decode(name string, out any, what, kinds string) error {
	entry, ok := t.entries[name]
	if !ok {
		names := strings.Join(t.names, ", ")
		if names == "" {
			names = "none"
		}
		return &Error{Key: t.path, Problem: fmt.Sprintf("there is no %s %q; those there are: %s", what, name, names)}
	}
	raw, err := json.Marshal(entry)
	if err == nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		return &Error{Key: t.path + "." + name, Problem: "a value is of the wrong kind: " + kinds}
	}
	return nil
}
