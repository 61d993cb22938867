package dossier

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"dossier/internal/store/memory"
	"dossier/internal/studytest"
	"dossier/internal/webtest"
	"dossier/lang"
	"dossier/llm/llmtest"
	"dossier/report"
	"dossier/run"
)

// foreigners are models of both engines that write English, whatever they are
// asked, and find with their queries what they look for.
func foreigners(query string) map[string][]llmtest.Rule {
	const prose = "It was opened in the year that the source says [1]. Everybody in the town knows it and is glad of it [1]."
	team := theTeam
	team.Tasks = []string{"When was the thing opened to the public?", "How many of the things are there today?"}
	team.Rubric = team.Tasks
	team.Facets = []facet{{Title: "When was the thing opened to the public?", Queries: []string{query}}}
	team.Researcher = func(q *llmtest.Request) *llmtest.Reply {
		reply := theTeam.Research(q)
		switch {
		case strings.Contains(reply.Text, "Action: web_search"):
			return act("web_search", map[string]any{"query": query})
		case strings.Contains(reply.Text, "Action: done"):
			return act("done", map[string]any{"note": prose, "covers": []string{"r1"}})
		}
		return reply
	}
	loop := townScholar
	loop.Title, loop.Sections = "The thing and its history", []studytest.Section{
		{Title: "The opening", Description: "When was the thing opened to the public?", Queries: []string{query}},
		{Title: "The number", Description: "How many of the things are there today?", Queries: []string{query}},
		{Title: "The use", Description: "What do people use the thing for?", Queries: []string{query}},
	}
	english := []llmtest.Rule{
		{Schema: "clarity", Reply: llmtest.JSON(map[string]any{"is_clear": true, "reasoning": "It is clear.", "clarification_question": "", "refined_query": "When was the thing opened to the public?"})},
		{Schema: "section", Reply: llmtest.JSON(map[string]any{"content": prose})},
		{Schema: "note", Reply: llmtest.JSON(map[string]any{"relevant": true, "summary": "It is about the thing that is asked for.", "quotes": []string{}})},
		{Schema: "synthesized_answer", Reply: llmtest.JSON(map[string]any{"reasoning": "", "answer": prose, "key_points": []string{}, "unanswered": false})},
		{Schema: "rewritten", Reply: llmtest.JSON(map[string]any{"answer": prose})},
	}
	return map[string][]llmtest.Rule{"supervisor": append(english, team.Rules()...), "loop": append(slices.Clone(english), loop.Rules()...)}
}

