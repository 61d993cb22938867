package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"dossier/index"
)

// runXQuADAnswers answers the questions of each language from its corpus, and
// again from the corpus without the question's article.
func runXQuADAnswers(ctx context.Context, e *Env) error {
	type paragraph struct {
		ID      string `json:"_id"`
		Article int    `json:"article"`
		Text    string `json:"text"`
	}
	type query struct {
		ID      string   `json:"_id"`
		Article int      `json:"article"`
		Text    string   `json:"text"`
		Answers []string `json:"answers"`
	}
	var whole, reduced outcome
	for _, code := range []string{"en", "ru", "zh", "de"} {
		paragraphs, err := readLines[paragraph](e, "corpus."+code+".jsonl.gz")
		if err != nil {
			return err
		}
		queries, err := readLines[query](e, "queries."+code+".jsonl.gz")
		if err != nil {
			return err
		}
		without := func(article int) (*library, error) {
			var docs []index.Doc
			for _, p := range paragraphs {
				if p.Article != article {
					docs = append(docs, index.Doc{ID: p.ID, Text: p.Text})
				}
			}
			return shelve(docs)
		}
		all, err := without(-1)
		if err != nil {
			return err
		}
		ask, done, err := all.product(ctx)
		if err != nil {
			return err
		}
		defer done()
		type reduction struct {
			*library
			ask answerer
		}
		rest := map[int]reduction{}
		var intact, removed outcome
		var puzzles []puzzle
		for _, q := range queries {
			if err := ctx.Err(); err != nil {
				return err
			}
			p := puzzle{ID: q.ID, Text: q.Text, Group: strconv.Itoa(q.Article), Parts: [][]string{q.Answers}}
			puzzles = append(puzzles, p)
			t, err := e.solve(all, ask, p, "intact."+code, nil)
			if err != nil {
				return err
			}
			intact.add(t)
			r := rest[q.Article]
			if r.library == nil {
				if r.library, err = without(q.Article); err != nil {
					return err
				}
				var done func()
				if r.ask, done, err = r.product(ctx); err != nil {
					return err
				}
				defer done()
				rest[q.Article] = r
			}
			if t, err = e.solve(r.library, r.ask, p, "removed."+code, nil); err != nil {
				return err
			}
			removed.add(t)
		}
		e.reportAnswers("."+code, intact)
		e.reportRefusals(".intact."+code, intact)
		e.reportRefusals(".removed."+code, removed)
		var beside comparison
		if err := e.agentSolves(ctx, all, puzzles, &intact, &beside); err != nil {
			return err
		}
		beside.report(e, "."+code)
		whole.add(intact)
		reduced.add(removed)
	}
	e.reportRefusals(".intact", whole)
	e.reportRefusals(".removed", reduced)
	whole.add(reduced)
	e.Ratio("quote-exact", whole.exact, whole.quotes)
	return nil
}

// runRuRAGAnswers answers from whole pages.
func runRuRAGAnswers(ctx context.Context, e *Env) error {
	pages, err := readLines[passage](e, "docs.jsonl.gz")
	if err != nil {
		return err
	}
	queries, err := readLines[struct {
		ID     string `json:"_id"`
		Text   string `json:"text"`
		Answer string `json:"answer"`
		Doc    string `json:"doc_id"`
	}](e, "queries.jsonl.gz")
	if err != nil {
		return err
	}
	docs := make([]index.Doc, len(pages))
	for i, p := range pages {
		docs[i] = p.doc()
	}
	l, err := shelve(docs)
	if err != nil {
		return err
	}
	ask, done, err := l.product(ctx)
	if err != nil {
		return err
	}
	defer done()
	var all outcome
	var puzzles []puzzle
	for _, q := range queries {
		if err := ctx.Err(); err != nil {
			return err
		}
		puzzles = append(puzzles, puzzle{ID: q.ID, Text: q.Text, Group: q.Doc, Parts: [][]string{{q.Answer}}})
		t, err := e.solve(l, ask, puzzles[len(puzzles)-1], "intact.ru", nil)
		if err != nil {
			return err
		}
		all.add(t)
	}
	e.reportAnswers(".ru", all)
	e.reportRefusals(".intact", all)
	e.Ratio("quote-exact", all.exact, all.quotes)
	var beside comparison
	if err := e.agentSolves(ctx, l, puzzles, &all, &beside); err != nil {
		return err
	}
	beside.report(e, ".ru")
	return nil
}

