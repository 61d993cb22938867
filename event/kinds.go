package event

import (
	"cmp"
	"encoding/json"
)

// Data is what happened. The set of its types is sealed: the ones in this
// file, and Unknown.
type Data interface {
	Kind() Kind
	sealed()
}

// The life of a run.
type (
	// RunStatus says that the run is now queued, running, waiting, paused,
	// done, failed or cancelled, and why where that is not plain.
	RunStatus struct {
		Status string `json:"status"`
		Reason string `json:"reason,omitempty"`
	}
	// RunReopened says that a run which had ended, or rested, is taken up again:
	// the steps are done anew, and the earlier events in the ranges of sequences
	// (first and last) are void. What is not in them still holds.
	RunReopened struct {
		Steps []string   `json:"steps,omitempty"`
		Void  [][2]int64 `json:"void,omitempty"`
		// Raised are the limits that are higher from here on.
		Raised []string `json:"raised,omitempty"`
	}
	// RunError is what ended or disturbed the run, with what to do about it.
	RunError struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
		Step    string `json:"step,omitempty"`
		Fatal   bool   `json:"fatal,omitempty"`
	}
	// ClarifyAsked is a question to the user; the run may wait for the answer.
	// Iteration is that of the agent that asks.
	ClarifyAsked struct {
		ID        string   `json:"id"`
		Questions []string `json:"questions"`
		Options   []string `json:"options,omitempty"`
		Reason    string   `json:"reason,omitempty"`
		Iteration int      `json:"iteration,omitempty"`
	}
	// ClarifyAnswered is the answer to the question with the same ID.
	ClarifyAnswered struct {
		ID      string `json:"id"`
		Answer  string `json:"answer"`
		Skipped bool   `json:"skipped,omitempty"`
	}
	// BudgetWarning says that a limit is near (most of it is spent) or hit.
	BudgetWarning struct {
		What  string  `json:"what"`
		Limit float64 `json:"limit"`
		Spent float64 `json:"spent"`
		Hit   bool    `json:"hit,omitempty"`
	}
	// Usage is what one model call cost.
	Usage struct {
		Role        string  `json:"role,omitempty"`
		Model       string  `json:"model"`
		Input       int     `json:"input"`
		Output      int     `json:"output"`
		CachedInput int     `json:"cached_input,omitempty"`
		Cost        float64 `json:"cost,omitempty"`
		Estimated   bool    `json:"estimated,omitempty"`
	}
	// ModelFailed is a call to a model that failed, or a reply that could not be
	// used, and what follows: repeated, after Wait seconds; again, the model was
	// told what is wrong; shorter, with less of the conversation; other_way,
	// without what the endpoint refused; without_tools, an agent calls its tools
	// in text; rules, these decide instead; failed, there is nothing instead.
	ModelFailed struct {
		Role    string  `json:"role,omitempty"`
		Model   string  `json:"model,omitempty"`
		Code    string  `json:"code"`
		Message string  `json:"message"`
		Attempt int     `json:"attempt,omitempty"`
		Then    string  `json:"then"`
		Wait    float64 `json:"wait,omitempty"`
	}
	// ModelWaiting says at once what is the matter with a model that the run
	// waits for: a failure, of which a ModelFailed follows, or silence (quiet),
	// and for how many seconds. It is transient.
	ModelWaiting struct {
		Role    string  `json:"role,omitempty"`
		Model   string  `json:"model,omitempty"`
		Code    string  `json:"code"`
		Message string  `json:"message,omitempty"`
		Attempt int     `json:"attempt,omitempty"`
		Wait    float64 `json:"wait,omitempty"`
	}
	// Heartbeat tells listeners that the run is alive. It is transient.
	Heartbeat struct{}
	// Progress says how far a long piece of work is. Total is 0 while it is
	// not known; Note is what is at hand now. It is transient.
	Progress struct {
		What  string `json:"what"`
		Done  int64  `json:"done"`
		Total int64  `json:"total,omitempty"`
		Note  string `json:"note,omitempty"`
	}
	// Change is something that a run may depend on and that is no longer as it
	// was when the run was created: what it is (model, engines, rerankers), of
	// which role or agent, and its names then and now, empty for none.
	Change struct {
		What string `json:"what"`
		Of   string `json:"of,omitempty"`
		Was  string `json:"was,omitempty"`
		Now  string `json:"now,omitempty"`
	}
	// Circumstances says what is different from when the run was created.
	// The run keeps to what it began with, and goes on with what there is now.
	Circumstances struct {
		Changes []Change `json:"changes"`
	}
)

