package agent

import (
	"context"
	"encoding/json"
	"testing"

	"dossier/llm"
	"dossier/tool"
)

// shaped is a tool with somebody else's schema.
type shaped struct{ spec tool.Spec }

func (s *shaped) Spec() *tool.Spec { return &s.spec }

func (s *shaped) Call(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{}, nil }

// The schema of a step that may call tools with definitions of their own is one
// whose references lead somewhere.
func TestNextStepSchemaKeepsReferences(t *testing.T) {
	var tools []tool.Tool
	for name, text := range map[string]string{
		"route": `{"type":"object","properties":{"from":{"$ref": "#/$defs/Place"},"to":{"$ref":"#/$defs/Place"}},"$defs":{"Place":{"type":"object","properties":{"at":{"$ref":"#/$defs/Point"}}},"Point":{"type":"number"}}}`,
		"visit": `{"type":"object","properties":{"where":{"$ref":"#/definitions/Place"}},"definitions":{"Place":{"type":"string"}}}`,
	} {
		schema, err := llm.ParseSchema(name, json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, &shaped{tool.Spec{Name: name, Schema: schema, Origin: "mcp:maps"}})
	}
	made, err := nextStepSchema(tools)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := llm.ParseSchema("whole", made.Strict)
	if err != nil {
		t.Fatalf("%v in %s", err, made.Strict)
	}
	step := `{"reasoning_steps":["a","b"],"current_situation":"c","plan_status":"p","enough_data":false,"remaining_steps":[],"task_completed":false,"function":`
	if _, err := whole.Read(step + `{"tool_name_discriminator":"route","from":{"at":1},"to":{"at":2}}}`); err != nil {
		t.Error(err)
	}
	if _, err := whole.Read(step + `{"tool_name_discriminator":"visit","where":{"at":"a place of the other tool"}}}`); err == nil {
		t.Error("the definitions of two tools are mixed up")
	}
}
