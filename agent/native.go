package agent

import (
	"context"
	"slices"
	"strings"

	"dossier/llm"
	"dossier/tool"
)

// native is the provider's own function calling. The model thinks on its own;
// with a tool that ends the work a call is required of it.
type native struct{}

func (native) Reason(context.Context, *Work, Input) (Thought, error) { return Thought{}, nil }

func (native) Select(ctx context.Context, w *Work, in Input, _ Thought) (Choice, error) {
	return w.selectByCall(ctx, in, w.described(in.Tools))
}

func (native) Record(_ *Work, _ Thought, c Choice, actions []Action, to []llm.Message) []llm.Message {
	return recordCalls(to, c, actions)
}

// selectByCall asks the model for a call.
func (w *Work) selectByCall(ctx context.Context, in Input, tools []llm.Tool) (Choice, error) {
	req := &llm.Request{Messages: in.Messages, Tools: tools}
	if w.ends && len(tools) > 0 {
		req.ToolChoice = llm.ChooseRequired
		if len(tools) == 1 {
			req.ToolChoice = tools[0].Name
		}
	}
	find := answerCalled(in.Tools)
	if !w.ends || len(tools) == 0 {
		find = answerSpoken
	}
	r, err := w.call(ctx, "select", req, nil, find)
	if err != nil {
		return Choice{}, err
	}
	return w.chosen(in, r), nil
}

// chosen reads the calls of a reply, also when they were only written down.
func (w *Work) chosen(in Input, r reply) Choice {
	c := Choice{Calls: r.Message.ToolCalls, Text: strings.TrimSpace(r.Message.Content), Message: r.Message, Model: r.Model, Cut: r.Cut, At: r.At}
	if len(c.Calls) == 0 && w.ends {
		if call, ok := callInText(c.Text, in.Tools); ok {
			c.Calls = []llm.ToolCall{call}
			c.Message = llm.Message{Role: llm.RoleAssistant}
		}
	}
	return c
}

// noResult stands for the result of a call that was not carried out: providers
// refuse a call without one.
const noResult = "No result: the call was not carried out."

// recordCalls adds calls and their results to a conversation as messages of
// tools. Each call has exactly one result.
func recordCalls(messages []llm.Message, c Choice, actions []Action) []llm.Message {
	if len(c.Calls) == 0 {
		if c.Text != "" {
			messages = append(messages, llm.Message{Role: llm.RoleAssistant, Content: c.Text})
		}
		return messages
	}
	said := c.Message
	said.Role, said.ToolCalls = llm.RoleAssistant, c.Calls
	messages = append(slices.Grow(messages, 1+len(c.Calls)), said)
	for i, call := range c.Calls {
		result := llm.Message{Role: llm.RoleTool, ToolCallID: call.ID, Name: call.Name, Content: noResult}
		if i < len(actions) {
			result.Content = actions[i].Outcome.Text
		}
		messages = append(messages, result)
	}
	return messages
}

// hybrid has the model reason by calling a tool for it, and then choose among
// the others.
type hybrid struct{}

func (hybrid) Reason(ctx context.Context, w *Work, in Input) (Thought, error) {
	spec := reasoningSpec(in.Tools)
	req := &llm.Request{Messages: in.Messages, Tools: []llm.Tool{spec.For()}, ToolChoice: spec.Name}
	r, err := w.call(ctx, "reason", req, nil, nil)
	if err != nil {
		return Thought{}, err
	}
	text := r.Message.Content
	if len(r.Message.ToolCalls) > 0 {
		text = r.Message.ToolCalls[0].Arguments
	}
	t := readThought(text, r)
	if t.Text == "" && t.Reasoning.Steps != nil {
		return t, nil
	}
	// A model that does not keep to the order may have chosen already.
	if c := w.chosen(in, r); len(c.Calls) > 0 && tool.PlainName(c.Calls[0].Name) != tool.PlainName(spec.Name) {
		return Thought{Choice: &c, At: r.At}, nil
	}
	return t, nil
}

func (hybrid) Select(ctx context.Context, w *Work, in Input, t Thought) (Choice, error) {
	if t.Choice != nil {
		return *t.Choice, nil
	}
	with := in
	with.Messages = slices.Concat(in.Messages, recordThought(w, in.Tools, t))
	return w.selectByCall(ctx, with, w.described(in.Tools, tool.Reasoning))
}

func (hybrid) Record(w *Work, t Thought, c Choice, actions []Action, to []llm.Message) []llm.Message {
	return recordCalls(append(to, recordThought(w, w.tools, t)...), c, actions)
}
