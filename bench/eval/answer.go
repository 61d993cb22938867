package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"dossier/cite"
	"dossier/extract"
	"dossier/index"
	"dossier/lang"
)

// puzzle is a question with its right answer.
type puzzle struct {
	ID    string
	Text  string
	Group string     // what may not be spread over folds when weights are fitted
	Parts [][]string // of the answer; each in its forms, of which one will do
}

// quotation is a sentence of an answer, as a span of a document.
type quotation struct {
	Doc        string
	Start, End int
}

// answered is the answer to a puzzle.
type answered struct {
	Quotes   []quotation // in the order in which they are read
	Refused  bool        // the answer says that nothing answers the question
	passages []extract.Passage
	weights  map[string]float64
}

// answerer is what is measured: it answers a question from the documents that
// keep lets through, all if it is nil.
type answerer func(question string, keep func(doc string) bool) (answered, error)

// library is documents cut into passages.
type library struct {
	*collection
	whole     []index.Doc
	snapshots cite.Snapshots
	texts     map[string]*cite.Snapshot // by document
	places    map[string]quotation      // of passages
}

// passageSize is how many characters of a document make a passage.
const passageSize = 900

// shelve cuts documents into passages and indexes them.
func shelve(docs []index.Doc) (*library, error) {
	l := &library{whole: docs, snapshots: cite.Snapshots{}, texts: map[string]*cite.Snapshot{}, places: map[string]quotation{}}
	var passages []index.Doc
	for i, d := range docs {
		d.Text = strings.TrimPrefix(d.Text, "\ufeff") // says how a file is written, and is no text
		docs[i] = d
		l.texts[d.ID] = l.snapshots.Add(d.Text)
		for i, span := range packed(d.Text, passageSize) {
			p := index.Doc{ID: fmt.Sprintf("%s#%03d", d.ID, i), Title: d.Title, Text: span.In(d.Text)}
			l.places[p.ID] = quotation{d.ID, span.Start, span.End}
			passages = append(passages, p)
		}
	}
	var err error
	l.collection, err = collect(passages)
	return l, err
}

// packed cuts text between sentences into spans of about size characters.
func packed(text string, size int) []lang.Span {
	var out []lang.Span
	for _, s := range lang.Sentences(text) {
		if n := len(out); n > 0 && len([]rune(text[out[n-1].Start:s.End])) <= size {
			out[n-1].End = s.End
			continue
		}
		out = append(out, s)
	}
	return out
}

// product returns what answers as the product does, and what to do when it is
// not needed any more.
func (l *library) product(ctx context.Context) (ask answerer, done func(), err error) {
	p, err := assemble(ctx, l.whole, false)
	if err != nil {
		return nil, nil, err
	}
	return func(question string, _ func(string) bool) (answered, error) { return p.answer(ctx, question) }, p.close, nil
}

// found is how many passages an answer is chosen from.
const found = 10

// answer is the extractive answer: for each facet of the question, sentences of
// the passages that rank best for it. What answers some facet is quoted alone.
func (l *library) answer(question string, keep func(doc string) bool) (answered, error) {
	all := answered{Refused: true}
	facets := extract.Facets(question)
	for _, facet := range facets {
		r, err := l.answerOne(facet, keep)
		if err != nil {
			return answered{}, err
		}
		switch {
		case all.Refused && !r.Refused:
			all.Quotes = r.Quotes
		case all.Refused == r.Refused:
			all.Quotes = append(all.Quotes, r.Quotes...)
		}
		all.Refused = all.Refused && r.Refused
		if len(facets) == 1 {
			all.passages, all.weights = r.passages, r.weights
		}
	}
	seen := map[quotation]bool{}
	all.Quotes = slices.DeleteFunc(all.Quotes, func(q quotation) bool {
		twice := seen[q]
		seen[q] = true
		return twice
	})
	return all, nil
}

