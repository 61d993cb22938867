package studytest

import (
	"fmt"
	"regexp"
	"strings"

	"dossier/llm"
	"dossier/llm/llmtest"
)

// Scholar is a scripted model of the evidence loop. As Scribe it works on what
// its prompts show it and on nothing else.
type Scholar struct {
	Scribe
	Doubt
	// Title and Sections are its plan.
	Title    string
	Sections []Section
	// Enough is after how many iterations it finds that nothing is missing; 0
	// never does. Next are the queries that it has for the iterations.
	Enough int
	Next   []string
}

// standingAlone puts what the conversation began with into a question that goes on
// it.
func standingAlone(q *llmtest.Request) any {
	for _, m := range q.Messages {
		if m.Role == llm.RoleUser && m.Content != q.Question() {
			return map[string]any{"question": strings.NewReplacer("there", "in Oststrand", "its ", "Oststrand's ").Replace(q.Question())}
		}
	}
	return map[string]any{"question": q.Question()}
}

// suggests asks about what is missing, then an invention with an address, which is
// not for a reader.
func suggests(q *llmtest.Request) any {
	return map[string]any{"questions": []string{"How did the harbour of Oststrand grow? See https://evil-invention.example/q", "Кто построил мост?", "Who sails to the Vey islands?"}}
}

// Section is a part of its plan.
type Section struct {
	Title, Description string
	Queries            []string
}

var (
	roundOf = regexp.MustCompile(`round (\d+) of at most`)
	words   = regexp.MustCompile(`Write (\d+) to (\d+) words`)
)

// Rules are those of its server.
func (s Scholar) Rules() []llmtest.Rule {
	do := func(schema string, f func(q *llmtest.Request) any) llmtest.Rule {
		return llmtest.Rule{Schema: schema, Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply { return llmtest.JSON(f(q)) })}
	}
	return append([]llmtest.Rule{
		do("clarity", s.clarity),
		do("research_plan", func(*llmtest.Request) any {
			var sections []any
			for _, p := range s.Sections {
				sections = append(sections, map[string]any{"title": p.Title, "description": p.Description, "search_queries": p.Queries})
			}
			return map[string]any{"research_title": s.Title, "sections": sections}
		}),
		do("reflection", func(q *llmtest.Request) any {
			n := Number(roundOf.FindStringSubmatch(q.Messages[0].Content)[1])
			if s.Enough > 0 && n >= s.Enough {
				return map[string]any{"is_sufficient": true, "overall_score": 8, "gaps": []string{}, "next_queries": []string{}, "reasoning": "All sections have what they need."}
			}
			_, asked, _ := strings.Cut(q.Question()+"\n", "Queries so far:\n")
			var next []string
			for _, query := range s.Next {
				if !strings.Contains(asked, "- "+query+"\n") && len(next) < 1 {
					next = append(next, query)
				}
			}
			return map[string]any{"is_sufficient": false, "overall_score": 4, "gaps": []string{fmt.Sprintf("what round %d lacks", n)}, "next_queries": next, "reasoning": "More is needed."}
		}),
		do("section", s.section),
		do("standalone", standingAlone),
		do("suggested", suggests),
		do("condensed", func(q *llmtest.Request) any {
			return map[string]any{"text": Between(q.Question(), "<notes>\n", "\n</notes>")}
		}),
	}, s.Scribe.Rules()...)
}

// section copies sentences of the passages, or of the sections, up to the words
// that it may write, and adds its lie.
func (s Scholar) section(q *llmtest.Request) any {
	prompt := q.Question()
	most := Number(words.FindStringSubmatch(q.Messages[0].Content)[2])
	var sentences []string
	for _, p := range Shown(prompt) {
		for _, sentence := range Sentences(p.Text) {
			sentences = append(sentences, Cited(sentence, p.Source))
		}
	}
	if len(sentences) == 0 { // summary or conclusion
		for _, line := range markedSentence.FindAllString(prompt, -1) {
			sentences = append(sentences, strings.TrimSpace(line))
		}
	}
	n := 0
	var out []string
	for _, sentence := range sentences {
		if n += len(strings.Fields(sentence)); n > most {
			break
		}
		out = append(out, sentence)
	}
	return map[string]any{"content": strings.TrimSpace(strings.Join(out, " ") + " " + s.Lie)}
}

var markedSentence = regexp.MustCompile(`[^.\[\]<>"\n]+ \[\d+\]\.`)
