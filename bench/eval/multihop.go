package main

import (
	"context"
	"fmt"

	"dossier/index"
)

// runMultiHop measures in how many questions one search finds all passages
// that the answer needs.
func runMultiHop(ctx context.Context, e *Env) error {
	type asked struct {
		ID         string    `json:"_id"`
		Question   string    `json:"question"`
		Gold       []passage `json:"gold"`             // MuSiQue
		Supporting [][]any   `json:"supporting_facts"` // HotpotQA: title and sentence
		GoldTitles []string  `json:"gold_titles"`      // 2Wiki
	}
	k, file := 5, "questions.jsonl.gz"
	if e.Set == "qa_2wiki_en" {
		k, file = 8, "questions.jsonl"
	}
	passages, err := readLines[passage](e, "corpus.jsonl.gz")
	if err != nil {
		return err
	}
	var docs []index.Doc
	ids := map[string]string{} // by title, and by title and text
	for i, p := range passages {
		d := p.doc()
		d.ID = fmt.Sprintf("%05d", i)
		docs = append(docs, d)
		ids[d.Title], ids[d.Title+"\n"+d.Text] = d.ID, d.ID
	}
	questions, err := readLines[asked](e, file)
	if err != nil {
		return err
	}
	var topics []topic
	for i, q := range questions {
		if q.ID == "" {
			q.ID = fmt.Sprint(i)
		}
		t := topic{ID: q.ID, Text: q.Question, Relevant: map[string]float64{}}
		want := q.GoldTitles
		for _, fact := range q.Supporting {
			if title, ok := fact[0].(string); ok {
				want = append(want, title)
			}
		}
		for _, g := range q.Gold {
			want = append(want, g.Title+"\n"+g.Text)
		}
		for _, key := range want {
			id, ok := ids[key]
			if !ok {
				return fmt.Errorf("question %s: no passage %.40q in the corpus", q.ID, key)
			}
			t.Relevant[id] = 1
		}
		topics = append(topics, t)
	}
	c, err := collect(docs)
	if err != nil {
		return err
	}
	return e.allFound(ctx, fmt.Sprintf("all@%d.oneshot", k), k, topics, c.rank)
}
