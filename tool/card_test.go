package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"dossier/tool"
)

// A card that went through a journal deals the tool that is there, under the
// schema that was recorded, or one that says that it is gone.
func TestDealt(t *testing.T) {
	type before struct {
		Query string `json:"query"`
	}
	type after struct {
		Text string `json:"text"`
	}
	spec := tool.Spec{Name: "lookup", Description: "Looks <up>.", Origin: "mcp:there"}
	was := tool.New(spec, func(context.Context, *tool.Call, before) (tool.Result, error) { return tool.Result{Text: "was"}, nil })
	is := tool.New(spec, func(context.Context, *tool.Call, after) (tool.Result, error) { return tool.Result{Text: "is"}, nil })
	spec.Origin = "mcp:elsewhere"
	other := tool.New(spec, func(context.Context, *tool.Call, before) (tool.Result, error) { return tool.Result{Text: "other"}, nil })

	raw, err := json.Marshal(tool.Cards([]tool.Tool{was}))
	if err != nil {
		t.Fatal(err)
	}
	var cards []tool.Card
	if err := json.Unmarshal(raw, &cards); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		now  []tool.Tool // at hand, or found when it is called
		want string
	}{
		"as it was":             {[]tool.Tool{was}, "was"},
		"changed":               {[]tool.Tool{is}, "is"},
		"gone":                  {nil, "can't be reached now"},
		"another server's":      {[]tool.Tool{other}, "can't be reached now"},
		"among others, as ever": {[]tool.Tool{other, was}, "was"},
	} {
		dealt, err := tool.Dealt(t.Context(), cards, test.now, nil)
		if err != nil || len(dealt) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		later, err := tool.Dealt(t.Context(), cards, nil, func(_ context.Context, c tool.Card) (tool.Tool, error) { return c.Among(test.now), nil })
		if err != nil || len(later) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		for _, got := range append(dealt, later...) {
			s := got.Spec()
			if s.Name != "lookup" || s.Description != "Looks <up>." || s.Origin != "mcp:there" {
				t.Errorf("%s: %+v", name, s)
			}
			args, err := s.Schema.Read(`{"query":"q"}`)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			out, err := tool.Invoke(t.Context(), got, &tool.Call{Args: args, State: &tool.State{}}, tool.Guard{})
			if err != nil || !strings.Contains(out.Text, test.want) {
				t.Errorf("%s: %q %v", name, out.Text, err)
			}
		}
	}
}

// A card holds arguments to what the tool did, also where models are shown more:
// what was accepted once is accepted when the tool is gone.
func TestCardsReadAsTheirToolsDid(t *testing.T) {
	type args struct {
		Text  string `json:"text" min:"1"`
		Task  string `json:"task,omitempty"`
		Limit int    `json:"limit" default:"5" min:"1" max:"9"`
	}
	live := tool.New(tool.Spec{Name: "ask", Origin: "a2a:there"}, func(context.Context, *tool.Call, args) (tool.Result, error) { return tool.Result{}, nil })
	raw, err := json.Marshal(tool.Cards([]tool.Tool{live}))
	if err != nil {
		t.Fatal(err)
	}
	var cards []tool.Card
	if err := json.Unmarshal(raw, &cards); err != nil {
		t.Fatal(err)
	}
	dealt, err := tool.Dealt(t.Context(), cards, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if was, is := live.Spec().Schema.Strict, dealt[0].Spec().Schema.Strict; string(was) != string(is) {
		t.Errorf("models are shown %s, not %s", is, was)
	}
	for _, text := range []string{`{"text":"a"}`, `{"text":"a","limit":"7","task":null}`, `{"text":"a","limit":70}`, `{"text":""}`, `{"limit":3}`, `text: a`, `{"text":"a","more":1}`} {
		was, failed := live.Spec().Schema.Read(text)
		is, fails := dealt[0].Spec().Schema.Read(text)
		if string(was) != string(is) || (failed == nil) != (fails == nil) || failed != nil && failed.Error() != fails.Error() {
			t.Errorf("%s is read as %s (%v), not as %s (%v)", text, is, fails, was, failed)
		}
	}
	// A card of an earlier program, which recorded only what models are shown, has
	// its tool say.
	cards[0].Checked = nil
	old, err := tool.Dealt(t.Context(), cards, nil, func(_ context.Context, c tool.Card) (tool.Tool, error) { return c.Among([]tool.Tool{live}), nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old[0].Spec().Schema.Read(`{"text":"a"}`); err != nil {
		t.Error(err)
	}
}
