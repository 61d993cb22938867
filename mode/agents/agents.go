// Package agents is the mode in which an agent works on the question: a
// definition made ready with its tools, its loop, and a check of what it
// delivers against what it really read.
package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
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
	// Builtin makes the tools of an agent that are part of the program. Nobody is
	// asked for them, and one that can't be used now is among them: it says so
	// when it is called.
	Builtin func(m Member) ([]tool.Tool, error)
	// Tools makes all tools that an agent lists, asking servers for theirs: it is
	// called inside of steps. Trouble is what could not be had, in sentences for
	// people.
	Tools func(ctx context.Context, m Member) (tools []tool.Tool, trouble []string, err error)
	// Models returns those of an agent. That they can't be had is told by their
	// calls.
	Models func(ctx context.Context, m Member) *llm.Models
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

// Circumstances implements mode.Situated.
func (m *Mode) Circumstances(ctx context.Context, req *mode.Request) mode.Circumstances {
	var set Settings
	if err := json.Unmarshal(req.Settings, &set); err != nil {
		return mode.Circumstances{}
	}
	c := mode.Circumstances{Models: make(map[string]string)}
	add := func(who Member) {
		if s := m.parts.Models(ctx, who).Setting(role); s.Model != nil {
			c.Models[who.Agent.Name] = cmp.Or(req.Model, who.Agent.Model, s.Name)
		}
	}
	add(set.Member)
	for _, callee := range set.Callees {
		add(callee)
	}
	return c
}

// role is that of the model that decides for an agent.
const role = llm.ForResearcher

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
	h := &house{mode: m, set: set, known: req.Circumstances}
	a, err := h.agent(ctx, s, set.Member)
	if err != nil {
		return mode.Answer{}, err
	}
	if strings.TrimSpace(req.Context) != "" {
		found := a.Compose
		a.Compose = func(ctx context.Context, state *tool.State) (string, error) {
			text, err := found(ctx, state)
			if err != nil || text != "" || len(state.Sources) > 0 {
				return text, err
			}
			return quoted(state.Task, req.Context), nil
		}
	}
	language := req.Language(set.Lang)
	done, err := a.Run(ctx, s, agent.Task{
		Text: req.Question, Material: req.Context, History: history, Lang: language, Model: req.Model, NoInput: req.NoInput,
		ID: req.AgentID, Custom: req.Custom,
	})
	if err != nil {
		return mode.Answer{}, err
	}
	d := &delivery{scope: s, blobs: m.parts.Blobs, models: a.Models, req: req, language: language, research: set.Agent.Research, done: done}
	return d.deliver(ctx)
}

// house is what the agents of one run have in common.
type house struct {
	mode  *Mode
	set   Settings
	known *mode.Circumstances
}

// agent makes a definition ready.
func (h *house) agent(ctx context.Context, s *run.Scope, who Member) (*agent.Agent, error) {
	d := who.Agent
	tools, err := h.tools(ctx, s, who)
	if err != nil {
		return nil, err
	}
	for _, name := range d.Agents {
		callee, ok := h.set.Callees[name]
		if !ok {
			continue
		}
		tools = append(tools, agent.AsTool(callee.Agent, func(ctx context.Context, s *run.Scope) (*agent.Agent, error) { return h.agent(ctx, s, callee) }))
	}
	all, err := tool.NewSet(tools...)
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", d.Name, err)
	}
	parts := &h.mode.parts
	models := parts.Models(ctx, who)
	return &agent.Agent{
		Definition: d, Tools: all, Models: models, Role: role, WithoutModel: h.withoutModel(d.Name, models), Finder: parts.Finder, Used: parts.Used,
		Compose: func(ctx context.Context, state *tool.State) (string, error) { return quotes(ctx, parts.Blobs, state) },
	}, nil
}

// withoutModel says whether an agent had no model when the run was created.
func (h *house) withoutModel(name string, now *llm.Models) bool {
	if h.known == nil {
		return !now.For(role).Configured()
	}
	_, had := h.known.Models[name]
	return !had
}

// outfit is what an agent was given when its work began.
type outfit struct {
	Tools   []tool.Card `json:"tools"`
	Trouble []string    `json:"trouble,omitempty"`
}

// tools makes those of a definition. What servers have may change while a run
// lies still, so it is recorded: the run goes on with the tools that it began
// with. Servers are not asked again until one of their tools is called, and
// those that are gone by then fail.
func (h *house) tools(ctx context.Context, s *run.Scope, who Member) ([]tool.Tool, error) {
	parts := &h.mode.parts
	builtin, err := parts.Builtin(who)
	if err != nil || !reaches(who.Agent) {
		return builtin, err
	}
	have := builtin
	given, err := run.Step(ctx, s, "outfit", func(ctx context.Context, s *run.Scope) (outfit, error) {
		until, cancel := s.UntilFinish(ctx)
		defer cancel()
		tools, trouble, err := parts.Tools(until, who)
		if err != nil && until.Err() != nil && ctx.Err() == nil { // the run is to end with what there is
			tools, trouble, err = builtin, []string{context.Cause(until).Error()}, nil
		}
		if err != nil {
			return outfit{}, err
		}
		have = tools
		return outfit{tool.Cards(tools), trouble}, nil
	})
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var now []tool.Tool // asked for once
	tools, err := tool.Dealt(ctx, given.Tools, have, func(ctx context.Context, c tool.Card) (tool.Tool, error) {
		mu.Lock()
		defer mu.Unlock()
		if t := c.Among(now); t != nil {
			return t, nil
		}
		all, trouble, err := parts.Tools(ctx, who)
		if err != nil {
			return nil, err
		}
		now = all
		if t := c.Among(now); t != nil || len(trouble) == 0 {
			return t, nil
		}
		return nil, errors.New(strings.Join(trouble, "; "))
	})
	if err != nil {
		return nil, err
	}
	for _, text := range given.Trouble {
		if err := s.Emit(event.RunError{Code: "tool_missing", Message: text}); err != nil {
			return nil, err
		}
	}
	return tools, nil
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

// reaches says whether a definition has tools that are not built in.
func reaches(d agent.Definition) bool {
	return d.Search.OnDemand || len(d.Search.Always) > 0 || slices.ContainsFunc(d.Tools, func(ref agent.ToolRef) bool { return strings.Contains(ref.Name, ":") })
}

var (
	_ mode.Configured = (*Mode)(nil)
	_ mode.Situated   = (*Mode)(nil)
)

// kindOf says where a source lives.
func kindOf(address string) cite.Kind {
	if strings.Contains(address, "://") {
		return cite.Web
	}
	return cite.File
}
