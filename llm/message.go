package llm

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"dossier/llm/internal/jsontext"
)

// AppendString appends s as a JSON string.
func AppendString(buf []byte, s string) []byte { return jsontext.AppendString(buf, s) }

// AppendMessage appends m in the OpenAI format, as endpoints take it: without
// Reasoning and Opaque.
func AppendMessage(buf []byte, m *Message) []byte {
	buf = appendOpenMessage(buf, m)
	return append(buf, '}')
}

// AppendMessageReasoning is AppendMessage with the reasoning beside the
// content, for the endpoints that want it back.
func AppendMessageReasoning(buf []byte, m *Message) []byte {
	buf = appendOpenMessage(buf, m)
	if m.Role == RoleAssistant {
		buf = append(buf, `,"reasoning_content":`...)
		buf = AppendString(buf, m.Reasoning)
	}
	return append(buf, '}')
}

func appendOpenMessage(buf []byte, m *Message) []byte {
	buf = append(buf, `{"role":`...)
	buf = AppendString(buf, string(m.Role))
	if m.Content == "" && len(m.ToolCalls) > 0 {
		buf = append(buf, `,"content":null`...)
	} else {
		buf = append(buf, `,"content":`...)
		buf = AppendString(buf, m.Content)
	}
	if m.Name != "" {
		buf = append(buf, `,"name":`...)
		buf = AppendString(buf, m.Name)
	}
	if len(m.ToolCalls) > 0 {
		buf = append(buf, `,"tool_calls":[`...)
		for i := range m.ToolCalls {
			if i > 0 {
				buf = append(buf, ',')
			}
			buf = AppendToolCall(buf, &m.ToolCalls[i])
		}
		buf = append(buf, ']')
	}
	if m.ToolCallID != "" {
		buf = append(buf, `,"tool_call_id":`...)
		buf = AppendString(buf, m.ToolCallID)
	}
	return buf
}

// AppendToolCall appends c in the OpenAI format.
func AppendToolCall(buf []byte, c *ToolCall) []byte {
	buf = append(buf, `{"id":`...)
	buf = AppendString(buf, c.ID)
	buf = append(buf, `,"type":"function","function":{"name":`...)
	buf = AppendString(buf, c.Name)
	buf = append(buf, `,"arguments":`...)
	buf = AppendString(buf, c.Arguments)
	return append(buf, "}}"...)
}

// emptySchema is what a tool without parameters is declared with: several
// endpoints refuse a function that has none.
const emptySchema = `{"type":"object","properties":{}}`

// AppendTool appends t in the OpenAI format.
func AppendTool(buf []byte, t *Tool) []byte {
	buf = append(buf, `{"type":"function","function":{"name":`...)
	buf = AppendString(buf, t.Name)
	if t.Description != "" {
		buf = append(buf, `,"description":`...)
		buf = AppendString(buf, t.Description)
	}
	buf = append(buf, `,"parameters":`...)
	if len(t.Parameters) == 0 {
		buf = append(buf, emptySchema...)
	} else {
		buf = append(buf, t.Parameters...)
	}
	if t.Strict {
		buf = append(buf, `,"strict":true`...)
	}
	return append(buf, "}}"...)
}

// MarshalJSON writes the OpenAI format. Reasoning and Opaque, which a stored
// conversation must keep, are the extra members reasoning_content and opaque.
func (m Message) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil) }

// AppendJSON appends what MarshalJSON returns.
func (m *Message) AppendJSON(buf []byte) ([]byte, error) {
	size := 64 + len(m.Content) + len(m.Name) + len(m.ToolCallID) + len(m.Reasoning) + len(m.Opaque)
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		size += 80 + len(c.ID) + len(c.Name) + len(c.Arguments)
	}
	// An eighth more for what has to be escaped.
	buf = appendOpenMessage(slices.Grow(buf, size+size/8), m)
	if m.Reasoning != "" {
		buf = append(buf, `,"reasoning_content":`...)
		buf = AppendString(buf, m.Reasoning)
	}
	if len(m.Opaque) > 0 {
		if !json.Valid(m.Opaque) {
			return nil, errors.New("message: opaque provider state is not JSON")
		}
		buf = append(buf, `,"opaque":`...)
		buf = append(buf, m.Opaque...)
	}
	return append(buf, '}'), nil
}

