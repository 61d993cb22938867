package config

import (
	"strings"
	"testing"
)

func TestMCPServers(t *testing.T) {
	c := mustLoad(t, Sources{Env: []string{"HN_TOKEN=t0ken"}}, yamlFile(`
mcp:
  mcpServers:
    hn: {command: hn-mcp, args: [--stdio], env: {A: b}, search: {tool: find, topics: [discussion]}}
    far: {url: "https://mcp.example/", headers: {Authorization: "Bearer ${HN_TOKEN}"}}
    both: {url: "https://mcp.example/", command: x}
    odd: {url: [1]}
    typo: {urll: "https://mcp.example/"}
    bare:
`))
	hn, err := c.MCPServer("hn")
	if err != nil || hn.Command != "hn-mcp" || hn.Args[0] != "--stdio" || hn.Env["A"] != "b" || hn.Search.Tool != "find" || hn.Search.Topics[0] != "discussion" {
		t.Errorf("%+v, %v", hn, err)
	}
	if far, err := c.MCPServer("far"); err != nil || far.Headers["Authorization"] != "Bearer t0ken" {
		t.Errorf("%+v, %v", far, err)
	}
	for name, want := range map[string]string{
		"none": "hn, far, both, odd", "both": "c.yaml:3: mcp.mcpServers.both: it needs either url or command", "odd": "wrong kind",
		"typo": "either url or command and has urll; did you mean url?", "bare": "either url or command",
	} {
		if _, err := c.MCPServer(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
