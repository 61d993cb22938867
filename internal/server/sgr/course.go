package sgr

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"dossier/event"
	"dossier/internal/server/internal/completion"
	"dossier/run"
	"dossier/tool"
)

// course is what the log of a run tells of its agent. Those that it has called
// are told of by their own events, and count for nothing here.
type course struct {
	iteration, searches, clarifications, sources int
	reasoning                                    *event.Reasoning
	result                                       *string
	outcome                                      tool.Status // as the agent says itself
	begun                                        bool
	turns                                        []turn
	said                                         int // messages of both sides
}

// follow makes the course of a run from its log.
func follow(log []event.Event) course {
	f := follower{numbers: map[int]bool{}, calls: map[string]place{}}
	for _, ev := range valid(log) {
		if ev.Agent == "" {
			f.take(ev)
		}
	}
	f.sources = len(f.numbers)
	return f.course
}

// valid are the events of a log that were not made void later.
func valid(log []event.Event) []event.Event {
	var void [][2]int64
	for _, ev := range log {
		if d, ok := ev.Data.(event.RunReopened); ok {
			void = append(void, d.Void...)
		}
	}
	return slices.DeleteFunc(slices.Clone(log), func(ev event.Event) bool {
		return slices.ContainsFunc(void, func(r [2]int64) bool { return r[0] <= ev.Seq && ev.Seq <= r[1] })
	})
}

// follower makes a course event by event.
type follower struct {
	course
	numbers map[int]bool     // of sources
	calls   map[string]place // of tools, by their ids
	asking  place            // the last call
}

// place is an iteration of a turn, both counted from 1.
type place struct{ turn, iteration int }

func (f *follower) take(ev event.Event) {
	switch d := ev.Data.(type) {
	case event.Message:
		if d.Role == "assistant" {
			said := d.Said()
			f.result = &said
			f.respond(ev, f.asking, said)
		} else {
			f.turn(ev, d.Text)
		}
	case event.AgentStarted:
		f.begun = true
	case event.AgentFinished:
		f.outcome = tool.Status(d.Outcome)
	case event.AgentReasoning:
		f.at(d.Iteration)
		thought := completion.Reasoned(d)
		f.reasoning = &thought
		f.think(ev, thought)
	case event.AgentAction:
		f.at(d.Iteration)
		f.act(ev, d)
	case event.ClarifyAsked:
		f.at(d.Iteration)
		f.respond(ev, f.asking, strings.Join(d.Questions, "\n"))
	case event.ClarifyAnswered:
		f.clarifications++
		f.turn(ev, d.Answer)
	case event.SearchResults:
		if d.Error == "" {
			f.searches++
		}
	case event.SourceFound:
		f.numbers[d.Number] = true
	}
}

func (f *follower) at(iteration int) { f.iteration = max(f.iteration, iteration) }

// turn begins one with what the user says.
func (f *follower) turn(ev event.Event, text string) {
	f.said++
	f.turns = append(f.turns, turn{User: message{ID: messageID(ev, ""), Content: &text, Created: ev.Time}, Iterations: []iteration{}})
	f.asking = place{}
}

// begin begins an iteration, or another call of the same one.
func (f *follower) begin(ev event.Event) (*iteration, place) {
	if len(f.turns) == 0 { // a log that does not tell what was asked
		f.turn(ev, "")
	}
	t := &f.turns[len(f.turns)-1]
	empty := func(part string) message { return message{ID: messageID(ev, part), Created: ev.Time} }
	t.Iterations = append(t.Iterations, iteration{
		Iteration: f.iteration, Thought: empty("-reasoning"), Reasoned: empty("-reasoning-result"), Action: empty("-action"), Result: empty("-action-result"),
	})
	return &t.Iterations[len(t.Iterations)-1], place{len(f.turns), len(t.Iterations)}
}

func (f *follower) get(p place) *iteration { return &f.turns[p.turn-1].Iterations[p.iteration-1] }

