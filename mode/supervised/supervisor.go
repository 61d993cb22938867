package supervised

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dossier/agent"
	"dossier/event"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
	"dossier/sources"
	"dossier/study"
	"dossier/tool"
)

// supervisorName is that of the supervisor in the log.
const supervisorName = "supervisor"

const (
	// findingsSeen is how many of the last useful findings the supervisor sees.
	findingsSeen = 15
	// silences is how many replies in a row without a tool end its work.
	silences = 2
)

// The decisions of a supervisor.
const (
	decideContinue = "continue"
	decideReplan   = "replan"
	decideFinish   = "finish"
)

// supervise has the supervisor look at a researcher that is through with its
// task, if it may still be called. Afterwards the researcher has a new task, or
// none and is let go.
func (t *team) supervise(ctx context.Context, r *researcher, a *assignment, f *study.Finding) error {
	if t.finished || t.stopped != nil || t.calls >= t.set.SupervisorCalls {
		return nil //nolint:nilerr // what was found is in the book, and gets into the report
	}
	t.calls++
	c := &call{team: t, scope: t.scope.Child(fmt.Sprintf("supervisor-%d", t.calls)), from: r, task: a, finding: f}
	decision := ""
	if !t.noModel && !t.forced {
		var err error
		if decision, err = c.byModel(ctx); err != nil {
			return err
		}
	}
	if decision == "" {
		var err error
		if decision, err = c.byRules(ctx); err != nil {
			return err
		}
	}
	if decision == decideReplan {
		if err := c.dropOld(); err != nil {
			return err
		}
	}
	if decision != decideFinish {
		if err := c.untried(); err != nil {
			return err
		}
	}
	if decision != decideFinish && !c.busyOrPending() { // to go on means that somebody does
		if err := c.taskByRules(); err != nil {
			return err
		}
	}
	if err := t.scope.Emit(event.SupervisorDecision{Decision: decision, Reason: c.reason, Tasks: c.created}); err != nil {
		return err
	}
	if decision == decideFinish {
		return t.finish()
	}
	return nil
}

