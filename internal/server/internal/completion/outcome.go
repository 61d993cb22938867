package completion

import (
	"errors"
	"fmt"
	"strings"

	"dossier/event"
	"dossier/run"
)

// outcome is what a run comes to, as far as its events tell.
type outcome struct {
	usage   Usage
	message *event.Message
	asked   *event.ClarifyAsked
	trouble *event.RunError
	status  run.Status
	reason  string
}

// take takes an event in. Those of agents that the run's own one has called are
// theirs, save what they cost.
func (o *outcome) take(ev event.Event) {
	switch d := ev.Data.(type) {
	case event.Usage:
		o.usage.add(d)
	case event.Message:
		if d.Role == "assistant" && ev.Agent == "" {
			o.message = &d
		}
	case event.ClarifyAsked:
		o.asked = &d
	case event.ClarifyAnswered:
		o.asked = nil
	case event.RunError:
		if d.Fatal {
			o.trouble = &d
		}
	case event.RunReopened:
		o.message, o.trouble = nil, nil
	case event.RunStatus:
		o.status, o.reason = run.Status(d.Status), d.Reason
	}
}

// over says whether the run has ended or asks whoever reads something.
func (o *outcome) over() bool {
	return o.status.Ended() || o.status == run.Waiting && o.asked != nil
}

// answer is what whoever asked is told at the end: the answer, or the questions
// that the run has. An error says why there is neither.
func (o *outcome) answer() (text string, citations []event.Citation, err error) {
	switch {
	case o.status == run.Waiting && o.asked != nil:
		return strings.Join(o.asked.Questions, "\n"), nil, nil
	case o.message != nil && o.status == run.Done:
		return o.message.Said(), o.message.Citations, nil
	case o.trouble != nil:
		return "", nil, &FailedError{Code: o.trouble.Code, Message: o.trouble.Message, Hint: o.trouble.Hint}
	case o.status == run.Cancelled:
		return "", nil, &FailedError{Code: "cancelled", Message: "the run was cancelled"}
	case o.status == "":
		return "", nil, errors.New("the log of the run tells no end")
	}
	return "", nil, &FailedError{Code: "not_done", Message: fmt.Sprintf("the run is %s", o.status), Hint: o.reason}
}

// calls are those of the caller's functions that are to be made.
func (o *outcome) calls() []ToolCall {
	if o.message == nil {
		return nil
	}
	var out []ToolCall
	for i, c := range o.message.Calls {
		out = append(out, ToolCall{Index: i, ID: c.ID, Type: "function", Function: Function{Name: c.Name, Arguments: c.Arguments}})
	}
	return out
}

// FailedError says why a run has no answer.
type FailedError struct{ Code, Message, Hint string }

func (e *FailedError) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + " (" + e.Hint + ")"
}
