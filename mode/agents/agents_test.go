package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"dossier/agent"
	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/lang"
	"dossier/llm"
	"dossier/mode"
	"dossier/mode/agents"
	"dossier/run"
	"dossier/tool"
)

// model says one thing after another, and the last one for ever.
type model struct {
	says  []llm.Message
	asked []*llm.Request
}

func (m *model) Stream(_ context.Context, req *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
	if req.Format != nil {
		return nil, &llm.Error{Kind: llm.ErrUnreachable, Message: "the judge is out"}
	}
	m.asked = append(m.asked, req)
	said := m.says[min(len(m.asked), len(m.says))-1]
	said.Role = llm.RoleAssistant
	return &llm.Response{Model: "scripted", Message: said, Finish: llm.FinishStop}, nil
}

func call(name, args string) llm.Message {
	return llm.Message{ToolCalls: []llm.ToolCall{{Name: name, Arguments: args}}}
}

var (
	final = tool.New(tool.Spec{Name: "finalanswertool", Kind: tool.Final}, func(_ context.Context, _ *tool.Call, in struct {
		Answer string `json:"answer"`
		Status string `json:"status" enum:"completed,failed" default:"completed"`
	}) (tool.Result, error) {
		return tool.Result{Text: in.Answer, Change: tool.Change{Answer: &tool.Answer{Text: in.Answer, Status: tool.Status(in.Status)}}}, nil
	})
	ask = tool.New(tool.Spec{Name: "clarificationtool", Kind: tool.Clarify}, func(context.Context, *tool.Call, struct{}) (tool.Result, error) {
		return tool.Result{Text: "asked", Change: tool.Change{Ask: &run.Question{Questions: []string{"Which?"}}}}, nil
	})
)

// blobs are texts by name.
type blobs map[string]string

func (b blobs) PutBlob(context.Context, []byte) (string, error) {
	return "", errors.New("nothing is stored here")
}

func (b blobs) Blob(_ context.Context, name string) ([]byte, error) {
	text, ok := b[name]
	if !ok {
		return nil, errors.New("no such text")
	}
	return []byte(text), nil
}

type world struct {
	model *model
	blobs blobs
	// tools of the agent, when they are asked for the n-th time.
	tools func(n int) ([]tool.Tool, []string)
	refs  []agent.ToolRef
	// research agents cite.
	research bool
}

