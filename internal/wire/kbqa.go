package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"dossier/agent"
	"dossier/internal/base/usage"
	"dossier/internal/config"
	"dossier/kb"
	"dossier/llm"
	"dossier/mode"
	"dossier/mode/agents"
	"dossier/mode/kbqa"
	"dossier/run"
	"dossier/sources"
	"dossier/tool"
	"dossier/toolkit"
)

// agentMode is the mode in which agents work: each in the loop that all have, or,
// where its class says so, as the agent of the knowledge base. Which one it is
// shows in the frozen settings, so runs that were begun otherwise go on as they
// began.
type agentMode struct {
	*agents.Mode
	kb     *kbqa.Mode
	tuning func(ctx context.Context, req *mode.Request) (kbqa.Tuning, error)
}

func newAgentMode(cfg *config.Config, p *Product, loop *agents.Mode, parts kbqa.Parts) *agentMode {
	member := func(set *kbqa.Settings) agents.Member {
		return agents.Member{Agent: set.Agent, Template: set.Template, Version: set.Version}
	}
	parts.Models = func(ctx context.Context, set *kbqa.Settings) *llm.Models { return p.Agency.modelsOf(ctx, member(set)) }
	parts.Tools = func(set *kbqa.Settings, collection string) ([]tool.Tool, error) {
		m := member(set)
		m.Agent.Tools = p.Agency.boundTo(collection, m.Agent)
		return p.Agency.builtinOf(m)
	}
	return &agentMode{Mode: loop, kb: kbqa.New(parts), tuning: func(ctx context.Context, req *mode.Request) (kbqa.Tuning, error) {
		c, d := cfg.KBQA, cfg.WebSearch
		inUse, err := inUse(ctx, parts.Local)
		return kbqa.Tuning{
			Collection: inUse, MaxSteps: kbqa.Steps(req.MaxSteps, c.DefaultSteps, c.MaxSteps), TokenBudget: c.TokenBudget, ToolTimeout: c.ToolTimeout,
			Threshold: c.Threshold, MaxRefinements: c.MaxRefinements, Verify: c.Verify, TopBM25: cfg.KB.TopBM25, TopDense: cfg.KB.TopDense,
			Sources: sources.Tuning{
				Queries: d.Queries, MinIterations: 1, Iterations: d.MaxIterations, MaxResults: d.MaxResults, TopK: d.RerankTopK, ReadTop: d.ScrapeTopN, Rerank: sources.ByWords,
			},
		}, err
	}}
}

// inUse is the id of the collection in use, "" if there is none.
func inUse(ctx context.Context, local *sources.Local) (string, error) {
	name, err := local.Active(ctx)
	if err != nil || name == "" {
		return "", err
	}
	c, err := local.Library.Get(ctx, name)
	if errors.Is(err, kb.ErrNoCollection) {
		return "", nil
	}
	return c.ID, err
}

// boundTo are the tools of an agent, those for documents with the collection that
// they work on. A program's own tool of such a name has no settings.
func (a *Agency) boundTo(collection string, d agent.Definition) []agent.ToolRef {
	var out []agent.ToolRef
	for _, ref := range d.Tools {
		bound, err := json.Marshal(map[string]string{"collection": collection})
		forDocuments := slices.ContainsFunc(toolkit.ForDocuments, func(name string) bool { return tool.PlainName(name) == tool.PlainName(builtinName(ref)) })
		if err == nil && forDocuments && a.kit.Check(builtinName(ref), bound, a.toolSettings(d)) == nil {
			ref.Config = bound
		}
		out = append(out, ref)
	}
	return out
}

// agentSettings are those of an agent in either way of working.
type agentSettings struct {
	agents.Settings
	KB *kbqa.Tuning `json:"kb,omitempty"`
}

// SettingsFor implements mode.Configured.
func (m *agentMode) SettingsFor(ctx context.Context, req *mode.Request) (any, error) {
	set, err := m.Mode.SettingsFor(ctx, req)
	loop, ok := set.(agents.Settings)
	if err != nil || !ok {
		return set, err
	}
	if loop.Agent.Decider != agent.KB {
		if req.In.Collection != "" || len(req.In.Paths) > 0 {
			return nil, &usage.Error{
				Message: fmt.Sprintf("agent %s chooses itself where to look", loop.Agent.Name),
				Hint:    "documents can be named for kb_agent and agents of its kind; the others look in the collection in use",
			}
		}
		return set, nil
	}
	if len(req.In.Also) > 0 {
		return nil, &usage.Error{
			Message: fmt.Sprintf("agent %s looks in one folder or one collection", loop.Agent.Name),
			Hint:    "`dossier kb add` makes a collection of several folders",
		}
	}
	if req.In.Collection == "" && len(req.In.Paths) == 0 {
		req.In.Collection = collectionIn(loop.Agent.Tools)
	}
	tuning, err := m.tuning(ctx, req)
	return agentSettings{loop, &tuning}, err
}

// collectionIn is the collection that a definition names for its tools, "" if
// none.
func collectionIn(refs []agent.ToolRef) string {
	for _, ref := range refs {
		var conf struct {
			Collection string `json:"collection"`
		}
		if json.Unmarshal(ref.Config, &conf) == nil && conf.Collection != "" {
			return conf.Collection
		}
	}
	return ""
}

// Run implements mode.Mode.
func (m *agentMode) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	var set struct {
		KB json.RawMessage `json:"kb"`
	}
	if err := json.Unmarshal(req.Settings, &set); err != nil {
		return mode.Answer{}, fmt.Errorf("settings of %s: %w", m.Name(), err)
	}
	if set.KB == nil {
		return m.Mode.Run(ctx, s, req)
	}
	return m.kb.Run(ctx, s, req)
}

var (
	_ mode.Configured = (*agentMode)(nil)
	_ mode.Situated   = (*agentMode)(nil)
)
