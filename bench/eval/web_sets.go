package main

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"

	"dossier/index"
	"dossier/reader"
	"dossier/sources"
)

// rgbQuestion is a question with documents that have the answer, others that
// were found, and in some files those of the first with a wrong answer in place
// of the right one.
type rgbQuestion struct {
	ID       int    `json:"id"`
	Query    string `json:"query"`
	Answer   any    `json:"answer"`
	Positive texts  `json:"positive"`
	Negative texts  `json:"negative"`
	Fake     any    `json:"fakeanswer"` // a text, or its forms
	Wrong    texts  `json:"positive_wrong"`

	file string
}

func (q *rgbQuestion) puzzle() puzzle {
	return puzzle{ID: fmt.Sprintf("%s-%d", q.file, q.ID), Text: q.Query, Group: q.Query, Parts: partsOf(q.Answer)}
}

// readRGB reads all files of the set.
func readRGB(e *Env) ([]rgbQuestion, error) {
	files, err := e.Files("*.jsonl.gz")
	if err != nil {
		return nil, err
	}
	var all []rgbQuestion
	for _, file := range files {
		questions, err := readLines[rgbQuestion](e, file)
		if err != nil {
			return nil, err
		}
		for _, q := range questions {
			q.file = file
			all = append(all, q)
		}
	}
	return all, nil
}

// rgbTally counts what becomes of questions.
type rgbTally struct {
	with, without outcome // all that was found; without what has the answer
	facts         int     // questions with pages that give a wrong answer
	faked         int     // of those: the wrong answer is quoted
	unshown       int     // and no conflict with the right one is shown
	alone         int     // nor is the right one quoted
}

func (t *rgbTally) add(o rgbTally) {
	t.with.add(o.with)
	t.without.add(o.without)
	t.facts, t.faked, t.unshown, t.alone = t.facts+o.facts, t.faked+o.faked, t.unshown+o.unshown, t.alone+o.alone
}

func (t *rgbTally) report(e *Env, suffix string) {
	e.Ratio("answer-in-citation"+suffix, t.with.n-t.with.refused-t.with.wrong, t.with.n)
	e.Ratio("rejection.positive"+suffix, t.with.refused, t.with.n)
	e.reportRefusals(suffix, t.without)
	if t.facts > 0 {
		e.Ratio("fake-quoted"+suffix, t.faked, t.facts)
		e.Ratio("fake-unshown"+suffix, t.unshown, t.facts)
		e.Ratio("fake-alone"+suffix, t.alone, t.facts)
	}
}

// runRGBWeb asks the questions over the whole way of the web: an engine that
// ranks by words what was found for the question, its pages, their reader,
// quotes. The figures end in .web, those of one file in .web and its name:
//
//   - answer-in-citation: answered, with the right answer in the quotes;
//     rejection.positive is the share not answered;
//   - rejection, false-answer: with the pages alone that lack the answer;
//   - fake-quoted: with right and falsified pages together, the wrong answer
//     is quoted; fake-unshown: and no conflict with the right one is shown;
//     fake-alone: nor is the right one quoted.
func runRGBWeb(ctx context.Context, e *Env, questions []rgbQuestion) error {
	w := openWeb()
	defer w.close()
	found, err := newFindings(questions)
	if err != nil {
		return err
	}
	tallies := map[string]*rgbTally{}
	var names []string
	for _, q := range questions {
		if err := ctx.Err(); err != nil {
			return err
		}
		one, err := found.ask(ctx, e, w, q)
		if err != nil {
			return err
		}
		file := strings.TrimSuffix(q.file, ".jsonl.gz")
		for _, name := range []string{"", "." + file} {
			if tallies[name] == nil {
				tallies[name] = &rgbTally{}
				names = append(names, name)
			}
			tallies[name].add(one)
		}
	}
	for _, name := range names {
		tallies[name].report(e, ".web"+name)
	}
	return nil
}

// findings are the pages of all questions, and an index of them: what is rare
// among the pages for one question is not what is rare.
type findings struct {
	pages map[string]website // by URL
	ix    *index.Index
}

func newFindings(questions []rgbQuestion) (*findings, error) {
	f := &findings{pages: map[string]website{}}
	b := index.NewBuilder()
	for _, q := range questions {
		for _, text := range slices.Concat(q.Positive, q.Negative, q.Wrong) {
			p := pageOf(text)
			if _, known := f.pages[p.URL]; !known {
				f.pages[p.URL] = p
				b.Add(index.Doc{ID: p.URL, Text: text})
			}
		}
	}
	segment, err := index.Open(b.Bytes())
	if err == nil {
		f.ix = index.New(segment)
	}
	return f, err
}

