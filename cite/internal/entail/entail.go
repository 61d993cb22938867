// Package entail estimates, without a model, whether a passage bears a claim
// out: from shared words, numbers, names, their order, and cues of negation
// and opposition in English, Russian and Chinese. It knows nothing of meaning,
// so it can tell a copy from an invention and not much in between.
package entail

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/index"
	"dossier/lang"
)

// word is a content term of a claim.
type word struct {
	term   string
	weight float64
	name   bool
	number bool
	pair   bool
}

// Claim is a claim made ready to be compared.
type Claim struct {
	words   []word
	signs   signs
	numbers []float64
	pairs   bool // written without spaces
}

// Passage is a text made ready to be compared with claims.
type Passage struct {
	Sentences []Sentence
}

// Sentence is one of a passage's.
type Sentence struct {
	Start, End int
	terms      []string // in order, function words left out
	sorted     []string
	signs      signs
	numbers    []float64
	months     []float64
	text       string
}

const maxSentences = 4000

// ReadClaim analyses a claim.
func ReadClaim(text string, code lang.Code) *Claim {
	c := &Claim{signs: signsOf(text)}
	tokens := index.Tokens(text, code)
	start := true
	for i, t := range tokens {
		if t.Function {
			start = false
			continue
		}
		w := word{term: t.Term, weight: weigh(t), number: t.Number, pair: t.Pair}
		first, _ := utf8.DecodeRuneInString(text[t.Start:])
		opens := start || i > 0 && !t.Pair && tokens[i-1].End <= t.Start && strings.ContainsAny(text[tokens[i-1].End:t.Start], ".!?")
		if !opens && unicode.IsUpper(first) {
			w.name = true
			w.weight *= 1.3
		}
		c.pairs = c.pairs || t.Pair
		c.words = append(c.words, w)
		start = false
	}
	for _, n := range Numbers(text) {
		c.numbers = append(c.numbers, n.Value)
	}
	return c
}

// weigh guesses how rare a term is where there is nothing to count in: longer
// words and numbers are rarer.
func weigh(t index.Token) float64 {
	switch {
	case t.Pair:
		return 0.8
	case t.Number:
		return 1.3
	}
	return 0.5 + 0.07*float64(min(10, utf8.RuneCountInString(t.Term)))
}

// ReadPassage analyses a passage.
func ReadPassage(text string, code lang.Code) *Passage {
	p := &Passage{}
	if code == "" {
		code = lang.Detect(text)
	}
	for _, span := range lang.Sentences(text) {
		if len(p.Sentences) == maxSentences {
			break
		}
		p.Sentences = append(p.Sentences, readSentence(span.In(text), span, code))
	}
	return p
}

func readSentence(text string, span lang.Span, code lang.Code) Sentence {
	s := Sentence{Start: span.Start, End: span.End, signs: signsOf(text), text: text}
	for _, t := range index.Tokens(text, code) {
		if !t.Function {
			s.terms = append(s.terms, t.Term)
		}
	}
	s.sorted = slices.Clone(s.terms)
	slices.Sort(s.sorted)
	s.sorted = slices.Compact(s.sorted)
	for _, n := range Numbers(text) {
		s.numbers = append(s.numbers, n.Value)
	}
	words(text, func(w string, _, _ int) {
		if m, ok := months[w]; ok {
			s.months = append(s.months, m)
		}
	})
	return s
}

// match says how well a sentence has a term: 1 if it does, less for a word of
// the same root or a pair whose two characters stand apart.
func (s *Sentence) match(w word) float64 {
	i, found := slices.BinarySearch(s.sorted, w.term)
	if found {
		return 1
	}
	if w.number {
		return 0
	}
	if w.pair {
		n := 0
		for _, r := range w.term {
			if strings.ContainsRune(s.text, r) {
				n++
			}
		}
		if n == 2 {
			return 0.5
		}
		return 0
	}
	size := utf8.RuneCountInString(w.term)
	if size < 4 {
		return 0
	}
	best := 0.0
	for _, j := range []int{i - 1, i} {
		if j < 0 || j >= len(s.sorted) {
			continue
		}
		other := s.sorted[j]
		common := lang.SharedPrefix(w.term, other)
		longer := max(size, utf8.RuneCountInString(other))
		if common >= 4 && 3*common >= 2*longer {
			best = max(best, 0.75)
		}
	}
	return best
}

