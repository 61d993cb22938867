// Package extract answers a question with sentences that stand in what was
// found: it chooses the sentences, and it tells whether they answer at all.
//
// It knows no model. What it goes by are words: how much of what the question
// asks about a sentence and its surroundings have, whether something of the
// kind that is asked for (a name, a date, a number) stands there, and how well
// the passage was ranked. [Facets], [Queries] and [FollowUps] are the parts of
// a search that a model would plan, done by rules that rather do nothing than
// damage a question.
package extract

import (
	"cmp"
	"slices"

	"dossier/extract/internal/evidence"
	"dossier/lang"
)

// Passage is a text that was found, with what stands above it.
type Passage struct {
	ID       string
	Title    string
	Headings []string // it stands under, the outermost first
	Text     string
}

// Sentence is a part of a passage to quote.
type Sentence struct {
	Passage    int     // index among the passages given
	Start, End int     // bytes of its text
	Score      float64 // probability that it has the answer
}

// In returns the sentence's words.
func (s Sentence) In(passages []Passage) string { return passages[s.Passage].Text[s.Start:s.End] }

// Selection is an answer made of quotations.
type Selection struct {
	// Sentences in the order in which to read them: as the passages are
	// ranked, and as they stand in each.
	Sentences []Sentence
	// Confidence is the probability that they answer the question.
	Confidence float64
	// Answered says that Confidence is at or above the floor. Where it is not,
	// the sentences are the nearest there is.
	Answered bool
}

// Weights tells how telling a term of package index is in the collection
// searched. [index.Index] does.
type Weights interface{ Weight(term string) float64 }

// Options bound a selection. The zero value works.
type Options struct {
	Lang      lang.Code // of the passages; detected if empty
	Sentences int       // at most; 5 if zero
	Words     int       // at most, as lang.Words counts; 120 if zero, 250 in Chinese
	Floor     float64   // of the confidence from which a question is answered; [Floor] if zero
}

// Floor is the confidence from which a question counts as answered. Of the
// questions whose article was taken away, over four languages, it refuses
// fourteen in fifteen, and one in eight of those whose article is there; a
// lower floor trades one for the other.
const Floor = 0.32

const (
	defaultSentences = 5
	defaultWords     = 120
	defaultHanWords  = 250
	// enough is the share of all probability from which no more sentences are
	// taken.
	enough = 0.85
	// leastShare is what a sentence must have of the best one's probability.
	leastShare = 0.1
)

// Select chooses sentences of passages, which come ranked, the best first,
// that answer the question. A nil w takes all terms as equally telling.
func Select(question string, passages []Passage, w Weights, o Options) Selection {
	read := readAll(question, passages, w, o)
	s := Selection{Confidence: read.Confidence()}
	s.Sentences = choose(read, passages, o)
	floor := o.Floor
	if floor == 0 {
		floor = Floor
	}
	s.Answered = len(s.Sentences) > 0 && s.Confidence >= floor
	return s
}

func readAll(question string, passages []Passage, w Weights, o Options) *evidence.Reading {
	texts := make([]evidence.Passage, len(passages))
	for i, p := range passages {
		texts[i] = evidence.Passage{Above: append([]string{p.Title}, p.Headings...), Text: p.Text}
	}
	return evidence.ReadAll(question, texts, o.Lang, w)
}

type unitAt struct{ page, unit int }

// choose takes the most probable units until they are enough, each with what
// it leans on.
func choose(r *evidence.Reading, passages []Passage, o Options) []Sentence {
	most, words := o.Sentences, o.Words
	if most <= 0 {
		most = defaultSentences
	}
	var order []unitAt
	total := 0.0
	for i := range r.P {
		for j, p := range r.P[i] {
			if p > 0 {
				order = append(order, unitAt{i, j})
				total += p
			}
		}
	}
	if len(order) == 0 {
		return nil
	}
	prob := func(at unitAt) float64 { return r.P[at.page][at.unit] }
	slices.SortStableFunc(order, func(a, b unitAt) int { return cmp.Compare(prob(b), prob(a)) })
	unit := func(at unitAt) *evidence.Unit { return &r.Pages[at.page].Units[at.unit] }
	if words <= 0 {
		words = defaultWords
		if han(unit(order[0]).In(passages[order[0].page].Text)) {
			words = defaultHanWords
		}
	}
	var taken []unitAt
	had, used := 0.0, 0
	for _, at := range order {
		if len(taken) >= most || len(taken) > 0 && (had >= enough*total || prob(at) < leastShare*prob(order[0])) {
			break
		}
		if slices.Contains(taken, at) {
			had += prob(at)
			continue
		}
		twin := slices.ContainsFunc(taken, func(t unitAt) bool { return evidence.Alike(unit(t), unit(at)) })
		if twin || len(taken) > 0 && used+unit(at).Words > words {
			had += prob(at)
			continue
		}
		taken, had, used = append(taken, at), had+prob(at), used+unit(at).Words
		if lead := (unitAt{at.page, unit(at).Lead}); lead.unit >= 0 && !slices.Contains(taken, lead) &&
			len(taken) < most && used+unit(lead).Words <= words {
			taken, used = append(taken, lead), used+unit(lead).Words
		}
	}
	slices.SortFunc(taken, func(a, b unitAt) int { return cmp.Or(cmp.Compare(a.page, b.page), cmp.Compare(a.unit, b.unit)) })
	out := make([]Sentence, len(taken))
	for i, at := range taken {
		u := unit(at)
		span := u.Quoted(passages[at.page].Text)
		out[i] = Sentence{Passage: at.page, Start: span.Start, End: span.End, Score: prob(at)}
	}
	return out
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
