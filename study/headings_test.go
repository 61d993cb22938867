package study

import (
	"slices"
	"strings"
	"testing"

	"dossier/report"
)

// What was found by bare words has the title that its authors gave it, and what was
// read beside what is quoted is worth a question.
func TestHeadingsAreTitlesAndQuestions(t *testing.T) {
	const question = "How are conflicts between packages solved?"
	e := evidenceOf(question,
		[2]string{"https://a.example/1", "Conflicts between packages are solved by removing the package that is in conflict with the others."},
		[2]string{"https://b.example/2", "The solver of conflicts weighs each solution by what it would remove, and shows the cheapest first."})
	headed := []string{"Immediate resolution", "Costs of conflicts"}
	for i := range e.Passages {
		e.Passages[i].HeadingPath = []string{"Manual", headed[i]}
	}
	e.Facets[0].Quotes = e.Facets[0].Quotes[:1]
	e.Facets[0].Quotes[0].HeadingPath = []string{"Manual", headed[0]}
	w := Work{
		Brief: Brief{Question: question, Refined: question, Language: "en"}, Book: NewBook(), Lengths: TeamLengths, FollowUps: FollowUps,
		Plan: Plan{Title: question, Rubric: []Item{{ID: "r1", Question: question}}},
	}
	f := w.Book.Add(e, Finding{Task: "By the words: conflicts packages", Text: "Removing [1].", Passages: e.Facets[0].Quotes})
	w.Plan.Cover("r1", f.ID)
	r, _ := writeUp(t, nil, w)
	var titles []string
	for _, s := range r.Sections {
		titles = append(titles, s.Title)
	}
	if !slices.Equal(titles, []string{"Immediate resolution"}) {
		t.Errorf("the sections are %q", titles)
	}
	if want := "What is said under “Costs of conflicts”?"; !slices.Contains(r.FollowUps, want) {
		t.Errorf("%q is not among %q", want, r.FollowUps)
	}
}

// Words between quotation marks stand in any case: a question about them would read
// wrong.
func TestNamesThatCanBeAskedAbout(t *testing.T) {
	for name, c := range map[string]struct{ quoted, want bool }{
		"новой": {true, true}, "интерактивным разрешением": {true, true}, "Зависит": {true, true}, "Мост Келдра": {true, false},
		"Келдра": {false, false}, "interactive": {true, false}, "云汀桥": {true, false},
	} {
		if got := inflected(name, c.quoted); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Where nothing answers, the passages that come nearest are shown, and said to be
// no answer.
func TestNearestWhereNothingAnswers(t *testing.T) {
	const question = "Who paid for the bridge?"
	e := evidenceOf(question, [2]string{"https://a.example/1", "The bridge has two towers."}, [2]string{"https://a.example/2", "It was opened in the spring."})
	w := Work{
		Brief: Brief{Question: question, Refined: question, Language: "en"}, Book: NewBook(), Lengths: TeamLengths,
		Plan: Plan{Title: question, Rubric: []Item{{ID: "r1", Question: question, State: Missing}}},
	}
	w.Book.Pass(e)
	w.Book.Pass(e)
	r, _ := writeUp(t, nil, w)
	if r.Outcome != report.Nothing || len(r.Nearest) != 2 || !strings.Contains(r.Nearest[0].Text, "two towers") || len(r.Sources) != 2 {
		t.Errorf("%+v", r)
	}
}
