// Package study is what the engines of deep research share: the question as it
// is worked on, the plan with its rubric, the book of everything that was found,
// and the writing of the report.
//
// Every decision is made by a model where there is one and by rules where there
// is none, and whoever calls can't tell the difference.
package study

import (
	"context"
	"embed"
	"fmt"
	"strings"
	"time"

	"dossier/cite"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
	"dossier/sources"
)

//go:embed *.md
var files embed.FS

// Brief is the question as it is worked on.
type Brief struct {
	Question string `json:"question"` // as the user put it
	// Refined stands by itself; it is the Question if nothing was refined.
	Refined   string     `json:"refined"`
	Exchanges []Exchange `json:"exchanges,omitempty"`
	// Assumptions were made, and are named, instead of waiting for an answer.
	Assumptions []string `json:"assumptions,omitempty"`
	// Remarks are what the user said, unasked, while the work went on.
	Remarks  []string  `json:"remarks,omitempty"`
	Language lang.Code `json:"language"`
}

// Exchange is a clarifying question and what the user said to it.
type Exchange struct {
	Question string `json:"question"`
	Answer   string `json:"answer,omitempty"`
	Skipped  bool   `json:"skipped,omitempty"`
}

// Context is what was made clear, for prompts: "" where nothing was.
func (b Brief) Context() string {
	var out strings.Builder
	for _, x := range b.Exchanges {
		if !x.Skipped {
			fmt.Fprintf(&out, "Asked: %s\nThe user: %s\n", x.Question, x.Answer)
		}
	}
	for _, a := range b.Assumptions {
		fmt.Fprintf(&out, "Assumed: %s\n", a)
	}
	for _, r := range b.Remarks {
		fmt.Fprintf(&out, "The user added: %s\n", r)
	}
	return strings.TrimSpace(out.String())
}

// DefaultRounds is how often a user is asked at most what is meant.
const DefaultRounds = 3

// Clarification is a question that may have to be made clear.
type Clarification struct {
	Models   *llm.Models
	Model    string // replaces the model of every role
	Question string
	History  []llm.Message
	Language lang.Code
	// Rounds is how often the user is asked at most; 0 is DefaultRounds.
	Rounds int
	// NoInput forbids to ask: what is not clear is assumed.
	NoInput bool
	// Wait is how long an answer is waited for before the work goes on with
	// assumptions; 0 waits for ever.
	Wait time.Duration
}

// Clarity is what the model is asked for.
type Clarity struct {
	IsClear               bool   `json:"is_clear" jsonschema:"whether it is clear enough what is to be found out"`
	Reasoning             string `json:"reasoning" jsonschema:"why, in one or two sentences"`
	ClarificationQuestion string `json:"clarification_question" jsonschema:"one question to the user, empty when the question is clear"`
	RefinedQuery          string `json:"refined_query" jsonschema:"the question as it is understood, standing by itself"`
}

// Validate implements the check of llm.Object.
func (c *Clarity) Validate() error {
	if !c.IsClear && strings.TrimSpace(c.ClarificationQuestion) == "" {
		return fmt.Errorf("the field clarification_question is empty: ask one question, or set is_clear to true")
	}
	return nil
}

type clarifyInput struct {
	Question  string
	History   []llm.Message
	Exchanges []Exchange
	Language  string
	Date      string
	Last      bool // nobody is asked any more
}

var clarify = &prompt.Task[clarifyInput, Clarity]{
	Name:     "clarify",
	Role:     llm.ForSummarizer,
	Template: prompt.Parse(files, "clarify.md"),
	History:  func(in clarifyInput) []llm.Message { return in.History },
	Fallback: func(in clarifyInput) (Clarity, error) {
		return Clarity{IsClear: true, RefinedQuery: withAnswers(sources.StandAlone(in.Question, in.History), in.Exchanges)}, nil
	},
}

// withAnswers is a question with what the user said to questions about it.
func withAnswers(question string, said []Exchange) string {
	for _, x := range said {
		if !x.Skipped {
			question += " (" + strings.TrimSpace(x.Answer) + ")"
		}
	}
	return question
}

