// Package relay is the mode that passes a conversation on to the model as it is,
// for callers who bring functions of their own or want JSON of a certain form:
// what the model says, or the calls that it wants made, is the answer.
package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"dossier/event"
	"dossier/internal/base/usage"
	"dossier/llm"
	"dossier/mode"
	"dossier/prompt"
	"dossier/run"
)

// Name of the mode.
const Name = "relay"

// Settings of the mode: there are none.
type Settings struct{}

// Mode is the relay.
type Mode struct{ models *llm.Models }

// New returns the mode with its models: those of chat.
func New(models *llm.Models) *Mode { return &Mode{models} }

// Name implements mode.Mode.
func (m *Mode) Name() string { return Name }

// Settings implements mode.Mode.
func (m *Mode) Settings() any { return Settings{} }

// SettingsFor implements mode.Configured: what can't be passed on is refused.
func (m *Mode) SettingsFor(_ context.Context, req *mode.Request) (any, error) {
	r := req.Relay
	if r == nil || len(r.Messages) == 0 {
		return nil, &usage.Error{Message: "there is no conversation to be passed on"}
	}
	if len(r.Schema) > 0 {
		if _, err := llm.ParseSchema(r.SchemaName, r.Schema); err != nil {
			return nil, &usage.Error{Message: fmt.Sprintf("the schema of the answer can't be used: %v", err)}
		}
	}
	return Settings{}, nil
}

// Circumstances implements mode.Situated.
func (m *Mode) Circumstances(context.Context, *mode.Request) mode.Circumstances {
	return mode.Circumstances{Models: mode.ModelsOf(m.models, llm.ForChat)}
}

// reply is what the model said.
type reply struct {
	Message llm.Message `json:"message"`
	Model   string      `json:"model"`
}

// Run implements mode.Mode.
func (m *Mode) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	var shown strings.Builder
	got, err := run.Step(ctx, s, "reply", func(ctx context.Context, step *run.Scope) (reply, error) {
		sink := func(c llm.Chunk) {
			if c.Restart {
				shown.Reset()
				_ = step.Emit(event.AnswerDelta{Reset: true})
			}
			if c.Text != "" {
				shown.WriteString(c.Text)
				_ = step.Emit(event.AnswerDelta{Text: c.Text})
			}
		}
		return m.ask(ctx, step, req, sink)
	})
	if err != nil {
		return mode.Answer{}, err
	}
	msg := got.Message
	return mode.Answer{Text: msg.Content, Reasoning: msg.Reasoning, Model: got.Model, Calls: msg.ToolCalls, Shown: shown.String()}, nil
}

// ask makes the call.
func (m *Mode) ask(ctx context.Context, s *run.Scope, req mode.Request, sink func(llm.Chunk)) (reply, error) {
	if err := s.Budget().Check(); err != nil {
		return reply{}, err
	}
	client := m.models.For(llm.ForChat)
	if !client.Configured() {
		return reply{}, prompt.ErrNoModel
	}
	r := req.Relay
	call := &llm.Request{
		Model: req.Model, Messages: r.Messages, Tools: r.Tools, ToolChoice: r.ToolChoice, MaxTokens: r.MaxTokens, Temperature: r.Temperature, Stop: r.Stop,
	}
	who := prompt.Caller{Scope: s, Role: llm.ForChat, Model: req.Model}
	watched, vigil := who.Watch(ctx)
	defer vigil.End()
	charge := func(u llm.Usage, calls int) error {
		if calls == 0 {
			return nil
		}
		s.Charge(run.Spent{Calls: calls, InputTokens: u.Input, OutputTokens: u.Output, Cost: u.Cost})
		return s.Emit(event.Usage{Role: string(llm.ForChat), Model: client.Setting().Name, Input: u.Input, Output: u.Output, CachedInput: u.CachedInput, Cost: u.Cost, Estimated: u.Estimated})
	}
	// A form is held to where the answer is all that there can be; beside functions
	// the model chooses, and is only asked for it.
	if len(r.Schema) == 0 || len(r.Tools) > 0 {
		if r.JSON || len(r.Schema) > 0 {
			call.Format = &llm.Format{Name: r.SchemaName, Schema: r.Schema}
		}
		resp, err := client.Stream(watched, call, sink)
		if err != nil {
			return reply{}, errors.Join(err, who.Failed(err, llm.ThenFailed))
		}
		resp.Message.Role = llm.RoleAssistant
		return reply{resp.Message, resp.Model}, charge(resp.Usage, 1)
	}
	schema, err := llm.ParseSchema(r.SchemaName, r.Schema)
	if err != nil {
		return reply{}, err
	}
	var made json.RawMessage
	info, err := llm.ObjectAs(watched, client, call, schema, func(raw json.RawMessage) error {
		made = raw
		return nil
	}, llm.ObjectOptions{})
	if cerr := charge(info.Usage, info.Attempts); cerr != nil {
		return reply{}, cerr
	}
	if err != nil {
		return reply{}, errors.Join(err, who.Failed(err, llm.ThenFailed))
	}
	return reply{llm.Message{Role: llm.RoleAssistant, Content: string(made)}, info.Model}, nil
}

var (
	_ mode.Configured = (*Mode)(nil)
	_ mode.Situated   = (*Mode)(nil)
)
