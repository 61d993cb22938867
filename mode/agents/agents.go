// Package agents is the mode in which an agent works on the question: a
// definition made ready with its tools, its loop, and a check of what it
// delivers against what it really read.
package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"dossier/agent"
	"dossier/cite"
	"dossier/event"
	"dossier/lang"
	"dossier/llm"
	"dossier/mode"
	"dossier/run"
	"dossier/sources"
	"dossier/tool"
)

// Name of the mode.
const Name = "agent"

// Settings are frozen into each run: the agent as it was defined when the run
// was created, and those that it may call.
type Settings struct {
	Member
	// Callees are the agents that it, or one of them, may call, by name.
	Callees map[string]Member `json:"callees,omitempty"`

	HistoryLimit int       `json:"history_limit"`
	Lang         lang.Code `json:"lang,omitempty"`
}

// Member is an agent and where its definition comes from: the version of a
// template, or the configuration where Template is empty.
type Member struct {
	Agent    agent.Definition `json:"agent"`
	Template string           `json:"template,omitempty"`
	Version  int              `json:"version,omitempty"`
}

// Parts is what the mode works with.
type Parts struct {
	// Resolve finds the agent that a request names.
	Resolve func(ctx context.Context, req *mode.Request) (Settings, error)
	// Tools makes the tools that an agent lists. Trouble is what could not be
	// had, in sentences for people.
	Tools func(ctx context.Context, m Member) (tools []tool.Tool, trouble []string, err error)
	// Models returns those of an agent.
	Models func(ctx context.Context, m Member) (*llm.Models, error)
	Finder agent.Finder
	Used   func(spec *tool.Spec, failed string, took time.Duration)

	Blobs   sources.Blobs
	History mode.History
}

// Mode has agents work.
type Mode struct{ parts Parts }

// New returns the mode.
func New(p Parts) *Mode { return &Mode{p} }

// Name implements mode.Mode.
func (m *Mode) Name() string { return Name }

// Settings implements mode.Mode.
func (m *Mode) Settings() any { return Settings{} }

// SettingsFor implements mode.Configured.
func (m *Mode) SettingsFor(ctx context.Context, req *mode.Request) (any, error) {
	return m.parts.Resolve(ctx, req)
}

// Run implements mode.Mode.
func (m *Mode) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	var set Settings
	if err := json.Unmarshal(req.Settings, &set); err != nil {
		return mode.Answer{}, fmt.Errorf("settings of %s: %w", Name, err)
	}
	history, err := req.Conversation(ctx, s, m.parts.History, set.HistoryLimit)
	if err != nil {
		return mode.Answer{}, err
	}
	a, err := m.agent(ctx, s, set, set.Member)
	if err != nil {
		return mode.Answer{}, err
	}
	language := req.Language(set.Lang)
	done, err := a.Run(ctx, s, agent.Task{
		Text: question(req), History: history, Lang: language, Model: req.Model, NoInput: req.NoInput,
	})
	if err != nil {
		return mode.Answer{}, err
	}
	d := &delivery{scope: s, blobs: m.parts.Blobs, models: a.Models, req: req, language: language, done: done}
	return d.deliver(ctx)
}

// question with what came along with it.
func question(req mode.Request) string {
	if strings.TrimSpace(req.Context) == "" {
		return req.Question
	}
	return req.Question + "\n\n<material>\n" + req.Context + "\n</material>"
}

// tools makes the tools of an agent. What could not be had is recorded, since a
// run that goes on later, when the servers are as they please, must tell the same.
func (m *Mode) tools(ctx context.Context, s *run.Scope, who Member) (tools []tool.Tool, err error) {
	if !reaches(who.Agent) {
		tools, _, err = m.parts.Tools(ctx, who)
		return tools, err
	}
	made := false
	_, err = run.Step(ctx, s, "equip", func(ctx context.Context, s *run.Scope) (trouble []string, err error) {
		made = true
		if tools, trouble, err = m.parts.Tools(ctx, who); err != nil {
			return nil, err
		}
		for _, text := range trouble {
			if err := s.Emit(event.RunError{Code: "tool_missing", Message: text}); err != nil {
				return nil, err
			}
		}
		return trouble, nil
	})
	if err == nil && !made {
		tools, _, err = m.parts.Tools(ctx, who)
	}
	return tools, err
}

// Reaches says whether some of an agent's tools, or of those that it may call, are
// those of servers.
func (s *Settings) Reaches() bool {
	if reaches(s.Agent) {
		return true
	}
	for _, callee := range s.Callees {
		if reaches(callee.Agent) {
			return true
		}
	}
	return false
}

func reaches(d agent.Definition) bool {
	return d.Search.OnDemand || len(d.Search.Always) > 0 || slices.ContainsFunc(d.Tools, func(ref agent.ToolRef) bool { return strings.Contains(ref.Name, ":") })
}

// agent makes a definition ready.
func (m *Mode) agent(ctx context.Context, s *run.Scope, set Settings, who Member) (*agent.Agent, error) {
	d := who.Agent
	tools, err := m.tools(ctx, s, who)
	if err != nil {
		return nil, err
	}
	for _, name := range d.Agents {
		callee, ok := set.Callees[name]
		if !ok {
			continue
		}
		tools = append(tools, agent.AsTool(callee.Agent, func(ctx context.Context, s *run.Scope) (*agent.Agent, error) { return m.agent(ctx, s, set, callee) }))
	}
	all, err := tool.NewSet(tools...)
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", d.Name, err)
	}
	models, err := m.parts.Models(ctx, who)
	if err != nil {
		return nil, err
	}
	blobs := m.parts.Blobs
	return &agent.Agent{
		Definition: d, Tools: all, Models: models, Role: llm.ForResearcher, Finder: m.parts.Finder, Used: m.parts.Used,
		Compose: func(ctx context.Context, state *tool.State) (string, error) { return quotes(ctx, blobs, state) },
	}, nil
}

var _ mode.Configured = (*Mode)(nil)

// kindOf says where a source lives.
func kindOf(address string) cite.Kind {
	if strings.Contains(address, "://") {
		return cite.Web
	}
	return cite.File
}
