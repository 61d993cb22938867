package index

import (
	"slices"

	"dossier/lang"
)

// Analysis is the version of what the index knows of a text. It is raised with
// each change by which a Builder makes other terms of the same document: what
// was indexed before has to be indexed anew.
const Analysis = 1

// Token is a word of a text as the index knows it, or a pair of neighbouring
// characters of a script without spaces. Pairs overlap: each character but the
// last of a run begins one.
type Token struct {
	Term       string // the stem
	Start, End int    // bytes of the text
	Number     bool
	Pair       bool // of a script without spaces
	Function   bool // carries grammar, not content
	whole      bool // an identifier; its parts follow
}

// Tokens returns the tokens of text in order. The language decides how Latin
// words are stemmed and which of them are function words; without one it is
// detected.
func Tokens(text string, code lang.Code) []Token {
	return slices.DeleteFunc(TokensAndNames(text, code), func(t Token) bool { return t.whole })
}

// TokensAndNames is Tokens with identifiers of several words (shared_buffers,
// git-blame, --force), each before the words that it consists of.
func TokensAndNames(text string, code lang.Code) []Token {
	var s scanner
	var st stemmer
	out := make([]Token, 0, len(text)/6+1)
	t := noTongue
	stems := map[string]string{}
	for s.reset(text); s.next(); {
		if s.kind == latin && t == noTongue {
			if code == "" || code == lang.Unknown {
				code = lang.Detect(text)
			}
			t = latinTongue(code)
		}
		term, known := stems[string(s.surface)]
		if !known {
			surface := string(s.surface)
			term = st.term(surface, s.kind, t)
			stems[surface] = term
		}
		in := uint32(0)
		if t != noTongue {
			in = 1 << t
		}
		out = append(out, Token{
			Term: term, Start: s.start, End: s.end, Number: s.kind == number, Pair: s.kind == gram,
			Function: functional(s.surface, s.kind, in), whole: s.kind == whole,
		})
	}
	return out
}
