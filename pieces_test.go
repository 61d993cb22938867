package dossier

import (
	"context"
	"strings"
	"testing"

	"dossier/agent"
	"dossier/event"
	"dossier/internal/agenttest"
	"dossier/internal/config"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/internal/wire"
	"dossier/llm"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/sources"
)

// streamed is what somebody saw who listened to a run from its beginning.
type streamed struct {
	message event.Message
	joined  string // the pieces of the answer that hold
	live    string // those of them that came while it was written
	pieces  int
	before  map[event.Kind]int // events before the message, by kind
}

// readStream reads the stream of a run as clients do: what is reset is void.
func readStream(t *testing.T, events []event.Event) (s streamed) {
	t.Helper()
	s.before = make(map[event.Kind]int)
	for _, ev := range events {
		switch d := ev.Data.(type) {
		case event.AnswerDelta:
			if ev.Agent != "" {
				t.Errorf("%s tells %+v", ev.Agent, d)
			}
			if s.message.Text != "" {
				t.Errorf("%+v comes after the message", d)
			}
			if d.Reset {
				s.joined, s.live, s.pieces = "", "", 0
			}
			s.joined += d.Text
			if s.pieces++; !d.Ready {
				s.live += d.Text
			}
		case event.ReportReset:
			s.joined, s.live, s.pieces = "", "", 0
		case event.Message:
			if d.Role == "assistant" {
				s.message = d
			}
		}
		if s.message.Text == "" {
			s.before[ev.Kind()]++
		}
	}
	if last := events[len(events)-1].Data; last != (event.RunStatus{Status: "done"}) {
		t.Errorf("the last event is %+v", last)
	}
	return s
}

