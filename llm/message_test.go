package llm

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func TestMessageDecode(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want Message
	}{
		{`{"role":"user","content":"a\n"}`, Message{Role: RoleUser, Content: "a\n"}},
		{`{"role":"user","content":null}`, Message{Role: RoleUser}},
		{`{"role":"user"}`, Message{Role: RoleUser}},
		{`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"x"}},{"type":"input_text","text":"b"}],"name":"n"}`, Message{Role: RoleUser, Content: "ab", Name: "n"}},
		{`{"role":"developer","content":"s"}`, Message{Role: RoleSystem, Content: "s"}},
		{`{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}`,
			Message{Role: RoleAssistant, ToolCalls: []ToolCall{{ID: "1", Name: "f", Arguments: `{"a":1}`}}}},
		{`{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":{"a": 1}}},{"function":{"name":"g"}}]}`,
			Message{Role: RoleAssistant, ToolCalls: []ToolCall{{ID: "1", Name: "f", Arguments: `{"a":1}`}, {Name: "g"}}}},
		{`{"role":"assistant","content":"","function_call":{"name":"f","arguments":"{}"}}`, Message{Role: RoleAssistant, ToolCalls: []ToolCall{{Name: "f", Arguments: `{}`}}}},
		{`{"role":"function","name":"f","content":"r"}`, Message{Role: RoleTool, Name: "f", Content: "r"}},
		{`{"role":"tool","tool_call_id":"1","content":"r"}`, Message{Role: RoleTool, ToolCallID: "1", Content: "r"}},
		{`{"role":"assistant","content":null,"refusal":"no"}`, Message{Role: RoleAssistant, Content: "no"}},
		{`{"role":"assistant","content":"a","reasoning":"r","opaque":null}`, Message{Role: RoleAssistant, Content: "a", Reasoning: "r"}},
	} {
		var got Message
		if err := json.Unmarshal([]byte(tc.in), &got); err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s\ngot  %+v, %v\nwant %+v", tc.in, got, err, tc.want)
		}
	}
	for _, bad := range []string{`{"role":"user","content":5}`, `{"role":"user","content":{"a":1}}`, `[]`, `{"role":5}`, `{"tool_calls":{}}`} {
		var m Message
		if err := json.Unmarshal([]byte(bad), &m); err == nil {
			t.Errorf("%s was accepted as %+v", bad, m)
		}
	}
	if _, err := json.Marshal(Message{Opaque: json.RawMessage(`{`)}); err == nil {
		t.Error("state that is no JSON was written")
	}
}

func TestMessageRoundTrip(t *testing.T) {
	call := rapid.Custom(func(t *rapid.T) ToolCall {
		return ToolCall{ID: rapid.String().Draw(t, "id"), Name: rapid.String().Draw(t, "name"), Arguments: rapid.String().Draw(t, "arguments")}
	})
	rapid.Check(t, func(t *rapid.T) {
		m := Message{
			Role:       rapid.SampledFrom([]Role{RoleSystem, RoleUser, RoleAssistant, RoleTool}).Draw(t, "role"),
			Content:    rapid.String().Draw(t, "content"),
			Name:       rapid.String().Draw(t, "name"),
			ToolCallID: rapid.String().Draw(t, "call"),
			Reasoning:  rapid.String().Draw(t, "reasoning"),
		}
		if calls := rapid.SliceOfN(call, 0, 3).Draw(t, "calls"); len(calls) > 0 {
			m.ToolCalls = calls
		}
		if rapid.Bool().Draw(t, "opaque") {
			m.Opaque = json.RawMessage(`{"a":[1]}`)
		}
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back Message
		if err := json.Unmarshal(raw, &back); err != nil || !reflect.DeepEqual(back, m) {
			t.Fatalf("%+v became %s, then %+v: %v", m, raw, back, err)
		}
		if wire := AppendMessage(nil, &m); !json.Valid(wire) {
			t.Fatalf("not JSON: %s", wire)
		}
	})
}

func TestWireForms(t *testing.T) {
	tool := Tool{Name: "f", Description: "d", Parameters: json.RawMessage(`{"type":"object"}`), Strict: true}
	raw, err := json.Marshal(tool)
	if want := `{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"},"strict":true}}`; err != nil || string(raw) != want {
		t.Errorf("%s, %v", raw, err)
	}
	for _, in := range []string{string(raw), `{"name":"f","description":"d","parameters":{"type":"object"},"strict":true}`} {
		var back Tool
		if err := json.Unmarshal([]byte(in), &back); err != nil || !reflect.DeepEqual(back, tool) {
			t.Errorf("%s: %+v, %v", in, back, err)
		}
	}
	var bad Tool
	if err := json.Unmarshal([]byte(`{"type":"function","function":{}}`), &bad); err == nil {
		t.Error("a tool without a name was accepted")
	}
	if _, err := json.Marshal(Tool{Name: "f", Parameters: json.RawMessage(`{`)}); err == nil {
		t.Error("parameters that are no JSON were written")
	}
	m := Message{Role: RoleAssistant, Content: "c", Reasoning: "r", Opaque: json.RawMessage(`{}`)}
	if got, want := string(AppendMessage(nil, &m)), `{"role":"assistant","content":"c"}`; got != want {
		t.Error(got)
	}
	if got, want := string(AppendMessageReasoning(nil, &m)), `{"role":"assistant","content":"c","reasoning_content":"r"}`; got != want {
		t.Error(got)
	}
}

func BenchmarkAppendMessage(b *testing.B) {
	m := Message{Role: RoleAssistant, Content: "Some words of an answer, with \"quotes\" and a line\nbreak, as models write them.", ToolCalls: []ToolCall{{ID: "call_1", Name: "web_search", Arguments: `{"query":"what is it","n":5}`}}}
	b.Run("append", func(b *testing.B) {
		buf := make([]byte, 0, 1024)
		b.ReportAllocs()
		for b.Loop() {
			buf = AppendMessage(buf[:0], &m)
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		type fn struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		}
		type call struct {
			ID       string `json:"id"`
			Type     string `json:"type"`
			Function fn     `json:"function"`
		}
		w := struct {
			Role      string `json:"role"`
			Content   string `json:"content"`
			ToolCalls []call `json:"tool_calls"`
		}{string(m.Role), m.Content, []call{{"call_1", "function", fn{"web_search", m.ToolCalls[0].Arguments}}}}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(&w); err != nil {
				b.Fatal(err)
			}
		}
	})
}
