package study

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dossier/cite"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
	"dossier/sources"
)

// Continuation is a question that goes on a conversation.
type Continuation struct {
	Models   *llm.Models
	Model    string // replaces the model of every role
	Question string
	History  []llm.Message
	Language lang.Code
}

// standalone is what the model is asked for.
type standalone struct {
	Question string `json:"question" jsonschema:"the question as one that stands by itself"`
}

// Validate implements the check of llm.Object.
func (s *standalone) Validate() error {
	if strings.TrimSpace(s.Question) == "" {
		return fmt.Errorf("the field question is empty: write the whole question there")
	}
	return nil
}

type standaloneInput struct {
	Question string
	History  []llm.Message
	Language string
	Date     string
	whole    []llm.Message // the conversation, nothing cut
}

var standAlone = &prompt.Task[standaloneInput, standalone]{
	Name:     "standalone",
	Role:     llm.ForSummarizer,
	Template: prompt.Parse(files, "standalone.md"),
	History:  func(in standaloneInput) []llm.Message { return in.History },
	Fallback: func(in standaloneInput) (standalone, error) {
		return standalone{sources.StandAlone(in.Question, in.whole)}, nil
	},
}

// Secrets are the texts of a conversation that no address may carry. Where the
// question is made to stand by itself first, nobody who works on it sees the
// answers before it: only what the user said is kept.
func Secrets(history []llm.Message, alone bool) []string {
	if !alone {
		return sources.Said(history)
	}
	return sources.Said(slices.DeleteFunc(slices.Clone(history), func(m llm.Message) bool { return m.Role != llm.RoleUser }))
}

// mostQuestion bounds a question that a model wrote, in characters.
const mostQuestion = 500

// StandAlone rewrites a question so that it stands by itself: from here on nobody
// looks at the conversation. What a model writes in another language, or at too
// great a length, gives way to what rules make of it. Trouble says what went
// wrong, for people.
func StandAlone(ctx context.Context, s *run.Scope, c Continuation) (question, trouble string, err error) {
	if len(c.History) == 0 {
		return c.Question, "", nil
	}
	made, err := standAlone.Do(ctx, s, c.Models, standaloneInput{
		Question: c.Question, History: sources.Shortened(c.History), Language: c.Language.Name(), Date: s.Record().Created.Format("2006-01-02"), whole: c.History,
	}, prompt.Options[standalone]{Model: c.Model})
	if err != nil {
		return c.Question, "", err
	}
	if made.Overruled() {
		trouble = lang.Text(c.Language, "research.by-rules", "why", made.Why)
	}
	question = oneLine(made.Value.Question)
	if made.Extractive {
		return question, trouble, nil
	}
	question = oneLine(cite.Sanitize(question))
	if question == "" || len([]rune(question)) > mostQuestion || !inLanguage(question, c.Question, c.Language) {
		question = sources.StandAlone(c.Question, c.History)
	}
	return question, trouble, nil
}
