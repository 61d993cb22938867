package agui

import (
	"fmt"
	"slices"
	"strings"

	"dossier/event"
)

// reason tells a thought, whole.
func (p *Projection) reason(owner string, d event.AgentReasoning) {
	text := d.Text
	if len(d.Steps) > 0 {
		text = strings.TrimSpace(text + "\n- " + strings.Join(d.Steps, "\n- "))
	}
	if text == "" {
		return
	}
	id := p.newID("reasoning")
	for _, e := range []Event{
		{Type: ReasoningStart}, {Type: ReasoningTextStart, Role: "reasoning"}, {Type: ReasoningTextContent, Delta: text}, {Type: ReasoningTextEnd}, {Type: ReasoningEnd},
	} {
		e.MessageID, e.SubagentRunID = id, owner
		p.say(e)
	}
	p.messages = append(p.messages, message{ID: id, Role: "reasoning", Content: text, SubagentRunID: owner})
}

// act tells a call of a tool, or its result.
func (p *Projection) act(e event.Event, owner string, d event.AgentAction) {
	key := call{e.Agent, d.CallID, d.Tool}
	id, open := p.calls[key]
	if !open {
		// A client keeps the calls of all its runs together.
		id = p.log + "-" + d.CallID
		if d.CallID == "" || p.callIDs[id] {
			id = p.newID("call")
		}
		p.callIDs[id], p.calls[key] = true, id
		holder, args := id+"-call", string(d.Arguments)
		for _, e := range []Event{
			{Type: ToolCallStart, ToolCallName: d.Tool, ParentMessageID: holder}, {Type: ToolCallArgs, Delta: args}, {Type: ToolCallEnd},
		} {
			e.ToolCallID, e.SubagentRunID = id, owner
			p.say(e)
		}
		p.messages = append(p.messages, message{
			ID: holder, Role: "assistant", SubagentRunID: owner, ToolCalls: []toolCall{{ID: id, Type: "function", Function: function{d.Tool, args}}},
		})
	}
	if d.Result == "" && !d.Failed && !open {
		return
	}
	delete(p.calls, key)
	said := message{ID: id + "-result", Role: "tool", Content: d.Result, ToolCallID: id, SubagentRunID: owner}
	p.say(Event{Type: ToolCallResult, MessageID: said.ID, ToolCallID: id, Content: d.Result, Role: said.Role, SubagentRunID: owner})
	p.messages = append(p.messages, said)
}

// write tells a piece of the answer.
func (p *Projection) write(text string) {
	if text == "" {
		return
	}
	if p.answer == "" {
		p.answer = p.newID("answer")
		p.say(Event{Type: TextStart, MessageID: p.answer, Role: "assistant"})
	}
	p.written.WriteString(text)
	p.say(Event{Type: TextContent, MessageID: p.answer, Delta: text})
}

// end ends the answer that is being written.
func (p *Projection) end() {
	if p.answer == "" {
		return
	}
	p.say(Event{Type: TextEnd, MessageID: p.answer})
	p.messages = append(p.messages, message{ID: p.answer, Role: "assistant", Content: p.written.String()})
	p.answer = ""
	p.written.Reset()
}

// void takes back what was written of an answer. AG-UI does that by telling all
// messages that hold.
func (p *Projection) void() {
	if p.answer == "" {
		return
	}
	id := p.answer
	p.end()
	p.messages = slices.DeleteFunc(p.messages, func(m message) bool { return m.ID == id })
	all := slices.Clone(p.input)
	for _, m := range p.messages {
		all = append(all, m)
	}
	p.say(Event{Type: MessagesSnapshot, Messages: all})
}

// conclude ends the answer; where it is not what was written, it is told whole.
func (p *Projection) conclude(text string) {
	if strings.TrimSpace(p.written.String()) != strings.TrimSpace(text) {
		p.void()
		p.write(text)
	}
	p.end()
}

// newID is one that no other message or call of the run has. A call has the same
// in every stream of the run.
func (p *Projection) newID(kind string) string {
	p.ids[kind]++
	return fmt.Sprint(p.log, "-", kind, "-", p.ids[kind])
}
