package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"dossier/llm"
	"dossier/tool"
)

// sgr asks for one structured reply that reasons and holds the call: the
// reasoning's fields and "function", which is the arguments of one of the tools
// with the tool's name among them.
type sgr struct{}

// discriminator is the field of a call that names the tool.
const discriminator = "tool_name_discriminator"

// nextStep is what the reply is held to. The call in it is read by itself.
type nextStep struct {
	reasons
	Function map[string]any `json:"function"`
}

func (sgr) Reason(ctx context.Context, w *Work, in Input) (Thought, error) {
	schema, err := nextStepSchema(in.Tools)
	if err != nil {
		return Thought{}, err
	}
	var t Thought
	read := func(raw json.RawMessage) error {
		var err error
		t, err = readNextStep(raw, in.Tools)
		return err
	}
	r, err := w.call(ctx, "reason", &llm.Request{Messages: in.Messages}, &object{schema: schema, accept: read}, answerNested(in.Tools))
	if gone, ok := errors.AsType[*goneError](err); ok && gone.Unfit {
		return misread(gone, in.Tools), nil
	}
	if err != nil {
		return Thought{}, err
	}
	if t.Choice == nil { // the step was recorded before
		if err := read(r.Object); err != nil {
			return Thought{}, fmt.Errorf("the recorded reply: %w", err)
		}
	}
	t.At, t.Choice.At, t.Choice.Model = r.At, r.At, r.Model
	return t, nil
}

// misread makes what can be made of a reply that never fitted.
func misread(gone *goneError, tools []tool.Tool) Thought {
	if call, ok := callInText(gone.Raw, tools); ok {
		return Thought{Choice: &Choice{Calls: []llm.ToolCall{call}}}
	}
	return Thought{Choice: &Choice{
		Text:      strings.TrimSpace(gone.Raw),
		Complaint: "Your reply was not the JSON object that was asked for (" + tool.Cut(gone.Why, 300) + "). Reply with that object and nothing else.",
	}}
}

func readNextStep(raw json.RawMessage, tools []tool.Tool) (Thought, error) {
	var step nextStep
	if err := json.Unmarshal(raw, &step); err != nil {
		return Thought{}, err
	}
	var o map[string]json.RawMessage
	function, err := json.Marshal(step.Function)
	if err == nil {
		err = json.Unmarshal(function, &o)
	}
	if err != nil {
		return Thought{}, err
	}
	call, ok := callInObject(o, tools)
	if !ok {
		return Thought{}, fmt.Errorf("at /function: %s has to be one of %s", discriminator, strings.Join(toolNames(tools), ", "))
	}
	t := named(tools, call.Name)
	args, err := t.Spec().Schema.Read(call.Arguments)
	if err != nil {
		return Thought{}, fmt.Errorf("at /function, for %s: %w", call.Name, err)
	}
	call.Arguments = string(args)
	return Thought{Reasoning: Reasoning(step.reasons), Choice: &Choice{Calls: []llm.ToolCall{call}}}, nil
}

func toolNames(tools []tool.Tool) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Spec().Name
	}
	return names
}

func (sgr) Select(_ context.Context, _ *Work, _ Input, t Thought) (Choice, error) {
	return *t.Choice, nil
}

func (sgr) Record(_ *Work, t Thought, c Choice, actions []Action, to []llm.Message) []llm.Message {
	c.Message = llm.Message{Content: "Completing"}
	if len(t.Reasoning.Remaining) > 0 {
		c.Message.Content = t.Reasoning.Remaining[0]
	}
	return recordCalls(to, c, actions)
}

