package kbqa

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dossier/event"
	"dossier/run"
	"dossier/toolkit"
)

// StepType is what an AgentStepEvent tells.
type StepType string

// The types.
const (
	StepStarted StepType = "step_started"
	Thought     StepType = "thought"
	ToolInvoked StepType = "tool_invoked"
	Observation StepType = "observation"
	Refine      StepType = "refine" // a wider search, because what was found covers too little
	Verify      StepType = "verify" // what came of checking an answer
	Final       StepType = "final"
	Failed      StepType = "error"
)

// AgentStepEvent is something that happened in a step of the agent. Step 1 is the
// search that each question begins with.
type AgentStepEvent struct {
	Step    int      `json:"step"`
	Type    StepType `json:"type"`
	Content string   `json:"content"`
	// Tool and Parameters are those of a call, and Failed says that it did.
	Tool       string          `json:"tool,omitempty"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	Failed     bool            `json:"failed,omitempty"`
	// Metadata is what the answer rests on, in the final event, or why it is
	// searched again.
	Metadata  *Metadata `json:"metadata,omitempty"`
	RequestID string    `json:"request_id"` // the run's
}

// Metadata is how far an answer is covered.
type Metadata struct {
	Coverage         float64             `json:"coverage"` // context_coverage
	CitationCoverage *float64            `json:"citation_coverage,omitempty"`
	Threshold        float64             `json:"coverage_threshold,omitempty"`
	Refinements      int                 `json:"refinements"`
	Confidence       *float64            `json:"confidence,omitempty"`
	AnsweredBy       string              `json:"answered_by,omitempty"` // model, rules or qa
	Verification     *event.Verification `json:"verification,omitempty"`
	Missing          []string            `json:"missing,omitempty"`
	Citations        []event.Citation    `json:"citations,omitempty"`
}

// Projection makes the stream of a run's log, event by event.
type Projection struct {
	// Over says that nothing follows.
	Over bool

	run       string
	step      int
	explained bool // why the run fails was told
	answered  *event.AgentAnswered
}

// NewProjection begins that of a run.
func NewProjection(id string) *Projection { return &Projection{run: id} }

// Next is what an event of the log comes to.
func (p *Projection) Next(ev event.Event) []AgentStepEvent {
	own := ev.Agent == "" // else it is a part of the work that is told as one
	switch d := ev.Data.(type) {
	case event.AgentReasoning:
		if own {
			return p.in(d.Iteration, AgentStepEvent{Type: Thought, Content: d.Text})
		}
	case event.AgentAction:
		if own && d.Tool != toolkit.FinalAnswer {
			return p.in(d.Iteration, p.action(d))
		}
	case event.AgentRefined:
		return p.in(d.Iteration, AgentStepEvent{
			Type: Refine, Content: fmt.Sprintf("context coverage %.2f is below %.2f: hybrid_top_bm25 %d, limit %d", d.Coverage, d.Threshold, d.TopBM25, d.Limit),
			Metadata: &Metadata{Coverage: d.Coverage, Threshold: d.Threshold, Refinements: d.Round, Missing: d.Missing},
		})
	case event.AgentReflected:
		if own {
			return p.in(0, AgentStepEvent{Type: Verify, Content: strings.Join(slices.Concat([]string{d.Text}, d.Gaps), "\n"), Failed: !d.Sufficient})
		}
	case event.AgentAnswered:
		p.answered = &d
	case event.ModelFailed:
		return p.in(0, AgentStepEvent{Type: Failed, Content: d.Message, Failed: true})
	case event.RunError:
		p.explained = true
		return p.in(0, AgentStepEvent{Type: Failed, Content: d.Message, Failed: true})
	case event.Message:
		if d.Role == "assistant" && own {
			return p.final(d)
		}
	case event.RunStatus:
		return p.status(d)
	}
	return nil
}

// in puts something into a step, 0 for the one under way, which begins if it has
// not.
func (p *Projection) in(step int, said AgentStepEvent) []AgentStepEvent {
	var out []AgentStepEvent
	if step > p.step || p.step == 0 {
		p.step = max(step, 1)
		out = append(out, AgentStepEvent{Step: p.step, Type: StepStarted, RequestID: p.run})
	}
	said.Step, said.RequestID = p.step, p.run
	return append(out, said)
}

func (p *Projection) action(d event.AgentAction) AgentStepEvent {
	if d.Result == "" && !d.Failed {
		return AgentStepEvent{Type: ToolInvoked, Content: strings.TrimSpace(d.Tool + " " + string(d.Arguments)), Tool: d.Tool, Parameters: d.Arguments}
	}
	return AgentStepEvent{Type: Observation, Content: d.Result, Tool: d.Tool, Failed: d.Failed}
}

// final is the answer with what it rests on.
func (p *Projection) final(d event.Message) []AgentStepEvent {
	m := &Metadata{Citations: d.Citations}
	if a := p.answered; a != nil {
		m.Coverage, m.CitationCoverage, m.Refinements, m.Confidence = a.Coverage, &a.CitationCoverage, a.Refinements, &a.Confidence
		m.AnsweredBy, m.Verification = a.By, a.Verification
	}
	return p.in(0, AgentStepEvent{Type: Final, Content: d.Said(), Metadata: m})
}

// status ends the stream with the run; one that did not come to an answer says
// why.
func (p *Projection) status(d event.RunStatus) []AgentStepEvent {
	s := run.Status(d.Status)
	p.Over = s.Ended() || s == run.Waiting || s == run.Paused
	if !p.Over || s == run.Done || s == run.Failed && p.explained {
		return nil
	}
	text := d.Status
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	return p.in(0, AgentStepEvent{Type: Failed, Content: text, Failed: true})
}

// failed says why nothing more can be told.
func (p *Projection) failed(why string) AgentStepEvent {
	return AgentStepEvent{Step: p.step, Type: Failed, Content: why, Failed: true, RequestID: p.run}
}
