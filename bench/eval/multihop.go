package main

import (
	"context"
	"fmt"

	"dossier/extract"
	"dossier/index"
)

// runMultiHop measures in how many questions all passages are found that the
// answer needs, by one search and by several that lead from one to the next.
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
	if err := e.allFound(ctx, fmt.Sprintf("all@%d.oneshot", k), k, topics, c.rank); err != nil {
		return err
	}
	return e.allFound(ctx, fmt.Sprintf("all@%d.iterative", k), k, topics, c.iterate)
}

const (
	iterations = 6 // rounds of searching, as in deep_search
	perQuery   = 8 // passages of a query
)

// iterate searches in rounds without a model, as sources.Gather does: what was
// found is read for names that lead on, until nothing is left to ask.
func (c *collection) iterate(t topic) (ranking, error) {
	var found []extract.Found
	var trail *extract.Trail
	queries := []string{t.Text}
	for range iterations {
		for _, q := range queries {
			hits, err := c.search(q, perQuery)
			if err != nil {
				return nil, err
			}
			f := extract.Found{Query: q}
			for _, h := range hits {
				d := c.docs[h.ID]
				f.Passages = append(f.Passages, extract.Passage{ID: d.ID, Title: d.Title, Text: d.Text})
			}
			found = append(found, f)
		}
		trail = extract.Follow(t.Text, found, c.ix)
		if queries = trail.Queries(); len(queries) == 0 {
			break
		}
	}
	var out ranking
	for i, p := range trail.Order() {
		out = append(out, index.Hit{ID: p.ID, Score: 1 / float64(i+1)})
	}
	return out, nil
}
