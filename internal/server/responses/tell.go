package responses

import (
	"fmt"
	"strings"
	"time"

	"dossier/event"
	"dossier/run"
)

// The numbers of an event of the log: see the comment of the package.
const (
	pitch  = 1_000_000
	early  = 500_000 // the answer, shown before the log has it
	behind = 750_000 // what follows such an answer
)

// openedAfter is the event of the log after which the answer was opened early for a
// reader who has seen a number; -1 if it was not.
func openedAfter(number int64) int64 {
	if number >= 0 && number%pitch >= early {
		return number / pitch
	}
	return -1
}

// teller makes the stream of a response from its events, in their order.
type teller struct {
	key   string   // of the response in the ids of items
	shown Response // save its output
	items []any
	out   []streamed
	next  int64 // number
	last  int64 // sequence of the last event of the log

	open    []pending // items that are not closed
	asked   *event.ClarifyAsked
	trouble *event.RunError
	over    bool

	opened int64 // after this event the answer is opened early, -1 for not
	early  bool  // it was
	answer writing
	held   []event.Event
}

// writing is how far the message of a response is.
type writing struct {
	index  int // of its item
	begun  bool
	done   bool
	void   bool   // what was shown of it does not hold
	shown  []byte // the pieces so far
	at     int    // how much there is of the text as it is being written
	rest   string // what of that was not shown
	astray bool   // that is not what was shown, or not all of it is there
}

// newTeller begins a stream for a reader to whom the answer was opened early after
// an event of the log, or -1.
func newTeller(rs *response, opened int64) *teller {
	t := &teller{key: rs.key(), shown: rs.head(), last: rs.after, opened: opened}
	t.say(streamed{Type: "response.created", Response: t.snapshot()})
	t.openEarly()
	return t
}

// snapshot is the response as it is now.
func (t *teller) snapshot() *Response {
	r := t.shown
	r.Output = append([]any{}, t.items...)
	return &r
}

// told returns what there is to be sent since the last call.
func (t *teller) told() []streamed {
	out := t.out
	t.out = nil
	return out
}

func (t *teller) say(s streamed) {
	s.Number = t.next
	t.next++
	t.out = append(t.out, s)
}

// take takes an event in.
func (t *teller) take(ev event.Event) {
	if d, ok := ev.Data.(event.AnswerDelta); ok {
		if ev.Agent == "" {
			t.write(d)
		}
		return
	}
	if ev.Seq == 0 || t.over {
		return
	}
	t.last = ev.Seq
	if !t.early {
		t.next = ev.Seq * pitch
	}
	switch d := ev.Data.(type) {
	case event.Usage:
		t.spend(d)
	case event.ClarifyAsked:
		t.asked = &d
	case event.ClarifyAnswered:
		t.asked = nil
	case event.RunError:
		if d.Fatal {
			t.trouble = &d
		}
	case event.ReportReset, event.RunReopened:
		t.answer.void = t.answer.begun && !t.answer.done
	case event.Message:
		if d.Role == "assistant" && ev.Agent == "" && !t.answer.done {
			t.conclude(d)
		}
	case event.RunStatus:
		t.status(d, ev.Time)
	default:
		if t.answer.begun && !t.answer.done {
			t.held = append(t.held, ev)
		} else {
			t.make(ev)
		}
	}
	t.openEarly()
}

// openEarly opens the answer where a reader has seen it opened.
func (t *teller) openEarly() {
	if t.opened == t.last && !t.answer.begun {
		t.next, t.early = t.opened*pitch+early, true
		t.begin()
	}
}

func (t *teller) spend(d event.Usage) {
	u := Usage{}
	if t.shown.Usage != nil {
		u = *t.shown.Usage
	}
	u.Input += d.Input
	u.InputDetail.Cached += d.CachedInput
	u.Output += d.Output
	u.Total = u.Input + u.Output
	t.shown.Usage = &u
}

// status notes what becomes of the run; a stretch of it ends when it does, or asks.
func (t *teller) status(d event.RunStatus, when time.Time) {
	switch s := run.Status(d.Status); {
	case s == run.Running && t.shown.Status == queued:
		t.shown.Status = inProgress
		t.say(streamed{Type: "response.in_progress", Response: t.snapshot()})
	case s == run.Waiting && t.asked != nil:
		if !t.answer.done {
			t.conclude(event.Message{Text: strings.Join(t.asked.Questions, "\n")})
		}
		t.end(completed, when)
	case s == run.Done && t.answer.done:
		t.end(completed, when)
	case s == run.Cancelled:
		t.shown.IncompleteDetails = &incomplete{cancelled}
		t.end(cancelled, when)
	case s.Ended():
		t.shown.Error = &Trouble{Code: "server_error", Message: fmt.Sprintf("the run is %s, without an answer", s)}
		if why := t.trouble; why != nil {
			t.shown.Error = &Trouble{Code: why.Code, Message: why.Message}
			if why.Hint != "" {
				t.shown.Error.Message += " (" + why.Hint + ")"
			}
		}
		t.end(failed, when)
	}
}

