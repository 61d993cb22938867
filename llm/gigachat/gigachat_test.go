package gigachat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dossier/egress"
	"dossier/llm"
)

const testKey = "Y2xpZW50LWlkOmNsaWVudC1zZWNyZXQ="

// service is a GigaChat of the test's own.
type service struct {
	auths   atomic.Int32
	refuse  atomic.Int32 // so many calls are answered with 401
	expires func() int64 // in ms
	reply   string
	body    atomic.Pointer[string]
}

var uuid4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	body := string(b)
	if r.URL.Path == "/oauth" {
		if r.Header.Get("Authorization") != "Basic "+testKey || !uuid4.MatchString(r.Header.Get("RqUID")) || body != "scope=GIGACHAT_API_CORP" {
			w.WriteHeader(400)
			fmt.Fprintf(w, `{"code":4,"message":"bad %s %s %s"}`, r.Header.Get("Authorization"), r.Header.Get("RqUID"), body)
			return
		}
		fmt.Fprintf(w, `{"access_token":"token-%d-0123456789","expires_at":%d}`, s.auths.Add(1), s.expires())
		return
	}
	s.body.Store(&body)
	if want := fmt.Sprintf("Bearer token-%d-0123456789", s.auths.Load()); r.Header.Get("Authorization") != want || s.refuse.Add(-1) >= 0 {
		w.WriteHeader(401)
		fmt.Fprintf(w, `{"status":401,"message":"Token has expired: %s"}`, r.Header.Get("Authorization"))
		return
	}
	fmt.Fprint(w, s.reply)
}

func start(t *testing.T, s *service) *Client {
	t.Helper()
	if s.expires == nil {
		s.expires = func() int64 { return time.Now().Add(30 * time.Minute).UnixMilli() }
	}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	c, err := New(Config{BaseURL: srv.URL + "/api/v1", AuthURL: srv.URL + "/oauth", Key: "Basic " + testKey, Scope: "GIGACHAT_API_CORP", Model: "GigaChat-2-Max"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.cfg.HTTP.CloseIdleConnections)
	return c
}

var question = &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "привет"}}}

const called = `{"choices":[{"message":{"role":"assistant","content":"","function_call":{"name":"weather","arguments":{"place":"Москва","n": 1}},"functions_state_id":"77d3fb14"},"index":0,"finish_reason":"function_call"}],` +
	`"created":1,"model":"GigaChat-2-Max:2.0","usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"precached_prompt_tokens":4},"object":"chat.completion"}`

