package llmtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dossier/llm"
)

// Request is a received call in the terms of the port, whatever its dialect.
type Request struct {
	llm.Request
	// Dialect is "openai", "anthropic" or "gigachat".
	Dialect string
	// Endpoint is "chat" or "embeddings".
	Endpoint string
	// Role is the model's name, unless a test says otherwise in the header
	// X-Dossier-Role.
	Role string
	// Schema is the name of the schema asked for or of the forced tool.
	Schema string
	Stream bool
	// Turn counts the calls that met the conditions of the rule which
	// replies; 0 for default replies.
	Turn int
	// Hash of the body, in hexadecimal.
	Hash string

	strictFormat  bool // the service holds replies to Format, and so has to take it
	usageInStream bool
	dimensions    int
	base64        bool
}

// Question is the last user message.
func (q *Request) Question() string {
	for _, m := range slices.Backward(q.Messages) {
		if m.Role == llm.RoleUser {
			return m.Content
		}
	}
	return ""
}

// ToolResults counts the tool messages of the conversation.
func (q *Request) ToolResults() int {
	n := 0
	for i := range q.Messages {
		if q.Messages[i].Role == llm.RoleTool {
			n++
		}
	}
	return n
}

// forced returns the tool that has to be called, or nil.
func (q *Request) forced() *llm.Tool {
	switch q.ToolChoice {
	case "", llm.ChooseAuto, llm.ChooseNone:
		return nil
	case llm.ChooseRequired:
		if len(q.Tools) > 0 {
			return &q.Tools[0]
		}
		return nil
	}
	return q.tool(q.ToolChoice)
}

func (q *Request) tool(name string) *llm.Tool {
	for i := range q.Tools {
		if q.Tools[i].Name == name {
			return &q.Tools[i]
		}
	}
	return nil
}

// schemaName is the name of the schema asked for, its title where the dialect
// has no names, or the forced tool.
func (q *Request) schemaName() string {
	if q.Format != nil {
		if q.Format.Name != "" {
			return q.Format.Name
		}
		var s struct{ Title string }
		if json.Unmarshal(q.Format.Schema, &s) == nil {
			return s.Title
		}
		return ""
	}
	switch q.ToolChoice {
	case "", llm.ChooseAuto, llm.ChooseNone, llm.ChooseRequired:
		return ""
	}
	return q.ToolChoice
}

// inputTokens estimates the length of the prompt.
func (q *Request) inputTokens() int {
	n := 3
	for i := range q.Messages {
		m := &q.Messages[i]
		n += 4 + tokens(m.Content)
		for _, c := range m.ToolCalls {
			n += tokens(c.Name) + tokens(c.Arguments)
		}
	}
	for i := range q.Tools {
		n += tokens(q.Tools[i].Name) + tokens(q.Tools[i].Description) + len(q.Tools[i].Parameters)/4
	}
	if q.Format != nil {
		n += len(q.Format.Schema) / 4
	}
	return n
}

// tokens estimates like a common tokenizer: four ASCII characters a token,
// two of other alphabets, one of CJK.
func tokens(s string) int {
	quarters := 0
	for _, r := range s {
		quarters += tokenQuarters(r)
	}
	return (quarters + 3) / 4
}

func tokenQuarters(r rune) int {
	switch {
	case r < 0x80:
		return 1
	case r < 0x2E80:
		return 2
	}
	return 4
}

// checkConversation holds a conversation to what the real services demand:
// every tool call is answered before anyone else speaks, and every answer has
// its call.
func checkConversation(msgs []llm.Message) error {
	if len(msgs) == 0 {
		return fmt.Errorf("messages: at least one message is required")
	}
	open := map[string]bool{}
	for i := range msgs {
		m := &msgs[i]
		if m.Role == llm.RoleTool {
			if !open[m.ToolCallID] {
				return fmt.Errorf("messages[%d]: tool result %q has no preceding tool call", i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("messages[%d]: tool calls before it have no result: %s", i, keys(open))
		}
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the last tool calls have no result: %s", keys(open))
	}
	return nil
}

func keys(m map[string]bool) string {
	var s []string
	for k := range m {
		s = append(s, k)
	}
	slices.Sort(s)
	return strings.Join(s, ", ")
}
