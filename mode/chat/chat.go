// Package chat is the mode without sources: one structured model call over the
// conversation so far.
package chat

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"dossier/event"
	"dossier/lang"
	"dossier/llm"
	"dossier/mode"
	"dossier/prompt"
	"dossier/run"
)

// Name of the mode.
const Name = "chat"

// Settings of the mode, frozen into each run.
type Settings struct {
	// HistoryLimit is how many earlier messages the model sees.
	HistoryLimit int `json:"history_limit"`
	// Lang is the language of answers; empty follows the question.
	Lang lang.Code `json:"lang,omitempty"`
}

// Mode is the chat mode.
type Mode struct {
	models   *llm.Models
	history  mode.History
	settings Settings
}

// New returns the mode with its models, the sessions' messages and the
// settings for new runs.
func New(models *llm.Models, history mode.History, settings Settings) *Mode {
	return &Mode{models: models, history: history, settings: settings}
}

// Name implements mode.Mode.
func (m *Mode) Name() string { return Name }

// Settings implements mode.Mode.
func (m *Mode) Settings() any { return m.settings }

// Circumstances implements mode.Situated.
func (m *Mode) Circumstances(context.Context, *mode.Request) mode.Circumstances {
	return mode.Circumstances{Models: mode.ModelsOf(m.models, answer.Role)}
}

// SynthesizedAnswer is what the model is asked for.
type SynthesizedAnswer struct {
	Reasoning string   `json:"reasoning" jsonschema:"how the answer comes about, in a few sentences"`
	Answer    string   `json:"answer" jsonschema:"the whole answer for the user"`
	KeyPoints []string `json:"key_points" jsonschema:"the main points, each a short sentence"`
}

// Validate implements the check of llm.Object: an object without an answer is
// none.
func (a *SynthesizedAnswer) Validate() error {
	if strings.TrimSpace(a.Answer) == "" {
		return fmt.Errorf("the field answer is empty: write the whole answer there")
	}
	return nil
}

// input is what the prompt is made of.
type input struct {
	Question string
	Context  string
	Language string
	Date     string
	History  []llm.Message
}

//go:embed answer.md
var files embed.FS

// answer has no fallback: a conversation cannot be had without a model.
var answer = &prompt.Task[input, SynthesizedAnswer]{
	Name:      "answer",
	Role:      llm.ForChat,
	Template:  prompt.Parse(files, "answer.md"),
	History:   func(in input) []llm.Message { return in.History },
	TextField: "answer",
}

// Run implements mode.Mode.
func (m *Mode) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	var set Settings
	if err := json.Unmarshal(req.Settings, &set); err != nil {
		return mode.Answer{}, fmt.Errorf("settings of chat: %w", err)
	}
	history, err := req.Conversation(ctx, s, m.history, set.HistoryLimit)
	if err != nil {
		return mode.Answer{}, err
	}
	rec := s.Record()
	var written strings.Builder // as far as the model has come
	made, err := answer.Do(ctx, s, m.models, input{
		Question: req.Question, Context: req.Context, History: history,
		Language: req.Language(set.Lang).Name(), Date: rec.Created.Format("2006-01-02"),
	}, prompt.Options[SynthesizedAnswer]{
		Model: req.Model, StreamField: "answer",
		Sink: func(text string) {
			_ = s.Emit(event.AnswerDelta{Text: text, At: written.Len()})
			written.WriteString(text)
		},
		Reset: func() {
			written.Reset()
			_ = s.Emit(event.AnswerDelta{Reset: true})
		},
		Partial: func() (SynthesizedAnswer, bool) {
			return SynthesizedAnswer{Answer: written.String() + " …"}, written.Len() > 0
		},
	})
	if err != nil {
		return mode.Answer{}, err
	}
	v := made.Value
	return mode.Answer{Text: v.Answer, Reasoning: v.Reasoning, KeyPoints: v.KeyPoints, Model: made.Model, Shown: written.String()}, nil
}

var _ mode.Situated = (*Mode)(nil)