// UnmarshalJSON reads the OpenAI format: content as a string, null or parts
// (whose texts are joined), tool_calls, and the older function_call with its
// role "function". The role "developer" is read as system.
func (m *Message) UnmarshalJSON(b []byte) error {
	var w struct {
		Role             Role            `json:"role"`
		Content          json.RawMessage `json:"content"`
		Refusal          string          `json:"refusal"`
		Name             string          `json:"name"`
		ToolCalls        []ToolCall      `json:"tool_calls"`
		FunctionCall     *function       `json:"function_call"`
		ToolCallID       string          `json:"tool_call_id"`
		ReasoningContent string          `json:"reasoning_content"`
		Reasoning        json.RawMessage `json:"reasoning"`
		Opaque           json.RawMessage `json:"opaque"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	content, err := contentText(w.Content)
	if err != nil {
		return err
	}
	if content == "" {
		content = w.Refusal
	}
	reasoning := w.ReasoningContent
	if reasoning == "" {
		reasoning = jsontext.Text(w.Reasoning)
	}
	switch w.Role {
	case "developer":
		w.Role = RoleSystem
	case "function":
		w.Role = RoleTool
	}
	if w.FunctionCall != nil && len(w.ToolCalls) == 0 {
		w.ToolCalls = []ToolCall{{Name: w.FunctionCall.Name, Arguments: jsontext.Written(null(w.FunctionCall.Arguments))}}
	}
	*m = Message{Role: w.Role, Content: content, Name: w.Name, ToolCalls: w.ToolCalls, ToolCallID: w.ToolCallID,
		Reasoning: reasoning, Opaque: null(w.Opaque)}
	return nil
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Arguments   json.RawMessage `json:"arguments,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Strict      bool            `json:"strict,omitempty"`
}

func null(b json.RawMessage) json.RawMessage {
	if string(b) == "null" {
		return nil
	}
	return b
}

// contentText is the text of a message's content.
func contentText(raw json.RawMessage) (string, error) {
	if raw = null(raw); len(raw) == 0 {
		return "", nil
	}
	if raw[0] == '"' {
		return jsontext.Text(raw), nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", errors.New("message: content must be null, a string or an array of parts")
	}
	var text []byte
	for _, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text", "":
			text = append(text, p.Text...)
		}
	}
	return string(text), nil
}

// MarshalJSON writes the OpenAI format.
func (c ToolCall) MarshalJSON() ([]byte, error) { return AppendToolCall(nil, &c), nil }

// UnmarshalJSON reads the OpenAI format.
func (c *ToolCall) UnmarshalJSON(b []byte) error {
	var w struct {
		ID       string   `json:"id"`
		Function function `json:"function"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*c = ToolCall{ID: w.ID, Name: w.Function.Name, Arguments: jsontext.Written(null(w.Function.Arguments))}
	return nil
}

// MarshalJSON writes the OpenAI format.
func (t Tool) MarshalJSON() ([]byte, error) {
	if len(t.Parameters) > 0 && !json.Valid(t.Parameters) {
		return nil, errors.New("tool " + strconv.Quote(t.Name) + ": parameters are not JSON")
	}
	return AppendTool(nil, &t), nil
}

// UnmarshalJSON reads the OpenAI format, and a bare function as in the older
// functions list.
func (t *Tool) UnmarshalJSON(b []byte) error {
	var w struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	f := w.Function
	if f.Name == "" && w.Type != "function" {
		if err := json.Unmarshal(b, &f); err != nil {
			return err
		}
	}
	if f.Name == "" {
		return errors.New("tool: a function with a name is required")
	}
	*t = Tool{Name: f.Name, Description: f.Description, Parameters: null(f.Parameters), Strict: f.Strict}
	return nil
}
