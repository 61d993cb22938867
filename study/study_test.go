package study

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"dossier/cite"
	"dossier/lang"
	"dossier/sources"
)

// evidenceOf is what was read on some pages: a facet with all of them, each page a
// passage and a quote.
func evidenceOf(facet string, pages ...[2]string) *sources.Evidence {
	e := &sources.Evidence{Ledger: cite.NewLedger(), Snapshots: make(cite.Snapshots)}
	f := sources.FacetEvidence{Title: facet, Answered: true, Confidence: 1}
	for _, p := range pages {
		snap := e.Snapshots.Add(p[1])
		src := e.Ledger.Add(cite.Source{URI: p[0], Kind: cite.Web, Title: "about " + p[0]})
		if _, err := e.Ledger.Read(src.Number, snap); err != nil {
			panic(err)
		}
		at := snap.PassageAt(src.Number, lang.Span{Start: 0, End: len(p[1])})
		f.Passages = append(f.Passages, len(e.Passages))
		f.Quotes = append(f.Quotes, at)
		e.Passages = append(e.Passages, sources.Passage{ID: p[0] + "#0", Passage: at, Title: src.Title, Text: p[1]})
	}
	e.Facets = []sources.FacetEvidence{f}
	return e
}

// The Book has one number for an address, whoever read it and whatever number it
// had there; what rests on another text of that address is left out.
func TestBookRenumbers(t *testing.T) {
	const a, b, c = "https://a.example/1", "https://b.example/2", "https://c.example/3"
	book := NewBook()
	first := evidenceOf("x", [2]string{a, "The mill was built in 1802."}, [2]string{b, "It was sold in 1850."})
	f1 := book.Add(first, Finding{Task: "Mill", Text: "Built in 1802 [1]. Sold in 1850 [2].", Passages: first.Facets[0].Quotes})
	second := evidenceOf("y", [2]string{c, "The river floods in May."}, [2]string{b, "It was sold in 1850."}, [2]string{a, "This page has moved."})
	f2 := book.Add(second, Finding{Task: "River", Text: "It floods [1]. Sold [2]. Moved [3]. Both [1, 2].", Passages: second.Facets[0].Quotes})

	if f1.ID != "f1" || f2.ID != "f2" {
		t.Errorf("ids %s %s", f1.ID, f2.ID)
	}
	if want := "Built in 1802 [1]. Sold in 1850 [2]."; f1.Text != want {
		t.Errorf("%q", f1.Text)
	}
	if want := "It floods [3]. Sold [2]. Moved. Both [3][2]."; f2.Text != want {
		t.Errorf("%q", f2.Text)
	}
	if got := f2.Sources(); !slices.Equal(got, []int{3, 2}) {
		t.Errorf("sources %v", got)
	}
	if n := len(book.Ledger.Sources()); n != 3 {
		t.Errorf("%d sources", n)
	}
	e := book.Evidence("q", "f2", "nothing")
	if len(e.Passages) != 2 || len(e.Facets) != 1 || e.Passages[0].Source != 3 || e.Passages[1].Source != 2 {
		t.Errorf("%+v", e.Passages)
	}
	for _, p := range e.Passages {
		src, _ := book.Ledger.Source(p.Source)
		if text, err := p.Quote(book.Snapshots[src.Snapshot]); err != nil || text != p.Text {
			t.Errorf("passage of %s: %q, %v", src.URI, text, err)
		}
	}
	both := book.Evidence("q", "f1", "f2")
	if len(both.Passages) != 3 || len(both.Facets) != 2 {
		t.Errorf("%d passages, %d facets", len(both.Passages), len(both.Facets))
	}
	if again := book.Add(nil, Finding{ID: "own", Text: "As said [2].", Passages: f1.Passages[1:]}); again.Text != "As said [2]." || len(book.Evidence("q", "own").Passages) != 1 {
		t.Errorf("%+v", again)
	}
}

func TestPlanAsText(t *testing.T) {
	p := Plan{Title: "Heat pumps", Sections: []PlanSection{
		{Title: "How they work", Description: "How does a heat pump work?", Queries: []string{"heat pump principle", "refrigerant cycle"}},
		{Title: "Costs", Description: "What do they cost?", Queries: []string{"heat pump price"}},
	}}
	got, ok := ParsePlan(p.Text())
	if !ok || !reflect.DeepEqual(got, p) {
		t.Errorf("%+v", got)
	}
	for _, text := range []string{"", "start", "# Only a title\n- a query"} {
		if _, ok := ParsePlan(text); ok {
			t.Errorf("%q is a plan", text)
		}
	}
}

