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
		now  []tool.Tool
		want string
	}{
		"as it was":             {[]tool.Tool{was}, "was"},
		"changed":               {[]tool.Tool{is}, "is"},
		"gone":                  {nil, "can't be reached now"},
		"another server's":      {[]tool.Tool{other}, "can't be reached now"},
		"among others, as ever": {[]tool.Tool{other, was}, "was"},
	} {
		dealt, err := tool.Dealt(cards, test.now)
		if err != nil || len(dealt) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		s := dealt[0].Spec()
		if s.Name != "lookup" || s.Description != "Looks <up>." || s.Origin != "mcp:there" {
			t.Errorf("%s: %+v", name, s)
		}
		args, err := s.Schema.Read(`{"query":"q"}`)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		out, err := tool.Invoke(t.Context(), dealt[0], &tool.Call{Args: args, State: &tool.State{}}, tool.Guard{})
		if err != nil || !strings.Contains(out.Text, test.want) {
			t.Errorf("%s: %q %v", name, out.Text, err)
		}
	}
}
