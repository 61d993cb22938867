package llmtest

import (
	"fmt"
	"slices"
	"strings"

	"dossier/llm"
)

// CheckConversation says what a provider would find wrong with a conversation:
// there is one system message at most and it comes first, each tool call has
// exactly one result directly after its message, tool ids are unique, and no
// assistant message is empty.
func CheckConversation(messages []llm.Message) error {
	seen := map[string]bool{}
	var open []string // ids of calls that wait for results
	for i, m := range messages {
		at := func(text string) error { return fmt.Errorf("message %d (%s): %s", i, m.Role, text) }
		if m.Role == llm.RoleTool {
			j := slices.Index(open, m.ToolCallID)
			if j < 0 {
				return at("it answers no open tool call")
			}
			open = slices.Delete(open, j, j+1)
			continue
		}
		if len(open) > 0 {
			return at("a tool call before it has no result")
		}
		switch m.Role {
		case llm.RoleSystem:
			if i > 0 {
				return at("it isn't the first")
			}
		case llm.RoleUser:
		case llm.RoleAssistant:
			if strings.TrimSpace(m.Content) == "" && len(m.ToolCalls) == 0 {
				return at("it is empty")
			}
			for _, c := range m.ToolCalls {
				if c.ID == "" || seen[c.ID] {
					return at("a tool call has no id of its own")
				}
				seen[c.ID] = true
				open = append(open, c.ID)
			}
		default:
			return at("unknown role")
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("message %d: a tool call has no result", len(messages)-1)
	}
	return nil
}
