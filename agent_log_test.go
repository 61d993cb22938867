package dossier

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"dossier/agent"
	"dossier/event"
	"dossier/internal/agenttest"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/run"
)

// agentLogs are the agents whose logs are frozen, one for each decider.
var agentLogs = []struct {
	agent   string
	decider agent.DeciderName
}{
	{"research_sgr_agent", agent.SGR},
	{"research_tool_calling_agent", agent.Native},
	{"research_sgr_tool_calling_agent", agent.Hybrid},
	{"research_iron_agent", agent.Iron},
	{"research_react_agent", agent.ReAct},
	{"research_dialog_agent", agent.Dialog},
	{"rule_based_agent", agent.ByRules},
}

// byAgent is a request to an agent.
func byAgent(name, question string) Request {
	return Request{Mode: "agent", Request: mode.Request{Question: question, Agent: name}}
}

// converse follows a run and answers each of its questions.
func converse(t *testing.T, e *Engine, req Request, answer string) (id string, events []event.Event) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	rec, err := e.Start(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range e.Events(ctx, rec.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := ev.Data.(event.RunStatus); ok && s.Status == string(run.Waiting) {
			if err := e.Answer(ctx, rec.ID, "", answer); err != nil {
				t.Fatal(err)
			}
		}
		if !ev.Transient() {
			events = append(events, ev)
		}
	}
	return rec.ID, events
}

// TestAgentEventLogs freezes what is told and recorded of a piece of research
// with a plan, a question, searches, a changed plan, a report and an answer.
func TestAgentEventLogs(t *testing.T) {
	for _, c := range agentLogs {
		t.Run(string(c.decider), func(t *testing.T) {
			w := startWeb(t, webtest.Options{})
			flags := onWeb(t, w)
			if c.decider != agent.ByRules {
				flags = onWeb(t, w, connected(llmtest.Start(t, agenttest.Script(c.decider))))
			}
			e := engine(t, memory.New(memory.Options{}), flags)
			id, events := converse(t, e, byAgent(c.agent, agenttest.Task), agenttest.Reply)
			settled(t, e, id)
			if _, err := e.Replay(t.Context(), id); err != nil {
				t.Errorf("the replay: %v", err)
			}
			golden(t, "agent-"+string(c.decider)+".txtar", frozenAgent(t, e, w, id, events))
		})
	}
}

// callID is what the scripted model calls its calls: a hash of the request.
var callID = regexp.MustCompile(`call_[0-9a-f]{16,}`)

var timestamp = regexp.MustCompile(`\d{8}_\d{6}_|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?|\d{4}-\d\d-\d\d`)

// frozenAgent is a run of an agent as a golden file keeps it, in the form of a
// txtar archive.
func frozenAgent(t *testing.T, e *Engine, w *webtest.Web, id string, events []event.Event) []byte {
	t.Helper()
	var log, steps strings.Builder
	for _, ev := range events {
		if u, ok := ev.Data.(event.Usage); ok {
			// How many tokens it is depends on the day and the port.
			fmt.Fprintf(&log, "%s of %s as %s\n", ev.Kind(), u.Model, u.Role)
			continue
		}
		data, err := event.EncodeData(ev.Data)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&log, "%s %s\n", ev.Kind(), data)
	}
	d, err := e.Show(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range d.Steps {
		fmt.Fprintf(&steps, "%s %s\n", entry.Kind, entry.Key)
	}
	text := "-- events --\n" + log.String() + "-- steps --\n" + steps.String()
	text = strings.NewReplacer(id, "RUN", e.agency.Dir(), "DATA").Replace(sameOnEachStart(t, w, text))
	text = callID.ReplaceAllString(text, "CALL")
	return []byte(timestamp.ReplaceAllString(text, "TIME"))
}