// work has the agent work on a question, answers what it asks, and replays it.
func (w *world) work(t *testing.T, question string, answers ...string) (mode.Answer, []event.Event) {
	t.Helper()
	store := memory.New(memory.Options{})
	settings, err := json.Marshal(agents.Settings{
		Member: agents.Member{Agent: agent.Definition{Name: "tester", Decider: agent.Native, Tools: w.refs, Research: w.research}}, Lang: lang.English,
	})
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	m := agents.New(agents.Parts{
		Tools: func(context.Context, agents.Member) ([]tool.Tool, []string, error) {
			taken++
			tools, trouble := w.tools(taken)
			return tools, trouble, nil
		},
		Builtin: func(agents.Member) ([]tool.Tool, error) {
			tools, _ := w.tools(1)
			return slices.DeleteFunc(slices.Clone(tools), func(t tool.Tool) bool { return t.Spec().Origin != tool.Builtin }), nil
		},
		Models: func(context.Context, agents.Member) *llm.Models {
			return &llm.Models{Roles: map[llm.RoleName]llm.Setting{llm.ForDefault: {Model: w.model, Name: "scripted", Endpoint: "test"}}}
		},
		Blobs: w.blobs,
	})
	var got mode.Answer
	program := func(ctx context.Context, s *run.Scope) (err error) {
		got, err = m.Run(ctx, s, mode.Request{Question: question, Settings: settings})
		return err
	}
	x := run.NewExecutor(run.ExecutorConfig{Journal: store, Owner: "test", Program: func(run.Record) (run.Func, run.Limits, error) {
		return program, run.Limits{}, nil
	}})
	defer x.Close()
	ctx := t.Context()
	if err := store.Create(ctx, run.Record{ID: "r1", Session: "r1", Mode: agents.Name, Created: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, nil, nil); err != nil {
		t.Fatal(err)
	}
	for {
		status, err := x.Execute(ctx, "r1")
		if err != nil {
			t.Fatal(err)
		}
		if status == run.Done {
			break
		}
		if status != run.Waiting || len(answers) == 0 {
			h, _ := store.History(ctx, "r1")
			t.Fatalf("the run is %s: %+v", status, h.Record.Failure)
		}
		if err := store.Answer(ctx, "r1", "", answers[0]); err != nil {
			t.Fatal(err)
		}
		answers = answers[1:]
	}
	answer := got
	h, err := store.History(ctx, "r1")
	if err != nil {
		t.Fatal(err)
	}
	placed, err := store.Events(ctx, "r1", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	asked := taken
	events, err := run.Replay(ctx, h, placed, program, run.Limits{})
	if err != nil {
		t.Fatalf("the replay: %v", err)
	}
	if taken != asked {
		t.Error("the replay asked servers for their tools")
	}
	first, _ := json.Marshal(answer)
	second, _ := json.Marshal(got)
	if string(first) != string(second) {
		t.Errorf("the replay came to\n%s instead of\n%s", second, first)
	}
	return answer, events
}

// An MCP server that is down when a run is taken up again changes nothing of
// what the run has done, and says so when it is called.
func TestToolsOutliveTheirServer(t *testing.T) {
	there := tool.New(tool.Spec{Name: "lookup", Origin: "mcp:there"}, func(context.Context, *tool.Call, struct {
		Query string `json:"query"`
	}) (tool.Result, error) {
		return tool.Result{Text: "it was there"}, nil
	})
	m := &model{says: []llm.Message{
		call("lookup", `{"query":"a"}`), call("clarificationtool", `{}`), call("lookup", `{"query":"b"}`), call("finalanswertool", `{"answer":"done"}`),
	}}
	w := &world{model: m, refs: []agent.ToolRef{{Name: "mcp:there"}}, tools: func(n int) ([]tool.Tool, []string) {
		if n == 1 {
			return []tool.Tool{there, ask, final}, nil
		}
		return []tool.Tool{ask, final}, []string{"the server there is down"}
	}}
	answer, events := w.work(t, "Is it there?", "yes")
	if answer.Text != "done" {
		t.Errorf("%+v", answer)
	}
	var results []string
	for _, m := range m.asked[3].Messages {
		if m.Name == "lookup" && m.Role == llm.RoleTool {
			results = append(results, m.Content)
		}
	}
	if len(results) != 2 || results[0] != "it was there" || !strings.Contains(results[1], "can't be reached now: the server there is down") {
		t.Errorf("%q", results)
	}
	started := 0
	for _, e := range events {
		switch e.Kind() {
		case event.KindAgentStarted:
			started++
		case event.KindRunError:
			t.Errorf("%+v", e.Data)
		}
	}
	if started != 1 {
		t.Errorf("the agent started %d times", started)
	}
}

const page = "The Aune spotted newt lives in cold pools. A newt of the Aune lives for up to 11 years, as counts of rings in bones show.\n\nIt eats larvae."

// gather finds and reads sources: the first is only found.
var gather = tool.New(tool.Spec{Name: "gather"}, func(context.Context, *tool.Call, struct{}) (tool.Result, error) {
	return tool.Result{Text: "read", Change: tool.Change{Sources: []tool.Source{
		{URL: "https://a.example/", Title: "Only found"}, {URL: "https://b.example/", Title: "Read", Text: "page", Letters: len(page)},
	}}}, nil
})

var report = tool.New(tool.Spec{Name: "createreporttool", Kind: tool.Reporting}, func(_ context.Context, _ *tool.Call, in struct {
	Content string `json:"content"`
}) (tool.Result, error) {
	return tool.Result{Text: "written", Change: tool.Change{Report: &tool.Report{Title: "Newts", Content: in.Content}}}, nil
})

// What is delivered says of each claim whether what was read bears it out.
func TestDelivery(t *testing.T) {
	const question = "How long does a newt of the Aune live?"
	for name, test := range map[string]struct {
		says       []llm.Message
		want, not  []string
		unanswered bool
	}{
		"a claim that was read": {
			says: []llm.Message{call("gather", `{}`), call("finalanswertool", `{"answer":"A newt of the Aune lives for up to 11 years [2]."}`)},
			want: []string{"up to 11 years [", "https://b.example/"}, not: []string{"⚠"},
		},
		"a source that was never read": {
			says: []llm.Message{call("gather", `{}`), call("finalanswertool", `{"answer":"A newt of the Aune lives for up to 99 years [1]."}`)},
			want: []string{"99 years"},
		},
		"a source that is not there": {
			says: []llm.Message{call("gather", `{}`), call("finalanswertool", `{"answer":"A newt of the Aune lives for up to 99 years [7]."}`)},
			want: []string{"99 years"}, not: []string{"[7]"},
		},
		"no sources, and citations all the same": {
			says: []llm.Message{call("finalanswertool", `{"answer":"A newt lives long [1][2]. See https://evil.example/x."}`)},
			want: []string{"A newt lives long."}, not: []string{"[1]", "evil.example"},
		},
		"a report without sources": {
			says: []llm.Message{call("createreporttool", `{"content":"All that is known."}`), call("finalanswertool", `{"answer":"In short."}`)},
			want: []string{"In short.", "All that is known."},
		},
		"no answer": {
			says: []llm.Message{call("gather", `{}`), call("finalanswertool", `{"answer":"Nothing was found.","status":"failed"}`)},
			want: []string{"Nothing was found."}, unanswered: true,
		},
		"a report and no final answer": {
			says: []llm.Message{call("gather", `{}`), call("createreporttool", `{"content":"A newt of the Aune lives for up to 11 years [2]."}`)},
			want: []string{"up to 11 years", "ended early"}, not: []string{"rules did"},
		},
		"a very long report": {
			says: []llm.Message{call("gather", `{}`), call("createreporttool", `{"content":"`+strings.Repeat("A newt of the Aune lives for up to 11 years [2]. ", 2000)+`"}`), call("finalanswertool", `{"answer":"See the report."}`)},
			want: []string{"up to 11 years"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{model: &model{says: test.says}, blobs: blobs{"page": page}, research: true, tools: func(int) ([]tool.Tool, []string) {
				return []tool.Tool{gather, report, final}, nil
			}}
			got, _ := w.work(t, question)
			if got.Unanswered != test.unanswered || got.Extractive || got.Model != "scripted" {
				t.Errorf("%+v", got)
			}
			for _, want := range test.want {
				if !strings.Contains(got.Text, want) {
					t.Errorf("no %q in %.3000s", want, got.Text)
				}
			}
			for _, not := range test.not {
				if strings.Contains(got.Text, not) {
					t.Errorf("%q in %.3000s", not, got.Text)
				}
			}
		})
	}
}
