package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dossier/llm"
	"dossier/tool"
)

type query struct {
	Query string   `json:"query" min:"1" jsonschema:"what to look for"`
	Max   int      `json:"max_results" min:"1" max:"20" default:"5"`
	Sort  string   `json:"sort" enum:"new,best" default:"best"`
	Tags  []string `json:"tags,omitempty" max:"2"`
}

func echo(name string, kind tool.Kind) tool.Tool {
	return tool.New(tool.Spec{Name: name, Kind: kind}, func(_ context.Context, _ *tool.Call, in query) (tool.Result, error) { return tool.JSON(in) })
}

func TestArgumentsAreMadeToFit(t *testing.T) {
	schema := echo("t", "").Spec().Schema
	for _, test := range []struct{ said, want string }{
		{`{"query":"x"}`, `{"max_results":5,"query":"x","sort":"best"}`},
		{`{"query":"x","max_results":"7"}`, `{"max_results":7,"query":"x","sort":"best"}`},
		{`{"query":"x","maxResults":null,"sort":"NEW"}`, `{"max_results":5,"query":"x","sort":"new"}`},
		{`{"query":"x","tags":"a"}`, `{"max_results":5,"query":"x","sort":"best","tags":["a"]}`},
		{"```json\n{'query': 'x',}\n```", `{"max_results":5,"query":"x","sort":"best"}`},
	} {
		got, err := schema.Read(test.said)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %s, %v", test.said, got, err)
		}
	}
	for said, want := range map[string]string{
		`{}`:                                     "query",
		`{"query":""}`:                           "/query",
		`{"query":"x","max_results":21}`:         "/max_results",
		`{"query":"x","sort":"worst"}`:           "/sort",
		`{"query":"x","tags":["a","b","c"]}`:     "/tags",
		`no JSON at all`:                         "no JSON",
		`{"query":{"what":"x"},"max_results":1}`: "/query",
	} {
		if got, err := schema.Read(said); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", said, got, err)
		}
	}
}

func TestForeignSchema(t *testing.T) {
	s, err := llm.ParseSchema("theirs", json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"when":{"type":"string","default":"now"}},"required":["n"]}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Read(`{"n":"3","more":{"deep":[1]}}`)
	if err != nil || string(got) != `{"more":{"deep":[1]},"n":3,"when":"now"}` {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := llm.ParseSchema("broken", json.RawMessage(`{"type":"nothing"}`)); err == nil {
		t.Error("a broken schema was taken")
	}
}

func TestSet(t *testing.T) {
	s, err := tool.NewSet(echo("web_search_tool", ""), echo("finalanswertool", tool.Final))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"web_search_tool", "WebSearchTool", "websearchtool", "web-search-tool"} {
		if got, ok := s.Get(name); !ok || got.Spec().Name != "web_search_tool" {
			t.Errorf("%s was not found", name)
		}
	}
	if got := s.Names(); !slices.Equal(got, []string{"web_search_tool", "finalanswertool"}) {
		t.Errorf("%q", got)
	}
	if _, err := tool.NewSet(echo("a_b", ""), echo("AB", "")); err == nil {
		t.Error("two tools of one name were taken")
	}
}

