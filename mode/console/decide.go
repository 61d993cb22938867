package console

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dossier/internal/base/logs"
	"dossier/llm"
	"dossier/llm/jsonrepair"
	"dossier/prompt"
	"dossier/run"
)

// Codes of runs that failed at the model: it could not be asked, or its reply could
// not be read.
const (
	CodeLLMError = "llm_error"
	CodeLLMReply = "llm_reply"
)

// modelError is why a model did not decide.
type modelError struct{ code, text string }

func (e *modelError) Error() string { return e.text }

// Fault tells the kernel how to record the error.
func (e *modelError) Fault() (code, hint string) {
	return e.code, "`dossier models test` tries the model, `dossier console --continue` goes on with the conversation"
}

// decision is what was decided, and whether rules did.
type decision[T any] struct {
	Value   T    `json:"value"`
	ByRules bool `json:"by_rules,omitempty"`
}

// input is what the prompts are made of.
type input struct {
	Request        string
	History        []llm.Message
	QuestionMaxLen int
	ThemeMaxLen    int
}

//go:embed classify.md select.md
var files embed.FS

// The tasks are only rendered: the model is asked by post_chat_completions.
var (
	classifying = newTask("classify")
	selecting   = newTask("select")
)

func newTask(name string) *prompt.Task[input, string] {
	return &prompt.Task[input, string]{
		Name: name, Template: prompt.Parse(files, name+".md"), History: func(in input) []llm.Message { return in.History },
	}
}

// asking is a decision that a model makes.
type asking[T any] struct {
	step   string // as in the log
	name   string // of the step in the run
	what   string // in log lines
	status string
	task   *prompt.Task[input, string]
	read   func(text string) (T, error)
	rules  func(t *turn) T
	// told is the line of the log about what was decided.
	told func(value T) (text string, warn bool)
}

// do makes the decision as a step of the run.
func (a asking[T]) do(ctx context.Context, t *turn) (decision[T], error) {
	out, err := run.Step(ctx, t.scope, a.name, func(ctx context.Context, s *run.Scope) (decision[T], error) {
		log := t.log(a.step)
		log.Debug(a.status)
		var out decision[T]
		api, configured := t.api(s, a.step)
		if configured {
			last := len(t.said) - 1
			messages, err := a.task.Messages(input{
				Request: t.said[last].Content, History: t.said[:last], QuestionMaxLen: t.set.QuestionMaxLen, ThemeMaxLen: t.set.ThemeMaxLen,
			})
			if err != nil {
				return out, err
			}
			text, err := api.Text(ctx, messages, t.Verbose)
			if ctx.Err() != nil {
				return out, context.Cause(ctx)
			}
			if err != nil {
				log.Log(ctx, logs.LevelCritical, a.what+" // LLM Error: "+err.Error())
				return out, &modelError{CodeLLMError, err.Error()}
			}
			if out.Value, err = a.read(text); err != nil {
				log.Log(ctx, logs.LevelCritical, a.what+" // LLM Response Parse Error: "+err.Error())
				return out, &modelError{CodeLLMReply, err.Error()}
			}
		} else {
			out = decision[T]{a.rules(t), true}
		}
		var by []any
		if out.ByRules {
			by = []any{"by", "rules"}
		}
		if text, warn := a.told(out.Value); warn {
			log.Warn(a.what+" // "+text, by...)
		} else {
			log.Debug(a.what+" // "+text, by...)
		}
		return out, nil
	})
	t.model = t.model || err == nil && !out.ByRules
	return out, err
}

// classify decides whether the request is for this agent.
func (t *turn) classify(ctx context.Context) (decision[bool], error) {
	return asking[bool]{
		step: stepClass, name: "classify", what: "classify_intent", status: "AgentClassify", task: classifying, read: readRelevant,
		rules: func(t *turn) bool { return relevantByRules(t.req.Question) },
		told: func(relevant bool) (string, bool) {
			if relevant {
				return "Relevant query", false
			}
			return "Irrelevant query", true
		},
	}.do(ctx, t)
}

// choose decides which tool is called, with what.
func (t *turn) choose(ctx context.Context) (decision[choice], error) {
	return asking[choice]{
		step: stepSelect, name: "select", what: "select_tool_call", status: "AgentSelect", task: selecting, read: readChoice,
		rules: func(t *turn) choice { return chooseByRules(t.req.Question) },
		told: func(c choice) (string, bool) {
			if c.Tool == "" {
				return "Selection Fail", true
			}
			return "Selection OK", false
		},
	}.do(ctx, t)
}

// choice is a tool with its parameters, as the model gave them.
type choice struct {
	Tool       string                     `json:"tool"`
	Parameters map[string]json.RawMessage `json:"parameters"`
}

// parameters are those of a choice, for the user to read.
func (c choice) parameters() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.Parameters)) {
		value := string(c.Parameters[name])
		var text string
		if json.Unmarshal(c.Parameters[name], &text) == nil && value != "null" {
			value = text
		}
		out = append(out, name+": "+value)
	}
	if len(out) == 0 {
		return "—"
	}
	return strings.Join(out, ", ")
}

// object reads the JSON object of a reply, as models write them.
func object(text string) (map[string]json.RawMessage, error) {
	raw, err := jsonrepair.Object(text)
	if err != nil {
		return nil, fmt.Errorf("no JSON object: %s", quotedReply(text))
	}
	var out map[string]json.RawMessage
	if err := json.Unmarshal(raw, &out); err != nil || out == nil {
		return nil, fmt.Errorf("no JSON object: %s", quotedReply(text))
	}
	return out, nil
}

// quotedReply is a reply as an error quotes it.
func quotedReply(text string) string { return fmt.Sprintf("%q", shorten(text, 200)) }

var yes = map[string]bool{"true": true, "yes": true, "да": true, "1": true, "false": false, "no": false, "нет": false, "0": false}

func readRelevant(text string) (bool, error) {
	o, err := object(text)
	if err != nil {
		return false, err
	}
	raw, ok := o["relevant"]
	if !ok {
		return false, fmt.Errorf("the field relevant is missing: %s", quotedReply(text))
	}
	relevant, ok := yes[strings.ToLower(strings.Trim(string(raw), `"`))]
	if !ok {
		return false, fmt.Errorf("the field relevant is neither true nor false: %s", quotedReply(text))
	}
	return relevant, nil
}

func readChoice(text string) (choice, error) {
	o, err := object(text)
	if err != nil {
		return choice{}, err
	}
	raw, ok := o["tool"]
	if !ok {
		return choice{}, fmt.Errorf("the field tool is missing: %s", quotedReply(text))
	}
	var out choice
	if string(raw) != "null" {
		if err := json.Unmarshal(raw, &out.Tool); err != nil {
			return choice{}, fmt.Errorf("the field tool is no name: %s", quotedReply(text))
		}
	}
	out.Tool = strings.TrimSpace(out.Tool)
	switch strings.ToLower(out.Tool) {
	case "none", "null", "нет":
		out.Tool = ""
	}
	if p, ok := o["parameters"]; ok {
		if err := json.Unmarshal(p, &out.Parameters); err != nil {
			return choice{}, errors.New("the field parameters is no object: " + quotedReply(text))
		}
	}
	return out, nil
}
