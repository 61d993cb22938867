package event

import (
	"encoding/json"
	"maps"
	"slices"
)

func decodeAs[T Data](raw []byte) (Data, error) {
	var d T
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	return d, nil
}

// Kinds are all that this program knows, in alphabetical order.
func Kinds() []Kind { return slices.Sorted(maps.Keys(decoders)) }

// decoders is the table of the sealed set: a kind that is missing here does
// not exist for readers, and a test holds it against the constants.
var decoders = map[Kind]func([]byte) (Data, error){
	KindRunStatus:          decodeAs[RunStatus],
	KindRunReopened:        decodeAs[RunReopened],
	KindRunError:           decodeAs[RunError],
	KindClarifyAsked:       decodeAs[ClarifyAsked],
	KindClarifyAnswered:    decodeAs[ClarifyAnswered],
	KindBudgetWarning:      decodeAs[BudgetWarning],
	KindUsage:              decodeAs[Usage],
	KindModelFailed:        decodeAs[ModelFailed],
	KindModelWaiting:       decodeAs[ModelWaiting],
	KindHeartbeat:          decodeAs[Heartbeat],
	KindProgress:           decodeAs[Progress],
	KindCircumstances:      decodeAs[Circumstances],
	KindPlanUpdated:        decodeAs[PlanUpdated],
	KindAgentStarted:       decodeAs[AgentStarted],
	KindAgentFinished:      decodeAs[AgentFinished],
	KindAgentAction:        decodeAs[AgentAction],
	KindAgentReasoning:     decodeAs[AgentReasoning],
	KindAgentReflected:     decodeAs[AgentReflected],
	KindAgentRefined:       decodeAs[AgentRefined],
	KindAgentAnswered:      decodeAs[AgentAnswered],
	KindTodoUpdated:        decodeAs[TodoUpdated],
	KindNoteAdded:          decodeAs[NoteAdded],
	KindSupervisorDecision: decodeAs[SupervisorDecision],
	KindFindingCompressed:  decodeAs[FindingCompressed],
	KindSearchStarted:      decodeAs[SearchStarted],
	KindSearchResults:      decodeAs[SearchResults],
	KindSearchRound:        decodeAs[SearchRound],
	KindSourceFound:        decodeAs[SourceFound],
	KindSourceRead:         decodeAs[SourceRead],
	KindSourceFailed:       decodeAs[SourceFailed],
	KindAnswerDelta:        decodeAs[AnswerDelta],
	KindMessage:            decodeAs[Message],
	KindReportSection:      decodeAs[ReportSection],
	KindReportDelta:        decodeAs[ReportDelta],
	KindReportReset:        decodeAs[ReportReset],
	KindCitationVerified:   decodeAs[CitationVerified],
	KindCoverage:           decodeAs[Coverage],
	KindExportReady:        decodeAs[ExportReady],
	KindReportEdited:       decodeAs[ReportEdited],
	KindFollowUps:          decodeAs[FollowUps],
	KindConsoleLine:        decodeAs[ConsoleLine],
}

// Kind implements Data.
func (RunStatus) Kind() Kind { return KindRunStatus }
func (RunStatus) sealed()    {}

// Kind implements Data.
func (RunReopened) Kind() Kind { return KindRunReopened }
func (RunReopened) sealed()    {}

// Kind implements Data.
func (RunError) Kind() Kind { return KindRunError }
func (RunError) sealed()    {}

// Kind implements Data.
func (ClarifyAsked) Kind() Kind { return KindClarifyAsked }
func (ClarifyAsked) sealed()    {}

// Kind implements Data.
func (ClarifyAnswered) Kind() Kind { return KindClarifyAnswered }
func (ClarifyAnswered) sealed()    {}

// Kind implements Data.
func (BudgetWarning) Kind() Kind { return KindBudgetWarning }
func (BudgetWarning) sealed()    {}

// Kind implements Data.
func (Usage) Kind() Kind { return KindUsage }
func (Usage) sealed()    {}

// Kind implements Data.
func (ModelFailed) Kind() Kind { return KindModelFailed }
func (ModelFailed) sealed()    {}

// Kind implements Data.
func (ModelWaiting) Kind() Kind { return KindModelWaiting }
func (ModelWaiting) sealed()    {}

