// Package haiku is about poems of three lines with 5, 7 and 5 syllables: it counts
// syllables in Russian, English and Chinese, says whether a text is such a poem,
// and makes one of fragments where no model can write it.
package haiku

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"dossier/lang"
)

// Form is the number of syllables of each line.
var Form = []int{5, 7, 5}

// Poem is a text with its measures.
type Poem struct {
	Lines     []string
	Syllables []int // by line
	Words     int
}

// Measure reads a poem: lines that have no word are left out.
func Measure(text string) Poem {
	var p Poem
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		words := wordsOf(line)
		if len(words) == 0 {
			continue
		}
		p.Lines = append(p.Lines, line)
		p.Syllables = append(p.Syllables, Syllables(line))
		p.Words += len(words)
	}
	return p
}

// Text is the poem, a line each.
func (p Poem) Text() string { return strings.Join(p.Lines, "\n") }

// Right says whether the poem has the form. Digits are read in more than one way,
// so that a poem with some is not known to have it.
func (p Poem) Right() bool {
	if len(p.Syllables) != len(Form) {
		return false
	}
	for i, n := range Form {
		if p.Syllables[i] != n || strings.ContainsFunc(p.Lines[i], unicode.IsDigit) {
			return false
		}
	}
	return true
}

// Syllables counts the syllables of a text: of Russian words their vowels, of
// English words as they are spoken, of Chinese the characters. What has no letters
// has none.
func Syllables(text string) int {
	n := 0
	for _, word := range wordsOf(norm.NFC.String(text)) { // й in two pieces is no vowel
		n += syllablesOf(word)
	}
	return n
}

// russianVowels make a syllable each, those of Ukrainian and Belarusian included.
const russianVowels = "аеёиоуыэюяіїє"

func syllablesOf(word string) int {
	n := 0
	var latin strings.Builder
	for _, r := range strings.ToLower(word) {
		switch {
		case unicode.Is(unicode.Han, r):
			n++
		case strings.ContainsRune(russianVowels, r):
			n++
		case r >= 'a' && r <= 'z' || r == '\'':
			latin.WriteRune(r)
		case r == '’':
			latin.WriteByte('\'')
		default:
			latin.WriteString(plain[r])
		}
	}
	if w := strings.Trim(latin.String(), "'"); w != "" {
		n += english(w)
	}
	return n
}

// plain are the letters of English loans without their marks.
var plain = map[rune]string{
	'à': "a", 'á': "a", 'â': "a", 'ä': "a", 'ç': "c", 'è': "e", 'é': "ay", 'ê': "e", 'ë': "e", 'í': "i", 'î': "i", 'ï': "i", 'ñ': "n",
	'ó': "o", 'ô': "o", 'ö': "o", 'ú': "u", 'û': "u", 'ü': "u",
}

// wordsOf splits a text into words; each Chinese character is one.
func wordsOf(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.Is(unicode.M, r) && r != '\'' && r != '’' }) {
		if w = strings.Trim(w, "'’"); w == "" {
			continue
		}
		if r := []rune(w); unicode.Is(unicode.Han, r[0]) {
			for _, c := range r {
				out = append(out, string(c))
			}
			continue
		}
		out = append(out, w)
	}
	return out
}

// Language in which to write about a theme: Russian, English or Chinese.
func Language(theme string, otherwise lang.Code) lang.Code {
	for _, r := range theme {
		switch {
		case unicode.Is(unicode.Cyrillic, r):
			return lang.Russian
		case unicode.Is(unicode.Han, r):
			return lang.Chinese
		case unicode.Is(unicode.Latin, r):
			return lang.English
		}
	}
	return lang.Catalogue(otherwise)
}
