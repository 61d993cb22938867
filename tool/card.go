package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"dossier/llm"
	"dossier/run"
)

// Card is what a run records of a tool: with it the run knows the tool by the
// same name, schema and effect whenever it is taken up again, whatever became
// of the tool in between.
type Card struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`
	Effect      run.Effect      `json:"effect,omitempty"`
	Kind        Kind            `json:"kind,omitempty"`
	System      bool            `json:"system,omitempty"`
	Origin      string          `json:"origin"`
}

// Cards of tools, in their order.
func Cards(tools []Tool) []Card {
	cards := make([]Card, len(tools))
	for i, t := range tools {
		s := t.Spec()
		cards[i] = Card{
			Name: s.Name, Description: s.Description, Schema: s.Schema.Strict, Effect: s.Effect, Kind: s.Kind, System: s.System, Origin: s.Origin,
		}
	}
	return cards
}

// Dealt returns the tool of each card: the one of that name and origin among
// those there are now, as the card has it, or in the place of one that is gone
// a tool whose calls fail.
func Dealt(cards []Card, now []Tool) ([]Tool, error) {
	out := make([]Tool, len(cards))
	for i, c := range cards {
		var err error
		if out[i], err = c.tool(now); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c Card) tool(now []Tool) (Tool, error) {
	var live Tool
	for _, t := range now {
		if s := t.Spec(); s.Name == c.Name && s.Origin == c.Origin {
			live = t
		}
	}
	if live != nil && (c.Origin == Builtin || c.shows(live.Spec())) {
		return live, nil // what is built in changes with the program only
	}
	spec := Spec{Name: c.Name, Description: c.Description, Effect: c.Effect, Kind: c.Kind, System: c.System, Origin: c.Origin}
	var err error
	if spec.Schema, err = llm.ParseSchema(c.Name, c.Schema); err != nil {
		return nil, err
	}
	if live == nil {
		return &gone{spec}, nil
	}
	spec.Timeout, spec.Tags, spec.Examples = live.Spec().Timeout, live.Spec().Tags, live.Spec().Examples
	return respecified(live, spec), nil
}

// shows says whether the card is that of a spec.
func (c Card) shows(s *Spec) bool {
	return c.Description == s.Description && c.Effect == s.Effect && c.Kind == s.Kind && c.System == s.System && bytes.Equal(c.Schema, s.Schema.Strict)
}

// gone is a tool that a run knows and that is not there any more.
type gone struct{ spec Spec }

func (g *gone) Spec() *Spec { return &g.spec }

func (g *gone) Call(context.Context, *Call) (Result, error) {
	return Result{}, fmt.Errorf("%s can't be reached now (it comes from %s). Do without it", g.spec.Name, g.spec.Origin)
}
