package supervised

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dossier/agent"
	"dossier/cite"
	"dossier/event"
	"dossier/extract"
	"dossier/internal/base/trace"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
	"dossier/sources"
	"dossier/study"
	"dossier/tool"
)

const (
	// notesSeen is how many of its own notes a researcher sees.
	notesSeen = 10
	// reformulations is how often a researcher words a query anew in one task.
	reformulations = 5
	// reflectEvery is after how many steps a researcher looks at its progress.
	reflectEvery = 3
	// mostNote bounds a note in a prompt, in characters.
	mostNote = 2000
)

// assignment is a task under way, with what the researcher is to know of the
// rest: copies, made when the task began.
type assignment struct {
	t        *team
	who      *researcher
	todo     *todo
	number   int // of the researcher's tasks
	notes    []string
	insights string
	said     []string // by the user, to the team
	rubric   []study.Item
	known    []string // addresses of what is to be left aside

	task *run.Task
	out  outcome
}

// outcome is what came of a task.
type outcome struct {
	evidence *sources.Evidence
	text     string // the note, under the numbers of the evidence
	passages []cite.Passage
	covers   []string // items of the rubric that the researcher thinks it has covered
	help     string   // what it can't do by itself
	failed   string   // why there is nothing, or less
	err      error
}

// begin sets a researcher to work on a task, in a branch of its own. When it is
// through, or could not do it, it joins the queue.
func (t *team) begin(ctx context.Context, r *researcher, d *todo) {
	r.tasks++
	a := &assignment{
		t: t, who: r, todo: d, number: r.tasks, notes: slices.Clone(r.notes[max(0, len(r.notes)-notesSeen):]), insights: t.memory.main(),
		said: slices.Clone(t.memory.said), rubric: slices.Clone(t.plan.Rubric),
	}
	if d.beyond {
		for _, src := range t.book.Ledger.Sources() {
			a.known = append(a.known, src.URI)
		}
	}
	r.busy = a
	me := finished{Agent: r.number, Task: r.tasks}
	a.task = run.Go(ctx, r.scope, fmt.Sprintf("task_%d", r.tasks), func(ctx context.Context, s *run.Scope) error {
		err := run.Go(ctx, s, "work", func(ctx context.Context, s *run.Scope) (err error) {
			a.out, err = a.do(ctx, s)
			return err
		}).Wait(ctx)
		if run.Stopped(err) || ctx.Err() != nil {
			return err
		}
		if err != nil { // it has died, and the others go on
			a.out = outcome{failed: faultOf(err), err: err}
		}
		return t.queue.Send(s, me)
	})
}

// do works on the task: a model in its loop or, without one, rules.
func (a *assignment) do(ctx context.Context, s *run.Scope) (_ outcome, err error) {
	t := a.t
	job := t.job(a.asks())
	const more = 40 // results, beyond those that are known
	job.Corpus = sources.Without(job.Corpus, min(more, len(a.known)), func(l sources.Lead) bool { return slices.Contains(a.known, l.URI) })
	if t.noModel {
		ctx, span := trace.Agent(ctx, s.Path(), a.who.name, "", "", "")
		defer func() { agent.Traced(span, err) }()
		if err := s.Emit(event.AgentStarted{Name: a.who.name, Role: a.who.Role, Task: a.todo.title}); err != nil {
			return outcome{}, err
		}
		job.Planned = sources.PlannedByRules(a.asks(), job.Corpus, job.Tuning)
		if asked := t.brief.Refined; !a.todo.beyond && (a.asks() == asked || slices.Contains(extract.Facets(asked), a.asks())) {
			job.Trail = t.set.Trail
		}
		e, err := sources.Gather(ctx, s, job)
		if err != nil {
			return outcome{}, err
		}
		out := quotes(e)
		return out, s.Emit(event.AgentFinished{Name: a.who.name, Outcome: outcomeName(out), Summary: firstLine(out.text)})
	}
	b := sources.Browse(s, job, true)
	w := &atWork{assignment: a, browsing: b}
	tools, err := tool.NewSet(w.tools()...)
	if err != nil {
		return outcome{}, err
	}
	who := &agent.Agent{
		Definition: agent.Definition{
			Name: a.who.name, Decider: t.set.Decider, Limits: agent.Limits{Iterations: t.set.AgentSteps, Searches: 1 + reformulations, Clarifications: -1},
		},
		Tools: tools, Models: t.parts.Models, Role: llm.ForResearcher,
		Phases: agent.Phases{PrepareContext: w.prompt, Select: w.choose, Reflect: w.reflect},
	}
	made, err := who.Run(ctx, s, agent.Task{Text: a.todo.title, Lang: t.language, Model: t.req.Model, NoInput: true, Callers: []string{supervisorName}})
	if err != nil {
		return outcome{}, err
	}
	e, err := b.Evidence(ctx, s)
	if err != nil {
		return outcome{}, err
	}
	return w.noted(ctx, s, e, made)
}

