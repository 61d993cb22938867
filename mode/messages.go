package mode

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dossier/llm"
)

// Turn is a message of a conversation as clients of chat APIs send it. In JSON it
// has the OpenAI format; what is no text in it is refused.
type Turn llm.Message

// MarshalJSON writes the OpenAI format.
func (t Turn) MarshalJSON() ([]byte, error) { return llm.Message(t).MarshalJSON() }

// UnmarshalJSON reads the OpenAI format.
func (t *Turn) UnmarshalJSON(raw []byte) error {
	var w struct {
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return err
	}
	var parts []struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(w.Content, &parts) == nil {
		for _, p := range parts {
			if !textParts[p.Type] {
				return fmt.Errorf("a message has a part of type %q, and only text can be read here", p.Type)
			}
		}
	}
	return (*llm.Message)(t).UnmarshalJSON(raw)
}

// textParts are the types of parts that are text.
var textParts = map[string]bool{"": true, "text": true, "input_text": true, "output_text": true, "refusal": true}

// Say makes a conversation what the request asks: its last message, which has to
// be the user's, is the question, and what comes before it the history, with the
// messages of the system first. Calls of tools and their results are left out:
// they were those of another program.
func (r *Request) Say(turns []Turn) error {
	var system, said []llm.Message
	for i, t := range turns {
		m := llm.Message{Role: t.Role, Content: t.Content, Name: t.Name}
		switch m.Role {
		case llm.RoleSystem:
			system = append(system, m)
		case llm.RoleUser, llm.RoleAssistant:
			if strings.TrimSpace(m.Content) != "" {
				said = append(said, m)
			}
		case llm.RoleTool:
		default:
			return fmt.Errorf("message %d has the role %q; the roles are system, user, assistant and tool", i+1, m.Role)
		}
	}
	last := len(said) - 1
	if last < 0 || said[last].Role != llm.RoleUser {
		return fmt.Errorf("the last message has to be the user's, with a question in it")
	}
	r.Question, r.History = said[last].Content, slices.Concat(system, said[:last])
	return nil
}