// end ends the response, and with it what is open.
func (t *teller) end(status string, when time.Time) {
	if t.answer.begun && !t.answer.done {
		t.behind()
		t.done(t.answer.index, messageItem{ID: t.messageID(), Type: typeMessage, Status: unfinished, Role: "assistant", Content: []textPart{}})
		t.release()
	}
	for _, p := range t.open {
		switch item := t.items[p.index].(type) {
		case searchItem:
			item.Status = failed
			t.done(p.index, item)
		case callItem:
			item.Status = unfinished
			t.done(p.index, item)
		}
	}
	t.shown.Status, t.over = status, true
	if status == completed {
		t.shown.CompletedAt = new(when.Unix())
	}
	kind := "response." + status
	if status == cancelled {
		kind = "response.incomplete" // there is no event of its own for it
	}
	t.say(streamed{Type: kind, Response: t.snapshot()})
}

func (t *teller) messageID() string { return "msg_" + t.key }

// begin opens the message.
func (t *teller) begin() {
	t.answer.begun = true
	t.answer.index = t.add(messageItem{ID: t.messageID(), Type: typeMessage, Status: inProgress, Role: "assistant", Content: []textPart{}})
	t.say(streamed{Type: "response.content_part.added", ItemID: t.messageID(), OutputIndex: &t.answer.index, ContentIndex: new(0), Part: outputText("", nil)})
}

// write shows a piece of the answer while it is written, to those who have seen
// all of it that is before.
func (t *teller) write(d event.AnswerDelta) {
	a := &t.answer
	if d.Ready || a.done || t.over {
		return // what is ready is in the log at once
	}
	if d.Reset || d.At == 0 {
		a.at, a.rest, a.astray = 0, "", false
	}
	text := d.Text
	if again := min(len(text), len(a.shown)-a.at); again > 0 { // the model starts over with what it said before
		a.astray = a.astray || text[:again] != string(a.shown[a.at:a.at+again])
		text = text[again:]
	}
	a.astray = a.astray || d.At != a.at
	a.at += len(d.Text)
	if a.void || a.astray {
		return
	}
	a.rest += text
	for end := cut(a.rest, len(a.shown), false); end >= 0; end = cut(a.rest, len(a.shown), false) {
		if !a.begun {
			t.opened = t.last
			t.openEarly()
		}
		t.piece(a.rest[:end])
		a.rest = a.rest[end:]
	}
}

func (t *teller) piece(text string) {
	t.answer.shown = append(t.answer.shown, text...)
	t.say(streamed{
		Type: "response.output_text.delta", ItemID: t.messageID(), OutputIndex: &t.answer.index, ContentIndex: new(0), Delta: &text, Logprobs: &[]struct{}{},
	})
}

// behind goes on to the numbers that follow an answer which was opened early.
func (t *teller) behind() {
	if t.early {
		t.next = t.opened*pitch + behind
	}
}

// conclude tells what is left of the answer, now that the log has it.
func (t *teller) conclude(m event.Message) {
	a, text := &t.answer, m.Said()
	if !t.early {
		t.think(m.Reasoning)
		if text == "" && len(m.Calls) > 0 {
			a.done = true
			t.functions(m.Calls)
			return
		}
		t.begin()
	}
	if rest, holds := strings.CutPrefix(text, string(a.shown)); holds && !a.void {
		for rest != "" {
			end := cut(rest, len(a.shown), true)
			t.piece(rest[:end])
			rest = rest[end:]
		}
	}
	t.behind()
	marks := []annotation{}
	for i, c := range m.Citations {
		marks = append(marks, annotation{Type: "url_citation", Start: c.Start, End: c.End, URL: c.URL, Title: c.Title})
		t.say(streamed{
			Type: "response.output_text.annotation.added", ItemID: t.messageID(), OutputIndex: &a.index, ContentIndex: new(0), AnnotationIndex: new(i), Annotation: &marks[i],
		})
	}
	part := outputText(text, marks)
	t.say(streamed{Type: "response.output_text.done", ItemID: t.messageID(), OutputIndex: &a.index, ContentIndex: new(0), Text: &text, Logprobs: &[]struct{}{}})
	t.say(streamed{Type: "response.content_part.done", ItemID: t.messageID(), OutputIndex: &a.index, ContentIndex: new(0), Part: part})
	a.done = true
	t.done(a.index, messageItem{ID: t.messageID(), Type: typeMessage, Status: completed, Role: "assistant", Content: []textPart{part}})
	t.release()
	if t.early {
		t.think(m.Reasoning)
	}
	t.functions(m.Calls)
}

// release tells what has waited for the answer.
func (t *teller) release() {
	for _, ev := range t.held {
		t.make(ev)
	}
	t.held = nil
}

func outputText(text string, marks []annotation) textPart {
	if marks == nil {
		marks = []annotation{}
	}
	return textPart{Type: "output_text", Text: text, Annotations: &marks, Logprobs: &[]struct{}{}}
}
