package event_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"dossier/event"
)

var update = flag.Bool("update", false, "rewrite golden files")

// every holds one filled value of each kind.
var every = []event.Data{
	event.RunStatus{Status: "running", Reason: "resumed"},
	event.RunReopened{Steps: []string{"search"}, Void: [][2]int64{{7, 9}}, Raised: []string{"tokens"}},
	event.RunError{Code: "unreachable", Message: "no route", Hint: "check the address", Step: "answer", Fatal: true},
	event.ClarifyAsked{ID: "?1", Questions: []string{"Which year?"}, Options: []string{"2025", "2026"}, Reason: "ambiguous", Iteration: 2},
	event.ClarifyAnswered{ID: "?1", Answer: "2026"},
	event.BudgetWarning{What: "tokens", Limit: 1000, Spent: 812},
	event.Usage{Role: "chat", Model: "m", Input: 12, Output: 5, Cost: 0.001},
	event.ModelFailed{Role: "writer", Model: "m", Code: "server", Message: "HTTP 500", Attempt: 1, Then: "repeated", Wait: 0.5},
	event.ModelWaiting{Role: "writer", Model: "m", Code: "server", Message: "HTTP 500", Attempt: 1, Wait: 0.5},
	event.Heartbeat{},
	event.Progress{What: "reading", Done: 3, Total: 12, Note: "docs/events.md"},
	event.Circumstances{Changes: []event.Change{{What: "model", Of: "writer", Was: "m"}}},
	event.PlanUpdated{Title: "план", Steps: []event.PlanStep{{Title: "первый", State: "done", Queries: []string{"q"}}}},
	event.AgentStarted{Name: "agent-1", Role: "historian", Task: "find", ID: "a_00000000-0000-4000-8000-000000000000"},
	event.AgentFinished{Name: "agent-1", Outcome: "done", Summary: "found"},
	event.AgentAction{Tool: "websearchtool", CallID: "c1", Arguments: json.RawMessage(`{"query":"x"}`), Result: "ok", Iteration: 1},
	event.AgentReasoning{
		Text: "think", Steps: []string{"a"}, Iteration: 1,
		Reasoning: &event.Reasoning{Steps: []string{"a"}, Situation: "think", PlanStatus: "begun", Enough: true, Remaining: []string{"b"}, Completed: true},
	},
	event.AgentReflected{Text: "enough", Sufficient: true, Score: 8},
	event.AgentRefined{Round: 1, Coverage: 0.5, Threshold: 0.8, Missing: []string{"when"}, TopBM25: 100, Limit: 20, Iteration: 1},
	event.AgentAnswered{
		Coverage: 1, CitationCoverage: 0.5, Refinements: 1, Confidence: 0.4, By: "model", Iteration: 3,
		Verification: &event.Verification{Claims: 2, Verified: 1, Flagged: 1, Rewritten: true},
	},
	event.TodoUpdated{ID: "t1", Agent: "agent-1", Title: "look", State: "done"},
	event.NoteAdded{ID: "n1", Agent: "agent-1", Text: "注意", Sources: []int{1, 2}},
	event.SupervisorDecision{Decision: "continue", Reason: "gaps", Tasks: []string{"t"}},
	event.FindingCompressed{Before: 9, After: 3},
	event.SearchStarted{Query: "q", Engine: "searxng", Round: 1},
	event.SearchResults{Query: "q", Found: 8, New: 5},
	event.SearchRound{Round: 1, Decision: "continue", Reason: "a date is missing", Queries: []string{"q"}},
	event.SourceFound{Number: 1, Title: "T", URL: "https://example.org/"},
	event.SourceRead{Number: 1, URL: "https://example.org/", Hash: "sha256-00", Words: 10},
	event.SourceFailed{URL: "https://example.org/", Reason: "404"},
	event.AnswerDelta{Text: "he", At: 3, Ready: true},
	event.Message{
		Role: "assistant", Text: "# Q\n\nhello [1]", KeyPoints: []string{"k"}, Model: "m", Answer: "hello [1]",
		Citations: []event.Citation{{Number: 1, URL: "https://example.org/", Title: "T", Start: 6, End: 9, Quote: "hello"}},
	},
	event.ReportSection{Index: 1, Title: "S", Text: "body"},
	event.ReportDelta{Section: 1, Text: "b"},
	event.ReportReset{Reason: "rewrite"},
	event.CitationVerified{Claim: "c", Sources: []int{1}, Verdict: "supported", Score: 0.9},
	event.Coverage{Of: "claims", Covered: 4, Total: 5, Share: 0.8},
	event.ExportReady{Format: "pdf", Hash: "sha256-00", Bytes: 9},
	event.ReportEdited{Change: "edit", Part: "1", Before: "old", After: "new", Hash: "sha256-x", Bytes: 3, Answer: "new [?]", Edits: 1, Unchecked: 1},
	event.FollowUps{Questions: []string{"and?"}},
	event.ConsoleLine{Step: "exec", Text: "Хайку: a | b | c", Role: "reply", Kept: true},
}

// declaredKinds reads the constants of the package's source.
func declaredKinds(t *testing.T) []event.Kind {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "kinds.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []event.Kind
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 && strings.HasPrefix(v.Names[0].Name, "Kind") {
			if s, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value); err == nil {
				kinds = append(kinds, event.Kind(s))
			}
		}
		return true
	})
	return kinds
}

