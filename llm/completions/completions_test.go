package completions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"dossier/internal/base/logs"
	"dossier/llm"
	"dossier/llm/completions"
)

type fake struct {
	got   *llm.Request
	reply llm.Response
	err   error
	panic bool

	texts  []string
	gotten string
}

func (f *fake) Stream(_ context.Context, req *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
	f.got = req
	if f.panic {
		panic("broken provider")
	}
	return &f.reply, f.err
}

func (f *fake) Embed(_ context.Context, model string, texts []string) (*llm.Embeddings, error) {
	f.gotten, f.texts = model, texts
	if f.err != nil {
		return nil, f.err
	}
	out := &llm.Embeddings{Usage: llm.Usage{Input: 12}}
	for i := range texts {
		out.Vectors = append(out.Vectors, []float32{float32(i), 0.5})
	}
	return out, nil
}

func TestPostChatCompletions(t *testing.T) {
	f := &fake{reply: llm.Response{ID: "x", Model: "GigaChat-2-Max:1", Finish: llm.FinishStop,
		Message: llm.Message{Content: "Привет"}, Usage: llm.Usage{Input: 7, Output: 2}}}
	var buf bytes.Buffer
	api := completions.API{Model: f, Log: slog.New(logs.NewHandler(&buf, slog.LevelDebug, nil))}
	payload := map[string]any{
		"messages":           []map[string]string{{"role": "user", "content": "hi"}},
		"temperature":        0.3,
		"repetition_penalty": 1.1,
	}
	out := api.PostChatCompletions(t.Context(), payload, false)
	if buf.Len() > 0 {
		t.Errorf("logged without verbose: %s", &buf)
	}
	if f.got.Model != "GigaChat-2-Max" || *f.got.Temperature != 0.3 || f.got.Extra["repetition_penalty"] != 1.1 || len(f.got.Extra) != 1 {
		t.Errorf("request %+v", f.got)
	}
	if _, ok := payload["model"]; ok {
		t.Error("the caller's payload was changed")
	}
	if n, ok := out["created"].(int64); !ok || n <= 0 {
		t.Errorf("created %v", out["created"])
	}
	delete(out, "created")
	want := map[string]any{"id": "x", "object": "chat.completion", "model": "GigaChat-2-Max:1",
		"choices": []any{map[string]any{"index": 0, "message": map[string]any{"role": "assistant", "content": "Привет"}, "finish_reason": "stop"}},
		"usage":   map[string]any{"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}}
	if !reflect.DeepEqual(out, want) {
		t.Errorf("response %v", out)
	}

	payload["model"] = "other"
	payload["api_key"] = "topsecretvalue"
	api.PostChatCompletions(t.Context(), payload, true)
	lines := strings.Split(strings.TrimSpace(buf.String()), "\n")
	if f.got.Model != "other" || len(lines) != 2 || !strings.Contains(lines[0], "DEBUG chat completion payload") || !strings.Contains(lines[1], "DEBUG chat completion response") {
		t.Errorf("model %s, log %s", f.got.Model, &buf)
	}
	if strings.Contains(buf.String(), "topsecretvalue") {
		t.Error("a key was logged")
	}
}

func TestFailuresAreReturned(t *testing.T) {
	user := []any{map[string]any{"role": "user", "content": "hi"}}
	cases := []struct {
		name    string
		fake    *fake
		payload map[string]any
		want    string
	}{
		{"call", &fake{err: &llm.Error{Kind: llm.ErrServer, Endpoint: "h", Status: 500}}, map[string]any{"messages": user}, "server (HTTP 500)"},
		{"no messages", &fake{}, map[string]any{}, "payload has no messages"},
		{"wrong type", &fake{}, map[string]any{"messages": 7}, "payload: "},
		{"image", &fake{}, map[string]any{"messages": []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "image_url"}}}}}, `"image_url" can't be sent`},
		{"not JSON", &fake{}, map[string]any{"messages": user, "f": func() {}}, "payload: "},
		{"panic", &fake{panic: true}, map[string]any{"messages": user}, "broken provider"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var buf bytes.Buffer
			api := completions.API{Model: c.fake, Log: slog.New(logs.NewHandler(&buf, nil, nil))}
			out := api.PostChatCompletions(t.Context(), c.payload, false)
			text, _ := out["error"].(string)
			if len(out) != 1 || !strings.Contains(text, c.want) {
				t.Errorf("returned %v", out)
			}
			if log := buf.String(); !strings.Contains(log, "CRITICAL chat completion failed") || !strings.Contains(log, "completions.go") {
				t.Errorf("log %s", log)
			}
		})
	}
	var none completions.API
	if out := none.PostChatCompletions(t.Context(), map[string]any{"messages": user}, true); out["error"] == nil {
		t.Errorf("returned %v", out)
	}
	if out := none.PostEmbeddings(t.Context(), map[string]any{"input": "a"}, true); out["error"] == nil {
		t.Errorf("returned %v", out)
	}
}

const toolsPayload = `{"model":"m","messages":[
	{"role":"developer","content":"s"},
	{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
	{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]},
	{"role":"tool","tool_call_id":"1","content":"r"}],
	"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}],
	"tool_choice":{"type":"function","function":{"name":"f"}},
	"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}},
	"max_completion_tokens":9,"stop":"END","stream":true}`

const functionsPayload = `{"model":"m","messages":[
	{"role":"user","content":"a"},
	{"role":"assistant","content":"","function_call":{"name":"f","arguments":{"x":1}},"functions_state_id":"s1"},
	{"role":"function","name":"f","content":"r"}],
	"functions":[{"name":"f","parameters":{"type":"object"}}],"function_call":{"name":"f"}}`

