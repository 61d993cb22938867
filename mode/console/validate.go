package console

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"dossier/run"
)

// The tools.
const (
	ToolSearch = "rag_search"
	ToolHaiku  = "generate_haiku"
)

// call is a choice after it was checked: a tool that is there, with what it is called
// with, or what is wrong.
type call struct {
	OK   bool   `json:"ok"`
	Tool string `json:"tool,omitempty"`
	Text string `json:"text,omitempty"` // the question, or the theme
	TopK int    `json:"top_k,omitempty"`
	Says string `json:"says"` // the message about it
}

// validate checks a choice as a step of the run.
func (t *turn) validate(ctx context.Context, c choice) (call, error) {
	return run.EffectStep(ctx, t.scope, run.Pure, "validate", func(context.Context, *run.Scope) (call, error) {
		log := t.log(stepValid)
		log.Debug("AgentValidate")
		out, wrong := check(c, t.set)
		if wrong != "" {
			log.Warn("validate_tool_call // " + wrong)
		} else {
			log.Debug("validate_tool_call // Validation OK")
		}
		return out, nil
	})
}

// mostPassages bounds what a model may ask for.
const mostPassages = 50

// check says what is wrong with a choice, for the log, or makes a call of it.
func check(c choice, set Settings) (out call, wrong string) {
	var parameter, says, long string
	var most int
	switch c.Tool {
	case ToolSearch:
		parameter, most, says, long = "question", set.QuestionMaxLen, "console.valid-rag", "console.long-question"
	case ToolHaiku:
		parameter, most, says, long = "theme", set.ThemeMaxLen, "console.valid-haiku", "console.long-theme"
	default:
		return call{Says: "console.unknown-tool"}, "Unknown tool: " + c.Tool
	}
	place := c.Tool + "::" + parameter
	raw, ok := c.Parameters[parameter]
	if !ok || string(raw) == "null" {
		return call{Says: "console.unclear"}, "Missing Param: " + place
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return call{Says: "console.unclear"}, "Wrong Type Param: " + place
	}
	switch text = strings.TrimSpace(text); {
	case text == "":
		return call{Says: "console.unclear"}, "Empty Param: " + place
	case utf8.RuneCountInString(text) > most:
		return call{Says: long}, "Too Long Param: " + place
	}
	out = call{OK: true, Tool: c.Tool, Text: text, Says: says}
	if c.Tool == ToolSearch {
		out.TopK = set.TopK
		if n := 0; json.Unmarshal(c.Parameters["top_k"], &n) == nil && n >= 1 && n <= mostPassages {
			out.TopK = n
		}
	}
	return out, ""
}
