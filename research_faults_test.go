package dossier

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/report"
	"dossier/sources"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Two files whose names differ in bytes that are not UTF-8 are two sources.
func TestResearchInFilesWithOddNames(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "m\xff.txt"), "The mill was built in 1802 by Hans Otto of Bremen.\n")
	write(t, filepath.Join(dir, "m\xfe.txt"), "The mill was sold in 1850 to the town of Altona, which still owns it.\n")
	e := engine(t, memory.New(memory.Options{}), nil)
	m, _ := answerOf(follow(t, e, research("When was the mill built? When was the mill sold?", dir)))
	got := quotes(reportOf(t, e))
	for _, want := range []string{"The mill was built in 1802 by Hans Otto of Bremen.", "The mill was sold in 1850 to the town of Altona, which still owns it."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not quoted:\n%s", want, m.Text)
		}
	}
	for _, want := range []string{"m%FF.txt", "m%FE.txt"} {
		if !strings.Contains(m.Text, want) {
			t.Errorf("%s is not named:\n%s", want, m.Text)
		}
	}
}

// What was piped in is a source of its own: alone, and beside a folder.
func TestResearchInMaterial(t *testing.T) {
	const material = "Notes\n\nThe zebra sleeps at noon under the old acacia.\nThe gnu prefers the river bank.\n"
	e := engine(t, memory.New(memory.Options{}), nil)
	alone := Request{Mode: "web_search", Request: mode.Request{Question: "When does the zebra sleep?", Context: material}}
	m, _ := answerOf(follow(t, e, alone))
	if r := reportOf(t, e); !strings.Contains(quotes(r), "The zebra sleeps at noon") || !strings.Contains(m.Text, "standard input:3") {
		t.Errorf("%s", m.Text)
	}
	beside := research("When does the zebra sleep? How many steps lead up to the lamp?", library(t))
	beside.Context = material
	id := follow(t, e, beside)[0].Run
	r := reportOf(t, e)
	for _, want := range []string{"The zebra sleeps at noon", "187 steps"} {
		if !strings.Contains(quotes(r), want) {
			t.Errorf("%q is not quoted:\n%s", want, report.Markdown(r))
		}
	}
	if _, err := e.Replay(t.Context(), id); err != nil {
		t.Error(err)
	}
	alone.Context = " ?!… \n"
	follow(t, e, alone)
	if r := reportOf(t, e); r.Outcome != report.Nothing {
		t.Errorf("in material without a word: %s", r.Outcome)
	}
}

// A limit of searches or pages leaves the writing to the model.
func TestModelWritesFromWhatALimitLeft(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Script{Rules: writer("The lighthouse of Cape Kestrel was built in 1874 by the engineer Maria Lindqvist [1].")})
	e := engine(t, memory.New(memory.Options{}), connected(srv))
	req := research("Who built the lighthouse of Cape Kestrel?", library(t))
	req.Limits.Searches, req.Limits.Pages = 3, 1
	searches, hit := 0, map[string]bool{}
	for _, ev := range follow(t, e, req) {
		switch d := ev.Data.(type) {
		case event.SearchStarted:
			searches++
		case event.BudgetWarning:
			hit[d.What] = hit[d.What] || d.Hit
		}
	}
	r := reportOf(t, e)
	if r.Extractive || len(r.Sources) != 1 || searches != 3 || !hit["searches"] || !hit["pages"] {
		t.Errorf("%d searches, hit %v\n%s", searches, hit, report.Markdown(r))
	}
	if len(r.Notes) == 0 {
		t.Errorf("the report does not say that it was cut short:\n%s", report.Markdown(r))
	}
}

// A run whose time is up before it has begun answers from what it finds at
// once.
func TestResearchOutOfTime(t *testing.T) {
	dir := library(t)
	e := engine(t, memory.New(memory.Options{}), nil)
	req := research("How many steps lead up to the lamp?", dir)
	follow(t, e, req)
	req.Limits.Time = 1
	hit := false
	for _, ev := range follow(t, e, req) {
		w, ok := ev.Data.(event.BudgetWarning)
		hit = hit || ok && w.Hit
	}
	r := reportOf(t, e)
	// Whether it was cut short depends on when the clock is looked at: all there
	// is to do here may be done by then.
	if !strings.Contains(quotes(r), "187 steps") || !hit {
		t.Errorf("hit %t\n%s", hit, report.Markdown(r))
	}
	if _, err := e.Replay(t.Context(), r.Run); err != nil {
		t.Error(err)
	}
}

// Runs that begin at once in a folder that nobody has read yet share its
// collection.
func TestTwoRunsInANewFolder(t *testing.T) {
	dir := library(t)
	e := engine(t, memory.New(memory.Options{}), nil)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			m, _ := answerOf(follow(t, e, research("How many steps lead up to the lamp?", dir)))
			if !strings.Contains(m.Text, "187 steps") {
				t.Errorf("%s", m.Text)
			}
		})
	}
	wg.Wait()
	if list, err := e.Collections(t.Context()); err != nil || len(list.Collections) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

