package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dossier/llm"
)

func TestRequestBody(t *testing.T) {
	half := 0.5
	for _, tc := range []struct {
		name   string
		req    llm.Request
		q      quirks
		stream bool
		want   string
	}{
		{"small", llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi \"you\"\n"}}}, quirks{}, false,
			`{"model":"m","messages":[{"role":"user","content":"hi \"you\"\n"}]}`},
		{"everything", llm.Request{
			Messages: []llm.Message{
				{Role: llm.RoleSystem, Content: "s"},
				{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "1", Name: "f", Arguments: `{"a":1}`}}, Reasoning: "hm"},
				{Role: llm.RoleTool, ToolCallID: "1", Content: "r", Name: "f"},
			},
			Tools:      []llm.Tool{{Name: "f", Description: "d", Parameters: json.RawMessage(`{"type":"object","additionalProperties":false}`), Strict: true}, {Name: "g"}},
			ToolChoice: "f", Format: &llm.Format{Name: "n", Schema: json.RawMessage(`{"type":"object","additionalProperties":false}`)},
			MaxTokens: 7, Temperature: &half, Stop: []string{"x", "y"}, Extra: map[string]any{"top_p": 0.9, "a": []int{1}, "model": "never", "stream": false},
		}, quirks{maxTokens: maxTokens}, true,
			`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},` +
				`{"role":"tool","content":"r","name":"f","tool_call_id":"1"}],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","additionalProperties":false},"strict":true}},` +
				`{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}],"tool_choice":{"type":"function","function":{"name":"f"}},` +
				`"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object","additionalProperties":false}}},"max_tokens":7,"temperature":0.5,"stop":["x","y"],"a":[1],"top_p":0.9,"stream":true,"stream_options":{"include_usage":true}}`},
		{"learned", llm.Request{Messages: []llm.Message{{Role: llm.RoleAssistant, Content: "c", Reasoning: "r"}}, MaxTokens: 7, Format: &llm.Format{}},
			quirks{maxTokens: maxCompletionTokens, noUsage: true, wantReasoning: true}, true,
			`{"model":"m","messages":[{"role":"assistant","content":"c","reasoning_content":"r"}],"response_format":{"type":"json_object"},"max_completion_tokens":7,"stream":true}`},
		{"extra wins over a known field", llm.Request{Temperature: &half, Extra: map[string]any{"temperature": 1}}, quirks{}, false, `{"model":"m","messages":[],"temperature":1}`},
	} {
		got, err := appendRequest(nil, "m", tc.q, &tc.req, tc.stream)
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", tc.name, err, got, tc.want)
		}
	}
	_, err := serve(t, "", "{}").Stream(t.Context(), &llm.Request{Extra: map[string]any{"f": func() {}}}, nil)
	if llm.KindOf(err) != llm.ErrBadRequest {
		t.Errorf("an extra parameter that is no JSON: %v", err)
	}
}

