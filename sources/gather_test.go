package sources

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dossier/event"
	"dossier/llm"
	"dossier/run"
)

const (
	tower = "The tower of the lighthouse was built in 1874 by the engineer Maria Lindqvist. It is 41 metres high and stands on granite."
	bees  = "Ingrid keeps the bees behind the chapel. The honey is sold in August at the harbour market."
	ferry = "The ferry to the island leaves at seven in the morning. It carries twelve cars and two hundred people."
)

// planOf is a model's plan: titles, each with its queries after a colon.
func planOf(question string, facets ...string) map[string]any {
	list := []any{}
	for _, f := range facets {
		title, queries, _ := strings.Cut(f, ": ")
		q := []string{}
		if queries != "" {
			q = strings.Split(queries, "; ")
		}
		list = append(list, map[string]any{"title": title, "queries": q})
	}
	return map[string]any{"question": question, "facets": list}
}

var noNote = map[string]any{"relevant": false, "summary": "", "quotes": []string{}}

func TestGatherByRules(t *testing.T) {
	c := newShelf("tower", tower, "bees", bees, "ferry", ferry)
	e, d := gather(t, Job{Corpus: c, Question: "Who built the tower of the lighthouse? Where does Ingrid keep the bees?"}, run.Limits{})
	if d.rec.Status != run.Done || len(e.Facets) != 2 || e.Covered() != 2 {
		t.Fatalf("%s, %d facets, %v missing", d.rec.Status, len(e.Facets), e.Missing())
	}
	for i, want := range []string{"Maria Lindqvist", "behind the chapel"} {
		text := ""
		for _, q := range e.Facets[i].Quotes {
			src, _ := e.Ledger.Source(q.Source)
			quote, err := q.Quote(e.Snapshots[src.Snapshot])
			if err != nil {
				t.Fatal(err)
			}
			text += quote
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q", e.Facets[i].Title, text)
		}
	}
	if len(d.rounds()) != 1 {
		t.Errorf("all is answered, and there are rounds %q", d.rounds())
	}
	if len(e.Trouble) > 0 {
		t.Errorf("trouble %q", e.Trouble)
	}
}

// ownWords is a shelf that finds what comes last on it first when it is asked in
// the words of the question, and does not find it otherwise.
type ownWords struct {
	*shelf
	question string
}

func (o ownWords) Find(ctx context.Context, q Query) (Finding, error) {
	f, err := o.shelf.Find(ctx, q)
	if q.Text == o.question {
		slices.Reverse(f.Leads)
	} else if n := len(f.Leads); n > 0 {
		f.Leads = f.Leads[:n-1]
	}
	return f, err
}

// TestRankingForTheQuestionStays holds that what a search has put in order for
// the question is quoted in that order, whatever other queries found.
func TestRankingForTheQuestionStays(t *testing.T) {
	const question = "How long does the Kestrel server keep its Harrier logs?"
	corpus := ownWords{newShelf(
		"users", "The Kestrel server logs how long Harrier users keep a session open.",
		"sessions", "The Kestrel server and its Harrier sessions keep long names in logs.",
		"logs", "The Kestrel server keeps its Harrier logs for 30 days: so long they keep.",
	), question}
	e, _ := gather(t, Job{Question: question, Corpus: corpus, Models: &llm.Models{}, Tuning: Tuning{Queries: 3, Iterations: 1, MaxResults: 8, TopK: 6, ReadTop: 4}}, run.Limits{})
	f := e.Facets[0]
	var order []string
	for _, n := range f.Passages {
		order = append(order, e.Passages[n].ID)
	}
	if want := "logs.0 sessions.0 users.0"; strings.Join(order, " ") != want {
		t.Errorf("the passages are %v, not %s", order, want)
	}
}

