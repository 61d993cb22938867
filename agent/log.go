package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dossier/llm"
	"dossier/run"
	"dossier/tool"
)

// logStep is one entry of the log file that existing programs read.
type logStep struct {
	Number    int             `json:"step_number"`
	Time      string          `json:"timestamp,omitempty"`
	Type      string          `json:"step_type"`
	Reasoning any             `json:"agent_reasoning,omitempty"`
	Tool      string          `json:"tool_name,omitempty"`
	Arguments json.RawMessage `json:"agent_tool_context,omitempty"`
	Result    string          `json:"agent_tool_execution_result,omitempty"`
	Error     bool            `json:"error,omitempty"`
}

func (w *Work) logThought(t *Thought) {
	if w.Agent.Definition.LogsDir == "" {
		return
	}
	step := logStep{Number: w.State.Iteration, Type: "reasoning", Reasoning: t.Reasoning}
	if t.Text != "" {
		step.Reasoning = map[string]string{"text": t.Text}
	}
	if !t.At.IsZero() {
		step.Time = t.At.Format(time.RFC3339Nano)
	}
	w.log = append(w.log, step)
}

func (w *Work) logAction(a *Action, chosen time.Time) {
	if w.Agent.Definition.LogsDir == "" {
		return
	}
	step := logStep{Number: w.State.Iteration, Type: "tool_execution", Tool: a.Call.Name, Result: a.Outcome.Text, Error: a.Outcome.Failed}
	if !chosen.IsZero() {
		step.Time = chosen.Format(time.RFC3339Nano)
	}
	if json.Valid([]byte(a.Call.Arguments)) {
		step.Arguments = json.RawMessage(a.Call.Arguments)
	} else {
		step.Type = "tool_generation_attempt"
	}
	w.log = append(w.log, step)
}

// logFile is the whole log.
type logFile struct {
	ID       string         `json:"id"`
	Model    map[string]any `json:"model_config"`
	Messages []llm.Message  `json:"task_messages"`
	Toolkit  []string       `json:"toolkit"`
	Steps    []logStep      `json:"log"`
	State    *tool.State    `json:"state"`
}

// inFileNames keeps an agent's name from leading out of the folder.
var inFileNames = strings.NewReplacer("/", "_", "\\", "_", "\x00", "_", ":", "_")

// writeLog writes the log of the run to the definition's folder. That it can't
// be written is no reason to lose the answer: it is told in the log of events.
func (w *Work) writeLog(ctx context.Context) error {
	dir := w.Agent.Definition.LogsDir
	if dir == "" {
		return nil
	}
	rec, id := w.Scope.Record(), w.Task.ID
	_, err := run.EffectStep(ctx, w.Scope, run.Idempotent, "log", func(context.Context, *run.Scope) (string, error) {
		setting := w.client.Setting()
		f := logFile{
			ID: id, Messages: []llm.Message{{Role: llm.RoleUser, Content: w.Task.whole()}}, Toolkit: w.Agent.Tools.Names(), Steps: w.log, State: w.State,
			Model: map[string]any{"model": setting.Name, "max_tokens": setting.MaxTokens, "temperature": setting.Temperature},
		}
		raw, err := json.MarshalIndent(f, "", "  ")
		if err != nil {
			return "", err
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", fmt.Errorf("the folder of agents' logs: %w", err)
		}
		name := filepath.Join(dir, rec.Created.UTC().Format("20060102-150405")+"-"+inFileNames.Replace(id)+"-log.json")
		return name, os.WriteFile(name, raw, 0o600)
	})
	if _, failed := run.FaultOf(err); failed && !run.Stopped(err) {
		return nil
	}
	return err
}
