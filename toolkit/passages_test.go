package toolkit

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"dossier/kb"
	"dossier/reader"
	"dossier/sources"
	"dossier/tool"
)

// Of a page that is too long a model sees the passages that are about the task,
// whole and under their headings, wherever they stand.
func TestLongPagesAreShownByPassages(t *testing.T) {
	var source strings.Builder
	source.WriteString("<html><body><h1>Kettle manual</h1><p>This manual tells how the kettle is set up.</p>")
	for i := range 60 {
		fmt.Fprintf(&source, "<h2>Chapter %d</h2><p>%s</p>", i, strings.Repeat(fmt.Sprintf("Nothing in part %d is worth a word. ", i), 12))
	}
	source.WriteString("<h2>Signals of the lamp</h2><table><tr><th>Lamp</th><th>Meaning</th></tr><tr><td>slow blue</td><td>chalk in the spout, run the vinegar programme</td></tr></table></body></html>")
	r := reader.New(reader.Config{})
	t.Cleanup(r.Close)
	page, err := r.Read(t.Context(), reader.Document{Path: "a.html", Body: []byte(source.String())})
	if err != nil {
		t.Fatal(err)
	}
	fresh := &openedPage{source: tool.Source{Title: page.Title}, text: page.Text}
	for _, c := range kb.Cut(page, 0) {
		fresh.doc.Passages = append(fresh.doc.Passages, sources.Spot(c))
	}
	const limit = 1500
	for name, p := range map[string]*openedPage{"fresh": fresh, "read before": {source: fresh.source, text: page.Text}} {
		got := p.shown("What does a slow blue lamp of the kettle mean?", limit)
		if n := utf8.RuneCountInString(got); n > limit || !strings.Contains(got, "slow blue | chalk in the spout, run the vinegar programme") || !strings.Contains(got, "how the kettle is set up") || !strings.Contains(got, "[…]") {
			t.Errorf("%s: %d characters\n%s", name, n, got)
		}
	}
	if got := fresh.shown("anything", len(page.Text)); got != page.Text {
		t.Errorf("a page that fits is not whole: %q", got)
	}
	if got := (&openedPage{text: strings.Repeat("word ", 100)}).shown("x", 30); utf8.RuneCountInString(got) > 30 || got == "" {
		t.Errorf("%q", got)
	}
}
