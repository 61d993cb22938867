package dossier

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/internal/studytest"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
	"dossier/report"
)

// goesOn are deep researches, and questions that follow them in the same
// conversation: of what these ask, a part was read for the first question, and
// another was not.
var goesOn = []struct {
	name               string
	flags              map[string]string
	first, second      llmtest.Script
	question, followUp string
	alone              string // the follow-up as it is worked on
	known, fresh       string // of what nobody looks for again, and of what somebody does
}{
	{
		name: "team-model", question: teamQuestion, followUp: "Who is the mayor there, and how high is the Skarrow windmill?",
		alone: "Who is the mayor in Oststrand, and how high is the Skarrow windmill?", known: "Who is the mayor of Oststrand?", fresh: "How high is the Skarrow windmill?",
		first: llmtest.Script{Rules: theTeam.Rules()}, second: llmtest.Script{Rules: nextTeam.Rules()},
	},
	{
		name: "team-quotes", flags: map[string]string{"deep_research.num_agents": "1"}, // of several it is chance who reads a page first
		question: "When was the Keldra Bridge opened, and how long is it?", followUp: "Was it designed by an architect? How high is the Skarrow windmill?",
		alone: "Keldra Bridge: Was it designed by an architect? How high is the Skarrow windmill?",
		known: "Keldra Bridge: Was it designed by an architect?", fresh: "How high is the Skarrow windmill?",
	},
	{
		name: "loop-model", flags: looped, question: oststrandQuestion, followUp: "Who is the mayor there, and how high is the Skarrow windmill?",
		alone: "Who is the mayor in Oststrand, and how high is the Skarrow windmill?", known: "Mayor", fresh: "Mill",
		first: llmtest.Script{Rules: townScholar.Rules()}, second: llmtest.Script{Rules: nextScholar.Rules()},
	},
	{
		name: "loop-quotes", flags: looped, question: "When was the Keldra Bridge opened, and how long is it?", followUp: "Was it designed by an architect? How high is the Skarrow windmill?",
		alone: "Keldra Bridge: Was it designed by an architect? How high is the Skarrow windmill?",
		known: "Keldra Bridge: Was it designed by an architect?", fresh: "How high is the Skarrow windmill?",
	},
}

// nextTeam and nextScholar plan the follow-up.
var (
	nextTeam = scriptedTeam{
		Scribe: theTeam.Scribe,
		Rubric: []string{"Who is the mayor of Oststrand?", "How high is the Skarrow windmill?"},
		Tasks:  []string{"Who is the mayor of Oststrand?", "How high is the Skarrow windmill?"},
	}
	nextScholar = scholar{
		Title: "Mayor and mill",
		Sections: []studytest.Section{
			{Title: "Mayor", Description: "Who is the mayor of Oststrand?", Queries: []string{"mayor of Oststrand"}},
			{Title: "Mill", Description: "How high is the Skarrow windmill?", Queries: []string{"Skarrow windmill height"}},
			{Title: "Bridge", Description: "When was the Keldra Bridge opened?", Queries: []string{"Keldra Bridge opened"}},
		},
		Enough: 1,
	}
)

