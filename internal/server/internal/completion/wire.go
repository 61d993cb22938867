// Package completion shows a run as a chat completion in OpenAI's form: whole, or
// in chunks as it goes on. Projections make chunks of the run's events; what they
// need to know is in these events alone.
package completion

import (
	"time"

	"dossier/event"
)

// Chunk is a piece of a completion that is streamed.
type Chunk struct {
	ID          string   `json:"id"`
	Object      string   `json:"object"`
	Created     int64    `json:"created"`
	Model       string   `json:"model"`
	Fingerprint *string  `json:"system_fingerprint"`
	Choices     []Choice `json:"choices"`
	Usage       *Usage   `json:"usage"`
}

// Choice is the only one of a chunk.
type Choice struct {
	Index    int       `json:"index"`
	Delta    Delta     `json:"delta"`
	Logprobs *struct{} `json:"logprobs"`
	Finish   *string   `json:"finish_reason"`
}

// Delta is what a chunk adds.
type Delta struct {
	Role        string       `json:"role,omitempty"`
	Content     *string      `json:"content,omitempty"`
	Reasoning   string       `json:"reasoning_content,omitempty"`
	ToolCalls   []ToolCall   `json:"tool_calls,omitempty"`
	ToolCallID  string       `json:"tool_call_id,omitempty"`
	Annotations []Annotation `json:"annotations,omitempty"`
}

// ToolCall is a whole one: it travels in one chunk.
type ToolCall struct {
	Index    int      `json:"index"`
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function is what a call calls.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Annotation is a citation.
type Annotation struct {
	Type     string      `json:"type"`
	Citation URLCitation `json:"url_citation"`
}

// URLCitation is a source at the characters of the answer where its mark stands.
type URLCitation struct {
	Start int    `json:"start_index"`
	End   int    `json:"end_index"`
	URL   string `json:"url"`
	Title string `json:"title"`
}

// Usage is what the model calls of a run took.
type Usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

func (u *Usage) add(d event.Usage) {
	u.Prompt += d.Input
	u.Completion += d.Output
	u.Total = u.Prompt + u.Completion
}

// Completion is a whole one.
type Completion struct {
	ID          string        `json:"id"`
	Object      string        `json:"object"`
	Created     int64         `json:"created"`
	Model       string        `json:"model"`
	Fingerprint *string       `json:"system_fingerprint"`
	Choices     []WholeChoice `json:"choices"`
	Usage       Usage         `json:"usage"`
}

// WholeChoice is the only one of a completion.
type WholeChoice struct {
	Index    int       `json:"index"`
	Message  Message   `json:"message"`
	Logprobs *struct{} `json:"logprobs"`
	Finish   string    `json:"finish_reason"`
}

// Message is what is answered.
type Message struct {
	Role        string       `json:"role"`
	Content     *string      `json:"content"`
	Refusal     *string      `json:"refusal"`
	Reasoning   string       `json:"reasoning_content,omitempty"`
	ToolCalls   []ToolCall   `json:"tool_calls,omitempty"`
	Annotations []Annotation `json:"annotations,omitempty"`
}

// annotations are citations in OpenAI's form.
func annotations(list []event.Citation) []Annotation {
	var out []Annotation
	for _, c := range list {
		out = append(out, Annotation{Type: "url_citation", Citation: URLCitation{Start: c.Start, End: c.End, URL: c.URL, Title: c.Title}})
	}
	return out
}

// Head is what all chunks of a stream have.
type Head struct {
	Model   string
	Created time.Time
}

// chunk makes one.
func (h Head) chunk(id string, d Delta) Chunk {
	return Chunk{ID: id, Object: "chat.completion.chunk", Created: h.Created.Unix(), Model: h.Model, Choices: []Choice{{Delta: d}}}
}

// text makes a chunk of content.
func (h Head) text(id, role, content string) Chunk {
	return h.chunk(id, Delta{Role: role, Content: &content})
}

// Reasons for which a completion is over.
const (
	stop      = "stop"
	toolCalls = "tool_calls"
)

// over marks a chunk as the last.
func over(c Chunk, reason string) Chunk {
	c.Choices[0].Finish = &reason
	return c
}
