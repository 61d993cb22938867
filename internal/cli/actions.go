package cli

import (
	"encoding/json"
	"strings"

	"dossier/event"
	"dossier/internal/base/term"
	"dossier/lang"
	"dossier/tool"
	"dossier/toolkit"
)

// mostSaid is how many columns a line gives to what an agent thinks, passes to a
// tool or gets back, unless more is asked for.
const mostSaid = 160

// brief shortens what an agent says.
func (v *textView) brief(text string) string {
	if v.verbose {
		return text
	}
	return term.Fit(term.Line(text), mostSaid)
}

// action is a line for the beginning of a tool call and one for its result.
func (v *textView) action(agent string, d event.AgentAction) string {
	call := agent + "\x00" + d.Tool + "\x00" + d.CallID
	// What ends the work has the answer in it, which is shown as the answer.
	final := tool.PlainName(d.Tool) == toolkit.FinalAnswer
	switch {
	case d.Failed:
		delete(v.called, call)
		return lang.Text(v.lang, "line.tool-failed", "tool", d.Tool, "text", v.brief(strings.TrimPrefix(d.Result, "Error: ")))
	case v.called[call]:
		delete(v.called, call)
		if final || strings.TrimSpace(d.Result) == "" {
			return ""
		}
		return lang.Text(v.lang, "line.tool-result", "tool", d.Tool, "text", v.brief(d.Result))
	}
	if v.called == nil {
		v.called = make(map[string]bool)
	}
	v.called[call] = true
	if given := arguments(d.Arguments); given != "" && !final {
		return lang.Text(v.lang, "line.calls-with", "tool", d.Tool, "text", v.brief(given))
	}
	return lang.Text(v.lang, "line.calls", "tool", d.Tool)
}

// arguments are those of a call as a person writes them. Why it is made is left
// out: the agent has said it.
func arguments(object json.RawMessage) string {
	var out []string
	for name, raw := range members(object) {
		value := string(raw)
		var text string
		if json.Unmarshal(raw, &text) == nil {
			value = text
		}
		if value = strings.TrimSpace(value); name != "reasoning" && value != "" && value != "null" {
			out = append(out, name+": "+value)
		}
	}
	return strings.Join(out, ", ")
}
