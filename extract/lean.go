package extract

import (
	"slices"
	"strings"
	"unicode"
)

// Points reports whether a question has a word that stands for something said
// before it: "it", "них", "该".
func Points(question string) bool {
	words := strings.FieldsFunc(strings.ToLower(question), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(words, func(w string) bool { return pointers[w] }) || strings.ContainsAny(question, "它他她其该該这這")
}

// Names returns the names of a text in order: titles in quotes and, in scripts
// with capitals, capitalised words that don't open a sentence.
func Names(text string) []string { return names(text) }

// Content returns the words of a question that say what it is about.
func Content(question string) []string { return contentWords(question) }
