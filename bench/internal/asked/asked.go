// Package asked holds questions over folders of real documents and tells how
// well they were answered.
package asked

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
)

// Question is one that a person asks of a folder.
type Question struct {
	ID       string `json:"id"`
	Folder   string `json:"folder"`
	Lang     string `json:"lang"`
	Type     string `json:"type"`
	Question string `json:"question"`
	History  []Turn `json:"history"` // what was asked before it
	// Accept are the facts of the answer: each is shown by any of its strings.
	Accept [][]string `json:"accept"`
}

// Turn is a question that was asked before, and its answer where that is known.
type Turn struct{ Question, Answer string }

// UnmarshalJSON reads an object, or the question alone.
func (t *Turn) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &t.Question) == nil {
		return nil
	}
	type plain Turn
	return json.Unmarshal(data, (*plain)(t))
}

// Unanswerable says that the folder does not have the answer.
func (q *Question) Unanswerable() bool { return q.Type == "unanswerable" }

// Load reads questions, one JSON object a line.
func Load(path string) ([]Question, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	var out []Question
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var q Question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		var ours struct {
			Keys [][]string `json:"keys"`
		}
		if err := json.Unmarshal(lines.Bytes(), &ours); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if q.Accept == nil {
			q.Accept = ours.Keys
		}
		out = append(out, q)
	}
	return out, lines.Err()
}

// Answer is what was delivered for a question.
type Answer struct {
	ID      string   `json:"id"`
	Refused bool     `json:"refused"`
	Quotes  []string `json:"quotes"` // in order of delivery
	Words   int      `json:"words,omitempty"`
}

// Result is how well a question was answered.
type Result struct {
	Question *Question
	Refused  bool
	// All facts are within the first hundred words, the first quote, the first
	// two, all quotes.
	In100, In1, In2, InAll bool
	// Noise counts the quotes before the first one with a fact, -1 if there is
	// none.
	Noise int
}

// headWords is how much of an answer is read before one stops.
const headWords = 100

// Judge holds an answer against the question.
func Judge(q *Question, a Answer) Result {
	r := Result{Question: q, Refused: a.Refused, Noise: -1}
	if a.Refused || q.Unanswerable() {
		return r
	}
	folded := foldAll(a.Quotes)
	r.In100 = q.shown(foldAll(head(a.Quotes, headWords)))
	r.In1 = q.shown(folded[:min(1, len(folded))])
	r.In2 = q.shown(folded[:min(2, len(folded))])
	r.InAll = q.shown(folded)
	for i := range folded {
		if q.facts(folded[i:i+1]) > 0 {
			r.Noise = i
			break
		}
	}
	return r
}

// Shows says whether a text has a fact of the answer.
func (q *Question) Shows(text string) bool { return q.facts([]string{Fold(text)}) > 0 }

func (q *Question) shown(folded []string) bool { return q.facts(folded) == len(q.Accept) }

// facts counts the facts that stand in one of the texts each.
func (q *Question) facts(folded []string) int {
	n := 0
	for _, accept := range q.Accept {
		if anyIn(accept, folded) {
			n++
		}
	}
	return n
}

func anyIn(accept, folded []string) bool {
	for _, a := range accept {
		a = Fold(a)
		for _, text := range folded {
			if strings.Contains(text, a) {
				return true
			}
		}
	}
	return false
}

func foldAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = Fold(t)
	}
	return out
}

// alike maps characters that mean the same here.
var alike = strings.NewReplacer(
	"\u00ad", "", "\u200b", "", "\ufeff", "",
	"\u2018", "", "\u2019", "", "\u201a", "", "\u2032", "", "`", "", "´", "", "'", "",
	"\u201c", "", "\u201d", "", "\u201e", "", "\u00ab", "", "\u00bb", "", "\u2033", "", `"`, "",
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2015", "-", "\u2212", "-",
	"ﬁ", "fi", "ﬂ", "fl", "ﬀ", "ff", "ﬃ", "ffi", "ё", "е", "Ё", "Е",
	"*", " ", "|", " ", `\`, " ",
)

// Fold makes texts alike that say the same: white space, quotes, dashes, table
// bars, Markdown signs, case, hyphenation at line ends.
func Fold(text string) string {
	runes := []rune(strings.Join(strings.FieldsFunc(alike.Replace(text), unicode.IsSpace), " "))
	out := make([]rune, 0, len(runes))
	for i, r := range runes {
		if r == ' ' {
			prev, next := runes[i-1], runes[i+1]
			if han(prev) || han(next) || prev == '-' && i > 1 && small(runes[i-2]) && small(next) {
				continue
			}
		}
		out = append(out, r)
	}
	return strings.ToLower(string(out))
}

func small(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'а' && r <= 'я' }

func han(r rune) bool {
	return r >= 0x3000 && r <= 0x303f || r >= 0x3400 && r <= 0x9fff || r >= 0xff00 && r <= 0xffef
}

// head returns the first words of texts; two Chinese characters count as one.
func head(texts []string, words int) (out []string) {
	halves := 2 * words
	for _, text := range texts {
		end, inWord := len(text), false
		for i, r := range text {
			switch {
			case unicode.IsSpace(r):
				inWord = false
				continue
			case han(r):
				halves--
				inWord = false
			case !inWord:
				halves -= 2
				inWord = true
			}
			if halves < 0 {
				end = i
				break
			}
		}
		out = append(out, text[:end])
		if halves < 0 {
			break
		}
	}
	return out
}

// Mostly returns the questions in a language over folders of which most questions
// are in it: the documents there are, too.
func Mostly(questions []Question, lang string) []Question {
	in, all := map[string]int{}, map[string]int{}
	for _, q := range questions {
		all[q.Folder]++
		if q.Lang == lang {
			in[q.Folder]++
		}
	}
	var out []Question
	for _, q := range questions {
		if q.Lang == lang && 2*in[q.Folder] > all[q.Folder] {
			out = append(out, q)
		}
	}
	return out
}
