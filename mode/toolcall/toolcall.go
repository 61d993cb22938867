// Package toolcall is the mode that calls one tool, for whoever wants to see
// what it does: the request's agent is the name of the tool, and the question
// its arguments as JSON.
package toolcall

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"dossier/event"
	"dossier/mode"
	"dossier/run"
	"dossier/tool"
)

// Name of the mode.
const Name = "tool"

// Mode calls tools.
type Mode struct {
	find func(ctx context.Context, name string) (tool.Tool, error)
}

// New returns the mode over the tools that find finds.
func New(find func(ctx context.Context, name string) (tool.Tool, error)) *Mode { return &Mode{find} }

// Name implements mode.Mode.
func (m *Mode) Name() string { return Name }

// Settings implements mode.Mode.
func (m *Mode) Settings() any { return Settings{} }

// Settings are the call, frozen into its run: the tool as it was and arguments
// that fit it.
type Settings struct {
	Tool *tool.Card      `json:"tool,omitempty"`
	Args json.RawMessage `json:"args,omitempty"`
}

// SettingsFor implements mode.Configured: a call that can't be made is refused
// before there is a run.
func (m *Mode) SettingsFor(ctx context.Context, req *mode.Request) (any, error) {
	return m.settle(ctx, req)
}

func (m *Mode) settle(ctx context.Context, req *mode.Request) (Settings, error) {
	t, err := m.find(ctx, req.Agent)
	if err != nil {
		return Settings{}, err
	}
	args, err := t.Spec().Schema.Read(arguments(req))
	if err != nil {
		return Settings{}, &tool.ArgumentError{Tool: t.Spec().Name, Err: err}
	}
	return Settings{Tool: &tool.Cards([]tool.Tool{t})[0], Args: args}, nil
}

func arguments(req *mode.Request) string {
	if strings.TrimSpace(req.Question) == "" {
		return "{}"
	}
	return req.Question
}

// failedError is a tool's own failure as that of the run.
type failedError struct{ text string }

func (e *failedError) Error() string { return e.text }

// Fault tells the kernel how to record the error.
func (e *failedError) Fault() (code, hint string) { return "tool_failed", "" }

// Run implements mode.Mode.
func (m *Mode) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	var set Settings
	if err := json.Unmarshal(req.Settings, &set); err != nil {
		return mode.Answer{}, fmt.Errorf("settings of %s: %w", Name, err)
	}
	if set.Tool == nil { // of a program that did not record it
		var err error
		if set, err = m.settle(ctx, &req); err != nil {
			return mode.Answer{}, err
		}
	}
	name := set.Tool.Name
	if err := s.Emit(event.AgentAction{Tool: name, Arguments: set.Args}); err != nil {
		return mode.Answer{}, err
	}
	state := &tool.State{Status: tool.Researching, Task: req.Question, Lang: string(req.Language("")), Created: s.Record().Created.UTC().Format(time.DateOnly), Custom: req.Custom}
	out, err := run.EffectStep(ctx, s, set.Tool.Effect, "call", func(ctx context.Context, step *run.Scope) (tool.Outcome, error) {
		breakable := step
		if set.Tool.Effect == run.Effectful {
			breakable = s // what it has done by the end it has done, and need not do again
		}
		until, cancel := breakable.UntilFinish(ctx)
		defer cancel()
		dealt, err := tool.Dealt(ctx, []tool.Card{*set.Tool}, nil, m.again)
		if err != nil {
			return tool.Outcome{}, err
		}
		return tool.Invoke(ctx, dealt[0], &tool.Call{ID: "call", Args: set.Args, State: state, Scope: step}, tool.Guard{Until: until})
	})
	if err != nil {
		return mode.Answer{}, fmt.Errorf("tool %s: %w", name, err)
	}
	if out.Failed {
		return mode.Answer{}, &failedError{strings.TrimPrefix(out.Text, "Error: ")}
	}
	return mode.Answer{Text: out.Text}, nil
}

// again finds the tool of a card.
func (m *Mode) again(ctx context.Context, c tool.Card) (tool.Tool, error) {
	t, err := m.find(ctx, c.Name)
	if err != nil {
		return nil, err
	}
	return c.Among([]tool.Tool{t}), nil
}

var _ mode.Configured = (*Mode)(nil)
