package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"dossier/agent"
	"dossier/internal/base/usage"
	"dossier/internal/config"
	"dossier/lang"
	"dossier/mode"
	"dossier/mode/evidence"
	"dossier/mode/supervised"
	"dossier/run"
	"dossier/sources"
	"dossier/study"
)

// deepResearch is the mode deep_research: one name for several engines. Which one
// works is frozen into each run, with its settings.
type deepResearch struct {
	engine  string // for new runs
	engines []mode.Mode
}

func newDeepResearch(engine string, engines ...mode.Mode) *deepResearch {
	return &deepResearch{engine, engines}
}

// deepSettings are those of a run of deep_research.
type deepSettings struct {
	Engine   string          `json:"engine"`
	Settings json.RawMessage `json:"settings"`
}

// Name implements mode.Mode.
func (d *deepResearch) Name() string { return "deep_research" }

// Settings implements mode.Mode.
func (d *deepResearch) Settings() any { return deepSettings{Engine: d.engine} }

// SettingsFor implements mode.Configured.
func (d *deepResearch) SettingsFor(ctx context.Context, req *mode.Request) (any, error) {
	m, err := d.named(d.engine)
	if err != nil {
		return nil, err
	}
	frozen := m.Settings()
	if c, ok := m.(mode.Configured); ok {
		if frozen, err = c.SettingsFor(ctx, req); err != nil {
			return nil, err
		}
	}
	if frozen, err = reviewed(frozen, req.Plan); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(frozen)
	return deepSettings{Engine: d.engine, Settings: raw}, err
}

// reviewed are the settings of an engine with the plan looked at as a request asks
// for; "" is as configured.
func reviewed(settings any, how string) (any, error) {
	review := study.PlanReview(how)
	switch review {
	case "":
		return settings, nil
	case study.PlanAuto, study.PlanShow, study.PlanEdit:
	default:
		return nil, &usage.Error{Message: fmt.Sprintf("a plan can't be looked at in the way %q", how), Hint: "the ways are auto, show and edit"}
	}
	switch s := settings.(type) {
	case evidence.Settings:
		s.Review = review
		return s, nil
	case supervised.Settings:
		s.Plan = review
		return s, nil
	}
	return settings, nil
}

// named is the engine of a name.
func (d *deepResearch) named(name string) (mode.Mode, error) {
	var names []string
	for _, m := range d.engines {
		if m.Name() == name {
			return m, nil
		}
		names = append(names, m.Name())
	}
	return nil, &usage.Error{Message: fmt.Sprintf("deep research has no engine %q", name), Hint: "the engines are " + strings.Join(names, ", ") + ": choose one with --engine, or set deep_research.engine"}
}

// frozen is the engine of a run, and the request as that engine reads it.
func (d *deepResearch) frozen(req mode.Request) (mode.Mode, mode.Request, error) {
	var set deepSettings
	if err := json.Unmarshal(req.Settings, &set); err != nil {
		return nil, req, fmt.Errorf("settings of deep_research: %w", err)
	}
	m, err := d.named(set.Engine)
	req.Settings = set.Settings
	return m, req, err
}

// Circumstances implements mode.Situated.
func (d *deepResearch) Circumstances(ctx context.Context, req *mode.Request) mode.Circumstances {
	m, own, err := d.frozen(*req)
	if s, ok := m.(mode.Situated); ok && err == nil {
		return s.Circumstances(ctx, &own)
	}
	return mode.Circumstances{}
}

// Run implements mode.Mode.
func (d *deepResearch) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	m, own, err := d.frozen(req)
	if err != nil {
		return mode.Answer{}, err
	}
	return m.Run(ctx, s, own)
}

var (
	_ mode.Situated   = (*deepResearch)(nil)
	_ mode.Configured = (*deepResearch)(nil)
)

// loopSettings are those of the evidence loop.
func loopSettings(cfg *config.Config, language lang.Code, rerank string) evidence.Settings {
	depth, deep := cfg.DeepSearch, cfg.DeepResearch
	return evidence.Settings{
		Tuning: sources.Tuning{
			Queries: depth.Queries, MinIterations: 1, Iterations: 1, MaxResults: depth.MaxResults, TopK: depth.RerankTopK,
			ReadTop: deep.SectionPages, Rerank: rerank,
		},
		MaxIterations: deep.MaxIterations, Clarify: deep.ClarifyingEnabled, Wait: deep.ClarifyWait, Review: study.PlanReview(deep.Plan),
		HistoryLimit: cfg.Chat.HistoryLimit, Lang: language, ContextTokens: depth.ContextTokens, Time: deep.Time, FollowUps: study.FollowUps, Trail: sources.TrailRounds, Rubric: true,
	}
}

// teamSettings are those of deep research by a supervised team. A researcher's
// searches bring as much as those of deep_search, and are not ranked again.
func teamSettings(cfg *config.Config, language lang.Code) supervised.Settings {
	c, d := cfg.DeepResearch, cfg.DeepSearch
	return supervised.Settings{
		Agents: c.NumAgents, AgentSteps: c.AgentMaxSteps, SupervisorCalls: c.MaxSupervisorCalls, SupervisorIterations: c.SupervisorMaxIterations,
		Rounds: c.DefaultMaxIterations, DeepSearchFirst: c.RunDeepSearchFirst, Clarify: c.ClarifyingEnabled, ClarifyWait: c.ClarifyWait,
		Plan: study.PlanReview(c.Plan), Time: c.Time, Decider: agent.DeciderName(c.Decider), HistoryLimit: cfg.Chat.HistoryLimit, Lang: language, FollowUps: study.FollowUps, Trail: sources.TrailRounds, Credits: true, Rubric: true,
		Tuning: sources.Tuning{
			Queries: d.Queries, MinIterations: 1, Iterations: 2, MaxResults: d.MaxResults, TopK: d.RerankTopK, ReadTop: d.ScrapeTopN, Rerank: sources.ByWords,
		},
	}
}
