package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"dossier/llm"
)

// serve answers every call with one body.
func serve(t testing.TB, contentType, body string) *Client {
	t.Helper()
	return server(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		fmt.Fprint(w, body)
	})
}

func server(t testing.TB, h http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := New(Config{BaseURL: s.URL + "/v1", Key: testKey, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.cfg.HTTP.CloseIdleConnections)
	return c
}

const testKey = "sk-test-0123456789abcdef"

var question = &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi"}}}

// collect is a sink that puts the pieces together by the rules of llm.Chunk.
type collect struct {
	text, reasoning string
	calls           []llm.ToolCall
}

func (c *collect) sink(ch llm.Chunk) {
	c.text += ch.Text
	c.reasoning += ch.Reasoning
	if d := ch.Tool; d != nil {
		for len(c.calls) <= d.Index {
			c.calls = append(c.calls, llm.ToolCall{})
		}
		k := &c.calls[d.Index]
		k.ID += d.ID
		k.Name += d.Name
		k.Arguments += d.Arguments
	}
}

func event(s string) string { return "data: " + s + "\n\n" }

func piece(s string) string {
	return event(`{"id":"1","model":"m1","choices":[{"index":0,"delta":` + s + `,"finish_reason":null}]}`)
}

func end(reason string) string {
	return event(`{"id":"1","model":"m1","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`)
}

const done = "data: [DONE]\n\n"

func TestStream(t *testing.T) {
	type want struct {
		text, reasoning string
		calls           []llm.ToolCall
		finish          llm.FinishReason
		usage           llm.Usage
		err             llm.ErrorKind
	}
	ab := piece(`{"content":"a"}`) + piece(`{"content":"b"}`) + piece(`{"content":"c\n\"d\" \u0416\ud83d\ude00"}`)
	abWant := "abc\n\"d\" Ж😀"
	for _, tc := range []struct {
		name, body string
		want       want
	}{
		{"plain", piece(`{"role":"assistant","content":""}`) + ab + end("stop") + done, want{text: abWant, finish: llm.FinishStop}},
		{"no space after data", strings.ReplaceAll(ab+end("stop")+done, "data: ", "data:"), want{text: abWant, finish: llm.FinishStop}},
		{"CRLF", strings.ReplaceAll(ab+end("stop")+done, "\n", "\r\n"), want{text: abWant, finish: llm.FinishStop}},
		{"single newlines", strings.ReplaceAll(ab+end("stop")+done, "\n\n", "\n"), want{text: abWant, finish: llm.FinishStop}},
		{"comments, ids and names", ": ping\n\n" + "id: 7\nevent: message\nretry: 5\n" + ab + ": ping\n" + end("length") + done, want{text: abWant, finish: llm.FinishLength}},
		{"data on several lines", "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"x\"},\n: between\ndata: \"finish_reason\":\"stop\"}]}\n\n" + done, want{text: "x", finish: llm.FinishStop}},
		{"finish but no DONE", ab + end("stop"), want{text: abWant, finish: llm.FinishStop}},
		{"DONE but no finish", ab + done, want{text: abWant, finish: llm.FinishStop}},
		{"DONE without a line end", ab + "data: [DONE]", want{text: abWant, finish: llm.FinishStop}},
		{"cut after an event", ab, want{err: llm.ErrCut}},
		{"cut inside an event", ab + `data: {"choices":[{"delta":{"con`, want{err: llm.ErrCut}},
		{"nothing at all", "", want{err: llm.ErrCut}},
		{"only comments", ": ping\n\n", want{err: llm.ErrCut}},
		{"usage at the end", ab + end("stop") + event(`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":2},"completion_tokens_details":{"reasoning_tokens":1}}}`) + done,
			want{text: abWant, finish: llm.FinishStop, usage: llm.Usage{Input: 3, Output: 4, CachedInput: 2, Reasoning: 1}}},
		{"usage counted beside the reasoning", end("stop") + event(`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":17,"completion_tokens_details":{"reasoning_tokens":10}}}`) + done,
			want{finish: llm.FinishStop, usage: llm.Usage{Input: 3, Output: 14, Reasoning: 10}}},
		{"usage in x_groq and cost", event(`{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":1,"completion_tokens":2,"cost":0.25}}}`) + done,
			want{finish: llm.FinishStop, usage: llm.Usage{Input: 1, Output: 2, Cost: 0.25}}},
		{"usage in the choice", event(`{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":1,"completion_tokens":2,"cached_tokens":1}}]}`) + done,
			want{finish: llm.FinishStop, usage: llm.Usage{Input: 1, Output: 2, CachedInput: 1}}},
		{"reasoning_content", piece(`{"reasoning_content":"th"}`) + piece(`{"reasoning_content":"ink"}`) + ab + end("stop") + done, want{text: abWant, reasoning: "think", finish: llm.FinishStop}},
		{"reasoning", piece(`{"content":"","reasoning":"th"}`) + piece(`{"content":"","reasoning":"ink"}`) + ab + end("stop") + done, want{text: abWant, reasoning: "think", finish: llm.FinishStop}},
		{"both reasoning fields", piece(`{"reasoning":"x","reasoning_content":"x"}`) + end("stop") + done, want{reasoning: "x", finish: llm.FinishStop}},
		{"content in parts", piece(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"th"}]}]}`) + piece(`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`) + end("stop") + done,
			want{text: "ab", reasoning: "th", finish: llm.FinishStop}},
		{"refusal", piece(`{"refusal":"I can"}`) + piece(`{"refusal":"not"}`) + end("stop") + done, want{text: "I cannot", finish: llm.FinishFilter}},
		{"null everywhere", piece(`{"role":"assistant","content":null,"tool_calls":null,"refusal":null,"function_call":null,"reasoning":null}`) + end("stop") + done, want{finish: llm.FinishStop}},
		{"filter", ab + end("content_filter") + done, want{text: abWant, finish: llm.FinishFilter}},
		{"unknown finish", ab + end("eos_token") + done, want{text: abWant, finish: llm.FinishStop}},
		{"the endpoint gave up", ab + end("insufficient_system_resource") + done, want{err: llm.ErrServer}},
		{"error object", ab + event(`{"error":{"message":"overloaded","type":"overloaded_error"}}`), want{err: llm.ErrServer}},
		{"error with a status", event(`{"error":{"message":"slow down","code":429}}`), want{err: llm.ErrRateLimited}},
		{"error beside choices", event(`{"error":{"message":"upstream","code":502},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`), want{err: llm.ErrServer}},
		{"error inside a choice", event(`{"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"message":"m","code":502}}]}`), want{err: llm.ErrServer}},
		{"error as a named event", "event: error\ndata: {\"message\":\"rate limit reached\"}\n\n", want{err: llm.ErrRateLimited}},
		{"error about length", event(`{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}`), want{err: llm.ErrTooLong}},
		{"no choices", event(`{"id":"1","choices":[]}`) + done, want{err: llm.ErrMalformed}},
		{"not JSON", event(`{"choices":[{]}`) + done, want{err: llm.ErrMalformed}},
		{"HTML", "<!doctype html><title>hello</title>", want{err: llm.ErrMalformed}},
		{"whole JSON instead of a stream", `{"choices":[{"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}`, want{text: "a", finish: llm.FinishStop}},
		{"other choices", piece(`{"content":"a"}`) + event(`{"choices":[{"index":1,"delta":{"content":"z"},"finish_reason":null}]}`) + end("stop") + done, want{text: "a", finish: llm.FinishStop}},
		{"message beside delta", event(`{"choices":[{"index":0,"message":{"content":"ab"},"delta":{"content":"b"}}]}`) + end("stop") + done, want{text: "b", finish: llm.FinishStop}},

		{"tool call", piece(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]}`) +
			piece(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}`) + piece(`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`) + end("tool_calls") + done,
			want{calls: []llm.ToolCall{{ID: "c1", Name: "f", Arguments: `{"a":1}`}}, finish: llm.FinishToolCalls}},
		{"two calls, interleaved", piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}},{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}]}`) +
			piece(`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`) + piece(`{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]}`) + end("tool_calls") + done,
			want{calls: []llm.ToolCall{{ID: "a", Name: "f", Arguments: `{}`}, {ID: "b", Name: "g", Arguments: `{}`}}, finish: llm.FinishToolCalls}},
		{"ids and names repeated in every piece", piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}]}`) +
			piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"1}"}}]}`) + end("tool_calls") + done,
			want{calls: []llm.ToolCall{{ID: "a", Name: "f", Arguments: `{"x":1}`}}, finish: llm.FinishToolCalls}},
		{"the same index for two calls", piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`) +
			piece(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]}`) + end("stop") + done,
			want{calls: []llm.ToolCall{{ID: "a", Name: "f", Arguments: `{}`}, {ID: "b", Name: "g", Arguments: `{}`}}, finish: llm.FinishToolCalls}},
		{"no index, no ids", piece(`{"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"g","arguments":"{\"b\""}}]}`) +
			piece(`{"tool_calls":[{"function":{"arguments":":2}"}}]}`) + end("tool_calls") + done,
			want{calls: []llm.ToolCall{{ID: "call_0", Name: "f", Arguments: `{}`}, {ID: "call_1", Name: "g", Arguments: `{"b":2}`}}, finish: llm.FinishToolCalls}},
		{"ids without an index", piece(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`) + piece(`{"tool_calls":[{"id":"b","function":{"name":"g","arguments":"{}"}}]}`) +
			piece(`{"tool_calls":[{"id":"a","function":{"arguments":":1}"}}]}`) + end("tool_calls") + done,
			want{calls: []llm.ToolCall{{ID: "a", Name: "f", Arguments: `{"x":1}`}, {ID: "b", Name: "g", Arguments: `{}`}}, finish: llm.FinishToolCalls}},
		{"repeated ids in one reply", piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`) + piece(`{"tool_calls":[{"index":1,"id":"a","function":{"name":"f","arguments":"{}"}}]}`) + end("tool_calls") + done,
			want{calls: []llm.ToolCall{{ID: "a", Name: "f", Arguments: `{}`}, {ID: "a_2", Name: "f", Arguments: `{}`}}, finish: llm.FinishToolCalls}},
		{"arguments as an object", piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x": 1}}}]}`) + end("tool_calls") + done,
			want{calls: []llm.ToolCall{{ID: "a", Name: "f", Arguments: `{"x":1}`}}, finish: llm.FinishToolCalls}},
		{"arguments null", piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":null}}]}`) + end("tool_calls") + done,
			want{calls: []llm.ToolCall{{ID: "a", Name: "f"}}, finish: llm.FinishToolCalls}},
		{"older function_call", piece(`{"function_call":{"name":"f","arguments":"{\"x\""}}`) + piece(`{"function_call":{"arguments":":1}"}}`) + end("function_call") + done,
			want{calls: []llm.ToolCall{{ID: "call_0", Name: "f", Arguments: `{"x":1}`}}, finish: llm.FinishToolCalls}},
		{"a call without a name", piece(`{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]}`) + end("tool_calls") + done, want{err: llm.ErrMalformed}},
		{"tool_calls said, none given", ab + end("tool_calls") + done, want{text: abWant, finish: llm.FinishStop}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			contentType := "text/event-stream"
			if strings.HasPrefix(tc.body, "<") {
				contentType = "text/html"
			}
			var got collect
			resp, err := serve(t, contentType, tc.body).Stream(t.Context(), question, got.sink)
			if tc.want.err != "" {
				if llm.KindOf(err) != tc.want.err || resp != nil {
					t.Fatalf("got %v, %v; want an error of kind %s", resp, err, tc.want.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			w := want{resp.Message.Content, resp.Message.Reasoning, resp.Message.ToolCalls, resp.Finish, resp.Usage, ""}
			if !reflect.DeepEqual(w, tc.want) {
				t.Errorf("got  %+v\nwant %+v", w, tc.want)
			}
			if got.text != w.text || got.reasoning != w.reasoning || !reflect.DeepEqual(got.calls, w.calls) {
				t.Errorf("the sink saw %+v, the response says %+v", got, w)
			}
		})
	}
}

