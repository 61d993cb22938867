package report

import (
	"slices"
	"strings"
	"testing"
)

// The answer by itself has the headings and figures that the answer has in a
// report, and nothing of what stands around it.
func TestPlainIsTheAnswerAlone(t *testing.T) {
	lines := func(text string) (out []string) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") || strings.HasPrefix(line, "|") {
				out = append(out, strings.TrimLeft(line, "#")) // without a title, headings begin higher
			}
		}
		return out
	}
	for _, f := range inLanguages {
		for _, kind := range kinds {
			r := newFixture(t, f).report(t, kind)
			r.Outlook = kind == "research"
			w := markdownWriter{Report: r}
			w.answer()
			text, _ := Plain(r)
			if got, want := lines(text), lines(w.out.String()); !slices.Equal(got, want) {
				t.Errorf("%s %s: %q, want %q", f.code, kind, got, want)
			}
			for _, around := range []string{"# " + markdownLine(r.name()) + "\n", r.made()} {
				if strings.Contains(text, around) {
					t.Errorf("%s %s: %q is in\n%s", f.code, kind, around, text)
				}
			}
		}
	}
}
