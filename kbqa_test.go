package dossier

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dossier/event"
	"dossier/internal/config"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/internal/wire"
	"dossier/kb"
	"dossier/lang"
	"dossier/llm"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/report"
	"dossier/run"
	"dossier/sources"
	"dossier/tool"
	"dossier/toolkit"
)

const (
	whoBuilt    = "Who built the lighthouse of Cape Kestrel?"
	builtAnswer = "The lighthouse of Cape Kestrel was built in 1874 by the engineer Maria Lindqvist [1]."
	cheese      = "The moon above it is made of green cheese from Holland [1]."
)

// oneShotMark stands in what a model is asked when it is to answer in one go.
const oneShotMark = "<passage n="

// kbCourse is a way in which the agent of the knowledge base comes to an answer.
type kbCourse struct {
	name     string
	question string
	// says is what the model replies to a conversation: the messages of the system
	// and the user aside, the last thing that it was told decides.
	says  func(last string, said []string) string
	fault *llmtest.Fault
	set   map[string]string
	steps int   // max_steps of the request
	every int64 // how many commits lie between two cuts of the power; 0 is 1
	tools []tool.Tool
	check func(t *testing.T, log []event.Event, r *report.Report)
}

// react is a reply in the form that the agent is asked for.
func reactAnswer(answer string) string { return "Thought: it is known\nFinalAnswer: " + answer }

// hangs is a tool that never answers.
func hangs(name string) tool.Tool {
	return tool.New(tool.Spec{Name: name, Description: "Hangs."}, func(ctx context.Context, _ *tool.Call, _ struct {
		Query string `json:"query"`
	}) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, context.Cause(ctx)
	})
}

// routes is a router that has made up its mind.
func routes(route kb.Route) tool.Tool {
	return tool.New(tool.Spec{Name: "router_select", Description: "Chooses."}, func(context.Context, *tool.Call, struct {
		Query string `json:"query"`
	}) (tool.Result, error) {
		raw, err := json.Marshal(route)
		return tool.Result{Text: string(route), Change: tool.Change{Custom: map[string]json.RawMessage{toolkit.KeyRoute: raw}}}, err
	})
}

