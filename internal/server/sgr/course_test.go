package sgr

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"dossier/event"
	"dossier/run"
	"dossier/tool"
)

// logged is a log of the events, numbered.
func logged(data ...event.Data) []event.Event {
	var log []event.Event
	for i, d := range data {
		log = append(log, event.Event{Run: "r", Seq: int64(i + 1), Data: d})
	}
	return log
}

func action(id string, iteration int, result string) event.AgentAction {
	a := event.AgentAction{Tool: "websearchtool", CallID: id, Iteration: iteration, Result: result}
	if result == "" {
		a.Arguments = json.RawMessage(`{}`)
	}
	return a
}

// What was done anew counts once, and what agents did that were called is theirs.
func TestACourseHoldsWhatIsValid(t *testing.T) {
	log := logged(
		event.Message{Role: "user", Text: "q"},
		event.AgentStarted{Name: "a"},
		event.AgentReasoning{Text: "first", Iteration: 1},
		event.SearchResults{Query: "void"}, // 4
		event.SourceFound{Number: 1},
		action("c1", 1, ""),
		action("c1", 1, "void"),
		event.RunReopened{Void: [][2]int64{{4, 7}}},
		action("c1", 1, ""),
		event.SearchResults{Query: "again"},
		event.SearchResults{Query: "blocked", Error: "no"},
		event.SourceFound{Number: 1},
		event.SourceFound{Number: 1},
		event.SourceFound{Number: 2},
		action("c1", 1, "found"),
		action("c2", 1, ""),
		action("c2", 1, "more"),
	)
	log = append(log, event.Event{Run: "r", Seq: 30, Agent: "a/b", Data: event.SearchResults{Query: "theirs"}},
		event.Event{Run: "r", Seq: 31, Agent: "a/b", Data: event.AgentReasoning{Text: "theirs", Iteration: 9}},
		event.Event{Run: "r", Seq: 32, Agent: "a/b", Data: event.SourceFound{Number: 7}})
	c := follow(log)
	if c.iteration != 1 || c.searches != 1 || c.sources != 2 || c.clarifications != 0 || c.result != nil || c.reasoning.Situation != "first" {
		t.Errorf("%+v", c)
	}
	its := c.turns[0].Iterations
	if len(c.turns) != 1 || len(its) != 2 || *its[0].Result.Content != "found" || *its[1].Result.Content != "more" || its[1].Thought.Calls != nil {
		t.Errorf("%+v", c.turns)
	}
}

// A log may end anywhere, and be of a program that told less.
func TestACourseOfAnyLog(t *testing.T) {
	whole := logged(
		event.Message{Role: "user", Text: "q"},
		event.AgentStarted{Name: "a"},
		event.ClarifyAsked{Questions: []string{"one", "two"}},
		event.ClarifyAnswered{Answer: "both"},
		action("c", 1, "a result without its call"),
		event.AgentFinished{Outcome: "failed"},
		event.Message{Role: "assistant", Text: "a report", Answer: "nothing"},
	)
	for from := range whole {
		for to := from; to <= len(whole); to++ {
			follow(whole[from:to])
		}
	}
	c := follow(whole)
	if len(c.turns) != 2 || c.said != 4 || c.clarifications != 1 || *c.result != "nothing" || c.outcome != tool.Failed {
		t.Errorf("%+v", c)
	}
	if asked := c.turns[0].Iterations[0].Result; asked.Tool != responseTool || *asked.Content != `{"response":"one\ntwo"}` {
		t.Errorf("%+v", asked)
	}
}

func TestStates(t *testing.T) {
	for _, c := range []struct {
		status  run.Status
		begun   bool
		outcome tool.Status
		want    tool.Status
	}{
		{run.Queued, false, "", tool.Inited},
		{run.Queued, true, "", tool.Researching}, // it goes on after a restart
		{run.Running, false, "", tool.Researching},
		{run.Paused, true, "", tool.Researching},
		{run.Waiting, true, "", tool.Waiting},
		{run.Done, true, tool.Completed, tool.Completed},
		{run.Done, true, tool.Failed, tool.Failed}, // it says that it found no answer
		{run.Done, true, "", tool.Completed},
		{run.Failed, true, "", tool.Failed},
		{run.Cancelled, true, tool.Completed, tool.Cancelled},
	} {
		if got := state(run.Record{Status: c.status}, course{begun: c.begun, outcome: c.outcome}); got != c.want {
			t.Errorf("%s, begun %v, outcome %q: %s, want %s", c.status, c.begun, c.outcome, got, c.want)
		}
	}
}

func FuzzClarification(f *testing.F) {
	for _, body := range []string{
		`{"messages":[{"role":"user","content":"x"}]}`, `{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`, `{"clarifications":"x"}`,
		`{"messages":null,"clarifications":"x"}`, `{"clarifications":null}`, `[]`, `null`, `{"messages":[null]}`, `{"messages":{}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) {
			return // what is no JSON does not come here
		}
		text, err := textOf(body)
		var wrong *fault
		if err == nil && strings.TrimSpace(text) == "" || err != nil && !errors.As(err, &wrong) {
			t.Errorf("%q: %q %v", body, text, err)
		}
	})
}
