package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/index"
	"dossier/lang"
)

// spanQuestion is a question whose answer is spans of a document.
type spanQuestion struct {
	ID       string   `json:"_id"`
	Source   string   `json:"source"`
	Doc      string   `json:"doc"`
	Question string   `json:"question"`
	Span     []int    `json:"span"` // in characters
	Spans    [][2]int `json:"spans"`
	Agree    bool     `json:"agree"`

	bare string      // the question without what names the document
	gold []lang.Span // in bytes
}

// spanned are texts and what is asked of them.
type spanned struct {
	*shelf

	texts     map[string]string
	order     []string
	questions []spanQuestion
}

// readSpanned reads a set of texts with spans. A text lies in the folder as a
// text file under the name that it has.
func readSpanned(e *Env) (*spanned, error) {
	docs, err := readLines[passage](e, "docs.jsonl.gz")
	if err != nil {
		return nil, err
	}
	s := &spanned{texts: map[string]string{}}
	if s.questions, err = readLines[spanQuestion](e, "questions.jsonl.gz"); err != nil {
		return nil, err
	}
	var files []file
	bytesAt := map[string][]int{} // of each character
	for _, d := range docs {
		files = append(files, file{ID: d.ID, Name: strings.TrimSuffix(d.ID, ".txt") + ".txt", Body: []byte(d.Text)})
		var at []int
		text := strings.TrimPrefix(d.Text, "\ufeff") // counts as a character, and is no text
		if text != d.Text {
			at = append(at, 0)
		}
		for i := range text {
			at = append(at, i)
		}
		bytesAt[d.ID] = append(at, len(text))
		s.texts[d.ID], s.order = text, append(s.order, d.ID)
	}
	for i := range s.questions {
		q := &s.questions[i]
		if len(q.Span) == 2 {
			q.Spans = append(q.Spans, [2]int{q.Span[0], q.Span[1]})
		}
		at := bytesAt[q.Doc]
		for _, span := range q.Spans {
			if span[0] < 0 || span[1] >= len(at) || span[0] >= span[1] {
				return nil, fmt.Errorf("question %s: no span %v in %s", q.ID, span, q.Doc)
			}
			q.gold = append(q.gold, lang.Span{Start: at[span[0]], End: at[span[1]]})
		}
		q.bare = q.Question
		if _, rest, ok := strings.Cut(q.Question, ";"); ok && strings.HasPrefix(q.Question, "Consider ") {
			q.bare = strings.TrimSpace(rest)
		}
	}
	s.shelf, err = e.shelve(files)
	return s, err
}

// stretch is a part of a text.
type stretch struct {
	Doc string
	lang.Span
}

func (s stretch) id() string { return fmt.Sprintf("%s#%d-%d", s.Doc, s.Start, s.End) }

// overlaps reports whether a stretch has a part of a span of the question's.
func (q *spanQuestion) overlaps(s stretch) bool {
	return s.Doc == q.Doc && slices.ContainsFunc(q.gold, func(g lang.Span) bool { return s.Start < g.End && g.Start < s.End })
}

// find returns the chunks that the product finds, as stretches of the set's own
// text.
func (s *spanned) find(ctx context.Context, doc, query string, limit int) ([]stretch, error) {
	found, err := s.search(ctx, doc, query, limit)
	if err != nil {
		return nil, err
	}
	var out []stretch
	for _, h := range found {
		if s.texts[h.Doc][h.Start:h.End] != h.Text {
			return nil, fmt.Errorf("%s was read as another text", h.Doc)
		}
		out = append(out, stretch{h.Doc, lang.Span{Start: h.Start, End: h.End}})
	}
	return out, nil
}

// sliced cuts a text into pieces of at most so many characters, between words,
// as plain BM25 gets them.
func sliced(doc, text string, size int) []stretch {
	var out []stretch
	for start := 0; start < len(text); {
		end, space := start, 0
		for n := 0; n < size && end < len(text); n++ {
			r, width := utf8.DecodeRuneInString(text[end:])
			end += width
			if unicode.IsSpace(r) {
				space = end
			}
		}
		if end < len(text) && space > start {
			end = space
		}
		out = append(out, stretch{doc, lang.Span{Start: start, End: end}})
		start = end
	}
	return out
}

