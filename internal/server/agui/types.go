package agui

// ProtocolVersion is that of AG-UI whose events these are.
const ProtocolVersion = "1.0"

// Types of events.
const (
	RunStarted           = "RUN_STARTED"
	RunFinished          = "RUN_FINISHED"
	RunError             = "RUN_ERROR"
	StepStarted          = "STEP_STARTED"
	StepFinished         = "STEP_FINISHED"
	SubagentStarted      = "SUBAGENT_STARTED"
	SubagentFinished     = "SUBAGENT_FINISHED"
	TextStart            = "TEXT_MESSAGE_START"
	TextContent          = "TEXT_MESSAGE_CONTENT"
	TextEnd              = "TEXT_MESSAGE_END"
	ReasoningStart       = "REASONING_START"
	ReasoningTextStart   = "REASONING_MESSAGE_START"
	ReasoningTextContent = "REASONING_MESSAGE_CONTENT"
	ReasoningTextEnd     = "REASONING_MESSAGE_END"
	ReasoningEnd         = "REASONING_END"
	ToolCallStart        = "TOOL_CALL_START"
	ToolCallArgs         = "TOOL_CALL_ARGS"
	ToolCallEnd          = "TOOL_CALL_END"
	ToolCallResult       = "TOOL_CALL_RESULT"
	StateSnapshot        = "STATE_SNAPSHOT"
	StateDelta           = "STATE_DELTA"
	MessagesSnapshot     = "MESSAGES_SNAPSHOT"
	Custom               = "CUSTOM"
)

// Event is one of AG-UI. Which fields it has depends on its type.
type Event struct {
	Type      string `json:"type"`
	Timestamp int64  `json:"timestamp,omitempty"` // milliseconds since 1970

	ThreadID        string       `json:"threadId,omitempty"`
	RunID           string       `json:"runId,omitempty"`
	ProtocolVersion string       `json:"protocolVersion,omitempty"`
	Result          any          `json:"result,omitempty"`
	Outcome         *Outcome     `json:"outcome,omitempty"`
	Usage           []TokenUsage `json:"usage,omitempty"`
	Message         string       `json:"message,omitempty"`
	Code            string       `json:"code,omitempty"`
	Metadata        *Metadata    `json:"metadata,omitempty"`

	StepName            string `json:"stepName,omitempty"`
	SubagentRunID       string `json:"subagentRunId,omitempty"`
	ParentSubagentRunID string `json:"parentSubagentRunId,omitempty"`
	Description         string `json:"description,omitempty"`

	MessageID       string `json:"messageId,omitempty"`
	Role            string `json:"role,omitempty"`
	ToolCallID      string `json:"toolCallId,omitempty"`
	ToolCallName    string `json:"toolCallName,omitempty"`
	ParentMessageID string `json:"parentMessageId,omitempty"`
	// Delta is a piece of text, or the operations of a STATE_DELTA.
	Delta   any `json:"delta,omitempty"`
	Content any `json:"content,omitempty"`

	Snapshot any   `json:"snapshot,omitempty"`
	Messages []any `json:"messages,omitempty"`

	// Name is that of a CUSTOM event or of a subagent.
	Name  string `json:"name,omitempty"`
	Value any    `json:"value,omitempty"`
}

// Metadata of a RUN_ERROR is what can be done about it.
type Metadata struct {
	Hint string `json:"hint"`
}

// Outcome says how a run, or a subagent, ended: success, interrupt, cancelled or,
// for a subagent, suspended.
type Outcome struct {
	Type       string      `json:"type"`
	Interrupts []Interrupt `json:"interrupts,omitempty"`
}

// Interrupt is a question that a run waits for. The answer names its ID.
type Interrupt struct {
	ID             string         `json:"id"`
	Reason         string         `json:"reason"`
	Message        string         `json:"message,omitempty"`
	ResponseSchema map[string]any `json:"responseSchema,omitempty"`
	Metadata       map[string]any `json:"metadata,omitempty"`
}

// TokenUsage is what a model was used for.
type TokenUsage struct {
	Model             string `json:"model,omitempty"`
	InputTokens       int    `json:"inputTokens"`
	OutputTokens      int    `json:"outputTokens"`
	TotalTokens       int    `json:"totalTokens"`
	CachedInputTokens int    `json:"cachedInputTokens,omitempty"`
}

// Operation is one of a JSON patch.
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// message is one of the conversation that a run adds.
type message struct {
	ID            string     `json:"id"`
	Role          string     `json:"role"`
	Content       string     `json:"content,omitempty"`
	ToolCalls     []toolCall `json:"toolCalls,omitempty"`
	ToolCallID    string     `json:"toolCallId,omitempty"`
	SubagentRunID string     `json:"subagentRunId,omitempty"`
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}