// The limits that every agent has, and rules over any counter.
func TestRules(t *testing.T) {
	all := []tool.Tool{
		echo("reasoningtool", tool.Reasoning), echo("clarificationtool", tool.Clarify), echo("websearchtool", tool.Searching),
		echo("createreporttool", tool.Reporting), echo("finalanswertool", tool.Final), echo("notes", ""),
	}
	limits := tool.Limits(10, 4, 3)
	for name, test := range map[string]struct {
		state tool.State
		more  []tool.Rule
		want  string
	}{
		"at the start":         {tool.State{Iteration: 1}, nil, "reasoningtool clarificationtool websearchtool createreporttool finalanswertool notes"},
		"iterations used up":   {tool.State{Iteration: 10}, nil, "reasoningtool createreporttool finalanswertool"},
		"searches used up":     {tool.State{Searches: 4}, nil, "reasoningtool clarificationtool createreporttool finalanswertool notes"},
		"questions used up":    {tool.State{Clarifications: 3}, nil, "reasoningtool websearchtool createreporttool finalanswertool notes"},
		"a rule about a tool":  {tool.State{Calls: map[string]int{"notes": 2}}, []tool.Rule{{Counter: "Notes", AtLeast: 2, Drop: []string{"notes"}}}, "reasoningtool clarificationtool websearchtool createreporttool finalanswertool"},
		"a rule about sources": {tool.State{Sources: make([]tool.Source, 3)}, []tool.Rule{{Counter: "sources", AtLeast: 3, Only: []string{"report"}}}, "reasoningtool createreporttool finalanswertool"},
	} {
		var names []string
		for _, t := range tool.Available(append(slices.Clone(limits), test.more...), &test.state, all) {
			names = append(names, t.Spec().Name)
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, bad := range []tool.Rule{{}, {Counter: "searches"}, {Counter: "searches", Drop: []string{"a"}, Only: []string{"b"}}} {
		if bad.Validate() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// Whatever rules there are, thinking and ending stay, and the order is kept.
func TestAvailableKeepsOrderAndTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := []tool.Kind{"", tool.Searching, tool.Reporting, tool.Clarify, tool.Planning}
		var all []tool.Tool
		for i := range rapid.IntRange(0, 8).Draw(t, "tools") {
			all = append(all, echo("t"+string(rune('a'+i)), rapid.SampledFrom(kinds).Draw(t, "kind")))
		}
		all = append(all, echo("think", tool.Reasoning), echo("end", tool.Final))
		rules := rapid.SliceOf(rapid.Custom(func(t *rapid.T) tool.Rule {
			names := rapid.SliceOfN(rapid.SampledFrom([]string{"ta", "tb", "search", "report", "end", "think"}), 1, 3).Draw(t, "names")
			r := tool.Rule{Counter: rapid.SampledFrom([]string{"iteration", "searches", "ta"}).Draw(t, "counter"), AtLeast: rapid.IntRange(0, 3).Draw(t, "at")}
			if rapid.Bool().Draw(t, "only") {
				r.Only = names
			} else {
				r.Drop = names
			}
			return r
		})).Draw(t, "rules")
		state := &tool.State{Iteration: rapid.IntRange(0, 4).Draw(t, "iteration"), Searches: rapid.IntRange(0, 4).Draw(t, "searches")}
		left := tool.Available(rules, state, all)
		at := -1
		for _, l := range left {
			i := slices.Index(all, l)
			if i <= at {
				t.Fatalf("the order changed")
			}
			at = i
		}
		if !slices.Contains(left, all[len(all)-1]) || !slices.Contains(left, all[len(all)-2]) {
			t.Fatalf("the end is gone")
		}
	})
}

func TestStateChanges(t *testing.T) {
	var s tool.State
	s.Apply(tool.Change{Searches: 1, Sources: []tool.Source{{URL: "a", Title: "A"}, {URL: "b"}}})
	if n, known := s.Number("b", 0); n != 2 || !known {
		t.Errorf("b is %d, %v", n, known)
	}
	if n, known := s.Number("d", 1); n != 4 || known {
		t.Errorf("d is %d, %v", n, known)
	}
	s.Apply(tool.Change{Sources: []tool.Source{{URL: "a", Text: "blob", Letters: 3}, {URL: "c", Number: 77}}, Custom: map[string]json.RawMessage{"k": json.RawMessage("1")}, Found: []string{"x"}})
	s.Apply(tool.Change{Custom: map[string]json.RawMessage{"k": json.RawMessage("null"), "l": json.RawMessage("2")}, Found: []string{"x", "y"}})
	got, err := json.Marshal(s)
	const want = `{"state":"","iteration":0,"searches_used":1,"clarifications_used":0,"sources":[{"number":1,"title":"A","url":"a","text":"blob","letters":3},{"number":2,"url":"b"},{"number":3,"url":"c"}],"custom_context":{"l":2},"found_tools":["x","y"],"task":""}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

// A call that the run breaks off is the run's error and no result.
func TestInvokeStopsWithTheRun(t *testing.T) {
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	waits := tool.New(tool.Spec{Name: "waits"}, func(ctx context.Context, _ *tool.Call, _ struct{}) (tool.Result, error) {
		cancel(stop)
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	})
	if _, err := tool.Invoke(ctx, waits, &tool.Call{Args: json.RawMessage("{}")}, tool.Guard{}); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	quick := tool.New(tool.Spec{Name: "quick"}, func(context.Context, *tool.Call, struct{}) (tool.Result, error) {
		return tool.Result{Text: strings.Repeat("é", 10)}, nil
	})
	out, err := tool.Invoke(t.Context(), quick, &tool.Call{Args: json.RawMessage("{}")}, tool.Guard{MostText: 4, Timeout: time.Minute})
	if err != nil || out.Text != "éééé\n[cut: 6 more characters]" {
		t.Errorf("%q, %v", out.Text, err)
	}
}

// What an outcome writes of itself is what encoding/json would.
func TestOutcomeWritesItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := tool.Outcome{Result: tool.Result{Text: rapid.String().Draw(t, "text")}, Failed: rapid.Bool().Draw(t, "failed")}
		if rapid.Bool().Draw(t, "data") {
			o.Data = json.RawMessage(`{"a":[1,"x"]}`)
		}
		if rapid.Bool().Draw(t, "change") {
			o.Change = tool.Change{Searches: 1, Notes: []tool.Note{{Text: rapid.String().Draw(t, "note")}}}
		}
		own, err := o.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		var got tool.Outcome
		if err := json.Unmarshal(own, &got); err != nil {
			t.Fatalf("%s: %v", own, err)
		}
		if !reflect.DeepEqual(got, o) {
			t.Fatalf("%s is read as %+v instead of %+v", own, got, o)
		}
	})
}
