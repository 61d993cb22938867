package anthropic

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dossier/llm"
	"dossier/llm/internal/strict"
	"dossier/llm/internal/upstream"
)

// own are the members that the client writes itself, whatever Extra says.
var own = []string{"model", "messages", "system", "tools", "tool_choice", "output_config", "stream"}

// appendRequest writes the body of a call.
func appendRequest(b []byte, model string, maxTokens int, q quirks, req *llm.Request, stream bool) ([]byte, error) {
	b = append(b, `{"model":`...)
	b = llm.AppendString(b, model)
	given := func(name string) bool { _, ok := req.Extra[name]; return ok }
	if !given("max_tokens") {
		if req.MaxTokens > 0 {
			maxTokens = req.MaxTokens
		}
		b = append(b, `,"max_tokens":`...)
		b = strconv.AppendInt(b, int64(maxTokens), 10)
	}
	b = appendSystem(b, req.Messages)
	b = appendMessages(b, req.Messages)
	b = appendTools(b, q, req)
	if req.Temperature != nil && !given("temperature") {
		b = append(b, `,"temperature":`...)
		b = strconv.AppendFloat(b, *req.Temperature, 'g', -1, 64)
	}
	if len(req.Stop) > 0 && !given("stop_sequences") {
		b = append(b, `,"stop_sequences":[`...)
		for i, s := range req.Stop {
			if i > 0 {
				b = append(b, ',')
			}
			b = llm.AppendString(b, s)
		}
		b = append(b, ']')
	}
	b, err := appendOutput(b, q, req)
	if err != nil {
		return b, err
	}
	if b, err = upstream.AppendExtra(b, req.Extra, own); err != nil {
		return b, err
	}
	if stream {
		b = append(b, `,"stream":true`...)
	}
	return append(b, '}'), nil
}

// appendOutput writes output_config: the schema, beside what Extra has there
// (the effort, say).
func appendOutput(b []byte, q quirks, req *llm.Request) ([]byte, error) {
	extra, has := req.Extra["output_config"].(map[string]any)
	native := req.Format != nil && !q.noFormat
	if !native && !has {
		return b, nil
	}
	config := maps.Clone(extra)
	if native {
		if config == nil {
			config = map[string]any{}
		}
		schema, _ := mode.Fit(req.Format.Schema)
		config["format"] = map[string]any{"type": "json_schema", "schema": schema}
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return b, err
	}
	b = append(b, `,"output_config":`...)
	return append(b, raw...), nil
}

// appendSystem collects the system messages, which have a place of their own
// in this API.
func appendSystem(b []byte, messages []llm.Message) []byte {
	var parts []string
	for i := range messages {
		if messages[i].Role == llm.RoleSystem && messages[i].Content != "" {
			parts = append(parts, messages[i].Content)
		}
	}
	if len(parts) == 0 {
		return b
	}
	b = append(b, `,"system":`...)
	return llm.AppendString(b, strings.Join(parts, "\n\n"))
}

// appendMessages writes the conversation. Neighbours of one role become one
// message, since roles have to alternate; tool results are the user's.
func appendMessages(b []byte, messages []llm.Message) []byte {
	b = append(b, `,"messages":[`...)
	last := llm.Role("")
	empty := true // the open message has no block yet
	open := func(role llm.Role) {
		if role == last {
			return
		}
		if last != "" {
			b = append(b, "]},"...)
		} else if role == llm.RoleAssistant {
			// The first word is the user's, also when history was cut.
			b = append(b, `{"role":"user","content":[{"type":"text","text":"…"}]},`...)
		}
		b = append(b, `{"role":"`...)
		b = append(b, role...)
		b = append(b, `","content":[`...)
		last, empty = role, true
	}
	block := func(role llm.Role) {
		open(role)
		if !empty {
			b = append(b, ',')
		}
		empty = false
	}
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case llm.RoleSystem:
		case llm.RoleTool:
			block(llm.RoleUser)
			b = append(b, `{"type":"tool_result","tool_use_id":`...)
			b = llm.AppendString(b, callID(m.ToolCallID))
			b = append(b, `,"content":`...)
			b = llm.AppendString(b, m.Content)
			b = append(b, '}')
		case llm.RoleAssistant:
			final := i == len(messages)-1
			for _, raw := range assistantBlocks(m, final) {
				block(llm.RoleAssistant)
				b = append(b, raw...)
			}
		default:
			if m.Content != "" {
				block(llm.RoleUser)
				b = appendText(b, m.Content)
			}
		}
	}
	if last != "" {
		b = append(b, "]}"...)
	}
	return append(b, ']')
}

