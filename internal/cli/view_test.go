package cli

import (
	"strings"
	"testing"
	"time"

	"dossier/event"
	"dossier/lang"
	"dossier/run"
)

// screen is a terminal on which both the answer and the board appear.
func screen(live bool, events ...event.Data) string {
	var b strings.Builder
	v := &textView{out: &b, board: lines{&b}, lang: lang.English}
	g := &glass{columns: 200}
	if live {
		v.out, v.board = g, lines{g}
		v.paper = &paper{out: g, size: func() (int, int) { return 200, 24 }}
	}
	for i, d := range events {
		v.show(event.Event{Run: "r1", Time: time.Unix(int64(i), 0), Data: d})
	}
	v.close()
	if live {
		return g.String()
	}
	return b.String()
}

func TestTextView(t *testing.T) {
	running := event.RunStatus{Status: string(run.Running)}
	done := event.RunStatus{Status: string(run.Done)}
	for name, tc := range map[string]struct {
		live   bool
		events []event.Data
		want   string
	}{
		"in a pipe the whole text comes at once": {
			false, []event.Data{running, event.AnswerDelta{Text: "one "}, event.AnswerDelta{Text: "two"}, event.Message{Role: "assistant", Text: "one two"}, done},
			"run r1\none two\ndone · 4s\n",
		},
		"on a terminal it is written once": {
			true, []event.Data{running, event.AnswerDelta{Text: "one "}, event.AnswerDelta{Text: "two"}, event.Message{Role: "assistant", Text: "one two\n"}, done},
			"run r1\none two\ndone · 4s\n",
		},
		"news that come late do not tear it": {
			true, []event.Data{event.AnswerDelta{Text: "one "}, running, event.AnswerDelta{Text: "two"}, event.Message{Role: "assistant", Text: "one two"}, done},
			"one two\ndone · 3s\n",
		},
		"what was void is written again": {
			true, []event.Data{event.AnswerDelta{Text: "on"}, event.AnswerDelta{Reset: true}, event.AnswerDelta{Text: "two"}, event.Message{Role: "assistant", Text: "two"}},
			"two\n",
		},
		"pieces were missed": {
			true, []event.Data{event.AnswerDelta{Text: "one "}, event.Message{Role: "assistant", Text: "one two"}},
			"one two\n",
		},
		"an answer that nobody saw being written comes as the message": {
			true, []event.Data{event.AnswerDelta{Text: "on", Reset: true, Ready: true}, event.AnswerDelta{Text: "e", Ready: true}, event.Message{Role: "assistant", Text: "# title\n\none", Answer: "one"}},
			"title\n\none\n",
		},
		"an escape in two pieces": {
			true, []event.Data{event.AnswerDelta{Text: "a\x1b"}, event.AnswerDelta{Text: "[31mb"}, event.Message{Role: "assistant", Text: "a\x1b[31mb"}},
			"ab\n",
		},
		"cancelled while writing": {
			true, []event.Data{event.AnswerDelta{Text: "one"}, event.RunStatus{Status: string(run.Cancelled)}},
			"one\nThe run was cancelled. What was found until then is kept.\n",
		},
		"what is strong is not spelt out": {
			true, []event.Data{event.AnswerDelta{Text: "a **b"}, event.AnswerDelta{Text: "c** d\n\n> e"}, event.Message{Role: "assistant", Text: "a **bc** d\n\n> e", KeyPoints: []string{"k"}}},
			"a bc d\n\n│ e\n\nKey points\n\n• k\n",
		},
		"the time of what was done now": {
			false, []event.Data{running, event.SearchStarted{Query: "q"}, event.RunStatus{Status: string(run.Paused)}, running, done},
			"run r1\nsearches: q\npaused\nrun r1\ndone · 1s\n",
		},
		"key points": {
			false, []event.Data{event.Message{Role: "assistant", Text: "x", KeyPoints: []string{"a\nb", "c\x1b[2J"}}},
			"x\n\nKey points:\n- a b\n- c\n",
		},
		"a budget": {
			false, []event.Data{
				event.BudgetWarning{What: "tokens", Limit: 100, Spent: 80}, event.BudgetWarning{What: "cost", Limit: 0.5, Spent: 0.6, Hit: true},
			},
			"80% of the budget is used (80 tokens of 100 tokens).\nThe budget is used up: $0.6 of $0.5. The answer rests on what was found so far.\n",
		},
		"other circumstances": {
			false, []event.Data{event.Circumstances{Changes: []event.Change{
				{What: "model", Of: "writer", Was: "m\x1b[1m"}, {What: "engines", Was: "a", Now: "a, b"}, {What: "weather", Was: "fair"},
			}}},
			"changed since the run began: model of writer: m → none; search engines: a → a, b\n",
		},
		"work in progress, by tenths": {
			false, []event.Data{
				event.Progress{What: "reading", Done: 1, Total: 40}, event.Progress{What: "reading", Done: 4, Total: 40, Note: "x"}, event.Progress{What: "reading", Done: 5, Total: 40},
				event.Progress{What: "reading", Done: 40, Total: 40}, event.Progress{What: "counting", Done: 7}, event.Progress{What: "reading", Done: 1, Total: 2},
				event.Progress{What: "reading", Done: 2, Total: 2},
			},
			"reading: 4 of 40\nreading: 40 of 40\nreading: 2 of 2\n",
		},
		"research": {
			false, []event.Data{
				event.SearchStarted{Query: "heat\x1b]0;x\x07 pumps"}, event.SearchResults{Query: "q", Error: "blocked"},
				event.SourceRead{Number: 1, URL: "https://example.org/\x1b[1m"}, event.AgentStarted{Name: "a", Task: "look\nup"},
			},
			"searches: heat pumps\nsearch failed: blocked\nread [1] https://example.org/\nagent a: look up\n",
		},
		"an agent": {
			false, []event.Data{
				event.AgentStarted{Name: "a", Task: "look\x1b[1m up"}, event.AgentReasoning{Text: "first\nthis"},
				event.AgentAction{Tool: "websearchtool", CallID: "1", Arguments: []byte(`{"reasoning":"why","query":"heat \u001b[31mpumps","n":3,"none":null,"list":["x"]}`)},
				event.AgentAction{Tool: "websearchtool", CallID: "1", Result: "two\nresults"},
				event.AgentAction{Tool: "websearchtool", CallID: "2"}, event.AgentAction{Tool: "websearchtool", CallID: "2", Result: "Error: no words", Failed: true},
				event.AgentAction{Tool: "silent", CallID: "3"}, event.AgentAction{Tool: "silent", CallID: "3"}, event.AgentAction{Tool: "silent", CallID: "3"},
				event.AgentAction{Tool: "Final_Answer_Tool", CallID: "4", Arguments: []byte(`{"answer":"x"}`)}, event.AgentAction{Tool: "Final_Answer_Tool", CallID: "4", Result: "x"},
				event.AgentFinished{Name: "a", Outcome: "completed"}, event.AgentFinished{Name: "b", Outcome: "odd"},
			},
			"agent a: look up\nthinks: first this\ncalls websearchtool: query: heat pumps, n: 3, list: [\"x\"]\nwebsearchtool → two results\n" +
				"calls websearchtool\nwebsearchtool failed: no words\ncalls silent\ncalls silent\ncalls Final_Answer_Tool\nagent a: done\nagent b: odd\n",
		},
		"a long result": {
			false, []event.Data{event.AgentAction{Tool: "t", Failed: true, Result: strings.Repeat("word ", 100)}},
			"t failed: " + strings.TrimSpace(strings.Repeat("word ", 32)[:159]) + "…\n",
		},
		"engines": {
			false, []event.Data{
				event.SearchStarted{Query: "q", Engine: "local"}, event.SearchStarted{Query: "heat pumps", Engine: "arxiv,github"},
				event.SearchResults{
					Query: "heat pumps", Found: 9, New: 4,
					Engines: []event.EngineReply{{Engine: "arxiv", Error: "rate-limited: HTTP 429"}, {Engine: "brave", Found: 8}, {Engine: "wikipedia", Found: 3, Cached: true}},
					Dropped: []event.DroppedResult{{Reason: "same-url"}, {Reason: "same-url"}, {Reason: "other-site", Detail: "x\x1b[1m"}},
				},
				event.SearchResults{Query: "q", Error: "no search engine answered: brave: blocked"},
			},
			"searches: q\nsearches arxiv,github: heat pumps\n" +
				"found 9, 4 new: heat pumps · arxiv failed: rate-limited: HTTP 429, brave 8, wikipedia 3 (cached) · dropped 3: 2 same-url, 1 other-site\n" +
				"search failed: no search engine answered: brave: blocked\n",
		},
	} {
		if got := screen(tc.live, tc.events...); got != tc.want {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, tc.want)
		}
	}
}

// A fork has the events of its original; what it tells at the end is its own.
func TestAForkTellsItsOwnTimeAndCost(t *testing.T) {
	var b strings.Builder
	v := &textView{out: &b, board: lines{&b}, lang: lang.English, since: time.Unix(1000, 0)}
	for _, ev := range []struct {
		at int64
		event.Data
	}{
		{1, event.RunStatus{Status: string(run.Running)}}, {2, event.Usage{Input: 6000, Output: 973}},
		{1000, event.RunStatus{Status: string(run.Running)}}, {1001, event.Usage{Input: 10, Output: 2}}, {1003, event.RunStatus{Status: string(run.Done)}},
	} {
		v.show(event.Event{Run: "r2", Time: time.Unix(ev.at, 0), Data: ev.Data})
	}
	if got := b.String(); !strings.HasSuffix(got, "done · 3s · 12 tokens\n") {
		t.Errorf("%q", got)
	}
}
