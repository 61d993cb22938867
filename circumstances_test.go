package dossier

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dossier/agent"
	"dossier/event"
	"dossier/internal/agenttest"
	"dossier/internal/config"
	"dossier/internal/dispatch"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/llm"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/run"
	"dossier/sources"
)

// around is everything that a run may find around it. What of it is configured
// is up to the setting.
type around struct {
	web      *webtest.Web
	model    *llmtest.Server
	scale    string       // an MCP server
	rerank   string       // an endpoint that ranks
	asked    atomic.Int64 // requests to these two
	docs     string       // a folder with documents
	commands string       // the folder in which commands may be run
	out      string       // reports
	session  string       // the conversation to go on with
}

func newAround(t *testing.T, script llmtest.Script) *around {
	t.Helper()
	a := &around{web: startWeb(t, webtest.Options{}), model: llmtest.Start(t, script), docs: library(t), commands: t.TempDir(), out: t.TempDir()}
	scale, _ := toolServer(t, "weigh_parcel")
	there, err := url.Parse(scale)
	if err != nil {
		t.Fatal(err)
	}
	a.scale = a.counted(t, &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(there) }})
	a.rerank = a.counted(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Documents []string }
		_ = json.NewDecoder(r.Body).Decode(&q)
		results := make([]map[string]any, len(q.Documents)) // the last first
		for i := range results {
			results[i] = map[string]any{"index": i, "relevance_score": float64(i+1) / 100}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"results": results})
	}))
	return a
}

func (a *around) counted(t *testing.T, h http.Handler) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.asked.Add(1)
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// bothered counts what was asked of anybody.
func (a *around) bothered() int {
	n := int(a.asked.Load()) + len(a.model.Calls()) + len(a.web.Searches())
	for _, fetched := range a.web.Fetches() {
		n += fetched
	}
	return n
}

// setting is a configuration of what is around.
type setting struct {
	flags map[string]string
	file  string
}

// Agents of the configuration: one that has a tool of a server, one that looks
// for its tools, one that may run commands and one that has others work for it.
const (
	ownAgents = `
agents:
  weigher: {base_class: ToolCallingAgent, tools: [final_answer_tool, "mcp:scale"], execution: {logs_dir: ""}}
  seeker: {base_class: ToolCallingAgent, tools: [final_answer_tool], tool_search: {on_demand: true}, execution: {logs_dir: ""}}
  doer: {base_class: ToolCallingAgent, tools: [final_answer_tool, run_command_tool], execution: {logs_dir: ""}}
  boss: {base_class: ToolCallingAgent, tools: [final_answer_tool, web_search_tool: {engine: searxng}], agents: [helper], execution: {logs_dir: ""}}
  helper: {base_class: ToolCallingAgent, description: Knows newts., tools: [final_answer_tool, web_search_tool], llm: {temperature: 0.3}, execution: {logs_dir: ""}}
`
	deadEnd = "http://127.0.0.1:1" // nobody listens there
)

// whole is the setting with all that there is.
func (a *around) whole(t *testing.T) setting {
	return setting{
		flags: onWeb(t, a.web, connected(a.model), forgetful, map[string]string{"execution.reports_dir": a.out, "execution.logs_dir": ""}),
		file:  "mcp: {mcpServers: {scale: {url: " + a.scale + "}}}\ntools: {run_command_tool: {workspace_path: " + a.commands + "}}\n" + ownAgents,
	}
}

func (s setting) with(flags map[string]string) setting {
	s.flags = maps.Clone(s.flags)
	maps.Copy(s.flags, flags)
	return s
}

func (s setting) without(keys ...string) setting {
	s.flags = maps.Clone(s.flags)
	for _, key := range keys {
		delete(s.flags, key)
	}
	return s
}

func (s setting) filed(file string) setting { return setting{s.flags, file} }