// A model that writes in another language than the question's is not shown to the
// user: plan, outline and text are made by rules, the answer is there, and it is
// said why.
func TestDeepResearchInTheWrongLanguage(t *testing.T) {
	w := startWeb(t, webtest.Options{Slow: time.Millisecond})
	for _, c := range []struct{ question, query, fact, why string }{
		{"Когда открыли Заречный виадук?", "Заречный виадук", "3 августа 1908 года", "модель писала на другом языке"},
		{"银尾雀鹛现在有多少只？", "银尾雀鹛", "银尾雀鹛", "模型使用了另一种语言"},
	} {
		for name, rules := range foreigners(c.query) {
			t.Run(name+"/"+string(lang.Detect(c.question)), func(t *testing.T) {
				t.Parallel()
				srv := llmtest.Start(t, llmtest.Script{Rules: rules})
				e := engine(t, memory.New(memory.Options{}), onWeb(t, w, map[string]string{"deep_research.engine": name}, connected(srv)))
				id := follow(t, e, onTheWeb("deep_research", c.question))[0].Run
				r := reportOf(t, e)
				text := report.Markdown(r)
				if r.Outcome == report.Nothing || !strings.Contains(text, c.fact) {
					t.Fatalf("%s:\n%s", r.Outcome, text)
				}
				shown := []string{r.Title, r.Summary, r.Conclusion, strings.Join(r.Coverage.Missing, "\n")}
				for _, s := range r.Sections {
					shown = append(shown, s.Title, s.Text)
				}
				for _, said := range append(shown, r.Notes...) {
					if strings.Contains(said, "thing") || strings.Contains(said, "Everybody") {
						t.Errorf("the report says %q", said)
					}
				}
				if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, c.why) }) {
					t.Errorf("it is not said why: %q", r.Notes)
				}
				if _, err := e.Replay(t.Context(), id); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A researcher that dies, with or without a model, costs its own task: the others
// go on, the report says which task it was and why, and what it was for is named
// as missing.
func TestAResearcherDies(t *testing.T) {
	for name, rules := range map[string][]llmtest.Rule{"with a model": theTeam.Rules(), "by rules": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startWeb(t, webtest.Options{Slow: time.Millisecond, Watch: func(v webtest.Visit) {
				if strings.Contains(v.Query, "newt") || strings.Contains(v.Query, "Aune") {
					panic(http.ErrAbortHandler)
				}
			}})
			flags := onWeb(t, w, map[string]string{"deep_research.run_deep_search_first": "false"})
			question := teamQuestion
			if rules != nil {
				flags = onWeb(t, w, flags, connected(llmtest.Start(t, llmtest.Script{Rules: rules})))
			} else {
				question = "How many inhabitants does Oststrand have, and how many years does an Aune spotted newt live?"
			}
			e := engine(t, memory.New(memory.Options{}), flags)
			events := follow(t, e, onTheWeb("deep_research", question))
			if got := statusOf(t, e, events[0].Run); got != run.Done {
				t.Fatalf("the run is %s", got)
			}
			r := reportOf(t, e)
			if r.Outcome != report.Partial || !strings.Contains(report.Markdown(r), "18,240") {
				t.Errorf("%s:\n%s", r.Outcome, report.Markdown(r))
			}
			if !slices.ContainsFunc(r.Coverage.Missing, func(q string) bool { return strings.Contains(q, "newt") }) {
				t.Errorf("%q is missing", r.Coverage.Missing)
			}
			why := "could not do its task (How many years does an Aune spotted newt live?)"
			if rules != nil { // which reads what has failed, and gives up
				why = "failed: no search engine answered"
			}
			if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, why) }) {
				t.Errorf("the report does not say what happened: %q", r.Notes)
			}
			if _, err := e.Replay(t.Context(), events[0].Run); err != nil {
				t.Error(err)
			}
		})
	}
}

// On a web that has nothing, whatever a model says that it found, a short report
// says honestly that there is nothing.
func TestDeepResearchOnABlankWeb(t *testing.T) {
	liar := theTeam
	liar.Researcher = func(*llmtest.Request) *llmtest.Reply {
		return act("done", map[string]any{"note": "The mayor of Oststrand is Otto the Great [1].", "covers": []string{"r1", "r2", "r3", "r4", "r5"}})
	}
	w := startWeb(t, webtest.Options{})
	w.Break(webtest.Fault{Kind: webtest.NoResults})
	for _, deep := range append(slices.Clone(deepEngines), deepEngine{"supervisor", teamQuestion, liar.Rules()}) {
		for _, model := range []bool{true, false} {
			flags := onWeb(t, w, map[string]string{"deep_research.engine": deep.name})
			if model {
				flags = onWeb(t, w, flags, connected(llmtest.Start(t, llmtest.Script{Rules: deep.rules})))
			}
			e := engine(t, memory.New(memory.Options{}), flags)
			events := follow(t, e, onTheWeb("deep_research", deep.question))
			if got := statusOf(t, e, events[0].Run); got != run.Done {
				t.Errorf("%s: the run is %s", deep.name, got)
			}
			r := reportOf(t, e)
			text := report.Markdown(r)
			if r.Outcome != report.Nothing || r.Kind != report.Research || len(r.Sections) > 0 || len(r.Sources) > 0 || len(text) > 2000 || strings.Contains(text, "Otto") {
				t.Errorf("%s, with a model %t: %s:\n%s", deep.name, model, r.Outcome, text)
			}
			if _, err := e.Replay(t.Context(), events[0].Run); err != nil {
				t.Error(err)
			}
		}
	}
}
