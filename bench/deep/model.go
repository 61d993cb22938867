package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"dossier/lang"
	"dossier/llm"
	"dossier/llm/llmtest"
)

// researcher is a scripted model that does a deep research by what its prompts
// show it: it plans, searches, reads, notes, supervises and writes, copying
// sentences of passages with their numbers.
type researcher struct {
	// tasks are questions to look into; the first of them are the plan's.
	tasks []string
	// searches is how often a task is searched for, and pages how many results
	// are read each time.
	searches, pages int
	// thorough supervisors write notes, insights and reviews too, and give as
	// many new tasks as there are.
	thorough bool
	// liar has every second sentence say something that no source does.
	liar bool

	lies sync.Map // what it made up, as it is compared
}

// planned is how many tasks, and items of a rubric, the plan has.
const planned = 8

func (m *researcher) reply(q *llmtest.Request) *llmtest.Reply {
	if q.Schema == "" {
		switch system := q.Messages[0].Content; {
		case strings.HasPrefix(system, "You are a researcher in a team"):
			return m.research(q)
		case strings.HasPrefix(system, "You supervise a team"):
			return m.supervise(q)
		}
		return nil
	}
	return llmtest.JSON(m.decide(q))
}

// decide replies to a decision.
func (m *researcher) decide(q *llmtest.Request) any {
	prompt := q.Question()
	first := m.tasks[:min(planned, len(m.tasks))]
	switch q.Schema {
	case "clarity":
		return map[string]any{"is_clear": true, "reasoning": "It is clear.", "clarification_question": "", "refined_query": prompt}
	case "analysis":
		return map[string]any{"class": "overview", "complexity": "complex", "strategy": "Look each of them up."}
	case "planned":
		var items []any
		for _, t := range first {
			items = append(items, map[string]any{"question": t, "kind": "question", "sources": []string{}})
		}
		return map[string]any{"title": "A research", "aspects": []string{}, "rubric": items, "tasks": first}
	case "characters":
		return map[string]any{"agents": []any{}}
	case "research_plan":
		var sections []any
		for _, t := range first[:min(5, len(first))] {
			sections = append(sections, map[string]any{"title": t, "description": t, "search_queries": []string{t, t + " history", t + " numbers"}})
		}
		return map[string]any{"research_title": "A research", "sections": sections}
	case "reflection":
		return m.reflect(q)
	case "outlined":
		var sections []any
		for i, found := range findingID.FindAllStringSubmatch(prompt, -1) {
			sections = append(sections, map[string]any{"title": fmt.Sprintf("Part %d", i+1), "description": "what was found", "findings": []string{found[1]}})
		}
		return map[string]any{"sections": sections[:min(8, len(sections))]}
	case "section":
		return map[string]any{"content": m.write(q)}
	case "condensed":
		return map[string]any{"text": between(prompt, "<notes>\n", "\n</notes>")}
	case "suggested":
		return map[string]any{"questions": []string{"What comes next?"}}
	}
	return m.search(q)
}

// search replies to the decisions of a search.
func (m *researcher) search(q *llmtest.Request) any {
	prompt := q.Question()
	switch q.Schema {
	case "plan":
		return map[string]any{"question": prompt, "facets": []any{map[string]any{"title": prompt, "queries": []string{prompt, prompt + " facts"}}}}
	case "follow_up_list":
		return map[string]any{"reason": "It will do.", "enough": true, "queries": []any{}}
	case "ranked_list":
		return map[string]any{"parts": []any{}}
	case "note":
		text, _, _ := strings.Cut(between(prompt, ">\n", "\n</passage>"), ". ")
		return map[string]any{"relevant": true, "summary": text + ".", "quotes": []string{}}
	case "synthesized_answer":
		return map[string]any{"reasoning": "As the passages say.", "answer": m.say(shownIn(prompt), 12), "key_points": []string{}, "unanswered": false}
	case "judgements": // of its kin: it finds everything borne out
		var all []any
		for _, c := range claimLine.FindAllStringSubmatch(prompt, -1) {
			all = append(all, map[string]any{"claim": number(c[1]), "verdict": "supported", "passage": 1})
		}
		return map[string]any{"judgements": all}
	case "rewritten":
		return map[string]any{"answer": between(prompt, "<answer>\n", "\n</answer>")}
	}
	return map[string]any{}
}

// reflect looks back: in the loop until there were some rounds.
func (m *researcher) reflect(q *llmtest.Request) any {
	round := roundOf.FindStringSubmatch(q.Messages[0].Content)
	if round == nil { // a member of a team
		return map[string]any{"text": "It goes well.", "sufficient": true, "gaps": []string{}, "query": ""}
	}
	n := number(round[1])
	if n >= m.searches {
		return map[string]any{"is_sufficient": true, "overall_score": 8, "gaps": []string{}, "next_queries": []string{}, "reasoning": "All sections have what they need."}
	}
	var next []string
	for i := range 5 {
		next = append(next, fmt.Sprintf("%s %d", m.tasks[(5*n+i)%len(m.tasks)], n))
	}
	return map[string]any{"is_sufficient": false, "overall_score": 5, "gaps": []string{}, "next_queries": next, "reasoning": "More is needed."}
}

