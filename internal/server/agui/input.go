package agui

import (
	"encoding/json"
	"fmt"
	"strings"

	"dossier"
	"dossier/llm"
	"dossier/mode"
)

// Input is what a client asks: RunAgentInput of AG-UI. The client's own tools and
// state are not looked at.
type Input struct {
	ThreadID       string            `json:"threadId"`
	RunID          string            `json:"runId"`
	Messages       []json.RawMessage `json:"messages"`
	Context        []contextEntry    `json:"context"`
	ForwardedProps json.RawMessage   `json:"forwardedProps"`
	Resume         []resumption      `json:"resume"`
}

type contextEntry struct {
	Description string `json:"description"`
	Value       string `json:"value"`
}

// resumption is the answer to an interrupt.
type resumption struct {
	InterruptID string          `json:"interruptId"`
	Status      string          `json:"status"`
	Payload     json.RawMessage `json:"payload"`
}

// properties are what a client can say in forwardedProps: a run to follow, or
// what a request of POST /api/runs can say.
type properties struct {
	Run string `json:"run"`
	dossier.Request
}

// wrong says what is wrong with what a client sent.
func wrong(format string, args ...any) error {
	return &dossier.UsageError{Message: fmt.Sprintf(format, args...), Hint: "RunAgentInput of AG-UI " + ProtocolVersion + " is expected here"}
}

// readInput reads what a client asks.
func readInput(raw []byte) (in Input, said properties, err error) {
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, said, wrong("this is no RunAgentInput: %v", err)
	}
	if in.ThreadID == "" || in.RunID == "" {
		return in, said, wrong("threadId and runId are missing")
	}
	if len(in.ForwardedProps) > 0 {
		// Other programs' values are passed through here too, and may be anything.
		if in.ForwardedProps[0] == '{' {
			if err := json.Unmarshal(in.ForwardedProps, &said); err != nil {
				return in, said, wrong("forwardedProps: %v", err)
			}
		}
	}
	return in, said, nil
}

// turns are the messages as a conversation: what users, assistants and systems
// say. Calls of tools, thoughts and activities are left out.
func (in Input) turns() ([]mode.Turn, error) {
	var out []mode.Turn
	for i, raw := range in.Messages {
		var m struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, wrong("message %d: %v", i+1, err)
		}
		role := llm.Role(m.Role)
		switch m.Role {
		case "developer":
			role = llm.RoleSystem
		case "user", "assistant", "system":
		default:
			continue
		}
		text, err := textOf(m.Content)
		if err != nil {
			return nil, wrong("message %d: %v", i+1, err)
		}
		out = append(out, mode.Turn{Role: role, Content: text})
	}
	return out, nil
}

// textOf reads the content of a message: text, or parts of text.
func textOf(raw json.RawMessage) (string, error) {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(raw, &parts) != nil {
		return "", fmt.Errorf("its content is neither text nor parts")
	}
	var all []string
	for _, p := range parts {
		if p.Type != "text" {
			return "", fmt.Errorf("a part is %q, and only text is understood", p.Type)
		}
		all = append(all, p.Text)
	}
	return strings.Join(all, "\n"), nil
}

// material is the context as text.
func (in Input) material() string {
	var b strings.Builder
	for _, c := range in.Context {
		fmt.Fprintf(&b, "%s: %s\n", c.Description, c.Value)
	}
	return b.String()
}

// answer is the text of an answer to a question.
func (r resumption) answer() (string, error) {
	switch r.Status {
	case "cancelled":
		return "skip", nil
	case "resolved":
	default:
		return "", wrong("%q is no status of an answer", r.Status)
	}
	var text string
	if json.Unmarshal(r.Payload, &text) == nil {
		return text, nil
	}
	var said struct {
		Answer *string `json:"answer"`
		Text   *string `json:"text"`
	}
	if json.Unmarshal(r.Payload, &said) == nil {
		switch {
		case said.Answer != nil:
			return *said.Answer, nil
		case said.Text != nil:
			return *said.Text, nil
		}
	}
	return "", wrong(`the payload of an answer is a text, or an object with "answer"`)
}

// interruptID names a question of a run for clients.
func interruptID(runID, ask string) string { return runID + "/" + ask }

// parseInterruptID is the inverse of interruptID.
func parseInterruptID(id string) (runID, ask string, err error) {
	runID, ask, ok := strings.Cut(id, "/")
	if !ok || runID == "" || ask == "" {
		return "", "", wrong("%q is no interrupt of this server", id)
	}
	return runID, ask, nil
}
