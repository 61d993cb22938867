package anthropic

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"dossier/llm"
	"dossier/llm/internal/upstream"
)

// FuzzStream feeds any bytes as a streamed reply: there is either an error or
// a response that has a finish reason and agrees with what the sink was given.
func FuzzStream(f *testing.F) {
	for _, s := range []string{
		start + text(0, "a", "b", "c\\n") + stop("end_turn"), start + text(0, "a"), start + start + stop("max_tokens"),
		start + blockStart(0, `{"type":"tool_use","id":"t","name":"f","input":{}}`) + blockDelta(0, `{"type":"input_json_delta","partial_json":"{}"}`) + blockStop(0) + stop("tool_use"),
		start + blockStart(0, `{"type":"thinking","thinking":""}`) + blockDelta(0, `{"type":"thinking_delta","thinking":"x"}`) + blockDelta(0, `{"type":"signature_delta","signature":"s"}`) + stop("end_turn"),
		ev(`{"type":"error","error":{"type":"overloaded_error"}}`), `{"content":[{"type":"text","text":"x"}],"stop_reason":"end_turn"}`,
		start + blockStart(0, `{"type":"fallback"}`) + ev(`{"type":"ping"}`) + stop("refusal"), "<html>", "data: 1\n\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		target, err := upstream.NewTarget(&http.Client{Transport: fixed(s)}, http.MethodPost, "http://localhost", "", http.Header{}, upstream.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		call, err := target.Do(t.Context(), "m", nil, true)
		if err != nil {
			t.Fatal(err)
		}
		defer call.Close()
		var got collect
		resp, err := readStream(call, &assembly{Transcript: upstream.Transcript{Sink: got.sink}})
		if err != nil {
			if llm.KindOf(err) == "" || resp != nil {
				t.Fatalf("%v beside %v", err, resp)
			}
			return
		}
		m := resp.Message
		if resp.Finish == "" || got.text != m.Content || got.reasoning != m.Reasoning || len(got.calls) != len(m.ToolCalls) {
			t.Fatalf("the sink saw %+v, the response says %+v", got, resp)
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

type fixed string

func (f fixed) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(f))), Request: r}, nil
}
