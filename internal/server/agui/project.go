package agui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dossier/event"
	"dossier/run"
)

// Projection makes events of AG-UI of the events of a run. It depends on nothing
// else, so the same log gives the same stream.
//
// A client follows a run from Start on; what came before is told to Recall, which
// says nothing.
type Projection struct {
	thread, run string // as the client calls them
	input       []any  // the conversation that the client has
	state       *State

	messages  []message // that the client has got
	answer    string    // id of the answer as it is written; "" while it is not
	written   strings.Builder
	ids       map[string]int // given to messages and calls, by what they are
	log       string         // id of the run in its log
	step      string
	subagents []subagent // at work, in the order of their start
	started   map[string]int
	calls     map[call]string // ids of tool calls without a result
	callIDs   map[string]bool
	asked     []event.ClarifyAsked // without an answer
	usage     []TokenUsage
	fault     event.RunError
	final     event.Message

	at  int64 // time of the event at hand
	out []Event
	// Over says that the stream has ended: the run has, or waits for an answer.
	Over bool
}

type subagent struct {
	path, id, name, task string
}

// call is a tool call as the log knows it.
type call struct{ agent, id, tool string }

// NewProjection is of a run for a client that calls its thread and its run so, and
// has the messages.
func NewProjection(thread, runID string, messages []any) *Projection {
	return &Projection{
		thread: thread, run: runID, input: messages, state: newState(), started: map[string]int{}, calls: map[call]string{}, callIDs: map[string]bool{}, ids: map[string]int{},
	}
}

// Recall takes in what happened before the client listens.
func (p *Projection) Recall(e event.Event) {
	p.Next(e)
	p.out, p.Over, p.fault = nil, false, event.RunError{}
}

// Start begins the stream.
func (p *Projection) Start(rec run.Record) []Event {
	p.at = rec.Created.UnixMilli()
	p.state.Run, p.state.Session, p.state.Status = rec.ID, rec.Session, string(rec.Status)
	p.messages, p.step = nil, "" // the client has them, and the stream before has ended it
	p.say(Event{Type: RunStarted, ThreadID: p.thread, RunID: p.run, ProtocolVersion: ProtocolVersion})
	p.say(Event{Type: StateSnapshot, Snapshot: p.state.frozen()})
	for _, s := range p.subagents {
		p.say(s.begins(p.owner(parent(s.path))))
	}
	return p.take()
}

// Next is what an event says.
func (p *Projection) Next(e event.Event) []Event {
	if p.Over {
		return nil
	}
	p.at, p.log = e.Time.UnixMilli(), e.Run
	p.enter(e)
	if ops := p.state.apply(e.Data); ops != nil {
		p.say(Event{Type: StateDelta, Delta: ops})
	}
	owner := p.owner(e.Agent)
	switch d := e.Data.(type) {
	case event.RunStatus:
		p.status(d)
	case event.RunError:
		if d.Fatal {
			p.fault = d
		} else {
			p.custom(e)
		}
	case event.ClarifyAsked:
		p.asked = append(p.asked, d)
	case event.ClarifyAnswered:
		p.asked = slices.DeleteFunc(p.asked, func(a event.ClarifyAsked) bool { return a.ID == d.ID })
	case event.Usage:
		p.spend(d)
	case event.AgentStarted:
		p.begin(e.Agent, d)
	case event.AgentFinished:
		p.finish(e.Agent)
	case event.AgentReasoning:
		p.reason(owner, d)
	case event.AgentAction:
		p.act(e, owner, d)
	case event.AnswerDelta:
		if d.Reset {
			p.void()
		}
		p.write(d.Text)
	case event.ReportReset:
		p.void()
	case event.Message:
		if d.Role == "assistant" && e.Agent == "" {
			p.final = d
			p.conclude(d.Said())
		}
	case event.Heartbeat:
	default:
		if !inState(e.Data) {
			p.custom(e)
		}
	}
	return p.take()
}

// inState says whether all of an event is in the state.
func inState(d event.Data) bool {
	switch d.(type) {
	case event.PlanUpdated, event.TodoUpdated, event.NoteAdded, event.SearchStarted, event.SearchResults, event.SourceFound, event.SourceRead, event.SourceFailed,
		event.ReportSection, event.Coverage, event.FollowUps:
		return true
	}
	return false
}

func (p *Projection) say(e Event) {
	e.Timestamp = p.at
	p.out = append(p.out, e)
}

func (p *Projection) take() []Event {
	out := p.out
	p.out = nil
	return out
}

// custom passes an event on that AG-UI has no word for.
func (p *Projection) custom(e event.Event) {
	raw, err := event.EncodeData(e.Data)
	if err != nil {
		return // it can't have been stored
	}
	p.say(Event{Type: Custom, Name: string(e.Kind()), Value: json.RawMessage(raw), SubagentRunID: p.owner(e.Agent)})
}