// settings are the configurations under which runs are taken up and replayed.
func (a *around) settings(t *testing.T) map[string]setting {
	whole := a.whole(t)
	noModel := []string{"models.default.base_url", "models.default.model"}
	return map[string]setting{
		"whole":          whole,
		"no model":       whole.without(noModel...),
		"another model":  whole.with(map[string]string{"models.default.base_url": deadEnd + "/v1", "models.default.model": "another", "governor.retries": "0"}),
		"no engines":     whole.with(map[string]string{"search.engines": "none"}),
		"other engines":  whole.with(map[string]string{"search.engines": "arxiv,wikipedia", "search.arxiv.base_url": deadEnd, "search.wikipedia.base_url": deadEnd}),
		"ranked":         whole.with(map[string]string{"search.rerank_url": a.rerank}),
		"no server":      whole.filed(ownAgents),
		"a dead server":  whole.filed("mcp: {mcpServers: {scale: {url: " + deadEnd + "}}}\n" + ownAgents),
		"nothing at all": {},
	}
}

func (s setting) engine(t *testing.T, disk store.Store) *Engine {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(s.file), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Sources{Env: []string{"HOME=" + t.TempDir(), "DOSSIER_SEARCH_ENGINES=none"}, File: path, Flags: s.flags})
	if err != nil {
		t.Fatal(err)
	}
	e, err := assemble(cfg, site{dir: t.TempDir()}, disk)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// course is a run that is carried out under one setting.
type course struct {
	name   string
	script llmtest.Script
	under  string // the setting; "whole" if empty
	before func(t *testing.T, e *Engine, a *around)
	req    func(a *around) Request
	status run.Status // done if empty
	every  int        // of how many entries one is tried, where there are very many
	loop   bool       // deep research by the evidence loop
}

// usesLibrary has the documents of the library be those in use.
func usesLibrary(t *testing.T, e *Engine, a *around) {
	t.Helper()
	follow(t, e, Request{Mode: "ingest", Request: mode.Request{Question: "add", In: sources.Target{Paths: []string{a.docs}, Collection: "lights"}}})
	if _, err := e.UseCollection(t.Context(), "lights"); err != nil {
		t.Fatal(err)
	}
}

// consoleScript is a model that does what the console agent asks of it.
var consoleScript = llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply {
	system, last := q.Messages[0].Content, q.Messages[len(q.Messages)-1].Content
	switch {
	case strings.Contains(system, "You decide whether"):
		return llmtest.Say(`{"relevant": true}`)
	case strings.Contains(system, "You choose the tool") && strings.Contains(last, "хайку"):
		return llmtest.Say(`{"tool": "generate_haiku", "parameters": {"theme": "пруд"}}`)
	case strings.Contains(system, "You choose the tool"):
		return llmtest.Say(`{"tool": "rag_search", "parameters": {"question": "Кто построил маяк?"}}`)
	case strings.Contains(system, "You write haiku"):
		return llmtest.Say("Старый тихий пруд.\nЛягушка прыгнула вниз —\nвсплеск в тишине дня.")
	}
	return llmtest.Say("Маяк построила Мария Линдквист [1].")
})}}}

