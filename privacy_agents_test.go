package dossier

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dossier/event"
	"dossier/internal/a2a"
	"dossier/internal/config"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/sources"
)

// TestWhatAgentsSend holds for agents what TestWhatLeavesTheMachine holds for the
// modes: the question, and of the documents the passages that were found.
func TestWhatAgentsSend(t *testing.T) {
	dir, elsewhere := private(t)
	const question = "Who built the lighthouse of Cape Kestrel?"
	looks := llmtest.Rule{Reply: llmtest.Do(func(req *llmtest.Request) *llmtest.Reply {
		if seen := req.Messages[len(req.Messages)-1].Content; strings.Contains(seen, "1874") {
			return llmtest.Say("Thought: it is there\nFinalAnswer: Maria Lindqvist built it [1].")
		}
		return llmtest.Say("Thought: look\nAction: search {\"query\": \"who built the lighthouse\"}")
	})}
	w := startWeb(t, webtest.Options{})
	asks := func(l *listener, agents ...string) {
		e := engine(t, memory.New(memory.Options{}), onWeb(t, w, provided("openai", l.URL)))
		follow(t, e, Request{Mode: "ingest", Request: mode.Request{Question: "add", In: sources.Target{Paths: []string{dir}, Collection: "papers"}}})
		if _, err := e.UseCollection(t.Context(), "papers"); err != nil {
			t.Fatal(err)
		}
		for _, name := range agents {
			req := byAgent(name, question)
			req.NoInput = true
			follow(t, e, req)
		}
		if l.has(question) == 0 {
			t.Errorf("%q: no model saw the question", agents)
		}
		if n := l.has(elsewhere); n > 0 {
			t.Errorf("%q: a document that was not found went out %d times", agents, n)
		}
		if n := l.embedded(); n > 0 {
			t.Errorf("%q: %d calls for embeddings, which nobody configured", agents, n)
		}
	}
	own := listen(t, looks)
	asks(own, "kb_agent")
	if own.has("built in 1874") == 0 {
		t.Error("the model did not see the passage that was found")
	}
	if n, m := len(w.Searches()), len(w.Fetches()); n+m > 0 {
		t.Errorf("documents were asked, and so were engines %d and pages %d times", n, m)
	}
	var others []string
	for _, d := range agentLogs {
		others = append(others, d.agent)
	}
	asks(listen(t), others...)
}

// atOnce is an agent elsewhere that is done at once.
type atOnce struct{}

func (atOnce) Cards(context.Context) ([]a2a.Card, error) {
	return []a2a.Card{{Name: "smith", Title: "Smith", Description: "Builds things."}}, nil
}
func (atOnce) Start(context.Context, string, string, string) (string, error) { return "t1", nil }
func (atOnce) Follow(context.Context, string) iter.Seq2[a2a.Progress, error] {
	return func(yield func(a2a.Progress, error) bool) {
		yield(a2a.Progress{Agent: "smith", Session: "s", State: a2a.Done, Text: "it is built"}, nil)
	}
}
func (atOnce) Answer(context.Context, string, string) error { return nil }
func (atOnce) Cancel(context.Context, string) error         { return nil }

// TestAgentsElsewhereGetTheirMessage: "What an agent's tools are called with goes
// to the … A2A agents that you configured", and nothing else does.
func TestAgentsElsewhereGetTheirMessage(t *testing.T) {
	const secret = "The tenant pays late"
	var mu sync.Mutex
	var sent strings.Builder
	agent := a2a.Handler(atOnce{}, a2a.Options{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		sent.WriteString(r.URL.String())
		sent.Write(body)
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		agent.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	model := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{
		{ToolResults: new(int), Reply: llmtest.CallTool("agent_smith", map[string]any{"message": "build a gate"})}, {Reply: finalReply("It is built.")},
	}})
	e := configured(t, memory.New(memory.Options{}), "models: {default: {base_url: "+model.URL()+"/v1, model: m}}\n"+
		"a2a: {agents: {smith: {url: "+srv.URL+"}}}\n"+
		"agents: {boss: {base_class: ToolCallingAgent, tools: [final_answer_tool, \"a2a:smith\"], execution: {logs_dir: \"\"}}}\n")
	req := byAgent("boss", "Have the garden fenced")
	req.Context = secret
	follow(t, e, req)
	mu.Lock()
	defer mu.Unlock()
	if got := sent.String(); !strings.Contains(got, "build a gate") || strings.Contains(got, secret) || strings.Contains(got, "fenced") {
		t.Errorf("the agent got %s", got)
	}
}

