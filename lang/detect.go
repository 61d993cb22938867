package lang

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"dossier/lang/internal/ngram"
)

// A Code is an ISO 639-1 language code, or Unknown.
type Code string

// The languages that have a message catalogue, and the answer to a text
// without letters.
const (
	English Code = "en"
	Russian Code = "ru"
	Chinese Code = "zh"
	Unknown Code = "und"
)

// A Guess is a language and the probability that a text is written in it.
type Guess struct {
	Code Code
	Prob float64
}

// maxLetters bounds how much of a text is read: beyond it the answer no longer
// changes.
const maxLetters = 2000

// maxWord bounds the letters of one word; longer runs are noise or a script
// without spaces.
const maxWord = 40

// firstMark is the first combining mark in Unicode.
const firstMark = 0x300

// Detect returns the most probable language of text, and Unknown only when
// text has no letters of a script it knows. Chinese is one language in both of
// its scripts; Serbo-Croatian is "sr" in Cyrillic and "hr" in Latin letters,
// Malay is "id". Detect reads the first two thousand letters, and leaves out
// addresses of pages and mail.
func Detect(text string) Code {
	var e evidence
	e.read(text)
	best := Guess{Code: Unknown, Prob: -1}
	e.each(func(c Code, p float64) {
		if p > best.Prob {
			best = Guess{c, p}
		}
	})
	return best.Code
}

// DetectAll returns the languages text may be written in, the most probable
// first; the probabilities sum to one. It is empty for a text without letters.
func DetectAll(text string) []Guess {
	var e evidence
	e.read(text)
	var out []Guess
	e.each(func(c Code, p float64) {
		if i := slices.IndexFunc(out, func(g Guess) bool { return g.Code == c }); i >= 0 {
			out[i].Prob += p
			return
		}
		out = append(out, Guess{c, p})
	})
	rank(out)
	return out
}

// DetectAmong returns the most probable of codes for text. Where text speaks
// for none of them it returns the first.
func DetectAmong(text string, codes ...Code) Code {
	for _, g := range DetectAll(text) {
		if slices.Contains(codes, g.Code) {
			return g.Code
		}
	}
	if len(codes) > 0 {
		return codes[0]
	}
	return Unknown
}

// rank sorts guesses by probability and makes the probabilities sum to one.
func rank(guesses []Guess) {
	var sum float64
	for _, g := range guesses {
		sum += g.Prob
	}
	for i := range guesses {
		guesses[i].Prob /= sum
	}
	slices.SortStableFunc(guesses, func(a, b Guess) int {
		switch {
		case a.Prob > b.Prob:
			return -1
		case a.Prob < b.Prob:
			return 1
		}
		return strings.Compare(string(a.Code), string(b.Code))
	})
}

//go:embed detect.table
var table string

// A model is an n-gram model with what detection adds to it.
type model struct {
	*ngram.Model
	prior []float64 // logarithms
	index int       // in evidence.sums
}

// models holds the models by script, nil for scripts without one. The first
// call checks the table, which stays where the linker put it.
var models = sync.OnceValue(func() *[scripts]*model {
	list, err := ngram.Open(table)
	if err != nil || len(list) > maxModels {
		panic(fmt.Sprintf("lang: %d models: %v", len(list), err)) // the embedded file is broken: a build error
	}
	byName := map[string]script{"Latin": latin, "Cyrillic": cyrillic, "Arabic": arabic}
	out := new([scripts]*model)
	for i, m := range list {
		logs := make([]float64, len(m.Langs))
		for l, code := range m.Langs {
			logs[l] = math.Log(cmp.Or(prior[Code(code)], 1))
		}
		out[byName[m.Script]] = &model{m, logs, i}
	}
	return out
})

// maxModels bounds the models of the table.
const maxModels = 3

// evidence is what one pass over a text gathers.
type evidence struct {
	weight    [scripts]float64 // words of the script, as scriptWeight counts them
	letters   [scripts]int
	sums      [maxModels]ngram.Vector
	words     int
	yo        bool // the letter ё was seen, which features fold to е
	japanese  int  // Han characters that only Japanese writes
	particles int  // and that only Chinese writes
}

func (e *evidence) read(text string) {
	var word [maxWord]rune
	var features [6 * maxWord]uint64
	total, inside := 0, false // inside: the token at hand is known to be no address
	for len(text) > 0 && total < maxLetters {
		r, size := utf8.DecodeRuneInString(text)
		s := scriptOf(r)
		if s == none {
			inside = inside && !unicode.IsSpace(r)
			text = text[size:]
			continue
		}
		if !inside {
			if n := addressLen(text); n > 0 {
				text = text[n:]
				continue
			}
			inside = true
		}
		// One word: a run of letters of one script.
		n, upper, at := 0, 0, 0
		for at < len(text) {
			r, size := utf8.DecodeRuneInString(text[at:])
			if r >= firstMark && unicode.IsMark(r) {
				at += size // vowel points, and accents that were not composed
				continue
			}
			if scriptOf(r) != s || n == maxWord {
				break
			}
			if unicode.IsUpper(r) {
				upper++
			}
			e.yo = e.yo || r == 'ё' || r == 'Ё'
			word[n] = ngram.Fold(r)
			n++
			at += size
		}
		inside = inside && s == latin
		e.add(s, word[:n], upper, features[:0])
		total += n
		text = text[at:]
	}
}

// add counts a word in lower case of which upper letters were capitals.
func (e *evidence) add(s script, word []rune, upper int, features []uint64) {
	e.letters[s] += len(word)
	e.weight[s] += scriptWeight(s, word, upper, e.words == 0)
	e.words++
	if s == han {
		for _, r := range word {
			switch {
			case strings.ContainsRune(kokuji, r):
				e.japanese++
			case strings.ContainsRune(particles, r):
				e.particles++
			}
		}
	}
	if m := models()[s]; m != nil {
		m.Add(&e.sums[m.index], ngram.Append(features, word))
	}
}
