package main

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"dossier/extract"
	"dossier/index"
	"dossier/lang"
	"dossier/llm"
	"dossier/report"
	"dossier/sources"
)

// parts are documents that consist of paragraphs or turns, with what is asked
// of them.
type parts struct {
	*shelf

	texts  map[string][]string    // of the parts, by document
	spans  map[string][]lang.Span // of the parts in the document
	order  []string
	topics []topic
	docOf  map[string]string // by topic
}

func newParts() *parts {
	return &parts{texts: map[string][]string{}, spans: map[string][]lang.Span{}, docOf: map[string]string{}}
}

// add returns a document as a text file with an empty line between its parts.
func (p *parts) add(doc, name string, texts []string) file {
	var b strings.Builder
	for _, text := range texts {
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		p.spans[doc] = append(p.spans[doc], lang.Span{Start: b.Len(), End: b.Len() + len(text)})
		b.WriteString(text)
	}
	p.texts[doc], p.order = texts, append(p.order, doc)
	return file{ID: doc, Name: name, Body: []byte(b.String())}
}

// of turns a ranking of chunks into one of parts. Of each chunk the part with
// the sentence that would be marked comes first, then what would be quoted with
// it; what else chunks have follows after all.
func (p *parts) of(ctx context.Context, doc, question string, found []located) (ranking, error) {
	words, err := p.library.Words(ctx, p.opened[doc])
	if err != nil {
		return nil, err
	}
	candidates := make([]extract.Candidate, len(found))
	for i, h := range found {
		candidates[i] = extract.Candidate{Passage: extract.Passage{ID: h.ID, Title: h.Title, Headings: h.Headings, Text: h.Text}, Lang: h.Lang}
	}
	var out ranking
	seen := map[string]bool{}
	add := func(h located, span lang.Span) {
		for i, part := range p.spans[h.Doc] {
			if id := pageID(h.Doc, i); part.Start < h.Start+span.End && h.Start+span.Start < part.End && !seen[id] {
				seen[id] = true
				out = append(out, index.Hit{ID: id, Score: 1 / float64(len(out)+1)})
			}
		}
	}
	for i, j := range extract.Judge(question, candidates, words) {
		quote, mark := j.Quote(quoteWords)
		add(found[i], mark)
		add(found[i], quote)
	}
	for _, h := range found {
		add(h, lang.Span{End: len(h.Text)})
	}
	return out, nil
}

// quoteWords is how long a quote is.
const quoteWords = 80

// measure reports the ranking of parts in their documents and, if asked to,
// among all, beside plain BM25, which gets each part with its document's title.
func (p *parts) measure(ctx context.Context, e *Env, pooled bool, title func(doc string) string) error {
	within := map[string]*lexicon{}
	var allIDs, allTexts []string
	for _, doc := range p.order {
		var ids, texts []string
		for i, text := range p.texts[doc] {
			ids, texts = append(ids, pageID(doc, i)), append(texts, title(doc)+text)
		}
		within[doc] = newLexicon(ids, texts)
		allIDs, allTexts = append(allIDs, ids...), append(allTexts, texts...)
	}
	ours := func(t topic, doc string) (ranking, error) {
		found, err := p.search(ctx, doc, t.Text, chunksRanked)
		if err != nil {
			return nil, err
		}
		return p.of(ctx, doc, t.Text, found)
	}
	if err := e.retrieval(ctx, "", p.topics, func(t topic) (ranking, error) { return ours(t, p.docOf[t.ID]) }); err != nil {
		return err
	}
	e.Progressf("%d questions", len(p.topics))
	if err := e.plainly(ctx, "", p.topics, func(t topic) *lexicon { return within[p.docOf[t.ID]] }); err != nil || !pooled {
		return err
	}
	if err := e.retrieval(ctx, ".pooled", p.topics, func(t topic) (ranking, error) { return ours(t, "") }); err != nil {
		return err
	}
	e.Progressf("%d questions.pooled", len(p.topics))
	all := newLexicon(allIDs, allTexts)
	return e.plainly(ctx, ".pooled", p.topics, func(topic) *lexicon { return all })
}