// courses are runs of every mode and decider, some of which fail for want of what
// others have.
func courses() []course {
	chatting := llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.JSON(map[string]any{"reasoning": "r", "answer": "Hello to you.", "key_points": []string{}})}}}
	asked := func(r Request) func(*around) Request { return func(*around) Request { return r } }
	inDocs := func(question string) func(*around) Request {
		return func(a *around) Request { return research(question, a.docs) }
	}
	web := func(name, modeName, under string, long int) course {
		c := longWebRuns[long]
		return course{name: name, script: llmtest.Script{Rules: c.model.Rules()}, under: under, req: asked(onTheWeb(modeName, c.question))}
	}
	named := onTheWeb("web_search", longWebRuns[0].question)
	named.In.Web.Engines = []string{"searxng"}
	mixed := func(a *around) Request {
		r := research("Who built the lighthouse of Cape Kestrel?", a.docs)
		r.In.Web = &sources.WebScope{}
		return r
	}
	before := func(question string) func(*testing.T, *Engine, *around) {
		return func(t *testing.T, e *Engine, a *around) {
			a.session = follow(t, e, onTheWeb("deep_research", question))[0].Run
		}
	}
	goesOn := func(a *around) Request {
		r := onTheWeb("deep_research", "Who is the mayor there?")
		r.Session = a.session
		return r
	}
	lighthouse := llmtest.Script{Rules: writer("The lighthouse was built in 1874 by Maria Lindqvist [1].")}
	all := []course{
		{name: "chat", script: chatting, req: asked(ask("hello"))},
		{name: "chat without a model", under: "no model", req: asked(ask("hello")), status: run.Failed},
		web("web_search", "web_search", "", 0),
		web("deep_search", "deep_search", "", 1),
		web("quality", "quality", "", 0),
		web("ranked web_search", "web_search", "ranked", 0),
		web("web_search by rules", "web_search", "no model", 0),
		{name: "deep_research", script: llmtest.Script{Rules: theTeam.Rules()}, req: asked(onTheWeb("deep_research", teamQuestion)), every: 130},
		{name: "deep_research by rules", under: "no model", req: asked(onTheWeb("deep_research", teamQuestion)), every: 130},
		{name: "named engine", script: llmtest.Script{Rules: longWebRuns[0].model.Rules()}, req: asked(named)},
		{name: "web_search without engines", under: "no engines", req: asked(onTheWeb("web_search", longWebRuns[0].question)), status: run.Failed},
		{name: "documents", script: lighthouse, req: inDocs("Who built the lighthouse of Cape Kestrel?")},
		{name: "documents by rules", under: "nothing at all", req: inDocs("How many steps lead up to the lamp?")},
		{name: "documents and the web", script: lighthouse, req: mixed},
		{name: "documents in use", script: lighthouse, req: asked(Request{Mode: "web_search", Request: mode.Request{Question: "Who built the lighthouse of Cape Kestrel?"}}), before: usesLibrary},
		{name: "console", script: consoleScript, before: usesLibrary, req: asked(Request{Mode: "console", Request: mode.Request{Question: "Кто построил маяк?"}})},
		{name: "console by rules", under: "no model", before: usesLibrary, req: asked(Request{Mode: "console", Request: mode.Request{Question: "Who built the lighthouse?"}})},
		{name: "console writes", script: consoleScript, req: asked(Request{Mode: "console", Request: mode.Request{Question: "Напиши хайку про пруд"}})},
		{name: "console writes by rules", under: "no model", req: asked(Request{Mode: "console", Request: mode.Request{Question: "Напиши хайку про осень"}})},
		{name: "knowledge base", script: (&kbCourses[3]).script(), req: asked(byAgent("kb_agent", whoBuilt)), before: usesLibrary},
		{name: "knowledge base by rules", under: "no model", req: asked(byAgent("kb_agent", whoBuilt)), before: usesLibrary},
		{name: "evidence loop", loop: true, every: 23, script: llmtest.Script{Rules: townScholar.Rules()}, req: asked(onTheWeb("deep_research", oststrandQuestion))},
		{name: "evidence loop by rules", loop: true, every: 23, under: "no model", req: asked(onTheWeb("deep_research", oststrandQuestion))},
		{name: "evidence loop that asks", loop: true, every: 23, script: llmtest.Script{Rules: unsureScholar.Rules()}, req: asked(onTheWeb("deep_research", oststrandQuestion))},
		{name: "evidence loop in documents and the web", loop: true, every: 23, script: llmtest.Script{Rules: townScholar.Rules()}, req: func(a *around) Request {
			r := mixed(a)
			r.Mode = "deep_research"
			return r
		}},
		{name: "evidence loop, a follow-up", loop: true, every: 7, script: llmtest.Script{Rules: townScholar.Rules()}, before: before(oststrandQuestion), req: goesOn},
		{name: "evidence loop by rules, a follow-up", loop: true, every: 5, under: "no model", before: before(oststrandQuestion), req: goesOn},
		{name: "deep_research, a follow-up", script: llmtest.Script{Rules: theTeam.Rules()}, every: 17, before: before(teamQuestion), req: goesOn},
		{name: "deep_research by rules, a follow-up", under: "no model", every: 17, before: before(teamQuestion), req: goesOn},
		{name: "agent of a template", script: callsThen("add_note_tool"), req: asked(byAgent("noter", "Note it")), before: func(t *testing.T, e *Engine, _ *around) {
			save(t, e, "noter", strings.ReplaceAll(parrotTemplate, "execution:", "llm: {temperature: 0.4}\nexecution:"))
		}},
		{name: "ingest", req: func(a *around) Request {
			return Request{Mode: "ingest", Request: mode.Request{Question: "add", In: sources.Target{Paths: []string{a.docs}, Base: filepath.Dir(a.docs)}}}
		}},
		{name: "tool", req: asked(Request{Mode: "tool", Request: mode.Request{Agent: "add_note_tool", Question: `{"text":"newts are old"}`}})},
		{name: "tool of a server", req: asked(Request{Mode: "tool", Request: mode.Request{Agent: "weigh_parcel", Question: `{}`}})},
		{name: "agent with a server", script: callsThen("weigh_parcel"), req: asked(byAgent("weigher", "Weigh the parcel on the scale"))},
		{name: "agent that finds tools", script: callsThen("searchtoolstool", "weigh_parcel"), req: asked(byAgent("seeker", "Weigh the parcel on the scale"))},
		{name: "agent with commands", script: callsThen("runcommandtool"), req: asked(byAgent("doer", "What is in the folder?"))},
		{name: "agent with agents", script: callsThen("websearchtool", "agent_helper"), req: asked(byAgent("boss", "How old are newts?"))},
	}
	for _, c := range agentLogs {
		one := course{name: "agent by " + string(c.decider), script: agenttest.Script(c.decider), req: asked(byAgent(c.agent, agenttest.Task))}
		if c.decider == agent.ByRules {
			one.under = "no model"
		}
		all = append(all, one)
	}
	return all
}

