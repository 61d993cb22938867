// Package extract answers a question with sentences that stand in what was
// found: it chooses the sentences, and it tells whether they answer at all.
//
// It asks no model. What it goes by are words: how much of what the question
// asks about a sentence and its surroundings have, whether something of the
// kind that is asked for (a name, a date, a number) stands there, and how well
// the passage was ranked. [Facets], [Queries] and [FollowUps] are the parts of
// a search that a model would plan, done by rules that rather do nothing than
// damage a question.
package extract

import (
	"slices"
	"strings"

	"dossier/extract/internal/evidence"
	"dossier/extract/internal/junk"
	"dossier/index"
	"dossier/lang"
)

// Passage is a text that was found, with what stands above it.
type Passage struct {
	ID       string
	Title    string
	Headings []string // it stands under, the outermost first
	Text     string
	// Near is how near it comes to the question by its meaning, from 0 to 1, as
	// a search by meaning had it: 0 for what is not among the nearest, and for
	// all where there was no such search.
	Near float64
}

// Quote is a part of a passage to quote.
type Quote struct {
	Passage    int       // index among the passages given
	Start, End int       // bytes of its text
	Mark       lang.Span // the sentence in it that says most, in bytes of the same text
}

// In returns the quote's words.
func (q Quote) In(passages []Passage) string { return passages[q.Passage].Text[q.Start:q.End] }

// Selection is an answer made of quotations.
type Selection struct {
	// Quotes in the order in which to read them: as the passages are ranked.
	Quotes []Quote
	// Confidence is the probability that they answer the question.
	Confidence float64
	// Answered says that Confidence is at or above the floor. Where it is not,
	// the quotes are the nearest there is.
	Answered bool
	// Signs are what the confidence was told by, and Near is how near the first
	// quoted passage comes by its meaning, for those who fit it.
	Signs Signs
	Near  float64
}

// Signs tell whether quotes answer a question.
type Signs = [evidence.SignSize]float64

// SignNames name them.
var SignNames = evidence.SignNames

// NearSigns are what the confidence is told by where passages have a nearness.
func NearSigns(s *Signs, near float64) [evidence.NearSize]float64 { return evidence.NearSigns(s, near) }

// Weights tells how telling a term of package index is in the collection
// searched. [index.Index] does.
type Weights interface{ Weight(term string) float64 }

// Rephraser is a [Weights] that knows other ways to say words of a question.
// The words of a collection do.
type Rephraser interface {
	Rephrase(text string) ([]index.Group, error)
}

// rephrased returns other ways to say words of a question. Without them its own
// words still count.
func rephrased(question string, w Weights) []index.Group {
	if r, ok := w.(Rephraser); ok {
		if groups, err := r.Rephrase(question); err == nil {
			return groups
		}
	}
	return nil
}

// Options bound a selection. The zero value works.
type Options struct {
	Lang   lang.Code // of the passages; detected if empty
	Quotes int       // at most; 3 if zero
	Words  int       // of one quote at most, as lang.Words counts; 80 if zero, 130 in Chinese
	Prose  bool      // titles and headings are not quoted by themselves
	Floor  float64   // of the confidence from which a question is answered; [Floor] if zero
}

// Floor is the confidence from which a question counts as answered. It is low:
// in manuals an answer is often said in other words than the question, and what
// has most of the question's words often answers another. bench/fit prints what
// other floors would let through and refuse.
const Floor = 0.12

// Sure is the confidence from which quotes answer more often than not: of those
// below it fewer than half do, of those above it six or seven in ten
// (bench/results/fit.txt).
const Sure = 0.3

const (
	defaultQuotes   = 3
	defaultWords    = 80
	defaultHanWords = 130
	// leastShare is what a passage must have of the question beside the best one
	// to be quoted after it, unless it was found by its meaning.
	leastShare = 0.6
)

