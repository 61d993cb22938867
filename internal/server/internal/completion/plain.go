package completion

import (
	"strings"

	"dossier/event"
)

// Projection makes chunks of the events of a run, in their order.
type Projection interface {
	// Begin returns what a stream begins with.
	Begin() []Chunk
	// Take returns what an event adds, and says whether it is the last one that
	// is of any interest.
	Take(ev event.Event) (chunks []Chunk, over bool)
	// End returns what a stream ends with, or why the run has no answer.
	End() ([]Chunk, error)
}

// Plain shows a run of a mode: the answer as content in the pieces in which it is
// written, what is done for it as reasoning, and at the end the citations.
type Plain struct {
	Head
	ID string
	// Usage adds a chunk with what the run took, as clients can ask for.
	Usage bool

	outcome outcome
	sent    strings.Builder
	void    bool // what was sent of the answer does not hold
}

// Begin implements Projection.
func (p *Plain) Begin() []Chunk { return []Chunk{p.text(p.ID, "assistant", "")} }

// Take implements Projection.
func (p *Plain) Take(ev event.Event) (chunks []Chunk, over bool) {
	p.outcome.take(ev)
	switch d := ev.Data.(type) {
	case event.AnswerDelta:
		if ev.Agent != "" {
			break
		}
		if d.Reset {
			p.void = p.void || p.sent.Len() > 0
		}
		if !p.void && d.Text != "" {
			chunks = append(chunks, p.content(d.Text))
		}
	case event.ReportReset, event.RunReopened:
		p.void = p.void || p.sent.Len() > 0
	case event.Message:
	default:
		if thought := Thought(ev); thought != "" {
			chunks = append(chunks, p.chunk(p.ID, Delta{Reasoning: thought + "\n"}))
		}
	}
	return chunks, p.outcome.over()
}

func (p *Plain) content(text string) Chunk {
	p.sent.WriteString(text)
	return p.text(p.ID, "", text)
}

// End implements Projection. What can't be taken back is followed by what holds.
func (p *Plain) End() ([]Chunk, error) {
	text, citations, err := p.outcome.answer()
	if err != nil {
		return nil, err
	}
	var chunks []Chunk
	if m := p.outcome.message; m != nil && m.Reasoning != "" { // known with the answer only
		chunks = append(chunks, p.chunk(p.ID, Delta{Reasoning: m.Reasoning}))
	}
	sent := p.sent.String()
	if rest, grown := strings.CutPrefix(text, sent); grown && rest != "" {
		chunks = append(chunks, p.content(rest))
	} else if !grown {
		chunks = append(chunks, p.content("\n\n---\n\n"+text))
		shift := len([]rune(p.sent.String())) - len([]rune(text))
		for i := range citations {
			citations[i].Start, citations[i].End = citations[i].Start+shift, citations[i].End+shift
		}
	}
	if len(citations) > 0 {
		chunks = append(chunks, p.chunk(p.ID, Delta{Annotations: annotations(citations)}))
	}
	reason := stop
	if calls := p.outcome.calls(); len(calls) > 0 {
		chunks, reason = append(chunks, p.chunk(p.ID, Delta{ToolCalls: calls})), toolCalls
	}
	chunks = append(chunks, over(p.chunk(p.ID, Delta{}), reason))
	if p.Usage {
		last := p.chunk(p.ID, Delta{})
		last.Choices, last.Usage = []Choice{}, &p.outcome.usage
		chunks = append(chunks, last)
	}
	return chunks, nil
}

// Thought is an event as a line of what is thought and done for an answer; empty
// for those that tell nothing of that.
func Thought(ev event.Event) string {
	switch d := ev.Data.(type) {
	case event.AgentReasoning:
		return d.Text
	case event.AgentReflected:
		return d.Text
	case event.SearchStarted:
		return "→ " + d.Query
	case event.SourceRead:
		if d.Title == "" {
			return "✓ " + d.URL
		}
		return "✓ " + d.Title
	case event.NoteAdded:
		return d.Text
	case event.SupervisorDecision:
		return d.Reason
	case event.AgentAction:
		if d.Result == "" && !d.Failed {
			return "· " + d.Tool
		}
	}
	return ""
}

// Whole collects a run into one completion.
type Whole struct {
	Head
	ID      string
	outcome outcome
}

// Take takes an event in and says whether it is the last one that is of any
// interest.
func (w *Whole) Take(ev event.Event) (over bool) {
	w.outcome.take(ev)
	return w.outcome.over()
}

// Completion returns what has come of the run, or why there is no answer.
func (w *Whole) Completion() (Completion, error) {
	text, citations, err := w.outcome.answer()
	if err != nil {
		return Completion{}, err
	}
	message := Message{Role: "assistant", Content: &text, Annotations: annotations(citations)}
	if m := w.outcome.message; m != nil {
		message.Reasoning = m.Reasoning
	}
	reason := stop
	if message.ToolCalls = w.outcome.calls(); len(message.ToolCalls) > 0 {
		if reason = toolCalls; text == "" {
			message.Content = nil
		}
	}
	return Completion{
		ID: w.ID, Object: "chat.completion", Created: w.Created.Unix(), Model: w.Model,
		Choices: []WholeChoice{{Message: message, Finish: reason}}, Usage: w.outcome.usage,
	}, nil
}
