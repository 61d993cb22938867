package dossier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dossier/event"
	"dossier/internal/fleet"
	"dossier/internal/store/memory"
	"dossier/llm"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/run"
)

// finalReply is the call that ends an agent's work.
func finalReply(answer string) *llmtest.Reply {
	return llmtest.CallTool("finalanswertool", map[string]any{
		"reasoning": "done", "completed_steps": []string{"thought"}, "answer": answer, "status": "completed",
	})
}

var canary = regexp.MustCompile(`canary-[0-9]+-[0-9]+`)

// parrot answers with every canary that it sees in its conversation.
func parrot() llmtest.Script {
	return llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.Do(func(req *llmtest.Request) *llmtest.Reply {
		seen := map[string]bool{}
		for _, m := range req.Messages {
			for _, c := range canary.FindAllString(m.Content, -1) {
				seen[c] = true
			}
		}
		var all []string
		for c := range seen {
			all = append(all, c)
		}
		slices.Sort(all)
		return finalReply("I see " + strings.Join(all, " and "))
	})}}}
}

const parrotTemplate = "base_class: ToolCallingAgent\ndescription: Says what it sees.\ntools: [add_note_tool, final_answer_tool]\nexecution: {logs_dir: \"\"}\n"

func save(t *testing.T, e *Engine, name, document string) fleet.Version {
	t.Helper()
	v, _, err := e.SaveTemplate(t.Context(), name, fleet.Text{Document: document})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// finished follows a run to its end and returns its last message.
func finished(ctx context.Context, e *Engine, id string) (string, error) {
	var last string
	for ev, err := range e.Events(ctx, id, 0) {
		if err != nil {
			return "", err
		}
		if m, ok := ev.Data.(event.Message); ok && m.Role == string(llm.RoleAssistant) {
			last = m.Text
		}
	}
	return last, nil
}

// A thousand runs at once on ten instances, each in a session of its own: what
// is said in one is not heard in another.
func TestSessionsOfInstancesAreIsolated(t *testing.T) {
	const instances, sessions = 10, 100
	srv := llmtest.Start(t, parrot())
	e := engine(t, memory.New(memory.Options{}), connected(srv))
	save(t, e, "parrot", parrotTemplate)
	ids := make([]string, instances)
	for i := range ids {
		made, err := e.RegisterInstance(t.Context(), fleet.Instance{Template: "parrot", Name: fmt.Sprintf("parrot-%d", i), Slots: sessions, Queue: sessions})
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = made.ID
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for i, instance := range ids {
		for s := range sessions {
			wg.Go(func() {
				own := fmt.Sprintf("canary-%d-%d", i, s)
				session := "session-" + own
				for turn := range 2 {
					rec, err := e.Start(ctx, Request{Mode: "agent", Session: session, Request: mode.Request{Question: "Remember " + own, Instance: instance}})
					if err != nil {
						t.Error(err)
						return
					}
					said, err := finished(ctx, e, rec.ID)
					if err != nil || said != "I see "+own {
						t.Errorf("session %s, turn %d: %q, %v", session, turn, said, err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	for i, id := range ids {
		status := ready(t, e, id)
		if status.Running != 0 || status.Queued != 0 || status.Served != 2*sessions {
			t.Errorf("instance %d: %+v", i, status)
		}
	}
	// A session stays with its instance.
	_, err := e.Start(ctx, Request{Mode: "agent", Session: "session-canary-0-0", Request: mode.Request{Question: "hello", Instance: ids[1]}})
	if _, taken := errors.AsType[*fleet.SessionError](err); !taken {
		t.Errorf("a session of another instance: %v", err)
	}
	// Nor do others hear what was said in it, whatever their mode is.
	for _, req := range []Request{byAgent("parrot", "hello"), ask("hello"), {Mode: "chat", Request: mode.Request{Question: "hello", Instance: ids[0]}}} {
		req.Session = "session-canary-0-0"
		if _, err := e.Start(ctx, req); err == nil || !strings.Contains(err.Error(), "belongs to instance "+ids[0]) {
			t.Errorf("a session of an instance: %v", err)
		}
	}
	stats, err := e.TemplateStats(ctx, "parrot")
	if err != nil || len(stats) != 1 || stats[0].Runs != 2*instances*sessions || stats[0].Done != stats[0].Runs {
		t.Errorf("%+v, %v", stats, err)
	}
}

// ready waits until an instance has nothing to do.
func ready(t *testing.T, e *Engine, id string) fleet.Status {
	t.Helper()
	for {
		s, err := e.Instance(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if s.Running == 0 && s.Queued == 0 {
			// What is stored of it was read before it was seen to be idle.
			if s, err = e.Instance(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			return s
		}
		if t.Context().Err() != nil {
			t.Fatal("it is never ready")
		}
	}
}

// gate holds calls of a model until it is opened.
type gate struct {
	open chan struct{}
	in   chan string
}

// unlock opens the gate for all, if it is not: a test that fails ends.
func (g *gate) unlock() {
	select {
	case _, open := <-g.open:
		if !open {
			return
		}
	default:
	}
	close(g.open)
}

func (g *gate) script() llmtest.Script {
	return llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.Do(func(req *llmtest.Request) *llmtest.Reply {
		question := req.Question()
		g.in <- question
		<-g.open
		return finalReply("done: " + question[strings.LastIndexByte(question, '\n')+1:])
	})}}}
}

// An instance with one slot works on one run at a time, in a fair order; an
// upgrade changes new runs only, draining refuses them, and what waited when the
// process ended goes on with the next one.
func TestInstanceQueuesUpgradesAndRestarts(t *testing.T) {
	g := &gate{open: make(chan struct{}), in: make(chan string, 100)}
	srv := llmtest.Start(t, g.script())
	disk := &kept{memory.New(memory.Options{})}
	e := engine(t, disk, connected(srv))
	save(t, e, "worker", strings.Replace(parrotTemplate, "Says what it sees", "Version one", 1))
	made, err := e.RegisterInstance(t.Context(), fleet.Instance{Template: "worker", Name: "w", Slots: 1, Queue: 3})
	if err != nil {
		t.Fatal(err)
	}
	start := func(e *Engine, session, question string) (run.Record, error) {
		return e.Start(t.Context(), Request{Mode: "agent", Session: session, Request: mode.Request{Question: question, Instance: "w"}})
	}
	var ids []string
	for _, job := range []string{"a1", "a2", "a3", "b1"} {
		rec, err := start(e, "session-"+job[:1], job)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, rec.ID)
	}
	<-g.in // one of them has come to the model
	status, err := e.Instance(t.Context(), made.ID)
	if err != nil || status.State != fleet.Busy || status.Running != 1 || status.Queued != 3 {
		t.Fatalf("%+v, %v", status, err)
	}
	var full *fleet.QueueFullError
	if _, err := start(e, "session-c", "c1"); !errors.As(err, &full) {
		t.Fatalf("the queue is full: %v", err)
	}
	// A new version, and an upgrade in the midst of it.
	save(t, e, "worker", strings.Replace(parrotTemplate, "Says what it sees", "Version two", 1))
	if err := e.PublishTemplate(t.Context(), "worker", 2); err != nil {
		t.Fatal(err)
	}
	if err := e.UpgradeInstance(t.Context(), "w", 0); err != nil {
		t.Fatal(err)
	}
	// The process ends; another one goes on where it was.
	closed := make(chan struct{})
	go func() { _ = e.Close(); close(closed) }()
	close(g.open)
	<-closed
	if err := evictAll(t.Context(), disk); err != nil {
		t.Fatal(err)
	}
	e = engine(t, disk, connected(srv))
	if _, err := e.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := finished(ctx, e, ids[0]); err != nil {
		t.Fatal(err)
	}
	ready(t, e, "w")
	rec, err := start(e, "session-c", "c1")
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range append(ids, rec.ID) {
		want := "done: " + []string{"a1", "a2", "a3", "b1", "c1"}[i]
		if said, err := finished(ctx, e, id); err != nil || said != want {
			t.Errorf("%s: %q, %v", want, said, err)
		}
	}
	for id, version := range map[string]int{ids[0]: 1, ids[3]: 1, rec.ID: 2} {
		if got := versionOf(t, e, id); got != version {
			t.Errorf("run %s was made from version %d, not %d", id, got, version)
		}
	}
	ready(t, e, "w")
	if err := e.DrainInstance(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	var state *fleet.StateError
	if _, err := start(e, "session-d", "d1"); !errors.As(err, &state) {
		t.Errorf("a drained instance: %v", err)
	}
	if err := e.StartInstance(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	if rec, err = start(e, "session-d", "d1"); err != nil {
		t.Fatal(err)
	}
	if said, err := finished(ctx, e, rec.ID); err != nil || said != "done: d1" {
		t.Errorf("%q, %v", said, err)
	}
}

// versionOf is the version of the template that a run was made from.
func versionOf(t *testing.T, e *Engine, id string) int {
	t.Helper()
	rec, err := e.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var req struct {
		Settings struct {
			Version int `json:"version"`
		} `json:"settings"`
	}
	if err := json.Unmarshal(rec.Request, &req); err != nil {
		t.Fatal(err)
	}
	return req.Settings.Version
}

// Templates that can't work are refused, with what is wrong.
func TestTemplatesThatCannotWork(t *testing.T) {
	e := engine(t, memory.New(memory.Options{}), nil)
	for document, want := range map[string]string{
		"tools: [serach_tool]":              "serach_tool",
		"tools: [mcp:nowhere]":              "nowhere",
		"base_class: Magician":              "Magician",
		"execution: {max_iterations: many}": "max_iterations",
		"tools: web_search_tool":            "tools",
		"rules: [{counter: searches}]":      "drop or only",
		"{":                                 "template",
		"llm: {api_key: sk-stolen, base_url: http://evil}": "template",
	} {
		_, _, err := e.SaveTemplate(t.Context(), "bad", fleet.Text{Document: document})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sk-stolen") {
			t.Errorf("%s: %v", document, err)
		}
	}
	if list, err := e.Templates(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := e.Start(t.Context(), byAgent("nobody", "hello")); err == nil || !strings.Contains(err.Error(), `no agent "nobody"`) {
		t.Errorf("%v", err)
	}
}

// An agent calls another as a tool; two that call each other come to an end.
func TestAgentsAsTools(t *testing.T) {
	script := llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.Do(func(req *llmtest.Request) *llmtest.Reply {
		offered := ""
		for _, tool := range req.Tools {
			offered += tool.Name + " "
		}
		last := req.Messages[len(req.Messages)-1]
		switch {
		case last.Role == llm.RoleTool:
			return finalReply("I was told: " + last.Content)
		case strings.Contains(offered, "agent_ping"):
			return llmtest.CallTool("agent_ping", map[string]any{"task": "say pong"})
		case strings.Contains(offered, "agent_pong"):
			return llmtest.CallTool("agent_pong", map[string]any{"task": "say ping"})
		}
		return finalReply("pong")
	})}}}
	srv := llmtest.Start(t, script)
	e := engine(t, memory.New(memory.Options{}), connected(srv))
	const plain = "base_class: ToolCallingAgent\ntools: [final_answer_tool]\nexecution: {logs_dir: \"\"}\n"
	save(t, e, "ping", plain)
	save(t, e, "caller", plain+"agents: [ping]\n")
	said := answerTo(t, e, byAgent("caller", "call ping"))
	if said != "I was told: pong" {
		t.Errorf("%q", said)
	}
	// ping calls pong now, and pong calls ping.
	save(t, e, "pong", plain)
	save(t, e, "ping", plain+"agents: [pong]\n")
	save(t, e, "pong", plain+"agents: [ping]\n")
	said = answerTo(t, e, byAgent("ping@2", "who is there?"))
	if !strings.Contains(said, "round in circles") {
		t.Errorf("%q", said)
	}
	if _, _, err := e.SaveTemplate(t.Context(), "lost", fleet.Text{Document: plain + "agents: [nobody]\n"}); err != nil {
		t.Fatal(err) // whom it calls may come later
	}
	if _, err := e.Start(t.Context(), byAgent("lost", "hello")); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("an agent that calls nobody: %v", err)
	}
}

func answerTo(t *testing.T, e *Engine, req Request) string {
	t.Helper()
	m, _ := answerOf(follow(t, e, req))
	return m.Text
}

// On demand an agent sees the tools that fit its task and the system's, and
// finds more itself.
func TestAgentsFindTools(t *testing.T) {
	var mu sync.Mutex
	var offered [][]string
	script := llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.Do(func(req *llmtest.Request) *llmtest.Reply {
		var names []string
		for _, tool := range req.Tools {
			names = append(names, tool.Name)
		}
		mu.Lock()
		defer mu.Unlock()
		offered = append(offered, names)
		if len(offered) == 1 {
			return llmtest.CallTool("searchtoolstool", map[string]any{"query": "repositories on GitHub"})
		}
		return finalReply("found")
	})}}}
	srv := llmtest.Start(t, script)
	e := engine(t, memory.New(memory.Options{}), connected(srv))
	save(t, e, "finder", "base_class: ToolCallingAgent\ntools: [final_answer_tool]\ntool_search: {on_demand: true, k: 2, never: [bocha_web_search_tool]}\nexecution: {logs_dir: \"\"}\n")
	if said := answerTo(t, e, byAgent("finder", "Find recent scientific papers on arXiv about graphene.")); said != "found" {
		t.Fatalf("%q", said)
	}
	first, second := offered[0], offered[1]
	if !slices.Contains(first, "search_arxiv_papers_tool") || !slices.Contains(first, "clarificationtool") || slices.Contains(first, "github_search_tool") {
		t.Errorf("at first: %q", first)
	}
	if !slices.Contains(second, "github_search_tool") || slices.Contains(second, "bocha_web_search_tool") {
		t.Errorf("then: %q", second)
	}
	list, err := e.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list.Tools {
		if entry.Name == "searchtoolstool" && entry.Calls != 1 {
			t.Errorf("%+v", entry)
		}
	}
	found, err := e.SearchTools(t.Context(), "look something up in the Chinese web", 3)
	if err != nil || len(found.Tools) == 0 || found.Tools[0].Name != "bocha_web_search_tool" {
		t.Errorf("%+v, %v", found, err)
	}
	agents, err := e.SearchAgents(t.Context(), "plain text for small models", 1)
	if err != nil || len(agents) != 1 || !strings.Contains(agents[0].Name, "iron") {
		t.Errorf("%+v, %v", agents, err)
	}
}

// Agents without instances have a conversation in a session, and only in that.
func TestSessionsOfAgentsAreIsolated(t *testing.T) {
	srv := llmtest.Start(t, parrot())
	e := engine(t, memory.New(memory.Options{}), connected(srv))
	save(t, e, "parrot", parrotTemplate)
	for _, turn := range []struct{ session, question, want string }{
		{"one", "canary-1-1", "I see canary-1-1"},
		{"two", "canary-2-2", "I see canary-2-2"},
		{"one", "again", "I see canary-1-1"},
		{"", "canary-3-3", "I see canary-3-3"},
		{"two", "again", "I see canary-2-2"},
	} {
		req := byAgent("parrot", turn.question)
		req.Session = turn.session
		if said := answerTo(t, e, req); said != turn.want {
			t.Errorf("%+v: %q", turn, said)
		}
	}
}