// callsThen is a model that makes calls of these tools, each once and in their
// order as far as it has them, and then answers.
func callsThen(tools ...string) llmtest.Script {
	args := map[string]map[string]any{
		"searchtoolstool": {"query": "weigh a parcel"}, "runcommandtool": {"reasoning": "look", "command": "ls"},
		"websearchtool": {"reasoning": "look", "query": "Aune spotted newt age"}, "agent_helper": {"task": "How old do newts get?"},
		"add_note_tool": {"text": "it is noted"},
	}
	return llmtest.Script{Rules: []llmtest.Rule{
		{Schema: "judgements", Reply: llmtest.JSON(map[string]any{"judgements": []any{}})},
		{Schema: "rewritten", Reply: llmtest.JSON(map[string]any{"answer": "It is 3 kg."})},
		{Reply: llmtest.Do(func(req *llmtest.Request) *llmtest.Reply {
			made := map[string]bool{}
			for _, m := range req.Messages {
				for _, c := range m.ToolCalls {
					made[c.Name] = true
				}
			}
			for _, name := range tools {
				if has := slices.ContainsFunc(req.Tools, func(t llm.Tool) bool { return t.Name == name }); has && !made[name] {
					return llmtest.CallTool(name, args[name])
				}
			}
			return finalReply("It is 3 kg.")
		})},
	}}
}

// play carries a course out and returns what is recorded of it.
func (c course) play(t *testing.T, a *around, disk store.Store) (*run.History, []run.PlacedEvent) {
	t.Helper()
	under := c.under
	if under == "" {
		under = "whole"
	}
	begun := a.settings(t)[under]
	if c.loop {
		begun = begun.with(looped)
	}
	e := begun.engine(t, disk)
	if c.before != nil {
		c.before(t, e, a)
	}
	id, _ := converse(t, e, c.req(a), agenttest.Reply)
	settled(t, e, id)
	h, log, err := e.past(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	want := c.status
	if want == "" {
		want = run.Done
	}
	if h.Record.Status != want {
		t.Fatalf("the run is %s: %+v", h.Record.Status, h.Record.Failure)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return h, log
}

// TestReplayNeedsNoConfiguration replays a run of each mode and decider under
// every other configuration: what comes out is what was recorded, and nobody is
// asked for anything.
func TestReplayNeedsNoConfiguration(t *testing.T) {
	for _, c := range courses() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := newAround(t, c.script)
			disk := &kept{memory.New(memory.Options{})}
			h, log := c.play(t, a, disk)
			if len(h.Entries) == 0 {
				t.Fatal("a run that recorded nothing is no test")
			}
			settings := a.settings(t)
			names := slices.Sorted(maps.Keys(settings))
			replay := func(name string) {
				e := settings[name].engine(t, disk)
				before := a.bothered()
				got, err := e.Replay(t.Context(), h.Record.ID)
				if err != nil {
					t.Errorf("%s: %v", name, err)
				} else if !sameEvents(t, got, log) {
					t.Errorf("%s: the replay differs", name)
				}
				if n := a.bothered() - before; n > 0 {
					t.Errorf("%s: the replay asked %d times for something", name, n)
				}
				_ = e.Close()
			}
			for _, name := range names {
				replay(name)
			}
			e := settings["whole"].engine(t, disk)
			list, err := e.Collections(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, gone := range list.Collections {
				if err := e.DeleteCollection(t.Context(), gone.Name); err != nil {
					t.Fatal(err)
				}
			}
			if c.name == "agent of a template" {
				if err := e.DeleteTemplate(t.Context(), "noter"); err != nil {
					t.Fatal(err)
				}
			}
			_ = e.Close()
			_ = os.RemoveAll(a.docs)
			replay("whole")
		})
	}
}

