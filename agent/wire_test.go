package agent

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dossier/tool"
)

// reasoningFields are those that clients know, of the reasoning tool and of
// every reply that reasons: type, bounds and default.
var reasoningFields = map[string]string{
	"reasoning_steps": "array 2..3", "current_situation": "string ..300", "plan_status": "string ..150",
	"enough_data": "boolean =false", "remaining_steps": "array ..3", "task_completed": "boolean",
}

type property struct {
	Type      any             `json:"type"`
	Const     string          `json:"const"`
	Default   json.RawMessage `json:"default"`
	MinItems  *int            `json:"minItems"`
	MaxItems  *int            `json:"maxItems"`
	MaxLength *int            `json:"maxLength"`
	AnyOf     []struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	} `json:"anyOf"`
}

func (p property) String() string {
	said, _ := p.Type.(string)
	bounds := ""
	switch {
	case p.MinItems != nil && p.MaxItems != nil:
		bounds = " " + strconv.Itoa(*p.MinItems) + ".." + strconv.Itoa(*p.MaxItems)
	case p.MaxItems != nil:
		bounds = " .." + strconv.Itoa(*p.MaxItems)
	case p.MaxLength != nil:
		bounds = " .." + strconv.Itoa(*p.MaxLength)
	}
	if p.Default != nil {
		bounds += " =" + string(p.Default)
	}
	return said + bounds
}

// The reply that SGR asks for has the reasoning's fields and a function, which is
// one of the tools with its name among its fields.
func TestNextStepSchema(t *testing.T) {
	type query struct {
		Query string `json:"query"`
	}
	nothing := func(context.Context, *tool.Call, query) (tool.Result, error) { return tool.Result{}, nil }
	tools := []tool.Tool{
		thinking(), tool.New(tool.Spec{Name: "websearchtool"}, nothing), tool.New(tool.Spec{Name: "finalanswertool", Kind: tool.Final}, nothing),
	}
	made, err := nextStepSchema(tools)
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	if err := json.Unmarshal(made.Strict, &schema); err != nil {
		t.Fatal(err)
	}
	function := schema.Properties["function"]
	delete(schema.Properties, "function")
	compare(t, schema.Properties)
	if !slices.Contains(schema.Required, "function") || len(schema.Required) != len(reasoningFields)+1 {
		t.Errorf("required: %q", schema.Required)
	}
	var names []string
	for _, one := range function.AnyOf {
		name := one.Properties["tool_name_discriminator"].Const
		names = append(names, name)
		if one.Properties["query"].String() != "string" || !slices.Equal(one.Required, []string{"tool_name_discriminator", "query"}) {
			t.Errorf("%s: %+v", name, one)
		}
	}
	if got := strings.Join(names, " "); got != "websearchtool finalanswertool" {
		t.Errorf("the function is one of %s", got)
	}
}

// The reasoning tool has the fields that clients know.
func TestReasoningSchema(t *testing.T) {
	var schema struct {
		Properties map[string]property `json:"properties"`
	}
	if err := json.Unmarshal(thinking().Spec().Schema.Strict, &schema); err != nil {
		t.Fatal(err)
	}
	compare(t, schema.Properties)
}

// The selector asks in text for the reasoning's fields and the name of a tool.
func TestSelectorNamesItsFields(t *testing.T) {
	asked := ironChoice(nil)
	_, form, _ := strings.Cut(asked, "\n{")
	var fields map[string]any
	if err := json.Unmarshal([]byte("{"+form), &fields); err != nil {
		t.Fatal(err)
	}
	want := append(slices.Sorted(maps.Keys(reasoningFields)), "function_name_choice")
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(fields)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func compare(t *testing.T, got map[string]property) {
	t.Helper()
	for name, want := range reasoningFields {
		if said := got[name].String(); said != want {
			t.Errorf("%s: %s, want %s", name, said, want)
		}
	}
	if len(got) != len(reasoningFields) {
		t.Errorf("%d fields", len(got))
	}
}
