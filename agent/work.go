package agent

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"dossier/event"
	"dossier/llm"
	"dossier/run"
	"dossier/tool"
)

// Phases are the parts of an iteration, and Step is all of it. Each may be
// replaced; what it replaces is still there as the method of Work of its name.
type Phases struct {
	// Step is one iteration: it prepares, reasons, selects, acts and records, with
	// the other phases or without. It may end the work with Finish. The loop counts
	// iterations, keeps the limits, has taken in what the user said, and goes on
	// without the model where an error of Reason or Select says that it is gone.
	Step func(ctx context.Context, w *Work) error
	// PrepareContext makes the conversation that the model sees.
	PrepareContext func(ctx context.Context, w *Work) ([]llm.Message, error)
	// PrepareTools says which tools the model may choose from.
	PrepareTools func(ctx context.Context, w *Work) ([]tool.Tool, error)
	Reason       func(ctx context.Context, w *Work, in Input) (Thought, error)
	Select       func(ctx context.Context, w *Work, in Input, t Thought) (Choice, error)
	// Act carries out one call. The n-th call of an iteration has n, from 1, and
	// an id that no other call has.
	Act func(ctx context.Context, w *Work, in Input, call llm.ToolCall, n int) (Action, error)
	// Reflect is called after the iteration's actions. It may change the state
	// and say something to the model with Tell.
	Reflect func(ctx context.Context, w *Work) error
}

// Input is what the model gets to see in an iteration.
type Input struct {
	Messages []llm.Message
	Tools    []tool.Tool
}

// Action is a call that was carried out.
type Action struct {
	Call    llm.ToolCall
	Outcome tool.Outcome
	// Reply is what the user answered, when the call was a question.
	Reply *run.Answer
}

// Work is one task under way. Code that replaces a phase reads and changes it;
// it belongs to the run's goroutine.
type Work struct {
	Agent   *Agent
	Scope   *run.Scope
	Task    Task
	State   *tool.State
	limits  Limits
	rules   []tool.Rule
	decider Decider
	client  *llm.Client
	// messages are the conversation: the system's prompt and the task, once they
	// are made, and what came after, in the form that the decider gives it.
	messages []llm.Message
	tools    []tool.Tool // of the definition
	brought  []tool.Tool // of the catalog
	known    int         // of the tools in State.Found, how many were brought
	ends     bool        // there is a tool that ends the work
	told     struct {    // what the model was told of the tools last
		tools []tool.Tool
		skip  []tool.Kind
		as    []llm.Tool
	}

	ids     map[string]bool           // of calls
	repeats map[[sha256.Size]byte]int // how often the same call was made
	strikes int                       // replies in a row that held no call
	acted   int                       // calls carried out in the iteration
	forced  int                       // iteration from which only an answer is accepted
	cut     bool                      // the reply was broken off
	draft   string                    // an answer that could not be read as it should be
	log     []logStep

	private []string // see tool.Call

	shown      string // of the answer, while it was written
	model      string
	extractive bool
	why        string
	unasked    tool.Kind // of the last call that was to bring sources and failed
}

func newWork(a *Agent, s *run.Scope, t Task) *Work {
	rec := s.Record()
	w := &Work{
		Agent: a, Scope: s, Task: t, limits: a.Definition.Limits.Full(),
		State: &tool.State{
			Status: tool.Researching, Task: t.Text, Lang: string(t.Lang), Created: rec.Created.UTC().Format(time.DateOnly), Custom: maps.Clone(t.Custom),
		},
		client:  a.Models.For(a.Role),
		private: []string{t.Material},
	}
	for _, m := range t.History {
		w.private = append(w.private, m.Content)
	}
	w.rules = append(tool.Limits(w.limits.Iterations, w.limits.Searches, w.limits.Clarifications), a.Definition.Rules...)
	if a.Definition.Decider == Dialog {
		w.rules[0].Only = append(w.rules[0].Only, string(tool.Answering))
	}
	w.rules = append(w.rules, tool.Rule{Counter: "iteration", AtLeast: w.limits.Iterations + grace, Only: w.lastWords()})
	w.tools = a.Tools.All()
	for _, t := range w.tools {
		w.ends = w.ends || t.Spec().Kind == tool.Final
	}
	w.decider = a.Decider
	if w.decider == nil {
		w.decider = deciderFor(a.Definition.Decider)
	}
	if a.WithoutModel {
		w.byRules(llm.ErrNotConfigured)
	}
	return w
}

// lastWords are the kinds of tools that end the work.
func (w *Work) lastWords() []string {
	if w.Agent.Definition.Decider == Dialog {
		return []string{string(tool.Final), string(tool.Answering)}
	}
	return []string{string(tool.Final)}
}

func (w *Work) deciderName() DeciderName {
	if _, ok := w.decider.(rules); ok {
		return ByRules
	}
	return w.Agent.Definition.Decider
}

// ByRules says whether rules decide what to do, because there is no model or it
// is gone.
func (w *Work) ByRules() bool { return w.deciderName() == ByRules }

