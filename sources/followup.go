package sources

import (
	"slices"

	"dossier/extract"
	"dossier/llm"
)

// StandAlone returns a question that leans on what was said before it as one
// that stands by itself. It is what is done without a model.
func StandAlone(question string, history []llm.Message) string {
	for _, m := range slices.Backward(history) {
		if m.Role == llm.RoleUser {
			return extract.FollowOn(question, m.Content)
		}
	}
	return question
}
