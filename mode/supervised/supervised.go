// Package supervised is the engine of deep research in which a team works: a
// deep search first, questions to the user, a plan with a rubric; researchers
// that work in parallel, each on one task at a time; and a supervisor that takes
// the finished ones from a queue, one after the other, keeps the documents of
// the research, and gives new tasks until the rubric is covered or nothing more
// may be spent.
//
// The run's record is the truth. What researchers do goes into scopes of their
// own; the order in which the supervisor sees them is that of a mailbox; and all
// that the team shares is changed by one goroutine. So a run that is taken up
// again comes to the same report.
package supervised

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dossier/agent"
	"dossier/lang"
	"dossier/llm"
	"dossier/mode"
	"dossier/prompt"
	"dossier/run"
	"dossier/search"
	"dossier/sources"
	"dossier/study"
)

// Settings of the mode, frozen into each run.
type Settings struct {
	// Agents is how many researchers there are.
	Agents int `json:"num_agents"`
	// AgentSteps are those of a researcher for one task; the last is for the note.
	AgentSteps int `json:"agent_max_steps"`
	// SupervisorCalls are those of a run, SupervisorIterations those of a call.
	SupervisorCalls      int `json:"max_supervisor_calls"`
	SupervisorIterations int `json:"supervisor_max_iterations"`
	// Rounds is how many tasks researchers begin in a run, all together: each is
	// a round of the agents' cycle.
	Rounds int `json:"default_max_iterations"`
	// DeepSearchFirst has the mode deep_search work on the question first, and
	// Clarify has the user asked what is meant.
	DeepSearchFirst bool `json:"run_deep_search_first"`
	Clarify         bool `json:"enable_clarifying_questions"`
	// ClarifyWait is how long an answer is waited for; 0 is for ever.
	ClarifyWait time.Duration `json:"clarify_wait,omitempty"`
	// Plan says whether the user sees the plan before anything is spent on it.
	Plan study.PlanReview `json:"plan,omitempty"`
	// Decider is how the models of the team are asked.
	Decider agent.DeciderName `json:"decider"`
	// Tuning is how much a researcher does in one search, and in a whole task
	// where rules decide.
	Tuning       sources.Tuning `json:"tuning"`
	HistoryLimit int            `json:"history_limit"`
	// Time is how long models are waited for, all decisions together; 0 is no
	// bound.
	Time time.Duration `json:"time,omitempty"`
	Lang lang.Code     `json:"lang,omitempty"`
	// FollowUps is how many questions are suggested in the end. Runs of earlier
	// programs have 0: they suggest none, and don't look at what was read for
	// earlier questions of the conversation.
	FollowUps int `json:"follow_ups,omitempty"`
	// Trail is sources.Job.Trail for the question and its parts, where there is no
	// model. Runs of earlier programs have 0.
	Trail int `json:"trail,omitempty"`
	// Credits says that notes are told with whoever found them. Runs of earlier
	// programs tell them without.
	Credits bool `json:"credits,omitempty"`
	// Rubric says that the items of the rubric are told with how much of it is
	// covered. Runs of earlier programs tell the count alone.
	Rubric bool `json:"rubric,omitempty"`
	// DeepSearch are the settings of the mode that searches first.
	DeepSearch json.RawMessage `json:"deep_search,omitempty"`
}

// The bounds of settings: what lies outside is taken as the nearest bound.
const (
	mostAgents     = 5
	leastSteps     = 2 // something, and the note
	mostSteps      = 50
	mostCalls      = 100
	mostIterations = 100
	mostRounds     = 1000
)

// Clamped returns the settings within their bounds.
func (s Settings) Clamped() Settings {
	within := func(n *int, least, most int) { *n = min(max(*n, least), most) }
	within(&s.Agents, 1, mostAgents)
	within(&s.AgentSteps, leastSteps, mostSteps)
	within(&s.SupervisorCalls, 1, mostCalls)
	within(&s.SupervisorIterations, 1, mostIterations)
	within(&s.Rounds, 1, mostRounds)
	if s.Decider == "" {
		s.Decider = agent.ReAct
	}
	return s
}

// Holdings make ready what a question is asked of, as steps of the run;
// *sources.Holdings do.
type Holdings interface {
	Open(ctx context.Context, s *run.Scope, a sources.Asked) (sources.Opened, error)
	// Engines that are there now.
	Engines() []search.Info
}

// Parts is what the mode works with.
type Parts struct {
	Models   *llm.Models
	Holdings Holdings
	Blobs    sources.Blobs
	History  mode.History
	// Past finds what was delivered earlier in a conversation; it may be nil.
	Past study.Past
	// DeepSearch works on the question first; nil leaves that out.
	DeepSearch mode.Mode
	Rerankers  map[string]search.Reranker
	// Sessions shows the documents of each run in a folder; the zero value shows
	// them nowhere.
	Sessions Sessions
}

// Mode has a supervised team research a question.
type Mode struct {
	name     string
	parts    Parts
	settings Settings
}

// New returns the mode under a name, with the settings for new runs.
func New(name string, p Parts, settings Settings) *Mode {
	return &Mode{name: name, parts: p, settings: settings.Clamped()}
}

// Name implements mode.Mode.
func (m *Mode) Name() string { return m.name }

// Settings implements mode.Mode. Those of the deep search are frozen with them.
func (m *Mode) Settings() any {
	set := m.settings
	if m.parts.DeepSearch != nil {
		if raw, err := json.Marshal(m.parts.DeepSearch.Settings()); err == nil {
			set.DeepSearch = raw
		}
	}
	return set
}

// Circumstances implements mode.Situated.
func (m *Mode) Circumstances(_ context.Context, req *mode.Request) mode.Circumstances {
	c := mode.Circumstances{Models: mode.ModelsOf(m.parts.Models, llm.ForSummarizer, llm.ForResearcher, llm.ForWriter, llm.ForVerifier, llm.ForEmbeddings)}
	c.Rerankers = slices.Sorted(maps.Keys(m.parts.Rerankers))
	if in := req.In; in.Web != nil || len(in.Paths) == 0 && in.Collection == "" && strings.TrimSpace(req.Context) == "" {
		c.Engines = m.parts.Holdings.Engines()
	}
	return c
}

// Run implements mode.Mode.
func (m *Mode) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	var set Settings
	if err := json.Unmarshal(req.Settings, &set); err != nil {
		return mode.Answer{}, fmt.Errorf("settings of %s: %w", m.name, err)
	}
	ctx = prompt.Within(ctx, set.Time)
	t := newTeam(m, s, req, set)
	if err := t.prepare(ctx); err != nil {
		return mode.Answer{}, err
	}
	if err := t.work(ctx); err != nil {
		return mode.Answer{}, err
	}
	return t.deliver(ctx)
}

// withoutModel says whether a role had no model when the run was created.
func withoutModel(req *mode.Request, models *llm.Models, role llm.RoleName) bool {
	if req.Circumstances == nil {
		return !models.For(role).Configured()
	}
	_, had := req.Circumstances.Models[string(role)]
	return !had
}

var _ mode.Situated = (*Mode)(nil)
