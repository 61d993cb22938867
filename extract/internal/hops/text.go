package hops

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/index"
	"dossier/lang"
)

// word is a word of a text, or one character of a script without spaces.
type word struct {
	term       string
	start, end int // bytes
	sentence   int
	function   bool
	number     bool
	upper      bool // begins with a capital
	char       bool
}

// hit is a place where a text has a term of the question.
type hit struct {
	at   int // word
	term int
	how  float64
}

// text is a text that was read for a question.
type text struct {
	raw   string
	words []word
	hits  []hit  // in order
	flat  string // terms of the words, a space around each
	at    []int  // where in flat the space before each word is
}

// read cuts a text into words. What it shares with the question is marked by
// match, if there is one yet.
func read(raw string, code lang.Code, match func(index.Token) (term int, how float64)) *text {
	t := &text{raw: raw}
	sentences, s := lang.Sentences(raw), 0
	var flat strings.Builder
	flat.WriteByte(' ')
	for _, k := range index.Tokens(raw, code) {
		for s+1 < len(sentences) && k.Start >= sentences[s+1].Start {
			s++
		}
		first, size := utf8.DecodeRuneInString(raw[k.Start:])
		char := size == k.End-k.Start && first >= 0x2e80
		if !k.Pair {
			t.words = append(t.words, word{
				term: k.Term, start: k.Start, end: k.End, sentence: s,
				function: k.Function, number: k.Number, upper: unicode.IsUpper(first), char: char,
			})
			t.at = append(t.at, flat.Len()-1)
			flat.WriteString(k.Term)
			flat.WriteByte(' ')
		}
		if match == nil || k.Function || char {
			continue
		}
		if term, how := match(k); term >= 0 {
			t.hits = append(t.hits, hit{len(t.words) - 1, term, how})
		}
	}
	t.flat = flat.String()
	return t
}

// key is what names of the same words share.
func (t *text) key(from, to int) string {
	terms := make([]string, 0, to-from)
	for _, w := range t.words[from:to] {
		terms = append(terms, w.term)
	}
	return strings.Join(terms, " ")
}

// has reports whether the words of a key stand in the text in a row.
func (t *text) has(key string) bool { return key != "" && strings.Contains(t.flat, " "+key+" ") }

// spots returns the words at which a key stands.
func (t *text) spots(key string) []int {
	if key == "" {
		return nil
	}
	var out []int
	needle := " " + key + " "
	for from := 0; ; {
		i := strings.Index(t.flat[from:], needle)
		if i < 0 {
			return out
		}
		out = append(out, sort.SearchInts(t.at, from+i))
		from += i + 1
	}
}

// opens reports whether a word is the first of its sentence.
func (t *text) opens(i int) bool { return i == 0 || t.words[i-1].sentence != t.words[i].sentence }

// in returns the text of a row of words.
func (t *text) in(from, to int) string { return t.raw[t.words[from].start:t.words[to-1].end] }
