package supervised

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dossier/cite"
	"dossier/extract"
	"dossier/lang"
	"dossier/run"
	"dossier/sources"
	"dossier/study"
	"dossier/tool"
)

// decisionName is the tool that ends a call of the supervisor.
const decisionName = "make_final_decision"

type noArgs struct{}

type noteArgs struct {
	Note string `json:"note" jsonschema:"a note to yourself"`
}

type insightArgs struct {
	Insights []string `json:"insights" min:"1" max:"3" jsonschema:"key insights, each one sentence with the numbers of its sources in brackets"`
}

type draftArgs struct {
	Content string `json:"content" jsonschema:"Markdown with the numbers of sources in brackets"`
	Replace bool   `json:"replace" default:"false" jsonschema:"true replaces the whole draft, false adds to it"`
}

type agentArgs struct {
	AgentID string `json:"agent_id" jsonschema:"such as agent_1"`
}

type todoArgs struct {
	AgentID string   `json:"agent_id" jsonschema:"such as agent_1"`
	Task    string   `json:"task" jsonschema:"a question that stands by itself"`
	Items   []string `json:"items" jsonschema:"IDs of the items of the rubric that it is to cover"`
}

type decisionArgs struct {
	Decision string   `json:"decision" jsonschema:"continue, replan or finish"`
	Reason   string   `json:"reason" jsonschema:"why, in one or two sentences"`
	NotFound []string `json:"not_found" jsonschema:"IDs of items of the rubric that were looked for and can't be found"`
}

// Validate implements the check of arguments.
func (a *decisionArgs) Validate() error {
	switch a.Decision {
	case decideContinue, decideReplan, decideFinish, endOfWork:
		return nil
	}
	return fmt.Errorf("decision is %q: use continue, replan or finish", a.Decision)
}

// tools are the nine of the supervisor.
func (c *call) tools() []tool.Tool {
	said := func(text string) (tool.Result, error) { return tool.Result{Text: text}, nil }
	read := func(name, what string, text func() string) tool.Tool {
		return newWork(tool.Spec{Name: name, Description: what}, func(context.Context, *run.Scope, noArgs) (tool.Result, error) {
			if t := text(); t != "" {
				return said(t)
			}
			return said("It is empty.")
		})
	}
	return []tool.Tool{
		read("read_supervisor_file", "Read your own notes.", func() string { return strings.Join(c.memory.notes, "\n") }),
		newWork(tool.Spec{Name: "write_supervisor_note", Description: "Write a note to yourself."}, func(_ context.Context, _ *run.Scope, in noteArgs) (tool.Result, error) {
			c.memory.note(oneLine(in.Note))
			c.show()
			return said("noted")
		}),
		read("read_main_document", "Read the main document: the key insights so far.", func() string { return c.memory.main() }),
		newWork(tool.Spec{Name: "write_main_document", Description: "Add key insights to the main document. For each, one query looks for what speaks against it before it is accepted; the result says what was found."}, c.writeMain),
		read("read_draft_report", "Read the draft of the report.", func() string { return c.memory.draft }),
		newWork(tool.Spec{Name: "write_draft_report", Description: "Write the draft of the report, or add to it."}, c.writeDraft),
		newWork(tool.Spec{Name: "review_agent_progress", Description: "See the tasks and the notes of a researcher, and how much of the rubric is covered."}, c.review),
		newWork(tool.Spec{Name: "create_agent_todo", Description: "Give a researcher a new task. It begins with it when it is through with those before."}, c.createTodo),
		newWork(tool.Spec{Name: decisionName, Kind: tool.Final, System: true, Description: "Decide how the work goes on, and end this call: continue, replan (tasks that nobody has begun are dropped), or finish."}, c.decide),
	}
}

// cited says whether a source of the book has that number.
func (t *team) cited(n int) bool {
	src, ok := t.book.Ledger.Source(n)
	return ok && src.Snapshot != ""
}

// written is what a model wrote for a document: without addresses, and citing
// only what was read.
func (t *team) written(text string) string {
	clean, _ := cite.OnlyKnown(cite.Sanitize(text), t.cited)
	return strings.TrimSpace(clean)
}

func (c *call) writeDraft(_ context.Context, _ *run.Scope, in draftArgs) (tool.Result, error) {
	text := c.written(in.Content)
	if text == "" {
		return tool.Result{}, errors.New("content is empty: write the draft, each statement with the numbers of its sources")
	}
	if in.Replace || c.memory.draft == "" {
		c.memory.draft = text
	} else {
		c.memory.draft += "\n\n" + text
	}
	c.show()
	return tool.Result{Text: fmt.Sprintf("The draft has %d characters now.", len([]rune(c.memory.draft)))}, nil
}

