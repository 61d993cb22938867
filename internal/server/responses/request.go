package responses

import (
	"encoding/json"
	"fmt"

	"dossier"
	"dossier/llm"
	"dossier/mode"
)

// createRequest is what a response is asked with. What it does not name is passed
// over: tools are those of the agent that is asked, and what steers a model is a
// setting of the models behind.
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
}

// input is what is said: a text of the user's, or items. Items that are no messages
// (reasoning, searches and calls of an earlier response) are passed over.
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
			Type string `json:"type"`
			ID   string `json:"id"`
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
		case "item_reference":
			return fmt.Errorf("item %d of the input is a reference: items are kept with their response, so go on with that (previous_response_id)", i+1)
		}
	}
	return nil
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
	raw, err := json.Marshal(kept{Background: r.Background, Previous: r.Previous, Instructions: r.Instructions, Metadata: r.Metadata, User: r.User})
	if err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	for key, value := range r.Custom {
		out[key] = value
	}
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