func TestDialects(t *testing.T) {
	called := llm.Response{Finish: llm.FinishToolCalls, Message: llm.Message{
		ToolCalls: []llm.ToolCall{{ID: "2", Name: "f", Arguments: `{"y":2}`}}, Opaque: json.RawMessage(`{"functions_state_id":"s2"}`)}}
	tool := llm.Tool{Name: "f", Parameters: json.RawMessage(`{"type":"object"}`)}
	described := tool
	described.Description = "d"
	cases := []struct {
		payload string
		want    llm.Request
		choice  string
	}{
		{toolsPayload, llm.Request{Model: "m", MaxTokens: 9, Stop: []string{"END"}, Tools: []llm.Tool{described}, ToolChoice: "f",
			Format: &llm.Format{Name: "n", Schema: json.RawMessage(`{"type":"object"}`)},
			Messages: []llm.Message{{Role: llm.RoleSystem, Content: "s"}, {Role: llm.RoleUser, Content: "a\nb"},
				{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "1", Name: "f", Arguments: `{"x":1}`}}},
				{Role: llm.RoleTool, ToolCallID: "1", Content: "r"}}},
			`[{"finish_reason":"tool_calls","index":0,"message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"y\":2}","name":"f"},"id":"2","type":"function"}]}}]`},
		{functionsPayload, llm.Request{Model: "m", Tools: []llm.Tool{tool}, ToolChoice: "f",
			Messages: []llm.Message{{Role: llm.RoleUser, Content: "a"},
				{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "call_1", Name: "f", Arguments: `{"x":1}`}}, Opaque: json.RawMessage(`{"functions_state_id":"s1"}`)},
				{Role: llm.RoleTool, ToolCallID: "call_1", Name: "f", Content: "r"}}},
			`[{"finish_reason":"function_call","index":0,"message":{"content":"","function_call":{"arguments":{"y":2},"name":"f"},"functions_state_id":"s2","role":"assistant"}}]`},
	}
	for _, c := range cases {
		var payload map[string]any
		if err := json.Unmarshal([]byte(c.payload), &payload); err != nil {
			t.Fatal(err)
		}
		f := &fake{reply: called}
		out := (&completions.API{Model: f}).PostChatCompletions(t.Context(), payload, false)
		if !reflect.DeepEqual(*f.got, c.want) {
			t.Errorf("request\n%+v\nwant\n%+v", *f.got, c.want)
		}
		if got, _ := json.Marshal(out["choices"]); string(got) != c.choice {
			t.Errorf("choices\n%s\nwant\n%s", got, c.choice)
		}
	}
}

func TestPostEmbeddings(t *testing.T) {
	f := &fake{}
	api := completions.API{Embedder: f}
	out := api.PostEmbeddings(t.Context(), map[string]any{"input": []any{"one", "two words here"}}, true)
	if f.gotten != "Embeddings" || !reflect.DeepEqual(f.texts, []string{"one", "two words here"}) {
		t.Errorf("asked %s for %v", f.gotten, f.texts)
	}
	got, err := json.Marshal(out)
	want := `{"data":[{"embedding":[0,0.5],"index":0,"object":"embedding","usage":{"prompt_tokens":3}},` +
		`{"embedding":[1,0.5],"index":1,"object":"embedding","usage":{"prompt_tokens":9}}],` +
		`"model":"Embeddings","object":"list","usage":{"prompt_tokens":12,"total_tokens":12}}`
	if err != nil || string(got) != want {
		t.Errorf("response\n%s\nwant\n%s, %v", got, want, err)
	}
	if out := api.PostEmbeddings(t.Context(), map[string]any{"input": "one", "model": "e"}, false); f.gotten != "e" || out["error"] != nil || len(f.texts) != 1 {
		t.Errorf("%v with %s", out, f.gotten)
	}
	for _, input := range []any{nil, 7, []any{}, []any{1, 2}} {
		if out := api.PostEmbeddings(t.Context(), map[string]any{"input": input}, false); out["error"] == nil {
			t.Errorf("input %v: %v", input, out)
		}
	}
}

func TestText(t *testing.T) {
	f := &fake{reply: llm.Response{Message: llm.Message{Content: "Привет"}}}
	api := completions.API{Model: f, DefaultModel: "m"}
	text, err := api.Text(t.Context(), []llm.Message{{Role: llm.RoleSystem, Content: "s"}, {Role: llm.RoleUser, Content: "u"}}, false)
	if err != nil || text != "Привет" || f.got.Model != "m" || len(f.got.Messages) != 2 || f.got.Messages[1].Content != "u" {
		t.Errorf("%q %v %+v", text, err, f.got)
	}
	f.err = &llm.Error{Kind: llm.ErrServer, Endpoint: "h", Status: 500}
	if text, err := api.Text(t.Context(), []llm.Message{{Role: llm.RoleUser, Content: "u"}}, false); err == nil || text != "" || !strings.Contains(err.Error(), "500") {
		t.Errorf("%q %v", text, err)
	}
	if _, err := completions.TextOf(map[string]any{}); err == nil {
		t.Error("a response without choices has a text")
	}
}

// Whoever leaves is no failure to be told of at the highest level.
func TestALeaverIsNotCritical(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var buf bytes.Buffer
	api := completions.API{Model: &fake{err: context.Canceled}, Log: slog.New(logs.NewHandler(&buf, slog.LevelDebug, nil))}
	if out := api.PostChatCompletions(ctx, map[string]any{"messages": []any{map[string]any{"role": "user", "content": "hi"}}}, false); out["error"] == nil {
		t.Errorf("%v", out)
	}
	if strings.Contains(buf.String(), "CRITICAL") || !strings.Contains(buf.String(), "abandoned") {
		t.Errorf("%s", &buf)
	}
}
