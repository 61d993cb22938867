// Package llm is the one port to language models: messages in the OpenAI
// format, a Model that carries out one call, an Embedder, and what every call
// needs around it (structured output, a governor per endpoint, budgets of
// tokens and money). Providers live in sub-packages and import this package,
// never the reverse.
package llm

import (
	"context"
	"encoding/json"
)

// Role says who speaks in a Message.
type Role string

// The roles of the OpenAI format.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of a conversation. Its JSON form is OpenAI's.
type Message struct {
	Role    Role
	Content string
	// Name of the speaker, or of the tool in a tool message; often empty.
	Name string
	// ToolCalls are the calls that an assistant message asks for.
	ToolCalls []ToolCall
	// ToolCallID says which call a tool message answers.
	ToolCallID string
	// Reasoning is what a reasoning model thought aloud. It is kept for the
	// log and sent back only to providers that demand it.
	Reasoning string
	// Opaque is provider state that has to travel back with the message
	// unchanged (a thinking signature, GigaChat's functions_state_id).
	Opaque json.RawMessage
}

// ToolCall is a model's wish to call a tool. Arguments is JSON text as the
// model wrote it: possibly invalid, so it is checked where it is used.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// Tool is what a model is told about a tool.
type Tool struct {
	Name        string
	Description string
	// Parameters is a JSON schema of type object.
	Parameters json.RawMessage
	// Strict asks the provider to hold the arguments to the schema.
	Strict bool
}

// Tool choices; any other value is the name of the one tool to call.
const (
	ChooseAuto     = "auto"
	ChooseNone     = "none"
	ChooseRequired = "required"
)

// Format asks for structured output. A nil Format means text.
type Format struct {
	// Name of the schema. With an empty Schema the provider is only asked for
	// some JSON object (json_object).
	Name   string
	Schema json.RawMessage
}

// Request is one call. A provider neither changes nor keeps it.
type Request struct {
	// Model as the provider names it; empty means the model's own default.
	Model    string
	Messages []Message
	Tools    []Tool
	// ToolChoice is empty (the provider's default), one of the Choose
	// constants, or a tool's name.
	ToolChoice  string
	Format      *Format
	MaxTokens   int      // 0: the model's default
	Temperature *float64 // nil: the model's default
	Stop        []string
	// Extra parameters are sent as they are, beside the known ones.
	Extra map[string]any
}

// Chunk is a piece of a reply as it arrives. Exactly one field is set.
type Chunk struct {
	Text      string
	Reasoning string
	Tool      *ToolDelta
	// Restart voids every chunk before it: the stream broke and the call is
	// being repeated, so that the reply comes again from its start. Providers
	// never send it, a Governor may.
	Restart bool
}

// ToolDelta is a piece of a tool call. ID and Name come with the first piece
// of a call; Arguments are to be appended.
type ToolDelta struct {
	Index     int
	ID        string
	Name      string
	Arguments string
}

// FinishReason says why the model stopped.
type FinishReason string

// The finish reasons of the OpenAI format; providers translate theirs.
const (
	FinishStop      FinishReason = "stop"
	FinishLength    FinishReason = "length"
	FinishToolCalls FinishReason = "tool_calls"
	FinishFilter    FinishReason = "content_filter"
)

// Usage counts the tokens of one call. Estimated marks counts of ours where
// the provider reported none.
type Usage struct {
	Input       int     `json:"input"`
	Output      int     `json:"output"`
	CachedInput int     `json:"cached_input,omitempty"`
	Reasoning   int     `json:"reasoning,omitempty"`
	Cost        float64 `json:"cost,omitempty"` // in USD, 0 when the price is unknown
	Estimated   bool    `json:"estimated,omitempty"`
}

// Response is a whole reply.
type Response struct {
	ID      string
	Model   string
	Message Message
	Finish  FinishReason
	Usage   Usage
}

// Model carries out calls. It is safe for concurrent use.
type Model interface {
	// Stream makes one call. Each piece of the reply goes to sink, in order
	// and from one goroutine, before Stream returns. With a nil sink the
	// provider may use a plain, non-streaming call.
	//
	// The Response is whole: a stream that ends before the provider said so
	// is an *Error of kind ErrCut, never a short Response. Every failure of
	// the call is an *Error or ctx's own; cancelling ctx closes the upstream
	// connection.
	Stream(ctx context.Context, req *Request, sink func(Chunk)) (*Response, error)
}

// Embeddings are the vectors of the texts given, in their order.
type Embeddings struct {
	Model   string
	Vectors [][]float32
	Usage   Usage
}

// Embedder turns texts into vectors. It is safe for concurrent use.
type Embedder interface {
	Embed(ctx context.Context, model string, texts []string) (*Embeddings, error)
}
