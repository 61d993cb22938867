// Package agenttest is a scripted model that goes through a piece of research
// in the form of any decider: it plans, asks the user, searches, reads, changes
// its plan, searches again, writes a report and answers. What it does next
// follows from the conversation alone, so that a run that is taken up again
// gets the same replies.
package agenttest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"dossier/agent"
	"dossier/llm"
	"dossier/llm/llmtest"
)

// The task of the research, and what the user says when asked.
const (
	Task   = "How many years does an Aune spotted newt live?"
	Reply  = "The newt of the river Aune."
	Answer = "An Aune spotted newt lives for up to 11 years [1]."
)

// move is a call that the model makes. Args get the conversation so far.
type move struct {
	tool string
	args func(seen string) map[string]any
}

func always(args map[string]any) func(string) map[string]any {
	return func(string) map[string]any { return args }
}

var found = regexp.MustCompile(`\[\d+\] [^\n]* - (https?://[^\s\\"]+)`)

// pages are the addresses that a search has shown, the first ones.
func pages(seen string) map[string]any {
	var urls []string
	for _, m := range found.FindAllStringSubmatch(seen, 2) {
		urls = append(urls, m[1])
	}
	return map[string]any{"reasoning": "the pages that matter", "urls": urls}
}

var moves = []move{
	{"generateplantool", always(map[string]any{
		"reasoning": "begin with a plan", "research_goal": "the age of the newt",
		"planned_steps": []string{"search", "read", "answer"}, "search_strategies": []string{"encyclopedias", "local pages"},
	})},
	{"clarificationtool", always(map[string]any{
		"reasoning": "there may be several", "unclear_terms": []string{"newt"}, "assumptions": []string{"the species", "one animal"},
		"questions": []string{"Which newt do you mean?"},
	})},
	{"websearchtool", always(map[string]any{"reasoning": "look for it", "query": "Aune spotted newt age", "max_results": 4})},
	{"extractpagecontenttool", pages},
	{"adaptplantool", always(map[string]any{
		"reasoning": "one page is not enough", "original_goal": "the age of the newt", "new_goal": "the age of the newt, from two pages",
		"plan_changes": []string{"search once more"}, "next_steps": []string{"search", "report"},
	})},
	{"websearchtool", always(map[string]any{"reasoning": "look for more", "query": "Aune newt pools", "max_results": 3})},
	{"createreporttool", always(map[string]any{
		"reasoning": "enough is known", "title": "The newts of the Aune", "user_request_language_reference": Task,
		"content": Answer, "confidence": "high",
	})},
	{"finalanswertool", always(map[string]any{
		"reasoning": "done", "completed_steps": []string{"searched", "read", "reported"}, "answer": Answer, "status": "completed",
	})},
}

// Moves is how many calls the model makes.
func Moves() int { return len(moves) }

var reasoning = map[string]any{
	"reasoning_steps": []string{"look at what there is", "do the next thing"}, "current_situation": "on the way", "plan_status": "as planned",
	"enough_data": false, "remaining_steps": []string{"the next thing"}, "task_completed": false,
}

// Script is the model for a decider.
func Script(decider agent.DeciderName) llmtest.Script {
	return llmtest.Script{Rules: []llmtest.Rule{
		{Schema: "judgements", Reply: llmtest.JSON(map[string]any{"judgements": []any{}})},
		{Schema: "rewritten", Reply: llmtest.JSON(map[string]any{"answer": Answer})},
		{Reply: llmtest.Do(func(req *llmtest.Request) *llmtest.Reply { return reply(decider, req) })},
	}}
}

// Beside is the model for a decider beside that for others, whose last rule fits
// everything and replies nothing to what is not theirs.
func Beside(decider agent.DeciderName, others []llmtest.Rule) llmtest.Script {
	last := len(others) - 1
	rules := append(slices.Clone(others[:last]), Script(decider).Rules[:2]...)
	return llmtest.Script{Rules: append(rules, llmtest.Rule{Reply: llmtest.Do(func(req *llmtest.Request) *llmtest.Reply {
		if said := others[last].Reply.Func(req); said != nil {
			return said
		}
		return reply(decider, req)
	})})}
}

func reply(decider agent.DeciderName, req *llmtest.Request) *llmtest.Reply {
	n, seen := made(req.Messages)
	m := moves[min(n, len(moves)-1)]
	args := m.args(seen)
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err) // they are literals above
	}
	switch decider {
	case agent.SGR:
		step := with(reasoning, "function", with(args, "tool_name_discriminator", m.tool))
		return llmtest.JSON(step)
	case agent.Hybrid, agent.Dialog:
		if req.Schema == agent.ReasoningTool {
			return llmtest.CallTool(agent.ReasoningTool, reasoning)
		}
	case agent.Iron:
		if strings.HasPrefix(req.Question(), "Now write the arguments") {
			return llmtest.Say("Here they are:\n```json\n" + string(raw) + "\n```")
		}
		return llmtest.JSON(with(reasoning, "function_name_choice", m.tool))
	case agent.ReAct:
		if n == len(moves)-1 {
			return llmtest.Say("Thought: it is enough\nFinalAnswer: " + Answer)
		}
		return llmtest.Say(fmt.Sprintf("Thought: the next thing is %s\nAction: %s %s", m.tool, m.tool, raw))
	}
	return llmtest.CallTool(m.tool, args)
}

func with(m map[string]any, key string, value any) map[string]any {
	out := maps.Clone(m)
	out[key] = value
	return out
}

// made counts the moves that a conversation tells of, and returns its text.
func made(messages []llm.Message) (n int, seen string) {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(m.Content)
		b.WriteByte('\n')
		if m.Role != llm.RoleAssistant {
			continue
		}
		for _, c := range m.ToolCalls {
			if c.Name != agent.ReasoningTool {
				n++
			}
		}
		if strings.HasPrefix(m.Content, "I call ") || strings.Contains(m.Content, "\nAction: ") {
			n++
		}
	}
	return n, b.String()
}