// What is not there is the user's to mend, and said without the inner life of
// the run.
func TestResearchInAFolderThatIsGone(t *testing.T) {
	e := engine(t, memory.New(memory.Options{}), nil)
	for _, tc := range []struct {
		in   sources.Target
		code string
	}{
		{sources.Target{Paths: []string{filepath.Join(t.TempDir(), "gone")}}, "usage"},
		{sources.Target{Collection: "gone"}, "usage"},
		{sources.Target{Web: &sources.WebScope{Engines: []string{sources.LocalName}}}, "usage"},
		{sources.Target{Web: &sources.WebScope{Engines: []string{"gone"}}}, "usage"},
		{sources.Target{Paths: []string{t.TempDir(), t.TempDir()}}, "usage"},
		{sources.Target{}, "not_configured"},
		{sources.Target{Web: &sources.WebScope{}}, "not_configured"},
	} {
		req := research("anything?", "")
		req.In = tc.in
		follow(t, e, req)
		rec, err := e.Get(t.Context(), "last")
		if err != nil || rec.Failure == nil || rec.Failure.Code != tc.code || rec.Failure.Hint == "" || strings.Contains(rec.Failure.Message, "step ") {
			t.Errorf("%+v: %+v, %v", tc.in, rec.Failure, err)
		}
	}
}

// A follow-up question is planned with the beginning of the answer before it,
// not with its list of sources.
func TestResearchGoesOnInAConversation(t *testing.T) {
	long := strings.Repeat("The lighthouse of Cape Kestrel was built in 1874 by the engineer Maria Lindqvist [1]. ", 60)
	srv := llmtest.Start(t, llmtest.Script{Rules: writer(long)})
	e := engine(t, memory.New(memory.Options{}), connected(srv))
	dir := library(t)
	first := research("Who built the lighthouse of Cape Kestrel?", dir)
	session := follow(t, e, first)[0].Session
	second := research("and when?", dir)
	second.Session = session
	follow(t, e, second)
	var plans []llmtest.Call
	for _, c := range srv.Calls() {
		if c.Schema == "plan" {
			plans = append(plans, c)
		}
	}
	var all strings.Builder
	for _, m := range plans[len(plans)-1].Request.Messages {
		all.WriteString(m.Content + "\n")
	}
	if text := all.String(); !strings.Contains(text, "Who built the lighthouse of Cape Kestrel?") || strings.Contains(text, "## Sources") || len(text) > 8000 {
		t.Errorf("the plan is made with:\n%s", text)
	}
}

// Told to finish while the model is at one of its decisions, a run answers with
// what there is: rules take that decision and all that follow.
func TestResearchFinishesWithWhatThereIs(t *testing.T) {
	dir := library(t)
	answer := "The lighthouse of Cape Kestrel was built in 1874 by the engineer Maria Lindqvist [1]. The moon is made of green cheese from Holland [1]."
	for _, schema := range []string{"plan", "note", "synthesized_answer", "judgements", "rewritten"} {
		t.Run(schema, func(t *testing.T) {
			var once sync.Once
			asked := make(chan struct{})
			slow := llmtest.Rule{Schema: schema, Fault: &llmtest.Fault{Kind: llmtest.Slow}, Reply: llmtest.Do(func(*llmtest.Request) *llmtest.Reply {
				once.Do(func() { close(asked) })
				return nil
			})}
			srv := llmtest.Start(t, llmtest.Script{Rules: append([]llmtest.Rule{slow}, writer(answer)...)})
			e := engine(t, memory.New(memory.Options{}), connected(srv))
			rec, err := e.Start(t.Context(), research("Who built the lighthouse of Cape Kestrel?", dir))
			if err != nil {
				t.Fatal(err)
			}
			<-asked
			if err := e.Finish(t.Context(), rec.ID); err != nil {
				t.Fatal(err)
			}
			for _, err := range e.Events(t.Context(), rec.ID, 0) {
				if err != nil {
					t.Fatal(err)
				}
			}
			r := reportOf(t, e)
			if r.Outcome != report.Answered || !strings.Contains(report.Markdown(r), "Lindqvist") {
				t.Errorf("%s", report.Markdown(r))
			}
			if written := schema == "judgements" || schema == "rewritten"; r.Extractive == written {
				t.Errorf("extractive %t:\n%s", r.Extractive, report.Markdown(r))
			}
			if _, err := e.Replay(t.Context(), rec.ID); err != nil {
				t.Error(err)
			}
		})
	}
}

// What answers two parts of a question is listed once.
func TestSourcesListEachPlaceOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "hours.md"), "# Hours\n\nThe museum opens at nine on weekdays. The museum opens at eleven on Sundays. The cafe is closed on Mondays.\n\nDogs are not allowed in the museum.\n")
	e := engine(t, memory.New(memory.Options{}), nil)
	m, _ := answerOf(follow(t, e, research("When does the museum open on weekdays? When is the cafe closed?", dir)))
	r := reportOf(t, e)
	if len(r.Sections) != 2 {
		t.Fatalf("%d sections\n%s", len(r.Sections), m.Text)
	}
	_, list, _ := strings.Cut(m.Text, "## Sources")
	if n := strings.Count(list, "hours.md:3"); n != 1 {
		t.Errorf("listed %d times:%s", n, list)
	}
}

// TestResearchWithWhatIsNoWord asks about a key that is longer than a passage.
func TestResearchWithWhatIsNoWord(t *testing.T) {
	dir := t.TempDir()
	text := "# Access\n\nThe access token of the lighthouse gateway is " + strings.Repeat("Ab3xQ", 640) + " and it expires after 90 days.\n\nThe gateway listens on port 8443.\n"
	write(t, filepath.Join(dir, "access.md"), text)
	e := engine(t, memory.New(memory.Options{}), nil)
	for _, question := range []string{"What is the access token of the lighthouse gateway?", "On which port does the gateway listen?"} {
		follow(t, e, research(question, dir))
		if r := reportOf(t, e); r.Outcome != report.Answered || len(r.Notes) > 0 {
			t.Errorf("%s: %s, %q", question, r.Outcome, r.Notes)
		}
	}
}
