package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"dossier/event"
	"dossier/internal/base/trace"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
	"dossier/tool"
)

// Agent is a definition with what it works with. It is safe for concurrent use
// and keeps nothing between runs.
type Agent struct {
	Definition Definition
	// Tools that the definition lists.
	Tools *tool.Set
	// Models and the role whose model decides.
	Models *llm.Models
	Role   llm.RoleName
	// WithoutModel says that there was no model when the run began: rules decide
	// from its start to its end. Whether there is one now is only asked inside
	// of steps.
	WithoutModel bool
	// Decider replaces the definition's; nil leaves it.
	Decider Decider
	// Phases replace those of the loop.
	Phases Phases
	// Finder brings further tools in; nil if there are none.
	Finder Finder
	// Compose answers without a model; nil says what was noted.
	Compose Compose
	// Used is told of each call, and why it failed if it did, for statistics;
	// nil tells nobody.
	Used func(spec *tool.Spec, failed string, took time.Duration)
}

// Finder finds tools of the catalog.
type Finder interface {
	// Select returns the names of the tools for a task that the policy allows,
	// beside those that the agent has.
	Select(ctx context.Context, task string, have *tool.Set, policy ToolSearch) ([]string, error)
	// Get returns a tool by its name, nil if there is none.
	Get(ctx context.Context, name string) (tool.Tool, error)
}

// Compose makes an answer out of what a run has found so far, without a model.
// It is called inside a step; an empty answer says that there is nothing.
type Compose func(ctx context.Context, s *tool.State) (string, error)

// Task is what an agent is asked to do.
type Task struct {
	// Text is the question, Material what it is about, and History the
	// conversation before it. Only the model is shown the material: it is not
	// searched for.
	Text     string
	Material string
	History  []llm.Message
	Lang     lang.Code
	// Model replaces the one that the definition or the configuration names.
	Model string
	// NoInput forbids questions to the user.
	NoInput bool
	// ID is what clients know the agent by; empty is that of the run and the
	// place in it.
	ID string
	// Custom is the caller's own part of the state: tools and phases read it, the
	// model does not see it.
	Custom map[string]json.RawMessage
	// Callers are the agents that wait for this one, the outermost first.
	Callers []string
}

// whole is the question with what came along with it.
func (t *Task) whole() string {
	if strings.TrimSpace(t.Material) == "" {
		return t.Text
	}
	return t.Text + "\n\n<material>\n" + prompt.Data(t.Material) + "\n</material>"
}

// Done is how an agent's work ended.
type Done struct {
	Answer tool.Answer
	State  *tool.State
	// Model that answered; empty when none did.
	Model string
	// Extractive says that the answer was made without a model, and ByRules that
	// rules decided what to do in the end.
	Extractive, ByRules bool
	// Shown is what was told of the answer while the model wrote it, in deltas of
	// this execution.
	Shown string `json:"-"`
	// Why the work did not go as it should; empty if it did.
	Why string
}

// Defaults of the limits.
const (
	defaultIterations     = 10
	defaultClarifications = 3
	defaultSearches       = 4
	defaultMCPContext     = 15000
	defaultDepth          = 3
	// grace is how many iterations there are beyond the limit for a report and
	// an answer. After them the answer is made without the model.
	grace = 2
)

// Full returns the limits with the defaults in place.
func (l Limits) Full() Limits {
	none := func(n, standard int) int { return max(0, cmp.Or(n, standard)) }
	return Limits{
		Iterations: cmp.Or(l.Iterations, defaultIterations), Clarifications: none(l.Clarifications, defaultClarifications),
		Searches: none(l.Searches, defaultSearches), MCPContext: cmp.Or(l.MCPContext, defaultMCPContext), Depth: cmp.Or(l.Depth, defaultDepth),
	}
}

// Run works on a task to its answer. Whatever the model and the tools do, there
// is one; an error means that the run itself has to stop.
func (a *Agent) Run(ctx context.Context, s *run.Scope, t Task) (done Done, err error) {
	if t.ID == "" {
		t.ID = ID(a.Definition.Name, s.Record().ID+s.Path())
	}
	w := newWork(a, s, t)
	set := w.client.Setting()
	ctx, span := trace.Agent(ctx, s.Path(), a.Definition.Name, t.ID, set.Provider, set.Name)
	defer func() { Traced(span, err) }()
	if err := s.Emit(event.AgentStarted{Name: a.Definition.Name, Role: string(w.deciderName()), Task: t.Text, ID: t.ID}); err != nil {
		return Done{}, err
	}
	if err := w.search(ctx); err != nil {
		return Done{}, err
	}
	for !w.State.Status.Finished() {
		if err := w.turn(ctx); err != nil {
			var stuck *stuckError
			if !errors.As(err, &stuck) {
				return Done{}, err
			}
			if err := w.conclude(ctx, stuck.why); err != nil {
				return Done{}, err
			}
		}
	}
	if err := w.writeLog(ctx); err != nil {
		return Done{}, err
	}
	summary := event.AgentFinished{Name: a.Definition.Name, Outcome: string(w.State.Status), Summary: firstLine(w.State.Result)}
	if err := s.Emit(summary); err != nil {
		return Done{}, err
	}
	done = Done{
		Answer: tool.Answer{Text: w.State.Result, Status: w.State.Status}, State: w.State,
		Model: w.model, Extractive: w.extractive, ByRules: w.deciderName() == ByRules, Why: w.reason(), Shown: w.shown,
	}
	if done.Extractive {
		done.Model = ""
	}
	return done, nil
}

// Traced ends the span of work in a run that returned err, unless it is to go on
// later.
func Traced(span trace.Live, err error) {
	if run.GoesOn(err) {
		return
	}
	if err != nil {
		span.Fail(run.CodeOf(err))
	}
	span.End()
}

// stuckError says that the model can't bring the work to an end: the answer has
// to be made of what there is.
type stuckError struct{ why error }

func (e *stuckError) Error() string { return "the agent is stuck: " + e.why.Error() }
func (e *stuckError) Unwrap() error { return e.why }

func stuckf(format string, args ...any) error { return &stuckError{fmt.Errorf(format, args...)} }

// firstLine of a text, shortened.
func firstLine(text string) string {
	const most = 200
	for i, r := range text {
		if r == '\n' || i >= most {
			return text[:i]
		}
	}
	return text
}