// TestFollowUps has a question follow a finished research: it is made to stand by
// itself, what was read before is cited as it was read and not searched for again,
// and what is new is.
func TestFollowUps(t *testing.T) {
	for _, c := range goesOn {
		t.Run(c.name, func(t *testing.T) {
			w := startWeb(t, webtest.Options{Slow: time.Millisecond})
			disk := memory.New(memory.Options{})
			flags := func(s llmtest.Script) map[string]string {
				all := []map[string]string{c.flags}
				if len(s.Rules) > 0 {
					all = append(all, connected(llmtest.Start(t, s)))
				}
				return onWeb(t, w, all...)
			}
			e := engine(t, disk, flags(c.first))
			events := follow(t, e, onTheWeb("deep_research", c.question))
			checkSuggested(t, events, reportOf(t, e))
			read := make(map[string]string) // addresses by what was read there
			for _, ev := range events {
				if d, ok := ev.Data.(event.SourceRead); ok {
					read[d.Hash] = d.URL
				}
			}

			e = engine(t, disk, flags(c.second))
			req := onTheWeb("deep_research", c.followUp)
			req.Session = events[0].Run
			events = follow(t, e, req)
			id, r := events[0].Run, reportOf(t, e)
			checkSuggested(t, events, r)
			if alone := standsAs(events); alone != c.alone || r.Question != c.followUp {
				t.Errorf("%q is worked on as %q", r.Question, alone)
			}
			if looked := lookedFor(events); slices.Contains(looked, c.known) || !slices.Contains(looked, c.fresh) {
				t.Errorf("looked for was %q", looked)
			}
			found := foundBefore(events)
			if len(found) == 0 {
				t.Error("nothing was known before")
			}
			for _, src := range r.Sources {
				if url := read[src.Snapshot]; slices.Contains(found, src.Number) && url != src.URI {
					t.Errorf("%s is cited as it was not read before", src.URI)
				}
			}
			if !slices.ContainsFunc(r.Sources, func(s report.Source) bool { return slices.Contains(found, s.Number) }) {
				t.Errorf("nothing is cited that was read before: %v", found)
			}
			if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "earlier question") }) {
				t.Errorf("the report does not say so: %q", r.Notes)
			}
			golden(t, "followup-"+c.name+".golden", []byte(byScope(t, w, events, id)))
			if _, err := e.Replay(t.Context(), id); err != nil {
				t.Error(err)
			}
		})
	}
}

// standsAs is the question as a run works on it.
func standsAs(events []event.Event) string {
	for _, ev := range events {
		if d, ok := ev.Data.(event.PlanUpdated); ok && ev.Agent == "" && d.Question != "" {
			return d.Question
		}
	}
	return ""
}

// lookedFor are the tasks of a team that somebody has worked on, or the sections
// of a loop that something was searched for.
func lookedFor(events []event.Event) []string {
	var out, sections []string
	for _, ev := range events {
		switch d := ev.Data.(type) {
		case event.PlanUpdated:
			for _, s := range d.Steps {
				if sections == nil || len(sections) < len(d.Steps) {
					sections = append(sections, s.Title)
				}
			}
		case event.TodoUpdated:
			if d.State == "active" {
				out = append(out, d.Title)
			}
		case event.SearchStarted:
			var round, n int
			if _, err := fmt.Sscanf(ev.Agent, "iteration-%d/section-%d", &round, &n); err == nil {
				out = append(out, sections[n-1])
			}
		}
	}
	return out
}

// foundBefore are the numbers of sources that a run had before it read anything
// there.
func foundBefore(events []event.Event) []int {
	read := make(map[string]bool)
	var out []int
	for _, ev := range events {
		switch d := ev.Data.(type) {
		case event.SourceRead:
			read[d.Hash] = true
		case event.SourceFound:
			if d.Hash != "" && !read[d.Hash] {
				out = append(out, d.Number)
			}
		}
	}
	return out
}

// checkSuggested checks that a run suggests questions that its report has too.
func checkSuggested(t *testing.T, events []event.Event, r *report.Report) {
	t.Helper()
	var told []string
	for _, ev := range events {
		if d, ok := ev.Data.(event.FollowUps); ok {
			told = append(told, d.Questions...)
		}
	}
	if len(told) == 0 || len(told) > 3 || !slices.Equal(told, r.FollowUps) {
		t.Errorf("suggested is %q, and in the report %q", told, r.FollowUps)
	}
	for _, q := range told {
		if strings.Contains(q, "evil-invention") || !strings.HasSuffix(q, "?") && !strings.HasSuffix(q, "？") {
			t.Errorf("%q is suggested", q)
		}
	}
}