func TestFunctionRoundTrip(t *testing.T) {
	s := &service{reply: called}
	c := start(t, s)
	req := &llm.Request{Messages: question.Messages, Tools: []llm.Tool{{Name: "weather", Description: "d", Parameters: json.RawMessage(`{"type":"object","properties":{}}`), Strict: true}, {Name: "other"}}, MaxTokens: 9, Stop: []string{"x"}, Extra: map[string]any{"profanity_check": false}}
	resp, err := c.Stream(t.Context(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &llm.Response{Model: "GigaChat-2-Max:2.0", Finish: llm.FinishToolCalls, Usage: llm.Usage{Input: 10, Output: 5, CachedInput: 4},
		Message: llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "call_0", Name: "weather", Arguments: `{"place":"Москва","n":1}`}}, Opaque: json.RawMessage(`{"functions_state_id":"77d3fb14"}`)}}
	if !reflect.DeepEqual(resp, want) {
		t.Errorf("got  %+v\nwant %+v", resp, want)
	}
	if got, want := *s.body.Load(), `{"model":"GigaChat-2-Max","messages":[{"role":"user","content":"привет"}],"functions":[{"name":"weather","description":"d","parameters":{"type":"object","properties":{}}},`+
		`{"name":"other","parameters":{"type":"object","properties":{}}}],"function_call":"auto","max_tokens":9,"profanity_check":false}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}

	// The answer, and a turn of another provider with two calls at once.
	s.reply = `{"choices":[{"message":{"role":"assistant","content":"тепло"},"finish_reason":"stop"}]}`
	_, err = c.Stream(t.Context(), &llm.Request{Messages: []llm.Message{
		question.Messages[0], resp.Message, {Role: llm.RoleTool, ToolCallID: "call_0", Content: "+20"},
		{Role: llm.RoleAssistant, Content: "ещё", ToolCalls: []llm.ToolCall{{ID: "a", Name: "f", Arguments: "{}"}, {ID: "b", Name: "g", Arguments: `{"x`}}},
		{Role: llm.RoleTool, ToolCallID: "b", Content: `{"ok":true}`}, {Role: llm.RoleTool, ToolCallID: "a", Content: "1"},
		{Role: llm.RoleUser, Content: "ну?"},
	}, Tools: req.Tools[:1], ToolChoice: llm.ChooseRequired}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := *s.body.Load(), `{"model":"GigaChat-2-Max","messages":[{"role":"user","content":"привет"},`+
		`{"role":"assistant","content":"","function_call":{"name":"weather","arguments":{"place":"Москва","n":1}},"functions_state_id":"77d3fb14"},{"role":"function","name":"weather","content":"{\"result\":\"+20\"}"},`+
		`{"role":"assistant","content":"ещё","function_call":{"name":"f","arguments":{}}},{"role":"function","name":"f","content":"{\"result\":\"1\"}"},`+
		`{"role":"assistant","content":"","function_call":{"name":"g","arguments":{"invalid_arguments":"{\"x"}}},{"role":"function","name":"g","content":"{\"ok\":true}"},{"role":"user","content":"ну?"}],`+
		`"functions":[{"name":"weather","description":"d","parameters":{"type":"object","properties":{}}}],"function_call":{"name":"weather"}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestStream(t *testing.T) {
	s := &service{reply: `data: {"choices":[{"delta":{"content":"при","role":"assistant"},"index":0}],"created":1,"model":"GigaChat","object":"chat.completion"}` + "\n\n" +
		`data: {"choices":[{"delta":{"content":"вет"},"index":0}],"created":1,"model":"GigaChat","object":"chat.completion"}` + "\n\n" +
		`data: {"choices":[{"delta":{"content":"","function_call":{"name":"f","arguments":{"a":1}},"functions_state_id":"s1"},"index":0,"finish_reason":"function_call"}],"created":1,"model":"GigaChat","usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3},"object":"chat.completion"}` + "\n\ndata: [DONE]\n\n"}
	c := start(t, s)
	text := ""
	resp, err := c.Stream(t.Context(), question, func(ch llm.Chunk) { text += ch.Text })
	if err != nil {
		t.Fatal(err)
	}
	if m := resp.Message; text != "привет" || m.Content != text || resp.Finish != llm.FinishToolCalls || resp.Usage.Output != 2 || len(m.ToolCalls) != 1 || m.ToolCalls[0].Arguments != `{"a":1}` || !strings.Contains(string(m.Opaque), "s1") {
		t.Errorf("%q %+v", text, resp)
	}
	if !strings.HasSuffix(*s.body.Load(), `,"stream":true}`) {
		t.Error(*s.body.Load())
	}
}

func TestToken(t *testing.T) {
	t.Run("one for all", func(t *testing.T) {
		s := &service{reply: `{"data":[{"id":"GigaChat"},{"id":"GigaChat-2-Max"}]}`}
		c := start(t, s)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if got, err := c.Models(t.Context()); err != nil || len(got) != 2 {
					t.Errorf("%v, %v", got, err)
				}
			})
		}
		wg.Wait()
		if n := s.auths.Load(); n != 1 {
			t.Errorf("%d tokens for 50 calls", n)
		}
	})
	t.Run("refused once", func(t *testing.T) {
		s := &service{reply: called}
		s.refuse.Store(1)
		if _, err := start(t, s).Stream(t.Context(), question, nil); err != nil || s.auths.Load() != 2 {
			t.Errorf("%v, %d tokens", err, s.auths.Load())
		}
	})
	t.Run("refused twice", func(t *testing.T) {
		s := &service{reply: called}
		s.refuse.Store(2)
		_, err := start(t, s).Stream(t.Context(), question, nil)
		if llm.KindOf(err) != llm.ErrAuth || s.auths.Load() != 2 || strings.Contains(err.Error(), "0123456789") {
			t.Errorf("%v, %d tokens", err, s.auths.Load())
		}
	})
	t.Run("about to expire", func(t *testing.T) {
		s := &service{reply: called, expires: func() int64 { return time.Now().Add(30 * time.Second).UnixMilli() }}
		c := start(t, s)
		for range 2 {
			if _, err := c.Stream(t.Context(), question, nil); err != nil {
				t.Fatal(err)
			}
		}
		if n := s.auths.Load(); n != 2 {
			t.Errorf("%d tokens", n)
		}
	})
	t.Run("no token", func(t *testing.T) {
		s := &service{}
		c := start(t, s)
		c.tokens.form = "scope=wrong"
		_, err := c.Stream(t.Context(), question, nil)
		if llm.KindOf(err) != llm.ErrBadRequest || strings.Contains(err.Error(), testKey) {
			t.Error(err)
		}
		var e *llm.Error
		if !errors.As(err, &e) || e.Model != "GigaChat-2-Max" {
			t.Errorf("the error does not name the model: %+v", err)
		}
	})
}

