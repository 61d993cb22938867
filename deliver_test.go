package dossier

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Pieces of an answer are the answer, however long it is, and not too many.
func TestPieces(t *testing.T) {
	if got := pieces("One is here [1]. Two is here.\n\n## Three\n\n四在这里。五"); len(got) != 5 || got[1] != "Two is here.\n\n" {
		t.Errorf("%q", got)
	}
	if got := pieces(""); got != nil {
		t.Errorf("%q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab .!?\n#-。的Я"))).Draw(t, "text")
		text = strings.Repeat(text, rapid.IntRange(1, 300).Draw(t, "times"))
		got := pieces(text)
		if strings.Join(got, "") != text || len(got) > mostPieces {
			t.Errorf("%d pieces of %q", len(got), text)
		}
	})
}
