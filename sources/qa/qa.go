// Package qa answers a question in one go, from the passages that one search finds:
// a model writes from them what is then held against them, and where there is no
// model, or nothing of what it wrote is in them, their own sentences are the answer.
// It is what rag_search does, and the agent of the knowledge base beyond its steps.
package qa

import (
	"context"
	"embed"
	"strings"

	"dossier/cite"
	"dossier/extract"
	"dossier/kb"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
)

// Question is what is asked of passages.
type Question struct {
	Text string
	// Lang is the language of the answer; empty means the question's.
	Lang lang.Code
	// Write has a model continue a conversation; nil where there is none.
	Write func(ctx context.Context, messages []llm.Message) (string, error)
}

// Find returns the passages that are best for a question, the best first, and how
// telling words are where they were found; nil takes all alike.
type Find func(ctx context.Context, question string, topK int) ([]kb.Hit, extract.Weights, error)

// In finds passages of a collection, by its name or id.
func In(library *kb.Library, collection string) Find {
	return func(ctx context.Context, question string, topK int) ([]kb.Hit, extract.Weights, error) {
		found, err := library.Search(ctx, collection, kb.Query{Text: question, Limit: topK})
		if err != nil {
			return nil, nil, err
		}
		words, err := library.Words(ctx, collection)
		if err != nil {
			return nil, nil, err
		}
		return found.Hits, words, nil
	}
}

// Answer is what there is to say, and by whom.
type Answer struct {
	Text string `json:"text"`
	// Quoted says that the text consists of the passages' own sentences.
	Quoted bool `json:"quoted,omitempty"`
	// None says that the passages do not answer; the text says so too.
	None bool `json:"none,omitempty"`
	// Hits are the passages, by whose places, from 1, the text cites them.
	Hits []kb.Hit `json:"hits,omitempty"`
	// Quotes are the sentences of the passages that answer, whoever wrote the text,
	// and Confidence is the probability that they do.
	Quotes     []Quote `json:"quotes,omitempty"`
	Confidence float64 `json:"confidence,omitempty"`
}

// Quote is a part of a passage.
type Quote struct {
	Hit   int `json:"hit"`   // its place among the hits, from 0
	Start int `json:"start"` // in bytes of its text
	End   int `json:"end"`
}

// Ask answers a question from the topK passages that are best for it. It fails with
// what finding them fails with, and with a *ModelError.
func Ask(ctx context.Context, q Question, find Find, topK int) (Answer, error) {
	hits, weights, err := find(ctx, q.Text, topK)
	if err != nil {
		return Answer{}, err
	}
	hits = hits[:min(topK, len(hits))]
	code := q.Lang
	if code == "" {
		code = lang.ForAnswer(q.Text, lang.English)
	}
	none := Answer{Text: lang.Text(code, "answer.none"), None: true, Hits: hits}
	own := quoted(q, hits, weights, none)
	if q.Write == nil || len(hits) == 0 {
		return own, nil
	}
	messages, err := task.Messages(newInput(q, code, hits, none.Text))
	if err != nil {
		return Answer{}, err
	}
	text, err := q.Write(ctx, messages)
	if err != nil {
		return own, &ModelError{err}
	}
	text, _ = cite.OnlyKnown(strings.TrimSpace(cite.Sanitize(text)), func(n int) bool { return n >= 1 && n <= len(hits) })
	if text == "" || strings.Contains(text, none.Text) {
		return none, nil
	}
	holds, err := borneOut(ctx, text, hits)
	if err != nil {
		return Answer{}, err
	}
	if !holds {
		return own, nil
	}
	return Answer{Text: text, Hits: hits, Quotes: own.Quotes, Confidence: own.Confidence}, nil
}

// ModelError says that the model could not be asked. The answer that comes with it
// is of the passages' own sentences.
type ModelError struct{ Err error }

func (e *ModelError) Error() string { return e.Err.Error() }

// Unwrap returns what the model failed with.
func (e *ModelError) Unwrap() error { return e.Err }

// borneOut says whether any of a text is in the passages.
func borneOut(ctx context.Context, text string, hits []kb.Hit) (bool, error) {
	passages := make([]string, len(hits))
	var all strings.Builder
	for i, h := range hits {
		passages[i] = h.Text
		all.WriteString(h.Text + "\n")
	}
	if lang.Detect(text) != lang.Detect(all.String()) {
		return true, nil // words of two languages can't be held against each other
	}
	for _, claim := range cite.Split(text) {
		s, err := cite.Lexical{}.Check(ctx, claim.Text, passages)
		if err != nil || s.Verdict != cite.Unsupported {
			return err == nil, err
		}
	}
	return false, nil
}

// quoted is an answer of the passages' own sentences, with their numbers.
func quoted(q Question, hits []kb.Hit, weights extract.Weights, none Answer) Answer {
	none.Quoted = true
	if len(hits) == 0 {
		return none
	}
	passages := make([]extract.Passage, len(hits))
	for i, h := range hits {
		passages[i] = extract.Passage{ID: h.ID, Title: h.Title, Headings: h.Headings, Text: h.Text, Near: h.Near}
	}
	chosen := extract.Select(q.Text, passages, weights, extract.Options{Quotes: len(hits), Words: quoteWords, Prose: true})
	if !chosen.Answered {
		return none
	}
	out := Answer{Quoted: true, Hits: hits, Confidence: chosen.Confidence}
	var parts []string
	for _, quote := range chosen.Quotes {
		parts = append(parts, strings.Join(strings.Fields(quote.In(passages)), " ")+" "+cite.Marker([]int{quote.Passage + 1}))
		out.Quotes = append(out.Quotes, Quote{quote.Passage, quote.Start, quote.End})
	}
	out.Text = strings.Join(parts, " ")
	return out
}

// quoteWords bounds a quote: an answer is read at a prompt.
const quoteWords = 60

type numbered struct {
	N     int
	Title string
	Text  string
}

type input struct {
	Question string
	Language string
	None     string
	Passages []numbered
}

func newInput(q Question, code lang.Code, hits []kb.Hit, none string) input {
	in := input{Question: q.Text, Language: code.Name(), None: none}
	for i, h := range hits {
		in.Passages = append(in.Passages, numbered{i + 1, h.Title, h.Text})
	}
	return in
}

//go:embed answer.md
var files embed.FS

// task is only rendered here: whoever asks knows how the model is called.
var task = &prompt.Task[input, string]{Name: "qa", Template: prompt.Parse(files, "answer.md")}