func TestEveryDeclaredKindRoundTrips(t *testing.T) {
	seen := map[event.Kind]bool{}
	for _, d := range every {
		seen[d.Kind()] = true
		in := event.Event{Run: "r1", Session: "s1", Seq: 7, Time: time.Date(2026, 11, 15, 2, 3, 4, 5000, time.UTC), Agent: "a/b", Data: d}
		if in.Transient() {
			in.Seq = 0
		}
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatalf("%s: %v", d.Kind(), err)
		}
		var out event.Event
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatalf("%s: %v", d.Kind(), err)
		}
		if !reflect.DeepEqual(in, out) {
			t.Errorf("%s: in %+v, out %+v", d.Kind(), in, out)
		}
		if _, unknown := out.Data.(event.Unknown); unknown {
			t.Errorf("%s is in no decoder table", d.Kind())
		}
	}
	for _, k := range declaredKinds(t) {
		if !seen[k] {
			t.Errorf("kind %s has no value in this test", k)
		}
	}
}

func TestUnknownKindSurvives(t *testing.T) {
	raw := []byte(`{"v":1,"run":"r","seq":3,"time":"2026-11-15T00:00:00Z","kind":"moon.landed","data":{"z":1,"a":[true,null]}}`)
	var e event.Event
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	if e.Kind() != "moon.landed" {
		t.Fatalf("kind %q", e.Kind())
	}
	again, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(raw, again) {
		t.Errorf("got  %s\nwant %s", again, raw)
	}
}

func TestNewerVersionIsRefused(t *testing.T) {
	var e event.Event
	err := json.Unmarshal([]byte(`{"v":2,"run":"r","time":"2026-11-15T00:00:00Z","kind":"heartbeat","data":{}}`), &e)
	if err == nil || !strings.Contains(err.Error(), "upgrade") {
		t.Fatalf("err = %v", err)
	}
}

// TestSchema holds the published JSON schema against the Go types.
func TestSchema(t *testing.T) {
	defs := map[string]*jsonschema.Schema{}
	var variants []*jsonschema.Schema
	for _, d := range every {
		s, err := jsonschema.ForType(reflect.TypeOf(d), &jsonschema.ForOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s.AdditionalProperties = nil // readers accept new optional fields
		defs[string(d.Kind())] = s
		variants = append(variants, &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{
			"kind": {Const: jsonschema.Ptr[any](string(d.Kind()))},
			"data": {Ref: "#/$defs/" + string(d.Kind())},
		}})
	}
	slices.SortFunc(variants, func(a, b *jsonschema.Schema) int {
		return strings.Compare((*a.Properties["kind"].Const).(string), (*b.Properties["kind"].Const).(string))
	})
	schema := &jsonschema.Schema{
		Schema: "https://json-schema.org/draft/2020-12/schema",
		Title:  "Dossier event, version " + strconv.Itoa(event.Version),
		Type:   "object",
		Properties: map[string]*jsonschema.Schema{
			"v":       {Type: "integer", Const: jsonschema.Ptr[any](event.Version)},
			"run":     {Type: "string"},
			"session": {Type: "string"},
			"seq":     {Type: "integer", Description: "gap-free per run from 1; absent on transient events"},
			"time":    {Type: "string", Format: "date-time"},
			"agent":   {Type: "string"},
			"kind":    {Type: "string"},
			"data":    {Type: "object"},
		},
		Required: []string{"v", "run", "time", "kind", "data"},
		AnyOf:    append(variants, &jsonschema.Schema{Description: "a kind of a newer or foreign program; keep it as it is"}),
		Defs:     defs,
	}
	got, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	const golden = "../docs/events.schema.json"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the types say: run `go test ./event -update`, and raise Version if a reader could misunderstand the change", golden)
	}
}

func FuzzEvent(f *testing.F) {
	for _, d := range every {
		raw, err := json.Marshal(event.Event{Run: "r", Seq: 1, Data: d})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"v":1,"kind":"x","data":[1,{"a":"\ud800"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var e event.Event
		if json.Unmarshal(raw, &e) != nil {
			return
		}
		once, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("decoded but not encoded: %v", err)
		}
		var back event.Event
		if err := json.Unmarshal(once, &back); err != nil {
			t.Fatalf("own encoding not decoded: %v\n%s", err, once)
		}
		twice, err := json.Marshal(back)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once, twice) {
			t.Fatalf("not stable:\n%s\n%s", once, twice)
		}
	})
}

// TestEarlier says which fields were not there when the first logs were written:
// logs without them are read, and replayed.
func TestEarlier(t *testing.T) {
	later := map[event.Kind][]string{
		event.KindClarifyAsked: {"iteration"}, event.KindAgentStarted: {"id"}, event.KindAgentAction: {"iteration"},
		event.KindAgentReasoning: {"iteration", "reasoning"}, event.KindMessage: {"answer", "citations"},
	}
	fields := func(d event.Data) map[string]json.RawMessage {
		raw, err := event.EncodeData(d)
		if err != nil {
			t.Fatal(err)
		}
		var out map[string]json.RawMessage
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, d := range every {
		now, then := fields(d), fields(event.Earlier(d))
		for _, name := range later[d.Kind()] {
			if now[name] == nil {
				t.Errorf("%s: the sample has no %s", d.Kind(), name)
			}
			delete(now, name)
		}
		if !reflect.DeepEqual(now, then) {
			t.Errorf("%s was %s, want %s", d.Kind(), then, now)
		}
	}
}

func TestSaid(t *testing.T) {
	if said := (event.Message{Text: "# T\n\na [1]", Answer: "a [1]"}).Said(); said != "a [1]" {
		t.Errorf("of a report: %q", said)
	}
	if said := (event.Message{Text: "hello"}).Said(); said != "hello" {
		t.Errorf("of a conversation: %q", said)
	}
}
