package agui

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dossier/event"
	"dossier/reader"
	"dossier/run"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestMain makes the test binary the worker that parses documents.
func TestMain(m *testing.M) {
	reader.WorkerMain()
	os.Exit(m.Run())
}

// recordedLog is the log of a run that was recorded: agent is a research by an
// agent, team a deep research by several, clarify one that asks twice before it
// begins. Verdicts on citations are left out of the long ones.
func recordedLog(t testing.TB, name string) []event.Event {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var log []event.Event
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e event.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		log = append(log, e)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return log
}

// project is a log as the streams that a client gets who answers each question.
func project(log []event.Event) (streams [][]Event) {
	rec := run.Record{ID: log[0].Run, Session: log[0].Session, Status: run.Running, Created: log[0].Time}
	input := []any{map[string]string{"id": "u1", "role": "user", "content": "a question"}}
	begin := 0
	for begin < len(log) {
		p := NewProjection("thread", "run", input)
		for _, e := range log[:begin] {
			if !e.Transient() {
				p.Recall(e)
			}
		}
		out := p.Start(rec)
		for begin < len(log) && !p.Over {
			out = append(out, p.Next(log[begin])...)
			begin++
		}
		streams = append(streams, out)
	}
	return streams
}

// shortened is a value of JSON with its long texts cut.
func shortened(v any) any {
	switch v := v.(type) {
	case string:
		if r := []rune(v); len(r) > 60 {
			return string(r[:60]) + "…"
		}
	case []any:
		for i := range v {
			v[i] = shortened(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = shortened(v[key])
		}
		delete(v, "timestamp")
	}
	return v
}

func TestRecordedRuns(t *testing.T) {
	for _, name := range []string{"agent", "team", "clarify"} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			encode := json.NewEncoder(&b)
			encode.SetEscapeHTML(false)
			for i, stream := range project(recordedLog(t, name)) {
				if i > 0 {
					b.WriteString("\n")
				}
				for _, e := range stream {
					raw, err := json.Marshal(e)
					if err != nil {
						t.Fatal(err)
					}
					var v any
					if err := json.Unmarshal(raw, &v); err != nil {
						t.Fatal(err)
					}
					if err := encode.Encode(shortened(v)); err != nil {
						t.Fatal(err)
					}
				}
			}
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%s has changed: look at the difference after -update", path)
			}
		})
	}
}

// The answer that a client has put together is the one of the log, once, whether
// it saw the pieces or not.
func TestAnswerIsThereOnce(t *testing.T) {
	for _, name := range []string{"agent", "team", "clarify"} {
		log := recordedLog(t, name)
		var durable []event.Event
		var want string
		for _, e := range log {
			if m, ok := e.Data.(event.Message); ok && m.Role == "assistant" {
				want = m.Said()
			}
			if !e.Transient() {
				durable = append(durable, e)
			}
		}
		for how, log := range map[string][]event.Event{"live": log, "replayed": durable} {
			streams := project(log)
			texts := map[string]string{}
			for _, e := range streams[len(streams)-1] {
				switch e.Type {
				case TextContent:
					texts[e.MessageID] += e.Delta.(string)
				case MessagesSnapshot:
					clear(texts)
				}
			}
			if len(texts) != 1 {
				t.Errorf("%s %s: %d answers", name, how, len(texts))
			}
			for _, text := range texts {
				if strings.TrimSpace(text) != strings.TrimSpace(want) {
					t.Errorf("%s %s: the answer is %q", name, how, text)
				}
			}
		}
	}
}

// Every kind of event is told in some way.
func TestEveryKindIsTold(t *testing.T) {
	silent := map[event.Kind]bool{event.KindHeartbeat: true, event.KindUsage: true, event.KindClarifyAsked: true, event.KindClarifyAnswered: true}
	for _, kind := range event.Kinds() {
		raw := `{"text":"x","role":"assistant","name":"n","tool":"t","status":"running","number":1,"message":"m"}`
		d, err := event.DecodeData(kind, []byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		p := NewProjection("thread", "run", nil)
		p.Recall(event.Event{Run: "r", Data: event.SourceFound{Number: 1}})
		out := p.Next(event.Event{Run: "r", Agent: agentFor(kind), Data: d})
		if (len(out) == 0) != silent[kind] {
			t.Errorf("%s: %d events", kind, len(out))
		}
	}
}

// agentFor is where an event has to happen to be told.
func agentFor(k event.Kind) string {
	if k == event.KindAgentStarted || k == event.KindAgentFinished {
		return "helper"
	}
	return ""
}

func TestFailureSaysWhatToDo(t *testing.T) {
	p := NewProjection("thread", "run", nil)
	p.Next(event.Event{Run: "r", Data: event.RunError{Code: "no_model", Message: "there is no model", Hint: "connect one", Fatal: true}})
	out := p.Next(event.Event{Run: "r", Data: event.RunStatus{Status: string(run.Failed)}})
	end := out[len(out)-1]
	if end.Type != RunError || end.Message != "there is no model" || end.Code != "no_model" || end.Metadata == nil || end.Metadata.Hint != "connect one" || !p.Over {
		t.Errorf("%+v", end)
	}
}

// A client has the calls of all runs of a thread in one list: those of two runs
// have different ids, and each result finds its call.
func TestCallsOfTwoRunsAreApart(t *testing.T) {
	ids := map[string]bool{}
	for _, id := range []string{"r1", "r2"} {
		p := NewProjection("thread", "run", nil)
		for range 2 { // a call that has the id of one that is over
			begun := p.Next(event.Event{Run: id, Data: event.AgentAction{Tool: "t", CallID: "1-action", Arguments: []byte(`{}`)}})
			ended := p.Next(event.Event{Run: id, Data: event.AgentAction{Tool: "t", CallID: "1-action", Result: "done"}})
			if len(begun) != 3 || len(ended) != 1 || begun[0].ToolCallID != ended[0].ToolCallID {
				t.Fatalf("%+v %+v", begun, ended)
			}
			ids[begun[0].ToolCallID] = true
		}
	}
	if len(ids) != 4 {
		t.Errorf("%v", ids)
	}
}
