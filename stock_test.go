package dossier

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier/agent"
	"dossier/event"
	"dossier/internal/config"
	"dossier/internal/fleet"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/llm/llmtest"
	"dossier/tool"
	"dossier/tool/stock"
)

// configured is an engine with a configuration file.
func configured(t *testing.T, s store.Store, file string) *Engine {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Sources{Env: []string{"HOME=" + t.TempDir(), "DOSSIER_SEARCH_ENGINES=none"}, File: path})
	if err != nil {
		t.Fatal(err)
	}
	e, err := assemble(cfg, site{dir: t.TempDir()}, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// toolServer is an MCP server over HTTP with tools of these names.
func toolServer(t *testing.T, names ...string) (url string, asked func() int) {
	t.Helper()
	srv := mcp.NewServer(&mcp.Implementation{Name: "tools", Version: "1"}, nil)
	for _, name := range names {
		mcp.AddTool(srv, &mcp.Tool{Name: name, Description: "Weighs a parcel on the scale, tool " + name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "3 kg"}}}, nil, nil
		})
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, nil)
	var mu sync.Mutex
	n := 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n++
		mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	return web.URL, func() int { mu.Lock(); defer mu.Unlock(); return n }
}

// silentServer takes requests and never answers.
func silentServer(t *testing.T) (url string) {
	t.Helper()
	over := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(web.Close)
	t.Cleanup(func() { close(over) })
	return web.URL
}

// A server that never answers holds up nobody who does not need it.
func TestSilentServerBlocksNobody(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var offered []string
	model := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.Do(func(req *llmtest.Request) *llmtest.Reply {
		mu.Lock()
		defer mu.Unlock()
		for _, tool := range req.Tools {
			offered = append(offered, tool.Name)
		}
		return finalReply("3 kg")
	})}}})
	good, _ := toolServer(t, "weigh_parcel")
	silent := silentServer(t)
	e := configured(t, memory.New(memory.Options{}), "models: {default: {base_url: "+model.URL()+"/v1, model: m}}\n"+
		"mcp: {mcpServers: {good: {url: "+good+"}, silent: {url: "+silent+"}}}\n"+
		"a2a: {agents: {mute: {url: "+silent+"}}}\n")
	e.agency.Stock.Patience = stock.Patience{First: 4 * time.Second, More: time.Millisecond} // enough for one that answers
	save(t, e, "finder", "base_class: ToolCallingAgent\ntools: [final_answer_tool]\ntool_search: {on_demand: true}\nexecution: {logs_dir: \"\"}\n")
	var trouble []string
	for _, ev := range follow(t, e, byAgent("finder", "Weigh the parcel on the scale")) {
		if why, ok := ev.Data.(event.RunError); ok {
			trouble = append(trouble, why.Message)
		}
	}
	if !slices.Contains(offered, "weigh_parcel") {
		t.Errorf("offered: %q", offered)
	}
	if all := strings.Join(trouble, "\n"); !strings.Contains(all, "silent: it has not answered") || !strings.Contains(all, "mute: it has not answered") || strings.Contains(all, "good") {
		t.Errorf("%s", all)
	}
	// While it is being waited for, others get what there is, and a server that
	// says that its tools are others is heard.
	e.agency.Stock.Changed("good")
	if found, err := e.agency.Stock.Select(t.Context(), "weigh a parcel", &tool.Set{}, agent.ToolSearch{OnDemand: true, K: 3}); err != nil || !slices.Contains(found, "weigh_parcel") {
		t.Errorf("%q, %v", found, err)
	}
	if err := e.Close(); err != nil { // which does not wait for it either
		t.Error(err)
	}
}

// A template whose tools have gone says so, in the directory and when it is run.
func TestTemplateWhoseToolsAreGone(t *testing.T) {
	model := llmtest.Start(t, parrot())
	good, asked := toolServer(t, "weigh_parcel")
	disk := &kept{memory.New(memory.Options{})}
	const models = "models: {default: {base_url: URL/v1, model: m}}\n"
	plain := strings.Replace(models, "URL", model.URL(), 1)
	e := configured(t, disk, plain+"mcp: {mcpServers: {good: {url: "+good+"}}}\n")
	save(t, e, "scales", "base_class: ToolCallingAgent\ntools: [final_answer_tool, \"mcp:good/weigh_parcel\"]\nexecution: {logs_dir: \"\"}\n")
	save(t, e, "wrong", "base_class: ToolCallingAgent\ntools: [final_answer_tool, \"mcp:good/weigh_elephant\"]\nexecution: {logs_dir: \"\"}\n")
	if _, err := e.RegisterInstance(t.Context(), fleet.Instance{Template: "scales", Name: "w"}); err != nil {
		t.Fatal(err)
	}
	if n := asked(); n != 0 {
		t.Errorf("the server was asked %d times before anybody needed it", n)
	}
	said := false
	for _, ev := range follow(t, e, byAgent("wrong", "canary-1-1")) {
		if why, ok := ev.Data.(event.RunError); ok && strings.Contains(why.Message, "weigh_elephant") {
			said = true
		}
	}
	if !said {
		t.Error("nobody said that the server has no such tool")
	}
	_ = e.Close()
	e = configured(t, disk, plain)
	all, err := e.Agents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(a AgentEntry) bool { return a.Name == "scales" })
	if at < 0 || !strings.Contains(all[at].Trouble, "good") {
		t.Errorf("%+v", all)
	}
	for _, req := range []Request{byAgent("scales", "x"), job("x")} {
		if _, err := e.Start(t.Context(), req); err == nil || !strings.Contains(err.Error(), "good") {
			t.Errorf("%v", err)
		}
	}
}

// Whoever lists runs or answers without tools waits for none of them: nothing is
// asked, started or put into the catalog.
func TestNobodyIsAskedWithoutNeed(t *testing.T) {
	url, asked := toolServer(t, "weigh_parcel")
	model := llmtest.Start(t, parrot())
	started := filepath.Join(t.TempDir(), "started")
	e := configured(t, memory.New(memory.Options{}), "models: {default: {base_url: "+model.URL()+"/v1, model: m}}\n"+
		"mcp: {mcpServers: {good: {url: "+url+"}, program: {command: touch, args: ["+started+"]}}}\na2a: {agents: {other: {url: "+url+"}}}\n")
	save(t, e, "parrot", parrotTemplate)
	if _, err := e.List(t.Context(), Filter{}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Agents(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	filled := e.agency.Stock.Catalog.Tools(t.Context())
	if _, err := os.Stat(started); err == nil || asked() != 0 || len(filled) > 0 {
		t.Errorf("asked %d times, %d tools in the catalog", asked(), len(filled))
	}
}
