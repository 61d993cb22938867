package report

import (
	"strings"
	"testing"
)

func TestFormats(t *testing.T) {
	r := newFixture(t, inLanguages[0]).report(t, "quotes")
	for name, want := range map[string]string{
		"md": "# How cold", "Markdown": "# How cold", "a/report.md": "# How cold", "x.txt": "# How cold",
		"html": "<!doctype html>", "report.HTM": "<!doctype html>", "json": "{\n", "x.y.json": "{\n",
	} {
		f, err := ParseFormat(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := Render(r, f); err != nil || !strings.HasPrefix(string(got), want) {
			t.Errorf("%s: %v, %.40q", name, err, got)
		}
	}
	for _, name := range []string{"", "pdf", "report", "a.docx"} {
		if f, err := ParseFormat(name); err == nil {
			t.Errorf("%q is %s", name, f)
		}
	}
	if _, err := Render(r, "pdf"); err == nil {
		t.Error("a report in a format that there is not")
	}
}
