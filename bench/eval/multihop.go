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
		Parts      []struct {
			Answer string `json:"answer"`
		} `json:"decomposition"` // MuSiQue
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
	ids := map[string]string{}         // by title, and by title and text
	sentences := map[string][]string{} // by title
	for i, p := range passages {
		d := p.doc()
		d.ID = fmt.Sprintf("%05d", i)
		docs = append(docs, d)
		ids[d.Title], ids[d.Title+"\n"+d.Text] = d.ID, d.ID
		sentences[d.Title] = p.Sentences
	}
	questions, err := readLines[asked](e, file)
	if err != nil {
		return err
	}
	var topics []topic
	var deep []needed
	for i, q := range questions {
		if q.ID == "" {
			q.ID = fmt.Sprint(i)
		}
		t := topic{ID: q.ID, Text: q.Question, Relevant: map[string]float64{}}
		need := needed{ID: q.ID, Question: q.Question, Gold: map[string]bool{}}
		for _, part := range q.Parts {
			need.Facts = append(need.Facts, part.Answer)
		}
		want := q.GoldTitles
		for _, fact := range q.Supporting {
			title, ok := fact[0].(string)
			if !ok {
				continue
			}
			want = append(want, title)
			if n, ok := fact[1].(float64); ok && int(n) < len(sentences[title]) {
				need.Facts = append(need.Facts, sentences[title][int(n)])
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
			t.Relevant[id], need.Gold[id] = 1, true
		}
		topics, deep = append(topics, t), append(deep, need)
	}
	c, err := collect(docs)
	if err != nil {
		return err
	}
	if err := e.allFound(ctx, fmt.Sprintf("all@%d.oneshot", k), k, topics, c.rank); err != nil {
		return err
	}
	if err := e.allFound(ctx, fmt.Sprintf("all@%d.iterative", k), k, topics, c.iterate); err != nil {
		return err
	}
	return e.runDeep(ctx, docs, deep)
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