var kbCourses = []kbCourse{
	{
		name: "enough", question: whoBuilt,
		says: func(string, []string) string { return reactAnswer(builtAnswer) },
		check: func(t *testing.T, log []event.Event, r *report.Report) {
			a := answeredIn(t, log)
			if a.By != "model" || a.Coverage != 1 || a.CitationCoverage != 1 || a.Refinements != 0 || a.Verification == nil || !a.Verification.Passed || a.Verification.Rewritten || a.Confidence < 0.8 {
				t.Errorf("%+v %+v", a, a.Verification)
			}
			if got := calledIn(log); got != "router_select query_plan search search compose_context verify finalanswertool" {
				t.Error(got)
			}
			if r.Text != builtAnswer {
				t.Error(r.Text)
			}
		},
	},
	{
		// The route was a mistake: by meaning nothing is found, and a refinement looks
		// by words too.
		name: "refinement", question: whoBuilt, tools: []tool.Tool{routes(kb.Dense)},
		says: func(string, []string) string { return reactAnswer(builtAnswer) },
		check: func(t *testing.T, log []event.Event, _ *report.Report) {
			if a := answeredIn(t, log); a.Refinements != 1 || a.Coverage != 1 || a.CitationCoverage != 1 || a.By != "model" {
				t.Errorf("%+v", a)
			}
			refined := all[event.AgentRefined](log)
			if len(refined) != 1 || refined[0].Coverage != 0 || refined[0].TopBM25 != 100 || refined[0].Limit != 16 || len(refined[0].Missing) != 1 {
				t.Errorf("%+v", refined)
			}
		},
	},
	{
		name: "refinement not enough", question: "Who built the lighthouse of Cape Kestrel and which airline flies from Reykjavik to Osaka?",
		says: func(string, []string) string { return reactAnswer(builtAnswer) },
		check: func(t *testing.T, log []event.Event, r *report.Report) {
			a := answeredIn(t, log)
			if a.Refinements != 1 || a.Coverage >= 0.8 || a.Confidence > 0.85 {
				t.Errorf("%+v", a)
			}
			if len(r.Coverage.Missing) != 1 || !strings.Contains(r.Coverage.Missing[0], "airline") {
				t.Errorf("%+v", r.Coverage)
			}
		},
	},
	{
		name: "verify fails once", question: whoBuilt,
		says: func(last string, _ []string) string {
			if strings.Contains(last, "do not bear out") {
				return reactAnswer(builtAnswer)
			}
			return reactAnswer(builtAnswer + " " + cheese)
		},
		check: func(t *testing.T, log []event.Event, r *report.Report) {
			a := answeredIn(t, log)
			if !a.Verification.Passed || !a.Verification.Rewritten || a.Verification.Flagged != 0 || a.CitationCoverage != 1 || strings.Contains(r.Text, "cheese") {
				t.Errorf("%+v %+v %s", a, a.Verification, r.Text)
			}
		},
	},
	{
		name: "verify fails twice", question: whoBuilt,
		says: func(string, []string) string { return reactAnswer(builtAnswer + " " + cheese) },
		check: func(t *testing.T, log []event.Event, r *report.Report) {
			a := answeredIn(t, log)
			if v := a.Verification; v.Passed || !v.Rewritten || v.Flagged != 1 || v.Verified != 1 || a.CitationCoverage != 0.5 || a.Confidence > 0.6 {
				t.Errorf("%+v %+v", a, a.Verification)
			}
			if !strings.Contains(r.Text, "cheese") || strings.Contains(r.Text, "Holland [1].") {
				t.Errorf("what nothing bears out is not flagged: %s", r.Text)
			}
		},
	},
	{
		name: "nothing holds", question: whoBuilt, every: 3,
		says: func(string, []string) string { return reactAnswer(cheese) },
		check: func(t *testing.T, log []event.Event, r *report.Report) {
			if a := answeredIn(t, log); a.By != "rules" || !r.Extractive || strings.Contains(report.Markdown(r), "cheese") {
				t.Errorf("%+v %s", a, report.Markdown(r))
			}
		},
	},
	{
		name: "step limit", question: whoBuilt, steps: 2,
		says: func(last string, said []string) string {
			if strings.Contains(last, oneShotMark) {
				return builtAnswer
			}
			return "Thought: look further\nAction: search {\"query\": \"granite " + strings.Repeat("block ", len(said)%5) + "\"}"
		},
		check: func(t *testing.T, log []event.Event, r *report.Report) {
			if a := answeredIn(t, log); a.By != "qa" || a.CitationCoverage != 1 || a.Verification == nil || !a.Verification.Passed || r.Text != builtAnswer {
				t.Errorf("%+v %s", a, r.Text)
			}
			if n := strings.Count(calledIn(log), "search"); n != 4 { // two of the beginning, two of the model
				t.Error(calledIn(log))
			}
			if !strings.Contains(report.Markdown(r), "Lindqvist") || len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "limit of steps (2)") {
				t.Error(report.Markdown(r))
			}
		},
	},
	{
		// What is written in one go is made up: the documents' own sentences are the answer.
		name: "step limit unsupported", question: whoBuilt, steps: 99, every: 3, set: map[string]string{"kbqa.agent_max_steps": "1"},
		says: func(last string, _ []string) string {
			if strings.Contains(last, oneShotMark) {
				return cheese
			}
			return "Thought: look further\nAction: search {\"query\": \"granite\"}"
		},
		check: func(t *testing.T, log []event.Event, r *report.Report) {
			if a := answeredIn(t, log); a.By != "qa" || !r.Extractive || r.Outcome != report.Answered || strings.Contains(report.Markdown(r), "cheese") || !strings.Contains(report.Markdown(r), "Lindqvist") {
				t.Errorf("%+v %s", a, report.Markdown(r))
			}
		},
	},
	{
		name: "step limit without an answer", question: whoBuilt, steps: 1, every: 3,
		says: func(last string, _ []string) string {
			if strings.Contains(last, oneShotMark) {
				return lang.Text(lang.English, "answer.none")
			}
			return "Thought: look further\nAction: search {\"query\": \"granite\"}"
		},
		check: func(t *testing.T, log []event.Event, r *report.Report) {
			if a := answeredIn(t, log); a.By != "qa" || a.Confidence != 0 || r.Outcome != report.Nothing || len(r.Nearest) == 0 {
				t.Errorf("%+v %s", a, report.Markdown(r))
			}
		},
	},
	{
		name: "tool timeout", question: whoBuilt, every: 8, tools: []tool.Tool{hangs("rerank")}, set: map[string]string{"kbqa.agent_tool_timeout": "2"},
		says: func(last string, _ []string) string {
			if strings.Contains(last, "rerank") {
				return reactAnswer(builtAnswer)
			}
			return "Thought: put them in order\nAction: rerank {\"query\": \"who built it\"}"
		},
		check: func(t *testing.T, log []event.Event, _ *report.Report) {
			if a := answeredIn(t, log); a.By != "model" || a.CitationCoverage != 1 {
				t.Errorf("%+v", a)
			}
			for _, d := range all[event.AgentAction](log) {
				if d.Tool == "rerank" && d.Result != "" && (!d.Failed || !strings.Contains(d.Result, "2s")) {
					t.Errorf("%+v", d)
				}
			}
		},
	},
	{
		name: "invalid JSON", question: whoBuilt, every: 3,
		says: func(last string, said []string) string {
			if strings.Contains(last, "raw_input") {
				return reactAnswer(builtAnswer)
			}
			return "Thought: read more\nAction: fetch_docs passages one and two, please"
		},
		check: func(t *testing.T, log []event.Event, _ *report.Report) {
			if a := answeredIn(t, log); a.By != "model" {
				t.Errorf("%+v", a)
			}
		},
	},
	{
		name: "model error", question: whoBuilt, every: 3, fault: &llmtest.Fault{Kind: llmtest.Status, Status: 500}, set: map[string]string{"governor.retries": "0"},
		check: func(t *testing.T, log []event.Event, r *report.Report) {
			if a := answeredIn(t, log); a.By != "rules" {
				t.Errorf("%+v", a)
			}
			if len(all[event.ModelFailed](log)) == 0 || !strings.Contains(report.Markdown(r), "500") || !strings.Contains(report.Markdown(r), "Lindqvist") {
				t.Error(report.Markdown(r))
			}
		},
	},
	{
		name: "no answer", question: whoBuilt, every: 3,
		says: func(string, []string) string { return reactAnswer("NO ANSWER The documents say nothing of it.") },
		check: func(t *testing.T, log []event.Event, r *report.Report) {
			// The rules find what the model did not.
			if a := answeredIn(t, log); a.By != "rules" || r.Outcome != report.Answered {
				t.Errorf("%+v %s", a, r.Outcome)
			}
		},
	},
	{
		name: "by rules", question: whoBuilt, set: map[string]string{"models.default.base_url": ""},
		check: func(t *testing.T, log []event.Event, r *report.Report) {
			if a := answeredIn(t, log); a.By != "rules" || a.Coverage != 1 || !r.Extractive {
				t.Errorf("%+v", a)
			}
			if !strings.Contains(report.Markdown(r), "no model is configured") {
				t.Error(report.Markdown(r))
			}
		},
	},
	{
		name: "unverified", question: whoBuilt, every: 3, set: map[string]string{"kbqa.enable_verify_step": "false"},
		says: func(string, []string) string { return reactAnswer(builtAnswer + " " + cheese) },
		check: func(t *testing.T, log []event.Event, _ *report.Report) {
			if a := answeredIn(t, log); a.Verification != nil || strings.Contains(calledIn(log), "verify") || len(all[event.AgentReflected](log)) > 0 {
				t.Errorf("%+v %s", a, calledIn(log))
			}
		},
	},
}

