// Package mode is the contract of the ways in which a run is carried out:
// chat, web search, research and so on. A mode is ordinary Go with named
// steps; what it needs of the world it gets when it is made.
package mode

import (
	"context"
	"encoding/json"

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
	Question string `json:"question"`
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
	// Model replaces the configured model of every role.
	Model string `json:"model,omitempty"`
	// History is the conversation before the question, for callers that keep
	// it themselves; otherwise it is the session's.
	History []llm.Message `json:"history,omitempty"`
	// Alone says that the question stands by itself: what was said before it is
	// not looked at.
	Alone bool `json:"alone,omitempty"`
	// NoInput forbids questions to the user.
	NoInput bool       `json:"no_input,omitempty"`
	Limits  run.Limits `json:"limits,omitzero"`
	// MinCoverage is the least share of the answer's claims that has to be borne
	// out for whoever asked to have enough. Runs end the same with less.
	MinCoverage float64 `json:"min_coverage,omitempty"`
	// Settings are the mode's own, as they were when the run was created.
	Settings json.RawMessage `json:"settings,omitempty"`
	// Circumstances of the run's creation. Runs of programs that did not record
	// them have none: for these, what there is now counts.
	Circumstances *Circumstances `json:"circumstances,omitempty"`
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
	Report *report.Report `json:"report,omitempty"`
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
// sees the same.
func (r Request) Conversation(ctx context.Context, s *run.Scope, history History, limit int) ([]llm.Message, error) {
	if len(r.History) > 0 && !r.Alone {
		return r.History[max(0, len(r.History)-limit):], nil
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
