package agent

import (
	"encoding/json"
	"strconv"
	"strings"

	"dossier/llm"
	"dossier/llm/jsonrepair"
	"dossier/tool"
)

// number gives each call an id that no other call has, and that providers take
// back.
func (w *Work) number(calls []llm.ToolCall) {
	const longest = 64
	if w.ids == nil {
		w.ids = make(map[string]bool)
	}
	for i := range calls {
		id := calls[i].ID
		if w.ids[id] || id == "" || len(id) > longest || strings.ContainsFunc(id, odd) || strings.HasSuffix(id, thoughtID) {
			own := strconv.Itoa(w.State.Iteration) + "-action"
			if i > 0 {
				own += "-" + strconv.Itoa(i+1)
			}
			for id = own; w.ids[id]; {
				id += "-again"
			}
		}
		calls[i].ID, w.ids[id] = id, true
	}
}

// odd says whether a character has no place in an id.
func odd(r rune) bool { return r <= ' ' || r > '~' }

// tidy makes calls fit to be sent back to a provider: names that a tool can
// have, and arguments that are JSON objects of a bearable length. Some refuse
// the whole conversation otherwise.
func tidy(calls []llm.ToolCall, tools []tool.Tool) {
	for i := range calls {
		c := &calls[i]
		if t := named(tools, c.Name); t != nil {
			c.Name = t.Spec().Name
		} else {
			c.Name = presentable(c.Name)
		}
		args := strings.TrimSpace(c.Arguments)
		switch {
		case args == "":
			c.Arguments = "{}"
		case len(args) > mostArguments || args[0] != '{' || !json.Valid([]byte(args)):
			c.Arguments = `{"raw_input":` + string(llm.AppendString(nil, tool.Cut(args, 2000))) + `}`
		}
	}
}

// presentable makes a name of letters, digits, "_" and "-" out of whatever a
// model takes for one.
func presentable(name string) string {
	const longest = 64
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name[:min(len(name), longest)])
	if name == "" {
		return "unknown"
	}
	return name
}

// answerIn returns the answer in the arguments of a tool that ends the work, or
// in a reply that tried to be JSON; a text that is no JSON is one itself. Empty
// says that there is none.
func answerIn(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "```") {
		return text
	}
	raw, err := jsonrepair.Object(text)
	if err != nil {
		return ""
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil {
		return ""
	}
	for _, key := range []string{"answer", "final_answer", "response"} {
		var answer string
		if json.Unmarshal(o[key], &answer) == nil && strings.TrimSpace(answer) != "" {
			return strings.TrimSpace(answer)
		}
	}
	return ""
}

// callInText finds a call that a model wrote as text instead of making it: JSON
// that names a tool, with its arguments inside or beside the name.
func callInText(text string, tools []tool.Tool) (llm.ToolCall, bool) {
	raw, err := jsonrepair.Object(text)
	if err != nil {
		return llm.ToolCall{}, false
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil {
		return llm.ToolCall{}, false
	}
	return callInObject(o, tools)
}

// The names that models give to the parts of a call.
var (
	callNames = []string{"tool_name_discriminator", "tool_name", "tool", "name", "function_name", "function_name_choice", "function", "action", "recipient_name"}
	argsNames = []string{"arguments", "args", "parameters", "params", "input", "action_input", "tool_input"}
)

func callInObject(o map[string]json.RawMessage, tools []tool.Tool) (llm.ToolCall, bool) {
	for _, key := range callNames {
		raw, ok := o[key]
		if !ok {
			continue
		}
		var inner map[string]json.RawMessage
		if json.Unmarshal(raw, &inner) == nil && inner != nil {
			if call, ok := callInObject(inner, tools); ok {
				return call, true
			}
			continue
		}
		var name string
		if json.Unmarshal(raw, &name) != nil {
			continue
		}
		t := named(tools, name)
		if t == nil {
			continue
		}
		return llm.ToolCall{Name: t.Spec().Name, Arguments: argumentsIn(o, key)}, true
	}
	// An object that has just what one of the tools wants.
	for _, t := range tools {
		spec := t.Spec()
		if spec.Kind == tool.Reasoning {
			continue
		}
		raw, err := json.Marshal(o)
		if err != nil {
			return llm.ToolCall{}, false
		}
		if args, err := spec.Schema.Read(string(raw)); err == nil && len(o) > 1 {
			return llm.ToolCall{Name: spec.Name, Arguments: string(args)}, true
		}
	}
	return llm.ToolCall{}, false
}

// argumentsIn returns the arguments of a call whose name stands under key.
func argumentsIn(o map[string]json.RawMessage, key string) string {
	for _, name := range argsNames {
		raw, ok := o[name]
		if !ok {
			continue
		}
		var text string
		if json.Unmarshal(raw, &text) == nil {
			return text
		}
		return string(raw)
	}
	rest := make(map[string]json.RawMessage, len(o))
	for k, v := range o {
		if k != key {
			rest[k] = v
		}
	}
	raw, err := json.Marshal(rest)
	if err != nil {
		return "{}"
	}
	return string(raw)
}