// nextStepSchema is the schema of a reply that may call one of the tools. What
// the model sees says all; what is checked here leaves the call to its tool.
func nextStepSchema(tools []tool.Tool) (*llm.Schema, error) {
	checked, err := llm.SchemaOf[nextStep]()
	if err != nil {
		return nil, err
	}
	var shown struct {
		Type                 string          `json:"type"`
		Properties           json.RawMessage `json:"properties"`
		Required             []string        `json:"required"`
		AdditionalProperties bool            `json:"additionalProperties"`
		// Defs are parts of the tools' schemas, to which these refer.
		Defs map[string]json.RawMessage `json:"$defs,omitempty"`
	}
	reasoning := thinking().Spec().Schema.Strict
	if err := json.Unmarshal(reasoning, &struct {
		Properties *json.RawMessage `json:"properties"`
		Required   *[]string        `json:"required"`
	}{&shown.Properties, &shown.Required}); err != nil {
		return nil, err
	}
	var union bytes.Buffer
	defs := make(map[string]json.RawMessage)
	union.WriteString(`{"anyOf":[`)
	n := 0
	for _, t := range tools {
		if t.Spec().Kind == tool.Reasoning {
			continue
		}
		if n++; n > 1 {
			union.WriteByte(',')
		}
		if err := discriminated(&union, t.Spec(), defs); err != nil {
			return nil, err
		}
	}
	union.WriteString(`]}`)
	shown.Type = "object"
	shown.Properties = append(bytes.TrimSuffix(shown.Properties, []byte("}")), `,"function":`+union.String()+`}`...)
	shown.Required, shown.Defs = append(shown.Required, "function"), defs
	sent, err := json.Marshal(shown)
	if err != nil {
		return nil, err
	}
	s := checked.Showing(sent)
	s.Name = "next_step_tools"
	return s, nil
}

// discriminated writes a tool's schema with the tool's name as one of its
// fields, the first: a model that has named the tool knows what comes next. What
// the schema defines for itself goes to defs, under names of the tool's own.
func discriminated(b *bytes.Buffer, spec *tool.Spec, defs map[string]json.RawMessage) error {
	text := spec.Schema.Strict
	if bytes.Contains(text, []byte(`"$ref"`)) {
		var compact bytes.Buffer
		if err := json.Compact(&compact, text); err != nil {
			return fmt.Errorf("schema of %s: %w", spec.Name, err)
		}
		own := []byte(`"$ref":"#/$defs/` + spec.Name + ".")
		text = bytes.ReplaceAll(compact.Bytes(), []byte(`"$ref":"#/$defs/`), own)
		text = bytes.ReplaceAll(text, []byte(`"$ref":"#/definitions/`), own)
	}
	var schema map[string]json.RawMessage
	if err := json.Unmarshal(text, &schema); err != nil {
		return fmt.Errorf("schema of %s: %w", spec.Name, err)
	}
	for _, key := range []string{"$defs", "definitions"} {
		var parts map[string]json.RawMessage
		if raw, ok := schema[key]; ok && json.Unmarshal(raw, &parts) == nil {
			for name, part := range parts {
				defs[spec.Name+"."+name] = part
			}
			delete(schema, key)
		}
	}
	name, err := json.Marshal(spec.Name)
	if err != nil {
		return err
	}
	properties := bytes.TrimSpace(schema["properties"])
	inner := bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimPrefix(properties, []byte("{")), []byte("}")))
	fields := fmt.Appendf(nil, `{%q:{"type":"string","const":%s}`, discriminator, name)
	if len(inner) > 0 {
		fields = append(append(fields, ','), inner...)
	}
	schema["properties"] = append(fields, '}')
	var required []string
	if raw, ok := schema["required"]; ok {
		if err := json.Unmarshal(raw, &required); err != nil {
			return fmt.Errorf("schema of %s: %w", spec.Name, err)
		}
	}
	if schema["required"], err = json.Marshal(append([]string{discriminator}, required...)); err != nil {
		return err
	}
	if spec.Description != "" {
		if schema["description"], err = json.Marshal(spec.Description); err != nil {
			return err
		}
	}
	out, err := json.Marshal(schema)
	b.Write(out)
	return err
}
