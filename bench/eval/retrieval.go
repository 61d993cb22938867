package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"

	"dossier/extract"
	"dossier/index"
	"dossier/kb"
	"dossier/lang/terms"
)

// topic is a query with the documents that answer it.
type topic struct {
	ID, Text string
	Relevant map[string]float64 // gain by document
}

// ranking is what a system returns for a topic, the best first.
type ranking []index.Hit

// retrieval ranks for the topics and reports nDCG, recall and reciprocal rank
// at ten, each under its name with the suffix.
func (e *Env) retrieval(ctx context.Context, suffix string, topics []topic, rank func(topic) (ranking, error)) error {
	var ndcg, recall, mrr float64
	err := e.rank(ctx, suffix, topics, rank, func(t topic, r ranking) {
		r = r[:min(10, len(r))]
		ndcg += nDCG(t, r)
		found, first := 0, 0
		for i, h := range r {
			if t.Relevant[h.ID] > 0 {
				found++
				if first == 0 {
					first = i + 1
				}
			}
		}
		if len(t.Relevant) > 0 {
			recall += float64(found) / float64(len(t.Relevant))
		}
		if first > 0 {
			mrr += 1 / float64(first)
		}
	})
	if err != nil {
		return err
	}
	n := float64(max(1, len(topics)))
	e.Score("ndcg@10"+suffix, ndcg/n, len(topics))
	e.Score("recall@10"+suffix, recall/n, len(topics))
	e.Score("mrr@10"+suffix, mrr/n, len(topics))
	return nil
}

// allFound ranks for the topics and reports for how many every relevant
// document is among the first k.
func (e *Env) allFound(ctx context.Context, metric string, k int, topics []topic, rank func(topic) (ranking, error)) error {
	all := 0
	err := e.rank(ctx, "", topics, rank, func(t topic, r ranking) {
		found := 0
		for _, h := range r[:min(k, len(r))] {
			if t.Relevant[h.ID] > 0 {
				found++
			}
		}
		if found == len(t.Relevant) {
			all++
		}
	})
	if err != nil {
		return err
	}
	e.Ratio(metric, all, len(topics))
	return nil
}

// rank calls each with the ranking of every topic and writes a run file if
// -runs asks for one.
func (e *Env) rank(ctx context.Context, suffix string, topics []topic, rank func(topic) (ranking, error), each func(topic, ranking)) error {
	run, err := e.runFile(suffix)
	if err != nil {
		return err
	}
	for _, t := range topics {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, run.close())
		}
		r, err := rank(t)
		if err != nil {
			return errors.Join(fmt.Errorf("query %s: %w", t.ID, err), run.close())
		}
		each(t, r)
		run.write(t, r)
	}
	return run.close()
}

// nDCG is the discounted cumulative gain of a ranking beside the best one.
func nDCG(t topic, r ranking) float64 {
	ideal := make([]float64, 0, len(t.Relevant))
	for _, gain := range t.Relevant {
		ideal = append(ideal, gain)
	}
	slices.SortFunc(ideal, func(a, b float64) int { return cmp.Compare(b, a) })
	var got, best float64
	for i, h := range r {
		got += t.Relevant[h.ID] / math.Log2(float64(i)+2)
	}
	for i, gain := range ideal[:min(10, len(ideal))] {
		best += gain / math.Log2(float64(i)+2)
	}
	if best == 0 {
		return 0
	}
	return got / best
}

// runFile is a file of rankings in the format of the TREC conferences; one
// without a file swallows them.
type runFile struct {
	f *os.File
	w *bufio.Writer
}

func (e *Env) runFile(suffix string) (*runFile, error) {
	if e.runsDir == "" {
		return &runFile{}, nil
	}
	f, err := os.Create(e.runsDir + string(os.PathSeparator) + e.Set + suffix + ".run")
	if err != nil {
		return nil, err
	}
	return &runFile{f, bufio.NewWriter(f)}, nil
}

func (r *runFile) write(t topic, hits ranking) {
	if r.f == nil {
		return
	}
	for i, h := range hits {
		fmt.Fprintf(r.w, "%s Q0 %s %d %.6f dossier\n", t.ID, h.ID, i+1, h.Score)
	}
}

func (r *runFile) close() error {
	if r.f == nil {
		return nil
	}
	return errors.Join(r.w.Flush(), r.f.Close())
}

// readTopics gives queries their relevant documents from a table of query,
// document and gain with a line of names; queries without one are left out.
func readTopics(e *Env, file string, queries []topic) ([]topic, error) {
	f, err := e.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	table := csv.NewReader(f)
	table.Comma, table.FieldsPerRecord, table.ReuseRecord = '\t', 3, true
	relevant := map[string]map[string]float64{}
	for n := 0; ; n++ {
		row, err := table.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if n == 0 {
			continue
		}
		gain, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n+1, err)
		}
		if gain <= 0 {
			continue
		}
		if relevant[row[0]] == nil {
			relevant[row[0]] = map[string]float64{}
		}
		relevant[row[0]][row[1]] = gain
	}
	var topics []topic
	for _, q := range queries {
		if q.Relevant = relevant[q.ID]; q.Relevant != nil {
			topics = append(topics, q)
		}
	}
	return topics, nil
}

// collection is documents and their index.
type collection struct {
	docs map[string]index.Doc
	ix   *index.Index
}

func collect(docs []index.Doc) (*collection, error) {
	b := index.NewBuilder()
	c := &collection{docs: make(map[string]index.Doc, len(docs))}
	for _, d := range docs {
		b.Add(d)
		c.docs[d.ID] = d
	}
	segment, err := index.Open(b.Bytes())
	if err != nil {
		return nil, err
	}
	c.ix = index.New(segment)
	return c, nil
}

// rank is the ranking that every set is measured with: that of the product.
func (c *collection) rank(t topic) (ranking, error) { return c.search(t.Text, 10) }

// find ranks by the index alone: whole documents, of which the product ranks
// only passages.
func (c *collection) find(t topic) (ranking, error) {
	return c.ix.Search(index.Query{Text: t.Text, Limit: 10, Groups: kb.Translate(terms.Default(), c.ix, t.Text)})
}

func (c *collection) search(text string, limit int) (ranking, error) {
	groups := kb.Translate(terms.Default(), c.ix, text)
	return extract.Search(c.ix, index.Query{Text: text, Limit: limit, Groups: groups}, c.candidates)
}

// candidates reads what a search found, as the product's collections do.
func (c *collection) candidates(hits []index.Hit) ([]extract.Candidate, error) {
	out := make([]extract.Candidate, len(hits))
	for i, h := range hits {
		d := c.docs[h.ID]
		out[i] = extract.Candidate{Passage: extract.Passage{ID: d.ID, Title: d.Title, Text: d.Text}, Score: h.Score, First: true}
	}
	return out, nil
}