// plainly reports the nDCG of plain BM25.
func (e *Env) plainly(ctx context.Context, suffix string, topics []topic, in func(topic) *lexicon) error {
	sum := 0.0
	err := e.rank(ctx, suffix+".bm25", topics, func(t topic) (ranking, error) { return in(t).search(t.Text, 10), nil }, func(t topic, r ranking) {
		sum += nDCG(t, r)
	})
	if err != nil {
		return err
	}
	e.Score("ndcg@10"+suffix+".bm25", sum/float64(max(1, len(topics))), len(topics))
	return nil
}

// runQMSum measures which turns of a meeting are found for a question. A meeting
// is a text file with a paragraph for each turn, headed by who speaks.
func runQMSum(ctx context.Context, e *Env) error {
	docs, err := readLines[struct {
		ID    string      `json:"_id"`
		Turns [][2]string `json:"turns"`
	}](e, "docs.jsonl.gz")
	if err != nil {
		return err
	}
	questions, err := readLines[struct {
		ID       string   `json:"_id"`
		Doc      string   `json:"doc"`
		Question string   `json:"question"`
		Spans    [][2]int `json:"turn_spans"`
	}](e, "questions.jsonl.gz")
	if err != nil {
		return err
	}
	p := newParts()
	var files []file
	for _, d := range docs {
		var texts []string
		for _, t := range d.Turns {
			texts = append(texts, t[0]+": "+strings.Join(strings.Fields(t[1]), " "))
		}
		files = append(files, p.add(d.ID, d.ID+".txt", texts))
	}
	for _, q := range questions {
		t := topic{ID: q.ID, Text: q.Question, Relevant: map[string]float64{}}
		for _, span := range q.Spans {
			for i := span[0]; i <= span[1]; i++ {
				t.Relevant[pageID(q.Doc, i)] = 1
			}
		}
		p.topics, p.docOf[q.ID] = append(p.topics, t), q.Doc
	}
	p.topics = slices.DeleteFunc(p.topics, func(t topic) bool { return len(t.Relevant) == 0 })
	if p.shelf, err = e.shelve(files); err != nil {
		return err
	}
	defer p.close()
	return p.measure(ctx, e, false, func(string) string { return "" })
}

// timeQuestion asks what was true at a time. Without answers the article does
// not say.
type timeQuestion struct {
	ID       string   `json:"_id"`
	Doc      string   `json:"doc"`
	Question string   `json:"question"`
	Answers  []string `json:"answers"`
	Evidence []struct {
		Para int `json:"para"`
	} `json:"evidence"`
}

// runTimeQA measures which paragraph of an article is found for a question about
// a time, and whether one that the article does not answer is refused.
func runTimeQA(ctx context.Context, e *Env) error {
	docs, err := readLines[struct {
		ID    string   `json:"_id"`
		Paras []string `json:"paras"`
	}](e, "docs.jsonl.gz")
	if err != nil {
		return err
	}
	questions, err := readLines[timeQuestion](e, "questions.jsonl.gz")
	if err != nil {
		return err
	}
	p := newParts()
	var files []file
	title := func(doc string) string { return strings.ReplaceAll(path.Base(doc), "_", " ") }
	for _, d := range docs {
		files = append(files, p.add(d.ID, path.Base(d.ID)+".txt", d.Paras))
	}
	for _, q := range questions {
		t := topic{ID: q.ID, Text: q.Question, Relevant: map[string]float64{}}
		for _, at := range q.Evidence {
			t.Relevant[pageID(q.Doc, at.Para)] = 1
		}
		if len(t.Relevant) > 0 {
			p.topics, p.docOf[q.ID] = append(p.topics, t), q.Doc
		}
	}
	if p.shelf, err = e.shelve(files); err != nil {
		return err
	}
	defer p.close()
	if err := p.measure(ctx, e, true, func(doc string) string { return title(doc) + " " }); err != nil {
		return err
	}
	return p.refusals(ctx, e, questions)
}