// runRGB answers from what was found for each question: with the documents
// that have the answer (.positive), and with the others only. The statistics
// of words are those of all documents together. Then it does so over the web.
func runRGB(ctx context.Context, e *Env) error {
	questions, err := readRGB(e)
	if err != nil {
		return err
	}
	var docs []index.Doc
	var puzzles []puzzle
	owner, positive := map[string]int{}, map[string]bool{}
	for n, q := range questions {
		p := q.puzzle()
		puzzles = append(puzzles, p)
		for i, group := range []texts{q.Positive, q.Negative} {
			for j, text := range group {
				d := index.Doc{ID: fmt.Sprintf("%s-%d-%03d", p.ID, i, j), Text: text}
				owner[d.ID], positive[d.ID] = n, i == 0
				docs = append(docs, d)
			}
		}
	}
	l, err := shelve(docs)
	if err != nil {
		return err
	}
	var with, without outcome
	for n, p := range puzzles {
		if err := ctx.Err(); err != nil {
			return err
		}
		t, err := e.solve(l, l.answer, p, "positive", func(doc string) bool { return owner[doc] == n })
		if err != nil {
			return err
		}
		with.add(t)
		t, err = e.solve(l, l.answer, p, "negative", func(doc string) bool { return owner[doc] == n && !positive[doc] })
		if err != nil {
			return err
		}
		without.add(t)
	}
	e.reportRefusals("", without)
	e.reportRefusals(".positive", with)
	e.Ratio("answer-in-citation.positive", with.inside, with.n)
	if err := e.agentAbstains(ctx, docs, puzzles, owner, positive); err != nil {
		return err
	}
	return runRGBWeb(ctx, e, questions)
}

// agentAbstains has the agent answer each question from a collection of its own
// documents: with those that have the answer, and with the others only.
func (e *Env) agentAbstains(ctx context.Context, docs []index.Doc, puzzles []puzzle, owner map[string]int, positive map[string]bool) error {
	own := make([][]index.Doc, len(puzzles))
	for _, d := range docs {
		own[owner[d.ID]] = append(own[owner[d.ID]], d)
	}
	var with, without comparison
	for n, p := range puzzles {
		var others []index.Doc
		for _, d := range own[n] {
			if !positive[d.ID] {
				others = append(others, d)
			}
		}
		for _, from := range []struct {
			docs []index.Doc
			into *comparison
		}{{own[n], &with}, {others, &without}} {
			if len(from.docs) == 0 {
				continue
			}
			l, err := shelve(from.docs)
			if err != nil {
				return err
			}
			if err := e.agentSolves(ctx, l, []puzzle{p}, nil, from.into); err != nil {
				return err
			}
		}
	}
	with.report(e, ".positive")
	without.report(e, ".negative")
	return nil
}

// texts is a list of texts, or of lists of them.
type texts []string

func (t *texts) UnmarshalJSON(data []byte) error {
	var raw []any
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*t = flat(raw)
	return nil
}

// flat returns the strings in v, at any depth.
func flat(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, x := range v {
			out = append(out, flat(x)...)
		}
		return out
	}
	return nil
}

// partsOf reads an answer: a text, or a list of parts, each a text or a list
// of its forms.
func partsOf(answer any) [][]string {
	list, ok := answer.([]any)
	if !ok {
		return [][]string{flat(answer)}
	}
	var parts [][]string
	for _, part := range list {
		parts = append(parts, flat(part))
	}
	return parts
}
