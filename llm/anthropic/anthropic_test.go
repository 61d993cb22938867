package anthropic

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

	"dossier/llm"
)

const testKey = "sk-ant-0123456789abcdef"

func server(t testing.TB, h http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := New(Config{BaseURL: s.URL + "/v1/", Key: testKey, Model: "claude"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.cfg.HTTP.CloseIdleConnections)
	return c
}

func serve(t testing.TB, body string) *Client {
	return server(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, body) })
}

var question = &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi"}}}

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

// ev is an event as the API writes it: its name beside its data.
func ev(data string) string {
	var e struct{ Type string }
	_ = json.Unmarshal([]byte(data), &e)
	return "event: " + e.Type + "\ndata: " + data + "\n\n"
}

func blockDelta(index int, delta string) string {
	return ev(fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, index, delta))
}

func blockStart(index int, block string) string {
	return ev(fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, block))
}

func blockStop(index int) string {
	return ev(fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index))
}

func text(index int, pieces ...string) string {
	s := blockStart(index, `{"type":"text","text":""}`)
	for _, p := range pieces {
		s += blockDelta(index, `{"type":"text_delta","text":"`+p+`"}`)
	}
	return s + blockStop(index)
}

const start = "event: message_start\ndata: " + `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":5,"output_tokens":1}}}` + "\n\n"

func stop(reason string) string {
	return ev(`{"type":"message_delta","delta":{"stop_reason":"`+reason+`","stop_sequence":null},"usage":{"output_tokens":20}}`) + ev(`{"type":"message_stop"}`)
}

