package catalog

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"
)

// Enough is the confidence from which a tool is taken to serve a query. When
// nothing that was found reaches it, the catalog has no tool for the query.
const Enough = 0.35

// profile is what the confidence in an entry is judged by: words of its name,
// of the first sentence of its description and of its arguments, each once.
type profile struct{ name, brief, arguments []term }

// has says whether an entry has a term. Postings are in the order of entries.
func (x *Index) has(entry int, t term) bool {
	_, found := slices.BinarySearchFunc(x.postingsOf(t), int32(entry), func(p posting, e int32) int { return cmp.Compare(p.entry, e) })
	return found
}

// What a word counts when it is asked whether a tool fits.
const (
	commonWeight = 0.35 // vague words, and those that tools are described with
	nameWeight   = 0.4  // of names and quotations in a query, which are values
	kindred      = 0.5  // another word of the same group
	translated   = 0.9  // a word of the same group in another script
	mostEvidence = 6.0
)

// judged is what a term counts for confidence.
func judged(word string) float64 {
	switch {
	case manners()[word] == polite:
		return 0
	case manners()[word] == vague || toolish()[word]:
		return commonWeight
	}
	return 1
}

// question is a query as confidence sees it.
type question struct {
	x        *Index
	words    []asked
	terms    map[term]bool // its words
	concepts map[term]said // and the concepts that they belong to
}

// said is in which scripts words of a concept stand.
type said struct{ latin, other bool }

type asked struct {
	term     term // -1 for one that no entry has
	weight   float64
	latin    bool
	concepts []term
}

// latin says whether a word is written in Latin letters.
func latin(word string) bool { return word[0] < utf8.RuneSelf }

func (x *Index) questioned(query string) *question {
	q := &question{x: x, terms: map[term]bool{}, concepts: map[term]said{}}
	spans := quoted(query)
	at := map[string]int{}
	for _, w := range tokens(query) {
		if w.Function || w.Number {
			continue
		}
		weight := judged(w.Term)
		if within(spans, w.Start) || named(query, w.Start) {
			weight *= nameWeight
		}
		if i, again := at[w.Term]; again {
			q.words[i].weight = max(q.words[i].weight, weight)
			continue
		}
		at[w.Term] = len(q.words)
		a := asked{term: -1, weight: weight, latin: latin(w.Term)}
		if t, known := x.words[w.Term]; known {
			a.term = t
			q.terms[t] = true
		}
		for _, g := range concepts()[w.Term] {
			if c, there := x.concepts[g]; there {
				a.concepts = append(a.concepts, c)
				in := q.concepts[c]
				q.concepts[c] = said{in.latin || a.latin, in.other || !a.latin}
			}
		}
		q.words = append(q.words, a)
	}
	return q
}

// covered is the share of the weight of terms that the query speaks of.
func (q *question) covered(terms []term) float64 {
	got, all := 0.0, 0.0
	for _, t := range terms {
		weight := q.x.judged[t]
		all += weight
		switch {
		case q.terms[t]:
			got += weight
		default:
			got += weight * q.akin(t)
		}
	}
	if all == 0 {
		return 0
	}
	return got / all
}

// akin is how near the query comes to a word that it does not have.
func (q *question) akin(t term) float64 {
	near := 0.0
	for _, c := range q.x.conceptsOf[t] {
		switch in := q.concepts[c]; {
		case q.x.latin[t] && in.other || !q.x.latin[t] && in.latin:
			return translated
		case in != said{}:
			near = kindred
		}
	}
	return near
}

// evidence is how much of the query the entry speaks of, as a sum and as a
// share.
func (q *question) evidence(entry int) (sum, share float64) {
	all := 0.0
	for _, w := range q.words {
		all += w.weight
		switch {
		case w.term >= 0 && q.x.has(entry, w.term):
			sum += w.weight
		case slices.ContainsFunc(w.concepts, func(c term) bool { return q.x.has(entry, c) }):
			if w.latin {
				sum += kindred * w.weight
			} else {
				sum += translated * w.weight
			}
		}
	}
	if all == 0 {
		return 0, 0
	}
	return sum, sum / all
}

// signWeights and signBias make the log of the odds of the signs of a fit.
// They were fitted to questions with and without a function that serves them.
var signWeights = [5]float64{1.8, 1.2, 2.2, 0.7, 0.35}

const signBias = -2.5

// signs are what speaks for a fit: how much of the name, of the first sentence
// and of the arguments the query speaks of, and how much of the query the entry
// does, as a share and as a sum.
func (q *question) signs(entry int) [5]float64 {
	p := &q.x.profiles[entry]
	name, brief := q.covered(p.name), q.covered(p.brief)
	arguments := (name + brief) / 2
	if len(p.arguments) > 0 {
		arguments = q.covered(p.arguments)
	}
	sum, share := q.evidence(entry)
	return [5]float64{name, brief, arguments, share, min(sum, mostEvidence)}
}

// confidence says how surely an entry serves the query.
func (q *question) confidence(entry int) float64 {
	odds := signBias
	for i, s := range q.signs(entry) {
		odds += signWeights[i] * s
	}
	return 1 / (1 + math.Exp(-odds))
}