func (l *library) answerOne(facet string, keep func(doc string) bool) (answered, error) {
	q := index.Query{Text: facet, Limit: found}
	if keep != nil {
		q.Filter = func(id string) bool { return keep(l.places[id].Doc) }
	}
	hits, err := extract.Search(l.ix, q, l.candidates)
	if err != nil {
		return answered{}, err
	}
	r := answered{weights: map[string]float64{}}
	for _, h := range hits {
		d := l.docs[h.ID]
		r.passages = append(r.passages, extract.Passage{ID: d.ID, Title: d.Title, Text: d.Text})
	}
	s := extract.Select(facet, r.passages, recorded{l.ix, r.weights}, extract.Options{})
	r.Refused = !s.Answered
	for _, c := range s.Quotes {
		at := l.places[r.passages[c.Passage].ID]
		r.Quotes = append(r.Quotes, quotation{at.Doc, at.Start + c.Start, at.Start + c.End})
	}
	return r, nil
}

// recorded keeps the weights that were asked for.
type recorded struct {
	extract.Weights
	seen map[string]float64
}

func (r recorded) Weight(term string) float64 {
	w := r.Weights.Weight(term)
	r.seen[term] = w
	return w
}

// outcome counts what becomes of puzzles.
type outcome struct {
	n         int
	inside    int // every part of the right answer stands in the quotations
	stems     int // its words do, in some form
	refused   int
	wrong     int // answered, with quotations that lack the right answer
	sentences int
	words     int
	quotes    int
	exact     int // quotations found in their snapshots
}

func (t *outcome) add(o outcome) {
	t.n, t.inside, t.stems, t.refused, t.wrong = t.n+o.n, t.inside+o.inside, t.stems+o.stems, t.refused+o.refused, t.wrong+o.wrong
	t.sentences, t.words, t.quotes, t.exact = t.sentences+o.sentences, t.words+o.words, t.quotes+o.quotes, t.exact+o.exact
}

// solve answers a puzzle, judges the answer and records both.
func (e *Env) solve(l *library, answer answerer, p puzzle, part string, keep func(doc string) bool) (outcome, error) {
	r, err := answer(p.Text, keep)
	if err != nil {
		return outcome{}, fmt.Errorf("question %s: %w", p.ID, err)
	}
	t, err := e.judge(p, part, r, quoted(r.Quotes, func(doc string) string { return l.texts[doc].Text }))
	t.exact = l.exact(r.Quotes)
	return t, err
}

// judge compares what was quoted with the right answer, and records both.
func (e *Env) judge(p puzzle, part string, r answered, quoted []string) (outcome, error) {
	t := outcome{n: 1, sentences: len(r.Quotes), quotes: len(r.Quotes)}
	for _, q := range quoted {
		t.words += lang.Words(q)
	}
	inside := holds(quoted, p.Parts)
	if inside {
		t.inside = 1
	}
	if inside || holdsStems(quoted, p.Parts) {
		t.stems = 1
	}
	if r.Refused {
		t.refused = 1
	} else if !inside {
		t.wrong = 1
	}
	return t, e.Record(struct {
		ID       string             `json:"id"`
		Part     string             `json:"part"`
		Group    string             `json:"group"`
		Question string             `json:"question"`
		Gold     [][]string         `json:"gold"`
		Quotes   []string           `json:"quotes"`
		Inside   bool               `json:"inside"`
		Refused  bool               `json:"refused"`
		Passages []extract.Passage  `json:"passages"`
		Weights  map[string]float64 `json:"weights"`
	}{p.ID, part, p.Group, p.Text, p.Parts, quoted, inside, r.Refused, r.passages, r.weights})
}

// quoted returns the texts of quotations; those between which nothing is left
// out are read as one.
func quoted(quotes []quotation, textOf func(doc string) string) []string {
	quotes = slices.Clone(quotes)
	slices.SortStableFunc(quotes, func(a, b quotation) int {
		return cmp.Or(strings.Compare(a.Doc, b.Doc), cmp.Compare(a.Start, b.Start))
	})
	var out []string
	for i, q := range quotes {
		text := textOf(q.Doc)
		if i > 0 {
			if last := quotes[i-1]; last.Doc == q.Doc && last.End <= q.Start && strings.TrimSpace(text[last.End:q.Start]) == "" {
				out[len(out)-1] += text[last.End:q.End]
				continue
			}
		}
		out = append(out, text[q.Start:q.End])
	}
	return out
}

