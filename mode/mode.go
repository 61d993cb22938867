// Package mode is the contract of the ways in which a run is carried out:
// chat, web search, research and so on. A mode is ordinary Go with named
// steps; what it needs of the world it gets when it is made.
package mode

import (
	"context"
	"encoding/json"
	"slices"

	"dossier/event"
	"dossier/lang"
	"dossier/llm"
	"dossier/report"
	"dossier/run"
	"dossier/sources"
)

// Request is what a run was asked to do, frozen when the run was created:
// everything the run depends on is in it.
type Request struct {
	Question string `json:"question,omitempty"`
	// Context is material that came with the question (a pipe, a file).
	Context string `json:"context,omitempty"`
	// In is what the question is asked of; empty means what the mode is for.
	In sources.Target `json:"in,omitzero"`
	// Lang is the language of the answer; empty means the question's.
	Lang string `json:"lang,omitempty"`
	// Agent is the name of the agent that is to work on it, for the modes that
	// have several, and Instance the long-lived one whose turn it is.
	Agent    string `json:"agent,omitempty"`
	Instance string `json:"instance,omitempty"`
	// AgentID is what clients know the agent by. To name one is to go on with that
	// agent, in its conversation; otherwise it gets one of its own.
	AgentID string `json:"agent_id,omitempty"`
	// MaxSteps is how many steps the agent may take, for the one that has such a
	// limit; 0 leaves it to the configuration, which also bounds it.
	MaxSteps int `json:"max_steps,omitempty"`
	// Custom is the caller's own part of what the tools and phases of an agent
	// share. No model sees it.
	Custom map[string]json.RawMessage `json:"custom_context,omitempty"`
	// Model replaces the configured model of every role.
	Model string `json:"model,omitempty"`
	// History is the conversation before the question, for callers that keep
	// it themselves; otherwise it is the session's. Messages of the system are
	// instructions of whoever asks.
	History []llm.Message `json:"history,omitempty"`
	// Relay is a conversation that is passed on to the model as it is, for the mode
	// that does so. Question is its last message then.
	Relay *Relay `json:"relay,omitempty"`
	// Alone says that the question stands by itself: what was said before it,
	// instructions excepted, is not looked at.
	Alone bool `json:"alone,omitempty"`
	// Plan says whether the user sees the plan of a deep research before anything
	// is spent on it: auto, show, or edit; empty is as configured.
	Plan string `json:"plan,omitempty"`
	// NoInput forbids questions to the user.
	NoInput bool       `json:"no_input,omitempty"`
	Limits  run.Limits `json:"limits,omitzero"`
	// Schedule is the id of the schedule whose run it is; the engine sets it.
	Schedule string `json:"schedule,omitempty"`
	// CompareWith is a run of the same question: the report tells what has changed
	// since that one's.
	CompareWith string `json:"compare_with,omitempty"`
	// MinCoverage is the least share of the answer's claims that has to be borne
	// out for whoever asked to have enough. Runs end the same with less.
	MinCoverage float64 `json:"min_coverage,omitempty"`
	// Imported is the id of the run elsewhere whose evidence this run is; such a run
	// is there to be read, and is never carried out.
	Imported string `json:"imported,omitempty"`
	// Settings are the mode's own, as they were when the run was created.
	Settings json.RawMessage `json:"settings,omitempty"`
	// Circumstances of the run's creation. Runs of programs that did not record
	// them have none: for these, what there is now counts.
	Circumstances *Circumstances `json:"circumstances,omitempty"`
	// Trace is the span of whoever asked, as a traceparent: what is told of the run
	// goes below it. The engine sets it.
	Trace string `json:"trace,omitempty"`
}

// Relay is a conversation for a model, with what the caller brings along: functions
// that it can call, and the form of the answer. Schema is that of a JSON object,
// JSON asks for any.
type Relay struct {
	Messages    []llm.Message   `json:"messages"`
	Tools       []llm.Tool      `json:"tools,omitempty"`
	ToolChoice  string          `json:"tool_choice,omitempty"`
	JSON        bool            `json:"json,omitempty"`
	SchemaName  string          `json:"schema_name,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	MaxTokens   int             `json:"max_tokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	Stop        []string        `json:"stop,omitempty"`
}

// Answer is what a run delivers.
type Answer struct {
	Text      string   `json:"text"`
	Reasoning string   `json:"reasoning,omitempty"`
	KeyPoints []string `json:"key_points,omitempty"`
	Model     string   `json:"model,omitempty"`
	// Extractive marks an answer that was made without a model.
	Extractive bool `json:"extractive,omitempty"`
	// Unanswered says that the text only tells that there is no answer.
	Unanswered bool `json:"unanswered,omitempty"`
	// Report is the answer with what it rests on, for modes that have sources.
	// Text is its Markdown then, and the answer by itself is made of it.
	Report *report.Report `json:"report,omitempty"`
	// Calls are those of the caller's own functions that the model wants made.
	Calls []llm.ToolCall `json:"calls,omitempty"`
	// Shown is what was told of the answer while it was written, in deltas of this
	// execution that were not voided. Where it is not the answer, that is told
	// when it is delivered.
	Shown string `json:"-"`
}

// Mode carries out runs. It is safe for concurrent use and keeps nothing
// between runs.
type Mode interface {
	// Name under which the mode is asked for.
	Name() string
	// Settings returns the mode's settings of this moment, to be frozen into
	// the request of a new run.
	Settings() any
	// Run works on the request to its answer. It returns the kernel's errors
	// as they are.
	Run(ctx context.Context, s *run.Scope, req Request) (Answer, error)
}

// Configured is a Mode whose settings depend on what is asked of it.
type Configured interface {
	Mode
	// SettingsFor returns the settings to be frozen into the request of a new
	// run, or says why the request can't be carried out.
	SettingsFor(ctx context.Context, req *Request) (any, error)
}

// Language of the answer: the one asked for, the configured one, or that of
// the question.
func (r Request) Language(configured lang.Code) lang.Code {
	switch {
	case r.Lang != "" && r.Lang != "auto":
		return lang.Code(r.Lang)
	case configured != "":
		return configured
	}
	return lang.ForAnswer(r.Question, lang.English)
}

// History returns the last limit messages of a session before the given run.
type History func(ctx context.Context, session, run string, limit int) ([]event.Message, error)

// Conversation returns what was said before the question: what the caller
// brought along, or the session's last messages, recorded so that a resumed run
// sees the same. Of what the caller brought the instructions are always there,
// and the last limit messages of the rest.
func (r Request) Conversation(ctx context.Context, s *run.Scope, history History, limit int) ([]llm.Message, error) {
	if len(r.History) > 0 {
		n := 0
		for n < len(r.History) && r.History[n].Role == llm.RoleSystem {
			n++
		}
		if r.Alone {
			return r.History[:n], nil
		}
		return slices.Concat(r.History[:n], r.History[max(n, len(r.History)-max(limit, 0)):]), nil
	}
	rec := s.Record()
	if limit <= 0 || rec.Session == rec.ID || r.Alone {
		return nil, nil
	}
	return run.Step(ctx, s, "history", func(ctx context.Context, _ *run.Scope) ([]llm.Message, error) {
		messages, err := history(ctx, rec.Session, rec.ID, limit)
		if err != nil {
			return nil, err
		}
		out := make([]llm.Message, 0, len(messages))
		for _, msg := range messages {
			out = append(out, llm.Message{Role: llm.Role(msg.Role), Content: msg.Text})
		}
		return out, nil
	})
}