// Size is how many features there are.
const Size = 25

// NumbersMissing is the feature that tells which share of a claim's numbers
// stand in no passage; Had which share of its words the best window has; and
// Denies that it denies something and the window nothing.
const (
	NumbersMissing = 6
	Had            = 2
	Denies         = 11
)

// Names of the features, for those who fit weights.
var Names = [Size]string{"bias", "sentence", "window", "whole", "whole²", "numbers-missing", "numbers-missing-all", "numbers-found",
	"names-missing", "order", "negated", "claim-negated", "opposed", "absolute", "claim-length", "precision", "sequence",
	"sentences", "number-conflict", "pairs", "pairs·window", "uncovered", "rare-missing", "negated·whole", "unrelated"}

// Features compares a claim with passages. It also returns the best window:
// passage, first and last sentence; passage is -1 when there is nothing.
func Features(c *Claim, passages []*Passage) (f [Size]float64, best Window) {
	best = Window{Passage: -1}
	f[0] = 1
	if len(c.words) == 0 {
		return f, best
	}
	weights := c.rarity(passages)
	total := 0.0
	for _, w := range weights {
		total += w
	}
	whole := make([]float64, len(c.words))
	sentences := 0
	var top float64 = -1
	for pi, p := range passages {
		rows := make([][]float64, len(p.Sentences))
		for si := range p.Sentences {
			sentences++
			s := &p.Sentences[si]
			row := make([]float64, len(c.words))
			sum := 0.0
			for wi, w := range c.words {
				row[wi] = s.match(w)
				whole[wi] = max(whole[wi], row[wi])
				sum += row[wi] * weights[wi]
			}
			rows[si] = row
			if share := sum / total; share > f[1] {
				f[1] = share
			}
			// Windows of up to three sentences that end here.
			acc := slices.Clone(row)
			for from := si; from >= 0 && from > si-3; from-- {
				share := 0.0
				for wi := range acc {
					acc[wi] = max(acc[wi], rows[from][wi])
					share += acc[wi] * weights[wi]
				}
				share = share/total - 0.03*float64(si-from)
				if share > top {
					top, best = share, Window{Passage: pi, First: from, Last: si}
				}
			}
		}
	}
	if best.Passage < 0 {
		return f, best
	}
	window := passages[best.Passage].Sentences[best.First : best.Last+1]
	f[2] = max(0, top+0.03*float64(len(window)-1))
	missing, rare, maxWeight := 0.0, 0.0, 0.0
	names, nameless := 0.0, 0.0
	for wi, m := range whole {
		f[3] += m * weights[wi] / total
		missing += (1 - m) * weights[wi]
		if weights[wi] > maxWeight {
			maxWeight, rare = weights[wi], 1-m
		}
		if c.words[wi].name {
			names++
			nameless += 1 - m
		}
	}
	f[4] = f[3] * f[3]
	f[24] = max(0, 1-3.5*f[3])
	f[21] = min(1, missing/6)
	f[22] = rare
	if names > 0 {
		f[8] = nameless / names
	}
	c.numberFeatures(&f, window, passages)
	f[9] = c.order(window)
	f[16] = c.sequence(window)

	negations, aligned := 0, signs{opposite: map[int]bool{}}
	precision, words := 0.0, 0
	for i := range window {
		s := &window[i]
		negations += s.signs.negations
		aligned.absolutes += s.signs.absolutes
		for id := range s.signs.opposite {
			aligned.opposite[id] = true
		}
		words += len(s.terms)
		for _, t := range s.terms {
			if slices.ContainsFunc(c.words, func(w word) bool { return w.term == t }) {
				precision++
			}
		}
	}
	if (c.signs.negations%2 == 1) != (negations%2 == 1) {
		f[10] = f[2]
		f[23] = f[3] * f[3]
	}
	if c.signs.negations > 0 && negations == 0 {
		f[11] = 1
	}
	f[12] = float64(min(2, opposed(c.signs, aligned)))
	if c.signs.absolutes > 0 && aligned.absolutes == 0 {
		f[13] = 1
	}
	f[14] = math.Log(1+float64(len(c.words))) / 4
	if words > 0 {
		f[15] = precision / float64(words)
	}
	f[17] = math.Log(float64(sentences)) / 5
	if c.pairs {
		f[19] = 1
		f[20] = f[2]
	}
	return f, best
}

