package mcpengine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier/internal/base/mcpconn"
	"dossier/search"
	"dossier/search/searchtest"
)

// The test binary is also the program that is started as a server.
func TestMain(m *testing.M) {
	if os.Getenv("MCPENGINE_TEST_SERVER") == "" {
		os.Exit(m.Run())
	}
	os.Exit(serveStdio())
}

const key = "mcp-secret"

func TestEngine(t *testing.T) {
	searchtest.Run(t, searchtest.Spec{
		New: func(t *testing.T, base string) search.Engine {
			e := New(http.DefaultClient, Config{Name: "hn_mcp", URL: base + "/mcp", Headers: map[string]string{"Authorization": "Bearer " + key}})
			t.Cleanup(func() { _ = e.Close() })
			return e
		},
		Serve: func(w http.ResponseWriter, r *http.Request, hits []search.Hit) {
			if r.Header.Get("Authorization") != "Bearer "+key {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			stateless(answer(hits)).ServeHTTP(w, r)
		},
		Query:  asked,
		Secret: key,
	})
}

// asked returns the words of a call, and leaves the request as it was.
func asked(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var call struct {
		Method string `json:"method"`
		Params struct {
			Arguments struct {
				Query string `json:"query"`
			} `json:"arguments"`
		} `json:"params"`
	}
	_ = json.Unmarshal(body, &call)
	if call.Method != "tools/call" {
		return ""
	}
	return call.Params.Arguments.Query
}

type question struct {
	Query      string `json:"query" jsonschema:"what to look for"`
	NumResults int    `json:"num_results,omitempty"`
}

type replier func(context.Context, question) (*mcp.CallToolResult, error)

// answer replies as most servers do, with JSON in a text.
func answer(hits []search.Hit) replier {
	return func(context.Context, question) (*mcp.CallToolResult, error) {
		body, err := json.Marshal(hits)
		return says(string(body)), err
	}
}

func says(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// newServer is a server of Hacker News in the manner of those that exist.
func newServer(reply replier) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "hn", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "get_story", Description: "Get a story to search in its comments."}, func(context.Context, *mcp.CallToolRequest, struct {
		ID int `json:"id"`
	}) (*mcp.CallToolResult, any, error) {
		return says("wrong tool"), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "search_stories", Description: "Stories by words."}, func(ctx context.Context, _ *mcp.CallToolRequest, q question) (*mcp.CallToolResult, any, error) {
		result, err := reply(ctx, q)
		return result, nil, err
	})
	return s
}

func stateless(reply replier) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return newServer(reply) }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

// inMemory returns an engine with a server in this process, and the count of
// connections made.
func inMemory(t *testing.T, conf Config, server func() *mcp.Server) (*Engine, *atomic.Int32, func()) {
	t.Helper()
	var dialled atomic.Int32
	var mu sync.Mutex
	var last *mcp.ServerSession
	e := open(conf, mcpconn.Options[tool]{Transport: func() mcp.Transport {
		dialled.Add(1)
		ours, theirs := mcp.NewInMemoryTransports()
		session, err := server().Connect(context.WithoutCancel(t.Context()), theirs, nil)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		last = session
		mu.Unlock()
		return ours
	}})
	t.Cleanup(func() { _ = e.Close() })
	return e, &dialled, func() {
		mu.Lock()
		defer mu.Unlock()
		_ = last.Close()
	}
}

func TestPassesWordsAndLimit(t *testing.T) {
	var got question
	e, dialled, _ := inMemory(t, Config{Name: "m"}, func() *mcp.Server {
		return newServer(func(_ context.Context, q question) (*mcp.CallToolResult, error) {
			got = q
			return says(`{"hits":[{"url":"https://a.example/","title":"a"},{"url":"https://b.example/","title":"b"}]}`), nil
		})
	})
	hits, err := e.Search(t.Context(), search.Query{Text: "bees & honey", Limit: 1})
	if err != nil || len(hits) != 1 || got != (question{"bees & honey", 1}) {
		t.Errorf("%+v for %+v, %v", hits, got, err)
	}
	if _, err := e.Search(t.Context(), search.Query{Text: "bees"}); err != nil || got.NumResults != defaultLimit || dialled.Load() != 1 {
		t.Errorf("%+v, %v, %d connections", got, err, dialled.Load())
	}
}