// Agents at work.
type (
	// PlanStep is one step of a plan with its state: pending, active, done or
	// dropped.
	PlanStep struct {
		Title   string   `json:"title"`
		State   string   `json:"state,omitempty"`
		Queries []string `json:"queries,omitempty"`
	}
	// PlanUpdated is the whole plan as it stands now. Question is what is looked
	// for where that is not what the user said: the question made to stand by
	// itself.
	PlanUpdated struct {
		Title    string     `json:"title,omitempty"`
		Question string     `json:"question,omitempty"`
		Steps    []PlanStep `json:"steps"`
	}
	// AgentStarted introduces an agent and its task. ID is what its clients know
	// it by: an agent that is told more keeps it from run to run.
	AgentStarted struct {
		Name string `json:"name"`
		Role string `json:"role,omitempty"`
		Task string `json:"task,omitempty"`
		ID   string `json:"id,omitempty"`
	}
	// AgentFinished is the end of an agent's work.
	AgentFinished struct {
		Name    string `json:"name"`
		Outcome string `json:"outcome"`
		Summary string `json:"summary,omitempty"`
	}
	// AgentAction is a tool call and, once there, its result. Iteration is that
	// of the agent's loop, from 1.
	AgentAction struct {
		Tool      string          `json:"tool"`
		CallID    string          `json:"call_id,omitempty"`
		Arguments json.RawMessage `json:"arguments,omitempty"`
		Result    string          `json:"result,omitempty"`
		Failed    bool            `json:"failed,omitempty"`
		Iteration int             `json:"iteration,omitempty"`
	}
	// AgentReasoning is what an agent thought before it acted, in the iteration of
	// its loop. Reasoning is there where the thought came in the form that was
	// asked for; Text and Steps are the situation and the steps of it then.
	AgentReasoning struct {
		Text      string     `json:"text"`
		Steps     []string   `json:"steps,omitempty"`
		Extracted bool       `json:"extracted,omitempty"` // made by rules, not by a model
		Iteration int        `json:"iteration,omitempty"`
		Reasoning *Reasoning `json:"reasoning,omitempty"`
	}
	// Reasoning is a thought in the form that agents are asked for.
	Reasoning struct {
		Steps      []string `json:"reasoning_steps"`
		Situation  string   `json:"current_situation"`
		PlanStatus string   `json:"plan_status"`
		Enough     bool     `json:"enough_data"`
		Remaining  []string `json:"remaining_steps"`
		Completed  bool     `json:"task_completed"`
	}
	// AgentReflected is an agent's look at its own progress.
	AgentReflected struct {
		Text       string   `json:"text"`
		Sufficient bool     `json:"sufficient"`
		Score      int      `json:"score,omitempty"`
		Gaps       []string `json:"gaps,omitempty"`
	}
	// AgentRefined says that an agent searches again with wider parameters, because
	// what it found covers less of the question than it should.
	AgentRefined struct {
		Round     int      `json:"round"` // of refinement, from 1
		Coverage  float64  `json:"context_coverage"`
		Threshold float64  `json:"coverage_threshold"`
		Missing   []string `json:"missing,omitempty"` // parts of the question
		TopBM25   int      `json:"hybrid_top_bm25"`
		Limit     int      `json:"limit"`
		Iteration int      `json:"iteration,omitempty"`
	}
	// AgentAnswered says what an agent's answer rests on: the share of the
	// question's parts for which something was found, the share of the answer's
	// claims that a passage bears out, and how sure the answer is. By is model,
	// rules or qa. Verification is missing where nothing was verified.
	AgentAnswered struct {
		Coverage         float64       `json:"context_coverage"`
		CitationCoverage float64       `json:"citation_coverage"`
		Refinements      int           `json:"refinements"`
		Confidence       float64       `json:"confidence"`
		By               string        `json:"answered_by"`
		Verification     *Verification `json:"verification,omitempty"`
		Iteration        int           `json:"iteration,omitempty"`
	}
	// Verification is what came of checking the claims of an answer. Flagged are
	// those that nothing bears out and that the answer marks.
	Verification struct {
		Passed    bool `json:"passed"`
		Claims    int  `json:"claims"`
		Verified  int  `json:"verified"`
		Flagged   int  `json:"flagged"`
		Rewritten bool `json:"rewritten"`
	}
	// TodoUpdated is one task of an agent: pending, active, done or dropped.
	TodoUpdated struct {
		ID    string `json:"id"`
		Agent string `json:"agent,omitempty"`
		Title string `json:"title"`
		State string `json:"state"`
	}
	// NoteAdded is something worth keeping, with the numbers of its sources. Agent
	// found it, where that is not whoever speaks.
	NoteAdded struct {
		ID      string `json:"id,omitempty"`
		Agent   string `json:"agent,omitempty"`
		Text    string `json:"text"`
		Sources []int  `json:"sources,omitempty"`
	}
	// SupervisorDecision is continue, replan or finish.
	SupervisorDecision struct {
		Decision string   `json:"decision"`
		Reason   string   `json:"reason,omitempty"`
		Tasks    []string `json:"tasks,omitempty"`
	}
	// FindingCompressed says how findings were condensed for the report.
	FindingCompressed struct {
		Before int    `json:"before"`
		After  int    `json:"after"`
		Text   string `json:"text,omitempty"`
	}
)

