package main

import (
	"fmt"
	"strings"
	"testing"

	"dossier/index"
)

// TestDeepFigures measures questions that need two documents: every way of
// answering has its figures, and those that read both cite both.
func TestDeepFigures(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "qa_musique_en/corpus.jsonl.gz",
		`{"title":"Keldra Bridge","text":"The Keldra Bridge is a suspension bridge across the river Aune. It was designed by the engineer Maria Lindqvist and opened in 1934."}
{"title":"Maria Lindqvist","text":"Maria Lindqvist was an engineer of bridges. Maria Lindqvist was born in Bergen in 1890 and taught at the technical college."}
{"title":"Tulips","text":"Tulips bloom in spring. The bulbs are planted in autumn, before the first frost."}`)
	write(t, dir, "qa_musique_en/questions.jsonl.gz",
		`{"_id":"1","question":"Where was the engineer born who designed the Keldra Bridge?","decomposition":[{"answer":"Maria Lindqvist"},{"answer":"Bergen"}],`+
			`"gold":[{"title":"Keldra Bridge","text":"The Keldra Bridge is a suspension bridge across the river Aune. It was designed by the engineer Maria Lindqvist and opened in 1934."},`+
			`{"title":"Maria Lindqvist","text":"Maria Lindqvist was an engineer of bridges. Maria Lindqvist was born in Bergen in 1890 and taught at the technical college."}]}`)
	code, stdout, stderr := eval(t, t.TempDir(), "-dir", dir)
	if code != 0 {
		t.Fatalf("exit code %d, stderr %q", code, stderr)
	}
	for _, way := range []string{"oneshot", "deep_search", "deep_research.loop", "deep_research.supervisor"} {
		for _, figure := range []string{"gold-cited", "gold-facts", "sources", "words"} {
			if !strings.Contains(stdout, fmt.Sprintf("qa_musique_en %s.%s ", figure, way)) {
				t.Errorf("no %s of %s", figure, way)
			}
		}
	}
	for _, line := range []string{"gold-cited.oneshot 1.0000", "gold-facts.oneshot 1.0000", "gold-cited.deep_research.supervisor 1.0000", "gold-facts.deep_research.supervisor 1.0000"} {
		if !strings.Contains(stdout, line) {
			t.Errorf("not %s in\n%s", line, stdout)
		}
	}
}

// TestTitledDocuments holds that a document with a title is found again by the
// name of its file, whatever the title is.
func TestTitledDocuments(t *testing.T) {
	p, err := assemble(t.Context(), []index.Doc{
		{ID: "1", Title: "AC/DC: " + strings.Repeat("Ü", 200), Text: "The band AC/DC was formed in Sydney in 1973."},
		{ID: "2", Text: "Tulips bloom in spring."},
	}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	for question, want := range map[string]string{"Where was the band AC/DC formed?": "1", "When do tulips bloom?": "2"} {
		got, err := p.answer(t.Context(), question)
		if err != nil || len(got.Quotes) == 0 || got.Quotes[0].Doc != want {
			t.Errorf("%s: %+v, %v", question, got, err)
		}
	}
}

func TestWhatIsSaid(t *testing.T) {
	if got := shareSaid([]string{"In  1934", "Bergen"}, "It was opened\nin\n1934."); got != .5 {
		t.Error(got)
	}
	if got := rouge1("a b c d", "a b, x"); got != 4./7 {
		t.Error(got)
	}
	if got := rouge1("", ""); got != 0 {
		t.Error(got)
	}
}
