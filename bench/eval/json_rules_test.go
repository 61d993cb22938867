package main

import (
	"slices"
	"strings"
	"testing"

	"dossier/llm/jsonrepair"
)

// A guess that the cases of one source alone need is not in use for them; one
// that another source needs, and a spelling that is written down, are.
func TestGuesses(t *testing.T) {
	var out strings.Builder
	env := &Env{Set: "x", stdout: &out}
	needs := func(source string, r jsonrepair.Rule) repaired {
		return repaired{source, func(leftOut ...jsonrepair.Rule) bool { return !slices.Contains(leftOut, r) }}
	}
	env.guesses([]repaired{
		needs("a", jsonrepair.InnerQuotes), needs("b", jsonrepair.InnerQuotes),
		needs("a", jsonrepair.StrayWords), needs("b", jsonrepair.Comments),
	})
	for _, want := range []string{"x recovered.cv.a 0.5000 n=2", "x recovered.cv.b 1.0000 n=2", "x recovered.cv 0.7500 n=4", "x rule.inner-quotes 2 n=2"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
