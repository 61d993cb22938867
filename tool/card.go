package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"dossier/llm"
	"dossier/run"
)

// Card is what a run records of a tool: with it the run knows the tool by the
// same name, schema and effect whenever it is taken up again, whatever became
// of the tool in between.
type Card struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Schema is what models are shown, and Checked what arguments are held to
	// where that is another.
	Schema  json.RawMessage `json:"schema"`
	Checked json.RawMessage `json:"checked,omitempty"`
	Effect  run.Effect      `json:"effect,omitempty"`
	Kind    Kind            `json:"kind,omitempty"`
	System  bool            `json:"system,omitempty"`
	Origin  string          `json:"origin"`
}

// Cards of tools, in their order.
func Cards(tools []Tool) []Card {
	cards := make([]Card, len(tools))
	for i, t := range tools {
		s := t.Spec()
		cards[i] = Card{
			Name: s.Name, Description: s.Description, Schema: s.Schema.Strict, Checked: s.Schema.Checked,
			Effect: s.Effect, Kind: s.Kind, System: s.System, Origin: s.Origin,
		}
	}
	return cards
}

// Find looks for the tool of a card among those there are now. It is asked
// inside the step of a call.
type Find func(ctx context.Context, c Card) (Tool, error)

// Dealt returns the tool of each card, known from now on as the card has it: the
// one of that name and origin among those at hand, or one that find looks for
// each time that it is called. A tool that is gone fails when it is called.
func Dealt(ctx context.Context, cards []Card, have []Tool, find Find) ([]Tool, error) {
	out := make([]Tool, len(cards))
	for i, c := range cards {
		var err error
		if out[i], err = c.tool(ctx, have, find); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c Card) tool(ctx context.Context, have []Tool, find Find) (Tool, error) {
	live := c.Among(have)
	if live == nil && find != nil && c.Checked == nil && !strings.HasPrefix(c.Origin, "mcp:") {
		// Programs before did not record what such a tool holds arguments to: only
		// the tool itself knows.
		live, _ = find(ctx, c)
	}
	if live != nil && (c.Origin == Builtin || c.shows(live.Spec())) {
		return live, nil // what is built in changes with the program only
	}
	spec := Spec{Name: c.Name, Description: c.Description, Effect: c.Effect, Kind: c.Kind, System: c.System, Origin: c.Origin}
	checked := c.Checked
	if checked == nil {
		checked = c.Schema
	}
	schema, err := llm.ParseSchema(c.Name, checked)
	if err != nil {
		return nil, err
	}
	spec.Schema = schema.Showing(c.Schema)
	if live == nil {
		return &late{spec: spec, card: c, find: find}, nil
	}
	spec.Timeout, spec.Tags, spec.Examples = live.Spec().Timeout, live.Spec().Tags, live.Spec().Examples
	return respecified(live, spec), nil
}

// Among returns the tool of the card's name and origin, nil if there is none.
func (c Card) Among(tools []Tool) Tool {
	var live Tool
	for _, t := range tools {
		if s := t.Spec(); s.Name == c.Name && s.Origin == c.Origin {
			live = t
		}
	}
	return live
}

// shows says whether the card is that of a spec.
func (c Card) shows(s *Spec) bool {
	return c.Description == s.Description && c.Effect == s.Effect && c.Kind == s.Kind && c.System == s.System && bytes.Equal(c.Schema, s.Schema.Strict) && (c.Checked == nil || bytes.Equal(c.Checked, s.Schema.Checked))
}

// late is a tool that a run knows and that is looked for when it is called.
type late struct {
	spec Spec
	card Card
	find Find
}

func (l *late) Spec() *Spec { return &l.spec }

func (l *late) Call(ctx context.Context, c *Call) (Result, error) {
	t, err := l.live(ctx)
	if err != nil {
		return Result{}, err
	}
	return t.Call(ctx, c)
}

// live is the tool that it stands for.
func (l *late) live(ctx context.Context) (Tool, error) {
	var t Tool
	var err error
	if l.find != nil {
		t, err = l.find(ctx, l.card)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("%s can't be reached now: %w. Do without it", l.spec.Name, err)
	case t == nil:
		return nil, fmt.Errorf("%s can't be reached now (it comes from %s). Do without it", l.spec.Name, l.spec.Origin)
	}
	return t, nil
}
