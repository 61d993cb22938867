package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dossier/llm"
	"dossier/llm/jsonrepair"
	"dossier/prompt"
	"dossier/tool"
)

// iron needs nothing of the provider but text: the model names a tool, and then
// writes its arguments.
type iron struct{}

// selection is what the model is asked for first.
type selection struct {
	Reasoning
	Name string `json:"function_name_choice"`
}

func (iron) Reason(ctx context.Context, w *Work, in Input) (Thought, error) {
	with := withRule(in.Messages, ironChoice(in.Tools))
	r, err := w.call(ctx, "reason", &llm.Request{Messages: with}, nil, nil)
	if err != nil {
		return Thought{}, err
	}
	text := spoken(r.Message)
	t := Thought{Message: r.Message, At: r.At, Choice: &Choice{Text: text, Model: r.Model, At: r.At}}
	var s selection
	if raw, err := jsonrepair.Object(text); err == nil {
		_ = json.Unmarshal(raw, &s) // a field of another kind than asked for stays empty
		t.Reasoning = s.Reasoning
		// A model that wrote the whole call has saved us a question.
		if call, ok := callInText(string(raw), without(in.Tools, tool.Reasoning)); ok {
			if named := named(in.Tools, call.Name); named != nil {
				if args, err := named.Spec().Schema.Read(call.Arguments); err == nil {
					call.Arguments = string(args)
					t.Choice.Calls = []llm.ToolCall{call}
					return t, nil
				}
			}
		}
	}
	chosen := named(in.Tools, s.Name)
	if s.Name == "" || chosen == nil {
		chosen = mentioned(text, in.Tools)
	}
	if chosen != nil {
		t.Choice.Calls = []llm.ToolCall{{Name: chosen.Spec().Name}}
		return t, nil
	}
	t.Choice.Complaint = "Your reply names none of the tools. Reply with the JSON object that was asked for; function_name_choice is one of: " + strings.Join(toolNames(in.Tools), ", ")
	return t, nil
}

func (iron) Select(ctx context.Context, w *Work, in Input, t Thought) (Choice, error) {
	c := *t.Choice
	if len(c.Calls) == 0 || c.Calls[0].Arguments != "" {
		return c, nil
	}
	spec := named(in.Tools, c.Calls[0].Name).Spec()
	rule := fmt.Sprintf("Now write the arguments of %s: %s\nReply with one JSON object that fits this JSON schema, and nothing else:\n%s", spec.Name, inPrompt(spec), spec.Schema.Strict)
	messages := slices.Concat(in.Messages, []llm.Message{{Role: llm.RoleAssistant, Content: c.Text}, {Role: llm.RoleUser, Content: rule}})
	var find finder
	if spec.Kind == tool.Final {
		find = answerWritten
	}
	r, err := w.call(ctx, "generate", &llm.Request{Messages: messages}, nil, find)
	if err != nil {
		return Choice{}, err
	}
	text := spoken(r.Message)
	args, err := spec.Schema.Read(text)
	if err != nil {
		if call, ok := callInText(text, in.Tools); ok {
			c.Calls = []llm.ToolCall{call}
			return c, nil
		}
		if plain, ok := soleText(spec, text); ok {
			args = plain
		} else {
			args = json.RawMessage(text)
		}
	}
	c.Calls, c.Cut = []llm.ToolCall{{Name: spec.Name, Arguments: string(args)}}, r.Cut
	return c, nil
}

func (iron) Record(_ *Work, t Thought, c Choice, actions []Action, to []llm.Message) []llm.Message {
	if len(actions) == 0 {
		return recordCalls(to, c, nil)
	}
	return recordText(to, actions, func(a Action) string {
		return fmt.Sprintf("I call %s with %s", a.Call.Name, tool.Cut(a.Call.Arguments, mostWritten))
	}, "Result of %s:\n<document>\n%s\n</document>")
}

// mostWritten is how much of a call's arguments stays in a conversation of
// texts, in characters.
const mostWritten = 20_000

