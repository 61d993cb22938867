package catalog

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	for name, c := range map[string]struct {
		schema string
		want   arguments
	}{
		"none": {``, arguments{}},
		"plain": {
			`{"type":"object","title":"T","description":"of the whole","properties":{"cityName":{"type":"string","description":"a \"city\""},
			"unit":{"enum":["metric","imperial",3]}},"required":["cityName"]}`,
			arguments{names: []string{"cityName", "unit"}, descriptions: []string{`a "city"`}, values: []string{"metric", "imperial"}},
		},
		"nested": {
			`{"properties":{"a":{"items":{"properties":{"b":{"description":"inner"}}}},"c":{"anyOf":[{"const":"x"},{"type":"null"}]}},
			"$defs":{"D":{"properties":{"e":true}}}}`,
			arguments{names: []string{"a", "b", "c", "e"}, descriptions: []string{"inner"}, values: []string{"x"}},
		},
		"a property called description": {
			`{"properties":{"description":{"description":"what it is"},"properties":{"type":"object"}}}`,
			arguments{names: []string{"description", "properties"}, descriptions: []string{"what it is"}},
		},
		"no schema":    {`[1, "a", {"x": [}`, arguments{}},
		"broken":       {`{"properties":{"a":{"description":"kept"},"b":`, arguments{names: []string{"a", "b"}, descriptions: []string{"kept"}}},
		"wrong types":  {`{"properties":[1],"items":"x","enum":{"a":1},"description":["x"]}`, arguments{}},
		"string alone": {`"text"`, arguments{}},
	} {
		if got := argumentsOf(json.RawMessage(c.schema)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	many := `{"properties":{` + strings.Repeat(`"a":{"description":"d"},`, 5000) + `"b":{}}}`
	if got := argumentsOf(json.RawMessage(many)); len(got.names)+len(got.descriptions) > schemaWords+1 {
		t.Errorf("%d names of a huge schema were read", len(got.names))
	}
	deep := strings.Repeat(`{"items":`, 100_000) + `1` + strings.Repeat(`}`, 100_000)
	if got := argumentsOf(json.RawMessage(deep)); len(got.names) != 0 {
		t.Errorf("names of a deep schema: %v", got.names)
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{"properties":{"a":{"enum":["x"]}}}`, `[[[`, `{"a":"\`, `{"items":[{}],"b":nul}`, `{,}`, `[,]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a := argumentsOf(raw)
		if n := len(a.names) + len(a.descriptions) + len(a.values); n > 2*schemaWords+2 {
			t.Fatalf("%d words were read", n)
		}
		if !json.Valid(raw) {
			return
		}
		// All that is read of a valid schema stands in it.
		var whole any
		if err := json.Unmarshal(raw, &whole); err != nil {
			t.Fatal(err)
		}
		there := map[string]bool{}
		collectStrings(whole, there)
		for _, list := range [][]string{a.names, a.descriptions, a.values} {
			for _, s := range list {
				if !there[strings.ToValidUTF8(s, "\uFFFD")] {
					t.Fatalf("%q is not in %s", s, raw)
				}
			}
		}
	})
}

// collectStrings notes all keys and strings of a value.
func collectStrings(v any, there map[string]bool) {
	switch v := v.(type) {
	case string:
		there[v] = true
	case []any:
		for _, e := range v {
			collectStrings(e, there)
		}
	case map[string]any:
		for k, e := range v {
			there[k] = true
			collectStrings(e, there)
		}
	}
}