// TestAnswersComeInPieces follows a run of every mode, with a model and without
// one where it can do without: the pieces of the answer, resets obeyed, are the
// answer, they come before the message, and what happens is told before that.
// With a model that keeps to its sources they come while it writes.
func TestAnswersComeInPieces(t *testing.T) {
	searched := []event.Kind{event.KindPlanUpdated, event.KindSearchStarted, event.KindSearchResults, event.KindSourceFound, event.KindSourceRead, event.KindCoverage}
	noted := append([]event.Kind{event.KindNoteAdded, event.KindCitationVerified}, searched...)
	acted := []event.Kind{event.KindAgentStarted, event.KindAgentAction, event.KindSearchStarted, event.KindSourceFound, event.KindSourceRead, event.KindAgentFinished}
	thought := append([]event.Kind{event.KindAgentReasoning, event.KindPlanUpdated}, acted...)
	chat := []llmtest.Rule{{Schema: "synthesized_answer", Reply: llmtest.JSON(map[string]any{"reasoning": "r", "answer": "Short waves scatter more. So it is blue.", "key_points": []string{}})}}
	kestrel := "The lighthouse of Cape Kestrel was built in 1874 by the engineer Maria Lindqvist [1]. The light became automatic in 1978 [1]."
	truthful, scholarly := *webLogs[0].model, townScholar
	truthful.Lie, scholarly.Lie = "", ""
	type course struct {
		name  string
		req   func(t *testing.T) Request
		rules []llmtest.Rule // nil is without a model
		more  map[string]string
		live  bool // the pieces come while the model writes
		least int  // pieces
		tells []event.Kind
	}
	web := func(mode, question string) func(*testing.T) Request {
		return func(*testing.T) Request { return onTheWeb(mode, question) }
	}
	docs := func(t *testing.T) Request { return research("Who built the lighthouse of Cape Kestrel?", library(t)) }
	by := func(name string) func(*testing.T) Request {
		return func(*testing.T) Request { return byAgent(name, agenttest.Task) }
	}
	courses := []course{
		{name: "chat", req: func(*testing.T) Request { return ask("why is the sky blue?") }, rules: chat, live: true, least: 2},
		{name: "web_search", req: web("web_search", webLogs[0].question), rules: truthful.Rules(), live: true, least: 2, tells: noted},
		{name: "web_search, corrected", req: web("web_search", webLogs[0].question), rules: webLogs[0].model.Rules(), least: 2, tells: append([]event.Kind{event.KindReportReset}, noted...)},
		{name: "web_search without a model", req: web("web_search", webLogs[1].question), least: 1, tells: searched},
		{name: "deep_search", req: web("deep_search", webLogs[2].question), rules: webLogs[2].model.Rules(), live: true, least: 1, tells: append([]event.Kind{event.KindSearchRound}, noted...)},
		{name: "deep_search, nothing found", req: web("deep_search", webLogs[3].question), least: 2, tells: searched[:3]},
		{name: "documents", req: docs, rules: writer(kestrel), live: true, least: 2, tells: noted},
		{name: "documents without a model", req: docs, least: 1, tells: searched},
		{name: "deep_research, loop", req: web("deep_research", oststrandQuestion), rules: scholarly.Rules(), more: looped, least: 10,
			tells: append([]event.Kind{event.KindReportDelta, event.KindReportSection, event.KindAgentReflected}, searched...)},
		{name: "deep_research, loop without a model", req: web("deep_research", "Когда открыли Заречный виадук?"), more: looped, least: 10,
			tells: append([]event.Kind{event.KindReportSection, event.KindAgentReflected}, searched...)},
		{name: "deep_research, team", req: web("deep_research", teamQuestion), rules: new(inTurn).Team(theTeam, nil).Rules(), least: 10,
			tells: append([]event.Kind{event.KindTodoUpdated, event.KindReportDelta, event.KindReportSection, event.KindAgentStarted, event.KindAgentAction, event.KindSupervisorDecision}, noted...)},
		{name: "deep_research, team without a model", req: web("deep_research", teamQuestion), least: 10,
			tells: append([]event.Kind{event.KindTodoUpdated, event.KindReportSection, event.KindAgentStarted}, searched...)},
		{name: "agent by rules", req: by("rule_based_agent"), least: 2, tells: acted},
		{name: "tool", req: func(*testing.T) Request {
			return Request{Mode: "tool", Request: mode.Request{Agent: "add_note_tool", Question: `{"text":"newts are old"}`}}
		}, least: 1, tells: []event.Kind{event.KindAgentAction}},
		{name: "ingest", req: func(t *testing.T) Request {
			return Request{Mode: "ingest", Request: mode.Request{Question: "add", In: sources.Target{Paths: []string{library(t)}, Collection: "lights"}}}
		}, least: 1, tells: []event.Kind{event.KindProgress}},
	}
	for _, c := range agentLogs {
		if c.decider != agent.ByRules {
			tells := thought
			if c.decider == agent.Native {
				tells = acted
			}
			courses = append(courses, course{name: "agent " + string(c.decider), req: by(c.agent), rules: agenttest.Script(c.decider).Rules, live: true, least: 1, tells: tells})
		}
	}
	for _, c := range courses {
		t.Run(c.name, func(t *testing.T) {
			flags := []map[string]string{c.more}
			if c.rules != nil {
				flags = append(flags, connected(llmtest.Start(t, llmtest.Script{Rules: c.rules})))
			}
			e := engine(t, memory.New(memory.Options{}), onWeb(t, startWeb(t, webtest.Options{}), flags...))
			req := c.req(t)
			req.NoInput = true
			s := readStream(t, follow(t, e, req))
			if said := strings.TrimSpace(s.message.Said()); strings.TrimSpace(s.joined) != said || s.pieces < c.least {
				t.Errorf("%d pieces, together\n%s\nand the answer is\n%s", s.pieces, s.joined, said)
			}
			if c.live && s.live != s.joined || !c.live && s.live != "" {
				t.Errorf("while it was written there was %q", s.live)
			}
			for _, kind := range c.tells {
				if s.before[kind] == 0 {
					t.Errorf("no %s before the message", kind)
				}
			}
			for _, m := range s.message.Citations {
				if mark := string([]rune(s.message.Answer)[m.Start:m.End]); !strings.Contains(mark, "[") || m.URL == "" {
					t.Errorf("%+v marks %q", m, mark)
				}
			}
			if found := s.before[event.KindSourceFound]; found > 0 && s.message.Citations == nil {
				t.Error("the answer cites nothing")
			}
		})
	}
}

