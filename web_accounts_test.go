package dossier

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"dossier/event"
	"dossier/internal/config"
	"dossier/internal/store/memory"
)

// accountServer stands for Tavily, Brave and Perplexity, finds nothing, and
// notes how it was asked.
type accountServer struct {
	*httptest.Server

	mu    sync.Mutex
	asked []string
}

func startAccounts(t *testing.T) *accountServer {
	t.Helper()
	s := &accountServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, fmt.Sprintf("%s %s %s%s", r.Method, r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("X-Subscription-Token")))
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"type":"search","results":[],"web":{"results":[]}}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// TestKeysOfTools runs an agent with configurations of other systems: the engine
// that the agent's tool names is asked with the key that stands in its settings,
// and nothing that is told or kept repeats the key.
func TestKeysOfTools(t *testing.T) {
	const (
		key        = "hush-5ea1ed-key"
		tavily     = "POST /search Bearer " + key
		brave      = "GET /res/v1/web/search " + key
		perplexity = "POST /search Bearer " + key
		agentUses  = "\nagents: {a: {base_class: RuleBasedAgent, tools: [web_search_tool, final_answer_tool]}}"
	)
	for name, c := range map[string]struct{ text, want string }{
		"search": {"search: {tavily_api_key: KEY, tavily_api_base_url: URL, engines: [tavily]}" + agentUses, tavily},
		"tavily": {"tools: {web_search_tool: {engine: tavily, api_key: KEY, api_base_url: URL}}" + agentUses, tavily},
		"brave": {
			"tools: {web_search_tool: {engine: brave, api_key: KEY, api_base_url: URL/res/v1/web/search}}" + agentUses, brave,
		},
		"perplexity": {"tools: {web_search_tool: {engine: perplexity, api_key: KEY, api_base_url: URL/search}}" + agentUses, perplexity},
		"reader": {
			"tools: {web_search_tool: {engine: tavily}, extract_page_content_tool: {tavily_api_key: KEY, tavily_api_base_url: URL}}" + agentUses, tavily,
		},
		"agent": {
			"agents: {a: {base_class: RuleBasedAgent, tools: [{web_search_tool: {engine: perplexity, api_key: KEY, api_base_url: URL}}, final_answer_tool]}}", perplexity,
		},
		"second name": {
			"tools: {fast: {base_class: WebSearchTool, engine: brave, api_key: KEY, api_base_url: URL}}\n" +
				"agents: {a: {base_class: RuleBasedAgent, tools: [fast, final_answer_tool]}}", brave,
		},
		"search before tools": {
			"search: {brave: {api_key: KEY, base_url: URL}}\ntools: {web_search_tool: {engine: brave, api_key: other, api_base_url: 'http://127.0.0.1:1'}}" + agentUses, brave,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := startAccounts(t)
			dir := t.TempDir()
			file := filepath.Join(dir, "config.yaml")
			text := strings.NewReplacer("KEY", key, "URL", s.URL).Replace(c.text)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, err := config.Load(config.Sources{Env: []string{"HOME=" + dir}, File: file, Flags: map[string]string{"search.browser": "false"}})
			if err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			e, err := assemble(cfg, site{dir: dir, log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}, memory.New(memory.Options{}))
			if err != nil {
				t.Fatal(err)
			}
			id, events := converse(t, e, byAgent("a", "How long is the Keldra Bridge?"), "no")
			kept, err := e.Show(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			if slices.Sort(s.asked); len(slices.Compact(s.asked)) != 1 || s.asked[0] != c.want {
				t.Errorf("asked %q, not %q", s.asked, c.want)
			}
			told := &strings.Builder{}
			for _, ev := range events {
				data, err := event.EncodeData(ev.Data)
				if err != nil {
					t.Fatal(err)
				}
				told.Write(data)
			}
			fmt.Fprintf(told, "%+v %s", kept, &log)
			for _, step := range kept.Steps {
				fmt.Fprintf(told, "%+v %s", step, step.Key)
			}
			if strings.Contains(told.String(), key) {
				t.Error("the key is told")
			}
		})
	}
}

// TestEngineOfTool holds what a tool's settings may name as its engine to the
// engines that there are, whether or not they are set up.
func TestEngineOfTool(t *testing.T) {
	for set, text := range map[string]string{
		"set up": "search: {engines: [perplexity], perplexity: {api_key: k}}\n", "not set up": "search: {engines: [perplexity]}\n",
	} {
		file := filepath.Join(t.TempDir(), "config.yaml")
		text += "agents: {good: {tools: [{web_search_tool: {engine: Perplexity}}]}, bad: {tools: [{web_search_tool: {engine: altavista}}]}}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := config.Load(config.Sources{File: file})
		if err != nil {
			t.Fatal(err)
		}
		e, err := assemble(cfg, site{dir: t.TempDir()}, memory.New(memory.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		if _, err := e.agency.Member(t.Context(), "good"); err != nil {
			t.Errorf("%s: %v", set, err)
		}
		if _, err := e.agency.Member(t.Context(), "bad"); err == nil || !strings.Contains(err.Error(), "altavista") {
			t.Errorf("%s: %v", set, err)
		}
	}
}

// TestAnEngineThatRepeatsItsKey refuses the key in words that hold it: neither
// what is told nor what is kept or exported does.
func TestAnEngineThatRepeatsItsKey(t *testing.T) {
	const key = "hush-5ea1ed-key"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"detail":{"error":"the key %s is not known, %s"}}`, key, r.Header.Get("Authorization"))
	}))
	t.Cleanup(srv.Close)
	e := engine(t, memory.New(memory.Options{}), map[string]string{
		"search.engines": "tavily", "search.tavily_api_key": key, "search.tavily_api_base_url": srv.URL, "search.browser": "false",
	})
	events := follow(t, e, onTheWeb("web_search", "How long is the Keldra Bridge?"))
	told := &strings.Builder{}
	for _, ev := range events {
		data, err := event.EncodeData(ev.Data)
		if err != nil {
			t.Fatal(err)
		}
		told.Write(data)
	}
	bundle, err := e.Export(t.Context(), events[0].Run)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := json.Marshal(bundle)
	if err != nil {
		t.Fatal(err)
	}
	told.Write(kept)
	if !strings.Contains(told.String(), "is not known") {
		t.Errorf("what the engine said is lost: %s", told)
	}
	if strings.Contains(told.String(), key) {
		t.Errorf("the key is told: %s", told)
	}
}
