package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier"
	"dossier/internal/access"
	"dossier/internal/server"
	"dossier/internal/server/mcp"
	"dossier/internal/webtest"
	"dossier/mode"
	"dossier/reader"
	"dossier/run"
)

// TestMain makes the test binary the worker that parses documents.
func TestMain(m *testing.M) {
	reader.WorkerMain()
	os.Exit(m.Run())
}

// scripted stands for deep research: its question says what happens.
type scripted struct{ release chan struct{} }

func (scripted) Name() string  { return "deep_research" }
func (scripted) Settings() any { return nil }

func (m scripted) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	words := strings.Fields(req.Question)
	for i, word := range words {
		var err error
		switch word {
		case "ask":
			var a run.Answer
			a, err = s.Ask(ctx, run.Question{Questions: []string{"which one?"}, Options: []string{"first", "second"}})
			words[i] = "answered:" + a.Text
		case "wait":
			words[i], err = run.Step(ctx, s, "wait", func(ctx context.Context, _ *run.Scope) (string, error) {
				select {
				case <-m.release:
					return "waited", nil
				case <-ctx.Done():
					return "", context.Cause(ctx)
				}
			})
		case "fail":
			_, err = run.Step(ctx, s, "broken", func(context.Context, *run.Scope) (string, error) { return "", errors.New("it broke") })
		}
		if err != nil {
			return mode.Answer{}, err
		}
	}
	return mode.Answer{Text: strings.Join(words, " ")}, nil
}

// world is a server with a web, a folder that may be asked about, and tokens.
type world struct {
	t              *testing.T
	engine         *dossier.Engine
	public         *server.Public
	web            *webtest.Web
	release        chan struct{}
	folder         string
	ann, bob, eyes string // eyes may only look
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, release: make(chan struct{}), folder: filepath.Join(t.TempDir(), "contracts")}
	var err error
	if w.web, err = webtest.Start(webtest.Options{Slow: time.Millisecond, Loopback: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.web.Close)
	at, err := url.Parse(w.web.Searx())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(w.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.folder, "pump.md"), []byte("# The pump\n\nThe warranty of the pump lasts seven years from the day of delivery.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.engine, err = dossier.Open(t.Context(), dossier.Options{
		DataDir: t.TempDir(), Env: []string{"HOME=" + t.TempDir(), "DOSSIER_CONFIG=none"}, Modes: []mode.Mode{scripted{w.release}},
		Set: map[string]string{
			"search.engines": "searxng", "search.searxng.base_url": w.web.Searx(), "search.allow_networks": "127.0.0.0/8",
			"search.allow_ports": at.Port(), "search.page_delay": "0s", "search.browser": "false",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.engine.Close() })
	for into, token := range map[*string]dossier.Token{
		&w.ann:  {User: "ann", Scopes: []access.Scope{access.Read, access.Run, access.Tools, access.Documents}},
		&w.bob:  {User: "bob", Scopes: []access.Scope{access.Read, access.Run, access.Tools, access.Documents}},
		&w.eyes: {User: "ann", Scopes: []access.Scope{access.Read}},
	} {
		made, err := w.engine.CreateToken(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		*into = made.Text
	}
	folders, err := server.NewFolders([]string{w.folder})
	if err != nil {
		t.Fatal(err)
	}
	w.public, err = server.Listen(server.Options{
		Engine: w.engine, Version: "test", Host: "127.0.0.1", Access: server.Access{Required: true}, Policy: server.Policy{Folders: folders}, Streams: 3,
		Protocols: []server.Protocol{mcp.Protocol(mcp.Options{Version: "test"})},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.public.Close() })
	return w
}

// bearer shows a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// client is one that others have written, and what it hears.
type client struct {
	*sdk.ClientSession
	t *testing.T

	mu    sync.Mutex
	asked []string
	heard []string
	more  chan struct{} // something was heard
}

// hears waits until all of it was heard: a notification may come after the reply that
// it was sent before.
func (c *client) hears(all ...string) {
	c.t.Helper()
	for {
		c.mu.Lock()
		heard := strings.Join(c.heard, "\n")
		c.mu.Unlock()
		if !slices.ContainsFunc(all, func(text string) bool { return !strings.Contains(heard, text) }) {
			return
		}
		select {
		case <-c.more:
		case <-time.After(time.Minute):
			c.t.Fatalf("the progress: %s", heard)
		}
	}
}

// dial connects a client that speaks a version. It answers questions with answer;
// nil makes it one that can't be asked.
func (w *world) dial(token, version string, answer func(message string) *sdk.ElicitResult) *client {
	w.t.Helper()
	return connect(w.t, version, answer, &sdk.StreamableClientTransport{
		Endpoint: w.public.URL() + mcp.Path, HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1,
	})
}

func connect(t *testing.T, version string, answer func(message string) *sdk.ElicitResult, over sdk.Transport) *client {
	t.Helper()
	c := &client{t: t, more: make(chan struct{}, 1)}
	o := &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.heard = append(c.heard, req.Params.Message)
		select {
		case c.more <- struct{}{}:
		default:
		}
	}}
	if answer != nil {
		o.ElicitationHandler = func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.asked = append(c.asked, req.Params.Message)
			return answer(req.Params.Message), nil
		}
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), over, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("the version is %s, want %s", got, version)
	}
	c.ClientSession = session
	return c
}

// call calls a tool and returns its result in words and in fields.
func (c *client) call(tool string, args map[string]any) (text string, fields map[string]any) {
	c.t.Helper()
	res := c.try(tool, args, nil)
	if res.IsError {
		c.t.Fatalf("%s %v: %s", tool, args, words(res))
	}
	fields, _ = res.StructuredContent.(map[string]any)
	return words(res), fields
}

// refused calls a tool that fails and says why.
func (c *client) refused(tool string, args map[string]any) string {
	c.t.Helper()
	res := c.try(tool, args, nil)
	if !res.IsError {
		c.t.Fatalf("%s %v was done: %s", tool, args, words(res))
	}
	return words(res)
}

func (c *client) try(tool string, args map[string]any, progress any) *sdk.CallToolResult {
	c.t.Helper()
	p := &sdk.CallToolParams{Name: tool, Arguments: args}
	if progress != nil {
		p.SetProgressToken(progress)
	}
	res, err := c.CallTool(c.t.Context(), p)
	if err != nil {
		c.t.Fatalf("%s %v: %v", tool, args, err)
	}
	return res
}

func words(res *sdk.CallToolResult) string {
	var all []string
	for _, c := range res.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			all = append(all, text.Text)
		}
	}
	return strings.Join(all, "\n")
}

func accept(text string) func(string) *sdk.ElicitResult {
	return func(string) *sdk.ElicitResult {
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": text}}
	}
}
