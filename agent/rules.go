package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"dossier/llm"
	"dossier/tool"
)

// rules decide without a model: look in the user's documents, else search, read
// what was found, answer with what was read.
type rules struct{}

func (rules) Reason(context.Context, *Work, Input) (Thought, error) { return Thought{}, nil }

func (rules) Select(ctx context.Context, w *Work, in Input, _ Thought) (Choice, error) {
	const reads = 5 // sources read at once
	fresh := func(kind tool.Kind) tool.Tool {
		if t := ofKind(in.Tools, kind); t != nil && w.State.Calls[t.Spec().Name] == 0 {
			return t
		}
		return nil
	}
	if t := fresh(tool.Lookup); t != nil {
		return choose(t, map[string]any{"query": w.Task.Text})
	}
	if t := fresh(tool.Gathering); t != nil {
		return choose(t, nil)
	}
	if t := fresh(tool.Searching); t != nil && len(w.State.Sources) == 0 {
		return choose(t, map[string]any{"query": w.Task.Text})
	}
	var unread []string
	for _, s := range w.State.Sources {
		if s.Text == "" {
			unread = append(unread, s.URL)
		}
	}
	if t := fresh(tool.Reading); t != nil && len(unread) > 0 {
		return choose(t, map[string]any{"urls": unread[:min(reads, len(unread))]})
	}
	return Choice{}, &stuckError{&goneError{Why: cmp.Or(w.why, "the agent works by rules, without a model")}}
}

func (rules) Record(_ *Work, _ Thought, c Choice, actions []Action, to []llm.Message) []llm.Message {
	return recordCalls(to, c, actions)
}

func ofKind(tools []tool.Tool, kind tool.Kind) tool.Tool {
	i := slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Spec().Kind == kind })
	if i < 0 {
		return nil
	}
	return tools[i]
}

// choose makes a call with the arguments that are known, and words for the
// texts that a model would have written.
func choose(t tool.Tool, known map[string]any) (Choice, error) {
	spec := t.Spec()
	var schema struct {
		Properties map[string]struct {
			Type    any             `json:"type"`
			Default json.RawMessage `json:"default"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(spec.Schema.Strict, &schema); err != nil {
		return Choice{}, err
	}
	args := make(map[string]any, len(schema.Properties))
	for name, p := range schema.Properties {
		if v, ok := known[name]; ok {
			args[name] = v
		} else if p.Type == "string" && p.Default == nil {
			args[name] = "by rules"
		}
	}
	raw, err := json.Marshal(args)
	return Choice{Calls: []llm.ToolCall{{Name: spec.Name, Arguments: string(raw)}}}, err
}
