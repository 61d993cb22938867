package gigachat

import (
	"encoding/json"
	"strconv"
	"strings"

	"dossier/llm"
	"dossier/llm/internal/completion"
	"dossier/llm/internal/upstream"
)

// own are the members that the client writes itself, whatever Extra says.
var own = []string{"model", "messages", "functions", "function_call", "response_format", "stream"}

// appendRequest writes the body of a call. The API knows no stop sequences, so
// those are left out.
func appendRequest(b []byte, model string, req *llm.Request, stream bool) ([]byte, error) {
	b = append(b, `{"model":`...)
	b = llm.AppendString(b, model)
	b = appendMessages(b, req.Messages)
	b = appendFunctions(b, req)
	if req.Format != nil {
		b = append(b, `,"response_format":{"type":"json_schema","schema":`...)
		b = append(b, req.Format.Schema...)
		b = append(b, `,"strict":true}`...)
	}
	given := func(name string) bool { _, ok := req.Extra[name]; return ok }
	if req.MaxTokens > 0 && !given("max_tokens") {
		b = append(b, `,"max_tokens":`...)
		b = strconv.AppendInt(b, int64(req.MaxTokens), 10)
	}
	if req.Temperature != nil && !given("temperature") {
		b = append(b, `,"temperature":`...)
		b = strconv.AppendFloat(b, *req.Temperature, 'g', -1, 64)
	}
	b, err := upstream.AppendExtra(b, req.Extra, own)
	if err != nil {
		return b, err
	}
	if stream {
		b = append(b, `,"stream":true`...)
	}
	return append(b, '}'), nil
}

func appendFunctions(b []byte, req *llm.Request) []byte {
	if len(req.Tools) == 0 {
		return b
	}
	b = append(b, `,"functions":[`...)
	for i := range req.Tools {
		t := &req.Tools[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"name":`...)
		b = llm.AppendString(b, t.Name)
		if t.Description != "" {
			b = append(b, `,"description":`...)
			b = llm.AppendString(b, t.Description)
		}
		b = append(b, `,"parameters":`...)
		if len(t.Parameters) == 0 {
			b = append(b, `{"type":"object","properties":{}}`...)
		} else {
			b = append(b, t.Parameters...)
		}
		b = append(b, '}')
	}
	b = append(b, `],"function_call":`...)
	choice := req.ToolChoice
	if choice == llm.ChooseRequired && len(req.Tools) == 1 {
		choice = req.Tools[0].Name
	}
	switch choice {
	case "", llm.ChooseAuto, llm.ChooseRequired: // "some function" can't be said
		return append(b, `"auto"`...)
	case llm.ChooseNone:
		return append(b, `"none"`...)
	}
	b = append(b, `{"name":`...)
	b = llm.AppendString(b, choice)
	return append(b, '}')
}

// appendMessages writes the conversation. A message holds one call here, so
// several are written as one call and its result after the other.
func appendMessages(b []byte, messages []llm.Message) []byte {
	b = append(b, `,"messages":[`...)
	first := true
	next := func() {
		if !first {
			b = append(b, ',')
		}
		first = false
	}
	for i := 0; i < len(messages); i++ {
		m := &messages[i]
		switch {
		case m.Role == llm.RoleAssistant && len(m.ToolCalls) > 0:
			results := messages[i+1:]
			n := 0
			for n < len(results) && results[n].Role == llm.RoleTool {
				n++
			}
			results = results[:n]
			for j := range m.ToolCalls {
				c := &m.ToolCalls[j]
				next()
				b = appendCall(b, m, c, j == 0)
				if r := result(results, c.ID, j); r != nil {
					next()
					b = appendResult(b, c.Name, r.Content)
				}
			}
			i += n
		case m.Role == llm.RoleTool:
			next()
			b = appendResult(b, m.Name, m.Content)
		default:
			next()
			b = append(b, `{"role":`...)
			b = llm.AppendString(b, string(m.Role))
			b = append(b, `,"content":`...)
			b = llm.AppendString(b, m.Content)
			b = append(b, '}')
		}
	}
	return append(b, ']')
}

// result finds the answer to a call: by its id, or by its place where an
// older conversation has none.
func result(results []llm.Message, id string, at int) *llm.Message {
	for i := range results {
		if results[i].ToolCallID == id && id != "" {
			return &results[i]
		}
	}
	if at < len(results) && results[at].ToolCallID == "" {
		return &results[at]
	}
	return nil
}

func appendCall(b []byte, m *llm.Message, c *llm.ToolCall, first bool) []byte {
	b = append(b, `{"role":"assistant","content":`...)
	if first {
		b = llm.AppendString(b, m.Content)
	} else {
		b = append(b, `""`...)
	}
	b = append(b, `,"function_call":{"name":`...)
	b = llm.AppendString(b, c.Name)
	b = append(b, `,"arguments":`...)
	args := strings.TrimSpace(c.Arguments)
	switch {
	case args == "":
		b = append(b, "{}"...)
	case strings.HasPrefix(args, "{") && json.Valid([]byte(args)):
		b = append(b, args...)
	default:
		// Arguments are an object here; what is none is shown as it was.
		b = append(b, `{"invalid_arguments":`...)
		b = llm.AppendString(b, c.Arguments)
		b = append(b, '}')
	}
	b = append(b, "}}"...)
	if first && len(m.Opaque) > 0 {
		b = completion.AppendOpaque(b, m.Opaque)
	}
	return b
}

// appendResult writes a function's result, which has to be JSON in a string.
func appendResult(b []byte, name, content string) []byte {
	b = append(b, `{"role":"function","name":`...)
	b = llm.AppendString(b, name)
	b = append(b, `,"content":`...)
	if s := strings.TrimSpace(content); !strings.HasPrefix(s, "{") || !json.Valid([]byte(s)) {
		wrapped := append([]byte(nil), `{"result":`...)
		wrapped = llm.AppendString(wrapped, content)
		content = string(append(wrapped, '}'))
	}
	b = llm.AppendString(b, content)
	return append(b, '}')
}
