package report

import (
	"slices"
	"strings"
	"testing"

	"dossier/cite"
	"dossier/lang"
)

// A report that is written is not empty when its quotes are dropped, whichever
// part is written.
func TestWrittenPartsCount(t *testing.T) {
	f := newFixture(t, inLanguages[0])
	bad := f.quote(t, 1, f.nearest, 0)
	bad.Text += "!"
	for name, r := range map[string]*Report{
		"a summary":    {Summary: "The pump moves heat into the house [1]."},
		"a conclusion": {Conclusion: "The pump moves heat into the house [1]."},
		"a section":    {Sections: []Section{{Text: "The pump moves heat into the house [1]."}}},
	} {
		r.Outcome, r.Kind, r.Lang = Answered, Research, lang.English
		r.Sections = append(r.Sections, Section{Quotes: []Quote{bad}})
		r.DropUnfounded(f.ledger, f.snapshots)
		if r.Outcome != Answered || len(r.Notes) != 1 {
			t.Errorf("%s: %s %q", name, r.Outcome, r.Notes)
		}
		if err := r.Gather(f.ledger, f.snapshots); err != nil || len(r.Sources) != 1 {
			t.Errorf("%s: %v, %d sources", name, err, len(r.Sources))
		}
		if text := Markdown(r); !strings.Contains(text, "The pump moves heat into the house [1]") {
			t.Errorf("%s: it is not shown:\n%s", name, text)
		}
	}
	r := &Report{Outcome: Answered, Conclusion: "The pump moves heat into the house [1]. [?]", Lang: lang.English}
	if !strings.Contains(strings.Join(r.coverage(), " "), "[?]") {
		t.Error("nobody says what [?] means")
	}
}

func TestSectionsAreNumberedOnce(t *testing.T) {
	r := &Report{Kind: Research, Sections: []Section{{Title: "Limits"}, {Title: "2. Costs"}, {Title: "三、结论"}, {Title: "4) End"}, {Title: "2024 in numbers"}}}
	want := []string{"1. Limits", "2. Costs", "3. 结论", "4. End", "5. 2024 in numbers"}
	for i := range r.Sections {
		if got := r.sectionTitle(i); got != want[i] {
			t.Errorf("%q, not %q", got, want[i])
		}
	}
	r.Kind = Answer
	if got := r.sectionTitle(1); got != "2. Costs" {
		t.Errorf("the title of an answer became %q", got)
	}
}

func TestSourcesSayWhereTheyAreCited(t *testing.T) {
	r := newFixture(t, inLanguages[0]).report(t, "research")
	if got := r.Source(1).Used; !slices.Equal(got, []string{"Summary", "1", "Where sources disagree"}) {
		t.Errorf("%q", got)
	}
	if got := r.Source(2).Used; !slices.Equal(got, []string{"2", "Conclusion", "Where sources disagree"}) {
		t.Errorf("%q", got)
	}
}

// What to ask next stands in the document that the other formats are set from.
func TestDocumentSaysWhatToAskNext(t *testing.T) {
	r := newFixture(t, inLanguages[0]).report(t, "research")
	var text []string
	for _, b := range r.Document().Blocks {
		for _, s := range b.Spans {
			text = append(text, s.Text)
		}
	}
	at := slices.Index(text, "Next questions")
	if at < 0 || !slices.Contains(text[at:], r.FollowUps[0]) {
		t.Errorf("%q", text)
	}
}

// Markers are links wherever they stand, save in code; nothing else is.
func TestDocumentLinks(t *testing.T) {
	r := &Report{
		Text:    "One [1]. **Two [1]** and `a[1]` [7] [?].\n\n| a |\n| --- |\n| b [1] |\n\n```\nc[1]\n```\n\n- d [1]\n\n[x](http://evil.example/) http://evil.example/",
		Sources: []Source{{Source: cite.Source{Number: 1, URI: "https://example.org/a", Kind: cite.Web}}},
	}
	links := map[string]int{}
	warned := 0
	count := func(spans []Span) {
		for _, s := range spans {
			if s.Link != "" {
				links[s.Text+" "+s.Link]++
			}
			if s.Warn {
				warned++
			}
		}
	}
	for _, b := range r.Document().Blocks {
		count(b.Spans)
		for _, row := range b.Rows {
			for _, c := range row {
				count(c)
			}
		}
	}
	if len(links) != 2 || links["[1] #source-1"] != 4 || links["example.org/a https://example.org/a"] != 1 || warned != 1 {
		t.Errorf("%v, %d warnings", links, warned)
	}
}

// What the sections quote is not quoted again with its source; what bears out
// written sentences is.
func TestQuotesStandOnce(t *testing.T) {
	f := newFixture(t, inLanguages[0])
	quoted := f.quote(t, 1, f.nearest, 0)
	claimed := f.quote(t, 2, f.foreign, 0)
	r := &Report{
		Kind: Research, Extractive: true, Outcome: Answered, Lang: lang.English, Question: f.question, Summary: "In short: see below [1].",
		Sections: []Section{{Title: "Quotes", Text: "In the words of one source:", Quotes: []Quote{quoted}}}, Conclusion: "This rests on two sources [2].",
		Claims: []cite.Checked{
			{Claim: cite.Claim{Text: f.nearest, Sources: []int{1}}, Verified: true, Passages: []cite.Passage{quoted.Passage}},
			{Claim: cite.Claim{Text: f.foreign, Sources: []int{2}}, Verified: true, Passages: []cite.Passage{claimed.Passage}},
		},
	}
	if err := r.Gather(f.ledger, f.snapshots); err != nil {
		t.Fatal(err)
	}
	var blocks strings.Builder
	for _, b := range r.Document().Blocks {
		for _, s := range b.Spans {
			blocks.WriteString(s.Text)
		}
	}
	for format, text := range map[string]string{"Markdown": Markdown(r), "HTML": HTML(r), "blocks": blocks.String()} {
		for _, words := range []string{quoted.Text, claimed.Text} {
			if n := strings.Count(text, words); n != 1 {
				t.Errorf("%s has %q %d times:\n%s", format, words, n, text)
			}
		}
	}
}

// Tasks of a list show whether they are done.
func TestTasks(t *testing.T) {
	r := &Report{Text: "- [ ] open\n- [x] done"}
	var blocks strings.Builder
	for _, b := range r.Document().Blocks {
		for _, s := range b.Spans {
			blocks.WriteString(s.Text + ";")
		}
	}
	if html := HTML(r); !strings.Contains(html, "☐ open") || !strings.Contains(html, "☑ done") || blocks.String() != "☐ ;open;☑ ;done;" && blocks.String() != "☐ open;☑ done;" {
		t.Errorf("%q\n%s", blocks.String(), html)
	}
}
