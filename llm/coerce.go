package llm

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// coerce bends a decoded JSON value (numbers as json.Number) towards the
// schema where no meaning can be lost: numbers and booleans in quotes, a
// single value for a list, null for an empty list, another spelling of a key
// or a choice, unknown keys, an object wrapped in another. What it can't mend
// it leaves for the validation.
func (s *Schema) coerce(v any) any {
	return coerceTo(unwrap(v, s.root), s.root)
}

// unwrap takes an object out of a list of one, or of an object whose only key
// the schema doesn't know.
func unwrap(v any, s *jsonschema.Schema) any {
	if list, ok := v.([]any); ok && len(list) == 1 {
		v = list[0]
	}
	m, ok := v.(map[string]any)
	if !ok || len(m) != 1 || len(s.Required) == 0 {
		return v
	}
	for key, inner := range m {
		if findKey(s, key) != "" {
			return v
		}
		if im, ok := inner.(map[string]any); ok {
			for k := range im {
				if findKey(s, k) != "" {
					return im
				}
			}
		}
	}
	return v
}

func coerceTo(v any, s *jsonschema.Schema) any {
	types := schemaTypes(s)
	if len(types) == 0 {
		return v
	}
	want := func(t string) bool { return slices.Contains(types, t) }
	switch x := v.(type) {
	case nil:
		if want("array") && !want("null") {
			return []any{}
		}
	case string:
		return coerceString(x, s, want)
	case bool:
		if want("string") && !want("boolean") {
			return strconv.FormatBool(x)
		}
	case json.Number:
		if want("integer") {
			if n, ok := wholeNumber(string(x)); ok {
				return n
			}
		} else if want("string") && !want("number") {
			return string(x)
		}
	case map[string]any:
		if want("object") {
			return coerceObject(x, s)
		}
	case []any:
		if want("array") {
			for i := range x {
				if s.Items != nil {
					x[i] = coerceTo(x[i], s.Items)
				}
			}
			return x
		}
		if len(x) == 1 {
			if _, nested := x[0].([]any); !nested {
				return coerceTo(x[0], s)
			}
		}
	}
	if v != nil && want("array") {
		if s.Items != nil {
			v = coerceTo(v, s.Items)
		}
		return []any{v}
	}
	return v
}

func coerceString(x string, s *jsonschema.Schema, want func(string) bool) any {
	if want("string") {
		if choice, ok := nearChoice(x, s.Enum); ok {
			return choice
		}
		return x
	}
	text := strings.TrimSpace(x)
	switch {
	case want("integer"):
		if n, ok := wholeNumber(text); ok {
			return n
		}
	case want("number"):
		if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			if json.Valid([]byte(text)) {
				return json.Number(text)
			}
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
		}
	case want("boolean"):
		switch strings.ToLower(text) {
		case "true", "yes":
			return true
		case "false", "no":
			return false
		}
	case want("array") || want("object"):
		if inner, err := decodeNumbers([]byte(text)); err == nil {
			switch inner.(type) {
			case map[string]any, []any:
				return coerceTo(inner, s)
			}
		}
		if want("array") {
			if text == "" {
				return []any{}
			}
			var item any = x
			if s.Items != nil {
				item = coerceTo(x, s.Items)
			}
			return []any{item}
		}
	}
	return x
}

func coerceObject(m map[string]any, s *jsonschema.Schema) any {
	if len(s.Properties) == 0 {
		if s.AdditionalProperties != nil {
			for k, v := range m {
				m[k] = coerceTo(v, s.AdditionalProperties)
			}
		}
		return m
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		if p, ok := s.Properties[k]; ok {
			out[k] = coerceTo(v, p)
		}
	}
	// In an order: of several spellings of one key always the same one counts.
	for _, k := range slices.Sorted(maps.Keys(m)) {
		v := m[k]
		name := findKey(s, k)
		if name == "" && s.AdditionalProperties == nil {
			out[k] = v // the schema of somebody who allows more than is said
		}
		if name == "" || name == k {
			continue
		}
		if _, taken := out[name]; !taken {
			out[name] = coerceTo(v, s.Properties[name])
		}
	}
	for name, p := range s.Properties {
		if v, said := out[name]; p.Default == nil || said && v != nil {
			continue
		}
		if v, err := decodeNumbers(p.Default); err == nil {
			out[name] = v
		}
	}
	return out
}

// findKey returns the property that key spells, "" for none: case and word
// separators don't matter.
func findKey(s *jsonschema.Schema, key string) string {
	if _, ok := s.Properties[key]; ok {
		return key
	}
	found := ""
	for name := range s.Properties {
		if plainKey(name) == plainKey(key) && (found == "" || name < found) {
			found = name
		}
	}
	return found
}

func plainKey(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
}

func nearChoice(x string, choices []any) (string, bool) {
	for _, c := range choices {
		if name, ok := c.(string); ok && plainKey(name) == plainKey(strings.TrimSpace(x)) {
			return name, true
		}
	}
	return "", false
}

// wholeNumber reads an integer, 3.0 and 3e2 included.
func wholeNumber(text string) (json.Number, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return json.Number(strconv.FormatInt(n, 10)), true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return "", false
	}
	return json.Number(strconv.FormatInt(int64(f), 10)), true
}

func decodeNumbers(text []byte) (any, error) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
