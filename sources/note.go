package sources

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"dossier/cite"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
)

// Note is what a document says about the question.
type Note struct {
	Relevant bool     `json:"relevant" jsonschema:"whether the document says anything about the question"`
	Summary  string   `json:"summary" jsonschema:"what it says about the question, in two or three sentences"`
	Quotes   []string `json:"quotes" jsonschema:"sentences copied exactly from the document"`
	// Source is its number, which a model doesn't know.
	Source int `json:"-"`
}

type noteInput struct {
	Question string
	Facets   []string
	Title    string
	Date     string
	Language string
	Passages []Excerpt // of this document
}

var note = &prompt.Task[noteInput, Note]{
	Name:     "note",
	Role:     llm.ForSummarizer,
	Template: prompt.Parse(files, "note.md"),
	// Without a model the sentences that will be quoted are the summary, and
	// they are chosen when everything is read.
	Fallback: func(noteInput) (Note, error) { return Note{}, nil },
}

// noteTokens bounds what a model reads of one document.
const noteTokens = 6000

// takeNote has a model say what a document has about the question. Quotes that
// don't stand in it are dropped.
func (g *gathering) takeNote(ctx context.Context, s *run.Scope, r *reading) error {
	if g.noModel {
		return nil
	}
	// The snapshot is made here a second time: readings go on in parallel, and
	// what they share is filled in afterwards.
	raw, err := g.Blobs.Blob(ctx, r.got.Snapshot)
	if err != nil {
		return fmt.Errorf("the text of a source that was read: %w", err)
	}
	snap := cite.NewSnapshot(string(raw))
	in := noteInput{
		Question: g.evidence.Question, Title: firstOf(r.got.Title, r.lead.Title), Date: firstOf(r.got.Date, r.lead.Date), Language: g.Language.Name(),
	}
	for _, f := range g.planned {
		in.Facets = append(in.Facets, f.Title)
	}
	for _, p := range fitting(r.places(snap), snap, strings.Join(append([]string{in.Question}, in.Facets...), "\n"), noteTokens) {
		in.Passages = append(in.Passages, Excerpt{Place: placeOf(in.Title, p.Headings, p.Page), Text: snap.Text[p.Start:p.End]})
	}
	r.note, err = note.Do(ctx, s, g.Models, in, prompt.Options[Note]{Model: g.Model})
	if err != nil {
		return err
	}
	r.noted = true
	n := &r.note.Value
	n.Summary = cite.Sanitize(n.Summary)
	n.Quotes = slices.DeleteFunc(slices.Clone(n.Quotes), func(q string) bool {
		_, ok := snap.Find(q)
		return !ok
	})
	return nil
}

// fitting are the places of a text that fit into so many tokens, those first
// that have most of the words of the question; in their order in the text.
func fitting(places []placed, snap *cite.Snapshot, question string, tokens int) []placed {
	texts, all := make([]string, len(places)), 0
	for i, p := range places {
		texts[i] = snap.Text[p.Start:p.End]
		all += llm.EstimateTokens(texts[i])
	}
	inOrder := func(list []placed) []placed {
		slices.SortStableFunc(list, func(a, b placed) int { return cmp.Compare(a.Start, b.Start) })
		return list
	}
	if all <= tokens {
		return inOrder(places)
	}
	var taken []int
	for _, i := range byWords(question, texts) {
		if tokens -= llm.EstimateTokens(texts[i]); tokens < 0 && len(taken) > 0 {
			break
		}
		taken = append(taken, i)
	}
	out := make([]placed, len(taken))
	for i, n := range taken {
		out[i] = places[n]
	}
	return inOrder(out)
}
