package evidence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/index"
	"dossier/lang"
)

// Weights tells how telling a term of package index is in the collection.
type Weights interface{ Weight(term string) float64 }

// Term is a word of a question, or a pair of characters.
type Term struct {
	Name   string  // the stem
	Weight float64 // of all terms together: 1
	Key    bool    // a name or a number: what a passage must have to be about the same
	number bool
	kind   bool // it names the kind of answer
	linked bool // a pair of characters that begins with the end of the term before
	runes  int
}

// Question is a question that was read.
type Question struct {
	Terms []Term
	Want  Want
	Lang  lang.Code      // in which it and the passages are stemmed
	place map[string]int // of a term by its name
	other map[string]sense
	rare  float64 // how many of the rarest words its terms weigh as much as
}

// What a term weighs beside its rarity, so that a small collection, where all
// terms are common, tells them apart less and not at random.
const baseWeight = 0.6

// What words of a question that name the kind of answer ("year", "city") count
// of their weight: an answer hardly repeats them.
const kindWeight = 0.35

// glueWeight is what a pair of Chinese characters counts of which one is
// grammar: it stands for no word.
const glueWeight = 0.3

// nowhere is a term that no document has.
const nowhere = "\x00"

// Read reads a question. The language decides how Latin words are stemmed; it
// must be that of the passages.
func Read(question string, code lang.Code, w Weights, groups ...index.Group) *Question {
	q := &Question{Lang: code, place: map[string]int{}, Want: wanted(question)}
	kinds := kindWords()
	total := 0.0
	tokens := index.TokensAndNames(question, code)
	phrases := askPhrases(question)
	end := 0 // of the pair that gave the last term
	for _, t := range tokens {
		surface := question[t.Start:t.End]
		if t.Function || lone(surface) && !t.Number || t.Pair && overlaps(phrases, t.Start, t.End) {
			continue
		}
		if _, known := q.place[t.Term]; known {
			continue
		}
		weight := 1.0
		if w != nil {
			weight = baseWeight + q.rarity(w, t, groups)
		}
		q.also(len(q.Terms), t, groups)
		kind := kinds[strings.ToLower(surface)]
		switch {
		case kind:
			weight *= kindWeight
		case t.Pair && strings.ContainsAny(surface, glue):
			weight *= glueWeight
		}
		q.place[t.Term] = len(q.Terms)
		q.Terms = append(q.Terms, Term{
			Name: t.Term, Weight: weight, Key: key(question, t), number: t.Number, kind: kind,
			linked: t.Pair && t.Start < end, runes: utf8.RuneCountInString(t.Term),
		})
		if end = 0; t.Pair {
			end = t.End
		}
		total += weight
	}
	for i := range q.Terms {
		q.Terms[i].Weight /= total
	}
	q.rare = total
	if w != nil {
		q.rare /= baseWeight + w.Weight(nowhere)
	}
	return q
}

// askPhrases returns where Chinese words that ask stand: no pair of characters
// that reaches into one is about anything.
func askPhrases(question string) []lang.Span {
	var out []lang.Span
	for _, phrase := range askWords() {
		for from := 0; ; {
			at := strings.Index(question[from:], phrase)
			if at < 0 {
				break
			}
			out = append(out, lang.Span{Start: from + at, End: from + at + len(phrase)})
			from += at + len(phrase)
		}
	}
	return out
}

func overlaps(spans []lang.Span, start, end int) bool {
	return slices.ContainsFunc(spans, func(s lang.Span) bool { return start < s.End && s.Start < end })
}

// lone reports whether a token is one character of a script without spaces:
// its pairs say more.
func lone(surface string) bool {
	r, size := utf8.DecodeRuneInString(surface)
	return size == len(surface) && r >= 0x2e80
}

// key reports whether a word of the question is a number or a name: by its
// capital, though the first word of a sentence proves nothing; by a capital, a
// digit or a sign within it; or by its script, a Latin word in a question that is
// in another.
func key(question string, t index.Token) bool {
	if t.Number {
		return true
	}
	r, size := utf8.DecodeRuneInString(question[t.Start:])
	if within := question[t.Start+size : t.End]; !t.Pair && strings.ContainsFunc(within, func(r rune) bool {
		return unicode.IsUpper(r) || unicode.IsDigit(r) || r == '_'
	}) {
		return true
	}
	if r < utf8.RuneSelf && unicode.IsLetter(r) && strings.ContainsFunc(question, func(r rune) bool {
		return unicode.In(r, unicode.Cyrillic, unicode.Han)
	}) {
		return true
	}
	before := strings.TrimRightFunc(question[:t.Start], unicode.IsSpace)
	return unicode.IsUpper(r) && before != "" && !strings.ContainsAny(before[len(before)-1:], ".?!")
}

// Match returns how surely a word of a passage is a term of the question: 1
// for the same stem, less for words that begin alike and for parts of compounds, 0 for none.
func (q *Question) Match(name string, number, pair bool) (term int, how float64) {
	if at, ok := q.place[name]; ok {
		return at, 1
	}
	if s, ok := q.other[name]; ok {
		return s.term, s.weight
	}
	if number || pair {
		return -1, 0
	}
	n := utf8.RuneCountInString(name)
	if n < minAlike {
		return -1, 0
	}
	best, most := -1, 0
	for i := range q.Terms {
		t := &q.Terms[i]
		if t.number || t.runes < minAlike {
			continue
		}
		same := lang.SharedPrefix(name, t.Name)
		if 3*same < 2*max(n, t.runes) {
			same = 0
			if short := min(n, t.runes); short > minAlike && (strings.Contains(name, t.Name) || strings.Contains(t.Name, name)) {
				same = short // a part of a compound
			}
		}
		if same >= minAlike && same > most {
			best, most = i, same
		}
	}
	if best < 0 {
		return -1, 0
	}
	return best, alike
}

const (
	minAlike = 4   // letters that two words of one root share at least
	alike    = 0.6 // what such a word counts
)

// Has reports whether a page has a word of the question, in some form.
func (q *Question) Has(surface string, pages []*Page) bool {
	terms := 0
	for _, t := range index.TokensAndNames(surface, q.Lang) {
		at, ok := q.place[t.Term]
		if !ok {
			continue
		}
		terms++
		for _, p := range pages {
			if p.covered[at] > 0 {
				return true
			}
		}
	}
	return terms == 0
}

// Subject are the words that the question is about, without those that name the
// kind of answer; keys are the names and numbers among them.
func (q *Question) Subject() (words, keys map[string]bool) {
	words, keys = map[string]bool{}, map[string]bool{}
	for _, t := range q.Terms {
		if !t.kind {
			words[t.Name] = true
		}
		if t.Key {
			keys[t.Name] = true
		}
	}
	return words, keys
}
