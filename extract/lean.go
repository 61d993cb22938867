package extract

import (
	"strings"
	"unicode"
)

// Points reports whether a question has a word that stands for something said
// before it: "it", "них", "该".
func Points(question string) bool {
	return pointsBack(lowerWords(question)) || strings.ContainsAny(question, "它他她其该該这這")
}

func lowerWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// pointsBack reports whether one of words stands for something said before them. In
// "the state that joined last" none does.
func pointsBack(words []string) bool {
	for i, w := range words {
		relative := w == "that" && i > 0 && i < len(words)-1 && !beforeThat[words[i-1]]
		if pointers[w] && !relative {
			return true
		}
	}
	return false
}

// beforeThat are words after which "that" is no relative pronoun.
var beforeThat = map[string]bool{
	"is": true, "was": true, "are": true, "does": true, "do": true, "did": true, "can": true, "will": true, "has": true, "and": true,
	"of": true, "in": true, "on": true, "for": true, "with": true, "to": true, "about": true, "after": true, "before": true, "by": true, "at": true, "like": true, "than": true, "from": true,
}

// Names returns the names of a text in order: titles in quotes and, in scripts
// with capitals, capitalised words that don't open a sentence.
func Names(text string) []string { return names(text) }

// Content returns the words of a question that say what it is about.
func Content(question string) []string { return contentWords(question) }