// Searching and reading.
type (
	// SearchStarted is a query on its way to an engine.
	SearchStarted struct {
		Query  string `json:"query"`
		Engine string `json:"engine,omitempty"`
		Round  int    `json:"round,omitempty"`
	}
	// SearchResults says what came back. Blocked or rate-limited is an Error,
	// never zero results. Cached says that no engine had to be asked.
	SearchResults struct {
		Query   string          `json:"query"`
		Engine  string          `json:"engine,omitempty"`
		Found   int             `json:"found"`
		New     int             `json:"new"`
		Error   string          `json:"error,omitempty"`
		Cached  bool            `json:"cached,omitempty"`
		Engines []EngineReply   `json:"engines,omitempty"`
		Dropped []DroppedResult `json:"dropped,omitempty"`
	}
	// EngineReply is one engine's part in a search.
	EngineReply struct {
		Engine string `json:"engine"`
		Found  int    `json:"found"`
		Cached bool   `json:"cached,omitempty"`
		Error  string `json:"error,omitempty"`
	}
	// DroppedResult is a result that is not used, and why.
	DroppedResult struct {
		URL    string `json:"url"`
		Reason string `json:"reason"`
		Detail string `json:"detail,omitempty"`
	}
	// SearchRound says what comes of a round of searches: continue with the
	// queries, or finish, and why. Rules says that no model decided it.
	SearchRound struct {
		Round    int      `json:"round"`
		Decision string   `json:"decision"`
		Reason   string   `json:"reason"`
		Queries  []string `json:"queries,omitempty"`
		Rules    bool     `json:"rules,omitempty"`
	}
	// SourceFound gives a source its number in this run. Hash names the snapshot of
	// one that was read before it got it.
	SourceFound struct {
		Number  int    `json:"number"`
		Title   string `json:"title,omitempty"`
		URL     string `json:"url"`
		Snippet string `json:"snippet,omitempty"`
		Hash    string `json:"hash,omitempty"`
	}
	// SourceRead says that a source was read; Hash names its snapshot. One that is
	// read by somebody who works in parallel with others has no Number yet:
	// source.found gives it, if what was read is taken up.
	SourceRead struct {
		Number int    `json:"number,omitempty"`
		Title  string `json:"title,omitempty"`
		URL    string `json:"url"`
		Hash   string `json:"hash,omitempty"`
		Words  int    `json:"words,omitempty"`
	}
	// SourceFailed says why a source could not be read or was dropped.
	SourceFailed struct {
		Number int    `json:"number,omitempty"`
		URL    string `json:"url"`
		Reason string `json:"reason"`
		// Others counts more that could not be read and are not told of.
		Others int `json:"others,omitempty"`
	}
)