// ask asks a question with what was found for it, without what has the answer,
// and, where facts were falsified, with both kinds of facts.
func (f *findings) ask(ctx context.Context, e *Env, w *web, q rgbQuestion) (t rgbTally, err error) {
	p := q.puzzle()
	all := slices.Concat(q.Positive, q.Negative)
	with, err := f.solve(ctx, e, w, p, "web", all)
	if err != nil {
		return t, err
	}
	without, err := f.solve(ctx, e, w, p, "web.negative", q.Negative)
	if t.with, t.without = with.outcome, without.outcome; err != nil || len(q.Wrong) == 0 {
		return t, err
	}
	both, err := f.solve(ctx, e, w, p, "web.fake", append(all, q.Wrong...))
	t.facts = 1
	if fake := [][]string{flat(q.Fake)}; both.refused == 0 && holds(both.quoted, fake) {
		t.faked = 1
		if !contrasts(both.report, p.Parts, fake) {
			t.unshown, t.alone = 1, 1-both.inside
		}
	}
	return t, err
}

// solve asks a question of the pages with some texts, ranked by their words.
func (f *findings) solve(ctx context.Context, e *Env, w *web, p puzzle, part string, texts []string) (solution, error) {
	var pages []website
	mine := map[string]bool{}
	for _, text := range texts {
		if p := pageOf(text); !mine[p.URL] {
			mine[p.URL] = true
			pages = append(pages, p)
		}
	}
	return w.solve(ctx, e, p, part, pages, func(query string) ([]website, error) {
		hits, err := f.ix.Search(index.Query{Text: query, Limit: len(pages), Filter: func(id string) bool { return mine[id] }})
		out := make([]website, len(hits))
		for i, h := range hits {
			out[i] = f.pages[h.ID]
		}
		return out, err
	})
}

// runCRAG asks each question of the pages that a search engine found for it,
// in its order, read as they were. truthfulness is the set's own score: 1 for a
// right answer, 0 for none, -1 for a wrong one.
func runCRAG(ctx context.Context, e *Env) error {
	questions, err := readLines[struct {
		ID           string `json:"interaction_id"`
		Query        string `json:"query"`
		Answer       string `json:"answer"`
		Alternatives any    `json:"alternative_answers"`
		Results      []struct {
			Name    string `json:"page_name"`
			URL     string `json:"page_url"`
			Snippet string `json:"page_snippet"`
			HTML    string `json:"page_result"`
		} `json:"search_results"`
	}](e, "questions_with_html.jsonl.gz")
	if err != nil {
		return err
	}
	w := openWeb()
	defer w.close()
	files := reader.New(reader.Config{})
	defer files.Close()
	var all outcome
	refused, pairs := 0, 0
	for _, q := range questions {
		var pages []website
		for _, r := range q.Results {
			pages = append(pages, website{r.URL, plainText(r.Name), plainText(r.Snippet), r.HTML})
			page, err := files.Read(ctx, reader.Document{URL: r.URL, ContentType: "text/html", Body: []byte(r.HTML)})
			if err != nil {
				continue // it has no text
			}
			for _, other := range q.Results {
				if other.URL == r.URL {
					continue
				}
				pairs++
				if sources.Carries(other.URL, page.Text) {
					refused++
				}
			}
		}
		forms := []string{q.Answer}
		for _, other := range flat(q.Alternatives) {
			// They may be written as a list inside a text.
			var list []string
			if json.Unmarshal([]byte(other), &list) != nil {
				list = []string{other}
			}
			forms = append(forms, list...)
		}
		got, err := w.solve(ctx, e, puzzle{ID: q.ID, Text: q.Query, Group: q.ID, Parts: [][]string{forms}}, "web", pages, nil)
		if err != nil {
			return err
		}
		all.add(got.outcome)
	}
	// What it costs in good pages that an address must not carry private text: as
	// if each page were private to the others that the same question found.
	e.Ratio("address-refused", refused, pairs)
	right := all.n - all.refused - all.wrong
	e.Ratio("answer-in-citation.web", right, all.n)
	e.reportRefusals(".web", all)
	e.Score("truthfulness.web", float64(right-all.wrong)/float64(max(1, all.n)), all.n)
	return nil
}

var tag = regexp.MustCompile(`<[^>]*>`)

// plainText is what an engine's reply shows of a text in HTML.
func plainText(text string) string {
	return strings.TrimSpace(html.UnescapeString(tag.ReplaceAllString(text, "")))
}
