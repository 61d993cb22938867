package openai

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"dossier/llm"
	"dossier/llm/internal/completion"
	"dossier/llm/internal/upstream"
)

// FuzzStream feeds any bytes as a streamed reply. Whatever they are, there is
// either an error or a response that has a finish reason and agrees with what
// the sink was given, and reading the bytes in single steps changes nothing.
func FuzzStream(f *testing.F) {
	text := piece(`{"role":"assistant","content":""}`) + piece(`{"content":"a"}`) + piece(`{"content":"b\n\u0416"}`)
	for _, s := range []string{
		text + end("stop") + done, text, text + `data: {"choi`, strings.ReplaceAll(text+end("length"), "\n", "\r\n"),
		piece(`{"reasoning_content":"r"}`) + text + end("stop"), "event: error\ndata: {\"error\":{\"message\":\"m\"}}\n\n",
		piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}`) + piece(`{"tool_calls":[{"index":0,"function":{"arguments":"\"x\":"}}]}`) +
			piece(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`) + end("tool_calls") + done,
		piece(`{"tool_calls":[{"function":{"name":"f","arguments":{"a":[1]}}},{"id":"a","function":{"name":"g"}}]}`) + end("stop"),
		`{"choices":[{"message":{"content":[{"type":"text","text":"x"}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`,
		"<html>", "data: {\"choices\":\ndata: []}\n\n", ": c\n\ndata:[DONE]", "data: 1\n\n",
		piece(`{"refusal":"no","reasoning_details":[{"type":"reasoning.text","text":"a"}]}`) + end("stop"),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		resp, got, err := replay(t, strings.NewReader(s))
		again, _, err2 := replay(t, oneByte{strings.NewReader(s)})
		if (err == nil) != (err2 == nil) || llm.KindOf(err) != llm.KindOf(err2) {
			t.Fatalf("%v at once, %v in single bytes", err, err2)
		}
		if err != nil {
			if llm.KindOf(err) == "" || resp != nil {
				t.Fatalf("%v beside %v", err, resp)
			}
			return
		}
		m := resp.Message
		if resp.Finish == "" || m.Role != llm.RoleAssistant || m.Content != again.Message.Content {
			t.Fatalf("%+v, in single bytes %+v", resp, again)
		}
		if got.text != m.Content || got.reasoning != m.Reasoning || len(got.calls) != len(m.ToolCalls) {
			t.Fatalf("the sink saw %+v, the response says %+v", got, m)
		}
		ids := map[string]bool{}
		for i, c := range m.ToolCalls {
			if got.calls[i] != c || c.Name == "" || c.ID == "" || ids[c.ID] {
				t.Fatalf("call %d: the sink saw %+v, the response says %+v", i, got.calls[i], m.ToolCalls)
			}
			ids[c.ID] = true
		}
	})
}

type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 1)]) }

type fixed struct{ r io.Reader }

func (f fixed) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(f.r), Request: r}, nil
}

func replay(t *testing.T, body io.Reader) (*llm.Response, collect, error) {
	target, err := upstream.NewTarget(&http.Client{Transport: fixed{body}}, http.MethodPost, "http://localhost", "", http.Header{}, upstream.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	call, err := target.Do(t.Context(), "m", nil, true)
	if err != nil {
		t.Fatal(err)
	}
	defer call.Close()
	var got collect
	resp, err := completion.ReadStream(call, got.sink)
	return resp, got, err
}
