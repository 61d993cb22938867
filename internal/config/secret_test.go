package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestNothingTells puts a secret wherever one can stand and looks for it in
// everything that a configuration can be turned into.
func TestNothingTells(t *testing.T) {
	const text = `
llm: {api_key: hush-1, proxy: "http://user:hush-2@p:1", base_url: "https://u:hush-3@h/v1?key=hush-4", extra_token: hush-5}
models: {chat: {api_key: "${KEY}", extra: {headers: {X-Key: hush-6}}}}
server: {token: NAMED_KEY}
search: {tavily_api_key: hush-9}
tools: {web: {api_key: hush-10, nested: [{password: hush-11}], url: "https://a:hush-12@b"}}
mcp: {mcpServers: {s: {url: "http://x:hush-13@h", headers: {Authorization: Bearer hush-14}, env: {A: hush-15}, args: [--token, sk-hush160123456789abcdef]}}}
agents: {a: {llm: {api_key: hush-17}, tools: [{web: {api_key: hush-18}}]}}
`
	c := mustLoad(t, Sources{Env: []string{"KEY=hush-7", "NAMED_KEY=hush-8", "ANTHROPIC_API_KEY=hush-19"}, Flags: map[string]string{"models.writer.api_key": "hush-20"}}, yamlFile(text))
	a, err := c.Agent("a")
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.WithTemplate("t", []byte("llm: {model: m}"))
	if err != nil {
		t.Fatal(err)
	}
	if k := c.Model(RoleChat).APIKey.Reveal(); k != "hush-7" {
		t.Fatalf("chat's key: %q", k)
	}
	if k := c.Server.Token.Reveal(); k != "hush-8" {
		t.Fatalf("token: %q", k)
	}
	d, err := c.Definition("a")
	if err != nil {
		t.Fatal(err)
	}
	type holder struct{ s Secret }
	for _, c := range []*Config{c, a, b} {
		subjects := []any{d, c, *c, c.Models, c.Tools, c.MCP, c.Agents, c.Model(RoleChat), c.Model(RoleWriter), c.Explain(), holder{c.Server.Token}, &holder{c.Server.Token}, []Secret{c.Server.Token}, map[string]URL{"a": c.Models.Default.Proxy}}
		for i, s := range subjects {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
				quiet(t, fmt.Sprintf("subject %d %s", i, verb), fmt.Sprintf(verb, s))
			}
			j, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			quiet(t, fmt.Sprintf("subject %d json", i), string(j))
			y, err := yaml.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			quiet(t, fmt.Sprintf("subject %d yaml", i), string(y))
			var log bytes.Buffer
			slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "s", s)
			slog.New(slog.NewTextHandler(&log, nil)).Info("x", "s", s)
			quiet(t, fmt.Sprintf("subject %d log", i), log.String())
		}
		for name, write := range map[string]func(io.Writer) error{
			"table": func(w io.Writer) error { return c.Render(w, false) },
			"all":   func(w io.Writer) error { return c.Render(w, true) },
			"key":   func(w io.Writer) error { return c.RenderKey(w, "models") },
			"mcp":   func(w io.Writer) error { return c.RenderKey(w, "mcp") },
		} {
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			quiet(t, name, out.String())
		}
		quiet(t, "notes", fmt.Sprint(c.Notes()))
	}
}

func quiet(t *testing.T, what, out string) {
	t.Helper()
	for _, form := range []string{"hush", fmt.Sprintf("%x", "hush"), "aHVza"} {
		if i := strings.Index(out, form); i >= 0 {
			t.Errorf("%s tells: …%s…", what, out[max(0, i-40):min(len(out), i+20)])
			return
		}
	}
}

func TestSecretNames(t *testing.T) {
	for name, want := range map[string]bool{
		"api_key": true, "key": true, "x-api-key": true, "token": true, "access_token": true, "password": true, "client_secret": true, "credentials": true, "authorization": true, "tavily_api_key": true, "apikey": true,
		"max_tokens": false, "token_budget": false, "keyword": false, "model": false, "monkey": false, "author": false,
	} {
		if isSecretName(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