func TestConnectsAgain(t *testing.T) {
	e, dialled, hangUp := inMemory(t, Config{}, func() *mcp.Server { return newServer(answer(searchtest.Samples(1))) })
	ask := func() {
		t.Helper()
		if hits, err := e.Search(t.Context(), search.Query{Text: "bees"}); err != nil || len(hits) != 1 {
			t.Fatalf("%+v, %v", hits, err)
		}
	}
	ask()
	hangUp()
	ask()
	if dialled.Load() != 2 {
		t.Errorf("%d connections", dialled.Load())
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if _, err := e.Search(t.Context(), search.Query{Text: "bees"}); search.ReasonOf(err) != search.Unreachable {
		t.Error(err)
	}
}

// A session that the server forgot, as after its restart, is made anew.
func TestSessionForgotten(t *testing.T) {
	handler := func() http.Handler {
		s := newServer(answer(searchtest.Samples(1)))
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	}
	var current atomic.Value
	current.Store(handler())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { current.Load().(http.Handler).ServeHTTP(w, r) }))
	defer server.Close()
	e := New(server.Client(), Config{URL: server.URL})
	defer e.Close()
	for range 3 {
		if hits, err := e.Search(t.Context(), search.Query{Text: "bees"}); err != nil || len(hits) != 1 {
			t.Fatalf("%+v, %v", hits, err)
		}
		current.Store(handler())
	}
}

func TestServersErrors(t *testing.T) {
	for name, c := range map[string]struct {
		result *mcp.CallToolResult
		err    error
		want   search.Reason
	}{
		"a failed tool":        {nil, errors.New("upstream is down"), search.Unavailable},
		"its own rate limit":   {nil, errors.New("Rate limit exceeded, try later"), search.RateLimited},
		"its own key":          {nil, errors.New("missing API key"), search.Unauthorized},
		"its own deadline":     {nil, errors.New("request timed out"), search.TooSlow},
		"an error of protocol": {nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no such tool"}, search.Rejected},
		"one inside":           {nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "oops"}, search.Unavailable},
		"an unmarked error":    {says("Error: 429 from upstream"), nil, search.RateLimited},
		"JSON of other things": {says(`{"unexpected":true}`), nil, search.Malformed},
		"an empty list":        {says(`{"results":[],"total":0}`), nil, ""},
		"words for nothing":    {says("No stories found for your query."), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e, _, _ := inMemory(t, Config{Name: "m"}, func() *mcp.Server {
				return newServer(func(context.Context, question) (*mcp.CallToolResult, error) { return c.result, c.err })
			})
			hits, err := e.Search(t.Context(), search.Query{Text: "bees"})
			if len(hits) > 0 || search.ReasonOf(err) != c.want || (c.want == "") != (err == nil) {
				t.Errorf("%+v, %v", hits, err)
			}
		})
	}
}

func TestToolThatNeverAnswers(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	e, _, _ := inMemory(t, Config{Name: "m"}, func() *mcp.Server {
		return newServer(func(ctx context.Context, q question) (*mcp.CallToolResult, error) {
			if q.Query == "bees" {
				cancel(context.DeadlineExceeded)
				<-ctx.Done()
			}
			return says("[]"), nil
		})
	})
	if _, err := e.Search(ctx, search.Query{Text: "bees"}); search.ReasonOf(err) != search.TooSlow {
		t.Error(err)
	}
	if _, err := e.Search(t.Context(), search.Query{Text: "others"}); err != nil {
		t.Error(err)
	}
}