func sameEvents(t *testing.T, got []event.Event, log []run.PlacedEvent) bool {
	t.Helper()
	want := make([]event.Event, len(log))
	for i := range log {
		want[i] = log[i].Event
	}
	made, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(made, recorded)
}

// TestRunsGoOnWithWhatThereIs takes runs up after each of their entries under
// configurations that lack something which they began with, or have something
// which they began without. Each ends in an answer or fails with a reason, and
// what came of it can be replayed anywhere.
func TestRunsGoOnWithWhatThereIs(t *testing.T) {
	for _, c := range courses() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := newAround(t, c.script)
			disk := &kept{memory.New(memory.Options{})}
			h, log := c.play(t, a, disk)
			settings := a.settings(t)
			whole, nothing := settings["whole"].engine(t, disk), settings["nothing at all"].engine(t, disk)
			others := []string{"no model", "no engines", "nothing at all"}
			if c.under != "" {
				others = []string{"whole", "nothing at all"}
			}
			for _, name := range others {
				poor := settings[name].engine(t, disk)
				outcomes := map[string]int{}
				for n := 0; n <= len(h.Entries); n += max(1, c.every) {
					if n > 0 && (h.Entries[n-1].Kind == run.EntryCheck || h.Entries[n-1].Kind == run.EntrySteer) {
						continue // these are stored with what follows
					}
					id := cutRun(t, disk, h, log, n)
					if err := poor.work.Enqueue(t.Context(), id, dispatch.Resumed); err != nil {
						t.Fatal(err)
					}
					answering(t, poor, id)
					settled(t, poor, id)
					rec, err := poor.Get(t.Context(), id)
					if err != nil {
						t.Fatal(err)
					}
					switch {
					case rec.Status == run.Done:
						outcomes["done"]++
					case rec.Status == run.Failed && rec.Failure != nil && rec.Failure.Message != "" && rec.Failure.Code != "failed":
						outcomes[rec.Failure.Code]++
					default:
						t.Errorf("%s, from entry %d on: the run is %s: %+v", name, n, rec.Status, rec.Failure)
					}
					by := []*Engine{nothing, whole}[n%2]
					if _, err := by.Replay(t.Context(), id); err != nil {
						t.Errorf("%s, from entry %d on: %v", name, n, err)
					}
				}
				t.Logf("%s: %v", name, outcomes)
				_ = poor.Close()
			}
		})
	}
}