func TestPlanIsEdited(t *testing.T) {
	p := Plan{Title: "T", Sections: []PlanSection{{Title: "A", Description: "a?", Queries: []string{"a"}}, {Title: "B", Description: "b?", Queries: []string{"b"}}}}
	p.Rubric = append(RubricOf(p.Sections), Item{ID: "r3", Question: "mind the units", Kind: Trap, State: Open})
	p.Cover("r2", "f7")
	for _, c := range []struct {
		said   string
		titles string
		same   bool
	}{
		{"drop 1", "B", false}, {"удалить 1", "B", false}, {"删除 1", "B", false},
		{"add The harbour", "A B The harbour", false}, {"добавить Порт; удалить 2", "A Порт", false}, {"添加：港口；删除1", "B 港口", false},
		{"drop 9", "A B", false}, {"drop 1; drop 2; drop 1", "A", false},
		{"start", "A B", true}, {"начать", "A B", true}, {"", "A B", true}, {"drop the second one", "A B", true},
	} {
		got, same := edited(p, c.said)
		var titles []string
		for _, s := range got.Sections {
			titles = append(titles, s.Title)
			if len(s.Queries) == 0 || s.Description == "" {
				t.Errorf("%q: section %+v", c.said, s)
			}
		}
		if strings.Join(titles, " ") != c.titles || same != c.same {
			t.Errorf("%q: %q, %v", c.said, titles, same)
		}
		if !same && len(got.Rubric) != len(got.Sections)+1 {
			t.Errorf("%q: rubric %+v", c.said, got.Rubric)
		}
	}
	if got, _ := edited(p, "drop 1"); got.Rubric[0].State != Covered || got.Rubric[0].Findings[0] != "f7" {
		t.Errorf("what was covered is %+v", got.Rubric)
	}
	var b Brief
	if got := p.Steered(&b, []string{"look at prices too", "drop 2"}); len(got.Sections) != 1 || len(b.Remarks) != 1 || !strings.Contains(b.Context(), "look at prices too") {
		t.Errorf("%+v %+v", got.Sections, b)
	}
}

func TestRubricIsKept(t *testing.T) {
	p := Plan{Rubric: RubricOf([]PlanSection{{Title: "A"}, {Title: "B"}, {Title: "C"}})}
	p.Cover("r1", "f1")
	p.Cover("r1", "f1")
	p.Cover("r1", "f2")
	p.Miss("r1")
	p.Miss("r2")
	if c := p.Coverage(); c.Covered != 1 || c.Total != 3 || c.Of != "rubric" {
		t.Errorf("%+v", c)
	}
	if open := p.OpenItems(); len(open) != 1 || open[0].ID != "r3" || len(p.Rubric[0].Findings) != 2 || p.Rubric[1].State != Missing {
		t.Errorf("%+v", p.Rubric)
	}
}

// What was said is not said again, what tells of the work is left out, and no
// evidence is lost.
func TestFindingsAreMerged(t *testing.T) {
	raw := []piece{
		{id: "f1", title: "A", text: "Task: look for mills\nThe mill was built in 1802 [1]. It has two wheels [1].", findings: []string{"f1"}},
		{id: "f2", title: "A", text: "It has two wheels. [2]", findings: []string{"f2"}},
		{id: "f3", title: "B", text: "The mill was built in 1802 [3]. The river floods in May [3].", findings: []string{"f3"}},
		{id: "f4", title: "B", text: "It has two wheels [4].", findings: []string{"f4"}},
		{id: "f5", title: "B", text: "Nobody can check this.", findings: []string{"f5"}},
	}
	checkable := func(p piece) bool { return p.id != "f5" }
	show := func(list []piece) (out []string) {
		for _, p := range list {
			out = append(out, p.id+":"+strings.Join(p.findings, ",")+":"+p.text)
		}
		return out
	}
	one := []string{"f1:f1,f2,f4:The mill was built in 1802 [1]. It has two wheels [1].", "f3:f3:The river floods in May [3]."}
	if got := show(merged(slices.Clone(raw), false, checkable)); !slices.Equal(got, one) {
		t.Errorf("%q", got)
	}
	apart := []string{"f1:f1,f2:The mill was built in 1802 [1]. It has two wheels [1].", "f3:f3:The river floods in May [3].", "f4:f4:"}
	if got := show(merged(slices.Clone(raw), true, checkable)); !slices.Equal(got, apart) {
		t.Errorf("%q", got)
	}
}

// Material that does not fit is cut into parts that do, and nothing of it is lost.
func TestMaterialIsPacked(t *testing.T) {
	var texts, lines []string
	for i := range 50 {
		line := strings.Repeat("word ", 5+i) + "end."
		lines = append(lines, line)
		texts = append(texts, line+"\n"+line)
	}
	parts := packed(texts, 200)
	if len(parts) < 10 {
		t.Errorf("%d parts", len(parts))
	}
	all := strings.Join(parts, "")
	for _, l := range lines {
		if strings.Count(all, l+"\n") < 2 {
			t.Errorf("%q is lost", l)
		}
	}
}