func TestStream(t *testing.T) {
	usage := llm.Usage{Input: 18, Output: 20, CachedInput: 5}
	type want struct {
		text, reasoning string
		calls           []llm.ToolCall
		finish          llm.FinishReason
		usage           llm.Usage
		opaque          string
		err             llm.ErrorKind
	}
	for _, tc := range []struct {
		name, body string
		want       want
	}{
		{"text", start + ev(`{"type":"ping"}`) + text(0, "a", "b\\n", "Ж\\u00e9") + stop("end_turn"), want{text: "ab\nЖé", finish: llm.FinishStop, usage: usage}},
		{"CRLF, no names", strings.ReplaceAll(strings.ReplaceAll(start+text(0, "a", "b")+stop("stop_sequence"), "event: ", ": "), "\n", "\r\n"), want{text: "ab", finish: llm.FinishStop, usage: usage}},
		{"two text blocks", start + text(0, "a") + text(1, "b") + stop("end_turn"), want{text: "ab", finish: llm.FinishStop, usage: usage}},
		{"length", start + text(0, "a") + stop("max_tokens"), want{text: "a", finish: llm.FinishLength, usage: usage}},
		{"full window", start + text(0, "a") + stop("model_context_window_exceeded"), want{text: "a", finish: llm.FinishLength, usage: usage}},
		{"message_start twice", start + start + text(0, "a") + stop("end_turn"), want{text: "a", finish: llm.FinishStop, usage: usage}},
		{"stop reason but no message_stop", start + text(0, "a") + strings.Split(stop("end_turn"), "event: message_stop")[0], want{text: "a", finish: llm.FinishStop, usage: usage}},
		{"cut", start + text(0, "a"), want{err: llm.ErrCut}},
		{"cut inside an event", start + text(0, "a") + `data: {"type":"message_de`, want{err: llm.ErrCut}},
		{"nothing", "", want{err: llm.ErrCut}},
		{"stop without a reason", start + text(0, "a") + ev(`{"type":"message_stop"}`), want{err: llm.ErrMalformed}},
		{"error event", start + text(0, "a") + ev(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), want{err: llm.ErrServer}},
		{"rate limit event", ev(`{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`), want{err: llm.ErrRateLimited}},
		{"not JSON", start + "data: {]\n\n", want{err: llm.ErrMalformed}},
		{"HTML", "<html>", want{err: llm.ErrMalformed}},
		{"refusal with words", start + ev(`{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"explanation":"blocked"}},"usage":{"output_tokens":20}}`) + ev(`{"type":"message_stop"}`),
			want{text: "blocked", finish: llm.FinishFilter, usage: usage}},
		{"tool calls", start + text(0, "ok") + blockStart(1, `{"type":"tool_use","id":"t1","name":"f","input":{}}`) + blockDelta(1, `{"type":"input_json_delta","partial_json":""}`) +
			blockDelta(1, `{"type":"input_json_delta","partial_json":"{\"a\":"}`) + blockDelta(1, `{"type":"input_json_delta","partial_json":" 1}"}`) + blockStop(1) +
			blockStart(2, `{"type":"tool_use","id":"t2","name":"g","input":{}}`) + blockStop(2) + stop("tool_use"),
			want{text: "ok", calls: []llm.ToolCall{{ID: "t1", Name: "f", Arguments: `{"a": 1}`}, {ID: "t2", Name: "g", Arguments: "{}"}}, finish: llm.FinishToolCalls, usage: usage}},
		{"input whole and ids repeated", start + blockStart(0, `{"type":"tool_use","id":"t1","name":"f","input":{"a": 1}}`) + blockStop(0) + blockStart(1, `{"type":"tool_use","id":"t1","name":"f","input":{}}`) + blockStop(1) + stop("tool_use"),
			want{calls: []llm.ToolCall{{ID: "t1", Name: "f", Arguments: `{"a":1}`}, {ID: "t1_2", Name: "f", Arguments: "{}"}}, finish: llm.FinishToolCalls, usage: usage}},
		{"thinking", start + blockStart(0, `{"type":"thinking","thinking":"","signature":""}`) + blockDelta(0, `{"type":"thinking_delta","thinking":"h"}`) + blockDelta(0, `{"type":"thinking_delta","thinking":"m"}`) +
			blockDelta(0, `{"type":"signature_delta","signature":"SIG"}`) + blockStop(0) + blockStart(1, `{"type":"redacted_thinking","data":"xyz"}`) + blockStop(1) + text(2, "a") + stop("end_turn"),
			want{text: "a", reasoning: "hm", finish: llm.FinishStop, usage: usage,
				opaque: `{"anthropic_blocks":[{"signature":"SIG","thinking":"hm","type":"thinking"},{"data":"xyz","type":"redacted_thinking"},{"text":"a","type":"text"}]}`}},
		{"server tool", start + blockStart(0, `{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}`) + blockDelta(0, `{"type":"input_json_delta","partial_json":"{\"query\":\"q\"}"}`) + blockStop(0) +
			blockStart(1, `{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}`) + blockStop(1) +
			blockStart(2, `{"type":"text","text":"","citations":[]}`) + blockDelta(2, `{"type":"citations_delta","citation":{"url":"u"}}`) + blockDelta(2, `{"type":"text_delta","text":"a"}`) + blockStop(2) + stop("end_turn"),
			want{text: "a", finish: llm.FinishStop, usage: usage,
				opaque: `{"anthropic_blocks":[{"id":"s1","input":{"query":"q"},"name":"web_search","type":"server_tool_use"},{"content":[],"tool_use_id":"s1","type":"web_search_tool_result"},{"citations":[{"url":"u"}],"text":"a","type":"text"}]}`}},
		{"whole JSON instead of a stream", `{"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}`,
			want{text: "a", finish: llm.FinishStop, usage: llm.Usage{Input: 1, Output: 2}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got collect
			resp, err := serve(t, tc.body).Stream(t.Context(), question, got.sink)
			if tc.want.err != "" {
				if llm.KindOf(err) != tc.want.err || resp != nil {
					t.Fatalf("got %v, %v; want an error of kind %s", resp, err, tc.want.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			m := resp.Message
			w := want{m.Content, m.Reasoning, m.ToolCalls, resp.Finish, resp.Usage, string(m.Opaque), ""}
			if !reflect.DeepEqual(w, tc.want) {
				t.Errorf("got  %+v\nwant %+v", w, tc.want)
			}
			if got.text != w.text || got.reasoning != w.reasoning || !reflect.DeepEqual(got.calls, w.calls) {
				t.Errorf("the sink saw %+v, the response says %+v", got, w)
			}
		})
	}
}

func TestWhole(t *testing.T) {
	c := serve(t, `{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[{"type":"thinking","thinking":"hm","signature":"S"},{"type":"text","text":"a"},{"type":"tool_use","id":"t1","name":"f","input":{"a": [1, 2]}}],`+
		`"stop_reason":"tool_use","usage":{"input_tokens":1,"cache_read_input_tokens":2,"output_tokens":3,"output_tokens_details":{"thinking_tokens":1}}}`)
	resp, err := c.Stream(t.Context(), question, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &llm.Response{ID: "msg_1", Model: "claude-x", Finish: llm.FinishToolCalls, Usage: llm.Usage{Input: 3, Output: 3, CachedInput: 2, Reasoning: 1},
		Message: llm.Message{Role: llm.RoleAssistant, Content: "a", Reasoning: "hm", ToolCalls: []llm.ToolCall{{ID: "t1", Name: "f", Arguments: `{"a":[1,2]}`}},
			Opaque: json.RawMessage(`{"anthropic_blocks":[{"signature":"S","thinking":"hm","type":"thinking"},{"text":"a","type":"text"},{"id":"t1","input":{"a":[1,2]},"name":"f","type":"tool_use"}]}`)}}
	if !reflect.DeepEqual(resp, want) {
		t.Errorf("got  %+v\nwant %+v", resp, want)
	}
	for body, kind := range map[string]llm.ErrorKind{
		`{"type":"error","error":{"type":"not_found_error","message":"model: claude-y"}}`: llm.ErrNoModel,
		`{"type":"message","content":[]}`:                                                 llm.ErrMalformed,
		`{"type":"message","stop_reason":"x"}`:                                            llm.ErrMalformed,
		`{"type":"message","content":[{"type":"te`:                                        llm.ErrMalformed,
		`<html>`: llm.ErrMalformed,
		``:       llm.ErrMalformed,
	} {
		if resp, err := serve(t, body).Stream(t.Context(), question, nil); llm.KindOf(err) != kind || resp != nil {
			t.Errorf("%s: %v, %v", body, resp, err)
		}
	}
}

func TestRequestBody(t *testing.T) {
	half := 0.5
	thinking := json.RawMessage(`{"anthropic_blocks":[{"signature":"S","thinking":"hm","type":"thinking"},{"id":"t1","input":{},"name":"f","type":"tool_use"}]}`)
	format := &llm.Format{Name: "n", Schema: json.RawMessage(`{"type":"object","additionalProperties":false}`)}
	for _, tc := range []struct {
		name   string
		req    llm.Request
		q      quirks
		stream bool
		want   string
	}{
		{"small", *question, quirks{}, false, `{"model":"m","max_tokens":100,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`},
		{"system and merged neighbours", llm.Request{Messages: []llm.Message{
			{Role: llm.RoleSystem, Content: "s1"}, {Role: llm.RoleUser, Content: "a"}, {Role: llm.RoleUser, Content: "b"}, {Role: llm.RoleSystem, Content: "s2"},
			{Role: llm.RoleAssistant, Content: "c"}, {Role: llm.RoleAssistant, Content: "d "}}}, quirks{}, true,
			`{"model":"m","max_tokens":100,"system":"s1\n\ns2","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"assistant","content":[{"type":"text","text":"c"},{"type":"text","text":"d"}]}],"stream":true}`},
		{"tools", llm.Request{Messages: []llm.Message{
			{Role: llm.RoleUser, Content: "q"},
			{Role: llm.RoleAssistant, Content: "x", ToolCalls: []llm.ToolCall{{ID: "f:0", Name: "f", Arguments: `{"a":1}`}, {ID: "2", Name: "g", Arguments: `{"a`}, {ID: "3", Name: "g"}}},
			{Role: llm.RoleTool, ToolCallID: "f:0", Content: "r1"}, {Role: llm.RoleTool, ToolCallID: "2", Content: "r2"}, {Role: llm.RoleTool, ToolCallID: "3"}, {Role: llm.RoleUser, Content: "u"}},
			Tools: []llm.Tool{{Name: "f", Description: "d", Parameters: json.RawMessage(`{"type":"object","additionalProperties":false}`), Strict: true}, {Name: "g"}}, ToolChoice: llm.ChooseRequired,
			MaxTokens: 7, Temperature: &half, Stop: []string{"x"}, Extra: map[string]any{"top_k": 5, "system": "never"}}, quirks{}, false,
			`{"model":"m","max_tokens":7,"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"f_0","name":"f","input":{"a":1}},` +
				`{"type":"tool_use","id":"2","name":"g","input":{"invalid_arguments":"{\"a"}},{"type":"tool_use","id":"3","name":"g","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"f_0","content":"r1"},` +
				`{"type":"tool_result","tool_use_id":"2","content":"r2"},{"type":"tool_result","tool_use_id":"3","content":""},{"type":"text","text":"u"}]}],` +
				`"tools":[{"name":"f","description":"d","input_schema":{"type":"object","additionalProperties":false},"strict":true},{"name":"g","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"any"},"temperature":0.5,"stop_sequences":["x"],"top_k":5}`},
		{"tools only in the history", llm.Request{Messages: []llm.Message{{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "1", Name: "f"}}}, {Role: llm.RoleTool, ToolCallID: "1", Content: "r"}}}, quirks{}, false,
			`{"model":"m","max_tokens":100,"messages":[{"role":"user","content":[{"type":"text","text":"…"}]},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"r"}]}],` +
				`"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"none"}}`},
		{"thinking goes back", llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "q"}, {Role: llm.RoleAssistant, Reasoning: "hm", ToolCalls: []llm.ToolCall{{ID: "t1", Name: "f", Arguments: "{}"}}, Opaque: thinking}}, Tools: []llm.Tool{{Name: "f"}}, ToolChoice: "f"}, quirks{}, false,
			`{"model":"m","max_tokens":100,"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"signature":"S","thinking":"hm","type":"thinking"},{"id":"t1","input":{},"name":"f","type":"tool_use"}]}],` +
				`"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"tool","name":"f"}}`},
		{"thinking of an edited message", llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "q"}, {Role: llm.RoleAssistant, Content: "new", Opaque: thinking}}}, quirks{}, false,
			`{"model":"m","max_tokens":100,"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"signature":"S","thinking":"hm","type":"thinking"},{"type":"text","text":"new"}]}]}`},
		{"state of another provider", llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "q"}, {Role: llm.RoleAssistant, Content: "c", Opaque: json.RawMessage(`{"functions_state_id":"1"}`)}}}, quirks{}, false,
			`{"model":"m","max_tokens":100,"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"type":"text","text":"c"}]}]}`},
		{"format", llm.Request{Messages: question.Messages, Format: format, Extra: map[string]any{"output_config": map[string]any{"effort": "low"}}}, quirks{}, false,
			`{"model":"m","max_tokens":100,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"output_config":{"effort":"low","format":{"schema":{"type":"object","additionalProperties":false},"type":"json_schema"}}}`},
		{"format by a tool", llm.Request{Messages: question.Messages, Format: format}, quirks{noFormat: true}, false,
			`{"model":"m","max_tokens":100,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"tools":[{"name":"n","description":"Give the answer in this form.","input_schema":{"type":"object","additionalProperties":false}}],"tool_choice":{"type":"tool","name":"n"}}`},
	} {
		got, err := appendRequest(nil, "m", 100, tc.q, &tc.req, tc.stream)
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", tc.name, err, got, tc.want)
		}
	}
}