// Select chooses what to quote of passages, which come ranked, the best first,
// to answer the question: of each the sentence that says most with what stands
// around it. A nil w takes all terms as equally telling.
func Select(question string, passages []Passage, w Weights, o Options) Selection {
	read := readAll(question, passages, w, o)
	var s Selection
	var spots []evidence.Spot
	s.Quotes, spots = choose(read, passages, o, junk.For(question))
	s.Signs = read.Signs(spots)
	s.Confidence = evidence.Confidence(&s.Signs)
	if slices.ContainsFunc(passages, func(p Passage) bool { return p.Near > 0 }) && len(s.Quotes) > 0 {
		s.Near = passages[s.Quotes[0].Passage].Near
		s.Confidence = evidence.NearConfidence(&s.Signs, s.Near)
	}
	floor := o.Floor
	if floor == 0 {
		floor = Floor
	}
	s.Answered = len(s.Quotes) > 0 && s.Confidence >= floor
	return s
}

func readAll(question string, passages []Passage, w Weights, o Options) *evidence.Reading {
	texts := make([]evidence.Passage, len(passages))
	for i, p := range passages {
		texts[i] = evidence.Passage{Above: append([]string{p.Title}, p.Headings...), Text: p.Text}
	}
	return evidence.ReadAll(question, texts, o.Lang, w, rephrased(question, w)...)
}

// Junk tells sentences of pages that are not quoted in an answer to a question:
// orders to a model, calls to buy, what a site says of itself, words piled up.
// What the question is about is none of these.
func Junk(question string) func(sentence string) bool { return junk.For(question).Is }

// choose quotes the first passages that say something else than those before.
func choose(r *evidence.Reading, passages []Passage, o Options, junk *junk.Filter) ([]Quote, []evidence.Spot) {
	most := o.Quotes
	if most <= 0 {
		most = defaultQuotes
	}
	var out []Quote
	var spots []evidence.Spot
	var taken []*evidence.Unit
	best := 0.0
	for i, p := range r.Pages {
		if len(out) == most {
			break
		}
		at, share := r.Top(i)
		for at >= 0 && (junk.Is(p.Units[at].In(passages[i].Text)) || o.Prose && heads(passages[i], p.Units[at].In(passages[i].Text))) {
			r.Drop(i, at)
			at, share = r.Top(i)
		}
		if at < 0 || passages[i].Near <= 0 && (share <= 0 || share < leastShare*best) {
			continue
		}
		unit := &p.Units[at]
		if slices.ContainsFunc(taken, func(t *evidence.Unit) bool { return evidence.Alike(t, unit) }) {
			continue
		}
		words := o.Words
		if words <= 0 {
			words = defaultWords
			if han(unit.In(passages[i].Text)) {
				words = defaultHanWords
			}
		}
		from, to := p.Around(passages[i].Text, at, words)
		for k := at + 1; k < to; k++ {
			if junk.Is(p.Units[k].In(passages[i].Text)) {
				to = k
			}
		}
		for k := at - 1; k >= from; k-- {
			if junk.Is(p.Units[k].In(passages[i].Text)) {
				from = k + 1
			}
		}
		taken, best = append(taken, unit), max(best, share)
		spots = append(spots, evidence.Spot{Page: i, Unit: at})
		mark := unit.Quoted(passages[i].Text)
		start := p.Units[from].Quoted(passages[i].Text).Start
		if from == at {
			start = mark.Start
		}
		out = append(out, Quote{Passage: i, Start: start, End: p.Units[to-1].Quoted(passages[i].Text).End, Mark: mark})
	}
	return out, spots
}

// heads reports whether a sentence is the title of a passage or stands above it.
func heads(p Passage, sentence string) bool {
	sentence = strings.Trim(sentence, "# \t\r\n")
	return slices.ContainsFunc(append([]string{p.Title}, p.Headings...), func(h string) bool { return strings.EqualFold(strings.TrimSpace(h), sentence) })
}

// han reports whether a text is mostly in a script without spaces.
func han(text string) bool {
	n, all := 0, 0
	for _, r := range text {
		if r > ' ' {
			all++
			if r >= 0x2e80 {
				n++
			}
		}
	}
	return 2*n > all
}
