package supervised

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dossier/cite"
	"dossier/event"
	"dossier/extract"
	"dossier/lang"
	"dossier/llm"
	"dossier/mode"
	"dossier/run"
	"dossier/sources"
	"dossier/study"
)

// team is one run of the mode: who works, and what they share. One goroutine
// changes it; researchers get copies of what they are to know.
type team struct {
	*Mode
	scope    *run.Scope
	req      mode.Request
	set      Settings
	language lang.Code
	known    *sources.Circumstances
	open     sources.Opened
	// noModel says that there was no model when the run was created.
	noModel bool

	brief      study.Brief
	earlier    study.Recalled // what earlier runs of the conversation have read
	analysis   Analysis
	plan       study.Plan
	deepResult string // deep_search_result
	deepFailed error
	book       *study.Book
	told       int      // sources of the book that the log knows
	settled    []string // tasks that earlier runs have read enough for

	members []*researcher
	queue   *run.Mailbox[finished]
	memory  memory
	folder  folder

	calls    int // of the supervisor
	begun    int // tasks
	more     bool
	finished bool  // no new tasks are begun
	forced   bool  // the model of the supervisor is not asked any more
	stopped  error // why nothing more may be spent
	short    bool  // a researcher could not do all that it wanted
	tried    map[string]int
	failure  error // of the first researcher that could not search
}

// researcher is a member of the team.
type researcher struct {
	number int
	name   string
	Character
	scope *run.Scope
	todos []*todo
	notes []string // the newest last
	tasks int      // that it has begun
	busy  *assignment
}

// The states of a todo.
const (
	pending = "pending"
	active  = "active"
	done    = "done"
	dropped = "dropped"
)

// A todo is a task of a researcher.
type todo struct {
	id    string
	title string
	state string
	items []string // of the rubric that it is to cover
	// late says that it was made when there was a draft.
	late bool
	// question is what is searched for, where that is not the title; beyond says
	// that it is looked for in what nobody has read yet.
	question string
	beyond   bool
}

// finished says which researcher is through with which of its tasks.
type finished struct {
	Agent int `json:"agent"`
	Task  int `json:"task"`
}

func newTeam(m *Mode, s *run.Scope, req mode.Request, set Settings) *team {
	t := &team{
		Mode: m, scope: s, req: req, set: set, language: req.Language(set.Lang), book: study.NewBook(), tried: make(map[string]int),
		noModel: withoutModel(&req, m.parts.Models, llm.ForResearcher),
	}
	if req.Circumstances != nil {
		t.known = &req.Circumstances.Circumstances
	}
	t.folder = m.parts.Sessions.of(s.Record().ID)
	return t
}

// work has the team research until the supervisor ends it or nobody has anything
// to do. Whoever is at work when it is over finishes its task.
func (t *team) work(ctx context.Context) error {
	t.queue = run.NewMailbox[finished](t.scope, "queue")
	for {
		if err := t.steer(); err != nil {
			return err
		}
		if err := t.assign(ctx); err != nil {
			return err
		}
		t.show()
		if t.atWork() == 0 {
			return nil
		}
		who, err := t.queue.Receive(ctx)
		if errors.Is(err, run.ErrNoSender) {
			return nil
		}
		if err != nil {
			return err
		}
		r := t.members[who.Agent-1]
		a := r.busy
		if err := a.task.Wait(ctx); err != nil {
			return err
		}
		r.busy = nil
		f, err := t.take(ctx, r, a)
		if err != nil {
			return err
		}
		if err := t.supervise(ctx, r, a, f); err != nil {
			return err
		}
	}
}

func (t *team) atWork() int {
	n := 0
	for _, r := range t.members {
		if r.busy != nil {
			n++
		}
	}
	return n
}

// assign gives each researcher that is free its next task, as long as something
// may be spent.
func (t *team) assign(ctx context.Context) error {
	for _, r := range t.members {
		next := r.next()
		if r.busy != nil || next == nil {
			continue
		}
		if !t.finished && t.stopped == nil {
			if err := t.scope.Budget().Check(run.Searches, run.Pages); err != nil {
				if !sources.Spent(err) {
					return err
				}
				t.stopped = err
			}
		}
		if t.finished || t.stopped != nil || t.begun >= t.set.Rounds {
			if err := t.mark(r, next, dropped); err != nil {
				return err
			}
			continue
		}
		t.begun++
		t.more = t.more || next.late
		for _, item := range next.items {
			t.tried[item]++
		}
		if err := t.mark(r, next, active); err != nil {
			return err
		}
		t.begin(ctx, r, next)
	}
	return nil
}

// next is the task that a researcher does next, nil for none.
func (r *researcher) next() *todo {
	i := slices.IndexFunc(r.todos, func(d *todo) bool { return d.state == pending })
	if i < 0 {
		return nil
	}
	return r.todos[i]
}

// mark changes the state of a task and tells it.
func (t *team) mark(r *researcher, d *todo, state string) error {
	d.state = state
	return t.scope.Emit(event.TodoUpdated{ID: d.id, Agent: r.name, Title: d.title, State: state})
}

// give adds a task to those of a researcher.
func (t *team) give(r *researcher, d *todo) error {
	d.id, d.late = r.name+"-"+strconv.Itoa(len(r.todos)+1), t.memory.draft != ""
	r.todos = append(r.todos, d)
	if err := t.mark(r, d, pending); err != nil {
		return err
	}
	return t.tellPlan()
}

