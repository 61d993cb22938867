package llm

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// around makes an object of a reply for the sake of one text field: of the
// object that the model gave (as it was read, and bent to the schema), or of a
// reply that is a text. Fields that are missing or don't fit are empty. It
// returns nil when the reply has no such text, or nothing can stand in for the
// other fields.
func (s *Schema) around(field, reply string, read, bent any) map[string]any {
	given, _ := bent.(map[string]any)
	text, _ := given[field].(string)
	if strings.TrimSpace(text) == "" {
		for name := range s.root.Properties {
			if given[name] != nil {
				return nil // an object of the right kind that lacks what matters
			}
		}
		if text = onlyText(read); text == "" {
			text = prose(reply)
		}
		if text == "" {
			return nil
		}
		given = nil
	}
	out := map[string]any{}
	for name, p := range s.root.Properties {
		out[name] = empty(p)
	}
	out[field] = text
	if s.Validate(out) != nil {
		return nil
	}
	for name := range s.root.Properties {
		v, ok := given[name]
		if !ok || name == field {
			continue
		}
		before := out[name]
		if out[name] = v; s.Validate(out) != nil {
			out[name] = before
		}
	}
	return out
}

// empty is the value of a field that the model left out.
func empty(p *jsonschema.Schema) any {
	if p.Default != nil {
		if v, err := decodeNumbers(p.Default); err == nil {
			return v
		}
	}
	types := schemaTypes(p)
	for _, zero := range []struct {
		of    string
		value any
	}{{"null", nil}, {"string", ""}, {"array", []any{}}, {"boolean", false}, {"integer", json.Number("0")}, {"number", json.Number("0")}} {
		if slices.Contains(types, zero.of) {
			return zero.value
		}
	}
	return map[string]any{}
}

// onlyText is the text of an object that has nothing else in it.
func onlyText(v any) string {
	m, _ := v.(map[string]any)
	if len(m) != 1 {
		return ""
	}
	for _, inner := range m {
		if text, ok := inner.(string); ok {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// prose is a reply that is a text, "" for one that was meant to be JSON or
// consists of thoughts.
func prose(reply string) string {
	text := strings.TrimSpace(reply)
	var quoted string
	if json.Unmarshal([]byte(text), &quoted) == nil {
		return strings.TrimSpace(quoted)
	}
	if json.Valid([]byte(text)) || strings.HasPrefix(text, thinkOpen) {
		return ""
	}
	start := text
	if rest, fenced := strings.CutPrefix(text, "```"); fenced {
		_, start, _ = strings.Cut(rest, "\n")
	}
	if strings.HasPrefix(strings.TrimSpace(start), "{") {
		return ""
	}
	return text
}
