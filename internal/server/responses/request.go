package responses

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"dossier"
	"dossier/llm"
	"dossier/mode"
)

// createRequest is what a response is asked with. Functions and a form of the answer
// go to the model behind chat, as the conversation is; what steers a model counts
// then, too. Otherwise these are passed over, as is all that is not named here.
type createRequest struct {
	Model        string                     `json:"model,omitempty"`
	Input        input                      `json:"input"`
	Instructions string                     `json:"instructions,omitempty"`
	Previous     string                     `json:"previous_response_id,omitempty"`
	Stream       bool                       `json:"stream,omitempty"`
	Background   bool                       `json:"background,omitempty"`
	Metadata     map[string]string          `json:"metadata,omitempty"`
	User         string                     `json:"user,omitempty"`
	Custom       map[string]json.RawMessage `json:"custom_context,omitempty"`
	Tools        []toolParam                `json:"tools,omitempty"`
	ToolChoice   toolChoice                 `json:"tool_choice,omitzero"`
	Text         textSettings               `json:"text,omitzero"`
	MaxTokens    *int                       `json:"max_output_tokens,omitempty"`
	Temperature  *float64                   `json:"temperature,omitempty"`
}

// toolParam is a tool that comes with a request. Only functions can be passed on:
// of the others, what there is here is used.
type toolParam struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description *string         `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict"`
}

// Form implements server.Formed: what a request may leave out is null in a reply.
func (toolParam) Form() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Required: []string{"type"}, Properties: map[string]*jsonschema.Schema{
		"type": {Type: "string"}, "name": {Type: "string"}, "description": {Types: []string{"string", "null"}},
		"parameters": {Description: "a JSON schema"}, "strict": {Types: []string{"boolean", "null"}},
	}}
}

// toolChoice is a word, or the name of the function that is to be called.
type toolChoice struct{ Word, Function string }

// UnmarshalJSON reads either form.
func (c *toolChoice) UnmarshalJSON(raw []byte) error {
	var named struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(raw, &named) == nil {
		*c = toolChoice{Function: named.Name}
		return nil
	}
	*c = toolChoice{}
	return json.Unmarshal(raw, &c.Word)
}

// Form implements server.Formed.
func (toolChoice) Form() *jsonschema.Schema {
	return &jsonschema.Schema{Types: []string{"string", "object"}, Description: "auto, none, required, or the function that is to be called"}
}

// MarshalJSON writes it as it came.
func (c toolChoice) MarshalJSON() ([]byte, error) {
	if c.Function == "" {
		return json.Marshal(cmp.Or(c.Word, llm.ChooseAuto))
	}
	return json.Marshal(map[string]string{"type": "function", "name": c.Function})
}

// functions are the tools that can be passed on.
func (r *createRequest) functions() []toolParam {
	return slices.DeleteFunc(slices.Clone(r.Tools), func(t toolParam) bool { return t.Type != "function" || t.Name == "" })
}

// relayed says whether the model behind is to answer by itself.
func (r *createRequest) relayed() bool {
	return len(r.functions()) > 0 || r.Text.Format.Type == "json_object" || r.Text.Format.Type == "json_schema"
}

// relay is a conversation as it is passed on.
func (r *createRequest) relay(turns []mode.Turn) *mode.Relay {
	out := &mode.Relay{ToolChoice: cmp.Or(r.ToolChoice.Function, r.ToolChoice.Word), Temperature: r.Temperature}
	for _, t := range r.functions() {
		f := llm.Tool{Name: t.Name}
		if string(t.Parameters) != "null" {
			f.Parameters = t.Parameters
		}
		if t.Description != nil {
			f.Description = *t.Description
		}
		f.Strict = t.Strict != nil && *t.Strict
		out.Tools = append(out.Tools, f)
	}
	switch form := r.Text.Format; form.Type {
	case "json_object":
		out.JSON = true
	case "json_schema":
		out.SchemaName, out.Schema = form.Name, form.Schema
	}
	if r.MaxTokens != nil {
		out.MaxTokens = *r.MaxTokens
	}
	for _, t := range turns {
		out.Messages = append(out.Messages, llm.Message(t))
	}
	return out
}

// input is what is said: a text of the user's, or items. Items that are neither
// messages nor functions with what they returned (reasoning and searches of an
// earlier response) are passed over.
type input []mode.Turn

// UnmarshalJSON reads either form.
func (in *input) UnmarshalJSON(raw []byte) error {
	*in = nil
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text != "" {
			*in = input{{Role: llm.RoleUser, Content: text}}
		}
		return nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return err
	}
	for i, item := range items {
		var of struct {
			Type      string          `json:"type"`
			CallID    string          `json:"call_id"`
			Name      string          `json:"name"`
			Arguments string          `json:"arguments"`
			Output    json.RawMessage `json:"output"`
		}
		if err := json.Unmarshal(item, &of); err != nil {
			return err
		}
		switch of.Type {
		case "", typeMessage:
			var turn mode.Turn
			if err := json.Unmarshal(item, &turn); err != nil {
				return fmt.Errorf("item %d of the input: %w", i+1, err)
			}
			*in = append(*in, turn)
		case typeFunction:
			called := llm.ToolCall{ID: of.CallID, Name: of.Name, Arguments: of.Arguments}
			if n := len(*in) - 1; n >= 0 && len((*in)[n].ToolCalls) > 0 { // calls at once are one turn
				(*in)[n].ToolCalls = append((*in)[n].ToolCalls, called)
			} else {
				*in = append(*in, mode.Turn{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{called}})
			}
		case "function_call_output":
			var text string
			if json.Unmarshal(of.Output, &text) != nil {
				text = string(of.Output)
			}
			*in = append(*in, mode.Turn{Role: llm.RoleTool, ToolCallID: of.CallID, Content: text})
		case "item_reference":
			return fmt.Errorf("item %d of the input is a reference: items are kept with their response, so go on with that (previous_response_id)", i+1)
		}
	}
	return nil
}

// Form implements server.Formed.
func (input) Form() *jsonschema.Schema {
	return &jsonschema.Schema{
		Types: []string{"string", "array"}, Description: "what the user says, or a list of items: messages, function_call and function_call_output",
		Items: &jsonschema.Schema{Type: "object"},
	}
}

// check says why a request can't be answered.
func (r *createRequest) check() error {
	switch {
	case len(r.Input) == 0:
		return &dossier.UsageError{Message: "input is empty: the question is the last of it"}
	case r.Model == "" && r.Previous == "":
		return &dossier.UsageError{Message: "model is missing", Hint: "GET /v1/models lists them"}
	}
	return nil
}

// kept is what of the request is kept with the run.
func (r *createRequest) kept() (map[string]json.RawMessage, error) {
	k := kept{Background: r.Background, Previous: r.Previous, Instructions: r.Instructions, Metadata: r.Metadata, User: r.User}
	if r.relayed() {
		k.Relayed = &relayed{Tools: r.functions(), ToolChoice: r.ToolChoice, Text: r.Text, MaxTokens: r.MaxTokens, Temperature: r.Temperature}
	}
	raw, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	maps.Copy(out, r.Custom)
	out[custom] = raw
	return out, nil
}

// turns are the conversation with its instructions.
func (r *createRequest) turns(before []mode.Turn) []mode.Turn {
	var out []mode.Turn
	if r.Instructions != "" {
		out = append(out, mode.Turn{Role: llm.RoleSystem, Content: r.Instructions})
	}
	return append(append(out, before...), r.Input...)
}
