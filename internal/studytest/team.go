package studytest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dossier/llm"
	"dossier/llm/llmtest"
)

// Team is a scripted model of deep research by a team: it plans, researches,
// supervises and writes. It works on what its prompts show it and on nothing
// else, so that the same prompt gets the same reply.
type Team struct {
	Scribe
	Doubt
	// Rubric and Tasks are its plan.
	Rubric, Tasks []string
	// Researcher and Supervisor replace how these reply; nil leaves it.
	Researcher, Supervisor func(q *llmtest.Request) *llmtest.Reply
	// Hasty lets finish be said in the first call of the supervisor.
	Hasty bool
}

// Rules are those of its server.
func (c Team) Rules() []llmtest.Rule {
	do := func(schema string, f func(q *llmtest.Request) any) llmtest.Rule {
		return llmtest.Rule{Schema: schema, Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply { return llmtest.JSON(f(q)) })}
	}
	content := func(q *llmtest.Request) any {
		text := Copied(Shown(q.Question()))
		if text == "" { // summary and conclusion: what the sections say first
			for _, m := range sectionIn.FindAllStringSubmatch(q.Question(), -1) {
				text += firstCited(m[1]) + " "
			}
		}
		return map[string]any{"content": strings.TrimSpace(text)}
	}
	own := []llmtest.Rule{
		do("clarity", c.clarity),
		do("analysis", func(*llmtest.Request) any {
			return map[string]any{"class": "factual", "complexity": "moderate", "strategy": "Look each of them up."}
		}),
		do("planned", func(*llmtest.Request) any {
			var items []any
			for _, r := range c.Rubric {
				items = append(items, map[string]any{"question": r, "kind": "question", "sources": []string{"encyclopedia"}})
			}
			return map[string]any{"title": "A research", "aspects": []string{"people", "places"}, "rubric": items, "tasks": c.Tasks}
		}),
		do("characters", func(*llmtest.Request) any {
			return map[string]any{"agents": []any{
				map[string]any{"role": "Technical Expert", "style": "precise", "sources": []string{"papers"}},
				map[string]any{"role": "Historical Analyst", "style": "patient", "sources": []string{"archives"}},
			}}
		}),
		do("reflection", func(*llmtest.Request) any {
			return map[string]any{"text": "It goes well.", "sufficient": true, "gaps": []string{}, "query": ""}
		}),
		do("outlined", func(q *llmtest.Request) any {
			var sections []any
			for i, m := range findingID.FindAllStringSubmatch(q.Question(), -1) {
				sections = append(sections, map[string]any{"title": fmt.Sprintf("Part %d", i+1), "description": "what was found", "findings": []string{m[1]}})
			}
			return map[string]any{"sections": sections}
		}),
		do("condensed", func(q *llmtest.Request) any {
			return map[string]any{"text": Between(q.Question(), "<notes>\n", "\n</notes>")}
		}),
		do("section", content),
		do("standalone", standingAlone),
		do("suggested", suggests),
		{Schema: "", Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply {
			switch system := q.Messages[0].Content; {
			case strings.HasPrefix(system, "You are a researcher in a team"):
				if c.Researcher != nil {
					return c.Researcher(q)
				}
				return c.Research(q)
			case strings.HasPrefix(system, "You supervise a team"):
				if c.Supervisor != nil {
					return c.Supervisor(q)
				}
				return c.Supervise(q)
			}
			return nil
		})},
	}
	// The schemas come first: a rule without one fits all.
	return slices.Concat(own[:len(own)-1], c.Scribe.Rules(), own[len(own)-1:])
}

var (
	sectionIn   = regexp.MustCompile(`(?s)<section title="[^"]*">\n(.*?)\n</section>`)
	findingID   = regexp.MustCompile(`<finding id="([^"]+)"`)
	foundIn     = regexp.MustCompile(`(?s)<found id="([^"]+)" by="[^"]*">\n(.*?)\n</found>`)
	urlLine     = regexp.MustCompile(`(?m)^  url: (\S+)$`)
	resultID    = regexp.MustCompile(`What it found is (f\d+)\.`)
	rubricLine  = regexp.MustCompile(`(?m)^- (r\d+) \[(\w+)\] (.*)$`)
	actionLine  = regexp.MustCompile(`(?m)^Action: (\w+)`)
	citedFirst  = regexp.MustCompile(`^[^\[\n]*(?:\[\d+\])+\.?`)
	rubricTask  = regexp.MustCompile(`(?m)^- (r\d+): (.*)$`)
	pendingLine = regexp.MustCompile(`(?m)^  - \[(?:pending|active)\] `)
)