func (f *follower) think(ev event.Event, thought event.Reasoning) {
	raw, err := json.Marshal(thought)
	if err != nil {
		return // texts and lists of them always encode
	}
	it, _ := f.begin(ev)
	text, id := string(raw), fmt.Sprintf("%d-reasoning", f.iteration)
	it.Thought.Calls = []completion.ToolCall{called(id, "reasoningtool", text)}
	it.Reasoned.Content, it.Reasoned.CallID, it.Reasoned.Tool = &text, id, "reasoningtool"
}

func (f *follower) act(ev event.Event, d event.AgentAction) {
	p, known := f.calls[d.CallID]
	if !known {
		p = f.next(ev)
		it := f.get(p)
		id := fmt.Sprintf("%d-action", f.iteration)
		it.Action.Calls = []completion.ToolCall{called(id, d.Tool, string(d.Arguments))}
		it.Action.Created = ev.Time
		f.calls[d.CallID], f.asking = p, p
	}
	if it := f.get(p); (d.Result != "" || d.Failed) && it.Result.Content == nil {
		it.Result.Content, it.Result.Tool, it.Result.CallID, it.Result.Created = &d.Result, d.Tool, it.Action.Calls[0].ID, ev.Time
	}
}

// next is where the call of a tool belongs: to the thought before it, if that has
// none yet.
func (f *follower) next(ev event.Event) place {
	if len(f.turns) > 0 {
		list := f.turns[len(f.turns)-1].Iterations
		if n := len(list); n > 0 && list[n-1].Iteration == f.iteration && list[n-1].Action.Calls == nil {
			return place{len(f.turns), n}
		}
	}
	_, p := f.begin(ev)
	return p
}

// responseTool is the name under which clients look for what an agent says to the
// user: its answer, and what it asks.
const responseTool = "responsetool"

// respond notes what the agent says to the user as the result of a call, or where
// it has made none by itself.
func (f *follower) respond(ev event.Event, p place, text string) {
	raw, err := json.Marshal(map[string]string{"response": text})
	if err != nil {
		return // a text always encodes
	}
	f.said++
	if p == (place{}) {
		_, p = f.begin(ev)
	}
	it, content := f.get(p), string(raw)
	it.Result.Content, it.Result.Tool, it.Result.Created = &content, responseTool, ev.Time
	if len(it.Action.Calls) > 0 {
		it.Result.CallID = it.Action.Calls[0].ID
	}
}

func called(id, name, arguments string) completion.ToolCall {
	return completion.ToolCall{ID: id, Type: "function", Function: completion.Function{Name: name, Arguments: arguments}}
}

// messageID names a message by the event that tells it, and its part in that.
func messageID(ev event.Event, part string) string {
	return fmt.Sprintf("%s-%d%s", ev.Run, ev.Seq, part)
}

// What is said and done in a chat.
type (
	turn struct {
		User       message     `json:"user_message"`
		Iterations []iteration `json:"iterations"`
	}
	iteration struct {
		Iteration int     `json:"iteration"`
		Thought   message `json:"reasoning_message"`
		Reasoned  message `json:"reasoning_result"`
		Action    message `json:"action_message"`
		Result    message `json:"action_result"`
	}
	message struct {
		ID      string                `json:"id"`
		Content *string               `json:"content"`
		Calls   []completion.ToolCall `json:"tool_calls,omitempty"`
		CallID  string                `json:"tool_call_id,omitempty"`
		Tool    string                `json:"tool_name,omitempty"`
		Created time.Time             `json:"created_at"`
	}
)

// state of an agent, by its last run and the course of that. Whoever has begun is
// at work until there is an end, also while it is queued again or paused.
func state(rec run.Record, c course) tool.Status {
	switch rec.Status {
	case run.Waiting:
		return tool.Waiting
	case run.Cancelled:
		return tool.Cancelled
	case run.Failed:
		return tool.Failed
	case run.Done:
		if c.outcome.Finished() {
			return c.outcome
		}
		return tool.Completed
	case run.Queued:
		if !c.begun {
			return tool.Inited
		}
	}
	return tool.Researching
}
