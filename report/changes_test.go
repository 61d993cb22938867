package report

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"dossier/cite"
	"dossier/lang"
)

// quoting is a report that consists of quotes of sources.
func quoting(outcome Outcome, texts map[string]string, order ...string) *Report {
	r := &Report{Run: "r1", Created: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Lang: lang.English, Outcome: outcome}
	for i, uri := range order {
		r.Sources = append(r.Sources, Source{Source: cite.Source{Number: i + 1, URI: uri, Title: strings.ToUpper(uri), Kind: cite.Web, Snapshot: fmt.Sprintf("hash of %q", texts[uri])}})
		r.Sections = append(r.Sections, Section{Quotes: []Quote{{Text: texts[uri], Passage: cite.Passage{Source: i + 1}}}})
	}
	return r
}

func TestCompare(t *testing.T) {
	before := quoting(Answered, map[string]string{
		"https://a.example/": "The fee is 100 euros a year. It is paid in May.",
		"https://b.example/": "Pensioners pay nothing.",
	}, "https://a.example/", "https://b.example/")
	after := quoting(Partial, map[string]string{
		"http://a.example":   "The fee is 120 euros a year. It is paid in May.",
		"https://c.example/": "Students get half of it back.",
	}, "https://c.example/", "http://a.example")
	got := Compare(before, after)
	want := &Changes{
		Run: "r1", Made: before.Created, Before: Answered,
		NewSources:     []SourceName{{"https://c.example/", "HTTPS://C.EXAMPLE/ · c.example"}},
		ChangedSources: []SourceName{{"http://a.example", "HTTP://A.EXAMPLE · a.example"}},
		GoneSources:    []SourceName{{"https://b.example/", "HTTPS://B.EXAMPLE/ · b.example"}},
		New:            []string{"Students get half of it back."},
		Changed:        []Reworded{{"The fee is 100 euros a year.", "The fee is 120 euros a year."}},
		Gone:           []string{"Pensioners pay nothing."},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got.None() || got.Count() != (ChangeCount{1, 1, 1, 1, 1, 1}) {
		t.Errorf("%+v", got.Count())
	}
}

// What only moved, or is marked and spaced in another way, has not changed.
func TestCompareWithTheSame(t *testing.T) {
	texts := map[string]string{"a.md": "泵可在零下 25 度工作。它很安静。", "b.md": "It works. It is *quiet*."}
	before, after := quoting(Answered, texts, "a.md", "b.md"), quoting(Answered, texts, "b.md", "a.md")
	after.Sections[0].Quotes[0].Text = "It   works.\nIt is quiet!"
	if got := Compare(before, after); !got.None() {
		t.Errorf("%+v", got)
	}
	after.Changes = Compare(before, after)
	if told := after.Told(); len(told) != 2 || !strings.Contains(told[1], "Nothing") {
		t.Errorf("%q", told)
	}
	if told := before.Told(); told != nil {
		t.Errorf("compared with nothing: %q", told)
	}
}

// A sentence in Chinese that has another number is one that was changed.
func TestCompareInChinese(t *testing.T) {
	before := quoting(Answered, map[string]string{"a": "热泵可以在零下二十五度的严寒中工作。"}, "a")
	after := quoting(Answered, map[string]string{"a": "热泵可以在零下二十度的严寒中工作。今年价格上涨。"}, "a")
	if got := Compare(before, after).Count(); got != (ChangeCount{ChangedSources: 1, Changed: 1, New: 1}) {
		t.Errorf("%+v", got)
	}
}

// However much has changed, a report tells some of it and says how much more there is.
func TestManyChanges(t *testing.T) {
	text := ""
	for i := range 50 {
		text += fmt.Sprintf("Number %d stands w%dx y%dz. ", i, i*i, i*i*i)
	}
	before := quoting(Answered, map[string]string{"a": "Something else entirely was here before."}, "a")
	after := quoting(Answered, map[string]string{"a": text + strings.Repeat("long ", 200)}, "a")
	after.Changes = Compare(before, after)
	told := after.Told()
	if n := len(after.Changes.New); n != 50 || len(told) != 1+1+mostTold+1+1 {
		t.Errorf("%d new, %d told", n, len(told))
	}
	if !strings.Contains(told[len(told)-2], "30 more") {
		t.Errorf("%q", told[len(told)-2])
	}
}