// TestTokenWaiters: who waits for a token is not failed by another caller who
// gave up, and can give up alone.
func TestTokenWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Config{Key: testKey, HTTP: &http.Client{Transport: slow{}}})
		if err != nil {
			t.Fatal(err)
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		other, cancel2 := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel2()
		errs := make([]error, 3)
		var wg sync.WaitGroup
		for i, ctx := range []context.Context{impatient, other, t.Context()} {
			wg.Go(func() { _, errs[i] = c.tokens.get(ctx) })
			synctest.Wait()
		}
		wg.Wait()
		if !errors.Is(errs[0], context.DeadlineExceeded) || !errors.Is(errs[1], context.DeadlineExceeded) || errs[2] != nil {
			t.Errorf("%v", errs)
		}
	})
}

// slow answers with a token after three seconds.
type slow struct{}

func (slow) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-time.After(3 * time.Second):
	}
	body := fmt.Sprintf(`{"tok":"token","exp":%d}`, time.Now().Add(time.Hour).Unix())
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func TestFormat(t *testing.T) {
	s := &service{reply: `{"choices":[{"message":{"content":"{}"},"finish_reason":"stop"}]}`}
	c := start(t, s)
	req := &llm.Request{Messages: question.Messages, Format: &llm.Format{Schema: json.RawMessage(`{"type":"object"}`)}}
	_, err := c.Stream(t.Context(), req, nil)
	var e *llm.Error
	if !errors.As(err, &e) || e.Unsupported != "response_format" || s.auths.Load() != 0 {
		t.Errorf("%v", err)
	}
	c.cfg.Structured = true
	if _, err := c.Stream(t.Context(), req, nil); err != nil || !strings.Contains(*s.body.Load(), `"response_format":{"type":"json_schema","schema":{"type":"object"},"strict":true}`) {
		t.Errorf("%v", err)
	}
	business, err := New(Config{BaseURL: "https://api.giga.chat/v1", Key: testKey})
	if err != nil || !business.cfg.Structured {
		t.Errorf("%v, %v", business, err)
	}
}

func TestEmbed(t *testing.T) {
	s := &service{reply: `{"object":"list","data":[{"object":"embedding","embedding":[1,0],"index":0,"usage":{"prompt_tokens":6}},{"object":"embedding","embedding":[0,1],"index":1,"usage":{"prompt_tokens":4}}],"model":"Embeddings"}`}
	got, err := start(t, s).Embed(t.Context(), "", []string{"a", "b"})
	want := &llm.Embeddings{Model: "Embeddings", Vectors: [][]float32{{1, 0}, {0, 1}}, Usage: llm.Usage{Input: 10}}
	if err != nil || !reflect.DeepEqual(got, want) || *s.body.Load() != `{"model":"Embeddings","input":["a","b"]}` {
		t.Errorf("%+v, %v, %s", got, err, *s.body.Load())
	}
}

func TestConfig(t *testing.T) {
	for _, cfg := range []Config{{}, {Key: testKey, BaseURL: "x"}, {Key: testKey, AuthURL: "x"}} {
		if _, err := New(cfg); err == nil || strings.Contains(err.Error(), testKey) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	// A certificate of an authority that is not known here.
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	defer tls.Close()
	hc, err := egress.Plain(egress.PlainConfig{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{Key: testKey, BaseURL: tls.URL, AuthURL: tls.URL, HTTP: hc})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Models(t.Context()); llm.KindOf(err) != llm.ErrUnreachable || !strings.Contains(err.Error(), "CA file") {
		t.Error(err)
	}
}

// TestAWrongBaseURLIsToldAsSuch asks for an object at an address where nothing
// is: that is what the error says, not that there is no structured output.
func TestAWrongBaseURLIsToldAsSuch(t *testing.T) {
	s := &service{expires: func() int64 { return time.Now().Add(time.Hour).UnixMilli() }}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/oauth" {
			http.NotFound(w, r)
			return
		}
		s.ServeHTTP(w, r)
	}))
	defer srv.Close()
	c, err := New(Config{BaseURL: srv.URL + "/wrong", AuthURL: srv.URL + "/oauth", Key: testKey, Scope: "GIGACHAT_API_CORP", Model: "GigaChat"})
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		Text string `json:"text"`
	}
	_, _, err = llm.Object[answer](t.Context(), c, &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "q"}}}, llm.ObjectOptions{})
	if e, ok := errors.AsType[*llm.Error](err); !ok || e.Status != 404 || !strings.Contains(e.Message, "base URL") {
		t.Error(err)
	}
}
