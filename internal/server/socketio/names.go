package socketio

import runevent "dossier/event"

// names are the names under which clients hear the events of a run. What they get
// with it is the event as in every stream, where kind says exactly what it is.
var names = map[runevent.Kind]string{
	runevent.KindRunStatus:     "status",
	runevent.KindRunReopened:   "status",
	runevent.KindCircumstances: "status",
	runevent.KindBudgetWarning: "status",
	runevent.KindModelFailed:   "status",
	runevent.KindModelWaiting:  "status",
	runevent.KindProgress:      "status",
	runevent.KindHeartbeat:     "status",

	runevent.KindRunError:        "error",
	runevent.KindUsage:           "usage",
	runevent.KindClarifyAsked:    "clarification",
	runevent.KindClarifyAnswered: "clarification",

	runevent.KindPlanUpdated:        "plan",
	runevent.KindSupervisorDecision: "plan",
	runevent.KindAgentStarted:       "agent",
	runevent.KindAgentFinished:      "agent",
	runevent.KindAgentAction:        "agent",
	runevent.KindAgentReasoning:     "agent",
	runevent.KindAgentReflected:     "agent",
	runevent.KindAgentRefined:       "agent",
	runevent.KindAgentAnswered:      "agent",
	runevent.KindTodoUpdated:        "todo",
	runevent.KindNoteAdded:          "note",
	runevent.KindFindingCompressed:  "finding",

	runevent.KindSearchStarted: "search",
	runevent.KindSearchResults: "search",
	runevent.KindSearchRound:   "search",
	runevent.KindSourceFound:   "source",
	runevent.KindSourceRead:    "source",
	runevent.KindSourceFailed:  "source",

	runevent.KindAnswerDelta:      "chunk",
	runevent.KindReportDelta:      "chunk",
	runevent.KindMessage:          "message",
	runevent.KindReportSection:    "report",
	runevent.KindReportReset:      "report",
	runevent.KindExportReady:      "report",
	runevent.KindReportEdited:     "report",
	runevent.KindCitationVerified: "finding",
	runevent.KindCoverage:         "finding",
	runevent.KindFollowUps:        "followups",
	runevent.KindConsoleLine:      "console_line",
}

// nameOf is the name of an event for clients; those of a kind that this program
// does not know are called so.
func nameOf(k runevent.Kind) string {
	if name, ok := names[k]; ok {
		return name
	}
	return "event"
}