// Clarify asks the user until it is clear what is to be found out, a few times at
// most. Whoever says "skip", does not answer in time or can't be asked gets the
// question as it was understood, with what was assumed.
func Clarify(ctx context.Context, s *run.Scope, c Clarification) (Brief, error) {
	b := Brief{Question: c.Question, Refined: sources.StandAlone(c.Question, c.History), Language: c.Language}
	if c.Rounds == 0 {
		c.Rounds = DefaultRounds
	}
	s = s.Child("clarify")
	for round := 1; ; round++ {
		in := clarifyInput{
			Question: c.Question, History: sources.Shortened(c.History), Exchanges: b.Exchanges, Language: c.Language.Name(),
			Date: s.Record().Created.Format("2006-01-02"), Last: c.NoInput || round > c.Rounds,
		}
		at := s.Child(fmt.Sprintf("round-%d", round))
		made, err := clarify.Do(ctx, at, c.Models, in, prompt.Options[Clarity]{Model: c.Model})
		if err != nil {
			return b, err
		}
		said := made.Value
		if refined := oneLine(cite.Sanitize(said.RefinedQuery)); refined != "" && inLanguage(refined, c.Question, c.Language) {
			b.Refined = refined
		}
		asked := oneLine(cite.Sanitize(said.ClarificationQuestion))
		if said.IsClear || asked == "" {
			return b, nil
		}
		if in.Last {
			b.assume(asked)
			return b, nil
		}
		answer, err := askFor(ctx, at, run.Question{Questions: []string{asked}, Reason: oneLine(cite.Sanitize(said.Reasoning))}, c.Wait)
		if err != nil {
			return b, err
		}
		if answer.Skipped || lang.IsSkip(answer.Text) {
			b.Exchanges = append(b.Exchanges, Exchange{Question: asked, Skipped: true})
			b.assume(asked)
			return b, nil
		}
		b.Exchanges = append(b.Exchanges, Exchange{Question: asked, Answer: answer.Text})
	}
}

// assume names what a question without an answer is taken as.
func (b *Brief) assume(asked string) {
	b.Assumptions = append(b.Assumptions, lang.Text(b.Language, "clarify.assumed", "question", asked, "taken", b.Refined))
}

// askFor asks the user and waits for so long, for ever if that is 0. An answer
// that does not come in time counts as skipped.
func askFor(ctx context.Context, s *run.Scope, q run.Question, wait time.Duration) (run.Answer, error) {
	if wait <= 0 {
		return s.Ask(ctx, q)
	}
	asking, over := context.WithCancel(ctx)
	defer over()
	settled := make(chan struct{})
	clock := run.Go(ctx, s, "clock", func(ctx context.Context, s *run.Scope) error {
		_, err := run.Step(ctx, s, "wait", func(ctx context.Context, _ *run.Scope) (bool, error) {
			late := time.NewTimer(wait)
			defer late.Stop()
			select {
			case <-late.C:
				return true, nil
			case <-settled:
				return false, nil
			case <-ctx.Done():
				return false, context.Cause(ctx)
			}
		})
		over()
		<-settled // until then the run is at work, and not parked
		return err
	})
	answer, err := s.Ask(asking, q)
	close(settled)
	if cerr := clock.Wait(context.WithoutCancel(ctx)); cerr != nil && (run.Stopped(cerr) || ctx.Err() != nil) {
		return run.Answer{}, cerr
	}
	if err != nil && !run.Stopped(err) && ctx.Err() == nil {
		return run.Answer{Skipped: true}, nil
	}
	return answer, err
}

// InLanguage says whether a text that a model wrote may be taken: it is in the
// language wanted, or in that of the question.
func (b Brief) InLanguage(text string) bool { return inLanguage(text, b.Question, b.Language) }

func inLanguage(text, question string, wanted lang.Code) bool {
	is := lang.DetectAmong(text, wanted, lang.Detect(question), lang.English, lang.Russian, lang.Chinese)
	return is == "" || is == wanted || is == lang.Detect(question)
}

// oneLine is a text with its white space made single.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
