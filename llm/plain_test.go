package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type plainSample struct {
	Query  string   `json:"query" min:"1" max:"12"`
	Limit  int      `json:"limit" default:"5" min:"1" max:"10"`
	Kind   string   `json:"kind" enum:"web,news_wire,papers"`
	Since  string   `json:"since,omitempty" enum:"day,week"`
	Weight float64  `json:"weight,omitempty"`
	Share  float64  `json:"share" min:"0" max:"1" default:"0.5"`
	Deep   bool     `json:"deep" default:"false"`
	Sites  []string `json:"sites" max:"2"`
	Inner  *struct {
		A int   `json:"a"`
		B []int `json:"b,omitempty"`
	} `json:"inner,omitempty"`
}

type plainPair struct {
	B int `json:"b"`
	A int `json:"a"`
}

// plainSchemas are those that the reading in one pass is held against.
func plainSchemas(t testing.TB) []*Schema {
	t.Helper()
	var all []*Schema
	add := func(s *Schema, err error) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	add(SchemaOf[plainPair]())
	add(SchemaOf[plainSample]())
	add(SchemaOf[struct{}]())
	for _, raw := range []string{
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string","examples":["x"]},"c":{"type":["number","null"],"minimum":-1.5}},"required":["a"],"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"type":"object","properties":{"a":{"type":"boolean"},"limit":{"type":"integer","default":3}}},"b":{"type":"array","items":{"type":["integer","null"]},"minItems":1}}}`,
		`{"type":["object","null"],"properties":{"a":{"type":"number"},"query":{"type":["string","null"],"enum":["web","day"]}}}`,
	} {
		add(ParseSchema("parsed", json.RawMessage(raw)))
	}
	for _, s := range all {
		if s.plain == nil {
			t.Fatalf("%s has no plain form", s.Strict)
		}
	}
	return all
}

// same fails unless reading in one pass comes to what mending comes to, or to
// nothing.
func same(t interface{ Fatalf(string, ...any) }, s *Schema, text string) (taken bool) {
	got, ok := s.plain.read(text)
	if !ok {
		return false
	}
	want, err := s.mend(text)
	if err != nil {
		t.Fatalf("%q was read as %s, and is wrong: %v", text, got, err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%q was read as %s instead of %s", text, got, want)
	}
	return true
}

// jsonText draws what a model may write: mostly JSON with the names and values
// that the schemas know, in any order and spacing.
func jsonText(t *rapid.T, depth int) string {
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n\t"})
	atom := rapid.SampledFrom([]string{
		"0", "1", "5", "-1", "-0", "01", "10", "11", "1.0", "0.25", "-1.50", "1e2", "2.", "123456789012345", "1234567890123456789",
		"true", "false", "null", `""`, `"x"`, `"web"`, `"news_wire"`, `"News Wire"`, `"day"`, `"12"`, `"a\nb"`, `"\u0041"`, `"a\/b"`, `"<b>"`,
		`"\"q\""`, `"\\"`, `"\b\f\r\t"`, `"ёж"`, "\"\u2028\"", "\"\xff\"", `"\ud800"`, "\"\x7f\"", "\"\x01\"", `"abcdefghijklm"`, "[]", "{}",
	})
	names := rapid.SampledFrom([]string{"a", "b", "c", "query", "limit", "kind", "since", "weight", "share", "deep", "sites", "inner", "Query", "other", `\u0061`})
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		return atom.Draw(t, "atom")
	}
	open, end, object := "[", "]", rapid.Bool().Draw(t, "object")
	if object {
		open, end = "{", "}"
	}
	var parts []string
	for range rapid.IntRange(0, 9).Draw(t, "n") {
		part := space.Draw(t, "s") + jsonText(t, depth-1) + space.Draw(t, "s")
		if object {
			part = space.Draw(t, "s") + `"` + names.Draw(t, "name") + `"` + space.Draw(t, "s") + ":" + part
		}
		parts = append(parts, part)
	}
	return open + strings.Join(parts, ",") + space.Draw(t, "s") + end
}

// fitting draws JSON that mostly fits the sample.
func fitting(t *rapid.T) string {
	values := map[string][]string{
		"query": {`"x"`, `"ёж \"a\""`, `"a\nb"`, `""`, `"<"`}, "limit": {"7", "1", "10", "11", "null", `"3"`}, "kind": {`"web"`, `"papers"`, `"Web"`},
		"since": {`"day"`, "null"}, "weight": {"0.5", "3", "1e3", "null"}, "share": {"0.25", "1", "0", "0.99999999999999999999", "2"}, "deep": {"true", "false", "null"},
		"sites": {"[]", `["a"]`, `["a" , "b"]`, `["a","b","c"]`, "null"}, "inner": {`{"a":1}`, `{"b":[1,2],"a":2}`, "null", `{"a":1.0}`},
	}
	keys := rapid.Permutation([]string{"query", "limit", "kind", "since", "weight", "share", "deep", "sites", "inner"}).Draw(t, "order")
	var parts []string
	for _, k := range keys {
		if rapid.IntRange(0, 5).Draw(t, "left out") == 0 {
			continue
		}
		value := values[k][0]
		if rapid.IntRange(0, 2).Draw(t, "special") == 0 {
			value = rapid.SampledFrom(values[k]).Draw(t, "value")
		}
		parts = append(parts, fmt.Sprintf("%q: %s", k, value))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func TestPlainIsTheSame(t *testing.T) {
	all := plainSchemas(t)
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		text := jsonText(t, 3)
		for _, s := range all {
			if same(t, s, text) {
				taken++
			}
		}
		if same(t, all[1], fitting(t)) {
			taken++
		}
	})
	if taken == 0 {
		t.Error("nothing was read in one pass")
	}
}

func TestPlainTakesWhatFits(t *testing.T) {
	all := plainSchemas(t)
	for _, test := range []struct {
		schema *Schema
		text   string
		want   string // empty: it is mended
	}{
		{all[0], `{"a":1,"b":2}`, `{"a":1,"b":2}`},
		{all[0], "{ \"b\": 2,\n\"a\": 1 }\n", `{"a":1,"b":2}`},
		{all[0], `{"a":1}`, ""},
		{all[0], `{"a":1,"a":2,"b":3}`, ""},
		{all[0], `{"a":1,"b":2}}`, ""},
		{all[0], `{"a":1,"b":"2"}`, ""},
		{all[1], `{"sites":[],"query":"ёж","kind":"web"}`, `{"deep":false,"kind":"web","limit":5,"query":"ёж","share":0.5,"sites":[]}`},
		{all[1], `{"sites":[],"query":"","kind":"web"}`, ""},
		{all[2], ` {} `, `{}`},
		{all[3], `{"c":null,"a":-7}`, `{"a":-7,"c":null}`},
	} {
		got, ok := test.schema.plain.read(test.text)
		if ok != (test.want != "") || string(got) != test.want && ok {
			t.Errorf("%q: %s %v", test.text, got, ok)
		}
		same(t, test.schema, test.text)
	}
}

func TestNotPlain(t *testing.T) {
	for _, raw := range []string{
		`{"type":"array","items":{"type":"integer"}}`,
		`{"type":"object","properties":{"a":{}}}`,
		`{"type":"object","properties":{"a":{"type":"string","pattern":"^x"}}}`,
		`{"type":"object","properties":{"a":{"type":"string","format":"date"}}}`,
		`{"type":"object","properties":{"a":{"type":["string","integer"]}}}`,
		`{"type":"object","properties":{"a":{"type":"integer","enum":[1,2]}}}`,
		`{"type":"object","properties":{"a":{"type":"string","enum":["a_b","ab"]}}}`,
		`{"type":"object","properties":{"a":{"type":"integer","default":1.0}}}`,
		`{"type":"object","properties":{"a":{"type":"integer"}},"required":["b"]}`,
		`{"type":"object","properties":{"a":{"type":"integer"}},"minProperties":1}`,
		`{"type":"object","properties":{"a<":{"type":"integer"}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"integer"}}}`,
	} {
		s, err := ParseSchema("other", json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		if s.plain != nil {
			t.Errorf("%s is read in one pass, which does not understand it", raw)
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":2}`, `{"query":"x","kind":"web","sites":["a"],"inner":{"b":[1],"a":-3}}`, `{"a":{"a":true},"b":[null,1]}`} {
		f.Add(seed)
	}
	all := plainSchemas(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range all {
			same(t, s, text)
		}
	})
}

func BenchmarkSchemaRead(b *testing.B) {
	s := plainSchemas(b)[1]
	const text = `{"query": "solar power", "kind": "web", "sites": ["example.org"], "limit": 7, "deep": true, "share": 0.25}`
	for name, read := range map[string]func(string) (json.RawMessage, error){"one pass": s.Read, "mended": s.mend} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := read(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
