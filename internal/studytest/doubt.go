package studytest

import (
	"strings"

	"dossier/llm/llmtest"
)

// Doubt is how sure a model is of what is meant.
type Doubt struct {
	// Unclear is what it asks as long as nobody has answered so often.
	Unclear string
	Asks    int
}

// clarity asks what is unclear, and takes what was answered into the question.
func (d Doubt) clarity(q *llmtest.Request) any {
	prompt := q.Question()
	question, _, _ := strings.Cut(prompt, "\n")
	if answered := strings.Count(prompt, "The user answered: "); d.Unclear != "" && answered < d.Asks {
		return map[string]any{"is_clear": false, "reasoning": "It may mean two things.", "clarification_question": d.Unclear, "refined_query": question}
	}
	for line := range strings.SplitSeq(prompt, "\n") {
		if answer, ok := strings.CutPrefix(line, "The user answered: "); ok {
			question += " (" + answer + ")"
		}
	}
	return map[string]any{"is_clear": true, "reasoning": "It is clear.", "clarification_question": "", "refined_query": question}
}
