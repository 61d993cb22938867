package console

import (
	"context"

	"dossier/internal/haiku"
	"dossier/kb"
	"dossier/lang"
	"dossier/llm"
	"dossier/llm/completions"
	"dossier/sources/qa"
)

// Write has a model continue a conversation.
type Write func(ctx context.Context, messages []llm.Message) (string, error)

// WriteBy is the model of an API, nil where it has none.
func WriteBy(api *completions.API, verbose bool) Write {
	if api == nil || api.Model == nil {
		return nil
	}
	return func(ctx context.Context, messages []llm.Message) (string, error) {
		return api.Text(ctx, messages, verbose)
	}
}

// LocalRAG is the RAG of this program.
type LocalRAG struct {
	Find  qa.Find
	Write Write
	// Lang is the language of what is said where the question tells none.
	Lang lang.Code
}

// Health implements RAG.
func (*LocalRAG) Health(context.Context) (string, error) { return Healthy, nil }

// Search implements RAG.
func (r *LocalRAG) Search(ctx context.Context, question string, topK int) (Found, error) {
	answer, err := qa.Ask(ctx, qa.Question{Text: question, Lang: lang.ForAnswer(question, r.Lang), Write: r.Write}, r.Find, topK)
	if err != nil {
		return failedWith(ctx, Found{Error: err.Error()})
	}
	out := Found{Answer: answer.Text, Extractive: answer.Quoted && !answer.None, Titles: []string{}, Texts: []string{}}
	for _, h := range answer.Hits {
		out.Titles = append(out.Titles, titleOf(h))
		out.Texts = append(out.Texts, h.Text)
	}
	return out, nil
}

// titleOf is the title of a passage: that of its document and, within it, of what it
// stands under.
func titleOf(h kb.Hit) string {
	if n := len(h.Headings); n > 0 && h.Headings[n-1] != h.Title {
		return h.Title + " › " + h.Headings[n-1]
	}
	return h.Title
}

// Choose finds the collection to ask among those that somebody sees: the one in use, or
// the only one that was made by hand.
func Choose(seen []kb.Collection, active string) (kb.Collection, bool) {
	var made []kb.Collection
	for _, c := range seen {
		if active != "" && c.Name == active {
			return c, true
		}
		if !c.Auto {
			made = append(made, c)
		}
	}
	if len(made) == 1 {
		return made[0], true
	}
	return kb.Collection{}, false
}

// LocalPoet is the Poet of this program.
type LocalPoet struct {
	Write Write
	Lang  lang.Code
	// IntN returns a number below n.
	IntN func(n int) int
}

// Health implements Poet.
func (*LocalPoet) Health(context.Context) (string, error) { return Healthy, nil }

// Generate implements Poet.
func (p *LocalPoet) Generate(ctx context.Context, theme string) (Haiku, error) {
	poem, composed, err := haiku.Writer{Model: p.Write, IntN: p.IntN}.Write(ctx, theme, haiku.Language(theme, p.Lang))
	if err != nil {
		return failedWith(ctx, Haiku{Error: err.Error()})
	}
	return Haiku{Text: poem.Text(), Syllables: poem.Syllables, Words: poem.Words, Composed: composed}, nil
}

// failedWith is the reply of a service that failed, unless whoever asked has left.
func failedWith[T any](ctx context.Context, reply T) (T, error) {
	if ctx.Err() != nil {
		var none T
		return none, context.Cause(ctx)
	}
	return reply, nil
}

var (
	_ RAG  = (*LocalRAG)(nil)
	_ Poet = (*LocalPoet)(nil)
)
