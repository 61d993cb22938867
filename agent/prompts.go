package agent

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
	"dossier/tool"
)

//go:embed prompts
var files embed.FS

// file returns a built-in prompt.
func file(name string) string {
	raw, err := files.ReadFile("prompts/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(raw)
}

var builtin = struct{ system, research, initial, clarification string }{
	file("system.md"), file("research.md"), file("initial.md"), file("clarification.md"),
}

// PrepareContext returns the system prompt, the conversation before the task,
// the task, and what came after it. It is the conversation itself: who changes
// a message changes it for good, who appends one does not.
func (w *Work) PrepareContext(context.Context) ([]llm.Message, error) {
	return slices.Clip(w.conversation()), nil
}

// conversation is what was said so far.
func (w *Work) conversation() []llm.Message {
	if w.messages == nil {
		w.messages = w.open()
	}
	return w.messages
}

// open makes the beginning of the conversation. It stays the same through the
// run, so that providers can keep what they made of it.
func (w *Work) open() []llm.Message {
	p := w.Agent.Definition.Prompts
	system := p.System
	if system == "" {
		system = builtin.system
		if w.Agent.Definition.Research {
			system = builtin.research
		}
	}
	initial := p.Initial
	if initial == "" {
		initial = builtin.initial
	}
	if !strings.Contains(initial, "{task}") {
		initial += "\n\n{task}"
	}
	messages := prompt.Opening(strings.TrimSpace(w.fill(system)), w.Task.History)
	return append(messages, llm.Message{Role: llm.RoleUser, Content: strings.TrimSpace(w.fill(initial))})
}

// fill puts what is known into a prompt. Each placeholder is filled once: what
// stands in the task is not looked at.
func (w *Work) fill(text string) string { return fill(text, w.meaning) }

func fill(text string, meaning func(placeholder string) (string, bool)) string {
	var b strings.Builder
	for {
		before, rest, _ := strings.Cut(text, "{")
		name, after, closed := strings.Cut(rest, "}")
		value, known := "", false
		if closed {
			value, known = meaning(name)
		}
		switch {
		case len(before) == len(text) && b.Len() == 0:
			return text
		case len(before) == len(text):
			b.WriteString(text)
			return b.String()
		case known:
			b.WriteString(before)
			b.WriteString(value)
			text = after
		default:
			b.WriteString(text[:len(before)+1])
			text = rest
		}
	}
}

// meaning is what a placeholder stands for.
func (w *Work) meaning(placeholder string) (string, bool) {
	switch placeholder {
	case "available_tools":
		return listed(w.Agent.Tools.All()), true
	case "tool_parameters":
		return strings.TrimSuffix(toolLines(w.Agent.Tools.All(), tool.Final), "\n"), true
	case "current_date":
		return w.Scope.Record().Created.UTC().Format(time.DateTime), true
	case "language":
		return w.Task.Lang.Name(), true
	case "task":
		return w.Task.whole(), true
	}
	return "", false
}

// listed is tools in a numbered list.
func listed(tools []tool.Tool) string {
	var b strings.Builder
	for i, t := range tools {
		spec := t.Spec()
		fmt.Fprintf(&b, "%d. %s: %s\n", i+1, spec.Name, inPrompt(spec))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// inPrompt is what a tool's description is in a prompt: one line, so that what
// a server says of its tool can't pass for the prompt's own words.
func inPrompt(spec *tool.Spec) string {
	const most = 1000 // characters
	line := strings.Join(strings.Fields(prompt.Data(spec.Description)), " ")
	n := 0
	for i := range line {
		if n++; n > most {
			return line[:i] + "…"
		}
	}
	return line
}

// clarified is the message that carries the user's answer to a question.
func (w *Work) clarified(a run.Answer) string {
	text := w.Agent.Definition.Prompts.Clarification
	if text == "" {
		text = builtin.clarification
	}
	if !strings.Contains(text, "{clarifications}") {
		text += "\n\n{clarifications}"
	}
	return strings.TrimSpace(strings.NewReplacer(
		"{clarifications}", prompt.Data(a.Text), "{current_date}", w.Scope.Record().Created.UTC().Format(time.DateTime),
	).Replace(text))
}