func appendText(b []byte, text string) []byte {
	b = append(b, `{"type":"text","text":`...)
	b = llm.AppendString(b, text)
	return append(b, '}')
}

// assistantBlocks are the blocks of an assistant message. With thinking in it
// the blocks go back as they came, since they are signed.
func assistantBlocks(m *llm.Message, final bool) []json.RawMessage {
	state := readOpaque(m.Opaque)
	if state != nil && agrees(m, state) {
		return state
	}
	var blocks []json.RawMessage
	for _, raw := range state {
		if t := blockType(raw); t == "thinking" || t == "redacted_thinking" {
			blocks = append(blocks, raw)
		}
	}
	text := m.Content
	if final && len(m.ToolCalls) == 0 {
		text = strings.TrimRight(text, " \t\r\n") // the API refuses an open end with space
	}
	if text != "" {
		blocks = append(blocks, appendText(nil, text))
	}
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		b := append([]byte(nil), `{"type":"tool_use","id":`...)
		b = llm.AppendString(b, callID(c.ID))
		b = append(b, `,"name":`...)
		b = llm.AppendString(b, c.Name)
		b = append(b, `,"input":`...)
		b = appendInput(b, c.Arguments)
		blocks = append(blocks, append(b, '}'))
	}
	return blocks
}

// appendInput writes arguments, which have to be an object here. What is none
// is shown to the model as it wrote it.
func appendInput(b []byte, arguments string) []byte {
	s := strings.TrimSpace(arguments)
	switch {
	case s == "":
		return append(b, "{}"...)
	case strings.HasPrefix(s, "{") && json.Valid([]byte(s)):
		return append(b, s...)
	}
	b = append(b, `{"invalid_arguments":`...)
	b = llm.AppendString(b, arguments)
	return append(b, '}')
}

// callID is an id in the letters that the API allows; ids of other providers
// may have others.
func callID(id string) string {
	allowed := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
	}
	if id == "" {
		return "call"
	}
	return strings.Map(func(r rune) rune {
		if allowed(r) {
			return r
		}
		return '_'
	}, id)
}

// mode is what the strict mode does not take.
var mode = strict.NewMode("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems")

func formatName(f *llm.Format) string {
	if f.Name == "" {
		return "reply"
	}
	return f.Name
}

func appendTools(b []byte, q quirks, req *llm.Request) []byte {
	tools, choice := req.Tools, req.ToolChoice
	if len(tools) == 0 {
		// The API wants every tool that the conversation mentions declared.
		if tools = mentioned(req.Messages); len(tools) > 0 {
			choice = llm.ChooseNone
		}
	}
	if q.noFormat && req.Format != nil {
		name := formatName(req.Format)
		tools = append(slices.Clip(tools), llm.Tool{Name: name, Description: "Give the answer in this form.", Parameters: req.Format.Schema})
		choice = name
	}
	if len(tools) == 0 {
		return b
	}
	b = append(b, `,"tools":[`...)
	for i := range tools {
		t := &tools[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"name":`...)
		b = llm.AppendString(b, t.Name)
		if t.Description != "" {
			b = append(b, `,"description":`...)
			b = llm.AppendString(b, t.Description)
		}
		b = append(b, `,"input_schema":`...)
		schema, keep := t.Parameters, t.Strict && !q.noStrict && len(t.Parameters) > 0
		if keep {
			schema, keep = mode.Fit(schema)
		}
		if len(schema) == 0 {
			b = append(b, `{"type":"object","properties":{}}`...)
		} else {
			b = append(b, schema...)
		}
		if keep {
			b = append(b, `,"strict":true`...)
		}
		b = append(b, '}')
	}
	b = append(b, ']')
	switch choice {
	case "":
	case llm.ChooseAuto, llm.ChooseNone:
		b = append(b, `,"tool_choice":{"type":"`...)
		b = append(b, choice...)
		b = append(b, `"}`...)
	case llm.ChooseRequired:
		b = append(b, `,"tool_choice":{"type":"any"}`...)
	default:
		b = append(b, `,"tool_choice":{"type":"tool","name":`...)
		b = llm.AppendString(b, choice)
		b = append(b, '}')
	}
	return b
}

func mentioned(messages []llm.Message) []llm.Tool {
	var tools []llm.Tool
	for i := range messages {
		for j := range messages[i].ToolCalls {
			name := messages[i].ToolCalls[j].Name
			if !slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Name == name }) {
				tools = append(tools, llm.Tool{Name: name})
			}
		}
	}
	return tools
}