// status ends the stream where the run ends or waits for an answer.
func (p *Projection) status(s event.RunStatus) {
	end := Event{ThreadID: p.thread, RunID: p.run, Type: RunFinished, Usage: p.usage}
	switch run.Status(s.Status) {
	case run.Done:
		end.Outcome = &Outcome{Type: "success"}
		end.Result = result{Run: p.state.Run, Answer: p.final.Said(), Citations: p.final.Citations, KeyPoints: p.final.KeyPoints, Extractive: p.final.Extractive}
	case run.Cancelled:
		end.Outcome = &Outcome{Type: "cancelled"}
	case run.Failed:
		end = failure(p.fault.Code, cmp.Or(p.fault.Message, s.Reason, "the run failed"), p.fault.Hint)
		end.Usage = p.usage
	case run.Waiting:
		if len(p.asked) == 0 {
			return
		}
		end.Outcome = &Outcome{Type: "interrupt"}
		for _, a := range p.asked {
			end.Outcome.Interrupts = append(end.Outcome.Interrupts, p.interrupt(a))
		}
	default:
		return
	}
	p.close(end.Outcome != nil && end.Outcome.Type == "interrupt")
	p.say(end)
	p.Over = true
}

// failure is the end of a stream that says what went wrong.
func failure(code, message, hint string) Event {
	e := Event{Type: RunError, Code: code, Message: message}
	if hint != "" {
		e.Metadata = &Metadata{hint}
	}
	return e
}

// result is what a run that is done delivers.
type result struct {
	Run        string           `json:"run"`
	Answer     string           `json:"answer"`
	Citations  []event.Citation `json:"citations,omitempty"`
	KeyPoints  []string         `json:"keyPoints,omitempty"`
	Extractive bool             `json:"extractive,omitempty"`
}

// interrupt is a question for a client. Its id names the run and the question.
func (p *Projection) interrupt(a event.ClarifyAsked) Interrupt {
	answer := map[string]any{"type": "string"}
	if len(a.Options) > 0 {
		answer["examples"] = a.Options
	}
	return Interrupt{
		ID: interruptID(p.state.Run, a.ID), Reason: "input_required", Message: strings.Join(a.Questions, "\n"),
		ResponseSchema: map[string]any{"type": "object", "properties": map[string]any{"answer": answer}, "required": []string{"answer"}},
		Metadata:       map[string]any{"questions": a.Questions, "options": append([]string{}, a.Options...), "reason": a.Reason},
	}
}

// close ends what is under way.
func (p *Projection) close(suspended bool) {
	p.end()
	p.leave()
	for _, s := range slices.Backward(p.subagents) {
		e := Event{Type: SubagentFinished, SubagentRunID: s.id}
		if suspended {
			e.Outcome = &Outcome{Type: "suspended"}
		}
		p.say(e)
	}
	if !suspended {
		p.subagents = nil
	}
}

// spend adds what a call of a model took.
func (p *Projection) spend(u event.Usage) {
	i := slices.IndexFunc(p.usage, func(t TokenUsage) bool { return t.Model == u.Model })
	if i < 0 {
		i, p.usage = len(p.usage), append(p.usage, TokenUsage{Model: u.Model})
	}
	t := &p.usage[i]
	t.InputTokens += u.Input
	t.OutputTokens += u.Output
	t.TotalTokens += u.Input + u.Output
	t.CachedInputTokens += u.CachedInput
}

// enter begins the step that an event belongs to: the round of an agent's loop,
// or the part of the run's work that speaks. What subagents do is no step of the
// run.
func (p *Projection) enter(e event.Event) {
	name := ""
	switch d := e.Data.(type) {
	case event.AgentReasoning:
		name = round(e.Agent, d.Iteration)
	case event.AgentAction:
		name = round(e.Agent, d.Iteration)
	case event.AgentStarted:
		return
	}
	if name == "" && e.Agent != "" && p.owner(e.Agent) == "" {
		first, _, _ := strings.Cut(e.Agent, "/")
		name = strings.TrimRight(first, "-0123456789")
	}
	if name == "" || name == p.step {
		return
	}
	p.leave()
	p.step = name
	p.say(Event{Type: StepStarted, StepName: name})
}

func round(agent string, iteration int) string {
	if agent != "" || iteration == 0 {
		return ""
	}
	return "iteration " + strconv.Itoa(iteration)
}

// leave ends the step.
func (p *Projection) leave() {
	if p.step != "" {
		p.say(Event{Type: StepFinished, StepName: p.step})
		p.step = ""
	}
}

// owner is the subagent that speaks at a place, "" for the run itself.
func (p *Projection) owner(path string) string {
	for path != "" {
		for _, s := range p.subagents {
			if s.path == path {
				return s.id
			}
		}
		path = parent(path)
	}
	return ""
}

func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// begin introduces an agent that others have called. The one that is the run
// itself, and a team that is only introduced, are none.
func (p *Projection) begin(path string, d event.AgentStarted) {
	if path == "" {
		return
	}
	p.finish(path)
	p.started[path]++
	s := subagent{path: path, id: path, name: d.Name, task: d.Task}
	if n := p.started[path]; n > 1 {
		s.id = fmt.Sprint(path, "#", n)
	}
	over := p.owner(parent(path))
	if over == "" {
		p.leave() // what is under way now is the subagent's
	}
	p.subagents = append(p.subagents, s)
	p.say(s.begins(over))
}

func (s subagent) begins(over string) Event {
	return Event{Type: SubagentStarted, SubagentRunID: s.id, Name: s.name, Description: s.task, ParentSubagentRunID: over}
}

func (p *Projection) finish(path string) {
	i := slices.IndexFunc(p.subagents, func(s subagent) bool { return s.path == path })
	if i < 0 {
		return
	}
	p.say(Event{Type: SubagentFinished, SubagentRunID: p.subagents[i].id})
	p.subagents = slices.Delete(p.subagents, i, i+1)
}