// refusals asks each question of its article. What the article does not say is
// to be refused; of the others (.intact), that it says is to be quoted.
func (p *parts) refusals(ctx context.Context, e *Env, questions []timeQuestion) error {
	var known, unknown outcome
	for n, q := range questions {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := p.research(ctx, q.Doc, q.Question)
		if err != nil {
			return fmt.Errorf("%s: %w", q.ID, err)
		}
		to, part := &known, "intact"
		if len(q.Answers) == 0 {
			to, part = &unknown, "unanswerable"
		}
		o, err := e.judge(puzzle{ID: q.ID, Text: q.Question, Group: q.Doc, Parts: [][]string{q.Answers}}, part,
			answered{Refused: r.Outcome == report.Nothing}, quotedIn(r))
		if err != nil {
			return err
		}
		to.add(o)
		if n%200 == 199 {
			e.Progressf("%d of %d questions answered", n+1, len(questions))
		}
	}
	e.reportRefusals("", unknown)
	e.reportRefusals(".intact", known)
	e.Ratio("answer-in-citation", known.n-known.refused-known.wrong, known.n)
	return nil
}

// quotedIn are the words of a report's quotes.
func quotedIn(r *report.Report) []string {
	var out []string
	for _, s := range r.Sections {
		for _, q := range s.Quotes {
			out = append(out, q.Text)
		}
	}
	return out
}

// runDomainRAG measures which passage of a site's pages is found, by kind of
// question. A passage is a file with its title, its date and its address's name.
func runDomainRAG(ctx context.Context, e *Env) error {
	corpus, err := readLines[struct {
		ID    string `json:"_id"`
		Title string `json:"title"`
		Date  string `json:"date"`
		Text  string `json:"text"`
	}](e, "corpus.jsonl.gz")
	if err != nil {
		return err
	}
	questions, err := readLines[struct {
		ID       string   `json:"_id"`
		Kind     string   `json:"kind"`
		Question string   `json:"question"`
		Gold     []string `json:"gold"`
		History  []struct {
			Question string   `json:"question"`
			Answers  []string `json:"answers"`
		} `json:"history"`
	}](e, "questions.jsonl.gz")
	if err != nil {
		return err
	}
	var files []file
	var ids, texts []string
	for _, d := range corpus {
		text := strings.Join(strings.Fields(d.Text), " ")
		body := fmt.Sprintf("---\ntitle: %q\ndate: %s\n---\n\n%s\n", d.Title, d.Date, text)
		files = append(files, file{ID: d.ID, Name: d.ID + ".md", Body: []byte(body)})
		ids, texts = append(ids, d.ID), append(texts, d.Title+"\n"+d.Text)
	}
	s, err := e.shelve(files)
	if err != nil {
		return err
	}
	defer s.close()
	plain := newLexicon(ids, texts)
	kinds := map[string][]topic{}
	asked := map[string]string{} // as the product asks it
	for _, q := range questions {
		var before []llm.Message
		for _, h := range q.History {
			before = append(before, llm.Message{Role: llm.RoleUser, Content: h.Question}, llm.Message{Role: llm.RoleAssistant, Content: strings.Join(h.Answers, " ")})
		}
		asked[q.ID] = sources.StandAlone(q.Question, before)
		t := topic{ID: q.ID, Text: q.Question, Relevant: map[string]float64{}}
		for _, id := range q.Gold {
			t.Relevant[id] = 1
		}
		if len(t.Relevant) > 0 {
			kinds[""], kinds["."+q.Kind] = append(kinds[""], t), append(kinds["."+q.Kind], t)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		err := e.retrieval(ctx, kind, kinds[kind], func(t topic) (ranking, error) {
			found, err := s.search(ctx, "", asked[t.ID], chunksRanked)
			return documentsFound(found), err
		})
		if err != nil {
			return err
		}
		if err := e.plainly(ctx, kind, kinds[kind], func(topic) *lexicon { return plain }); err != nil {
			return err
		}
	}
	return nil
}