// WithoutModel has rules decide from now on, because of an error that says why
// the model is not asked any more.
func (w *Work) WithoutModel(why error) {
	if !w.ByRules() {
		w.byRules(why)
	}
}

// byRules has rules decide from now on instead of the model.
func (w *Work) byRules(why error) {
	w.decider, w.extractive, w.why = rules{}, true, why.Error()
}

// search brings the tools of the catalog that fit the task.
func (w *Work) search(ctx context.Context) error {
	policy := w.Agent.Definition.Search
	if w.Agent.Finder == nil || !policy.OnDemand && len(policy.Always) == 0 {
		return nil
	}
	return w.bring(ctx, "tools", func(ctx context.Context) ([]string, error) {
		return w.Agent.Finder.Select(ctx, w.Task.Text, w.Agent.Tools, policy)
	})
}

// bringFound brings the tools that the agent has found since the last time.
func (w *Work) bringFound(ctx context.Context) error {
	fresh := w.State.Found[w.known:]
	w.known = len(w.State.Found)
	if w.Agent.Finder == nil || len(fresh) == 0 {
		return nil
	}
	return w.bring(ctx, "tools-"+strconv.Itoa(w.State.Iteration), func(context.Context) ([]string, error) { return fresh, nil })
}

// bring puts tools of the catalog beside those of the definition. What they are
// is recorded: the catalog may have others when the run is taken up again.
func (w *Work) bring(ctx context.Context, step string, names func(context.Context) ([]string, error)) error {
	var have []tool.Tool // as long as the run is not taken up again
	cards, err := run.Step(ctx, w.Scope, step, func(ctx context.Context, s *run.Scope) ([]tool.Card, error) {
		until, cancel := s.UntilFinish(ctx)
		defer cancel()
		chosen, err := names(until)
		if err != nil {
			return nil, err
		}
		for _, name := range chosen {
			t, err := w.Agent.Finder.Get(until, name)
			if err != nil {
				return nil, err
			}
			if t != nil {
				have = append(have, t)
			}
		}
		return tool.Cards(have), nil
	})
	if _, failed := run.FaultOf(err); failed && !run.Stopped(err) {
		return nil // the listed tools are there all the same
	}
	if err != nil {
		return err
	}
	tools, err := tool.Dealt(ctx, cards, have, func(ctx context.Context, c tool.Card) (tool.Tool, error) {
		t, err := w.Agent.Finder.Get(ctx, c.Name)
		if err != nil || t == nil {
			return nil, err
		}
		return c.Among([]tool.Tool{t}), nil
	})
	if err != nil {
		return err
	}
	for _, t := range tools {
		same := func(o tool.Tool) bool { return tool.PlainName(o.Spec().Name) == tool.PlainName(t.Spec().Name) }
		if !slices.ContainsFunc(w.tools, same) && !slices.ContainsFunc(w.brought, same) {
			w.brought = append(w.brought, t)
		}
	}
	return nil
}

// turn is one iteration within the limits.
func (w *Work) turn(ctx context.Context) error {
	w.State.Iteration++
	w.acted = 0
	if w.State.Iteration > w.limits.Iterations+grace || w.forced > 0 && w.State.Iteration > w.forced+grace {
		return stuckf("%d iterations were not enough", w.State.Iteration-1)
	}
	if err := w.steer(); err != nil {
		return err
	}
	if err := w.bringFound(ctx); err != nil {
		return err
	}
	if step := w.Agent.Phases.Step; step != nil {
		return w.hopeless(step(ctx, w))
	}
	return w.Step(ctx)
}

// Step is one iteration of the loop, with the phases that are replaced.
func (w *Work) Step(ctx context.Context) error {
	p := &w.Agent.Phases
	in, err := w.prepare(ctx, p)
	if err != nil {
		return err
	}
	reason, choose := w.decider.Reason, w.decider.Select
	mute := !slices.ContainsFunc(in.Tools, func(t tool.Tool) bool { return t.Spec().Kind != tool.Reasoning })
	if mute && w.deciderName() != ByRules { // there is nothing to call: what it says is the answer
		in.Tools, reason, choose = nil, native{}.Reason, native{}.Select
	}
	if p.Reason != nil {
		reason = p.Reason
	}
	if p.Select != nil {
		choose = p.Select
	}
	thought, err := reason(ctx, w, in)
	if err != nil {
		return w.hopeless(err)
	}
	if err := w.thought(&thought); err != nil {
		return err
	}
	choice, err := choose(ctx, w, in, thought)
	if err != nil {
		return w.hopeless(err)
	}
	if choice.Model != "" {
		w.model = choice.Model
	}
	if mute && choice.Text != "" {
		w.Finish(tool.Answer{Text: choice.Text, Status: tool.Completed})
		return nil
	}
	if len(choice.Calls) == 0 {
		return w.unheard(thought, choice)
	}
	actions, err := w.acts(ctx, in, &choice)
	if err != nil {
		return err
	}
	w.Record(thought, choice, actions)
	if p.Reflect != nil && !w.State.Status.Finished() {
		return p.Reflect(ctx, w)
	}
	return nil
}

