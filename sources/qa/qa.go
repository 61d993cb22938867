// Package qa answers a question from the passages that one search found, in one go:
// a model writes from them what is then held against them, and where there is no
// model, or nothing of what it wrote is in them, their own sentences are the answer.
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
	// Weights tell how telling words are in the collection; nil takes all alike.
	Weights extract.Weights
	// Write has a model continue a conversation; nil where there is none.
	Write func(ctx context.Context, messages []llm.Message) (string, error)
}

// Answer is what there is to say, and by whom.
type Answer struct {
	Text string `json:"text"`
	// Quoted says that the text consists of the passages' own sentences.
	Quoted bool `json:"quoted,omitempty"`
	// None says that the passages do not answer; the text says so too.
	None bool `json:"none,omitempty"`
}

// Ask answers a question from what a search found, the best first. It fails with
// what the model fails with.
func Ask(ctx context.Context, q Question, hits []kb.Hit) (Answer, error) {
	code := q.Lang
	if code == "" {
		code = lang.ForAnswer(q.Text, lang.English)
	}
	none := Answer{Text: lang.Text(code, "answer.none"), None: true, Quoted: true}
	if len(hits) == 0 {
		return none, nil
	}
	if q.Write == nil {
		return quoted(q, hits, none), nil
	}
	messages, err := task.Messages(newInput(q, code, hits, none.Text))
	if err != nil {
		return Answer{}, err
	}
	text, err := q.Write(ctx, messages)
	if err != nil {
		return Answer{}, err
	}
	return checked(ctx, q, hits, text, none)
}

// checked is what a model wrote, if any of it is in the passages.
func checked(ctx context.Context, q Question, hits []kb.Hit, text string, none Answer) (Answer, error) {
	text, _ = cite.OnlyKnown(strings.TrimSpace(cite.Sanitize(text)), func(n int) bool { return n >= 1 && n <= len(hits) })
	if text == "" || strings.Contains(text, none.Text) {
		return Answer{Text: none.Text, None: true}, nil
	}
	passages := make([]string, len(hits))
	var all strings.Builder
	for i, h := range hits {
		passages[i] = h.Text
		all.WriteString(h.Text + "\n")
	}
	if lang.Detect(text) != lang.Detect(all.String()) {
		return Answer{Text: text}, nil // words of two languages can't be held against each other
	}
	for _, claim := range cite.Split(text) {
		s, err := cite.Lexical{}.Check(ctx, claim.Text, passages)
		if err != nil {
			return Answer{}, err
		}
		if s.Verdict != cite.Unsupported {
			return Answer{Text: text}, nil
		}
	}
	return quoted(q, hits, none), nil
}

// quoted is an answer of the passages' own sentences, with their numbers.
func quoted(q Question, hits []kb.Hit, none Answer) Answer {
	passages := make([]extract.Passage, len(hits))
	for i, h := range hits {
		passages[i] = extract.Passage{ID: h.ID, Title: h.Title, Headings: h.Headings, Text: h.Text, Near: h.Near}
	}
	chosen := extract.Select(q.Text, passages, q.Weights, extract.Options{Quotes: len(hits), Words: quoteWords, Prose: true})
	if !chosen.Answered {
		return none
	}
	var parts []string
	for _, quote := range chosen.Quotes {
		parts = append(parts, strings.Join(strings.Fields(quote.In(passages)), " ")+" "+cite.Marker([]int{quote.Passage + 1}))
	}
	return Answer{Text: strings.Join(parts, " "), Quoted: true}
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
