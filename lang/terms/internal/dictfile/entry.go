// Package dictfile reads bilingual dictionaries in the formats that they are
// published in: CEDICT, DSL, dictd and tables with tabs. What it makes of them
// is the same for all: headwords with short translations, without the labels,
// transcriptions and explanations that people read.
//
// Files come from anywhere: a reader never panics, and what it can't make
// sense of it leaves out. Sizes are bounded.
package dictfile

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Entry is a headword with its translations, a list for each sense.
type Entry struct {
	Head   string
	Senses [][]string
	// Like names other headwords that mean the same: what this is a variant
	// or an abbreviation of.
	Like []string
}

// Bounds of what is taken for a dictionary.
const (
	MaxFile = 256 << 20 // bytes, unpacked
	maxLine = 1 << 20
	maxText = 80 // bytes of a headword or translation
	maxMean = 64 // senses of an entry
)

// Tidy makes a headword or a translation plain: without what stands in
// brackets, stress marks and doubled spaces. It returns "" for what is too
// long to be a term.
func Tidy(s string) string {
	s = outside(s)
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case r == 0x301 || r == 0x300 || r == 0xad || r == utf8.RuneError || unicode.IsControl(r) && !unicode.IsSpace(r):
			continue
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case r == '’' || r == 'ʼ':
			r = '\''
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	s = strings.Trim(b.String(), " .,;:!?…*~=—–)]}>\"“”«»")
	if len(s) > maxText || !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return s
}

// outside drops what stands in brackets of any kind, nested ones too.
func outside(s string) string {
	if !strings.ContainsAny(s, "([{<") {
		return s
	}
	var b strings.Builder
	depth := 0
	for _, r := range s {
		switch r {
		case '(', '[', '{', '<':
			depth++
			b.WriteByte(' ')
		case ')', ']', '}', '>':
			if depth == 0 {
				b.WriteRune(r) // as after a number: 2)
			}
			depth = max(0, depth-1)
		default:
			if depth == 0 {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// split cuts text at any of the separators that stand outside brackets.
func split(s, separators string) []string {
	var out []string
	depth, from := 0, 0
	for i, r := range s {
		switch {
		case strings.ContainsRune("([{<", r):
			depth++
		case strings.ContainsRune(")]}>", r):
			depth = max(0, depth-1)
		case depth == 0 && strings.ContainsRune(separators, r):
			out = append(out, s[from:i])
			from = i + utf8.RuneLen(r)
		}
	}
	return append(out, s[from:])
}