// all are the data of one kind in a log.
func all[T event.Data](log []event.Event) (out []T) {
	for _, ev := range log {
		if d, ok := ev.Data.(T); ok {
			out = append(out, d)
		}
	}
	return out
}

func answeredIn(t *testing.T, log []event.Event) event.AgentAnswered {
	t.Helper()
	found := all[event.AgentAnswered](log)
	if len(found) != 1 {
		t.Fatalf("%d answers", len(found))
	}
	return found[0]
}

// calledIn are the tools that were called, in order.
func calledIn(log []event.Event) string {
	var names []string
	for _, d := range all[event.AgentAction](log) {
		if d.Result == "" && !d.Failed {
			names = append(names, d.Tool)
		}
	}
	return strings.Join(names, " ")
}

// script is the model of the course. What it replies depends on the conversation
// alone, so that it replies the same when it is asked again.
func (c *kbCourse) script() llmtest.Script {
	reply := &llmtest.Reply{Func: func(q *llmtest.Request) *llmtest.Reply {
		var said []string
		last := ""
		for _, m := range q.Messages {
			switch m.Role {
			case llm.RoleAssistant:
				said = append(said, m.Content)
			case llm.RoleUser:
				last = m.Content
			}
		}
		if n := len(said); n > 0 {
			last = said[n-1] + "\n" + last
		}
		if c.says == nil {
			return llmtest.Say("hm")
		}
		return llmtest.Say(c.says(last, said))
	}}
	return llmtest.Script{Rules: []llmtest.Rule{
		{Schema: "judgements", Reply: llmtest.JSON(map[string]any{"judgements": []any{map[string]any{"claim": 1, "verdict": "unsupported", "passage": 0}}})},
		{Schema: "plan", Reply: llmtest.JSON(map[string]any{"question": c.question, "facets": []any{map[string]any{"title": c.question, "queries": []string{c.question}}}})},
		{Schema: "note", Reply: llmtest.JSON(map[string]any{"relevant": true, "summary": "It tells who built it.", "quotes": []string{}})},
		{Schema: "synthesized_answer", Reply: llmtest.JSON(map[string]any{"reasoning": "r", "answer": builtAnswer, "key_points": []string{}, "unanswered": false})},
		{Fault: c.fault, Reply: reply},
	}}
}