// plainly returns what finds stretches by plain BM25, of a document or, without
// one, of all.
func (s *spanned) plainly(size int) func(doc, query string, limit int) []stretch {
	type lexical struct {
		*lexicon
		at map[string]stretch
	}
	lexicalOf := func(docs ...string) lexical {
		at := map[string]stretch{}
		var ids, texts []string
		for _, doc := range docs {
			for _, part := range sliced(doc, s.texts[doc], size) {
				at[part.id()] = part
				ids, texts = append(ids, part.id()), append(texts, part.In(s.texts[doc]))
			}
		}
		return lexical{newLexicon(ids, texts), at}
	}
	made := map[string]lexical{"": lexicalOf(s.order...)}
	return func(doc, query string, limit int) []stretch {
		x, ok := made[doc]
		if !ok {
			x = lexicalOf(doc)
			made[doc] = x
		}
		var out []stretch
		for _, h := range x.search(query, limit) {
			out = append(out, x.at[h.ID])
		}
		return out
	}
}

// spanWay is a way to find stretches for a question.
type spanWay struct {
	suffix string
	find   func(q *spanQuestion) ([]stretch, error)
}

// each finds stretches for all questions and writes a run file.
func (s *spanned) each(ctx context.Context, e *Env, way spanWay, with func(q *spanQuestion, found []stretch)) error {
	run, err := e.runFile(way.suffix)
	if err != nil {
		return err
	}
	defer run.close()
	for i := range s.questions {
		if err := ctx.Err(); err != nil {
			return err
		}
		q := &s.questions[i]
		found, err := way.find(q)
		if err != nil {
			return fmt.Errorf("question %s: %w", q.ID, err)
		}
		with(q, found)
		var r ranking
		for n, f := range found {
			r = append(r, index.Hit{ID: strings.ReplaceAll(f.id(), " ", "_"), Score: 1 / float64(n+1)})
		}
		run.write(topic{ID: q.ID}, r)
	}
	e.Progressf("%d questions%s", len(s.questions), way.suffix)
	return run.close()
}

// runLegalBench measures how much of the clauses that answer is found, and how
// much else with it, in the best eight chunks. Plain BM25 gets 500 characters at
// a time and, in the document, questions without what names it.
func runLegalBench(ctx context.Context, e *Env) error {
	s, err := readSpanned(e)
	if err != nil {
		return err
	}
	defer s.close()
	const k = 8
	plain := s.plainly(500)
	for _, way := range []spanWay{
		{"", func(q *spanQuestion) ([]stretch, error) { return s.find(ctx, q.Doc, q.Question, k) }},
		{".bm25", func(q *spanQuestion) ([]stretch, error) { return plain(q.Doc, q.bare, k), nil }},
		{".pooled", func(q *spanQuestion) ([]stretch, error) { return s.find(ctx, "", q.Question, k) }},
		{".pooled.bm25", func(q *spanQuestion) ([]stretch, error) { return plain("", q.Question, k), nil }},
	} {
		type tally struct {
			n                 int
			recall, precision float64
		}
		of := map[string]*tally{"": {}}
		err := s.each(ctx, e, way, func(q *spanQuestion, found []stretch) {
			recall, precision := q.characters(found)
			if of["."+q.Source] == nil {
				of["."+q.Source] = &tally{}
			}
			for _, t := range []*tally{of[""], of["."+q.Source]} {
				t.n++
				t.recall, t.precision = t.recall+recall, t.precision+precision
			}
		})
		if err != nil {
			return err
		}
		for _, source := range slices.Sorted(maps.Keys(of)) {
			t := of[source]
			suffix := way.suffix + source
			if pooled, plain := strings.CutSuffix(way.suffix, ".bm25"); plain {
				suffix = pooled + source + ".bm25"
			}
			e.Score(fmt.Sprintf("char-recall@%d%s", k, suffix), t.recall/float64(max(1, t.n)), t.n)
			e.Score(fmt.Sprintf("char-precision@%d%s", k, suffix), t.precision/float64(max(1, t.n)), t.n)
		}
	}
	return nil
}

