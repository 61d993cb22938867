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
	"dossier/tool"
)

// react is Thought, Action, Observation and FinalAnswer in text.
type react struct {
	told      bool // the system prompt tells the form and the tools
	maxTokens int  // of a reply; 0 is the model's own bound
}

// ReActWithin is the decider ReAct with a bound on the tokens of each reply. Told says
// that the agent's system prompt tells the form and the tools itself.
func ReActWithin(maxTokens int, told bool) Decider { return react{told: told, maxTokens: maxTokens} }

func (d react) Reason(ctx context.Context, w *Work, in Input) (Thought, error) {
	messages := in.Messages
	if !d.told {
		messages = withRule(messages, reactRule(in.Tools))
	}
	r, err := w.call(ctx, "reason", &llm.Request{Messages: messages, MaxTokens: d.maxTokens, Stop: []string{"\nObservation:"}}, nil, answerMarked)
	if err != nil {
		return Thought{}, err
	}
	p := parseReAct(spoken(r.Message))
	t := Thought{Text: p.thought, At: r.At, Message: r.Message, Choice: &Choice{Text: p.text, Model: r.Model, Cut: r.Cut, At: r.At}}
	switch {
	case p.action != "":
		t.Choice.Calls = []llm.ToolCall{p.call(in.Tools)}
	case p.answer != "":
		t.Choice.Calls, t.Choice.Text = lastCall(in.Tools, p.answer), p.answer
	default:
		if call, ok := callInText(p.text, in.Tools); ok {
			t.Choice.Calls = []llm.ToolCall{call}
		}
		t.Choice.Complaint = "Your reply has neither an Action nor a FinalAnswer. Reply with \"Thought: …\" and then either \"Action: tool_name {…}\" or \"FinalAnswer: …\"."
	}
	return t, nil
}

// lastCall is the answer as a call of the tool that ends the work; none if
// there is no such tool.
func lastCall(tools []tool.Tool, answer string) []llm.ToolCall {
	for _, t := range tools {
		spec := t.Spec()
		if spec.Kind != tool.Final {
			continue
		}
		args, err := json.Marshal(map[string]any{
			"reasoning": "the answer is ready", "completed_steps": []string{"answer"}, "answer": answer, "status": string(tool.Completed),
		})
		if err == nil {
			return []llm.ToolCall{{Name: spec.Name, Arguments: string(args)}}
		}
	}
	return nil
}

func (react) Select(_ context.Context, _ *Work, _ Input, t Thought) (Choice, error) {
	return *t.Choice, nil
}

func (react) Record(_ *Work, t Thought, c Choice, actions []Action, to []llm.Message) []llm.Message {
	if len(actions) == 0 {
		return recordCalls(to, c, nil)
	}
	return recordText(to, actions, func(a Action) string {
		said := fmt.Sprintf("Action: %s %s", a.Call.Name, tool.Cut(a.Call.Arguments, mostWritten))
		if t.Text != "" {
			said = "Thought: " + t.Text + "\n" + said
		}
		return said
	}, "Observation (%s):\n<document>\n%s\n</document>")
}

// reply in the ReAct form, taken apart.
type reactReply struct {
	text    string // all of it
	thought string
	action  string // name of the tool
	input   string
	answer  string
}

// marks begin the parts of a reply. Models write them in bold, as headings and
// in their own language.
var marks = regexp.MustCompile(`(?mi)^[ \t>*#_-]*(thought|мысль|思考|action[ _]?input|действие|行动|action|observation|наблюдение|观察|final[ _]?answer|итоговый ответ|финальный ответ|最终答案)[ \t*_]*[:：][ \t*_]*`)

func parseReAct(text string) reactReply {
	p := reactReply{text: text}
	found := marks.FindAllStringSubmatchIndex(text, -1)
	if len(found) > 0 {
		p.thought = strings.TrimSpace(text[:found[0][0]])
	}
	for i, m := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		body := strings.TrimSpace(text[m[1]:end])
		switch part(text[m[2]:m[3]]) {
		case "thought":
			if p.thought == "" {
				p.thought = body
			}
		case "action":
			if p.action == "" {
				p.action, p.input = splitAction(body)
			}
		case "input":
			if p.input == "" {
				p.input = body
			}
		case "observation":
			return p // what it made up of it is not wanted
		case "answer":
			if p.action == "" && p.answer == "" {
				p.answer = strings.TrimSpace(text[m[1]:])
			}
			return p
		}
	}
	return p
}

func part(mark string) string {
	switch m := strings.NewReplacer(" ", "", "_", "").Replace(strings.ToLower(mark)); m {
	case "thought", "мысль", "思考":
		return "thought"
	case "action", "действие", "行动":
		return "action"
	case "actioninput":
		return "input"
	case "observation", "наблюдение", "观察":
		return "observation"
	}
	return "answer"
}

var actionName = regexp.MustCompile("^[`\"'*]*([\\pL\\pN_.-]+)[`\"'*]*")

// splitAction takes "tool_name {json}" and "tool_name({json})" apart.
func splitAction(body string) (name, input string) {
	m := actionName.FindStringSubmatchIndex(body)
	if m == nil {
		return "", ""
	}
	name, input = body[m[2]:m[3]], strings.TrimSpace(body[m[1]:])
	if inner, ok := strings.CutPrefix(input, "("); ok {
		input = strings.TrimSpace(strings.TrimSuffix(inner, ")"))
	}
	return name, input
}

// call is the action as a call. Parameters that are no JSON are the one text
// that the tool wants, or raw_input, about which the tool's schema will say
// what it has to say.
func (p reactReply) call(tools []tool.Tool) llm.ToolCall {
	call := llm.ToolCall{Name: p.action, Arguments: p.input}
	if p.input == "" {
		return call
	}
	t := named(tools, p.action)
	if raw, err := jsonrepair.Object(p.input); err == nil && strings.ContainsRune(p.input, '{') {
		call.Arguments = string(raw)
		return call
	}
	if t != nil {
		if args, ok := soleText(t.Spec(), p.input); ok {
			call.Arguments = string(args)
			return call
		}
	}
	raw, err := json.Marshal(map[string]string{"raw_input": p.input})
	if err == nil {
		call.Arguments = string(raw)
	}
	return call
}

// reactRule tells a model the form and the tools.
func reactRule(tools []tool.Tool) string {
	var b strings.Builder
	b.WriteString("The tools:\n" + toolLines(tools))
	b.WriteString(`
Work in steps. In each step reply in exactly this form and then stop:
Thought: what you know and what to do next
Action: tool_name {"parameter": "value"}

The result comes back as an Observation. When you know enough, reply instead:
Thought: why it is enough
FinalAnswer: the whole answer, in the user's language, with source numbers in brackets`)
	return b.String()
}

// toolLines are tools with their parameters, one a line.
func toolLines(tools []tool.Tool, skip ...tool.Kind) string {
	var b strings.Builder
	for _, t := range tools {
		spec := t.Spec()
		if spec.Kind == tool.Reasoning || slices.Contains(skip, spec.Kind) {
			continue
		}
		fmt.Fprintf(&b, "- %s: %s Parameters: %s\n", spec.Name, inPrompt(spec), parameters(spec))
	}
	return b.String()
}

// parameters are a tool's fields in a line.
func parameters(spec *tool.Spec) string {
	var schema struct {
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(spec.Schema.Strict, &schema) != nil || schema.Properties == nil {
		return "{}"
	}
	return string(schema.Properties)
}