// engine makes one for the course, in which a collection is in use.
func (c *kbCourse) engine(t *testing.T, s store.Store, srv *llmtest.Server, dir string) *Engine {
	t.Helper()
	flags := connected(srv)
	maps.Copy(flags, c.set)
	maps.DeleteFunc(flags, func(_, v string) bool { return v == "" })
	if flags["models.default.base_url"] == "" {
		delete(flags, "models.default.model")
	}
	cfg, err := config.Load(config.Sources{Env: []string{"HOME=" + t.TempDir(), "DOSSIER_SEARCH_ENGINES=none"}, File: config.NoFile, Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	e, err := assemble(cfg, site{dir: t.TempDir(), extras: wire.Extras{Tools: c.tools}}, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	if dir != "" {
		follow(t, e, Request{Mode: "ingest", Request: mode.Request{Question: "add", In: sources.Target{Paths: []string{dir}, Collection: "lights"}}})
		if _, err := e.UseCollection(t.Context(), "lights"); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func (c *kbCourse) request() Request {
	req := byAgent("kb_agent", c.question)
	req.MaxSteps = c.steps
	return req
}

// kbTold is what a run tells, wherever the documents lie.
func kbTold(t *testing.T, e *Engine, id, dir, address string) string {
	t.Helper()
	target, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(target, "DIR", dir, "DIR", address, "ADDRESS", strings.TrimPrefix(address, "http://"), "ADDRESS").Replace(told(t, e, id))
	return kbAgentID.ReplaceAllString(timestamp.ReplaceAllString(text, "TIME"), "AGENT")
}

var kbAgentID = regexp.MustCompile(`kb_agent_[0-9a-f-]{36}`)

// TestKnowledgeBaseAgent freezes the event log of each course of the agent, and
// replays it.
func TestKnowledgeBaseAgent(t *testing.T) {
	for _, c := range kbCourses {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := library(t)
			srv := llmtest.Start(t, c.script())
			e := c.engine(t, memory.New(memory.Options{}), srv, dir)
			log := follow(t, e, c.request())
			id := log[0].Run
			rec, err := e.Get(t.Context(), id)
			if err != nil || rec.Status != run.Done {
				t.Fatalf("%+v %v", rec, err)
			}
			r, err := e.Report(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			checkQuotes(t, e.store, r)
			c.check(t, log, r)
			golden(t, filepath.Join("kbqa", strings.ReplaceAll(c.name, " ", "-")+".txt"), []byte(kbTold(t, e, id, dir, srv.URL())))
			if _, err := e.Replay(t.Context(), id); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestKnowledgeBaseAgentIsTold freezes what the model gets to see.
func TestKnowledgeBaseAgentIsTold(t *testing.T) {
	dir := library(t)
	c := kbCourses[0]
	var b strings.Builder
	srv := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{{Reply: &llmtest.Reply{Func: func(q *llmtest.Request) *llmtest.Reply {
		fmt.Fprintf(&b, "max_tokens %d, stop %q\n", q.MaxTokens, q.Stop)
		for _, m := range q.Messages {
			fmt.Fprintf(&b, "-- %s\n%s\n", m.Role, m.Content)
		}
		return llmtest.Say(reactAnswer(builtAnswer))
	}}}}})
	e := c.engine(t, memory.New(memory.Options{}), srv, dir)
	follow(t, e, c.request())
	golden(t, filepath.Join("kbqa", "prompt.txt"), []byte(timestamp.ReplaceAllString(b.String(), "TIME")))
}

// TestKnowledgeBaseAgentSurvivesAPowerCut cuts the power after each commit of each
// course. Another engine goes on: the log is the same, and what was recorded is not
// done again.
func TestKnowledgeBaseAgentSurvivesAPowerCut(t *testing.T) {
	for _, c := range kbCourses {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := library(t)
			srv, later := llmtest.Start(t, c.script()), llmtest.Start(t, c.script())
			disk := memory.New(memory.Options{})
			whole := c.engine(t, powered(disk), srv, dir)
			want := kbTold(t, whole, follow(t, whole, c.request())[0].Run, dir, srv.URL())
			_ = whole.Close()
			inAll := callsBySchema(srv, 0)[""]
			for n := int64(1); ; n += max(1, c.every) {
				cut := &cutStore{Store: disk}
				cut.left.Store(n)
				first := c.engine(t, cut, srv, "")
				rec, err := first.Start(t.Context(), c.request())
				if err != nil {
					t.Fatal(err)
				}
				for _, err := range first.Events(t.Context(), rec.ID, 0) {
					if err != nil {
						break
					}
				}
				_ = first.Close()
				got, err := disk.Run(t.Context(), rec.ID)
				if err != nil {
					t.Fatal(err)
				}
				if got.Status == run.Done {
					if n < 8 {
						t.Fatalf("a run of %d commits is no test", n)
					}
					return
				}
				before, err := disk.History(t.Context(), rec.ID)
				if err != nil {
					t.Fatal(err)
				}
				calls := len(later.Calls())
				if err := evictAll(t.Context(), disk); err != nil {
					t.Fatal(err)
				}
				second := c.engine(t, powered(disk), later, "")
				if err := second.Resume(t.Context(), rec.ID, ResumeOptions{}); err != nil {
					t.Fatal(err)
				}
				for _, err := range second.Events(t.Context(), rec.ID, 0) {
					if err != nil {
						t.Fatal(err)
					}
				}
				got2 := strings.Split(strings.ReplaceAll(kbTold(t, second, rec.ID, dir, later.URL()), strings.TrimPrefix(srv.URL(), "http://"), "ADDRESS"), "\n")
				for i, line := range strings.Split(want, "\n") {
					if i >= len(got2) || got2[i] != line {
						t.Fatalf("cut after %d commits, the run says\n%s\ninstead of\n%s", n, got2[min(i, len(got2)-1)], line)
					}
				}
				paid := 0
				for _, entry := range before.Entries {
					if entry.Kind == run.EntryStep && (strings.HasPrefix(entry.Key, "reason-") || strings.HasSuffix(entry.Key, "ask")) {
						paid++
					}
				}
				if again := callsBySchema(later, calls)[""]; again != inAll-paid {
					t.Errorf("cut after %d commits: %d calls of the model were recorded and %d made, of %d", n, paid, again, inAll)
				}
				settled(t, second, rec.ID)
				_ = second.Close()
			}
		})
	}
}

// powered is a store whose power does not fail, and that outlives its engines.
func powered(s store.Store) *cutStore {
	c := &cutStore{Store: s}
	c.left.Store(1 << 40)
	return c
}

// Beyond its steps the agent does what rag_search does: the model reads the same.
func TestBeyondItsStepsTheAgentIsRagSearch(t *testing.T) {
	dir := library(t)
	var read [2][]llm.Message
	turn := 0
	srv := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{{Reply: &llmtest.Reply{Func: func(q *llmtest.Request) *llmtest.Reply {
		switch system := q.Messages[0].Content; {
		case strings.Contains(q.Messages[len(q.Messages)-1].Content, oneShotMark):
			read[turn] = q.Messages
			return llmtest.Say(builtAnswer)
		case strings.Contains(system, `"relevant"`):
			return llmtest.Say(`{"relevant": true}`)
		case strings.Contains(system, "generate_haiku"):
			return llmtest.Say(`{"tool": "rag_search", "parameters": {"question": "` + whoBuilt + `"}}`)
		}
		return llmtest.Say("Thought: look further\nAction: search {\"query\": \"granite\"}")
	}}}}})
	c := kbCourse{question: whoBuilt, steps: 1, set: map[string]string{"console.param_question_maxlen": "100", "console.param_rag_top_k": "6", "web_search.rerank_top_k": "6"}}
	e := c.engine(t, memory.New(memory.Options{}), srv, dir)
	log := follow(t, e, c.request())
	if a := answeredIn(t, log); a.By != "qa" {
		t.Fatalf("%+v", a)
	}
	turn = 1
	said := ""
	for _, l := range all[event.ConsoleLine](follow(t, e, Request{Mode: "console", Request: mode.Request{Question: whoBuilt, Lang: "en"}})) {
		said += l.Text + "\n"
	}
	if !strings.Contains(said, builtAnswer) {
		t.Fatal(said)
	}
	if len(read[0]) == 0 || fmt.Sprint(read[0]) != fmt.Sprint(read[1]) {
		t.Errorf("the agent's model reads\n%v\nand that of rag_search\n%v", read[0], read[1])
	}
}