// exact counts the quotations that stand in their snapshots, by the check that
// every delivered answer passes.
func (l *library) exact(quotes []quotation) int {
	ledger := cite.NewLedger()
	var passages []cite.Passage
	for _, q := range quotes {
		source := ledger.Add(cite.Source{URI: q.Doc, Kind: cite.Collection})
		if source.Snapshot == "" {
			if _, err := ledger.Read(source.Number, l.texts[q.Doc]); err != nil {
				return 0
			}
		}
		passages = append(passages, l.texts[q.Doc].PassageAt(source.Number, lang.Span{Start: q.Start, End: q.End}))
	}
	return cite.VerifyQuotes(ledger, l.snapshots, passages).Covered
}

// holds reports whether every part of an answer stands in a quotation, in one
// of its forms. Case, punctuation and white space don't count; a number or
// word must be there as a whole.
func holds(quoted []string, parts [][]string) bool {
	return every(quoted, parts, func(q, form string) bool {
		return form != "" && strings.Contains(" "+plain(q)+" ", " "+plain(form)+" ")
	})
}

// holdsStems is the same for the stems of the words, in any order.
func holdsStems(quoted []string, parts [][]string) bool {
	return every(quoted, parts, func(q, form string) bool {
		has, found := map[string]bool{}, false
		for _, t := range index.Tokens(q, "") {
			has[t.Term] = true
		}
		for _, t := range index.Tokens(form, "") {
			if !t.Function && !has[t.Term] {
				return false
			}
			found = true
		}
		return found
	})
}

func every(quoted []string, parts [][]string, in func(quoted, form string) bool) bool {
	return !slices.ContainsFunc(parts, func(forms []string) bool {
		return !slices.ContainsFunc(forms, func(form string) bool {
			return slices.ContainsFunc(quoted, func(q string) bool { return in(q, form) })
		})
	})
}

// plain returns the words of a text, each Chinese character one, in lower case
// with single spaces between them.
func plain(text string) string {
	var b strings.Builder
	gap := true
	runes := []rune(strings.ToLower(text))
	for i, r := range runes {
		switch {
		case r >= 0x2e80 && unicode.IsLetter(r):
			if !gap {
				b.WriteByte(' ')
			}
			b.WriteRune(r)
			b.WriteByte(' ')
			gap = true
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			if i > 0 && !gap && unicode.IsDigit(r) != unicode.IsDigit(runes[i-1]) && unicode.IsLetter(runes[i-1]) != unicode.IsLetter(r) {
				b.WriteByte(' ') // 5km and 5 km are one
			}
			b.WriteRune(r)
			gap = false
		case unicode.Is(unicode.Mn, r), r == 0xad:
		case r == ',' && i > 0 && i+1 < len(runes) && unicode.IsDigit(runes[i-1]) && unicode.IsDigit(runes[i+1]):
		default:
			if !gap {
				b.WriteByte(' ')
			}
			gap = true
		}
	}
	return strings.TrimSpace(b.String())
}

// reportAnswers prints how well answers quote. What is only shown as nearest,
// because nothing answers, is not an answer.
func (e *Env) reportAnswers(suffix string, t outcome) {
	e.Ratio("answer-in-citation"+suffix, t.n-t.refused-t.wrong, t.n)
	if suffix == ".ru" {
		e.Ratio("answer-in-citation-stem"+suffix, t.stems, t.n)
	}
	e.Score("sentences"+suffix, float64(t.sentences)/float64(max(1, t.n)), t.n)
	e.Score("words"+suffix, float64(t.words)/float64(max(1, t.n)), t.n)
}

// reportRefusals prints how well answers are withheld: rejection is the share
// of questions refused, false-answer the share answered although the right
// answer is not in the quotations. A question whose answer was taken away is
// to be refused; one whose answer is there, answered.
func (e *Env) reportRefusals(suffix string, t outcome) {
	e.Ratio("rejection"+suffix, t.refused, t.n)
	e.Ratio("false-answer"+suffix, t.wrong, t.n)
}
