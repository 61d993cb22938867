package anthropic

import (
	"encoding/json"

	"dossier/llm"
)

// opaque is what has to travel back with a message: its blocks, when some of
// them are more than text and tool calls (signed thinking, server tools).
type opaque struct {
	Blocks []json.RawMessage `json:"anthropic_blocks"`
}

func writeOpaque(blocks []json.RawMessage) json.RawMessage {
	special := false
	for _, b := range blocks {
		if t := blockType(b); t != "text" && t != "tool_use" {
			special = true
		}
	}
	if !special {
		return nil
	}
	raw, err := json.Marshal(opaque{blocks})
	if err != nil {
		return nil
	}
	return raw
}

// readOpaque gives the blocks; nil when there are none or the state is of
// another provider.
func readOpaque(raw json.RawMessage) []json.RawMessage {
	var o opaque
	if len(raw) == 0 || json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o.Blocks
}

func blockType(raw json.RawMessage) string {
	var b struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(raw, &b) // no type then
	return b.Type
}

// agrees says whether the blocks still say what the message says: somebody may
// have edited it.
func agrees(m *llm.Message, blocks []json.RawMessage) bool {
	text, calls := "", 0
	for _, raw := range blocks {
		var b struct{ Type, Text, ID string }
		if json.Unmarshal(raw, &b) != nil {
			return false
		}
		switch b.Type {
		case "text":
			text += b.Text
		case "tool_use":
			if calls >= len(m.ToolCalls) || m.ToolCalls[calls].ID != b.ID {
				return false
			}
			calls++
		}
	}
	return text == m.Content && calls == len(m.ToolCalls)
}
