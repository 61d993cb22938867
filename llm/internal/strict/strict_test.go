package strict

import "testing"

func TestFit(t *testing.T) {
	mode := NewMode("default", "minLength")
	for _, c := range []struct {
		name, schema, want string
		ok                 bool
	}{
		{"plain", `{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer","minimum":1}},"required":["b","a"],"additionalProperties":false}`,
			`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer","minimum":1}},"required":["b","a"],"additionalProperties":false}`, true},
		{"default", `{"type":"object","properties":{"n":{"type":"integer","description":"how many","default":5},"kind":{"type":"string","enum":["a","b"],"default":"a"}},"required":["n","kind"],"additionalProperties":false}`,
			`{"type":"object","properties":{"n":{"type":["integer","null"],"description":"how many (default: 5)"},"kind":{"type":["string","null"],"enum":["a","b",null],"description":"default: \"a\""}},"required":["n","kind"],"additionalProperties":false}`, true},
		{"a field of that name", `{"type":"object","properties":{"default":{"type":"string","minLength":2}},"required":["default"],"additionalProperties":false}`,
			`{"type":"object","properties":{"default":{"type":"string"}},"required":["default"],"additionalProperties":false}`, true},
		{"inside", `{"type":"object","properties":{"l":{"type":"array","items":{"anyOf":[{"type":"string","minLength":1},{"type":"null"}]}}},"required":["l"],"additionalProperties":false}`,
			`{"type":"object","properties":{"l":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"null"}]}}},"required":["l"],"additionalProperties":false}`, true},
		{"closed in other words", `{"type":"object","properties":{},"additionalProperties":{"not":{}}}`, `{"type":"object","properties":{},"additionalProperties":false}`, true},
		{"open", `{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}`, "", false},
		{"optional", `{"type":"object","properties":{"x":{"type":"string","default":"a"}},"additionalProperties":false}`, "", false},
		{"open inside", `{"type":"object","properties":{"x":{"type":"object","additionalProperties":{"type":"string"}}},"required":["x"],"additionalProperties":false}`, "", false},
		{"no JSON", `{"type":`, "", false},
		{"none", ``, "", false},
	} {
		for range 2 { // the second is remembered
			got, ok := mode.Fit([]byte(c.schema))
			want := c.want
			if !c.ok {
				want = c.schema
			}
			if ok != c.ok || string(got) != want {
				t.Errorf("%s: %v\n%s\nwant\n%s", c.name, ok, got, want)
			}
		}
	}
}