func (w *Work) prepare(ctx context.Context, p *Phases) (in Input, err error) {
	tools, messages := (*Work).PrepareTools, (*Work).PrepareContext
	if p.PrepareTools != nil {
		tools = func(w *Work, ctx context.Context) ([]tool.Tool, error) { return p.PrepareTools(ctx, w) }
	}
	if p.PrepareContext != nil {
		messages = func(w *Work, ctx context.Context) ([]llm.Message, error) { return p.PrepareContext(ctx, w) }
	}
	if in.Messages, err = messages(w, ctx); err != nil {
		return in, err
	}
	in.Tools, err = tools(w, ctx)
	return in, err
}

// Reason has the decider think, for a phase or a step that looks at its thought.
func (w *Work) Reason(ctx context.Context, in Input) (Thought, error) {
	return w.decider.Reason(ctx, w, in)
}

// Select has the decider choose, for a phase or a step that looks at what it
// chose.
func (w *Work) Select(ctx context.Context, in Input, t Thought) (Choice, error) {
	return w.decider.Select(ctx, w, in, t)
}

// PrepareTools returns the tools that the rules leave: those of the definition,
// those that fit the task and those that the agent has found, in this order.
func (w *Work) PrepareTools(context.Context) ([]tool.Tool, error) {
	tools := slices.Clip(w.tools)
	if len(w.brought) > 0 {
		tools = slices.Concat(w.tools, w.brought)
	}
	tools = tool.Available(w.rules, w.State, tools)
	if w.forced > 0 {
		force := []tool.Rule{{Counter: "iteration", Only: append(w.lastWords(), string(tool.Reporting))}}
		tools = tool.Available(force, w.State, tools)
	}
	return tools, nil
}

// steer takes in what the user said unasked: it is said to the agent that the
// user knows, not to one that works for it.
func (w *Work) steer() error {
	if len(w.Task.Callers) > 0 {
		return nil
	}
	said, err := w.Scope.Steer()
	for _, text := range said {
		w.Tell(text)
	}
	return err
}

// Tell says something to the model, as the user.
func (w *Work) Tell(text string) {
	w.messages = append(w.conversation(), llm.Message{Role: llm.RoleUser, Content: text})
}

// thought shows what the model thinks.
func (w *Work) thought(t *Thought) error {
	if t.Text == "" && len(t.Reasoning.Steps) == 0 && t.Reasoning.Situation == "" {
		return nil
	}
	w.logThought(t)
	text := t.Text
	if text == "" {
		text = t.Reasoning.Situation
	}
	told := event.AgentReasoning{Text: text, Steps: t.Reasoning.Steps, Extracted: t.Extracted, Iteration: w.State.Iteration}
	if t.Text == "" {
		r := event.Reasoning(t.Reasoning)
		r.Steps, r.Remaining = append([]string{}, r.Steps...), append([]string{}, r.Remaining...) // lists in JSON, however empty
		told.Reasoning = &r
	}
	return w.Scope.Emit(told)
}

// hopeless decides what a failure of the model means. Rules go on without it
// when it can't be reached, and the work is concluded when nothing more may be
// spent.
func (w *Work) hopeless(err error) error {
	var gone *goneError
	var stuck *stuckError
	if errors.As(err, &stuck) || !errors.As(err, &gone) {
		return err
	}
	switch {
	case gone.Spent:
		return &stuckError{gone}
	case gone.toolless():
		w.decider = iron{}
		return nil
	}
	w.byRules(gone)
	return nil
}

// unheard is an iteration in which the model called nothing.
func (w *Work) unheard(t Thought, c Choice) error {
	const most = 2
	w.strikes++
	text := c.Text
	if w.ends && c.Complaint != "" {
		text = answerIn(text) // a form that was not kept to is no answer
	}
	if text != "" && (!w.ends || w.strikes > most) {
		w.Finish(tool.Answer{Text: text, Status: tool.Completed})
		return nil
	}
	if w.strikes > most+2 {
		return stuckf("the model called no tool %d times in a row", w.strikes)
	}
	w.Record(t, c, nil)
	complaint := c.Complaint
	if complaint == "" {
		complaint = "You called no tool. Call one of the tools now; to answer, call the one that ends the work."
	}
	w.Tell(complaint)
	return nil
}

// Finish ends the work with an answer.
func (w *Work) Finish(a tool.Answer) { w.State.Apply(tool.Change{Answer: &a}) }

// Record adds an iteration to the conversation, as the decider writes it.
func (w *Work) Record(t Thought, c Choice, actions []Action) {
	w.messages = w.decider.Record(w, t, c, actions, w.conversation())
	for _, a := range actions {
		if a.Reply != nil {
			w.Tell(w.clarified(*a.Reply))
		}
	}
}
