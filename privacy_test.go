package dossier

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"dossier/internal/config"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
)

// listener is a model's endpoint that keeps all that it is sent.
type listener struct {
	*httptest.Server
	mu   sync.Mutex
	sent []received
}

type received struct{ path, body string }

func listen(t *testing.T, rules ...llmtest.Rule) *listener {
	srv := llmtest.New(llmtest.Script{Rules: rules})
	l := &listener{}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		l.mu.Lock()
		l.sent = append(l.sent, received{r.URL.Path, string(body)})
		l.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		srv.ServeHTTP(w, r)
	}))
	t.Cleanup(l.Close)
	t.Cleanup(srv.Close)
	return l
}

// has says to how many requests a text went.
func (l *listener) has(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, r := range l.sent {
		if strings.Contains(r.body, text) {
			n++
		}
	}
	return n
}

// embedded counts the calls for embeddings.
func (l *listener) embedded() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, r := range l.sent {
		if strings.Contains(r.path, "embed") {
			n++
		}
	}
	return n
}

// provided is the configuration of a provider with an address and a key, and
// nothing else.
func provided(provider, url string) map[string]string {
	flags := map[string]string{"models.default.provider": provider, "models.default.base_url": url + "/v1", "models.default.api_key": llmtest.Key, "models.default.model": "m"}
	switch provider {
	case "anthropic":
		flags["models.default.base_url"] = url
	case "gigachat":
		flags["models.default.base_url"], flags["models.default.auth_url"] = url+"/api/v1", url+"/api/v2/oauth"
	}
	return flags
}

var providers = []string{"openai", "anthropic", "gigachat", "aliyun", "openrouter", "deepseek", "ollama", "lmstudio", "vllm", "openai-compatible"}

// private is a folder with a document that answers, and one that has nothing to
// do with any question.
func private(t *testing.T) (dir, elsewhere string) {
	t.Helper()
	dir, elsewhere = filepath.Join(t.TempDir(), "papers"), "Tulips bloom yearly near Haarlem"
	for name, text := range map[string]string{
		"lighthouse.md": "# Lighthouse\n\nThe lighthouse of Cape Kestrel was built in 1874 by Maria Lindqvist.\n", "garden.md": "# Garden\n\n" + elsewhere + ".\n",
	} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, elsewhere
}

// TestWhatLeavesTheMachine holds the section of that name in the README, for
// every provider and mode: "Requests to the models that you configured: the
// question, what was piped in, the last messages of the conversation, and in
// research the passages that were found".
func TestWhatLeavesTheMachine(t *testing.T) {
	dir, elsewhere := private(t)
	const question, material = "Who built the lighthouse of Cape Kestrel?", "Maria had a sister in Bergen."
	for _, provider := range providers {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			l := listen(t)
			e := engine(t, memory.New(memory.Options{}), provided(provider, l.URL))
			asked := ask(question)
			asked.Context = material
			follow(t, e, asked)
			if l.has(question) == 0 || l.has(material) == 0 {
				t.Error("the chat model was not asked")
			}
			for _, mode := range []string{"web_search", "deep_search", "quality", "ingest"} {
				req := research(question, dir)
				req.Mode = mode
				follow(t, e, req)
			}
			if l.has("built in 1874") == 0 {
				t.Error("no model saw the passage that was found")
			}
			if n := l.has(elsewhere); n > 0 {
				t.Errorf("a document that was not found went out %d times", n)
			}
			if n := l.embedded(); n > 0 {
				t.Errorf("%d calls for embeddings, which nobody configured", n)
			}
		})
	}
}

// TestAnEmbedderIsNamed: "A model for embeddings, which only you configure, gets
// the text of every document that is read into a collection".
func TestAnEmbedderIsNamed(t *testing.T) {
	dir, elsewhere := private(t)
	for name, set := range map[string]map[string]string{
		"by its model": {"models.embeddings.model": "vectors"}, "by its provider": {"models.embeddings.provider": "openai"},
	} {
		l := listen(t)
		flags := provided("openai", l.URL)
		maps.Copy(flags, set)
		if name == "by its provider" {
			flags["models.embeddings.base_url"] = l.URL + "/v1"
		}
		e := engine(t, memory.New(memory.Options{}), flags)
		follow(t, e, research("Who built the lighthouse of Cape Kestrel?", dir))
		if l.embedded() == 0 || l.has(elsewhere) == 0 {
			t.Errorf("%s: the embedder got %d calls", name, l.embedded())
		}
	}
}

