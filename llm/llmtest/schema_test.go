package llmtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

func validate(schema, instance string) error {
	s, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", s); err != nil {
		return err
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(instance))
	if err != nil {
		return err
	}
	return compiled.Validate(v)
}

var schemas = map[string]string{
	"answer": `{"type":"object","properties":{"reasoning":{"type":"string"},"answer":{"type":"string","minLength":200},
		"key_points":{"type":"array","items":{"type":"string"},"minItems":3,"maxItems":5}},
		"required":["reasoning","answer","key_points"],"additionalProperties":false}`,
	"enum and const": `{"type":"object","properties":{"kind":{"const":"plan"},"level":{"enum":["low","high"]},"n":{"enum":[3,4]}},"required":["kind","level","n"]}`,
	"refs": `{"$defs":{"step":{"type":"object","properties":{"title":{"type":"string","maxLength":5},"sub":{"type":"array","items":{"$ref":"#/$defs/step"}}},
		"required":["title","sub"],"additionalProperties":false}},"type":"object","properties":{"steps":{"type":"array","items":{"$ref":"#/$defs/step"},"minItems":2}},"required":["steps"]}`,
	"recursive optional": `{"$defs":{"node":{"type":"object","properties":{"left":{"$ref":"#/$defs/node"},"right":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}},
		"required":["right"]}},"$ref":"#/$defs/node"}`,
	"tagged union": `{"type":"object","properties":{"function":{"anyOf":[
		{"type":"object","properties":{"tool":{"const":"search"},"query":{"type":"string"}},"required":["tool","query"],"additionalProperties":false},
		{"type":"object","properties":{"tool":{"const":"finish"}},"required":["tool"],"additionalProperties":false}]}},"required":["function"]}`,
	"null first":    `{"oneOf":[{"type":"null"},{"type":"integer","minimum":4,"maximum":4}]}`,
	"nullable":      `{"type":["null","array"],"items":{"type":["null","number"]}}`,
	"numbers":       `{"type":"array","prefixItems":[{"type":"integer","exclusiveMinimum":10},{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":0.1},{"type":"integer","multipleOf":7,"minimum":8},{"type":"number","maximum":-2}],"minItems":4,"items":false}`,
	"unique":        `{"type":"array","items":{"enum":["a","b","c"]},"uniqueItems":true,"minItems":3}`,
	"unique few":    `{"type":"array","items":{"type":"boolean"},"uniqueItems":true}`,
	"all of":        `{"allOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},{"properties":{"b":{"type":"boolean"}},"required":["b"]}]}`,
	"pattern":       `{"type":"object","properties":{"id":{"type":"string","pattern":"^[a-z]{2}-\\d+$"},"code":{"type":"string","pattern":"^[A-Z]+$","minLength":5}},"required":["id","code"]}`,
	"formats":       `{"type":"array","prefixItems":[{"type":"string","format":"date"},{"type":"string","format":"date-time"},{"type":"string","format":"uri"},{"type":"string","format":"email"},{"type":"string","format":"uuid"},{"type":"string","format":"ipv4"}],"minItems":6}`,
	"open object":   `{"type":"object","additionalProperties":{"type":"integer"},"minProperties":2}`,
	"undeclared":    `{"type":"object","required":["x"],"additionalProperties":{"type":"number"}}`,
	"one at most":   `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["b"],"maxProperties":1}`,
	"few items":     `{"type":"array","items":{"type":"string"},"maxItems":1}`,
	"anything":      `{}`,
	"true":          `true`,
	"untyped":       `{"properties":{"x":{"minimum":3}},"required":["x"]}`,
	"pointer":       `{"type":"object","properties":{"a":{"type":"integer","minimum":9},"b":{"$ref":"#/properties/a"}},"required":["b"]}`,
	"union of refs": `{"$defs":{"a":{"type":"object","properties":{"x":{"$ref":"#/$defs/u"}},"required":["x"]},"u":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"string"}]}},"$ref":"#/$defs/u"}`,
}