// untried gives researchers that have nothing to do items of the rubric that
// nobody has looked for yet.
func (c *call) untried() error {
	can, err := c.affordable()
	if err != nil || !can {
		return err
	}
	for _, item := range c.plan.OpenItems() {
		r := c.free()
		if r.busy != nil || r.next() != nil {
			return nil
		}
		if c.tried[item.ID] == 0 && !c.underWay(item.ID) && !c.twice(item.Question) {
			if err := c.create(r, &todo{title: item.Question, items: []string{item.ID}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropOld drops the tasks that nobody has begun and that were not made in this
// call: the direction was wrong.
func (c *call) dropOld() error {
	for _, r := range c.members {
		for _, d := range r.todos {
			if d.state == pending && !slices.Contains(c.created, d.title) {
				if err := c.mark(r, d, dropped); err != nil {
					return err
				}
			}
		}
	}
	return c.tellPlan()
}

// finish ends the research: who is at work finishes its task, and what is pending
// is dropped.
func (t *team) finish() error {
	t.finished = true
	for _, r := range t.members {
		for _, d := range r.todos {
			if d.state == pending {
				if err := t.mark(r, d, dropped); err != nil {
					return err
				}
			}
		}
	}
	return t.tellPlan()
}

// call is one call of the supervisor, for one researcher.
type call struct {
	*team
	scope   *run.Scope
	from    *researcher
	task    *assignment
	finding *study.Finding // nil where nothing was found

	decision string
	reason   string
	created  []string
	silent   int
	against  int // queries that looked for what speaks against a claim
}

// affordable says whether the work may go on after this call.
func (c *call) affordable() (bool, error) {
	if c.calls >= c.set.SupervisorCalls || c.begun >= c.set.Rounds {
		return false, nil
	}
	err := c.scope.Budget().Check(run.Searches, run.Pages)
	if err != nil && !sources.Spent(err) {
		return false, err
	}
	return err == nil, nil
}

// objection says why a decision can't be made; empty if it can.
func (c *call) objection(in decisionArgs) (string, error) {
	for _, id := range in.NotFound {
		if !slices.ContainsFunc(c.plan.Rubric, func(i study.Item) bool { return i.ID == id }) {
			return fmt.Sprintf("the rubric has no item %q", cut(oneLine(id), 50)), nil
		}
	}
	can, err := c.affordable()
	if err != nil || !can {
		return "", err
	}
	for _, id := range in.NotFound {
		if c.tried[id] == 0 {
			return fmt.Sprintf("nobody has looked for %s yet: create a task for it first", id), nil
		}
	}
	if in.Decision != decideFinish {
		return "", nil
	}
	var open []string
	for _, i := range c.plan.OpenItems() {
		if !slices.Contains(in.NotFound, i.ID) {
			open = append(open, fmt.Sprintf("%s (%s)", i.ID, i.Question))
		}
	}
	switch {
	case len(open) > 0:
		return "the work is not finished: items of the rubric are neither covered nor marked as not found: " + strings.Join(open, "; ") +
			". Create tasks for them, or name in not_found those that nobody can find", nil
	case c.memory.draft == "":
		return "the work is not finished: there is no draft yet. Write it first", nil
	case !c.more:
		return "the work is not finished: after the first draft at least one more round is made. Create a task for what is covered least", nil
	}
	return "", nil
}

// byModel has the model supervise in its loop. It returns "" where rules have to
// decide: the model is gone, called no tool twice in a row, or came to no decision
// within its iterations.
func (c *call) byModel(ctx context.Context) (string, error) {
	tools, err := tool.NewSet(c.tools()...)
	if err != nil {
		return "", err
	}
	who := &agent.Agent{
		Definition: agent.Definition{
			Name: supervisorName, Decider: c.set.Decider, Limits: agent.Limits{Iterations: c.set.SupervisorIterations, Searches: -1, Clarifications: -1},
		},
		Tools: tools, Models: c.parts.Models, Role: llm.ForResearcher,
		Phases: agent.Phases{PrepareContext: c.prompt, Select: c.choose},
	}
	made, err := who.Run(ctx, c.scope, agent.Task{Text: c.brief.Refined, Lang: c.language, Model: c.req.Model, NoInput: true, Callers: []string{c.name}})
	if err != nil {
		return "", err
	}
	if made.Extractive { // its model is gone
		c.forced = true
		c.overruled(true, made.Why)
		return "", nil
	}
	if c.decision == "" {
		c.forced = true
	}
	return c.decision, nil
}

// choose looks at what the model chose. Silence, and the last iteration without a
// decision, end its work.
func (c *call) choose(ctx context.Context, work *agent.Work, in agent.Input, thought agent.Thought) (agent.Choice, error) {
	choice, err := work.Select(ctx, in, thought)
	if err != nil {
		return choice, err
	}
	if c.silent++; len(choice.Calls) > 0 {
		c.silent = 0
	}
	if last := work.State.Iteration >= c.set.SupervisorIterations; c.silent < silences && !last {
		return choice, nil
	} else if c.silent < silences {
		ends, err := c.ends(choice)
		if err != nil || ends {
			return choice, err
		}
	}
	choice.Calls = []llm.ToolCall{{Name: decisionName, Arguments: fmt.Sprintf(`{"decision":%q,"reason":"","not_found":[]}`, endOfWork)}}
	return choice, nil
}

// endOfWork is the decision of a supervisor that makes none.
const endOfWork = "none"

// ends says whether a choice is a decision that can be made.
func (c *call) ends(choice agent.Choice) (bool, error) {
	for _, call := range choice.Calls {
		var in decisionArgs
		if tool.PlainName(call.Name) != tool.PlainName(decisionName) || json.Unmarshal([]byte(call.Arguments), &in) != nil || in.Validate() != nil {
			continue
		}
		why, err := c.objection(in)
		return why == "", err
	}
	return false, nil
}

// overview is what the supervisor sees.
type overview struct {
	Language, Date      string
	Question            string
	DeepSearch, Context string
	Said                []string
	Rubric              []study.Item
	Team                []memberView
	From                string
	Task                string
	Result              string
	Help                string
	Findings            []study.Finding
	Calls, MaxCalls     int
	Iterations          int
	Draft               int // characters
}

type memberView struct {
	Name, Role string
	Todos      []todoView
}

type todoView struct{ Title, State string }

var supervisorPrompt = &prompt.Task[overview, struct{}]{Name: "supervisor", Template: prompt.Parse(files, "supervisor.md")}

// prompt makes what the supervisor sees: the state of the research now, and what
// it has done in this call.
func (c *call) prompt(ctx context.Context, work *agent.Work) ([]llm.Message, error) {
	o := overview{
		Language: c.language.Name(), Date: c.team.scope.Record().Created.Format("2006-01-02"), Question: c.brief.Refined, DeepSearch: c.deepResult,
		Context: c.brief.Context(), Said: c.memory.said, Rubric: c.plan.Rubric, From: c.from.name, Task: c.task.todo.title, Help: c.task.out.help,
		Findings: c.useful(findingsSeen), Calls: c.calls, MaxCalls: c.set.SupervisorCalls, Iterations: c.set.SupervisorIterations, Draft: len([]rune(c.memory.draft)),
	}
	if c.finding != nil {
		o.Result = c.finding.ID
	}
	for _, r := range c.members {
		m := memberView{Name: r.name, Role: r.Role}
		for _, d := range r.todos {
			m.Todos = append(m.Todos, todoView{d.title, d.state})
		}
		o.Team = append(o.Team, m)
	}
	messages, err := supervisorPrompt.Messages(o)
	if err != nil {
		return nil, err
	}
	said, err := work.PrepareContext(ctx)
	if err != nil {
		return nil, err
	}
	const head = 2 // the loop's own prompts
	return append(messages, said[min(head, len(said)):]...), nil
}

// decide is make_final_decision.
func (c *call) decide(_ context.Context, _ *run.Scope, in decisionArgs) (tool.Result, error) {
	over := tool.Result{Text: "decided", Change: tool.Change{Answer: &tool.Answer{Text: in.Decision, Status: tool.Completed}}}
	if in.Decision == endOfWork {
		return over, nil
	}
	why, err := c.objection(in)
	if err != nil {
		return tool.Result{}, err
	}
	if why != "" {
		return tool.Result{}, errors.New(why)
	}
	for _, id := range in.NotFound {
		c.plan.Miss(id)
	}
	if len(in.NotFound) > 0 {
		if err := c.tellCoverage(); err != nil {
			return tool.Result{}, err
		}
	}
	c.decision, c.reason = in.Decision, cut(oneLine(in.Reason), 500)
	return over, nil
}

// byRules supervises without a model, in the same order: the findings, a note,
// the draft, the main document, the coverage, the decision.
func (c *call) byRules(ctx context.Context) (string, error) {
	name, task := c.from.name, c.task.todo.title
	if f := c.finding; f != nil {
		c.memory.note(lang.Text(c.language, "team.note-found", "agent", name, "task", task, "items", strings.Join(f.Items, ", ")))
		c.memory.append(task, f.Text)
		if err := c.accept(ctx, c.keyClaim(f)); err != nil {
			return "", err
		}
	} else {
		c.memory.note(lang.Text(c.language, "team.note-nothing", "agent", name, "task", task))
	}
	if err := c.taskByRules(); err != nil {
		return "", err
	}
	why, err := c.objection(decisionArgs{Decision: decideFinish})
	if err != nil {
		return "", err
	}
	if why != "" || c.busyOrPending() {
		if c.reason = lang.Text(c.language, "team.others"); len(c.plan.OpenItems()) > 0 {
			c.reason = lang.Text(c.language, "team.continue", "n", len(c.plan.OpenItems()))
		}
		return decideContinue, nil
	}
	c.reason = lang.Text(c.language, "team.finish")
	return decideFinish, nil
}

func (c *call) busyOrPending() bool {
	return c.atWork() > 0 || slices.ContainsFunc(c.members, func(r *researcher) bool { return r.next() != nil })
}

// taskByRules gives tasks for what is open: items that nobody looks for, once
// more in other words, and then as not found; and where all is covered and there
// was no round after the first draft, for what is covered least.
func (c *call) taskByRules() error {
	can, err := c.affordable()
	if err != nil || !can {
		return err
	}
	for _, item := range c.plan.OpenItems() {
		if c.underWay(item.ID) {
			continue
		}
		title := c.anew(item)
		if title == "" {
			c.plan.Miss(item.ID)
			if err := c.tellCoverage(); err != nil {
				return err
			}
			continue
		}
		if err := c.create(c.free(), &todo{title: title, question: c.wordsOf(title), items: []string{item.ID}}); err != nil {
			return err
		}
	}
	if c.more || c.busyOrPending() || len(c.plan.Rubric) == 0 {
		return nil
	}
	least := slices.MinFunc(c.plan.Rubric, func(a, b study.Item) int { return len(a.Findings) - len(b.Findings) })
	return c.create(c.free(), &todo{
		title: lang.Text(c.language, "team.deepen", "question", least.Question), question: least.Question, beyond: true, items: []string{least.ID},
	})
}

func (c *call) create(r *researcher, d *todo) error {
	c.created = append(c.created, d.title)
	return c.give(r, d)
}
