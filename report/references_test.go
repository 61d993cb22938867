package report

import (
	"strings"
	"testing"
	"time"

	"dossier/cite"
	"dossier/lang"
)

func referenced() *Report {
	return &Report{
		Lang: lang.English, Created: time.Date(2026, 11, 15, 5, 0, 0, 0, time.UTC), Base: "/d",
		Sources: []Source{
			{Source: cite.Source{Number: 1, URI: "https://example.org/a_b?x={1}", Title: "50 % of {heat} & more\nthan this", Author: "Ann Müller", Date: "2024-05-01", Site: "Example", Kind: cite.Web, Lang: lang.English}, Used: []string{"1", "3"}},
			{Source: cite.Source{Number: 2, URI: "/d/second.md", Kind: cite.File, Date: "about 2020"}},
			{Source: cite.Source{Number: 7, URI: "https://пример.рф/x", Title: "Тепловые насосы", Author: "Иванов", Date: "2023", Kind: cite.Web, Lang: lang.Russian}},
		},
	}
}

func TestBibTeX(t *testing.T) {
	want := `@online{muller2024-1,
  title = {50 \% of \{heat\} \& more than this},
  author = {Ann Müller},
  organization = {Example},
  date = {2024-05-01},
  year = {2024},
  url = {https://example.org/a_b?x=%7B1%7D},
  urldate = {2026-11-15},
  langid = {en},
  note = {Cited in: 1, 3},
}

@misc{second-2,
  title = {second.md},
  url = {file:///d/second.md},
  urldate = {2026-11-15},
}

@online{source2023-7,
  title = {Тепловые насосы},
  author = {Иванов},
  date = {2023},
  year = {2023},
  url = {https://%D0%BF%D1%80%D0%B8%D0%BC%D0%B5%D1%80.%D1%80%D1%84/x},
  urldate = {2026-11-15},
  langid = {ru},
}
`
	if got := BibTeX(referenced()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRIS(t *testing.T) {
	got := RIS(referenced())
	for _, want := range []string{
		"TY  - ELEC\r\nID  - muller2024-1\r\nTI  - 50 % of {heat} & more than this\r\nAU  - Ann Müller\r\nPB  - Example\r\nPY  - 2024\r\nDA  - 2024/05/01\r\nUR  - https://example.org/",
		"TY  - GEN\r\nID  - second-2\r\n", "Y2  - 2026/11/15\r\n", "LA  - ru\r\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if n := strings.Count(got, "ER  - \r\n"); n != 3 {
		t.Errorf("%d records end", n)
	}
}

// Every source has a key of its own, and no text ends its field.
func TestReferencesOfAll(t *testing.T) {
	for _, kind := range kinds {
		for _, w := range inLanguages {
			r := newFixture(t, w).report(t, kind)
			bib := BibTeX(r)
			if n := strings.Count(bib, "\n}\n"); n != len(r.Sources) {
				t.Errorf("%s-%s: %d entries for %d sources:\n%s", w.code, kind, n, len(r.Sources), bib)
			}
			if strings.Count(strings.ReplaceAll(bib, `\{`, ""), "{") != strings.Count(strings.ReplaceAll(bib, `\}`, ""), "}") {
				t.Errorf("%s-%s: braces don't match:\n%s", w.code, kind, bib)
			}
		}
	}
}