func TestStreamLimits(t *testing.T) {
	long := server(t, func(w http.ResponseWriter, r *http.Request) {
		block := strings.Repeat("x", 1<<20)
		fmt.Fprint(w, "data: ")
		for range 12 {
			if _, err := fmt.Fprint(w, block); err != nil {
				return
			}
		}
	})
	if _, err := long.Stream(t.Context(), question, func(llm.Chunk) {}); llm.KindOf(err) != llm.ErrMalformed {
		t.Errorf("a line without an end: %v", err)
	}
	endless := server(t, func(w http.ResponseWriter, r *http.Request) {
		block := piece(`{"content":"` + strings.Repeat("x", 1<<20) + `"}`)
		for range 100 {
			if _, err := fmt.Fprint(w, block); err != nil {
				return
			}
		}
	})
	if _, err := endless.Stream(t.Context(), question, func(llm.Chunk) {}); llm.KindOf(err) != llm.ErrMalformed {
		t.Errorf("a stream without an end: %v", err)
	}
	if _, err := endless.Stream(t.Context(), question, nil); llm.KindOf(err) != llm.ErrMalformed {
		t.Errorf("a body without an end: %v", err)
	}
}

func TestWhole(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		want       llm.Message
		finish     llm.FinishReason
		err        llm.ErrorKind
	}{
		{"text", `{"id":"1","choices":[{"index":0,"message":{"role":"assistant","content":"a\tb"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`, llm.Message{Content: "a\tb"}, llm.FinishStop, ""},
		{"calls", `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"a","function":{"name":"g","arguments":{"x":[1, 2]}}}]},"finish_reason":"tool_calls"}]}`,
			llm.Message{ToolCalls: []llm.ToolCall{{ID: "a", Name: "f", Arguments: "{}"}, {ID: "a_2", Name: "g", Arguments: `{"x":[1,2]}`}}}, llm.FinishToolCalls, ""},
		{"two calls without ids", `{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}`,
			llm.Message{ToolCalls: []llm.ToolCall{{ID: "call_0", Name: "f", Arguments: "{}"}, {ID: "call_1", Name: "f", Arguments: "{}"}}}, llm.FinishToolCalls, ""},
		{"no arguments twice", `{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"f"}}]},"finish_reason":"tool_calls"}]}`,
			llm.Message{ToolCalls: []llm.ToolCall{{ID: "a", Name: "f"}, {ID: "b", Name: "f"}}}, llm.FinishToolCalls, ""},
		{"reasoning", `{"choices":[{"message":{"content":"a","reasoning_content":"r"},"finish_reason":"length"}]}`, llm.Message{Content: "a", Reasoning: "r"}, llm.FinishLength, ""},
		{"refusal", `{"choices":[{"message":{"content":null,"refusal":"no"},"finish_reason":"stop"}]}`, llm.Message{Content: "no"}, llm.FinishFilter, ""},
		{"error in a 200", `{"error":{"message":"no such model","code":"model_not_found"}}`, llm.Message{}, "", llm.ErrNoModel},
		{"empty choices", `{"choices":[]}`, llm.Message{}, "", llm.ErrMalformed},
		{"null choices", `{"choices":null}`, llm.Message{}, "", llm.ErrMalformed},
		{"other JSON", `[1,2]`, llm.Message{}, "", llm.ErrMalformed},
		{"cut JSON", `{"choices":[{"message":{"content":"a`, llm.Message{}, "", llm.ErrMalformed},
		{"HTML", ` <html>`, llm.Message{}, "", llm.ErrMalformed},
		{"nothing", ``, llm.Message{}, "", llm.ErrMalformed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			resp, err := serve(t, "application/json", tc.body).Stream(t.Context(), question, nil)
			if tc.err != "" {
				if llm.KindOf(err) != tc.err || resp != nil {
					t.Fatalf("got %v, %v; want an error of kind %s", resp, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			tc.want.Role = llm.RoleAssistant
			if !reflect.DeepEqual(resp.Message, tc.want) || resp.Finish != tc.finish {
				t.Errorf("got %+v %s", resp.Message, resp.Finish)
			}
		})
	}
}

// TestOpaque checks that the state of OpenRouter and Gemini travels back.
func TestOpaque(t *testing.T) {
	body := piece(`{"reasoning":"th","reasoning_details":[{"type":"reasoning.text","text":"th","index":0}]}`) +
		piece(`{"reasoning":"ink","reasoning_details":[{"type":"reasoning.text","text":"ink","index":0,"signature":"sig"}]}`) +
		piece(`{"tool_calls":[{"index":0,"id":"c1","extra_content":{"google":{"thought_signature":"abc"}},"function":{"name":"f","arguments":"{}"}}]}`) + end("tool_calls") + done
	var sent []byte
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Messages []json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Error(err)
		}
		sent = req.Messages[len(req.Messages)-1]
		fmt.Fprint(w, body)
	})
	resp, err := c.Stream(t.Context(), question, func(llm.Chunk) {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stream(t.Context(), &llm.Request{Messages: []llm.Message{question.Messages[0], resp.Message}}, func(llm.Chunk) {}); err != nil {
		t.Fatal(err)
	}
	want := `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","extra_content":{"google":{"thought_signature":"abc"}},"function":{"name":"f","arguments":"{}"}}],` +
		`"reasoning_details":[{"index":0,"signature":"sig","text":"think","type":"reasoning.text"}]}`
	if string(sent) != want {
		t.Errorf("sent back\n%s\nwant\n%s", sent, want)
	}
}
