// Package kbqa is the agent that answers from a collection of the user's
// documents. It begins the same way each time: choose a route, plan, search, put
// the context together. Where that covers too little of the question it searches
// again, wider. Then a model works in ReAct steps until it answers, or rules do
// where there is none; the answer is verified, rewritten once where it does not
// hold, and delivered with what still fails marked. Beyond its steps the question
// is answered in one go.
//
// It is the loop of package agent with some of its phases replaced: each call of
// a model and of a tool is a step of the run.
package kbqa

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

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

// Settings are frozen into each run. They have what those of other agents have,
// and how this one works.
type Settings struct {
	Agent        agent.Definition `json:"agent"`
	Template     string           `json:"template,omitempty"`
	Version      int              `json:"version,omitempty"`
	HistoryLimit int              `json:"history_limit"`
	Lang         lang.Code        `json:"lang,omitempty"`
	KB           Tuning           `json:"kb"`
}

// Tuning is how the agent works.
type Tuning struct {
	// Collection is the id of the one that was in use when the run was created, for
	// requests that name none.
	Collection string `json:"collection,omitempty"`

	MaxSteps    int     `json:"max_steps"`          // that the model decides
	TokenBudget int     `json:"agent_token_budget"` // of one reply
	ToolTimeout float64 `json:"agent_tool_timeout"` // in seconds
	// Threshold is the least context_coverage that is enough, and MaxRefinements how
	// often it is searched again, wider, where there is less.
	Threshold      float64 `json:"coverage_threshold"`
	MaxRefinements int     `json:"max_refinements"`
	Verify         bool    `json:"enable_verify_step"`
	// TopBM25 and TopDense are what a search looks at; a refinement looks at twice
	// as much.
	TopBM25  int `json:"hybrid_top_bm25"`
	TopDense int `json:"hybrid_top_dense"`
	// Sources is how much is found and read for a question.
	Sources sources.Tuning `json:"sources"`
}

// Steps is how many steps a request gets: those that it wants, or the default,
// and never more than the most.
func Steps(wanted, standard, most int) int {
	if wanted <= 0 {
		wanted = standard
	}
	return max(1, min(wanted, most))
}

// Parts is what the mode works with.
type Parts struct {
	Local *sources.Local
	// Tools makes those of the agent, for a collection by its id.
	Tools func(set *Settings, collection string) ([]tool.Tool, error)
	// Models returns those of the agent.
	Models  func(ctx context.Context, set *Settings) *llm.Models
	Blobs   sources.Blobs
	History mode.History
}

// Mode has the agent work. It implements what mode.Mode does, without a name of its
// own: the runs are those of the mode in which agents work.
type Mode struct{ parts Parts }

// New returns the mode.
func New(p Parts) *Mode { return &Mode{p} }

// role is that of the model that decides for an agent.
const role = llm.ForResearcher

//go:embed system.md
var systemPrompt string

// Run works on the request to its answer.
func (m *Mode) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	var set Settings
	if err := json.Unmarshal(req.Settings, &set); err != nil {
		return mode.Answer{}, fmt.Errorf("settings of %s: %w", set.Agent.Name, err)
	}
	history, err := req.Conversation(ctx, s, m.parts.History, set.HistoryLimit)
	if err != nil {
		return mode.Answer{}, err
	}
	// Whichever collection is in use later, the run keeps the one that it began with.
	local := *m.parts.Local
	if set.KB.Collection != "" {
		local.Active = func(context.Context) (string, error) { return set.KB.Collection, nil }
	}
	ready, err := local.Prepare(ctx, s, req.In)
	if err != nil {
		return mode.Answer{}, err
	}
	tools, err := m.parts.Tools(&set, ready.Collection)
	if err != nil {
		return mode.Answer{}, err
	}
	c := &course{mode: m, set: set, req: req, language: req.Language(set.Lang), ready: ready, history: history}
	c.state.MaxRefinements = set.KB.MaxRefinements
	a, err := c.agent(ctx, tools)
	if err != nil {
		return mode.Answer{}, err
	}
	done, err := a.Run(ctx, s, agent.Task{
		Text: req.Question, Material: req.Context, History: history, Lang: c.language, Model: req.Model, NoInput: req.NoInput, ID: req.AgentID, Custom: req.Custom,
	})
	if err != nil {
		return mode.Answer{}, err
	}
	d := &delivery{course: c, scope: s, done: done}
	return d.deliver(ctx)
}

// agent makes the agent of a run ready.
func (c *course) agent(ctx context.Context, tools []tool.Tool) (*agent.Agent, error) {
	for i, t := range tools {
		tools[i] = legibleTool(t, c.set.KB.ToolTimeout)
	}
	all, err := tool.NewSet(tools...)
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", c.set.Agent.Name, err)
	}
	c.models = c.mode.parts.Models(ctx, &c.set)
	a := &agent.Agent{
		Definition: c.set.Agent, Tools: all, Models: c.models, Role: role, WithoutModel: c.withoutModel(),
		Phases: agent.Phases{Step: c.step, Act: c.act, Reflect: c.reflect},
	}
	// The steps are counted here: the loop has its own limit for whatever goes wrong.
	a.Definition.Limits.Iterations = c.set.KB.MaxSteps + 4
	ours := a.Definition.Prompts.System == ""
	if ours {
		a.Definition.Prompts.System = systemPrompt
	}
	a.Decider = agent.ReActWithin(c.set.KB.TokenBudget, ours)
	return a, nil
}

// withoutModel says whether the agent had no model when the run was created.
func (c *course) withoutModel() bool {
	if c.req.Circumstances == nil {
		return !c.models.For(role).Configured()
	}
	_, had := c.req.Circumstances.Models[c.set.Agent.Name]
	return !had
}

// sourcesOf are those that have numbers for the model, as far as they were read.
func (c *course) sourcesOf(ctx context.Context, state *tool.State) (*sources.Evidence, error) {
	known := &sources.Evidence{Ledger: cite.NewLedger(), Snapshots: make(cite.Snapshots)}
	for _, src := range state.Sources {
		entry := known.Ledger.Add(cite.Source{URI: src.URL, Title: src.Title, Kind: cite.File})
		if entry.Number != src.Number {
			return nil, fmt.Errorf("source %d of the agent is source %d of the report", src.Number, entry.Number)
		}
		if src.Text == "" {
			continue
		}
		text, err := c.mode.parts.Blobs.Blob(ctx, src.Text)
		if err != nil {
			return nil, fmt.Errorf("what was read of %s: %w", src.URL, err)
		}
		if _, err := known.Ledger.Read(entry.Number, known.Snapshots.Add(string(text))); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// evidence reads what was found for the question, in steps of the scope, under
// the numbers that the sources have for the model.
func (c *course) evidence(ctx context.Context, s *run.Scope, state *tool.State) (*sources.Evidence, error) {
	known, err := c.sourcesOf(ctx, state)
	if err != nil {
		return nil, err
	}
	if c.found == nil {
		c.collect(s, nil)
	}
	return c.found.Evidence(ctx, s, known)
}

// tell emits a thought that no model had.
func tell(w *agent.Work, text string) error {
	return w.Scope.Emit(event.AgentReasoning{Text: text, Extracted: true, Iteration: w.State.Iteration})
}