func TestHTTPErrors(t *testing.T) {
	in30 := time.Now().Add(30 * time.Second).UTC().Format(http.TimeFormat)
	for _, tc := range []struct {
		name        string
		status      int
		header      string
		body        string
		kind        llm.ErrorKind
		retry       time.Duration
		unsupported string
	}{
		{"rate limit", 429, "Retry-After: 7", `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`, llm.ErrRateLimited, 7 * time.Second, ""},
		{"rate limit, fraction", 429, "Retry-After: 1.5", `{}`, llm.ErrRateLimited, 1500 * time.Millisecond, ""},
		{"rate limit, milliseconds", 429, "Retry-After-Ms: 250|Retry-After: 9", `{}`, llm.ErrRateLimited, 250 * time.Millisecond, ""},
		{"rate limit, date", 429, "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT|Date: Sun, 06 Nov 1994 08:49:30 GMT", `{}`, llm.ErrRateLimited, 7 * time.Second, ""},
		{"rate limit, past date", 429, "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT", `{}`, llm.ErrRateLimited, 0, ""},
		{"rate limit, absurd", 429, "Retry-After: 99999999999", `{}`, llm.ErrRateLimited, 24 * time.Hour, ""},
		{"rate limit, reset of what is spent", 429, "X-Ratelimit-Reset-Requests: 6m0s|X-Ratelimit-Remaining-Requests: 10|X-Ratelimit-Reset-Tokens: 20ms|X-Ratelimit-Remaining-Tokens: 0", `{}`, llm.ErrRateLimited, 20 * time.Millisecond, ""},
		{"rate limit, reset", 429, "X-Ratelimit-Reset-Requests: 2s", `{}`, llm.ErrRateLimited, 2 * time.Second, ""},
		{"rate limit, in words", 429, "", `{"error":{"message":"Rate limit reached. Please try again in 1.2s. Visit …"}}`, llm.ErrRateLimited, 1200 * time.Millisecond, ""},
		{"rate limit, in other words", 429, "", `{"error":{"message":"Requests exceeded. Please retry after 20 seconds."}}`, llm.ErrRateLimited, 20 * time.Second, ""},
		{"rate limit, Google", 429, "", `[{"error":{"code":429,"message":"Resource exhausted","details":[{"retryDelay": "28s"}]}}]`, llm.ErrRateLimited, 28 * time.Second, ""},
		{"throttled, not too long", 429, "", `{"message":"Too many tokens, please wait before trying again."}`, llm.ErrRateLimited, 0, ""},
		{"something else not found", 400, "", `{"error":{"message":"tool_call_id call_1 not found in the messages given to the model"}}`, llm.ErrBadRequest, 0, ""},
		{"too large for the limit", 429, "", `{"error":{"message":"Request too large for gpt-4 on tokens per min (TPM): Limit 10000, Requested 20000."}}`, llm.ErrTooLong, 0, ""},
		{"quota", 429, "Retry-After: 7", `{"error":{"message":"You exceeded your current quota, please check your plan","type":"insufficient_quota","code":"insufficient_quota"}}`, llm.ErrQuota, 0, ""},
		{"payment", 402, "", `{"error":{"message":"Insufficient Balance"}}`, llm.ErrQuota, 0, ""},
		{"key", 401, "", `{"error":{"message":"Incorrect API key provided"}}`, llm.ErrAuth, 0, ""},
		{"forbidden", 403, "", `forbidden`, llm.ErrAuth, 0, ""},
		{"key, Google", 400, "", `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, llm.ErrAuth, 0, ""},
		{"no model, OpenAI", 404, "", `{"error":{"message":"The model 'x' does not exist or you do not have access to it.","code":"model_not_found"}}`, llm.ErrNoModel, 0, ""},
		{"no model, Ollama", 404, "", `{"error":{"message":"model \"x\" not found, try pulling it first","type":"api_error"}}`, llm.ErrNoModel, 0, ""},
		{"no model, DeepSeek", 400, "", `{"error":{"message":"Model Not Exist"}}`, llm.ErrNoModel, 0, ""},
		{"no model, OpenRouter", 400, "", `{"error":{"message":"x is not a valid model ID","code":400}}`, llm.ErrNoModel, 0, ""},
		{"no such page", 404, "", `404 page not found`, llm.ErrBadRequest, 0, ""},
		{"too long, OpenAI", 400, "", `{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`, llm.ErrTooLong, 0, ""},
		{"too long, vLLM", 400, "", `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","code":400}`, llm.ErrTooLong, 0, ""},
		{"too long, llama.cpp", 400, "", `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_ctx":4096}}`, llm.ErrTooLong, 0, ""},
		{"too long, Ollama", 500, "", `{"error":"input length exceeds the context length"}`, llm.ErrTooLong, 0, ""},
		{"too long, Mistral", 400, "", `{"object":"error","message":"Prompt contains 40000 tokens, too large for model with 32768 maximum context length","type":"invalid_request_error"}`, llm.ErrTooLong, 0, ""},
		{"too long, DashScope", 400, "", `{"error":{"message":"Range of input length should be [1, 30720]","type":"invalid_request_error"}}`, llm.ErrTooLong, 0, ""},
		{"too long, size", 413, "", `Payload Too Large`, llm.ErrTooLong, 0, ""},
		{"response_format", 400, "", `{"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.","param":"response_format"}}`, llm.ErrBadRequest, 0, "response_format"},
		{"json_schema, DeepSeek", 400, "", `{"error":{"message":"This response_format type is unavailable now"}}`, llm.ErrBadRequest, 0, "response_format"},
		{"tools, Ollama", 400, "", `{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools"}}`, llm.ErrBadRequest, 0, "tools"},
		{"tools, vLLM", 400, "", `{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}`, llm.ErrBadRequest, 0, "tools"},
		{"tools, OpenRouter", 404, "", `{"error":{"message":"No endpoints found that support tool use.","code":404}}`, llm.ErrBadRequest, 0, "tools"},
		{"temperature", 400, "", `{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.","param":"temperature","code":"unsupported_value"}}`, llm.ErrBadRequest, 0, "temperature"},
		{"extra field, pydantic", 422, "", `{"detail":[{"type":"extra_forbidden","loc":["body","parallel_tool_calls"],"msg":"Extra inputs are not permitted"}]}`, llm.ErrBadRequest, 0, "parallel_tool_calls"},
		{"stop, marked as a name", 400, "", `{"error":{"message":"Unsupported parameter: 'stop' is not supported with this model."}}`, llm.ErrBadRequest, 0, "stop"},
		{"a word that is also a field", 400, "", `{"error":{"message":"unknown role: the system can not stop here"}}`, llm.ErrBadRequest, 0, ""},
		{"other", 400, "", `{"error":{"message":"messages: at least one is required"}}`, llm.ErrBadRequest, 0, ""},
		{"timeout", 408, "", ``, llm.ErrTimeout, 0, ""},
		{"server", 500, "", `{"error":{"message":"boom"}}`, llm.ErrServer, 0, ""},
		{"overloaded", 503, "Retry-After: 3", `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`, llm.ErrServer, 3 * time.Second, ""},
		{"gateway page", 502, "", `<html><title>502</title></html>`, llm.ErrServer, 0, ""},
		{"future date", 503, "Retry-After: " + in30 + "|Date: ", `{}`, llm.ErrServer, -1, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := server(t, func(w http.ResponseWriter, r *http.Request) {
				for h := range strings.SplitSeq(tc.header, "|") {
					if k, v, ok := strings.Cut(h, ": "); ok {
						w.Header().Set(k, v)
					}
				}
				w.WriteHeader(tc.status)
				fmt.Fprint(w, tc.body)
			})
			for _, sink := range []func(llm.Chunk){nil, func(llm.Chunk) {}} {
				_, err := c.Stream(t.Context(), question, sink)
				var e *llm.Error
				if !errors.As(err, &e) {
					t.Fatalf("not an *llm.Error: %v", err)
				}
				if e.Kind != tc.kind || e.Status != tc.status || e.Unsupported != tc.unsupported {
					t.Errorf("got %+v", e)
				}
				if tc.retry >= 0 && e.RetryAfter != tc.retry || tc.retry < 0 && (e.RetryAfter < 20*time.Second || e.RetryAfter > 31*time.Second) {
					t.Errorf("retry after %v, want %v", e.RetryAfter, tc.retry)
				}
				if e.Endpoint == "" || e.Model != "m" {
					t.Errorf("no place in %+v", e)
				}
			}
		})
	}
}

func TestKeyNeverShows(t *testing.T) {
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(401)
		fmt.Fprintf(w, `{"error":{"message":"bad key %s, that is %s or %s****cdef, header %s"}}`, testKey, testKey[:14], testKey[:5], r.Header.Get("Authorization"))
	})
	_, err := c.Stream(t.Context(), question, nil)
	if err == nil || strings.Contains(err.Error(), testKey[:5]) || strings.Contains(err.Error(), "cdef") || !strings.Contains(err.Error(), "[redacted]") {
		t.Errorf("%v", err)
	}
	c, err = New(Config{BaseURL: "http://user:p4ssw0rd@127.0.0.1:1/v1?key=0123456789abcdefXYZ"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Stream(t.Context(), question, nil)
	if llm.KindOf(err) != llm.ErrUnreachable || strings.Contains(err.Error(), "p4ssw0rd") || strings.Contains(err.Error(), "abcdefXYZ") {
		t.Errorf("%v", err)
	}
	for _, base := range []string{"", "localhost:1234", "ftp://x", "http://", "://" + testKey} {
		if _, err := New(Config{BaseURL: base}); err == nil || strings.Contains(err.Error(), testKey) {
			t.Errorf("base URL %q: %v", base, err)
		}
	}
	if _, err := New(Config{BaseURL: "http://x", MaxTokensField: "tokens"}); err == nil {
		t.Error("an unknown field for the token limit was accepted")
	}
}

// TestLearns checks that what an endpoint refuses is left out, once and for
// all, and only for that model.
func TestLearns(t *testing.T) {
	var calls []string
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		refuse := func(status int, s string) {
			calls = append(calls, "no")
			w.WriteHeader(status)
			fmt.Fprint(w, s)
		}
		s := string(b)
		switch {
		case strings.Contains(s, `"stream_options"`):
			refuse(422, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`)
		case strings.Contains(s, `"max_tokens"`):
			refuse(400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`)
		case strings.Contains(s, `"assistant"`) && !strings.Contains(s, `"reasoning_content"`):
			refuse(400, "{\"error\":{\"message\":\"Missing `reasoning_content` field in the assistant message at message index 1.\"}}")
		default:
			calls = append(calls, "yes")
			fmt.Fprint(w, piece(`{"content":"a"}`)+end("stop"))
		}
	})
	req := &llm.Request{MaxTokens: 5, Messages: []llm.Message{{Role: llm.RoleUser, Content: "q"}, {Role: llm.RoleAssistant, Content: "c", Reasoning: "r"}}}
	for range 2 {
		if _, err := c.Stream(t.Context(), req, func(llm.Chunk) {}); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(calls, " "); got != "no no no yes yes" {
		t.Errorf("calls: %s", got)
	}
	if q := c.quirksOf("another"); q != (quirks{maxTokens: maxTokens}) {
		t.Errorf("another model has %+v", q)
	}
}