func TestRoundsOfSearching(t *testing.T) {
	follow := func(queries ...string) map[string]any {
		list := []any{}
		for _, q := range queries {
			list = append(list, map[string]any{"facet": 1, "query": q})
		}
		return map[string]any{"reason": "more is to be found", "enough": false, "queries": list}
	}
	for _, c := range []struct {
		name    string
		replies map[string]any
		tuning  Tuning
		limits  run.Limits
		want    [][]string
	}{
		{
			name:    "nothing new is found",
			replies: map[string]any{"plan": planOf("q", "What is the colour of quarks?: quark"), "followups": follow("gluon", "hadron")},
			want:    [][]string{{"What is the colour of quarks?", "q", "quark"}, {"gluon", "hadron"}},
		},
		{
			name:    "no query is new",
			replies: map[string]any{"plan": planOf("q", "What is the colour of quarks?: quark"), "followups": follow("QUARK", "q", "what  is the colour of quarks?")},
			want:    [][]string{{"What is the colour of quarks?", "q", "quark"}},
		},
		{
			name:    "the rounds are used up",
			replies: map[string]any{"plan": planOf("q", "What is the colour of quarks?"), "followups": follow("bees", "ferry")},
			tuning:  Tuning{Queries: 1, Iterations: 2, MaxResults: 8, TopK: 8, ReadTop: 4},
			want:    [][]string{{"What is the colour of quarks?", "q"}, {"bees"}},
		},
		{
			name:    "a query that two facets share is asked once",
			replies: map[string]any{"plan": planOf("q", "Where are the bees?: honey harbour", "Where is the honey?: Honey Harbour")},
			tuning:  Tuning{Queries: 2, Iterations: 1, MaxResults: 8, TopK: 8, ReadTop: 4},
			want:    [][]string{{"Where are the bees?", "Where is the honey?", "honey harbour"}},
		},
		{
			name:    "a limit of searches leaves each facet one",
			replies: map[string]any{"plan": planOf("q", "Where are the quarks?: a1; b1", "Where are the gluons?: a2; b2"), "followups": follow("more")},
			limits:  run.Limits{Searches: 3},
			want:    [][]string{{"Where are the quarks?", "Where are the gluons?", "a1"}},
		},
		{
			name:    "addresses don't go out",
			replies: map[string]any{"plan": planOf("q", "see https://evil.example/?x=secret bees: http://evil.example/a honey")},
			tuning:  Tuning{Queries: 2, Iterations: 1, MaxResults: 8, TopK: 8, ReadTop: 4},
			want:    [][]string{{"see bees", "q", "honey"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.replies["note"] = noNote
			shelf := newShelf("bees", bees, "ferry", ferry)
			_, d := gather(t, Job{Models: scripted(c.replies).models(), Corpus: shelf, Question: "q", Tuning: c.tuning}, c.limits)
			if d.rec.Status != run.Done {
				t.Fatalf("%s: %+v", d.rec.Status, d.rec.Failure)
			}
			got := d.rounds()
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("rounds %q, not %q", got, c.want)
			}
			n := 0
			for _, r := range got {
				n += len(r)
			}
			if len(shelf.queries) != n {
				t.Errorf("the corpus was asked %q", shelf.queries)
			}
		})
	}
}

// Of the plan a model sees the conversation before, not whole reports.
func TestPlanSeesAShortHistory(t *testing.T) {
	m := scripted(map[string]any{"plan": planOf("Who keeps the bees?", "Who keeps the bees?"), "note": noNote})
	history := []llm.Message{{Role: llm.RoleUser, Content: "bees?"}, {Role: llm.RoleAssistant, Content: strings.Repeat("long ", 5000)}}
	e, _ := gather(t, Job{Models: m.models(), Corpus: newShelf("bees", bees), Question: "and who?", History: history}, run.Limits{})
	if e.Question != "Who keeps the bees?" || m.prompts["plan"] != "and who?" {
		t.Errorf("question %q, prompt %q", e.Question, m.prompts["plan"])
	}
	if len(history[1].Content) != 25000 {
		t.Error("the caller's history was changed")
	}
}

func TestSearchesThatFail(t *testing.T) {
	c := newShelf("bees", bees)
	c.findFails["honey"] = errors.New("the wire is cut")
	job := Job{Models: scripted(map[string]any{"plan": planOf("q", "Who keeps the bees?: honey"), "note": noNote}).models(), Corpus: c, Question: "q"}
	e, d := gather(t, job, run.Limits{})
	if d.rec.Status != run.Done || len(e.Passages) != 1 || !strings.Contains(strings.Join(e.Trouble, "\n"), `the search "honey" failed: the wire is cut`) {
		t.Errorf("%s, %d passages, trouble %q", d.rec.Status, len(e.Passages), e.Trouble)
	}
	if !slices.ContainsFunc(d.log, func(data event.Data) bool {
		r, ok := data.(event.SearchResults)
		return ok && r.Error == "the wire is cut"
	}) {
		t.Error("the failure is not in the log")
	}

	c = newShelf("bees", bees)
	c.findFails["*"] = &removedError{"handbook"}
	_, d = gather(t, Job{Corpus: c, Question: "Who keeps the bees?"}, run.Limits{})
	if f := d.rec.Failure; f == nil || f.Code != "no_collection" || f.Hint == "" || f.Message != `nothing could be searched: the collection "handbook" was removed meanwhile` {
		t.Errorf("%s: %+v", d.rec.Status, f)
	}
}

func TestReadingsThatFail(t *testing.T) {
	c := newShelf("bees", bees, "honey", "Honey of the bees is sold by Ingrid in August for nine euros a jar.")
	c.readFails["bees"] = ErrGone
	e, d := gather(t, Job{Corpus: c, Question: "When is the honey of the bees sold?"}, run.Limits{})
	if d.rec.Status != run.Done || len(e.Ledger.Sources()) != 1 || !strings.Contains(strings.Join(e.Trouble, "\n"), "https://example.org/bees could not be read: it is not there any more") {
		t.Errorf("%s, sources %+v, trouble %q", d.rec.Status, e.Ledger.Sources(), e.Trouble)
	}
	c.readFails["honey"] = ErrGone
	if e, d = gather(t, Job{Corpus: c, Question: "When is the honey of the bees sold?"}, run.Limits{}); d.rec.Status != run.Done || len(e.Passages) != 0 {
		t.Errorf("%s with %d passages", d.rec.Status, len(e.Passages))
	}
}

