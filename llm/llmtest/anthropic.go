package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"dossier/llm"
)

// anthropicDialect is the dialect of /v1/messages.
type anthropicDialect struct{}

func (anthropicDialect) name() string { return "anthropic" }

func (anthropicDialect) key(h http.Header) string {
	if k := h.Get("X-Api-Key"); k != "" {
		return k
	}
	return bearer(h)
}

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   content         `json:"content"`
}

// anthropicBlocks are content blocks; a string is one of text.
type anthropicBlocks []anthropicBlock

func (b *anthropicBlocks) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*b = anthropicBlocks{{Type: "text", Text: s}}
		return nil
	}
	return json.Unmarshal(data, (*[]anthropicBlock)(b))
}

type anthropicFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

func (anthropicDialect) parse(body []byte, q *Request) error {
	var r struct {
		Model    string  `json:"model"`
		System   content `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content anthropicBlocks `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"input_schema"`
			Strict      bool            `json:"strict"`
		} `json:"tools"`
		ToolChoice struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"tool_choice"`
		OutputConfig struct {
			Format *anthropicFormat `json:"format"`
		} `json:"output_config"`
		OutputFormat *anthropicFormat `json:"output_format"`
		Stream       bool             `json:"stream"`
		MaxTokens    int              `json:"max_tokens"`
		Temperature  *float64         `json:"temperature"`
		Stop         []string         `json:"stop_sequences"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	if r.MaxTokens <= 0 {
		return errors.New("max_tokens: Field required")
	}
	q.Endpoint, q.Model, q.Stream, q.usageInStream = "chat", r.Model, r.Stream, true
	q.MaxTokens, q.Temperature, q.Stop = r.MaxTokens, r.Temperature, r.Stop
	if r.System != "" {
		q.Messages = append(q.Messages, llm.Message{Role: llm.RoleSystem, Content: string(r.System)})
	}
	for i, m := range r.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			return fmt.Errorf("messages.%d: unknown role %q", i, m.Role)
		}
		if len(m.Content) == 0 {
			return fmt.Errorf("messages.%d: content must not be empty", i)
		}
		q.Messages = append(q.Messages, anthropicMessages(llm.Role(m.Role), m.Content)...)
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, llm.Tool{Name: t.Name, Description: t.Description, Parameters: t.InputSchema, Strict: t.Strict})
	}
	switch c := r.ToolChoice; c.Type {
	case "any":
		q.ToolChoice = llm.ChooseRequired
	case "tool":
		q.ToolChoice = c.Name
	default:
		q.ToolChoice = c.Type
	}
	if f := r.OutputConfig.Format; f != nil {
		r.OutputFormat = f
	}
	if f := r.OutputFormat; f != nil && f.Type == "json_schema" {
		q.Format, q.strictFormat = &llm.Format{Schema: f.Schema}, true
	}
	return checkChoice(q)
}

// anthropicMessages splits a message into tool results and the rest.
func anthropicMessages(role llm.Role, blocks []anthropicBlock) []llm.Message {
	var out []llm.Message
	rest := llm.Message{Role: role}
	var texts []string
	for _, b := range blocks {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "tool_use":
			rest.ToolCalls = append(rest.ToolCalls, llm.ToolCall{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		case "tool_result":
			out = append(out, llm.Message{Role: llm.RoleTool, ToolCallID: b.ToolUseID, Content: string(b.Content)})
		}
	}
	rest.Content = strings.Join(texts, "\n")
	if len(out) == 0 || rest.Content != "" || len(rest.ToolCalls) > 0 {
		out = append(out, rest)
	}
	return out
}

func (o *output) anthropicStop() string {
	switch o.finish {
	case llm.FinishToolCalls:
		return "tool_use"
	case llm.FinishLength:
		return "max_tokens"
	case llm.FinishFilter:
		return "refusal"
	}
	return "end_turn"
}

func (o *output) anthropicID() string { return "msg_" + strings.TrimPrefix(o.id, "chatcmpl-") }

// anthropicInput is a call's arguments as an object; text that isn't JSON can
// only be streamed in this dialect.
func anthropicInput(c llm.ToolCall) json.RawMessage {
	if !json.Valid([]byte(c.Arguments)) {
		return encode(c.Arguments)
	}
	return json.RawMessage(c.Arguments)
}

func (anthropicDialect) whole(o *output) []byte {
	blocks := []any{}
	if !o.empty {
		if o.reasoning != "" {
			blocks = append(blocks, map[string]any{"type": "thinking", "thinking": o.reasoning, "signature": "llmtest"})
		}
		if o.text != "" || len(o.calls) == 0 {
			blocks = append(blocks, map[string]any{"type": "text", "text": o.text})
		}
		for _, c := range o.calls {
			blocks = append(blocks, map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": anthropicInput(c)})
		}
	}
	m := o.anthropicMessage(blocks)
	m["stop_reason"] = o.anthropicStop()
	if !o.noUsage {
		m["usage"] = map[string]int{"input_tokens": o.input, "output_tokens": o.outputTokens()}
	}
	return encode(m)
}

func (o *output) anthropicMessage(blocks []any) map[string]any {
	return map[string]any{"id": o.anthropicID(), "type": "message", "role": "assistant", "model": o.model,
		"content": blocks, "stop_reason": nil, "stop_sequence": nil}
}

func (anthropicDialect) frames(o *output, size int) iter.Seq[frame] {
	return func(yield func(frame) bool) {
		event := func(kind string, piece, end bool, body map[string]any) bool {
			body["type"] = kind
			return yield(frame{event: kind, data: encode(body), piece: piece, end: end})
		}
		start := o.anthropicMessage([]any{})
		end := map[string]any{"delta": map[string]any{"stop_reason": o.anthropicStop(), "stop_sequence": nil}}
		if !o.noUsage {
			start["usage"] = map[string]int{"input_tokens": o.input, "output_tokens": 1}
			end["usage"] = map[string]int{"output_tokens": o.outputTokens()}
		}
		if !event("message_start", false, false, map[string]any{"message": start}) {
			return
		}
		index := 0
		block := func(first map[string]any, delta, key, text string) bool {
			ok := event("content_block_start", false, false, map[string]any{"index": index, "content_block": first})
			for s := range split(text, size) {
				ok = ok && event("content_block_delta", true, false,
					map[string]any{"index": index, "delta": map[string]any{"type": delta, key: s}})
				if !ok {
					return false
				}
			}
			ok = ok && event("content_block_stop", false, false, map[string]any{"index": index})
			index++
			return ok
		}
		if !o.empty {
			if o.reasoning != "" && !block(map[string]any{"type": "thinking", "thinking": ""}, "thinking_delta", "thinking", o.reasoning) {
				return
			}
			if !event("ping", false, false, map[string]any{}) {
				return
			}
			if (o.text != "" || len(o.calls) == 0) && !block(map[string]any{"type": "text", "text": ""}, "text_delta", "text", o.text) {
				return
			}
			for _, c := range o.calls {
				first := map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": map[string]any{}}
				if !block(first, "input_json_delta", "partial_json", c.Arguments) {
					return
				}
			}
		}
		if !event("message_delta", false, true, end) {
			return
		}
		event("message_stop", false, true, map[string]any{})
	}
}

func anthropicErrorType(status int) string {
	switch status {
	case 401:
		return "authentication_error"
	case 403:
		return "permission_error"
	case 404:
		return "not_found_error"
	case 413:
		return "request_too_large"
	case 429:
		return "rate_limit_error"
	case 529:
		return "overloaded_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}

func (anthropicDialect) errorBody(e *refusal) []byte {
	message := e.message
	switch e.code {
	case "context_length_exceeded":
		message = "prompt is too long: " + message
	case "insufficient_quota":
		message = "Your credit balance is too low to access the Anthropic API."
	case "model_not_found":
		message = "model: " + message
	}
	return encode(map[string]any{"type": "error", "error": map[string]string{"type": anthropicErrorType(e.status), "message": message}})
}

func (d anthropicDialect) errorFrame(e *refusal) frame {
	return frame{event: "error", data: d.errorBody(e)}
}