// tellPlan tells all tasks with their states: the plan as it stands.
func (t *team) tellPlan() error {
	told := event.PlanUpdated{Title: t.plan.Title}
	for _, r := range t.members {
		for _, d := range r.todos {
			told.Steps = append(told.Steps, event.PlanStep{Title: d.title, State: d.state})
		}
	}
	return t.scope.Emit(told)
}

// free is the researcher that has least to do: none that is at work if others
// are not.
func (t *team) free() *researcher {
	return slices.MinFunc(t.members, func(a, b *researcher) int { return a.load() - b.load() })
}

func (r *researcher) load() int {
	n := 0
	for _, d := range r.todos {
		if d.state == pending || d.state == active {
			n++
		}
	}
	return n*100 + len(r.todos)
}

// underWay says whether an item of the rubric is being looked for.
func (t *team) underWay(item string) bool {
	for _, r := range t.members {
		for _, d := range r.todos {
			if (d.state == pending || d.state == active) && slices.Contains(d.items, item) {
				return true
			}
		}
	}
	return false
}

// twice says whether somebody has, or had, a task that says the same.
func (t *team) twice(title string) bool {
	for _, r := range t.members {
		for _, d := range r.todos {
			if d.state != dropped && (strings.EqualFold(d.title, title) || extract.Same(d.title, title)) {
				return true
			}
		}
	}
	return false
}

// take enters what a researcher has found into the book and the rubric.
func (t *team) take(ctx context.Context, r *researcher, a *assignment) (*study.Finding, error) {
	if a.todo.state == dropped {
		return nil, t.tellPlan() // the user does not want it any more
	}
	if err := t.mark(r, a.todo, done); err != nil {
		return nil, err
	}
	out := &a.out
	t.short = t.short || out.evidence != nil && out.evidence.CutShort()
	if out.failed != "" {
		t.book.Note(lang.Text(t.language, "team.failed", "agent", r.name, "task", a.todo.title, "why", out.failed))
		if t.failure == nil && out.err != nil {
			t.failure = out.err
		}
	}
	if out.evidence == nil || strings.TrimSpace(out.text) == "" {
		if out.evidence != nil {
			t.book.Pass(out.evidence)
		}
		return nil, t.tellPlan()
	}
	f, err := t.enter(ctx, fmt.Sprintf("%s-%d", r.name, a.number), out.evidence, a.todo.items, study.Finding{
		By: r.name, Task: a.todo.title, Text: out.text, Passages: out.passages, Items: out.covers,
	})
	if err != nil {
		return nil, err
	}
	r.notes = append(r.notes, f.Text)
	return f, t.tellPlan()
}

// enter adds a finding to the book, tells it, and looks which items of the rubric
// it covers. What was looked for something else has to be surer to cover an item
// than what was looked for it.
func (t *team) enter(ctx context.Context, name string, e *sources.Evidence, lookedFor []string, f study.Finding) (*study.Finding, error) {
	claimed := f.Items
	f.Items = nil
	f = t.book.Add(e, f)
	own := &t.book.Findings[len(t.book.Findings)-1]
	if err := t.tellSources(); err != nil {
		return nil, err
	}
	note := event.NoteAdded{ID: f.ID, Text: f.Text, Sources: f.Sources()}
	if t.set.Credits {
		note.Agent = f.By
	}
	if err := t.scope.Emit(note); err != nil {
		return nil, err
	}
	covered, err := run.EffectStep(ctx, t.scope, run.Pure, "covers-"+name, func(context.Context, *run.Scope) ([]string, error) {
		var out []string
		answers := e.Answers(questionsOf(t.plan.Rubric)...)
		for i, item := range t.plan.Rubric {
			got := answers[i]
			said := slices.Contains(claimed, item.ID) && len(f.Sources()) > 0
			answered := got.Answered && (got.Confidence >= extract.Sure || slices.Contains(lookedFor, item.ID))
			if answered || said && (got.Confidence >= extract.Floor/2 || foreign(e, item.Question)) {
				out = append(out, item.ID)
			}
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	own.Items = covered
	for _, item := range covered {
		t.plan.Cover(item, f.ID)
	}
	return own, t.tellCoverage()
}

// tellCoverage tells how much of the rubric is covered.
func (t *team) tellCoverage() error {
	if t.set.Rubric {
		return t.scope.Emit(t.plan.Itemised())
	}
	return t.scope.Emit(t.plan.Coverage())
}

// questionsOf are those of the items of a rubric.
func questionsOf(items []study.Item) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = item.Question
	}
	return out
}

// foreign says whether what was read is in another language than a question:
// then words can't tell whether it answers, and whoever read it is believed.
func foreign(e *sources.Evidence, question string) bool {
	code := lang.Detect(question)
	return !slices.ContainsFunc(e.Ledger.Sources(), func(s cite.Source) bool { return s.Lang == code || s.Lang == "" })
}

// tellSources gives the sources that are new in the book their numbers in the
// log: those of researchers are their own.
func (t *team) tellSources() error {
	all := t.book.Ledger.Sources()
	for _, src := range all[min(t.told, len(all)):] {
		found := event.SourceFound{Number: src.Number, Title: src.Title, URL: src.URI}
		if t.set.FollowUps > 0 {
			found.Hash = src.Snapshot
		}
		if err := t.scope.Emit(found); err != nil {
			return err
		}
	}
	t.told = len(all)
	return nil
}

// useful are the last findings that say something.
func (t *team) useful(most int) []study.Finding {
	var out []study.Finding
	for _, f := range t.book.Findings {
		if strings.TrimSpace(f.Text) != "" {
			out = append(out, f)
		}
	}
	return out[max(0, len(out)-most):]
}
