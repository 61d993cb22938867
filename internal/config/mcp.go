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

// MCPServer returns a server of the section mcp by its name.
func (c *Config) MCPServer(name string) (MCPServer, error) {
	var section struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	raw, err := json.Marshal(map[string]any(c.MCP))
	if err == nil {
		err = json.Unmarshal(raw, &section)
	}
	if err != nil {
		return MCPServer{}, &Error{Key: "mcp", Problem: "it is not as {mcpServers: {name: {url: …}}}"}
	}
	entry, ok := section.Servers[name]
	if !ok {
		names := strings.Join(slices.Sorted(maps.Keys(section.Servers)), ", ")
		if names == "" {
			names = "none"
		}
		return MCPServer{}, &Error{Key: "mcp.mcpServers", Problem: fmt.Sprintf("there is no server %q; those there are: %s", name, names)}
	}
	var s MCPServer
	if err := json.Unmarshal(entry, &s); err != nil {
		return s, &Error{Key: "mcp.mcpServers." + name, Problem: "a value is of the wrong kind: url and command are texts, args a list, headers and env texts by name"}
	}
	if (s.URL == "") == (s.Command == "") {
		return s, &Error{Key: "mcp.mcpServers." + name, Problem: "it needs either url or command"}
	}
	return s, nil
}
