package dossier

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"dossier/event"
	"dossier/internal/config"
	"dossier/internal/store/memory"
	"dossier/internal/store/sqlite"
	"dossier/llm/llmtest"
)

// watched is a model whose callers' keys are noted.
func watched(t *testing.T, answer string) (address string, keys func() []string) {
	t.Helper()
	srv := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.Do(func(*llmtest.Request) *llmtest.Reply { return finalReply(answer) })}}})
	target, err := url.Parse(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var seen []string
	pass := httputil.NewSingleHostReverseProxy(target)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if key := r.Header.Get("Authorization"); !slices.Contains(seen, key) {
			seen = append(seen, key)
		}
		mu.Unlock()
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return web.URL, func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(seen) }
}

// An agent with a model of its own is given that one with its key, and no key is
// in anything that is kept or logged.
func TestAgentsHaveModelsOfTheirOwn(t *testing.T) {
	ours, ourKeys := watched(t, "from ours")
	theirs, theirKeys := watched(t, "from theirs")
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "config.yaml")
	const agentEntry = "base_class: ToolCallingAgent, tools: [final_answer_tool, web_search_tool: {api_key: hush-tool-key-1}], execution: {logs_dir: logs}"
	err := os.WriteFile(file, []byte("models: {default: {base_url: "+ours+"/v1, model: m, api_key: hush-our-key-1}}\n"+
		"agents:\n  plain: {"+agentEntry+"}\n  own: {llm: {base_url: "+theirs+"/v1, model: other, api_key: hush-their-key-1}, "+agentEntry+"}\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Sources{Env: []string{"HOME=" + t.TempDir(), "DOSSIER_SEARCH_ENGINES=none"}, File: file})
	if err != nil {
		t.Fatal(err)
	}
	disk, err := sqlite.Open(filepath.Join(dir, "dossier.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	e, err := assemble(cfg, site{dir: dir, log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}, disk)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	save(t, e, "stored", "base_class: ToolCallingAgent\nllm: {model: third}\ntools: [final_answer_tool]\nexecution: {logs_dir: \"\"}\n")
	var kept bytes.Buffer
	for agent, want := range map[string]string{"plain": "from ours", "own": "from theirs", "stored": "from ours"} {
		events := follow(t, e, byAgent(agent, "hello"))
		if m, _ := answerOf(events); m.Text != want {
			t.Errorf("%s: %q", agent, m.Text)
		}
		b, err := e.Export(t.Context(), events[0].Run)
		if err != nil {
			t.Fatal(err)
		}
		m, err := e.Agent(t.Context(), agent)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.NewEncoder(&kept).Encode([]any{b, string(b.Run.Request), m}); err != nil {
			t.Fatal(err)
		}
	}
	if k := ourKeys(); !slices.Equal(k, []string{"Bearer hush-our-key-1"}) {
		t.Errorf("our model was given %q", k)
	}
	if k := theirKeys(); !slices.Equal(k, []string{"Bearer hush-their-key-1"}) {
		t.Errorf("the agent's model was given %q", k)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	kept.Write(log.Bytes())
	err = fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		kept.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if text := kept.String(); strings.Contains(text, "hush-") {
		at := strings.Index(text, "hush-")
		t.Errorf("a key was kept: %q", text[max(0, at-200):min(len(text), at+50)])
	}
}

// An agent whose model can't be connected works without it, as with one that does
// not answer.
func TestAgentWhoseModelCantBeConnected(t *testing.T) {
	e := configured(t, memory.New(memory.Options{}), `models: {default: {base_url: "http://127.0.0.1:1/v1", model: m}}
agents:
  cut_off: {base_class: ToolCallingAgent, tools: [final_answer_tool], llm: {ca_file: /nowhere.pem}, execution: {logs_dir: ""}}
`)
	events := follow(t, e, byAgent("cut_off", "hello"))
	m, _ := answerOf(events)
	if last := events[len(events)-1]; last.Data != (event.RunStatus{Status: "done"}) || !m.Extractive || !strings.Contains(m.Text, "/nowhere.pem") {
		t.Errorf("%+v %q", last.Data, m.Text)
	}
	if _, err := e.Replay(t.Context(), events[0].Run); err != nil {
		t.Error(err)
	}
}

// An agent's own MCP servers are its own: others don't see them, nor does it
// those of the configuration.
func TestAgentsHaveServersOfTheirOwn(t *testing.T) {
	var mu sync.Mutex
	offered := map[string][]string{}
	model := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.Do(func(req *llmtest.Request) *llmtest.Reply {
		mu.Lock()
		defer mu.Unlock()
		for _, tool := range req.Tools {
			offered[req.Question()] = append(offered[req.Question()], tool.Name)
		}
		return finalReply("done")
	})}}})
	common, _ := toolServer(t, "common_scale")
	private, asked := toolServer(t, "private_scale")
	e := configured(t, memory.New(memory.Options{}), "models: {default: {base_url: "+model.URL()+"/v1, model: m}}\n"+
		"mcp: {mcpServers: {scale: {url: "+common+"}}}\n"+
		"agents:\n  own: {base_class: ToolCallingAgent, tools: [final_answer_tool], mcp: {mcpServers: {scale: {url: "+private+"}}}, execution: {logs_dir: \"\"}}\n"+
		"  plain: {base_class: ToolCallingAgent, tools: [final_answer_tool], execution: {logs_dir: \"\"}}\n")
	list, err := e.Tools(t.Context())
	if err != nil || slices.ContainsFunc(list.Tools, func(t ToolEntry) bool { return t.Name == "private_scale" }) {
		t.Errorf("%+v, %v", list, err)
	}
	if n := asked(); n != 0 {
		t.Errorf("the agent's server was asked %d times by others", n)
	}
	for agent, want := range map[string]string{"own": "private_scale", "plain": "common_scale"} {
		if said := answerTo(t, e, byAgent(agent, agent)); said != "done" {
			t.Errorf("%s: %q", agent, said)
		}
		found := ""
		for question, names := range offered {
			if strings.Contains(question, agent) {
				found = strings.Join(names, " ")
			}
		}
		if !strings.Contains(found, want) || strings.Contains(found, "private_scale") && strings.Contains(found, "common_scale") {
			t.Errorf("%s was offered %s", agent, found)
		}
	}
}