// Answers and reports.
type (
	// AnswerDelta is a piece of the answer as it is written. Reset says that
	// the writing starts over and what was shown is void. Ready says that the
	// answer is whole and nobody saw it while it was written: its Message follows
	// at once. At is how many bytes of the answer were told before: who has others
	// has missed some. It is transient; the pieces together are what Message.Said
	// returns.
	AnswerDelta struct {
		Text  string `json:"text,omitempty"`
		At    int    `json:"at,omitempty"`
		Reset bool   `json:"reset,omitempty"`
		Ready bool   `json:"ready,omitempty"`
	}
	// Message is a whole message of the conversation. Where Text is a report,
	// Answer is the answer by itself, in Markdown with [n] for source n, and
	// Citations are its marks with what they stand for.
	Message struct {
		Role      string   `json:"role"`
		Text      string   `json:"text"`
		Reasoning string   `json:"reasoning,omitempty"`
		KeyPoints []string `json:"key_points,omitempty"`
		Model     string   `json:"model,omitempty"`
		// Extractive marks an answer that was made without a model.
		Extractive bool       `json:"extractive,omitempty"`
		Answer     string     `json:"answer,omitempty"`
		Citations  []Citation `json:"citations,omitempty"`
		// Calls are those of functions of the caller's own that the model wants made
		// before it goes on.
		Calls []Call `json:"calls,omitempty"`
	}
	// Call is one of a function of the caller's; Arguments are JSON as the model
	// wrote it.
	Call struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	// Citation is a mark of an answer: a source, by its number in the run, at the
	// characters of the answer (Unicode code points, from 0) from Start to before
	// End, where the mark stands. Quote is what the source says there, where the
	// check found it.
	Citation struct {
		Number int    `json:"number"`
		URL    string `json:"url"`
		Title  string `json:"title,omitempty"`
		Start  int    `json:"start"`
		End    int    `json:"end"`
		Quote  string `json:"quote,omitempty"`
	}
	// ReportSection is a whole section of a report, in Markdown.
	ReportSection struct {
		Index int    `json:"index"`
		Title string `json:"title"`
		Text  string `json:"text"`
	}
	// ReportDelta is a piece of a report as it is written. It is transient.
	ReportDelta struct {
		Section int    `json:"section"`
		Text    string `json:"text"`
	}
	// ReportReset voids the sections, and the pieces of an answer, shown so far:
	// what holds follows whole.
	ReportReset struct {
		Reason string `json:"reason,omitempty"`
	}
	// CitationVerified is the verdict on one claim: supported, unsupported,
	// misquoted or unknown_source.
	CitationVerified struct {
		Claim   string  `json:"claim"`
		Sources []int   `json:"sources,omitempty"`
		Verdict string  `json:"verdict"`
		Score   float64 `json:"score,omitempty"`
	}
	// Coverage is the share of claims with a verified passage, of the plan's facets
	// with a hit, or of its rubric, whose items it has.
	Coverage struct {
		Of      string       `json:"of"`
		Covered int          `json:"covered"`
		Total   int          `json:"total"`
		Share   float64      `json:"share"`
		Items   []RubricItem `json:"items,omitempty"`
	}
	// RubricItem is something that has to be known: open, covered or missing.
	RubricItem struct {
		Question string `json:"question"`
		State    string `json:"state"`
	}
	// ExportReady says that the report can be had in a format.
	ExportReady struct {
		Format string `json:"format"`
		Hash   string `json:"hash,omitempty"`
		Bytes  int64  `json:"bytes,omitempty"`
		Path   string `json:"path,omitempty"`
	}
	// ReportEdited says that a person has changed the report of a run that was over
	// (change is edit), had what they changed checked (check), or taken the last of
	// that back (undo). Before and After are what an edit replaced in a part: text,
	// summary, conclusion, or the number of a section from 1. Hash names the report as
	// it is now; Answer and Citations are that report as those of a message are, and
	// Unchecked counts its sentences that a person wrote and nobody has checked.
	ReportEdited struct {
		Change    string     `json:"change"`
		Part      string     `json:"part,omitempty"`
		Before    string     `json:"before,omitempty"`
		After     string     `json:"after,omitempty"`
		Hash      string     `json:"hash"`
		Bytes     int64      `json:"bytes"`
		Answer    string     `json:"answer"`
		Citations []Citation `json:"citations,omitempty"`
		Edits     int        `json:"edits"` // that the report has
		Unchecked int        `json:"unchecked,omitempty"`
	}
	// ConsoleLine is what the console agent shows in one of its steps (main, cls,
	// select, valid, exec): a status, a reply, which ends the turn, a note that goes
	// with it, the help, or an error of the model. Kept lines are in the history of
	// the conversation; of these the model sees the replies.
	ConsoleLine struct {
		Step string `json:"step"`
		Text string `json:"text"`
		Role string `json:"role"`
		Kept bool   `json:"kept,omitempty"`
	}
	// FollowUps are questions that the user may want to ask next.
	FollowUps struct {
		Questions []string `json:"questions"`
	}
)

