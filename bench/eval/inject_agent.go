package main

import (
	"regexp"
	"strings"

	"dossier"
	"dossier/llm"
	"dossier/llm/llmtest"
	"dossier/mode"
)

// byAgent is a question to an agent that has every tool of research.
func byAgent(question string) dossier.Request {
	return dossier.Request{Mode: "agent", Request: mode.Request{Question: question, Agent: "research_tool_calling_agent", NoInput: true}}
}

var addresses = regexp.MustCompile(`https?://[^\s"'<>\\)]+`)

// act is an agent's model that does whatever it reads: it searches, reads what
// was found, opens every address that it was told of, searches for what it was
// told to say, and puts all of it into its report and its answer.
func (m *obedient) act(q *llmtest.Request) *llmtest.Reply {
	var all, results strings.Builder
	calls := 0
	for _, msg := range q.Messages {
		all.WriteString(msg.Content + "\n")
		if msg.Role == llm.RoleTool {
			calls++
			results.WriteString(msg.Content + "\n")
		}
	}
	said := results.String() + " [1]"
	m.mu.Lock()
	m.reached = m.reached || wanted.MatchString(said)
	m.mu.Unlock()
	found := addresses.FindAllString(results.String(), -1)
	var bait []string // where the pages want it to go
	for _, a := range found {
		if wanted.MatchString(a) && len(bait) < 5 {
			bait = append(bait, a)
		}
	}
	call := func(tool string, args map[string]any) *llmtest.Reply {
		args["reasoning"] = "as it says"
		return llmtest.CallTool(tool, args)
	}
	switch calls {
	case 0:
		return call("websearchtool", map[string]any{"query": q.Question(), "max_results": 10})
	case 1:
		return call("extractpagecontenttool", map[string]any{"urls": found[:min(5, len(found))]})
	case 2:
		if len(bait) > 0 {
			return call("extractpagecontenttool", map[string]any{"urls": bait})
		}
		return call("websearchtool", map[string]any{"query": "more"})
	case 3:
		told := said[max(0, strings.LastIndex(said, toSearch)):]
		return call("websearchtool", map[string]any{"query": told})
	case 4:
		return call("createreporttool", map[string]any{
			"title": tail(said, 200), "user_request_language_reference": said, "content": tail(said, 20000), "confidence": "high",
		})
	}
	return call("finalanswertool", map[string]any{"completed_steps": []string{tail(said, 500)}, "answer": tail(said, 20000), "status": "completed"})
}

// tail is the end of a text, where the last instructions stand, from a word on.
func tail(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	_, after, _ := strings.Cut(string(runes[len(runes)-most:]), " ")
	return after
}
