package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"dossier/bench/internal/asked"
	"dossier/index"
)

// pageQuestion is a question about a document whose answer stands on pages of
// it, counted from 0.
type pageQuestion struct {
	ID       string `json:"_id"`
	Doc      string `json:"doc"`
	PDF      bool   `json:"pdf"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
	Format   string `json:"answer_format"` // MMLongBench: Str, Int, Float, List, None
	Evidence []struct {
		Doc  string `json:"doc"`
		Page int    `json:"page"`
	} `json:"evidence"` // FinanceBench
	Pages []int `json:"evidence_pages"` // MMLongBench
	pages map[int]bool
}

func (q *pageQuestion) UnmarshalJSON(data []byte) error {
	type plain pageQuestion
	if err := json.Unmarshal(data, (*plain)(q)); err != nil {
		return err
	}
	q.pages = map[int]bool{}
	for _, p := range q.Pages {
		if p >= 0 { // some name a page before the first
			q.pages[p] = true
		}
	}
	for _, e := range q.Evidence {
		if e.Doc == q.Doc {
			q.pages[e.Page] = true
		}
	}
	return nil
}

// paged is documents and the texts of their pages.
type paged struct {
	*shelf

	texts map[string][]string // of the pages
	order []string            // of the documents
}

// readPaged reads the pages of the set's documents and puts them on a shelf: as
// the PDF where it is there, else as a text of pages with form feeds between
// them, as programs that take the text out of a PDF write it.
func readPaged(e *Env, questions []pageQuestion) (*paged, error) {
	pages, err := readLines[struct {
		Doc  string `json:"doc"`
		Page int    `json:"page"`
		Text string `json:"text"`
	}](e, "pages.jsonl.gz")
	if err != nil {
		return nil, err
	}
	p := &paged{texts: map[string][]string{}}
	for _, page := range pages {
		if p.texts[page.Doc] == nil {
			p.order = append(p.order, page.Doc)
		}
		for len(p.texts[page.Doc]) <= page.Page {
			p.texts[page.Doc] = append(p.texts[page.Doc], "")
		}
		p.texts[page.Doc][page.Page] = page.Text
	}
	isPDF := map[string]bool{}
	for _, q := range questions {
		isPDF[q.Doc] = isPDF[q.Doc] || q.PDF
	}
	var docs []file
	for _, id := range p.order {
		name := strings.TrimSuffix(id, ".pdf")
		d := file{ID: id, Name: name + ".txt", Body: []byte(strings.Join(p.texts[id], "\n\f"))}
		if isPDF[id] {
			path, err := e.Path(filepath.Join("pdf", name+".pdf"))
			if err != nil {
				return nil, err
			}
			d.Name = name + ".pdf"
			if d.Body, err = os.ReadFile(path); err != nil {
				return nil, err
			}
		}
		docs = append(docs, d)
	}
	p.shelf, err = e.shelve(docs)
	return p, err
}

// pageID names a page of a document.
func pageID(doc string, page int) string { return doc + "#" + strconv.Itoa(page) }

// pagesOf turns a ranking of chunks into one of pages: each counts as its best
// chunk.
func pagesOf(found []located) ranking {
	var out ranking
	seen := map[string]bool{}
	for _, h := range found {
		if id := pageID(h.Doc, h.Page-1); !seen[id] {
			seen[id] = true
			out = append(out, index.Hit{ID: id, Score: h.Score})
		}
	}
	return out
}

// chunksRanked is how many chunks a ranking of something larger is made from.
const chunksRanked = 100

// runPages measures whether the page that answers is found, in its document and
// among all, and whether its answer is delivered.
func runPages(ctx context.Context, e *Env) error {
	questions, err := readLines[pageQuestion](e, "questions.jsonl.gz")
	if err != nil {
		return err
	}
	p, err := readPaged(e, questions)
	if err != nil {
		return err
	}
	defer p.close()
	var topics []topic
	var kept []*pageQuestion
	for i := range questions {
		q := &questions[i]
		t := topic{ID: q.ID, Text: q.Question, Relevant: map[string]float64{}}
		for page := range q.pages {
			t.Relevant[pageID(q.Doc, page)] = 1
		}
		if len(t.Relevant) > 0 {
			topics, kept = append(topics, t), append(kept, q)
		}
	}
	docOf := map[string]string{}
	isPDF := map[string]bool{}
	for _, q := range kept {
		docOf[q.ID], isPDF[q.ID] = q.Doc, q.PDF
	}
	within := map[string]*lexicon{}
	var allIDs, allTexts []string
	for _, doc := range p.order {
		var ids []string
		for i := range p.texts[doc] {
			ids = append(ids, pageID(doc, i))
		}
		within[doc] = newLexicon(ids, p.texts[doc])
		allIDs, allTexts = append(allIDs, ids...), append(allTexts, p.texts[doc]...)
	}
	all := newLexicon(allIDs, allTexts)
	for _, way := range []struct {
		suffix string
		rank   func(topic) (ranking, error)
	}{
		{"", func(t topic) (ranking, error) {
			found, err := p.search(ctx, docOf[t.ID], t.Text, chunksRanked)
			return pagesOf(found), err
		}},
		{".bm25", func(t topic) (ranking, error) { return within[docOf[t.ID]].search(t.Text, 10), nil }},
		{".pooled", func(t topic) (ranking, error) {
			found, err := p.search(ctx, "", t.Text, chunksRanked)
			return pagesOf(found), err
		}},
		{".pooled.bm25", func(t topic) (ranking, error) { return all.search(t.Text, 10), nil }},
	} {
		e.Progressf("%d questions%s", len(topics), way.suffix)
		if err := e.pageHits(ctx, way.suffix, topics, isPDF, way.rank); err != nil {
			return err
		}
	}
	return e.pageAnswers(ctx, p, kept)
}

// pageHits reports for how many topics a relevant page is among the first; of
// those about a PDF also by themselves.
func (e *Env) pageHits(ctx context.Context, suffix string, topics []topic, isPDF map[string]bool, rank func(topic) (ranking, error)) error {
	type tally struct{ n, at1, at5, at10 int }
	var all, pdf tally
	err := e.rank(ctx, suffix, topics, rank, func(t topic, r ranking) {
		first := 100
		for i, h := range r[:min(10, len(r))] {
			if t.Relevant[h.ID] > 0 {
				first = i
				break
			}
		}
		for _, to := range []*tally{&all, &pdf} {
			if to == &pdf && !isPDF[t.ID] {
				continue
			}
			to.n++
			for k, count := range map[int]*int{1: &to.at1, 5: &to.at5, 10: &to.at10} {
				if first < k {
					*count++
				}
			}
		}
	})
	if err != nil {
		return err
	}
	e.Ratio("page-hit@1"+suffix, all.at1, all.n)
	e.Ratio("page-hit@5"+suffix, all.at5, all.n)
	e.Ratio("page-hit@10"+suffix, all.at10, all.n)
	if suffix == "" || suffix == ".bm25" {
		e.Ratio("page-hit@5.pdf"+suffix, pdf.at5, pdf.n)
		e.Ratio("page-hit@10.pdf"+suffix, pdf.at10, pdf.n)
	}
	return nil
}

// pageAnswers asks the questions whose answer stands on a page that is named,
// each of its document.
func (e *Env) pageAnswers(ctx context.Context, p *paged, questions []*pageQuestion) error {
	asks, right, refused := 0, 0, 0
	for _, q := range questions {
		if q.Format == "List" || !p.says(q) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := p.research(ctx, q.Doc, q.Question)
		if err != nil {
			return fmt.Errorf("%s: %w", q.ID, err)
		}
		a := delivered(q.ID, r)
		if err := e.Record(a); err != nil {
			return err
		}
		asks++
		if a.Refused {
			refused++
		}
		if asked.Judge(&asked.Question{ID: q.ID, Accept: [][]string{written(q.Answer)}}, a).In100 {
			right++
		}
	}
	e.Ratio("answered@100w", right, asks)
	e.Ratio("wrong-refusal", refused, asks)
	return nil
}

// says reports whether the answer stands on one of its pages.
func (p *paged) says(q *pageQuestion) bool {
	for page := range q.pages {
		if texts := p.texts[q.Doc]; page < len(texts) && q.Answer != "" && holds(texts[page:page+1], [][]string{written(q.Answer)}) {
			return true
		}
	}
	return false
}

var (
	amount = regexp.MustCompile(`^[$€£]?(\d[\d,]*)(?:\.(\d+))?(%?)$`)
	groups = regexp.MustCompile(`^(\d+)(\d{3})`)
)

// written are the ways to write an answer: a number with and without what parts
// its thousands and without zeros at its end.
func written(answer string) []string {
	out := []string{answer}
	m := amount.FindStringSubmatch(strings.TrimSpace(answer))
	if m == nil {
		return out
	}
	whole, part := strings.ReplaceAll(m[1], ",", ""), strings.TrimRight(m[2], "0")
	if part != "" {
		part = "." + part
	}
	parted := whole
	for {
		next := groups.ReplaceAllString(parted, "$1,$2")
		if next == parted {
			break
		}
		parted = next
	}
	return append(out, whole+part+m[3], parted+part+m[3])
}
