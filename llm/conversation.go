package llm

import (
	"fmt"
	"slices"
	"strings"
)

// Rules are what a provider demands of a conversation beyond what all do.
type Rules struct {
	// Alternate means that neighbours of the same role are merged, so that
	// user and assistant take turns. Tool messages count as the user's turn.
	Alternate bool
	// UserFirst means that the first message after the system's is the user's.
	UserFirst bool
}

// NoResult is the content of a tool message that stands in for a result that
// was never recorded.
const NoResult = "No result: the call was not carried out."

// Check says what is wrong with a conversation: system messages come first
// and as one, each tool call has exactly one result directly after its
// message, tool ids are unique, and no assistant message is empty.
func Check(messages []Message, rules Rules) error {
	seen := map[string]bool{}
	var open []string // ids of calls that wait for results
	var before Role
	for i, m := range messages {
		at := func(text string) error { return fmt.Errorf("message %d (%s): %s", i, m.Role, text) }
		if m.Role == RoleTool {
			j := slices.Index(open, m.ToolCallID)
			if j < 0 {
				return at("it answers no open tool call")
			}
			open = slices.Delete(open, j, j+1)
			before = m.Role
			continue
		}
		if len(open) > 0 {
			return at("a tool call before it has no result")
		}
		switch m.Role {
		case RoleSystem:
			if i > 0 {
				return at("it isn't the first")
			}
		case RoleUser:
		case RoleAssistant:
			if emptyAssistant(&m) {
				return at("it is empty")
			}
			if rules.UserFirst && (before == "" || before == RoleSystem) {
				return at("the user has to speak first")
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
		if rules.Alternate && before == m.Role && m.Role != RoleSystem {
			return at("the role doesn't alternate")
		}
		before = m.Role
	}
	if len(open) > 0 {
		return fmt.Errorf("message %d: a tool call has no result", len(messages)-1)
	}
	return nil
}

func emptyAssistant(m *Message) bool {
	return strings.TrimSpace(m.Content) == "" && len(m.ToolCalls) == 0
}

// Normalize returns a conversation that passes Check. Missing tool results are
// put in as NoResult, results without a call are dropped, repeated or missing
// ids are replaced together with those of their results, empty assistant
// messages go, system messages are merged in front, and an unknown role
// counts as the user's. What users said is kept. The input isn't changed.
func Normalize(messages []Message, rules Rules) []Message {
	n := normalizer{rules: rules, used: map[string]bool{}}
	var system []string
	for i := range messages {
		m := messages[i]
		switch m.Role {
		case RoleSystem:
			if m.Content != "" {
				system = append(system, m.Content)
			}
		case RoleTool: // those with a call were taken with it
		case RoleAssistant:
			if emptyAssistant(&m) {
				continue
			}
			j := i + 1
			for j < len(messages) && messages[j].Role == RoleTool {
				j++
			}
			n.assistant(m, messages[i+1:j])
		default:
			m.Role = RoleUser
			m.ToolCalls, m.ToolCallID = nil, ""
			n.add(m)
		}
	}
	out := n.out
	if rules.UserFirst && len(out) > 0 && out[0].Role == RoleAssistant {
		out = slices.Insert(out, 0, Message{Role: RoleUser, Content: "(The conversation goes on.)"})
	}
	if len(system) > 0 {
		out = slices.Insert(out, 0, Message{Role: RoleSystem, Content: strings.Join(system, "\n\n")})
	}
	return out
}

type normalizer struct {
	rules Rules
	out   []Message
	used  map[string]bool
}

// assistant adds an assistant message and the results of its calls.
func (n *normalizer) assistant(m Message, results []Message) {
	if len(m.ToolCalls) == 0 {
		n.add(m)
		return
	}
	m.ToolCalls = slices.Clone(m.ToolCalls)
	taken := make([]bool, len(results))
	answers := make([]Message, 0, len(m.ToolCalls))
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		answer := Message{Role: RoleTool, Name: c.Name, Content: NoResult}
		for j, r := range results {
			if !taken[j] && r.ToolCallID == c.ID {
				taken[j] = true
				answer = r
				break
			}
		}
		c.ID = n.freshID(c.ID)
		answer.ToolCallID = c.ID
		answers = append(answers, answer)
	}
	n.add(m)
	n.out = append(n.out, answers...)
}

// freshID returns id, or an id made from it when that is taken.
func (n *normalizer) freshID(id string) string {
	fresh := id
	for k := 2; fresh == "" || n.used[fresh]; k++ {
		base := id
		if base == "" {
			base = "call"
		}
		fresh = fmt.Sprintf("%s_%d", base, k)
	}
	n.used[fresh] = true
	return fresh
}

// add appends a message, merging it with the one before where roles have to
// alternate.
func (n *normalizer) add(m Message) {
	if n.rules.Alternate && len(n.out) > 0 {
		if last := &n.out[len(n.out)-1]; last.Role == m.Role && len(last.ToolCalls) == 0 {
			last.Content = joinTexts(last.Content, m.Content)
			last.Reasoning = joinTexts(last.Reasoning, m.Reasoning)
			last.ToolCalls = m.ToolCalls
			if m.Opaque != nil {
				last.Opaque = m.Opaque
			}
			return
		}
	}
	n.out = append(n.out, m)
}

func joinTexts(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + "\n\n" + b
}