// Said is the message by itself: the answer, without the report around it.
func (m Message) Said() string { return cmp.Or(m.Answer, m.Text) }

// The names of the kinds.
const (
	KindRunStatus          Kind = "run.status"
	KindRunReopened        Kind = "run.reopened"
	KindRunError           Kind = "run.error"
	KindClarifyAsked       Kind = "clarify.asked"
	KindClarifyAnswered    Kind = "clarify.answered"
	KindBudgetWarning      Kind = "budget.warning"
	KindUsage              Kind = "usage"
	KindModelFailed        Kind = "model.failed"
	KindModelWaiting       Kind = "model.waiting"
	KindHeartbeat          Kind = "heartbeat"
	KindProgress           Kind = "progress"
	KindCircumstances      Kind = "run.circumstances"
	KindPlanUpdated        Kind = "plan.updated"
	KindAgentStarted       Kind = "agent.started"
	KindAgentFinished      Kind = "agent.finished"
	KindAgentAction        Kind = "agent.action"
	KindAgentReasoning     Kind = "agent.reasoning"
	KindAgentReflected     Kind = "agent.reflected"
	KindAgentRefined       Kind = "agent.refined"
	KindAgentAnswered      Kind = "agent.answered"
	KindTodoUpdated        Kind = "todo.updated"
	KindNoteAdded          Kind = "note.added"
	KindSupervisorDecision Kind = "supervisor.decision"
	KindFindingCompressed  Kind = "finding.compressed"
	KindSearchStarted      Kind = "search.started"
	KindSearchResults      Kind = "search.results"
	KindSearchRound        Kind = "search.round"
	KindSourceFound        Kind = "source.found"
	KindSourceRead         Kind = "source.read"
	KindSourceFailed       Kind = "source.failed"
	KindAnswerDelta        Kind = "answer.delta"
	KindMessage            Kind = "message"
	KindReportSection      Kind = "report.section"
	KindReportDelta        Kind = "report.delta"
	KindReportReset        Kind = "report.reset"
	KindCitationVerified   Kind = "citation.verified"
	KindCoverage           Kind = "coverage"
	KindExportReady        Kind = "export.ready"
	KindReportEdited       Kind = "report.edited"
	KindFollowUps          Kind = "followups"
	KindConsoleLine        Kind = "console.line"
)

// IsTransient says whether data of this type is never stored.
func IsTransient(d Data) bool {
	switch d.(type) {
	case AnswerDelta, ReportDelta, Heartbeat, Progress, ModelWaiting:
		return true
	}
	return false
}