// TestFormatFallback: a model without structured output gets a forced tool
// call, and its input comes back as the text.
func TestFormatFallback(t *testing.T) {
	var calls int
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		b, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(b), "output_config"):
			w.WriteHeader(400)
			fmt.Fprint(w, `{"type":"error","error":{"type":"invalid_request_error","message":"output_config.format: this model does not support structured outputs"}}`)
		case strings.Contains(string(b), `"stream":true`):
			fmt.Fprint(w, start+blockStart(0, `{"type":"tool_use","id":"t1","name":"n","input":{}}`)+blockDelta(0, `{"type":"input_json_delta","partial_json":"{\"a\""}`)+
				blockDelta(0, `{"type":"input_json_delta","partial_json":":1}"}`)+blockStop(0)+stop("tool_use"))
		default:
			fmt.Fprint(w, `{"content":[{"type":"tool_use","id":"t1","name":"n","input":{"a":1}}],"stop_reason":"tool_use"}`)
		}
	})
	req := &llm.Request{Messages: question.Messages, Format: &llm.Format{Name: "n", Schema: json.RawMessage(`{"type":"object","additionalProperties":false}`)}}
	for i, sink := range []func(llm.Chunk){nil, func(llm.Chunk) {}} {
		resp, err := c.Stream(t.Context(), req, sink)
		if err != nil {
			t.Fatal(err)
		}
		if m := resp.Message; m.Content != `{"a":1}` || len(m.ToolCalls) != 0 || resp.Finish != llm.FinishStop || m.Opaque != nil {
			t.Errorf("%+v", resp)
		}
		if calls != 2+i {
			t.Errorf("%d calls", calls)
		}
	}
	_, err := c.Stream(t.Context(), &llm.Request{Messages: question.Messages, Format: &llm.Format{}}, nil)
	var e *llm.Error
	if !errors.As(err, &e) || e.Unsupported != "response_format" {
		t.Errorf("a format without a schema: %v", err)
	}
}