func firstCited(text string) string {
	return strings.TrimSpace(citedFirst.FindString(strings.TrimSpace(text)))
}

// Act is a reply in the form of ReAct.
func Act(tool string, args any) *llmtest.Reply {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return llmtest.Say("Thought: " + tool + " comes next.\nAction: " + tool + " " + string(raw))
}

// View is what a request shows: the user's view, and what the last step brought.
func View(q *llmtest.Request) (view, last string) {
	for _, m := range q.Messages {
		if m.Role == llm.RoleUser {
			if view == "" {
				view = m.Content
			} else {
				last = m.Content
			}
		}
	}
	return view, last
}

// Research searches, reads the first results and notes their sentences.
func (c Team) Research(q *llmtest.Request) *llmtest.Reply {
	view, last := View(q)
	task := strings.TrimSpace(Between(view, "Your task: ", "\n"))
	switch urls := urlLine.FindAllStringSubmatch(last, -1); {
	case strings.Contains(view, "This is step 1 of"):
		return Act("web_search", map[string]any{"query": task})
	case len(urls) > 0:
		var first []string
		for _, m := range urls[:min(2, len(urls))] {
			first = append(first, m[1])
		}
		return Act("scrape_url", map[string]any{"urls": first})
	}
	covers := []string{}
	for _, m := range rubricTask.FindAllStringSubmatch(view, -1) {
		if m[2] == task {
			covers = append(covers, m[1])
		}
	}
	return Act("done", map[string]any{"note": Copied(quotedIn(last)), "covers": covers})
}

var (
	pageLine  = regexp.MustCompile(`^\[(\d+)\] `)
	quoteLine = regexp.MustCompile(`^> (.*)$`)
)

// quotedIn are the passages that a tool's result shows of pages.
func quotedIn(observation string) []Passage {
	var out []Passage
	source := 0
	for line := range strings.SplitSeq(observation, "\n") {
		if m := pageLine.FindStringSubmatch(line); m != nil {
			source = Number(m[1])
		} else if m := quoteLine.FindStringSubmatch(line); m != nil && source > 0 {
			out = append(out, Passage{source, m[1]})
		}
	}
	return out
}

// Supervise does what a supervisor is to do, one tool after the other.
func (c Team) Supervise(q *llmtest.Request) *llmtest.Reply {
	view, _ := View(q)
	var called []string
	for _, m := range q.Messages {
		if m.Role == llm.RoleAssistant {
			called = append(called, actionLine.FindStringSubmatch(m.Content)[1])
		}
	}
	did := func(tool string) bool { return slices.Contains(called, tool) }
	note := ""
	if m := resultID.FindStringSubmatch(view); m != nil {
		for _, f := range foundIn.FindAllStringSubmatch(view, -1) {
			if f[1] == m[1] {
				note = f[2]
			}
		}
	}
	switch {
	case !did("write_supervisor_note"):
		return Act("write_supervisor_note", map[string]any{"note": "Looked at it."})
	case note != "" && !did("write_draft_report"):
		return Act("write_draft_report", map[string]any{"content": "## " + strings.TrimSpace(Between(view, "is through with: ", "\n")) + "\n\n" + note, "replace": false})
	case firstCited(note) != "" && !did("write_main_document"):
		return Act("write_main_document", map[string]any{"insights": []string{firstCited(note)}})
	case !did("review_agent_progress"):
		return Act("review_agent_progress", map[string]any{"agent_id": "agent_1"})
	}
	for _, m := range rubricLine.FindAllStringSubmatch(view, -1) {
		if m[2] == "open" && !strings.Contains(view, "] "+m[3]+"\n") && !did("create_agent_todo") {
			return Act("create_agent_todo", map[string]any{"agent_id": "agent_2", "task": m[3], "items": []string{m[1]}})
		}
	}
	var missing []string
	for _, m := range rubricLine.FindAllStringSubmatch(view, -1) {
		if m[2] == "open" && strings.Contains(view, "[done] "+m[3]+"\n") {
			missing = append(missing, m[1])
		}
	}
	finish := c.Hasty || !pendingLine.MatchString(view)
	if finish && !did("make_final_decision") {
		return Act("make_final_decision", map[string]any{"decision": "finish", "reason": "All is there.", "not_found": slices.Concat([]string{}, missing)})
	}
	if finish && !did("create_agent_todo") {
		return Act("create_agent_todo", map[string]any{"agent_id": "agent_1", "task": "What else is known of " + strings.TrimSpace(Between(view, "The question: ", "\n")), "items": []string{}})
	}
	return Act("make_final_decision", map[string]any{"decision": "continue", "reason": "There is more to find.", "not_found": []string{}})
}