// Window is a run of sentences of one of the passages.
type Window struct{ Passage, First, Last int }

// rarity returns the words' weights with what can be learnt from the
// passages: a word that stands in every sentence tells little.
func (c *Claim) rarity(passages []*Passage) []float64 {
	n := 0
	counts := make([]int, len(c.words))
	for _, p := range passages {
		n += len(p.Sentences)
		for si := range p.Sentences {
			for wi := range c.words {
				if _, ok := slices.BinarySearch(p.Sentences[si].sorted, c.words[wi].term); ok {
					counts[wi]++
				}
			}
		}
	}
	out := make([]float64, len(c.words))
	top := math.Log(float64(n) + 2)
	for wi, w := range c.words {
		idf := 1.0
		if n >= 5 {
			idf = 0.4 + 0.6*math.Log(float64(n+2)/float64(counts[wi]+1))/top
		}
		out[wi] = w.weight * idf
	}
	return out
}

func (c *Claim) numberFeatures(f *[Size]float64, window []Sentence, passages []*Passage) {
	if len(c.numbers) == 0 {
		return
	}
	near, far, others := 0.0, 0.0, 0
	for _, v := range c.numbers {
		if !hasNumber(window, v) {
			near++
			if !slices.ContainsFunc(passages, func(p *Passage) bool { return hasNumber(p.Sentences, v) }) {
				far++
			}
		}
	}
	for i := range window {
		for _, v := range window[i].numbers {
			if !slices.Contains(c.numbers, v) {
				others++
			}
		}
	}
	n := float64(len(c.numbers))
	f[5], f[6] = near/n, far/n
	if near == 0 {
		f[7] = 1
	}
	if far > 0 && others > 0 {
		f[18] = f[2]
	}
}

func hasNumber(sentences []Sentence, v float64) bool {
	for i := range sentences {
		s := &sentences[i]
		for _, o := range s.numbers {
			if o == v || v > 1e4 && math.Abs(o-v) < 0.005*v {
				return true
			}
		}
		if slices.Contains(s.months, v) {
			return true
		}
	}
	return false
}

// order is the share of neighbouring words of the claim that also stand near
// each other, in that order, in the window.
func (c *Claim) order(window []Sentence) float64 {
	if len(c.words) < 2 {
		return 0
	}
	hits := 0
	for i := 1; i < len(c.words); i++ {
		a, b := c.words[i-1].term, c.words[i].term
		found := false
		for si := range window {
			terms := window[si].terms
			for k, t := range terms {
				if t == a && slices.Contains(terms[k+1:min(len(terms), k+4)], b) {
					found = true
				}
			}
		}
		if found {
			hits++
		}
	}
	return float64(hits) / float64(len(c.words)-1)
}

// sequence is the length of the longest common subsequence of the claim's and
// the window's words, by the claim's length.
func (c *Claim) sequence(window []Sentence) float64 {
	var terms []string
	for i := range window {
		terms = append(terms, window[i].terms...)
	}
	terms = terms[:min(len(terms), 400)]
	row := make([]int, len(terms)+1)
	for _, w := range c.words[:min(len(c.words), 200)] {
		diagonal := 0
		for j, t := range terms {
			up := row[j+1]
			if t == w.term {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diagonal = up
		}
	}
	return float64(row[len(terms)]) / float64(len(c.words))
}
