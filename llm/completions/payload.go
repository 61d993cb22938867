package completions

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dossier/llm"
)

// dialect is how a payload speaks of tools, which the response answers in.
type dialect int

const (
	toolDialect     dialect = iota // "tools", OpenAI
	functionDialect                // "functions", GigaChat and older OpenAI
)

type wirePayload struct {
	Model               string          `json:"model"`
	Messages            []wireMessage   `json:"messages"`
	Tools               []wireTool      `json:"tools"`
	Functions           []wireFunction  `json:"functions"`
	ToolChoice          json.RawMessage `json:"tool_choice"`
	FunctionCall        json.RawMessage `json:"function_call"`
	ResponseFormat      *wireFormat     `json:"response_format"`
	MaxTokens           int             `json:"max_tokens"`
	MaxCompletionTokens int             `json:"max_completion_tokens"`
	Temperature         *float64        `json:"temperature"`
	Stop                textList        `json:"stop"`
}

// known are the parameters that have a place of their own in a request. The
// reply is always whole here, so that stream has no meaning.
var known = []string{"model", "messages", "tools", "functions", "tool_choice", "function_call", "response_format",
	"max_tokens", "max_completion_tokens", "temperature", "stop", "stream", "stream_options"}

type wireMessage struct {
	Role             string         `json:"role"`
	Content          content        `json:"content"`
	Name             string         `json:"name"`
	ToolCallID       string         `json:"tool_call_id"`
	ToolCalls        []wireToolCall `json:"tool_calls"`
	FunctionCall     *wireCall      `json:"function_call"`
	FunctionsStateID string         `json:"functions_state_id"`
}

type wireToolCall struct {
	ID       string   `json:"id"`
	Function wireCall `json:"function"`
}

type wireCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// text returns the arguments as JSON text: OpenAI sends them as a string,
// GigaChat as an object.
func (c wireCall) text() string {
	var s string
	if json.Unmarshal(c.Arguments, &s) == nil {
		return s
	}
	return string(c.Arguments)
}

type wireTool struct {
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

func (f wireFunction) tool() llm.Tool {
	return llm.Tool{Name: f.Name, Description: f.Description, Parameters: f.Parameters, Strict: f.Strict}
}

type wireFormat struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// textList is a text or a list of texts.
type textList []string

func (l *textList) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		if string(data) != "null" {
			*l = textList{one}
		}
		return nil
	}
	var many []string
	if err := json.Unmarshal(data, &many); err != nil {
		return errors.New("a text or a list of texts is wanted")
	}
	*l = many
	return nil
}

// content is a text, null, or a list of parts of which only texts can be sent.
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*c = content(s)
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return errors.New("content is neither a text nor a list of parts")
	}
	var texts []string
	for _, p := range parts {
		if p.Type != "text" {
			return fmt.Errorf("content of type %q can't be sent, only text", p.Type)
		}
		texts = append(texts, p.Text)
	}
	*c = content(strings.Join(texts, "\n"))
	return nil
}

// parseChat makes a request of a payload.
func parseChat(payload map[string]any) (*llm.Request, dialect, error) {
	var p wirePayload
	if err := reshape(payload, &p); err != nil {
		return nil, 0, err
	}
	if len(p.Messages) == 0 {
		return nil, 0, errors.New("payload has no messages")
	}
	req := &llm.Request{Model: p.Model, MaxTokens: max(p.MaxTokens, p.MaxCompletionTokens), Temperature: p.Temperature, Stop: p.Stop}
	d := toolDialect
	for _, t := range p.Tools {
		req.Tools = append(req.Tools, t.Function.tool())
	}
	if len(p.Functions) > 0 {
		d = functionDialect
		for _, f := range p.Functions {
			req.Tools = append(req.Tools, f.tool())
		}
	}
	choice := p.ToolChoice
	if d == functionDialect {
		choice = p.FunctionCall
	}
	var err error
	if req.ToolChoice, err = parseChoice(choice); err != nil {
		return nil, 0, err
	}
	if f := p.ResponseFormat; f != nil {
		switch f.Type {
		case "json_schema":
			req.Format = &llm.Format{Name: f.JSONSchema.Name, Schema: f.JSONSchema.Schema}
		case "json_object":
			req.Format = new(llm.Format)
		}
	}
	req.Messages = messages(p.Messages)
	for k, v := range payload {
		if !slices.Contains(known, k) {
			if req.Extra == nil {
				req.Extra = map[string]any{}
			}
			req.Extra[k] = v
		}
	}
	return req, d, nil
}

// messages translates a conversation. Function calls have no ids, so a result
// belongs to the call before it.
func messages(wire []wireMessage) []llm.Message {
	out := make([]llm.Message, 0, len(wire))
	lastID := ""
	for i, w := range wire {
		m := llm.Message{Role: llm.Role(w.Role), Content: string(w.Content), Name: w.Name, ToolCallID: w.ToolCallID}
		switch w.Role {
		case "function":
			m.Role, m.ToolCallID = llm.RoleTool, lastID
		case "developer":
			m.Role = llm.RoleSystem
		}
		for _, c := range w.ToolCalls {
			m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.text()})
		}
		if w.FunctionCall != nil {
			lastID = fmt.Sprintf("call_%d", i)
			m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: lastID, Name: w.FunctionCall.Name, Arguments: w.FunctionCall.text()})
		}
		if w.FunctionsStateID != "" {
			if state, err := json.Marshal(map[string]string{"functions_state_id": w.FunctionsStateID}); err == nil {
				m.Opaque = state
			}
		}
		out = append(out, m)
	}
	return out
}

// parseChoice reads "auto" and its like, {"name": …} and
// {"function": {"name": …}}.
func parseChoice(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, nil
	}
	var named struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if err := json.Unmarshal(raw, &named); err != nil {
		return "", fmt.Errorf("tool_choice: %w", err)
	}
	return or(named.Name, named.Function.Name), nil
}