// TestNoSecondCallAfterPieces: what was handed to the sink is never repeated.
func TestNoSecondCallAfterPieces(t *testing.T) {
	calls := 0
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		fmt.Fprint(w, piece(`{"content":"a"}`)+event(`{"error":{"message":"stream_options is not supported","code":400}}`))
	})
	_, err := c.Stream(t.Context(), question, func(llm.Chunk) {})
	if llm.KindOf(err) != llm.ErrBadRequest || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// pipe is a transport whose replies the test writes, without a network, so
// that time can be made to pass.
type pipe struct {
	header bool // answer with a header at once
	got    chan *io.PipeWriter
}

func (p *pipe) RoundTrip(r *http.Request) (*http.Response, error) {
	pr, pw := io.Pipe()
	context.AfterFunc(r.Context(), func() { pw.CloseWithError(r.Context().Err()) })
	if !p.header {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	p.got <- pw
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: pr, Request: r}, nil
}

func TestTimeLimits(t *testing.T) {
	client := func(t *testing.T, p *pipe) *Client {
		c, err := New(Config{BaseURL: "http://model.test/v1", HTTP: &http.Client{Transport: p}, Timeout: 200 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	expect := func(t *testing.T, err error, began time.Time, kind llm.ErrorKind, after time.Duration) {
		t.Helper()
		if llm.KindOf(err) != kind || time.Since(began) != after {
			t.Errorf("after %v: %v; want kind %s after %v", time.Since(began), err, kind, after)
		}
	}
	sink := func(llm.Chunk) {}
	t.Run("no header", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			_, err := client(t, &pipe{}).Stream(t.Context(), question, sink)
			expect(t, err, began, llm.ErrTimeout, 30*time.Second)
		})
	})
	t.Run("no first byte", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			_, err := client(t, &pipe{header: true, got: make(chan *io.PipeWriter, 1)}).Stream(t.Context(), question, sink)
			expect(t, err, began, llm.ErrTimeout, 30*time.Second)
		})
	})
	t.Run("stall", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := &pipe{header: true, got: make(chan *io.PipeWriter, 1)}
			began := time.Now()
			go func() {
				w := <-p.got
				for range 5 { // slow, but not stalled
					time.Sleep(25 * time.Second)
					io.WriteString(w, piece(`{"content":"a"}`))
				}
			}()
			_, err := client(t, p).Stream(t.Context(), question, sink)
			expect(t, err, began, llm.ErrTimeout, 185*time.Second)
		})
	})
	// drip writes the same every second until the client leaves.
	drip := func(p *pipe, first, then string) {
		w := <-p.got
		for text := first; ; text = then {
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
			time.Sleep(time.Second)
		}
	}
	t.Run("signs of life only", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := &pipe{header: true, got: make(chan *io.PipeWriter, 1)}
			began := time.Now()
			go drip(p, piece(`{"role":"assistant"}`)+piece(`{"content":"a"}`), ": processing\n\n"+piece(`{"role":"assistant","content":""}`))
			_, err := client(t, p).Stream(t.Context(), question, sink)
			expect(t, err, began, llm.ErrTimeout, 60*time.Second)
			time.Sleep(2 * time.Second) // the other side sees that nobody is there
		})
	})
	t.Run("no end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := &pipe{header: true, got: make(chan *io.PipeWriter, 1)}
			began := time.Now()
			go drip(p, piece(`{"content":"a"}`), piece(`{"content":"b"}`))
			_, err := client(t, p).Stream(t.Context(), question, sink)
			expect(t, err, began, llm.ErrTimeout, 200*time.Second)
			time.Sleep(2 * time.Second)
		})
	})
	t.Run("open after the end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := &pipe{header: true, got: make(chan *io.PipeWriter, 1)}
			began := time.Now()
			go func() { io.WriteString(<-p.got, piece(`{"content":"a"}`)+end("stop")) }()
			resp, err := client(t, p).Stream(t.Context(), question, sink)
			if err != nil || resp.Message.Content != "a" {
				t.Fatal(resp, err)
			}
			expect(t, nil, began, "", 5*time.Second)
		})
	})
	t.Run("open after DONE", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := &pipe{header: true, got: make(chan *io.PipeWriter, 1)}
			began := time.Now()
			go func() { io.WriteString(<-p.got, piece(`{"content":"a"}`)+end("stop")+done) }()
			if _, err := client(t, p).Stream(t.Context(), question, sink); err != nil {
				t.Fatal(err)
			}
			expect(t, nil, began, "", 200*time.Millisecond)
		})
	})
	t.Run("whole", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := &pipe{header: true, got: make(chan *io.PipeWriter, 1)}
			began := time.Now()
			go func() {
				w := <-p.got
				for range 3 {
					time.Sleep(25 * time.Second)
					io.WriteString(w, " ")
				}
			}()
			_, err := client(t, p).Stream(t.Context(), question, nil)
			expect(t, err, began, llm.ErrTimeout, 200*time.Second)
		})
	})
	t.Run("the caller's own deadline", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := client(t, &pipe{header: true, got: make(chan *io.PipeWriter, 1)}).Stream(ctx, question, sink)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
	})
}