// act is a reply in the form of ReAct.
func act(tool string, args any) *llmtest.Reply {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return llmtest.Say("Thought: " + tool + " comes next.\nAction: " + tool + " " + string(raw))
}

// viewOf are what a member of the team sees, and what its last step brought.
func viewOf(q *llmtest.Request) (view, last string) {
	for _, m := range q.Messages {
		if m.Role != llm.RoleUser {
			continue
		}
		if view == "" {
			view = m.Content
		} else {
			last = m.Content
		}
	}
	return view, last
}

// research searches and reads in turn, and notes what it saw last.
func (m *researcher) research(q *llmtest.Request) *llmtest.Reply {
	view, last := viewOf(q)
	task := strings.TrimSpace(between(view, "Your task: ", "\n"))
	step := 1 << 20 // the last one
	if at := stepOf.FindStringSubmatch(view); at != nil {
		step = number(at[1])
	}
	switch {
	case step <= 2*m.searches && step%2 == 1:
		return act("web_search", map[string]any{"query": fmt.Sprintf("%s %s", task, []string{"", "history", "numbers"}[step/2%3])})
	case step <= 2*m.searches:
		var urls []string
		for _, at := range urlLine.FindAllStringSubmatch(last, -1) {
			if len(urls) < m.pages {
				urls = append(urls, at[1])
			}
		}
		if len(urls) > 0 {
			return act("scrape_url", map[string]any{"urls": urls})
		}
	}
	covers := []string{}
	for _, item := range rubricTask.FindAllStringSubmatch(view, -1) {
		if item[2] == task {
			covers = append(covers, item[1])
		}
	}
	return act("done", map[string]any{"note": m.say(quotedIn(last), 12), "covers": covers})
}

// supervise works the finding into the draft, gives a new task, and goes on until
// nobody has one.
func (m *researcher) supervise(q *llmtest.Request) *llmtest.Reply {
	view, _ := viewOf(q)
	did := make(map[string]bool)
	for _, msg := range q.Messages {
		if at := actionLine.FindStringSubmatch(msg.Content); msg.Role == llm.RoleAssistant && at != nil {
			did[at[1]] = true
		}
	}
	note := ""
	if id := resultID.FindStringSubmatch(view); id != nil {
		note = between(view, `<found id="`+id[1]+`"`, "</found>")
		_, note, _ = strings.Cut(note, "\n")
	}
	task := strings.TrimSpace(between(view, "is through with: ", "\n"))
	switch {
	case m.thorough && !did["write_supervisor_note"]:
		return act("write_supervisor_note", map[string]any{"note": "Looked at " + task})
	case note != "" && !did["write_draft_report"]:
		return act("write_draft_report", map[string]any{"content": "## " + task + "\n\n" + note, "replace": false})
	case m.thorough && firstCited.MatchString(note) && !did["write_main_document"]:
		return act("write_main_document", map[string]any{"insights": []string{strings.TrimSpace(firstCited.FindString(note))}})
	case m.thorough && !did["review_agent_progress"]:
		return act("review_agent_progress", map[string]any{"agent_id": "agent_1"})
	}
	if m.thorough && !did["create_agent_todo"] {
		for i, t := range m.tasks {
			if !strings.Contains(view, "] "+t+"\n") {
				return act("create_agent_todo", map[string]any{"agent_id": fmt.Sprintf("agent_%d", i%4+1), "task": t, "items": []string{}})
			}
		}
	}
	if !openTodo.MatchString(view) && !did["make_final_decision"] {
		var missing []string
		for _, item := range rubricLine.FindAllStringSubmatch(view, -1) {
			if item[2] == "open" {
				missing = append(missing, item[1])
			}
		}
		return act("make_final_decision", map[string]any{"decision": "finish", "reason": "All is there.", "not_found": slices.Concat([]string{}, missing)})
	}
	return act("make_final_decision", map[string]any{"decision": "continue", "reason": "There is more to find.", "not_found": []string{}})
}

// write writes a section from its passages, or a summary from the sections.
func (m *researcher) write(q *llmtest.Request) string {
	prompt := q.Question()
	if shown := shownIn(prompt); len(shown) > 0 {
		return m.say(shown, 40)
	}
	var out []string
	for _, s := range citedSentence.FindAllString(prompt, 12) {
		out = append(out, strings.TrimSpace(s))
	}
	return strings.Join(out, " ")
}

// passage is a text that a prompt shows, and its number.
type passage struct {
	source int
	text   string
}