// waiter is a model that writes the beginning of an answer and the rest only when
// somebody has seen that.
type waiter struct {
	first, rest llm.Chunk
	whole       llm.Message
	seen        chan struct{}
}

func (m *waiter) Stream(ctx context.Context, _ *llm.Request, sink func(llm.Chunk)) (*llm.Response, error) {
	if sink != nil {
		sink(m.first)
		select {
		case <-m.seen:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		sink(m.rest)
	}
	return &llm.Response{Model: "scripted", Message: m.whole, Finish: llm.FinishStop}, nil
}

// TestAgentsShowWhatTheyWrite has agents of each kind write an answer: its first
// sentence is there before the model has written the second.
func TestAgentsShowWhatTheyWrite(t *testing.T) {
	const answer = "The first sentence is here. The second one is too."
	args := `{"reasoning":"r","completed_steps":["a"],"answer":"` + answer + `","status":"completed"}`
	called := llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "c", Name: "finalanswertool", Arguments: args}}}
	nested := `{"reasoning_steps":["a","b"],"current_situation":"s","plan_status":"p","enough_data":true,"remaining_steps":[],"task_completed":true,"function":{"tool_name_discriminator":"finalanswertool",` + args[1:] + `}`
	marked := "Thought: it is enough\nFinalAnswer: " + answer
	cut := func(text string) (string, string) {
		at := strings.Index(text, "second")
		return text[:at], text[at:]
	}
	for _, c := range []struct {
		class, text string // text is empty where the answer is in a call
	}{{"ToolCallingAgent", ""}, {"SGRAgent", nested}, {"ReActAgent", marked}} {
		t.Run(c.class, func(t *testing.T) {
			m := &waiter{whole: called, seen: make(chan struct{})}
			if c.text == "" {
				first, rest := cut(args)
				m.first, m.rest = llm.Chunk{Tool: &llm.ToolDelta{ID: "c", Name: "finalanswertool", Arguments: first}}, llm.Chunk{Tool: &llm.ToolDelta{Arguments: rest}}
			} else {
				m.first.Text, m.rest.Text = cut(c.text)
				m.whole = llm.Message{Role: llm.RoleAssistant, Content: c.text}
			}
			cfg, err := config.Load(config.Sources{Env: []string{"HOME=" + t.TempDir(), "DOSSIER_SEARCH_ENGINES=none"}, File: config.NoFile})
			if err != nil {
				t.Fatal(err)
			}
			extras := wire.Extras{Models: map[llm.RoleName]llm.Setting{llm.ForDefault: {Model: m, Name: "scripted"}}}
			e, err := assemble(cfg, site{dir: t.TempDir(), extras: extras}, memory.New(memory.Options{}))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = e.Close() })
			save(t, e, "talker", "base_class: "+c.class+"\ntools: [final_answer_tool]\nexecution: {logs_dir: \"\"}\n")
			shown := ""
			for ev, err := range e.Run(t.Context(), byAgent("talker", "hello")) {
				if err != nil {
					t.Fatal(err)
				}
				if d, ok := ev.Data.(event.AnswerDelta); ok {
					if d.Reset || d.Ready {
						t.Errorf("%+v", d)
					}
					if shown += d.Text; shown == "The first sentence is here." {
						close(m.seen)
					}
				}
			}
			if shown != answer {
				t.Errorf("%q", shown)
			}
		})
	}
}