func TestCancelClosesConnection(t *testing.T) {
	closed := make(chan struct{})
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, piece(`{"content":"a"}`))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(closed)
	})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.Stream(ctx, question, func(llm.Chunk) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	<-closed
	if _, err := c.Stream(ctx, question, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a call with a dead context: %v", err)
	}
}

// TestConnectionIsReused checks that a finished stream leaves its connection
// fit for the next call.
func TestConnectionIsReused(t *testing.T) {
	seen := map[string]bool{}
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		seen[r.RemoteAddr] = true
		fmt.Fprint(w, piece(`{"content":"a"}`))
		w.(http.Flusher).Flush()
		fmt.Fprint(w, end("stop")+done)
	})
	for range 5 {
		if _, err := c.Stream(t.Context(), question, func(llm.Chunk) {}); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 1 {
		t.Errorf("%d connections for 5 calls one after the other", len(seen))
	}
}

func TestUnreachable(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	c, err := New(Config{BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	_, err = c.Stream(t.Context(), question, nil)
	if llm.KindOf(err) != llm.ErrUnreachable {
		t.Error(err)
	}
}

func TestCutMidBody(t *testing.T) {
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, piece(`{"content":"a"}`))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	resp, err := c.Stream(t.Context(), question, func(llm.Chunk) {})
	if llm.KindOf(err) != llm.ErrCut || resp != nil {
		t.Errorf("%v, %v", resp, err)
	}
}

func TestEmbedAndModels(t *testing.T) {
	var reply string
	var path string
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		path = r.Method + " " + r.URL.Path
		fmt.Fprint(w, reply)
	})
	reply = `{"model":"e","data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":5,"total_tokens":5}}`
	got, err := c.Embed(t.Context(), "e", []string{"a", "b"})
	want := &llm.Embeddings{Model: "e", Vectors: [][]float32{{1, 2}, {3, 4}}, Usage: llm.Usage{Input: 5}}
	if err != nil || !reflect.DeepEqual(got, want) || path != "POST /v1/embeddings" {
		t.Errorf("%+v, %v, %s", got, err, path)
	}
	reply = `{"data":[{"embedding":"AACAPwAAAEA="}]}`
	if got, err := c.Embed(t.Context(), "e", []string{"a"}); err != nil || !reflect.DeepEqual(got.Vectors, [][]float32{{1, 2}}) {
		t.Errorf("base64: %+v, %v", got, err)
	}
	for _, bad := range []string{`{"data":[]}`, `<html>`, `{"data":[{"embedding":[]}]}`, `{"data":[{"embedding":"AAA="}]}`, `{"data":[{"index":5,"embedding":[1]}]}`, `{"data":[{"embedding":"AADAfw=="}]}`} {
		reply = bad
		if _, err := c.Embed(t.Context(), "e", []string{"a"}); llm.KindOf(err) != llm.ErrMalformed {
			t.Errorf("%s: %v", bad, err)
		}
	}
	reply = `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`
	if _, err := c.Embed(t.Context(), "e", []string{"a", "b"}); llm.KindOf(err) != llm.ErrMalformed {
		t.Errorf("different dimensions: %v", err)
	}
	if got, err := c.Embed(t.Context(), "e", nil); err != nil || len(got.Vectors) != 0 {
		t.Errorf("no texts: %v, %v", got, err)
	}
	for _, r := range []string{`{"object":"list","data":[{"id":"a"},{"id":"b"},{"id":"a"}]}`, `{"models":[{"name":"a"},{"name":"b"}]}`, `[{"id":"a"},{"id":"b"}]`} {
		reply = r
		if got, err := c.Models(t.Context()); err != nil || !reflect.DeepEqual(got, []string{"a", "b"}) || path != "GET /v1/models" {
			t.Errorf("%s: %v, %v", r, got, err)
		}
	}
	reply = `<html>`
	if _, err := c.Models(t.Context()); llm.KindOf(err) != llm.ErrMalformed {
		t.Error(err)
	}
}