// say copies sentences with their numbers, so many at most. A liar changes every
// second one.
func (m *researcher) say(shown []passage, most int) string {
	var out []string
	for _, p := range shown {
		for _, span := range lang.Sentences(p.text) {
			s := strings.Join(strings.Fields(span.In(p.text)), " ")
			if len(out) == most || lang.Words(s) < 5 || strings.ContainsAny(s, "[]<>|") || !strings.HasSuffix(s, ".") {
				continue
			}
			source := p.source
			if m.liar && len(out)%2 == 1 {
				s, source = m.lie(s, p.source, len(out)/2)
			}
			out = append(out, fmt.Sprintf("%s [%d].", strings.TrimSuffix(s, "."), source))
		}
	}
	return strings.Join(out, " ")
}

// lie makes a sentence say what its source does not, in one of several ways, and
// remembers it.
func (m *researcher) lie(s string, source, n int) (string, int) {
	made := s
	switch n % 5 {
	case 0:
		made = otherNumber(s)
	case 1:
		made = otherName(s)
	case 2:
		words := strings.Fields(s)
		made = strings.Join(slices.Insert(words, len(words)/2, "not"), " ")
	case 3:
		made = strings.TrimSuffix(s, ".") + ", which the government of Quillon paid for."
	case 4:
		made, source = "The gates of Quillon have been painted blue by the monks.", source+40
	}
	if made == s {
		made = strings.TrimSuffix(s, ".") + " and nobody in Quillon knows why."
	}
	m.lies.Store(compared(made), true)
	return made, source
}

// lied says whether a sentence is one that the model made up.
func (m *researcher) lied(sentence string) bool {
	_, made := m.lies.Load(compared(sentence))
	return made
}

// compared is a sentence as it is compared: its words.
func compared(s string) string {
	s, _, _ = strings.Cut(s, " [")
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}

// otherNumber changes the last digit of a sentence.
func otherNumber(s string) string {
	i := strings.LastIndexAny(s, "0123456789")
	if i < 0 {
		return s
	}
	return s[:i] + string('0'+(s[i]-'0'+3)%10) + s[i+1:]
}

// otherName replaces the last capitalised word of a sentence but its first.
func otherName(s string) string {
	words := strings.Fields(s)
	for i := len(words) - 1; i > 0; i-- {
		if r := []rune(words[i]); unicode.IsUpper(r[0]) && len(r) > 2 {
			words[i] = "Quillon"
			if last := r[len(r)-1]; unicode.IsPunct(last) {
				words[i] += string(last)
			}
			return strings.Join(words, " ")
		}
	}
	return s
}

var (
	findingID     = regexp.MustCompile(`<finding id="([^"]+)"`)
	passageIn     = regexp.MustCompile(`(?s)<passage source="(\d+)"[^>]*>\n(.*?)\n</passage>`)
	claimLine     = regexp.MustCompile(`<claim number="(\d+)"`)
	roundOf       = regexp.MustCompile(`round (\d+) of at most`)
	stepOf        = regexp.MustCompile(`This is step (\d+) of`)
	urlLine       = regexp.MustCompile(`(?m)^  url: (\S+)$`)
	rubricTask    = regexp.MustCompile(`(?m)^- (r\d+): (.*)$`)
	rubricLine    = regexp.MustCompile(`(?m)^- (r\d+) \[(\w+)\] (.*)$`)
	resultID      = regexp.MustCompile(`What it found is (f\d+)\.`)
	actionLine    = regexp.MustCompile(`(?m)^Action: (\w+)`)
	firstCited    = regexp.MustCompile(`^[^\[\n]*(?:\[\d+\])+\.?`)
	openTodo      = regexp.MustCompile(`(?m)^  - \[(?:pending|active)\] `)
	citedSentence = regexp.MustCompile(`[^.\[\]<>"\n]+ \[\d+\]\.`)
	pageLine      = regexp.MustCompile(`^\[(\d+)\] `)
	quoteLine     = regexp.MustCompile(`^> (.*)$`)
)

// shownIn are the passages of a prompt.
func shownIn(prompt string) []passage {
	var out []passage
	for _, p := range passageIn.FindAllStringSubmatch(prompt, -1) {
		out = append(out, passage{number(p[1]), p[2]})
	}
	return out
}

// quotedIn are the passages that a tool's result shows of pages.
func quotedIn(observation string) []passage {
	var out []passage
	source := 0
	for line := range strings.SplitSeq(observation, "\n") {
		if at := pageLine.FindStringSubmatch(line); at != nil {
			source = number(at[1])
		} else if said := quoteLine.FindStringSubmatch(line); said != nil && source > 0 {
			out = append(out, passage{source, said[1]})
		}
	}
	return out
}

// between is what stands in a text between two others.
func between(text, before, after string) string {
	_, rest, ok := strings.Cut(text, before)
	if !ok {
		return ""
	}
	out, _, _ := strings.Cut(rest, after)
	return out
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}