func (c *call) writeMain(ctx context.Context, s *run.Scope, in insightArgs) (tool.Result, error) {
	var out []string
	for _, insight := range in.Insights {
		claim := c.written(insight)
		if !slices.ContainsFunc(cite.Split(claim), func(c cite.Claim) bool { return len(c.Sources) > 0 }) {
			out = append(out, fmt.Sprintf("not accepted, because it cites no source: %s", claim))
			continue
		}
		if c.memory.has(claim) {
			out = append(out, "it is there already: "+claim)
			continue
		}
		against, err := c.acceptIn(ctx, s, claim)
		if err != nil {
			return tool.Result{}, err
		}
		out = append(out, "accepted: "+claim+"\n"+against)
	}
	c.show()
	return tool.Result{Text: strings.Join(out, "\n\n")}, nil
}

func (c *call) review(_ context.Context, _ *run.Scope, in agentArgs) (tool.Result, error) {
	r, err := c.member(in.AgentID)
	if err != nil {
		return tool.Result{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s\n", r.name, r.Role)
	for _, d := range r.todos {
		fmt.Fprintf(&b, "- [%s] %s\n", d.state, d.title)
	}
	for _, n := range short(r.notes[max(0, len(r.notes)-notesSeen):]) {
		fmt.Fprintf(&b, "\nNote:\n%s\n", n)
	}
	cov := c.plan.Coverage()
	fmt.Fprintf(&b, "\nThe rubric: %d of %d items are covered.", cov.Covered, cov.Total)
	return tool.Result{Text: b.String()}, nil
}

func (t *team) member(name string) (*researcher, error) {
	var names []string
	for _, r := range t.members {
		if tool.PlainName(r.name) == tool.PlainName(name) || fmt.Sprint(r.number) == strings.TrimSpace(name) {
			return r, nil
		}
		names = append(names, r.name)
	}
	return nil, fmt.Errorf("there is no researcher %q: the team is %s", cut(oneLine(name), 50), strings.Join(names, ", "))
}

func (c *call) createTodo(_ context.Context, _ *run.Scope, in todoArgs) (tool.Result, error) {
	r, err := c.member(in.AgentID)
	if err != nil {
		return tool.Result{}, err
	}
	title := cut(oneLine(in.Task), 500)
	switch {
	case title == "":
		return tool.Result{}, errors.New("task is empty: write what is to be found out")
	case c.twice(title):
		return tool.Result{}, errors.New("somebody has this task already, or had it: give one that leads on")
	case c.pendingTasks()+c.begun >= c.set.Rounds:
		return tool.Result{}, fmt.Errorf("no more than %d tasks can be begun in this run", c.set.Rounds)
	}
	items := slices.DeleteFunc(slices.Clone(in.Items), func(id string) bool {
		return !slices.ContainsFunc(c.plan.Rubric, func(i study.Item) bool { return i.ID == id })
	})
	if err := c.create(r, &todo{title: title, items: items}); err != nil {
		return tool.Result{}, err
	}
	c.show()
	return tool.Result{Text: r.name + " has the task."}, nil
}

func (t *team) pendingTasks() int {
	n := 0
	for _, r := range t.members {
		for _, d := range r.todos {
			if d.state == pending {
				n++
			}
		}
	}
	return n
}

// anew is a task for an item of the rubric: the item itself, later what names in
// what was found lead on to; "" where nothing is left to try.
func (c *call) anew(item study.Item) string {
	if !c.twice(item.Question) {
		return item.Question
	}
	const most = 2 // tasks for one item
	if c.tried[item.ID] >= most {
		return ""
	}
	var ids []string
	for _, f := range c.useful(findingsSeen) {
		ids = append(ids, f.ID)
	}
	var read []extract.Passage
	for _, p := range c.book.Evidence(item.Question, ids...).Passages {
		read = append(read, extract.Passage{ID: p.ID, Title: p.Title, Headings: p.HeadingPath, Text: p.Text})
	}
	const looked = 60 // passages
	read = extract.Ordered(item.Question, read)
	for _, q := range extract.FollowUps(item.Question, read[:min(looked, len(read))]) {
		if title := c.byWords(q); !c.twice(title) {
			return title
		}
	}
	return ""
}

// keyClaim is what a finding says first of all, with its source: the sentence that
// says most in its best passage.
func (t *team) keyClaim(f *study.Finding) string {
	for _, p := range f.Passages {
		src, ok := t.book.Ledger.Source(p.Source)
		if !ok || t.book.Snapshots[src.Snapshot] == nil {
			continue
		}
		if p.MarkEnd > p.MarkStart {
			p.Start, p.End = p.MarkStart, p.MarkEnd
		}
		if text, err := p.Quote(t.book.Snapshots[src.Snapshot]); err == nil && oneLine(text) != "" {
			return oneLine(text) + " " + cite.Marker([]int{p.Source})
		}
	}
	return ""
}

// accept puts an insight into the main document.
func (c *call) accept(ctx context.Context, claim string) error {
	if claim == "" || c.memory.has(claim) {
		return nil
	}
	_, err := c.acceptIn(ctx, c.scope, claim)
	return err
}

// acceptIn accepts an insight after one query has looked for what speaks against
// it, and says what was found.
func (c *call) acceptIn(ctx context.Context, s *run.Scope, claim string) (string, error) {
	c.against++
	s = s.Child(fmt.Sprintf("against-%d", c.against))
	said := oneLine(claim)
	plain := said
	if claims := cite.Split(claim); len(claims) > 0 {
		plain = claims[0].Text
	}
	b := sources.Browse(s, c.job(plain), false)
	words := extract.Content(plain)
	const most = 8 // words of a claim that are searched for
	query := lang.Text(c.language, "team.against", "claim", strings.Join(words[:min(most, len(words))], " "))
	found, err := b.Search(ctx, s.Child("search"), query)
	if run.Stopped(err) {
		return "", err
	}
	if err == nil {
		err = c.readAgainst(ctx, s, b, found)
	}
	if run.Stopped(err) {
		return "", err
	}
	if err != nil { // it could not be looked for
		c.memory.insights = append(c.memory.insights, said)
		return "It could not be looked for what speaks against it: " + faultOf(err), nil
	}
	disputed, text, err := c.weigh(ctx, s, b, plain)
	if err != nil {
		return "", err
	}
	if !disputed {
		c.memory.insights = append(c.memory.insights, said)
		return "Nothing was found that speaks against it.", nil
	}
	c.memory.insights = append(c.memory.insights, said+" "+lang.Text(c.language, "team.disputed", "text", text))
	return "This speaks against it:\n" + text, nil
}

// readAgainst reads the best of what was found that the book does not have.
func (c *call) readAgainst(ctx context.Context, s *run.Scope, b *sources.Browsing, found sources.Finding) error {
	const most = 2 // pages read against a claim
	var fresh []string
	for _, l := range found.Leads {
		if _, known := c.book.Ledger.Lookup(l.URI); !known && len(fresh) < most && !slices.Contains(fresh, l.URI) {
			fresh = append(fresh, l.URI)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	_, err := b.Read(ctx, s.Child("read"), fresh)
	return err
}

// contrary is what the step of a weighing records.
type contrary struct {
	Passages []cite.Passage `json:"passages,omitempty"`
}

// weigh says whether something that was read contradicts a claim. What does is a
// finding of its own.
func (c *call) weigh(ctx context.Context, s *run.Scope, b *sources.Browsing, claim string) (bool, string, error) {
	e, err := b.Evidence(ctx, s)
	if err != nil || len(e.Passages) == 0 {
		return false, "", err
	}
	got, err := run.EffectStep(ctx, s, run.Pure, "weigh", func(ctx context.Context, _ *run.Scope) (contrary, error) {
		var out contrary
		for _, p := range e.Answers(claim)[0].Quotes {
			src, ok := e.Ledger.Source(p.Source)
			if !ok || e.Snapshots[src.Snapshot] == nil {
				continue
			}
			text, err := p.Quote(e.Snapshots[src.Snapshot])
			if err != nil {
				continue
			}
			support, err := cite.Lexical{}.Check(ctx, claim, []string{text})
			if err != nil {
				return out, err
			}
			if support.Verdict == cite.Contradicted && 2*inCommon(claim, text) >= len(extract.Content(claim)) { // it is about the same
				out.Passages = append(out.Passages, p)
			}
		}
		return out, nil
	})
	if err != nil || len(got.Passages) == 0 {
		return false, "", err
	}
	f, err := c.enter(ctx, fmt.Sprintf("against-%d-%d", c.calls, c.against), e, nil, study.Finding{
		By: supervisorName, Task: lang.Text(c.language, "team.against-task", "claim", claim), Text: e.Quoted(got.Passages), Passages: got.Passages,
	})
	if err != nil {
		return false, "", err
	}
	return true, f.Text, nil
}