// asks is what is searched for.
func (a *assignment) asks() string {
	if a.todo.question != "" {
		return a.todo.question
	}
	return a.todo.title
}

// job is a question as the team asks it.
func (t *team) job(question string) sources.Job {
	return sources.Job{
		Models: t.parts.Models, Model: t.req.Model, Blobs: t.parts.Blobs, Corpus: t.open.Corpus, Question: question, Language: t.language,
		Where: t.open.Where, Tuning: t.set.Tuning, Rerankers: t.parts.Rerankers, Known: t.known, Private: t.earlier.Private(),
	}
}

// quotes is an outcome that consists of what was quoted.
func quotes(e *sources.Evidence) outcome {
	out := outcome{evidence: e}
	for _, f := range e.Facets {
		if f.Answered {
			out.passages = append(out.passages, f.Quotes...)
		}
	}
	out.text = e.Quoted(out.passages)
	return out
}

func outcomeName(out outcome) string {
	if out.text == "" {
		return string(tool.Failed)
	}
	return string(tool.Completed)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return cut(line, 200)
}

// atWork is a researcher whose model is in the loop.
type atWork struct {
	*assignment
	browsing *sources.Browsing
	seen     int      // messages of the conversation that earlier prompts had
	steps    []string // what was done so far: its report
}

// noted makes the outcome of what the model noted. What it says that it read is
// held against what was read; a note that cites nothing of it gives way to the
// sentences themselves.
func (w *atWork) noted(ctx context.Context, s *run.Scope, e *sources.Evidence, made agent.Done) (outcome, error) {
	out := quotes(e)
	var told struct {
		Covers []string `json:"covers"`
		Help   string   `json:"help"`
	}
	if raw := made.State.Custom[toldKey]; raw != nil {
		_ = json.Unmarshal(raw, &told) // it is our own
	}
	out.covers, out.help = told.Covers, told.Help
	if made.Extractive {
		out.failed = made.Why
	}
	if made.Extractive || made.Answer.Status != tool.Completed {
		return out, nil
	}
	read := func(n int) bool {
		src, ok := e.Ledger.Source(n)
		return ok && src.Snapshot != ""
	}
	note, _ := cite.OnlyKnown(cite.Sanitize(made.Answer.Text), read)
	checked, err := run.EffectStep(ctx, s, run.Pure, "check", func(ctx context.Context, _ *run.Scope) ([]cite.Passage, error) {
		result, err := cite.Verify(ctx, note, e.Ledger, e.Snapshots, cite.Lexical{}, cite.Options{})
		if err != nil {
			return nil, err
		}
		var out []cite.Passage
		for _, c := range result.Claims {
			if c.Verified {
				out = append(out, c.Passages...)
			}
		}
		return out, nil
	})
	if err != nil {
		return outcome{}, err
	}
	cites := slices.ContainsFunc(cite.Split(note), func(c cite.Claim) bool { return len(c.Sources) > 0 })
	if strings.TrimSpace(note) == "" || !cites {
		return out, nil
	}
	out.text = strings.TrimSpace(note)
	out.passages = append(checked, out.passages...)
	return out, nil
}

// view is what a researcher sees.
type view struct {
	Role, Style  string
	Sources      []string
	Language     string
	Date         string
	Where        string
	Steps        int
	Question     string
	DeepSearch   string
	Context      string
	Insights     string
	Notes        []string
	Said         []string
	Rubric       []study.Item
	Task         string
	Report       []string
	Step         int
	Last         bool
	Observations string
}

var researcherPrompt = &prompt.Task[view, struct{}]{Name: "researcher", Template: prompt.Parse(files, "researcher.md")}

// prompt makes what the model sees of a step anew: what everybody knows, what was
// done so far in few words, and what the last step brought. What earlier ones
// brought stays in the ledger.
func (w *atWork) prompt(ctx context.Context, work *agent.Work) ([]llm.Message, error) {
	t, step := w.t, work.State.Iteration
	v := view{
		Role: w.who.Role, Style: w.who.Style, Sources: w.who.Sources, Language: t.language.Name(), Date: t.scope.Record().Created.Format("2006-01-02"),
		Where: t.open.Where, Steps: t.set.AgentSteps, Question: t.brief.Refined, DeepSearch: unnumbered(t.deepResult), Context: t.brief.Context(),
		Insights: unnumbered(w.insights), Notes: short(w.notes), Said: w.said, Task: w.todo.title, Report: w.steps, Step: step, Last: step >= t.set.AgentSteps,
	}
	for _, item := range w.rubric {
		if item.State == study.Open || slices.Contains(w.todo.items, item.ID) {
			v.Rubric = append(v.Rubric, item)
		}
	}
	for i, n := range v.Notes {
		v.Notes[i] = unnumbered(n)
	}
	messages, err := researcherPrompt.Messages(v)
	if err != nil {
		return nil, err
	}
	said, err := work.PrepareContext(ctx)
	if err != nil {
		return nil, err
	}
	const head = 2 // the loop's own prompts
	if w.seen == 0 {
		w.seen = min(head, len(said))
	}
	messages = append(messages, said[w.seen:]...)
	w.seen = len(said)
	return messages, nil
}

