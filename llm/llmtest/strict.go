package llmtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"dossier/llm"
)

// notStrict are the keywords that the services refuse under strict: true.
var notStrict = map[string][]string{
	"openai":    {"default", "minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties", "patternProperties", "if", "then", "else", "not"},
	"anthropic": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "maxItems", "uniqueItems"},
}

// checkStrict holds the schemas that a call wants to be kept strictly to what
// the service takes.
func checkStrict(q *Request) *refusal {
	for i := range q.Tools {
		t := &q.Tools[i]
		if !t.Strict {
			continue
		}
		if err := strictSchema(t.Parameters, q.Dialect); err != nil {
			return &refusal{status: 400, code: "invalid_function_parameters", param: fmt.Sprintf("tools[%d].function.parameters", i),
				message: fmt.Sprintf("Invalid schema for function '%s': %v", t.Name, err)}
		}
	}
	if q.strictFormat && q.Format != nil && len(q.Format.Schema) > 0 {
		if err := strictSchema(q.Format.Schema, q.Dialect); err != nil {
			return &refusal{status: 400, code: "invalid_json_schema", param: "response_format", message: fmt.Sprintf("Invalid schema for response_format '%s': %v", q.Format.Name, err)}
		}
	}
	return nil
}

func strictSchema(raw json.RawMessage, dialect string) error {
	var root any
	if err := json.Unmarshal(raw, &root); err != nil {
		return err
	}
	return strictAt("()", root, notStrict[dialect])
}

// strictAt looks at a schema and those in it.
func strictAt(at string, v any, refused []string) error {
	s, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	for _, word := range refused {
		if _, has := s[word]; has {
			return fmt.Errorf("in context=%s, '%s' is not permitted", at, word)
		}
	}
	props, _ := s["properties"].(map[string]any)
	if len(props) > 0 || s["type"] == "object" {
		if s["additionalProperties"] != false {
			return fmt.Errorf("in context=%s, 'additionalProperties' is required to be supplied and to be false", at)
		}
		required, _ := s["required"].([]any)
		for name := range props {
			if !slices.Contains(required, any(name)) {
				return fmt.Errorf("in context=%s, 'required' is required to include every key in properties: '%s' is missing", at, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if err := strictAt(at+"."+name, props[name], refused); err != nil {
			return err
		}
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := s[word].([]any)
		for i, one := range list {
			if err := strictAt(fmt.Sprintf("%s.%s[%d]", at, word, i), one, refused); err != nil {
				return err
			}
		}
	}
	for _, word := range []string{"$defs", "definitions"} {
		defs, _ := s[word].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(defs)) {
			if err := strictAt(at+"."+name, defs[name], refused); err != nil {
				return err
			}
		}
	}
	return strictAt(at+"[]", s["items"], refused)
}

// strict offers tools and formats with everything that a schema of ours may
// have: services take fewer keywords under strict than there are.
func (s suite) strict(t *testing.T) {
	all := json.RawMessage(`{"type":"object","properties":{` +
		`"query":{"type":"string","minLength":1,"maxLength":200},"limit":{"type":"integer","minimum":1,"maximum":50,"default":10},` +
		`"kind":{"type":"string","enum":["a","b"],"default":"a"},"list":{"type":"array","items":{"type":"string"},"minItems":2,"maxItems":5}},` +
		`"required":["query","limit","kind","list"],"additionalProperties":false}`)
	open := json.RawMessage(`{"type":"object","properties":{"any":{"type":"object","additionalProperties":{"type":"string"}}},"required":["any"],"additionalProperties":false}`)
	srv, m := s.start(t, Script{Rules: []Rule{{Reply: Say(`{}`)}}})
	for name, tools := range map[string][]llm.Tool{
		"all": {{Name: "find", Description: "Finds.", Parameters: all, Strict: true}}, "open": {{Name: "keep", Parameters: open, Strict: true}}, "none": {{Name: "wait", Strict: true}},
	} {
		req := ask("q")
		req.Tools = tools
		if _, err := m.Stream(t.Context(), req, nil); err != nil {
			t.Errorf("tool, %s: %v", name, err)
		}
	}
	req := ask("q")
	req.Format = &llm.Format{Name: "found", Schema: all}
	if _, err := m.Stream(t.Context(), req, nil); err != nil && llm.KindOf(err) != llm.ErrBadRequest {
		t.Errorf("format: %v", err)
	}
	for _, c := range srv.Calls() {
		if c.Status != 200 {
			t.Errorf("the service refused what was sent: %+v", c)
		}
	}
}