// recordText appends calls and results as a conversation of texts.
func recordText(to []llm.Message, actions []Action, said func(Action) string, result string) []llm.Message {
	var calls, results []string
	for _, a := range actions {
		calls = append(calls, said(a))
		results = append(results, fmt.Sprintf(result, a.Call.Name, prompt.Data(a.Outcome.Text)))
	}
	return append(to,
		llm.Message{Role: llm.RoleAssistant, Content: strings.Join(calls, "\n")},
		llm.Message{Role: llm.RoleUser, Content: strings.Join(results, "\n")},
	)
}

// ironChoice tells a model in text what it has to reply.
func ironChoice(tools []tool.Tool) string {
	var b strings.Builder
	b.WriteString("The tools:\n")
	for _, t := range tools {
		spec := t.Spec()
		if spec.Kind == tool.Reasoning {
			continue
		}
		fmt.Fprintf(&b, "- %s: %s\n", spec.Name, inPrompt(spec))
	}
	b.WriteString("\nThink, and choose the tool to call next. Reply with one JSON object and nothing else:\n" +
		`{"reasoning_steps": ["…", "…"], "current_situation": "…", "plan_status": "…", "enough_data": false, "remaining_steps": ["…"], "task_completed": false, "function_name_choice": "name of the tool"}`)
	return b.String()
}

// withRule adds a rule to the system's message.
func withRule(messages []llm.Message, rule string) []llm.Message {
	out := append([]llm.Message{}, messages...)
	if len(out) > 0 && out[0].Role == llm.RoleSystem {
		out[0].Content += "\n\n" + rule
		return out
	}
	return append([]llm.Message{{Role: llm.RoleSystem, Content: rule}}, out...)
}

// spoken is a reply as text, without what a model thought aloud before it. A
// call that was made all the same is text too.
//
// Of a reply that is longer than any call the rest is left out.
func spoken(m llm.Message) string {
	text := m.Content
	if len(text) > mostArguments {
		text = tool.Cut(text, mostArguments)
	}
	if i := strings.LastIndex(text, "</think>"); i >= 0 {
		text = text[i+len("</think>"):]
	}
	if strings.TrimSpace(text) == "" && len(m.ToolCalls) > 0 {
		call := m.ToolCalls[0]
		return `{"tool":` + string(llm.AppendString(nil, call.Name)) + `,"arguments":` + string(llm.AppendString(nil, tool.Cut(call.Arguments, mostArguments))) + `}`
	}
	return strings.TrimSpace(text)
}

var words = regexp.MustCompile(`[\pL\pN_-]+`)

// mentioned returns the tool that a text names first, nil if it names none.
func mentioned(text string, tools []tool.Tool) tool.Tool {
	for _, word := range words.FindAllString(text, 2000) {
		if len(word) < 4 {
			continue
		}
		if t := named(tools, word); t != nil && t.Spec().Kind != tool.Reasoning {
			return t
		}
	}
	return nil
}

// without leaves tools of a kind out.
func without(tools []tool.Tool, kind tool.Kind) []tool.Tool {
	var out []tool.Tool
	for _, t := range tools {
		if t.Spec().Kind != kind {
			out = append(out, t)
		}
	}
	return out
}

// soleText makes arguments of a bare text for a tool that wants one text.
func soleText(spec *tool.Spec, text string) (json.RawMessage, bool) {
	var schema struct {
		Properties map[string]struct {
			Type    any             `json:"type"`
			Default json.RawMessage `json:"default"`
		} `json:"properties"`
	}
	if json.Unmarshal(spec.Schema.Strict, &schema) != nil {
		return nil, false
	}
	field := ""
	for name, p := range schema.Properties {
		if p.Default != nil || name == "reasoning" {
			continue
		}
		if p.Type != "string" || field != "" {
			return nil, false
		}
		field = name
	}
	if field == "" || strings.TrimSpace(text) == "" {
		return nil, false
	}
	o := map[string]string{field: strings.TrimSpace(text)}
	if _, ok := schema.Properties["reasoning"]; ok {
		o["reasoning"] = "as said"
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, false
	}
	args, err := spec.Schema.Read(string(raw))
	return args, err == nil
}