// unnumbered is a text without the numbers of its sources, which mean something
// else to a researcher.
func unnumbered(text string) string {
	bare, _ := cite.OnlyKnown(text, func(int) bool { return false })
	return bare
}

// short are notes cut to what a prompt has room for.
func short(notes []string) []string {
	out := make([]string, len(notes))
	for i, n := range notes {
		out[i] = cut(n, mostNote)
	}
	return out
}

// choose looks at what the model chose: the last step is for the note.
func (w *atWork) choose(ctx context.Context, work *agent.Work, in agent.Input, thought agent.Thought) (agent.Choice, error) {
	c, err := work.Select(ctx, in, thought)
	if err != nil {
		return c, err
	}
	for i, call := range c.Calls {
		if tool.PlainName(call.Name) == tool.PlainName(doneName) {
			c.Calls[i].Arguments = withNote(call.Arguments)
		}
	}
	ends := slices.ContainsFunc(c.Calls, func(call llm.ToolCall) bool {
		name := tool.PlainName(call.Name)
		return name == tool.PlainName(doneName) || name == tool.PlainName(helpName)
	})
	if work.State.Iteration < w.t.set.AgentSteps || ends {
		return c, nil
	}
	raw, err := json.Marshal(doneArgs{Note: c.Text, Covers: []string{}})
	if err != nil {
		return c, err
	}
	c.Calls = []llm.ToolCall{{Name: doneName, Arguments: string(raw)}}
	return c, nil
}

// withNote reads the answer that a decider made of a final answer as the note.
func withNote(arguments string) string {
	var said struct {
		doneArgs
		Answer string `json:"answer"`
	}
	if json.Unmarshal([]byte(arguments), &said) != nil || said.Note != "" || said.Answer == "" {
		return arguments
	}
	said.Note = said.Answer
	if said.Covers == nil {
		said.Covers = []string{}
	}
	raw, err := json.Marshal(said.doneArgs)
	if err != nil {
		return arguments
	}
	return string(raw)
}

// reflection is what a model is asked for.
type reflection struct {
	Text       string   `json:"text" jsonschema:"how the work goes and what to do differently, in two or three sentences"`
	Sufficient bool     `json:"sufficient" jsonschema:"whether what was read is enough for the task"`
	Gaps       []string `json:"gaps" jsonschema:"what is missing"`
	Query      string   `json:"query" jsonschema:"a better query, if the last ones did not help; else empty"`
}

type reflectInput struct {
	Task, Language string
	Report         []string
	Left           int
	read           int
	code           lang.Code
}

var reflect = &prompt.Task[reflectInput, reflection]{
	Name:     "reflect",
	Role:     llm.ForResearcher,
	Template: prompt.Parse(files, "reflect.md"),
	Fallback: func(in reflectInput) (reflection, error) {
		if in.read > 0 {
			return reflection{Text: lang.Text(in.code, "team.reflect-read", "n", in.read), Sufficient: true}, nil
		}
		return reflection{Text: lang.Text(in.code, "team.reflect-unread")}, nil
	},
}

// reflect has the model look at its progress every few steps. It may change its
// approach.
func (w *atWork) reflect(ctx context.Context, work *agent.Work) error {
	n := work.State.Iteration
	if n%reflectEvery != 0 || n >= w.t.set.AgentSteps {
		return nil
	}
	in := reflectInput{Task: w.todo.title, Language: w.t.language.Name(), Report: w.steps, Left: w.t.set.AgentSteps - n, code: w.t.language}
	for _, src := range work.State.Sources {
		if src.Text != "" {
			in.read++
		}
	}
	made, err := reflect.Do(ctx, work.Scope.Child(fmt.Sprintf("reflect-%d", n)), w.t.parts.Models, in, prompt.Options[reflection]{Model: w.t.req.Model})
	if err != nil {
		return err
	}
	r := made.Value
	r.Text, r.Query = oneLine(r.Text), sources.Searchable(r.Query)
	told := event.AgentReflected{Text: r.Text, Sufficient: r.Sufficient}
	for _, g := range r.Gaps {
		told.Gaps = append(told.Gaps, oneLine(g))
	}
	if err := work.Scope.Emit(told); err != nil {
		return err
	}
	w.steps = append(w.steps, "reflected: "+r.Text)
	advice := "You looked at your progress: " + r.Text
	if r.Query != "" {
		advice += "\nA better query: " + r.Query
	}
	work.Tell(advice)
	return nil
}
