package dossier

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/lang"
	"dossier/llm/llmtest"
	"dossier/report"
	"dossier/run"
)

// deepEngine is an engine of deep research with a model that works on a question.
type deepEngine struct {
	name, question string
	rules          []llmtest.Rule
}

var deepEngines = []deepEngine{
	{"supervisor", teamQuestion, theTeam.Rules()},
	{"loop", oststrandQuestion, townScholar.Rules()},
}

// A budget ends the work, not the report: however small it is, a report comes out
// that says what it lacks and why, no more is spent, and the limit of searches and
// pages is that of all who search together.
func TestDeepResearchWithinABudget(t *testing.T) {
	w := startWeb(t, webtest.Options{Slow: time.Millisecond})
	for _, deep := range deepEngines {
		for name, c := range map[string]struct {
			limits  run.Limits
			byRules string // why no model decided
			calls   int    // of the model, at most
			free    bool   // without a model it may be enough
		}{
			"a token":    {limits: run.Limits{Tokens: 1}, byRules: "the budget of tokens is spent", calls: 1, free: true},
			"a cent":     {limits: run.Limits{Cost: 0.01}, byRules: "the budget of money is spent", calls: 1, free: true},
			"no time":    {limits: run.Limits{Time: time.Nanosecond}, byRules: "the time is up"},
			"a moment":   {limits: run.Limits{Time: 150 * time.Millisecond}, byRules: "the time is up", calls: 1000, free: true},
			"a second":   {limits: run.Limits{Time: time.Second}, calls: 1000, free: true}, // which may be enough
			"a search":   {limits: run.Limits{Searches: 1}, calls: 1000},
			"3 searches": {limits: run.Limits{Searches: 3}, calls: 1000},
			"a page":     {limits: run.Limits{Pages: 1}, calls: 1000},
			"4 pages":    {limits: run.Limits{Pages: 4}, calls: 1000},
		} {
			for _, model := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/model=%t", deep.name, name, model), func(t *testing.T) {
					t.Parallel()
					srv := llmtest.Start(t, llmtest.Script{Rules: deep.rules, Latency: 25 * time.Millisecond})
					flags := onWeb(t, w, map[string]string{"deep_research.engine": deep.name})
					if model {
						flags = onWeb(t, w, flags, connected(srv), map[string]string{"models.default.price.input": "1000", "models.default.price.output": "1000"})
					}
					e := engine(t, memory.New(memory.Options{}), flags)
					req := onTheWeb("deep_research", deep.question)
					req.Limits = c.limits
					events := follow(t, e, req)
					rec, err := e.Get(t.Context(), events[0].Run)
					if err != nil || rec.Status != run.Done {
						t.Fatalf("the run is %s, %v", rec.Status, err)
					}
					r := reportOf(t, e)
					if r.Outcome == report.Nothing || r.Summary == "" || r.Conclusion == "" || len(r.Sections) == 0 {
						t.Errorf("%s:\n%s", r.Outcome, report.Markdown(r))
					}
					if n := len(srv.Calls()); n > c.calls {
						t.Errorf("%d calls of the model", n)
					}
					if l := c.limits; l.Searches > 0 && rec.Spent.Searches > l.Searches || l.Pages > 0 && rec.Spent.Pages > l.Pages {
						t.Errorf("spent %+v of %+v", rec.Spent, l)
					}
					has := func(text string) bool {
						return slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, text) })
					}
					if labelled := has("The work was cut short") || model && c.byRules != "" && has(c.byRules); !labelled && !c.free {
						t.Errorf("the report does not say that it was cut short: %q", r.Notes)
					}
					if model && c.byRules != "" && !has("instead of what a model writes: "+c.byRules) {
						t.Errorf("the report does not say why no model wrote: %q", r.Notes)
					}
					if slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "is spent: ") }) {
						t.Errorf("figures that differ from note to note: %q", r.Notes)
					}
					if _, err := e.Replay(t.Context(), rec.ID); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// A budget of zero is none: everything is done.
func TestDeepResearchWithoutLimits(t *testing.T) {
	w := startWeb(t, webtest.Options{Slow: time.Millisecond})
	for _, deep := range deepEngines {
		srv := llmtest.Start(t, llmtest.Script{Rules: deep.rules})
		zero := map[string]string{"limits.tokens": "0", "limits.cost": "0", "limits.time": "0s", "limits.searches": "0", "limits.pages": "0"}
		e := engine(t, memory.New(memory.Options{}), onWeb(t, w, map[string]string{"deep_research.engine": deep.name}, zero, connected(srv)))
		follow(t, e, onTheWeb("deep_research", deep.question))
		if r := reportOf(t, e); r.Outcome != report.Answered || len(r.Sections) < 3 || r.Model == "" {
			t.Errorf("%s: %s, %d sections, by %q", deep.name, r.Outcome, len(r.Sections), r.Model)
		}
	}
}

// What a report lacks, and why, is said in the language of the question.
func TestDeepResearchSaysInEachLanguageWhatItLacks(t *testing.T) {
	w := startWeb(t, webtest.Options{Slow: time.Millisecond})
	for question, want := range map[string]string{
		"Когда открыли Заречный виадук?": "бюджет токенов исчерпан", "银尾雀鹛现在有多少只？": "词元预算已用完",
	} {
		for _, deep := range deepEngines {
			srv := llmtest.Start(t, llmtest.Script{Rules: deep.rules})
			e := engine(t, memory.New(memory.Options{}), onWeb(t, w, map[string]string{"deep_research.engine": deep.name}, connected(srv)))
			req := onTheWeb("deep_research", question)
			req.Limits.Tokens = 1
			follow(t, e, req)
			r := reportOf(t, e)
			if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, want) }) {
				t.Errorf("%s: %q", deep.name, r.Notes)
			}
			for _, n := range r.Notes {
				if !strings.Contains(n, "127.0.0.1") && lang.Detect(n) != lang.Detect(question) {
					t.Errorf("%s, asked %q: %q", deep.name, question, n)
				}
			}
		}
	}
}