// Whoever takes a run up under other circumstances is told what has changed, once
// each time, and the run keeps to what it began with.
func TestChangedCircumstancesAreTold(t *testing.T) {
	a := newAround(t, llmtest.Script{Rules: longWebRuns[0].model.Rules()})
	disk := &kept{memory.New(memory.Options{})}
	c := course{under: "ranked", req: func(*around) Request { return onTheWeb("web_search", longWebRuns[0].question) }}
	h, log := c.play(t, a, disk)
	if told := changesIn(log); told != nil {
		t.Errorf("nothing has changed: %+v", told)
	}
	settings := a.settings(t)
	for name, want := range map[string][]event.Change{
		"ranked": nil,
		"other engines": {
			{What: "engines", Was: "searxng", Now: "arxiv, wikipedia"}, {What: "rerankers", Was: "endpoint"},
		},
		"nothing at all": {
			{What: "model", Of: "summarizer", Was: "scripted"}, {What: "model", Of: "verifier", Was: "scripted"}, {What: "model", Of: "writer", Was: "scripted"},
			{What: "engines", Was: "searxng"}, {What: "rerankers", Was: "endpoint"},
		},
	} {
		e := settings[name].engine(t, disk)
		id := cutRun(t, disk, h, log, 3)
		if err := e.work.Enqueue(t.Context(), id, dispatch.Resumed); err != nil {
			t.Fatal(err)
		}
		answering(t, e, id)
		settled(t, e, id)
		placed, err := disk.Events(t.Context(), id, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := changesIn(placed); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: told %+v, not %+v", name, got, want)
		}
	}
}

func changesIn(log []run.PlacedEvent) []event.Change {
	var out []event.Change
	for _, p := range log {
		if d, ok := p.Data.(event.Circumstances); ok {
			out = append(out, d.Changes...)
		}
	}
	return out
}

// A run that an earlier program began has recorded no circumstances: what there
// is counts, as it did then.
func TestRunsWithoutCircumstances(t *testing.T) {
	for _, c := range courses() {
		if !slices.Contains([]string{"web_search", "ranked web_search", "named engine", "tool of a server", "agent by rules", "agent with agents", "agent with a server"}, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := newAround(t, c.script)
			disk := &kept{memory.New(memory.Options{})}
			under := c.under
			if under == "" {
				under = "whole"
			}
			e := a.settings(t)[under].engine(t, disk)
			rec, err := e.record(t.Context(), c.req(a))
			if err != nil {
				t.Fatal(err)
			}
			var req map[string]json.RawMessage
			if err := json.Unmarshal(rec.Request, &req); err != nil {
				t.Fatal(err)
			}
			delete(req, "circumstances")
			if c.name == "tool of a server" {
				req["settings"] = json.RawMessage("{}")
			}
			if rec.Request, err = json.Marshal(req); err != nil {
				t.Fatal(err)
			}
			if err := disk.Create(t.Context(), rec, nil, nil); err != nil {
				t.Fatal(err)
			}
			if err := e.work.Enqueue(t.Context(), rec.ID, dispatch.Resumed); err != nil {
				t.Fatal(err)
			}
			answering(t, e, rec.ID)
			settled(t, e, rec.ID)
			h, log, err := e.past(t.Context(), rec.ID)
			if err != nil || h.Record.Status != run.Done || changesIn(log) != nil {
				t.Fatalf("%s %+v, %v, %v", h.Record.Status, h.Record.Failure, err, changesIn(log))
			}
			if _, err := e.Replay(t.Context(), rec.ID); err != nil {
				t.Error(err)
			}
		})
	}
}

// cutRun makes a copy of a run of which no more than the first entries are
// recorded, as if its worker had died then.
func cutRun(t *testing.T, disk store.Store, h *run.History, log []run.PlacedEvent, n int) string {
	t.Helper()
	rec := h.Record
	rec.ID = fmt.Sprintf("%s-cut-%d-%s", h.Record.ID, n, newID(time.Now()))
	if rec.Session == h.Record.ID {
		rec.Session = rec.ID
	}
	rec.Status, rec.Failure, rec.Owner, rec.Epoch, rec.LastSeq, rec.Spent, rec.Active = run.Queued, nil, "", 0, 0, run.Spent{}, 0
	entries := slices.Clone(h.Entries[:n])
	var last int64
	if n > 0 {
		last = entries[n-1].Seq
	}
	var events []run.PlacedEvent
	for _, p := range log {
		if p.Seq <= last && p.Place[0] != '@' {
			p.Run, p.Session, p.Seq = rec.ID, rec.Session, int64(len(events)+1)
			events = append(events, p)
		}
	}
	rename(events, rec.ID, rec.Agent)
	for i := range entries {
		entries[i].Seq = min(entries[i].Seq, int64(len(events)))
	}
	if err := disk.Create(t.Context(), rec, entries, events); err != nil {
		t.Fatal(err)
	}
	return rec.ID
}