func TestHTTP(t *testing.T) {
	for _, tc := range []struct {
		status int
		body   string
		kind   llm.ErrorKind
	}{
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.ErrServer},
		{500, `{"type":"error","error":{"type":"api_error","message":"Internal server error"}}`, llm.ErrServer},
		{429, `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your rate limit"}}`, llm.ErrRateLimited},
		{401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, llm.ErrAuth},
		{404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-y"}}`, llm.ErrNoModel},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, llm.ErrTooLong},
		{413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, llm.ErrTooLong},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, llm.ErrQuota},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages: at least one message is required"}}`, llm.ErrBadRequest},
	} {
		c := server(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != testKey || r.Header.Get("Anthropic-Version") == "" {
				t.Errorf("%s %v", r.URL, r.Header)
			}
			w.WriteHeader(tc.status)
			fmt.Fprint(w, tc.body)
		})
		if _, err := c.Stream(t.Context(), question, nil); llm.KindOf(err) != tc.kind {
			t.Errorf("%d: %v", tc.status, err)
		}
	}
	c := serve(t, `{"data":[{"type":"model","id":"claude-a"}],"has_more":false}`)
	if got, err := c.Models(t.Context()); err != nil || !reflect.DeepEqual(got, []string{"claude-a"}) {
		t.Errorf("%v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Stream(ctx, question, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := New(Config{BaseURL: "nonsense"}); err == nil {
		t.Error("a base URL without a host was accepted")
	}
}