func TestInstanceValidates(t *testing.T) {
	for name, schema := range schemas {
		t.Run(name, func(t *testing.T) {
			for _, question := range []string{"", "what is a fox?", "что такое лиса?", "狐狸是什么?", strings.Repeat("long ", 9999)} {
				got := string(instance(json.RawMessage(schema), question))
				if err := validate(schema, got); err != nil {
					t.Errorf("%s: %v", got, err)
				}
				if len(got) > 20000 {
					t.Errorf("an instance of %d bytes", len(got))
				}
			}
		})
	}
}

func TestInstanceKeepsOrderAndMeaning(t *testing.T) {
	got := string(instance(json.RawMessage(schemas["answer"]), "что такое лиса?"))
	if !strings.HasPrefix(got, `{"reasoning":"Тестовая`) || strings.Count(got, "что такое лиса?") < 5 {
		t.Errorf("instance %s", got)
	}
}

func TestViolationsViolate(t *testing.T) {
	for _, name := range []string{"answer", "enum and const", "refs", "tagged union", "nullable", "unique", "pattern", "open object"} {
		valid := string(instance(json.RawMessage(schemas[name]), "q"))
		wrong := violate(valid, json.RawMessage(schemas[name]))
		if !json.Valid([]byte(wrong)) {
			t.Errorf("%s: %s is no JSON", name, wrong)
		}
		if validate(schemas[name], wrong) == nil {
			t.Errorf("%s: %s does not violate the schema", name, wrong)
		}
	}
}

// schemaGen draws schemas of the kind that structured output uses.
func schemaGen(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		kinds := []string{"string", "bounded", "integer", "number", "boolean", "enum", "null"}
		if depth > 0 {
			kinds = append(kinds, "object", "object", "array", "anyOf", "nullable")
		}
		low := rapid.IntRange(-20, 20).Draw(t, "low")
		span := rapid.IntRange(1, 9).Draw(t, "span")
		switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
		case "bounded":
			return fmt.Sprintf(`{"type":"string","minLength":%d,"maxLength":%d}`, span, span+low+20)
		case "integer":
			return fmt.Sprintf(`{"type":"integer","minimum":%d,"exclusiveMaximum":%d}`, low, low+span)
		case "number":
			return fmt.Sprintf(`{"type":"number","exclusiveMinimum":%d,"maximum":%d}`, low, low+span)
		case "enum":
			return fmt.Sprintf(`{"enum":["a",%d,null]}`, low)
		case "object":
			var props, required []string
			for i := range span {
				props = append(props, fmt.Sprintf(`"p%d":%s`, i, schemaGen(depth-1).Draw(t, "property")))
				if rapid.Bool().Draw(t, "required") {
					required = append(required, fmt.Sprintf(`"p%d"`, i))
				}
			}
			return fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`,
				strings.Join(props, ","), strings.Join(required, ","))
		case "array":
			return fmt.Sprintf(`{"type":"array","items":%s,"minItems":%d,"maxItems":%d}`, schemaGen(depth-1).Draw(t, "items"), span%4, span)
		case "anyOf":
			return fmt.Sprintf(`{"anyOf":[%s,%s]}`, schemaGen(depth-1).Draw(t, "one"), schemaGen(depth-1).Draw(t, "other"))
		case "nullable":
			return fmt.Sprintf(`{"oneOf":[{"type":"null"},{"type":"array","items":%s}]}`, schemaGen(depth-1).Draw(t, "items"))
		default:
			return fmt.Sprintf(`{"type":%q}`, kind)
		}
	})
}

func TestInstanceValidatesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := schemaGen(3).Draw(t, "schema")
		got := string(instance(json.RawMessage(schema), rapid.String().Draw(t, "question")))
		if err := validate(schema, got); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
	})
}

func FuzzInstance(f *testing.F) {
	for _, s := range schemas {
		f.Add(s, "question")
	}
	f.Fuzz(func(t *testing.T, schema, question string) {
		if got := instance(json.RawMessage(schema), question); json.Valid([]byte(schema)) && !json.Valid(got) {
			t.Errorf("%s is no JSON", got)
		}
	})
}
