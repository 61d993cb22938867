package report_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"dossier/cite"
	"dossier/lang"
	"dossier/report"
)

// finished is a report of one section whose sentences are borne out.
func finished(t *testing.T) (*report.Report, *report.Evidence) {
	t.Helper()
	ledger, snapshots := cite.NewLedger(), cite.Snapshots{}
	for i, text := range []string{
		"The Keldra Bridge was opened in 1931. It is 412 metres long and carries two tracks.",
		"Marta Lindqvist has been mayor of Oststrand since 2019. She was a teacher before.",
	} {
		s := ledger.Add(cite.Source{URI: "https://example.org/" + string(rune('a'+i)), Title: "Page"})
		if _, err := ledger.Read(s.Number, snapshots.Add(text)); err != nil {
			t.Fatal(err)
		}
	}
	r := &report.Report{
		Version: report.Version, Question: "What is known?", Lang: lang.English, Kind: report.Research, Outcome: report.Answered, Model: "m",
		Summary: "Marta Lindqvist has been mayor of Oststrand since 2019 [2].",
	}
	checked, err := cite.Verify(t.Context(), "The Keldra Bridge was opened in 1931 [1]. It is 412 metres long [1].\n\nMany like it.", ledger, snapshots, cite.Lexical{}, cite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	framed, err := cite.Verify(t.Context(), r.Summary, ledger, snapshots, cite.Lexical{}, cite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Sections = []report.Section{{Title: "The bridge", Text: checked.Text}}
	r.Claims = slices.Concat(framed.Claims, checked.Claims)
	r.Coverage.Claims = report.Share{Covered: checked.Covered + framed.Covered, Total: len(r.Claims)}
	if err := r.Gather(ledger, snapshots); err != nil {
		t.Fatal(err)
	}
	return r, &report.Evidence{Sources: r.Sources, Snapshots: snapshots}
}

var editedOn = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)

// marks are the citations of a report that a passage bears out, by the text before
// them.
func marks(r *report.Report) (held int) {
	_, cited := report.Plain(r)
	for _, c := range cited {
		if c.Quote != "" {
			held++
		}
	}
	return held
}

// A sentence that a person writes has no mark until it is checked, and gets it only
// if a passage bears it out; the sentences beside it keep theirs.
func TestEditedSentences(t *testing.T) {
	r, from := finished(t)
	if r.Coverage.Claims != (report.Share{Covered: 3, Total: 4}) || marks(r) != 3 {
		t.Fatalf("%+v, %d marks, %q", r.Coverage.Claims, marks(r), r.Sections[0].Text)
	}
	edit := func(part, before, after string) {
		t.Helper()
		if err := r.Edit(t.Context(), from, report.Edit{Part: part, Before: before, After: after, Made: editedOn}); err != nil {
			t.Fatal(err)
		}
	}
	edit("1", "It is 412 metres long [1].", "The bridge is 412 metres long [1]. It is 900 metres long [1].")
	edit("summary", "Marta Lindqvist has been mayor of Oststrand since 2019 [2].", "Marta Lindqvist has been mayor since 2019.")
	want := []string{"Marta Lindqvist has been mayor since 2019.", "The bridge is 412 metres long.", "It is 900 metres long."}
	if got := r.Unchecked(); !slices.Equal(got, want) {
		t.Errorf("unchecked are %q", got)
	}
	if r.Coverage.Claims != (report.Share{Covered: 1, Total: 5}) || marks(r) != 1 {
		t.Errorf("%+v, %d marks", r.Coverage.Claims, marks(r))
	}
	for _, text := range []string{report.Markdown(r), report.HTML(r)} {
		if !strings.Contains(text, "3 sentences written by hand have not been checked") || !strings.Contains(text, "Changed by hand in 2 places, last on 2026-11-16") || strings.Count(text, "[?]") < 5 {
			t.Errorf("the report does not say what was edited:\n%s", text)
		}
	}
	if err := r.Recheck(t.Context(), from); err != nil {
		t.Fatal(err)
	}
	if left := r.Unchecked(); len(left) > 0 {
		t.Errorf("not checked: %q", left)
	}
	text := r.Sections[0].Text
	if !strings.Contains(text, "The bridge is 412 metres long [1].") || !strings.Contains(text, "It is 900 metres long [1] [?]") || r.Summary != "Marta Lindqvist has been mayor since 2019 [2]." {
		t.Errorf("%q\n%q", r.Summary, text)
	}
	if r.Coverage.Claims != (report.Share{Covered: 3, Total: 5}) || marks(r) != 3 {
		t.Errorf("%+v, %d marks", r.Coverage.Claims, marks(r))
	}
	if err := r.Check(from.Snapshots); err != nil {
		t.Error(err)
	}
}

func TestEditsThatAreRefused(t *testing.T) {
	r, from := finished(t)
	was := report.Markdown(r)
	for _, e := range []report.Edit{
		{Part: "1", Before: "It was never there.", After: "x"},
		{Part: "7", Before: "x", After: "y"},
		{Part: "text", Before: "x", After: "y"},
		{Part: "1", Before: "", After: "y"},
		{Part: "summary", Before: r.Summary, After: " "},
		{Part: "summary", Before: r.Summary, After: strings.Repeat("x", 1<<20)},
	} {
		if err := r.Edit(t.Context(), from, e); err == nil {
			t.Errorf("%.40q is taken", e)
		}
	}
	if err := r.Edit(t.Context(), from, report.Edit{Part: "1", Before: "no", After: "x"}); !errors.Is(err, report.ErrNotThere) {
		t.Error(err)
	}
	if report.Markdown(r) != was || len(r.Edits) > 0 {
		t.Error("an edit that was refused has changed something")
	}
	// What a person writes leads nowhere either.
	if err := r.Edit(t.Context(), from, report.Edit{Part: "summary", Before: r.Summary, After: "Look [here](https://evil.example/x) <script>alert(1)</script> [9]."}); err != nil {
		t.Fatal(err)
	}
	if html := report.HTML(r); strings.Contains(html, "evil.example") || strings.Contains(html, "<script") || strings.Contains(r.Summary, "[9]") {
		t.Error(html)
	}
}