// TestConversationsGoToTheModel: "the last messages of the conversation", to the
// model and not to the engines.
func TestConversationsGoToTheModel(t *testing.T) {
	const said = "My sister Berit has the keys."
	w := startWeb(t, webtest.Options{})
	l := listen(t)
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, provided("openai", l.URL)))
	first := follow(t, e, ask(said))
	again := onTheWeb("web_search", "How long is the Keldra Bridge?")
	again.Session = first[0].Session
	follow(t, e, again)
	if l.has(said) < 2 {
		t.Errorf("the model saw what was said before in %d requests", l.has(said))
	}
	for _, q := range w.Searches() {
		if strings.Contains(q, "Berit") {
			t.Errorf("an engine was asked for %q", q)
		}
	}
}

// TestTheWebIsAskedOnlyWhenItIs: "When the web is asked: queries to the engines and
// requests to the pages that they found. `search.engines: [none]` keeps it all
// here." Nothing else goes out: "No telemetry, no update check. Proxy variables of
// the environment are not read".
func TestTheWebIsAskedOnlyWhenItIs(t *testing.T) {
	var strangers atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		strangers.Add(1)
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(proxy.Close)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	dir, _ := private(t)
	w := startWeb(t, webtest.Options{})
	l := listen(t)
	for name, flags := range map[string]map[string]string{
		"with a model": onWeb(t, w, provided("openai", l.URL)), "without": onWeb(t, w), "no engines": {"search.engines": "none"},
	} {
		e := engine(t, memory.New(memory.Options{}), flags)
		for _, mode := range []string{"web_search", "deep_search", "quality", "ingest"} {
			req := research("Who built the lighthouse of Cape Kestrel?", dir)
			req.Mode = mode
			follow(t, e, req)
		}
		if n, m := len(w.Searches()), len(w.Fetches()); n+m > 0 {
			t.Errorf("%s: a folder was asked, and so were engines %d and pages %d times", name, n, m)
		}
	}
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w))
	follow(t, e, onTheWeb("web_search", "How long is the Keldra Bridge?"))
	if len(w.Searches()) == 0 || len(w.Fetches()) == 0 {
		t.Error("the web was not asked")
	}
	for _, q := range w.Searches() {
		if !strings.Contains(q, "Keldra") {
			t.Errorf("an engine was asked for %q", q)
		}
	}
	if n := strangers.Load(); n > 0 {
		t.Errorf("the proxy of the environment was asked %d times", n)
	}
}

// TestToolsOfServersGetTheirArguments: "What an agent's tools are called with goes
// to the MCP servers … that you configured", and nothing else does.
func TestToolsOfServersGetTheirArguments(t *testing.T) {
	const secret = "The tenant pays late"
	var mu sync.Mutex
	var sent strings.Builder
	scale, _ := toolServer(t, "weigh_parcel")
	there, err := url.Parse(scale)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(there) }}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		sent.Write(body)
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	model := llmtest.Start(t, callsThen("weigh_parcel"))
	flags := connected(model)
	file := filepath.Join(t.TempDir(), "config.yaml")
	write(t, file, "mcp: {mcpServers: {scale: {url: '"+srv.URL+"'}}}\nagents: {weigher: {base_class: ToolCallingAgent, tools: [final_answer_tool, 'mcp:scale'], execution: {logs_dir: ''}}}\n")
	cfg, err := config.Load(config.Sources{File: file, Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	e, err := assemble(cfg, site{dir: t.TempDir()}, memory.New(memory.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	req := byAgent("weigher", "Weigh the parcel on the scale")
	req.Context = secret
	follow(t, e, req)
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(sent.String(), `"weigh_parcel"`) || strings.Contains(sent.String(), secret) || strings.Contains(sent.String(), "on the scale") {
		t.Errorf("the server got %s", sent.String())
	}
}
