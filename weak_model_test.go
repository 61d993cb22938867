package dossier

import (
	"strings"
	"testing"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/lang"
	"dossier/llm/llmtest"
	"dossier/report"
)

// echo is what a weak model says: sentences of its prompt.
func echo(q *llmtest.Request, n int) string {
	text := q.Messages[0].Content
	spans := lang.Sentences(text)
	return strings.TrimSpace(text[spans[n%len(spans)].Start:spans[n%len(spans)].End])
}

// weak models, as small ones are: each does badly what it is asked for.
var weak = map[string][]llmtest.Rule{
	"echoes its prompt": {
		{Schema: "plan", Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply {
			return llmtest.JSON(map[string]any{"question": echo(q, 0), "facets": []any{
				map[string]any{"title": echo(q, 0), "queries": []string{echo(q, 0), echo(q, 1)}}, map[string]any{"title": echo(q, 2), "queries": []string{echo(q, 2)}},
			}})
		})},
		{Schema: "follow_up_list", Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply {
			return llmtest.JSON(map[string]any{"reason": echo(q, 0), "enough": false, "queries": []any{map[string]any{"facet": 1, "query": echo(q, 1)}}})
		})},
		{Schema: "note", Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply {
			return llmtest.JSON(map[string]any{"relevant": false, "summary": echo(q, 0), "quotes": []string{}})
		})},
		{Schema: "synthesized_answer", Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply {
			return llmtest.JSON(map[string]any{"reasoning": echo(q, 0), "answer": echo(q, 0), "key_points": []string{}, "unanswered": false})
		})},
		{Schema: "rewritten", Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply { return llmtest.JSON(map[string]any{"answer": echo(q, 1)}) })},
	},
	"searches for nonsense": {
		{Schema: "plan", Reply: llmtest.JSON(map[string]any{"question": "What is the meaning of purple bananas?", "facets": []any{
			map[string]any{"title": "What is the meaning of purple bananas?", "queries": []string{"purple bananas", "bananas meaning"}},
		}})},
		{Schema: "follow_up_list", Reply: llmtest.JSON(map[string]any{"reason": "bananas", "enough": false, "queries": []any{
			map[string]any{"facet": 1, "query": "purple bananas"}, map[string]any{"facet": 1, "query": "bananas purple"}, map[string]any{"facet": 1, "query": "yellow submarine"},
		}})},
		{Schema: "synthesized_answer", Reply: llmtest.JSON(map[string]any{"reasoning": "", "answer": "Purple bananas mean luck [1]. They grow in spring [2].", "key_points": []string{}, "unanswered": false})},
		{Schema: "rewritten", Reply: llmtest.JSON(map[string]any{"answer": "Purple bananas mean luck [1]."})},
	},
	"finds no answer": {
		{Schema: "note", Reply: llmtest.JSON(map[string]any{"relevant": false, "summary": "", "quotes": []string{}})},
		{Schema: "synthesized_answer", Reply: llmtest.JSON(map[string]any{"reasoning": "", "answer": "The passages do not answer the question.", "key_points": []string{}, "unanswered": true})},
	},
	"judges nothing as said": {
		{Schema: "synthesized_answer", Reply: llmtest.JSON(map[string]any{"reasoning": "", "answer": "It is known [1]. Many have asked [2]. See the text [1].", "key_points": []string{}, "unanswered": false})},
		{Schema: "judgements", Reply: llmtest.JSON(map[string]any{"judgements": []any{map[string]any{"claim": 1, "verdict": "unsupported", "passage": 0}}})},
		{Schema: "rewritten", Reply: llmtest.JSON(map[string]any{"answer": "It is known."})},
	},
	"fills in forms": nil,
}

// TestAWeakModelIsNotWorseThanNone asks what the rules answer right with models
// that are of no use: there is an answer, it has what is asked for, and nothing
// was searched for that nobody asked.
func TestAWeakModelIsNotWorseThanNone(t *testing.T) {
	dir := library(t)
	for question, want := range map[string]string{
		"Who built the lighthouse of Cape Kestrel?": "Lindqvist", "What does a ticket cost?": "8 euros",
		"When did the light become automatic?": "1978", "Кто построил маяк на мысе Кестрел?": "Линдквист",
	} {
		e := engine(t, memory.New(memory.Options{}), nil)
		follow(t, e, research(question, dir))
		if r := reportOf(t, e); r.Outcome != report.Answered || !strings.Contains(report.Markdown(r), want) {
			t.Fatalf("the rules don't answer %q: %s", question, report.Markdown(r))
		}
		for name, rules := range weak {
			t.Run(name+"/"+question, func(t *testing.T) {
				srv := llmtest.Start(t, llmtest.Script{Rules: rules})
				e := engine(t, memory.New(memory.Options{}), connected(srv))
				events := follow(t, e, research(question, dir))
				r := reportOf(t, e)
				text := report.Markdown(r)
				if r.Outcome == report.Nothing || !strings.Contains(text, want) {
					t.Errorf("%s\n%s", r.Outcome, text)
				}
				asked := map[string]bool{}
				for _, ev := range events {
					s, ok := ev.Data.(event.SearchStarted)
					if !ok {
						continue
					}
					if name != "fills in forms" && (strings.Contains(s.Query, "search queries") || strings.Contains(s.Query, "JSON") || strings.Contains(s.Query, "submarine")) {
						t.Errorf("searched for %q", s.Query)
					}
					if strings.Contains(s.Query, "Queries so far") {
						t.Errorf("searched for the prompt: %q", s.Query)
					}
					if asked[strings.ToLower(s.Query)] {
						t.Errorf("searched twice for %q", s.Query)
					}
					asked[strings.ToLower(s.Query)] = true
				}
				if _, err := e.Replay(t.Context(), r.Run); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
