package dossier

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"dossier/event"
	"dossier/internal/config"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/internal/store/sqlite"
	"dossier/internal/wire"
	"dossier/llm"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/run"
	"dossier/tool"
)

var agentID = regexp.MustCompile(`^\w+_[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$`)

// idsIn are the ids of the agents that a run tells of.
func idsIn(t *testing.T, e *Engine, id string) (ids []string) {
	t.Helper()
	log, err := e.Log(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range log {
		if d, ok := ev.Data.(event.AgentStarted); ok {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// A run is found by the id of its agent after a restart, and the agent goes on
// under it: the next run of its conversation.
func TestRunsAreFoundByTheirAgent(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	path := filepath.Join(t.TempDir(), "dossier.db")
	srv := llmtest.Start(t, parrot())
	begin := func() *Engine {
		disk, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return engine(t, disk, connected(srv))
	}
	e := begin()
	save(t, e, "worker", parrotTemplate)
	first, err := e.Start(ctx, byAgent("worker", "canary-1-1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := finished(ctx, e, first.ID); err != nil {
		t.Fatal(err)
	}
	id := first.Agent
	if ids := idsIn(t, e, first.ID); !agentID.MatchString(id) || !strings.HasPrefix(id, "worker_") || len(ids) != 1 || ids[0] != id {
		t.Errorf("%q tells of %q", id, ids)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = begin()
	if found, err := e.ByAgent(ctx, id); err != nil || found.ID != first.ID || found.Agent != id || found.Request == nil {
		t.Errorf("%+v, %v", found, err)
	}
	next, err := e.Start(ctx, Request{Request: mode.Request{Question: "canary-2-2", AgentID: id}})
	if err != nil {
		t.Fatal(err)
	}
	if said, err := finished(ctx, e, next.ID); err != nil || said != "I see canary-1-1 and canary-2-2" {
		t.Errorf("%q, %v", said, err)
	}
	if ids := idsIn(t, e, next.ID); next.Session != first.Session || next.Agent != id || len(ids) != 1 || ids[0] != id {
		t.Errorf("%+v tells of %q", next, ids)
	}
	if found, err := e.ByAgent(ctx, id); err != nil || found.ID != next.ID {
		t.Errorf("%+v, %v", found, err)
	}
	list, err := e.List(ctx, Filter{Agent: id})
	if err != nil || len(list) != 2 || list[1].ID != first.ID {
		t.Errorf("%+v, %v", list, err)
	}
	// A fork is another agent.
	fork, err := e.Fork(ctx, first.ID, "select-1", ForkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := finished(ctx, e, fork.ID); err != nil {
		t.Error(err)
	}
	settled(t, e, fork.ID)
	if ids := idsIn(t, e, fork.ID); fork.Agent == id || !agentID.MatchString(fork.Agent) || len(ids) != 1 || ids[0] != fork.Agent {
		t.Errorf("%+v tells of %q", fork, ids)
	}
	for _, done := range []string{first.ID, next.ID, fork.ID} {
		if _, err := e.Replay(ctx, done); err != nil {
			t.Error(err)
		}
	}
	if _, err := e.ByAgent(ctx, ""); !errors.Is(err, ErrUnknownAgent) {
		t.Errorf("%v", err)
	}
	for what, req := range map[string]Request{
		"no such agent": {Request: mode.Request{Question: "q", AgentID: "worker_00000000-0000-4000-8000-000000000000"}},
		"session":       {Session: "other", Request: mode.Request{Question: "q", AgentID: id}},
		"agent":         {Request: mode.Request{Question: "q", AgentID: id, Agent: "rule_based_agent"}},
		"mode":          {Mode: "web_search", Request: mode.Request{Question: "q", AgentID: id}},
	} {
		var usage *UsageError
		if _, err := e.Start(ctx, req); !errors.As(err, &usage) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// An agent that is at work, or waits, is not begun again.
func TestAgentsAreNotBegunTwice(t *testing.T) {
	g := &gate{open: make(chan struct{}), in: make(chan string, 100)}
	t.Cleanup(g.unlock)
	e := engine(t, memory.New(memory.Options{}), connected(llmtest.Start(t, g.script())))
	save(t, e, "worker", parrotTemplate)
	rec, err := e.Start(t.Context(), byAgent("worker", "x"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Start(t.Context(), Request{Request: mode.Request{Question: "y", AgentID: rec.Agent}}); err == nil || !strings.Contains(err.Error(), "is not done") {
		t.Errorf("%v", err)
	}
	g.unlock()
	if _, err := finished(t.Context(), e, rec.ID); err != nil {
		t.Error(err)
	}
}

// What a caller gives along reaches the tools of an agent, also after the run has
// waited and the program was started anew. The model does not see it.
func TestCustomContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	reads := tool.New(tool.Spec{Name: "tenant_tool", Description: "Says whose work this is.", Effect: run.Read}, func(_ context.Context, c *tool.Call, _ struct{}) (tool.Result, error) {
		var who struct{ Name string }
		if err := json.Unmarshal(c.State.Custom["tenant"], &who); err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Text: "name of " + who.Name[:1]}, nil
	})
	srv := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.Do(func(req *llmtest.Request) *llmtest.Reply {
		last := req.Messages[len(req.Messages)-1]
		switch {
		case strings.Contains(last.Content, "name of "):
			return finalReply("It is the " + last.Content + ".")
		case strings.Contains(last.Content, "the usual one"):
			return llmtest.CallTool("tenant_tool", map[string]any{})
		}
		return llmtest.CallTool("clarificationtool", map[string]any{
			"reasoning": "r", "unclear_terms": []string{"it"}, "assumptions": []string{"a", "b"}, "questions": []string{"Which one?"},
		})
	})}}})
	disk := &kept{Store: memory.New(memory.Options{})}
	begin := func() *Engine {
		cfg, err := config.Load(config.Sources{Env: []string{"HOME=" + t.TempDir(), "DOSSIER_SEARCH_ENGINES=none"}, File: config.NoFile, Flags: connected(srv)})
		if err != nil {
			t.Fatal(err)
		}
		e, err := assemble(cfg, site{dir: t.TempDir(), extras: wire.Extras{Tools: []tool.Tool{reads}}}, store.Store(disk))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		return e
	}
	e := begin()
	save(t, e, "clerk", "base_class: ToolCallingAgent\ntools: [tenant_tool, clarification_tool, final_answer_tool]\nexecution: {logs_dir: \"\"}\n")
	req := byAgent("clerk", "Whose is it?")
	req.Custom = map[string]json.RawMessage{"tenant": json.RawMessage(`{"name":"Quill-canary"}`)}
	rec, err := e.Start(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range e.Events(ctx, rec.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := ev.Data.(event.RunStatus); ok && s.Status == string(run.Waiting) {
			break
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = begin()
	if err := e.Answer(ctx, rec.ID, "", "the usual one"); err != nil {
		t.Fatal(err)
	}
	if said, err := finished(ctx, e, rec.ID); err != nil || said != "It is the name of Q." {
		t.Errorf("%q, %v", said, err)
	}
	for _, c := range srv.Calls() {
		for _, m := range c.Request.Messages {
			if strings.Contains(m.Content, "canary") {
				t.Errorf("the model was told %q", m.Content)
			}
		}
	}
	req.Custom = map[string]json.RawMessage{"kb_searches": json.RawMessage(`[]`)}
	if _, err := e.Start(ctx, req); err == nil || !strings.Contains(err.Error(), "kb_searches") {
		t.Errorf("%v", err)
	}
}

// A run begins with a whole conversation: instructions are in the one message of
// the system, in every mode that sees the conversation.
func TestRunsBeginWithMessages(t *testing.T) {
	var said []mode.Turn
	raw := `[{"role":"system","content":"Speak like a sailor."},{"role":"user","content":"Who built the lighthouse of Cape Kestrel?"},{"role":"assistant","content":"Maria Lindqvist did."},{"role":"tool","tool_call_id":"c","content":"dropped"},{"role":"user","content":"And when was it built?"}]`
	if err := json.Unmarshal([]byte(raw), &said); err != nil {
		t.Fatal(err)
	}
	for name, req := range map[string]Request{
		"chat": {Messages: said}, "web_search": research("", library(t)), "agent": {Mode: "agent", Messages: said, Request: mode.Request{Agent: "tool_calling_agent"}},
	} {
		req.Messages = said
		srv := llmtest.Start(t, llmtest.Script{Rules: append(writer("It was built in 1874 [1]."), llmtest.Rule{Reply: llmtest.Do(func(*llmtest.Request) *llmtest.Reply { return finalReply("In 1874.") })})})
		e := engine(t, memory.New(memory.Options{}), connected(srv))
		events := follow(t, e, req)
		if m, _ := answerOf(events); !strings.Contains(m.Said(), "1874") {
			t.Errorf("%s: %q", name, m.Said())
		}
		instructed := 0
		for _, c := range srv.Calls() {
			for i, m := range c.Request.Messages {
				if m.Role == llm.RoleSystem && i > 0 || strings.Contains(m.Content, "dropped") {
					t.Errorf("%s: message %d is %+v", name, i, m)
				}
				if m.Role == llm.RoleSystem && strings.Contains(m.Content, "like a sailor") {
					instructed++
				}
			}
		}
		if instructed == 0 {
			t.Errorf("%s: no call has the instructions", name)
		}
	}
	e := engine(t, memory.New(memory.Options{}), nil)
	for what, req := range map[string]Request{
		"whole conversation": {Messages: said, Request: mode.Request{Question: "q"}},
		"last message":       {Messages: said[:1]},
	} {
		var usage *UsageError
		if _, err := e.Start(t.Context(), req); !errors.As(err, &usage) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