// characters returns the share of the question's spans that stretches have, and
// the share of the stretches that it is.
func (q *spanQuestion) characters(found []stretch) (recall, precision float64) {
	var mine []lang.Span
	all := 0
	for _, f := range found {
		all += f.End - f.Start
		if f.Doc == q.Doc {
			mine = append(mine, f.Span)
		}
	}
	gold, both := 0, 0
	for _, g := range merged(q.gold) {
		gold += g.End - g.Start
		for _, m := range merged(mine) {
			both += max(0, min(g.End, m.End)-max(g.Start, m.Start))
		}
	}
	return float64(both) / float64(max(1, gold)), float64(both) / float64(max(1, all))
}

// merged joins spans that overlap.
func merged(spans []lang.Span) []lang.Span {
	spans = slices.Clone(spans)
	sort.Slice(spans, func(i, j int) bool { return spans[i].Start < spans[j].Start })
	var out []lang.Span
	for _, s := range spans {
		if n := len(out); n > 0 && s.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}

// runLegalRu measures whether the passage that answers is found among all laws.
func runLegalRu(ctx context.Context, e *Env) error {
	return runSpanHits(ctx, e, []int{1, 5, 10}, func(s *spanned, plain func(doc, query string, limit int) []stretch) []spanWay {
		return []spanWay{
			{"", func(q *spanQuestion) ([]stretch, error) { return s.find(ctx, "", q.Question, 10) }},
			{".bm25", func(q *spanQuestion) ([]stretch, error) { return plain("", q.Question, 10), nil }},
		}
	})
}

// runCovidQA measures whether the passage that answers is found in its paper and
// among all.
func runCovidQA(ctx context.Context, e *Env) error {
	return runSpanHits(ctx, e, []int{1, 5}, func(s *spanned, plain func(doc, query string, limit int) []stretch) []spanWay {
		return []spanWay{
			{"", func(q *spanQuestion) ([]stretch, error) { return s.find(ctx, q.Doc, q.Question, 10) }},
			{".bm25", func(q *spanQuestion) ([]stretch, error) { return plain(q.Doc, q.Question, 10), nil }},
			{".pooled", func(q *spanQuestion) ([]stretch, error) { return s.find(ctx, "", q.Question, 10) }},
			{".pooled.bm25", func(q *spanQuestion) ([]stretch, error) { return plain("", q.Question, 10), nil }},
		}
	})
}

// runSpanHits reports for how many questions one of the first chunks has a part
// of what answers; plain BM25 gets 1000 characters at a time.
func runSpanHits(ctx context.Context, e *Env, depths []int, ways func(s *spanned, plain func(doc, query string, limit int) []stretch) []spanWay) error {
	s, err := readSpanned(e)
	if err != nil {
		return err
	}
	defer s.close()
	for _, way := range ways(s, s.plainly(1000)) {
		n, agreed := 0, 0
		hits, inAgreed := map[int]int{}, map[int]int{}
		err := s.each(ctx, e, way, func(q *spanQuestion, found []stretch) {
			at := slices.IndexFunc(found, q.overlaps)
			n++
			if q.Agree {
				agreed++
			}
			for _, k := range depths {
				if at >= 0 && at < k {
					hits[k]++
					if q.Agree {
						inAgreed[k]++
					}
				}
			}
		})
		if err != nil {
			return err
		}
		for _, k := range depths {
			e.Ratio(fmt.Sprintf("hit@%d%s", k, way.suffix), hits[k], n)
			if agreed > 0 {
				e.Ratio(fmt.Sprintf("hit@%d.agree%s", k, way.suffix), inAgreed[k], agreed)
			}
		}
	}
	return nil
}