// One who leaves while the server is starting does not take it from the others.
func TestOneLeavesWhileItStarts(t *testing.T) {
	starting, start := make(chan struct{}), make(chan struct{})
	e, dialled, _ := inMemory(t, Config{Name: "m"}, func() *mcp.Server {
		close(starting)
		<-start
		return newServer(answer(searchtest.Samples(1)))
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-starting
		cancel()
	}()
	if _, err := e.Search(ctx, search.Query{Text: "bees"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(start)
	if hits, err := e.Search(t.Context(), search.Query{Text: "bees"}); err != nil || len(hits) != 1 || dialled.Load() != 1 {
		t.Errorf("%+v, %v, %d connections", hits, err, dialled.Load())
	}
}

func TestHeadersStayAtHome(t *testing.T) {
	var told []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { told = append(told, r.Header.Get("X-Key")) }))
	defer other.Close()
	home := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer home.Close()
	e := New(http.DefaultClient, Config{Name: "m", URL: home.URL, Headers: map[string]string{"X-Key": key}})
	defer e.Close()
	if _, err := e.Search(t.Context(), search.Query{Text: "bees"}); err == nil {
		t.Error("it answered")
	}
	if len(told) == 0 || strings.Join(told, "") != "" {
		t.Errorf("%q", told)
	}
}

func TestAddressStaysOutOfErrors(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	defer page.Close()
	for base, want := range map[string]search.Reason{gone.URL: search.Unreachable, page.URL: search.Malformed, "http://%zz": search.Unreachable} {
		e := New(http.DefaultClient, Config{Name: "m", URL: base + "/?apiKey=" + key})
		defer e.Close()
		_, err := e.Search(t.Context(), search.Query{Text: "bees"})
		fault, ok := errors.AsType[*search.Error](err)
		if !ok || fault.Reason != want || strings.Contains(fmt.Sprintf("%+v %v", fault, fault.Err), key) {
			t.Errorf("%+v", err)
		}
	}
}

func serveStdio() int {
	if os.Getenv("MCPENGINE_TEST_SERVER") == "mute" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	}
	s := newServer(func(_ context.Context, q question) (*mcp.CallToolResult, error) {
		if q.Query == "die" {
			os.Exit(3)
		}
		if os.Getenv("SECRET_OF_OURS") != "" || os.Getenv("GIVEN") != "yes" || os.Getenv("PATH") == "" {
			return nil, errors.New("the environment is wrong")
		}
		return says(`[{"url":"https://a.example/","title":"` + q.Query + `"}]`), nil
	})
	if s.Run(context.Background(), &mcp.StdioTransport{}) != nil {
		return 1
	}
	return 0
}

func TestProgram(t *testing.T) {
	t.Setenv("SECRET_OF_OURS", "x")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := New(nil, Config{Name: "child", Command: self, Env: map[string]string{"MCPENGINE_TEST_SERVER": "1", "GIVEN": "yes"}})
	defer e.Close()
	for _, words := range []string{"bees", "die", "honey"} {
		hits, err := e.Search(t.Context(), search.Query{Text: words})
		switch {
		case words == "die" && search.ReasonOf(err) != search.Unreachable:
			t.Errorf("%+v, %v", hits, err)
		case words != "die" && (err != nil || len(hits) != 1 || hits[0].Title != words):
			t.Errorf("%s: %+v, %v", words, hits, err)
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}

	none := New(nil, Config{Name: "none", Command: self + "-that-is-not-there"})
	defer none.Close()
	if _, err := none.Search(t.Context(), search.Query{Text: "bees"}); search.ReasonOf(err) != search.Unreachable {
		t.Error(err)
	}

	mute := New(nil, Config{Name: "mute", Command: self, Env: map[string]string{"MCPENGINE_TEST_SERVER": "mute"}})
	defer mute.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := mute.Search(ctx, search.Query{Text: "bees"}); search.ReasonOf(err) != search.TooSlow {
		t.Error(err)
	}
}
