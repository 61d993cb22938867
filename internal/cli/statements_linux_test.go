package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"dossier/llm/llmtest"
)

// An answer of quotes does not say that no model was asked when one was.
func TestQuotesAfterAModelWasAsked(t *testing.T) {
	home := t.TempDir()
	files(t, home, lighthouse)
	env := scripted(t, llmtest.Rule{Schema: "answer", Reply: llmtest.JSON(map[string]any{
		"reasoning": "none", "answer": "The moon is made of cheese [1].", "key_points": []string{}, "unanswered": false,
	})})
	c := startTTY(t, home, 100, 60, env, "research", "How many steps lead to the lamp?", "--in", "cape")
	c.end()
	if got := c.screen.String(); strings.Contains(got, "without a language model") || !strings.Contains(got, "helped to look for them") {
		t.Errorf("%s", got)
	}
}

// More files that can't be read than are told of one by one are all counted.
func TestUnreadFilesAreCounted(t *testing.T) {
	home := t.TempDir()
	texts := map[string]string{"notes/a.md": "A note.\n"}
	for i := range 61 {
		texts[fmt.Sprintf("notes/broken-%d.pdf", i)] = "%PDF-1.7\nnothing of the kind"
	}
	files(t, home, texts)
	c := startTTY(t, home, 100, 60, nil, "kb", "add", "notes")
	c.end()
	if got := c.screen.String(); !strings.Contains(got, "1 documents (1 new") || !strings.Contains(got, "61 files could not be read") || !strings.Contains(got, "61 failed") {
		t.Errorf("%s", got)
	}
}
