package report

import (
	"strings"
	"testing"

	"dossier/cite"
	"dossier/lang"
)

// Rows of a table are shown cell by cell under their names.
func TestRows(t *testing.T) {
	for name, tc := range map[string]struct {
		text, under string // headings with " / " between them
		lines, path string
	}{
		"a row under its header": {
			"4 | finished | the water has boiled", "Signals / Code | State | Meaning",
			"Code: 4\nState: finished\nMeaning: the water has boiled", "Signals",
		},
		"a row of Markdown":       {"| 9090 | plain \\| text | `a|b` |", "Port | Note | Form", "Port: 9090\nNote: plain | text\nForm: `a|b`", ""},
		"a cell without anything": {"| 4 | | ready |", "Code | Since | State", "Code: 4\nState: ready", ""},
		"a name without anything": {"4 | ready", " | State", "4 | ready", " | State"},
		"header and row":          {"The states are:\nCode | State\n4 | finished", "Signals", "The states are:\nCode: 4\nState: finished", "Signals"},
		"a table of Markdown":     {"| Code | State |\n|---|---|\n| 4 | finished |\n| 5 | cold |", "", "Code: 4\nState: finished\nCode: 5\nState: cold", ""},
		"another number of cells": {"4 | finished | at five", "Code | State", "4 | finished | at five", "Code | State"},
		"the beginning of a row":  {"4 | finished", "Signals / Code | State | Meaning", "Code: 4\nState: finished", "Signals"},
		"a pipe":                  {"Run `ls | wc` or ls | wc to count.", "Counting", "Run `ls | wc` or ls | wc to count.", "Counting"},
		"a title with a bar":      {"It boils.", "Kettle | Kitchen", "It boils.", "Kettle | Kitchen"},
	} {
		q := &Quote{Text: tc.text, Passage: cite.Passage{End: len(tc.text)}}
		if tc.under != "" {
			q.Passage.HeadingPath = strings.Split(tc.under, " / ")
		}
		var lines []string
		for _, l := range q.displayed() {
			lines = append(lines, l.text)
		}
		if got := strings.Join(lines, "\n"); got != tc.lines {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, tc.lines)
		}
		if got := under(&Source{}, q); got != line(tc.path) {
			t.Errorf("%s stands under %q, want %q", name, got, tc.path)
		}
	}
}

// A quote that begins within a row knows which of its cells these are.
func TestPartOfARow(t *testing.T) {
	const text = "Signals\n| 4 | finished | the water has boiled | no |\n5 | cold"
	snap := cite.NewSnapshot(text)
	for quote, want := range map[string]string{
		"finished | the water has boiled":       "State: finished|Meaning: the water has boiled",
		"has boiled | no":                       "Meaning: has boiled|Error: no",
		"4 | finished | the water":              "Code: 4|State: finished|Meaning: the water",
		"the water has boiled | no |\n5 | cold": "Meaning: the water has boiled|Error: no|Code: 5|State: cold",
	} {
		at := strings.Index(text, quote)
		q, err := QuoteAt(cite.Source{Number: 1, Kind: cite.File}, snap, cite.Passage{Source: 1, Start: at, End: at + len(quote), HeadingPath: []string{"Code | State | Meaning | Error"}})
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, l := range q.displayed() {
			lines = append(lines, l.text)
		}
		if got := strings.Join(lines, "|"); got != want {
			t.Errorf("%q: %s, want %s", quote, got, want)
		}
	}
}

// In the formats, nothing of a row is escaped that need not be, and the cell that
// answers is marked.
func TestRowsInReports(t *testing.T) {
	snap := cite.NewSnapshot("4 | finished | the water has boiled\n")
	ledger := &cite.Ledger{}
	if _, err := ledger.Read(ledger.Add(cite.Source{URI: "/docs/kettle.html", Title: "Kettle", Kind: cite.File}).Number, snap); err != nil {
		t.Fatal(err)
	}
	q := Quote{Text: "4 | finished | the water has boiled", Passage: cite.Passage{Source: 1, End: 35, MarkStart: 4, MarkEnd: 12, HeadingPath: []string{"Kettle", "Signals", "Code | State | Meaning"}}}
	r := &Report{Question: "What is 4?", Lang: lang.English, Outcome: Answered, Extractive: true, Base: "/docs", Sections: []Section{{Quotes: []Quote{q}}}}
	if err := r.Gather(ledger, cite.Snapshots{snap.Hash: snap}); err != nil {
		t.Fatal(err)
	}
	if err := r.Check(cite.Snapshots{snap.Hash: snap}); err != nil {
		t.Error(err)
	}
	if got, want := Markdown(r), "> [1] kettle.html · Signals  \n> Code: 4  \n> State: **finished**  \n> Meaning: the water has boiled\n"; !strings.Contains(got, want) {
		t.Errorf("Markdown lacks\n%s\n%s", want, got)
	}
	if got, want := HTML(r), "Code: 4<br>\nState: <mark>finished</mark><br>\nMeaning: the water has boiled</p>"; !strings.Contains(got, want) || strings.Contains(got, "Code | State") {
		t.Errorf("HTML lacks\n%s\n%s", want, got)
	}
}