// Kind implements Data.
func (Heartbeat) Kind() Kind { return KindHeartbeat }
func (Heartbeat) sealed()    {}

// Kind implements Data.
func (Progress) Kind() Kind { return KindProgress }
func (Progress) sealed()    {}

// Kind implements Data.
func (Circumstances) Kind() Kind { return KindCircumstances }
func (Circumstances) sealed()    {}

// Kind implements Data.
func (PlanUpdated) Kind() Kind { return KindPlanUpdated }
func (PlanUpdated) sealed()    {}

// Kind implements Data.
func (AgentStarted) Kind() Kind { return KindAgentStarted }
func (AgentStarted) sealed()    {}

// Kind implements Data.
func (AgentFinished) Kind() Kind { return KindAgentFinished }
func (AgentFinished) sealed()    {}

// Kind implements Data.
func (AgentAction) Kind() Kind { return KindAgentAction }
func (AgentAction) sealed()    {}

// Kind implements Data.
func (AgentReasoning) Kind() Kind { return KindAgentReasoning }
func (AgentReasoning) sealed()    {}

// Kind implements Data.
func (AgentReflected) Kind() Kind { return KindAgentReflected }
func (AgentReflected) sealed()    {}

// Kind implements Data.
func (AgentRefined) Kind() Kind { return KindAgentRefined }
func (AgentRefined) sealed()    {}

// Kind implements Data.
func (AgentAnswered) Kind() Kind { return KindAgentAnswered }
func (AgentAnswered) sealed()    {}

// Kind implements Data.
func (TodoUpdated) Kind() Kind { return KindTodoUpdated }
func (TodoUpdated) sealed()    {}

// Kind implements Data.
func (NoteAdded) Kind() Kind { return KindNoteAdded }
func (NoteAdded) sealed()    {}

// Kind implements Data.
func (SupervisorDecision) Kind() Kind { return KindSupervisorDecision }
func (SupervisorDecision) sealed()    {}

// Kind implements Data.
func (FindingCompressed) Kind() Kind { return KindFindingCompressed }
func (FindingCompressed) sealed()    {}

// Kind implements Data.
func (SearchStarted) Kind() Kind { return KindSearchStarted }
func (SearchStarted) sealed()    {}

// Kind implements Data.
func (SearchResults) Kind() Kind { return KindSearchResults }
func (SearchResults) sealed()    {}

// Kind implements Data.
func (SearchRound) Kind() Kind { return KindSearchRound }
func (SearchRound) sealed()    {}

// Kind implements Data.
func (SourceFound) Kind() Kind { return KindSourceFound }
func (SourceFound) sealed()    {}

// Kind implements Data.
func (SourceRead) Kind() Kind { return KindSourceRead }
func (SourceRead) sealed()    {}

// Kind implements Data.
func (SourceFailed) Kind() Kind { return KindSourceFailed }
func (SourceFailed) sealed()    {}

// Kind implements Data.
func (AnswerDelta) Kind() Kind { return KindAnswerDelta }
func (AnswerDelta) sealed()    {}

// Kind implements Data.
func (Message) Kind() Kind { return KindMessage }
func (Message) sealed()    {}

// Kind implements Data.
func (ReportSection) Kind() Kind { return KindReportSection }
func (ReportSection) sealed()    {}

// Kind implements Data.
func (ReportDelta) Kind() Kind { return KindReportDelta }
func (ReportDelta) sealed()    {}

// Kind implements Data.
func (ReportReset) Kind() Kind { return KindReportReset }
func (ReportReset) sealed()    {}

// Kind implements Data.
func (CitationVerified) Kind() Kind { return KindCitationVerified }
func (CitationVerified) sealed()    {}

// Kind implements Data.
func (Coverage) Kind() Kind { return KindCoverage }
func (Coverage) sealed()    {}

// Kind implements Data.
func (ExportReady) Kind() Kind { return KindExportReady }
func (ExportReady) sealed()    {}

// Kind implements Data.
func (ReportEdited) Kind() Kind { return KindReportEdited }
func (ReportEdited) sealed()    {}

// Kind implements Data.
func (FollowUps) Kind() Kind { return KindFollowUps }
func (FollowUps) sealed()    {}

// Kind implements Data.
func (ConsoleLine) Kind() Kind { return KindConsoleLine }
func (ConsoleLine) sealed()    {}