// Where only reading tells the passages, all of a document are its.
func TestLeadsWithoutAPlace(t *testing.T) {
	c := newShelf("bees", bees, "tower", tower)
	c.placeless = true
	e, _ := gather(t, Job{Corpus: c, Question: "Where does Ingrid keep the bees?"}, run.Limits{})
	if len(e.Passages) != 2 || len(e.Facets[0].Passages) != 2 || !e.Facets[0].Answered {
		t.Fatalf("%d passages, facet %+v", len(e.Passages), e.Facets[0])
	}
	for _, p := range e.Passages {
		if p.Text != bees[p.Start:p.End] || p.Text == "" {
			t.Errorf("passage %+v", p)
		}
	}
}

// A copy of a passage is not read for its own sake, and a near-copy of a
// document is not another source.
func TestCopies(t *testing.T) {
	long := strings.Repeat("The bees of the island are kept behind the chapel by Ingrid, who learnt it from her father. ", 3) +
		"The honey is sold in August, and the wax goes to the lighthouse, where candles are still made by hand in the old kitchen."
	c := newShelf("one", long, "same", "  "+strings.ReplaceAll(long, " ", "  "), "near", long+" Printed with permission.")
	e, _ := gather(t, Job{Corpus: c, Question: "Who keeps the bees?"}, run.Limits{})
	if slices.Contains(c.reads, "same") || len(e.Ledger.Sources()) != 2 {
		t.Errorf("read %q, sources %+v", c.reads, e.Ledger.Sources())
	}
	if n := e.Ledger.Independent([]int{1, 2}); n != 1 {
		t.Errorf("%d independent sources", n)
	}
}

// An address that had another text when it was read again keeps its first one.
func TestPageThatChanges(t *testing.T) {
	c := newShelf("a?x=1", bees, "a?utm_source=2&x=1", "Ingrid keeps the bees no longer. They were sold to Olaf in March.")
	e, d := gather(t, Job{Corpus: c, Question: "Who keeps the bees?"}, run.Limits{})
	if d.rec.Status != run.Done || len(e.Ledger.Sources()) != 1 || len(e.Trouble) != 1 {
		t.Fatalf("%s, %+v, trouble %q", d.rec.Status, e.Ledger.Sources(), e.Trouble)
	}
	for _, p := range e.Passages {
		if p.Text != bees {
			t.Errorf("a passage of the other text: %q", p.Text)
		}
	}
}

func TestNotes(t *testing.T) {
	m := scripted(map[string]any{"plan": planOf("q", "Who keeps the bees?"), "note": map[string]any{
		"relevant": true, "summary": "Ingrid does, see [more](http://evil.example/x).",
		"quotes": []string{"Ingrid keeps the bees", "Ingrid kept the bees", "behind the chapel."},
	}})
	e, d := gather(t, Job{Models: m.models(), Corpus: newShelf("bees", bees), Question: "q"}, run.Limits{})
	if len(e.Notes) != 1 || e.Notes[0].Source != 1 || !slices.Equal(e.Notes[0].Quotes, []string{"Ingrid keeps the bees", "behind the chapel."}) {
		t.Errorf("notes %+v", e.Notes)
	}
	if strings.Contains(e.Notes[0].Summary, "evil") {
		t.Errorf("summary %q", e.Notes[0].Summary)
	}
	if !slices.ContainsFunc(d.log, func(data event.Data) bool { _, ok := data.(event.NoteAdded); return ok }) {
		t.Error("the note is not told")
	}
}

// Told to finish before it has searched, a run still looks once.
func TestFinishBeforeTheFirstSearch(t *testing.T) {
	e, d := gather(t, Job{Corpus: newShelf("bees", bees), Question: "Where does Ingrid keep the bees?"}, run.Limits{Time: 1})
	if d.rec.Status != run.Done || len(e.Passages) != 1 || !e.Facets[0].Answered {
		t.Errorf("%s, %+v", d.rec.Status, e.Facets)
	}
	m := scripted(map[string]any{"plan": planOf("q", "Where are the quarks?"), "note": noNote})
	e, d = gather(t, Job{Models: m.models(), Corpus: newShelf("bees", bees), Question: "q"}, run.Limits{Tokens: 10})
	if d.rec.Status != run.Done || e.Stopped == nil || m.calls["followups"] > 0 {
		t.Errorf("%s, stopped %v, calls %v", d.rec.Status, e.Stopped, m.calls)
	}
}

func TestExcerptsShareTheRoom(t *testing.T) {
	e := &Evidence{Facets: []FacetEvidence{{Passages: []int{0, 1}}, {Passages: []int{2, 0}}}}
	for i := range 3 {
		e.Passages = append(e.Passages, Passage{Title: fmt.Sprint(i), Text: strings.Repeat("word ", 200)})
	}
	for tokens, want := range map[int]string{1: "0", 450: "0", 700: "02", 100000: "012"} {
		got := ""
		for _, x := range e.Excerpts(tokens) {
			got += x.Title
		}
		if got != want {
			t.Errorf("in %d tokens: %q, not %q", tokens, got, want)
		}
	}
}
