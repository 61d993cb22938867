// Package toolcall is the mode that calls one tool, for whoever wants to see
// what it does: the request's agent is the name of the tool, and the question
// its arguments as JSON.
package toolcall

import (
	"context"
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
func (m *Mode) Settings() any { return struct{}{} }

// SettingsFor implements mode.Configured: a call that can't be made is refused
// before there is a run.
func (m *Mode) SettingsFor(ctx context.Context, req *mode.Request) (any, error) {
	t, err := m.find(ctx, req.Agent)
	if err != nil {
		return nil, err
	}
	if _, err := t.Spec().Schema.Read(arguments(req)); err != nil {
		return nil, &tool.ArgumentError{Tool: t.Spec().Name, Err: err}
	}
	return struct{}{}, nil
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
	t, err := m.find(ctx, req.Agent)
	if err != nil {
		return mode.Answer{}, err
	}
	spec := t.Spec()
	args, err := spec.Schema.Read(arguments(&req))
	if err != nil {
		return mode.Answer{}, &tool.ArgumentError{Tool: spec.Name, Err: err}
	}
	if err := s.Emit(event.AgentAction{Tool: spec.Name, Arguments: args}); err != nil {
		return mode.Answer{}, err
	}
	state := &tool.State{Status: tool.Researching, Task: req.Question, Lang: string(req.Language("")), Created: s.Record().Created.UTC().Format(time.DateOnly)}
	out, err := run.EffectStep(ctx, s, spec.Effect, "call", func(ctx context.Context, s *run.Scope) (tool.Outcome, error) {
		return tool.Invoke(ctx, t, &tool.Call{ID: "call", Args: args, State: state, Scope: s}, tool.Guard{})
	})
	if err != nil {
		return mode.Answer{}, fmt.Errorf("tool %s: %w", spec.Name, err)
	}
	if out.Failed {
		return mode.Answer{}, &failedError{strings.TrimPrefix(out.Text, "Error: ")}
	}
	return mode.Answer{Text: out.Text}, nil
}

var _ mode.Configured = (*Mode)(nil)