// TestKeysGoToTheirEndpointOnly: "Keys are sent to their endpoint and appear in no
// log, event, error or listing", also when the endpoint repeats them.
func TestKeysGoToTheirEndpointOnly(t *testing.T) {
	const key = "sk-abcdefghijklmnop0123456789"
	dir, _ := private(t)
	w := startWeb(t, webtest.Options{})
	for name, fails := range map[string]bool{"a model that works": false, "one that repeats the key": true} {
		t.Run(name, func(t *testing.T) {
			model := llmtest.New(llmtest.Script{})
			t.Cleanup(model.Close)
			var mu sync.Mutex
			with, without := 0, 0
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				if bytes.Contains(body, []byte(key)) || strings.Contains(r.URL.String(), key) {
					t.Error("the key stands in a request's body or address")
				}
				mu.Lock()
				if r.Header.Get("Authorization") == "Bearer "+key {
					with++
				} else {
					without++
				}
				mu.Unlock()
				if fails {
					http.Error(w, `{"error":{"message":"Incorrect API key provided: `+key+`"}}`, http.StatusUnauthorized)
					return
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				r.Header.Set("Authorization", "Bearer "+llmtest.Key)
				model.ServeHTTP(w, r)
			}))
			t.Cleanup(srv.Close)
			flags := onWeb(t, w, provided("openai", srv.URL), map[string]string{"models.default.api_key": key, "log.verbose": "true"})
			cfg, err := config.Load(config.Sources{Env: []string{"HOME=" + t.TempDir()}, File: config.NoFile, Flags: flags})
			if err != nil {
				t.Fatal(err)
			}
			var logged lockedBuffer
			e, err := assemble(cfg, site{dir: filepath.Join(t.TempDir(), "data"), log: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))}, memory.New(memory.Options{}))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = e.Close() })
			var told strings.Builder
			for _, req := range []Request{ask("What is a lighthouse?"), research("Who built the lighthouse of Cape Kestrel?", dir), onTheWeb("web_search", "How long is the Keldra Bridge?"), byAgent("research_sgr_agent", "How long is the Keldra Bridge?")} {
				req.NoInput = true
				for ev, err := range e.Run(t.Context(), req) {
					if err != nil {
						told.WriteString(err.Error())
						break
					}
					raw, err := event.EncodeData(ev.Data)
					if err != nil {
						t.Fatal(err)
					}
					told.Write(raw)
				}
			}
			records, err := e.List(t.Context(), Filter{})
			if err != nil {
				t.Fatal(err)
			}
			listing, err := json.Marshal(records)
			if err != nil {
				t.Fatal(err)
			}
			if with == 0 || without > 0 {
				t.Errorf("%d requests had the key, %d had not", with, without)
			}
			for what, text := range map[string]string{"an event or error": told.String(), "the log": logged.String(), "the list of runs": string(listing)} {
				if strings.Contains(text, key) {
					t.Errorf("the key stands in %s", what)
				}
			}
			if fails && !strings.Contains(told.String(), "Incorrect API key") {
				t.Error("nothing tells that the key was refused")
			}
		})
	}
	for f := range w.Fetches() {
		if strings.Contains(f, key) {
			t.Errorf("a page was asked for with the key: %s", f)
		}
	}
}

// lockedBuffer takes lines from several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
