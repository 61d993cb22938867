package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dossier/index"
	"dossier/kb"
	"dossier/reader"
)

// passage is a document as most sets write it.
type passage struct {
	ID        string   `json:"_id"`
	Title     string   `json:"title"`
	Text      string   `json:"text"`
	Sentences []string `json:"sentences"`
}

func (p passage) doc() index.Doc {
	return index.Doc{ID: p.ID, Title: p.Title, Text: p.Text + strings.Join(p.Sentences, " ")}
}

// question is a query as most sets write it.
type question struct {
	ID    string `json:"_id"`
	Text  string `json:"text"`
	PID   string `json:"pid"`
	DocID string `json:"doc_id"`
}

func (q question) topic() topic {
	t := topic{ID: q.ID, Text: q.Text}
	for _, id := range []string{q.PID, q.DocID} {
		if id != "" {
			t.Relevant = map[string]float64{id: 1}
		}
	}
	return t
}

func readCollection(e *Env, file string) (*collection, error) {
	passages, err := readLines[passage](e, file)
	if err != nil {
		return nil, err
	}
	docs := make([]index.Doc, len(passages))
	for i, p := range passages {
		docs[i] = p.doc()
	}
	return collect(docs)
}

func readQuestions(e *Env, file string) ([]topic, error) {
	questions, err := readLines[question](e, file)
	if err != nil {
		return nil, err
	}
	topics := make([]topic, len(questions))
	for i, q := range questions {
		topics[i] = q.topic()
	}
	return topics, nil
}

// runJudged measures a set with a table of judgements.
func runJudged(ctx context.Context, e *Env) error {
	name := "queries.jsonl"
	if e.Set == "retrieval_scifact_en" {
		name = "claims.jsonl.gz"
	}
	c, err := readCollection(e, "corpus.jsonl.gz")
	if err != nil {
		return err
	}
	queries, err := readQuestions(e, name)
	if err != nil {
		return err
	}
	topics, err := readTopics(e, "qrels.tsv", queries)
	if err != nil {
		return err
	}
	return e.retrieval(ctx, "", topics, c.rank)
}

// runPassages measures a set whose queries name their one passage.
func runPassages(ctx context.Context, e *Env) error {
	c, err := readCollection(e, "corpus.jsonl.gz")
	if err != nil {
		return err
	}
	topics, err := readQuestions(e, "queries.jsonl.gz")
	if err != nil {
		return err
	}
	return e.retrieval(ctx, "", topics, c.rank)
}

// runXQuAD measures queries against the corpus of their own language, Russian
// and Chinese ones against the English corpus, and English ones against those.
func runXQuAD(ctx context.Context, e *Env) error {
	corpora := map[string]*collection{}
	for _, pair := range [][2]string{{"en", "en"}, {"ru", "ru"}, {"zh", "zh"}, {"de", "de"}, {"ru", "en"}, {"zh", "en"}, {"en", "ru"}, {"en", "zh"}} {
		from, to := pair[0], pair[1]
		topics, err := readQuestions(e, "queries."+from+".jsonl.gz")
		if err != nil {
			return err
		}
		if corpora[to] == nil {
			if corpora[to], err = readCollection(e, "corpus."+to+".jsonl.gz"); err != nil {
				return err
			}
		}
		suffix := "." + from
		if from != to {
			suffix += "-" + to
		}
		if err := e.retrieval(ctx, suffix, topics, corpora[to].rank); err != nil {
			return err
		}
	}
	return runXQuADAnswers(ctx, e)
}

// runRuRAG measures whole documents, and chunks scored by their documents.
func runRuRAG(ctx context.Context, e *Env) error {
	c, err := readCollection(e, "docs.jsonl.gz")
	if err != nil {
		return err
	}
	topics, err := readQuestions(e, "queries.jsonl.gz")
	if err != nil {
		return err
	}
	if err := e.retrieval(ctx, "", topics, c.find); err != nil {
		return err
	}
	read := reader.New(reader.Config{})
	defer read.Close()
	var chunks []index.Doc
	parents := map[string]string{}
	for _, id := range slices.Sorted(maps.Keys(c.docs)) {
		text := c.docs[id].Text
		page, err := read.Read(ctx, reader.Document{Path: id + ".txt", Body: []byte(text)})
		if err != nil {
			return fmt.Errorf("document %s: %w", id, err)
		}
		for i, c := range kb.Cut(page, kb.DefaultChunkSize) {
			chunk := index.Doc{ID: fmt.Sprintf("%s#%03d", id, i), Text: page.Text[c.Start:c.End]}
			parents[chunk.ID] = id
			chunks = append(chunks, chunk)
		}
	}
	chunked, err := collect(chunks)
	if err != nil {
		return err
	}
	err = e.retrieval(ctx, ".chunks", topics, func(t topic) (ranking, error) {
		hits, err := chunked.search(t.Text, 100)
		if err != nil {
			return nil, err
		}
		return documentsOf(hits, parents), nil
	})
	if err != nil {
		return err
	}
	return runRuRAGAnswers(ctx, e)
}

// documentsOf turns a ranking of passages into one of documents: each counts as
// its best passage.
func documentsOf(passages ranking, parents map[string]string) ranking {
	var out ranking
	seen := map[string]bool{}
	for _, h := range passages { // the best first
		if id := parents[h.ID]; !seen[id] {
			seen[id] = true
			out = append(out, index.Hit{ID: id, Score: h.Score})
		}
	}
	return out
}

// runDuReader pools the results of all questions.
func runDuReader(ctx context.Context, e *Env) error {
	type result struct {
		Title      string   `json:"title"`
		Selected   bool     `json:"is_selected"`
		Paragraphs []string `json:"paragraphs"`
	}
	type asked struct {
		ID   int64    `json:"_id"`
		Text string   `json:"text"`
		Docs []result `json:"docs"`
	}
	questions, err := readLines[asked](e, "questions.jsonl.gz")
	if err != nil {
		return err
	}
	var docs []index.Doc
	var topics []topic
	for _, q := range questions {
		t := topic{ID: fmt.Sprint(q.ID), Text: q.Text, Relevant: map[string]float64{}}
		for i, d := range q.Docs {
			id := fmt.Sprintf("%d-%d", q.ID, i)
			docs = append(docs, index.Doc{ID: id, Title: d.Title, Text: strings.Join(d.Paragraphs, "\n")})
			if d.Selected {
				t.Relevant[id] = 1
			}
		}
		if len(t.Relevant) > 0 {
			topics = append(topics, t)
		}
	}
	c, err := collect(docs)
	if err != nil {
		return err
	}
	return e.retrieval(ctx, "", topics, c.find)
}
