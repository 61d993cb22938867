package cli

import (
	"strings"
	"testing"

	"dossier/event"
	"dossier/lang"
)

// The board of a team is drawn from its events alone: who works on what, how many
// tasks are done, what the supervisor decides, and how much is covered.
func TestBoardOfATeam(t *testing.T) {
	f := facts{lang: lang.English}
	at := func(agent string, d event.Data) { f.observe(event.Event{Agent: agent, Data: d}) }
	at("deep_search", event.Coverage{Of: "facets", Covered: 1, Total: 2})
	at("", event.PlanUpdated{Title: "Newts", Steps: []event.PlanStep{{Title: "How old?"}, {Title: "How many?"}}})
	at("", event.AgentStarted{Name: "agent_1", Role: "Technical Expert"})
	at("", event.AgentStarted{Name: "agent_2", Role: "Historical Analyst"})
	at("", event.TodoUpdated{ID: "agent_1-1", Agent: "agent_1", Title: "How old?", State: "pending"})
	at("", event.TodoUpdated{ID: "agent_2-1", Agent: "agent_2", Title: "How many?", State: "pending"})
	at("", event.TodoUpdated{ID: "agent_1-1", Agent: "agent_1", Title: "How old?", State: "active"})
	at("", event.TodoUpdated{ID: "agent_2-1", Agent: "agent_2", Title: "How many?", State: "active"})
	at("agent_1/task_1/work", event.AgentStarted{Name: "agent_1", Role: "react", Task: "How old?"})
	at("agent_1/task_1/work", event.AgentAction{Tool: "web_search", CallID: "1"})
	at("agent_1/task_1/work", event.AgentAction{Tool: "web_search", CallID: "1", Result: "two"})
	at("agent_1/task_1/work", event.Coverage{Of: "facets", Covered: 1, Total: 1})
	at("", event.Coverage{Of: "rubric", Covered: 1, Total: 3})
	at("", event.TodoUpdated{ID: "agent_2-1", Agent: "agent_2", Title: "How many?", State: "done"})
	at("", event.SupervisorDecision{Decision: "continue", Reason: "one is open"})
	want := strings.TrimPrefix(`
  ▸ agent_1 · web_search · How old?
  ○ agent_2 · Historical Analyst
  ✓ 1 of 2 done · the supervisor decides to go on: one is open
  1 of 3 items of the rubric covered · 1 tool call`, "\n")
	if got := strings.Join(f.lines(90), "\n"); got != want {
		t.Errorf("the board is\n%s\ninstead of\n%s", got, want)
	}
	at("write", event.PlanUpdated{Title: "Newts", Steps: []event.PlanStep{{Title: "Their age", State: "active"}}})
	if got := strings.Join(f.lines(90), "\n"); !strings.Contains(got, "▸ Their age") || strings.Contains(got, "agent_1") {
		t.Errorf("the board of who writes is\n%s", got)
	}
}
