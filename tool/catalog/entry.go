package catalog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"dossier/tool"
)

// Entry is what is known of a tool for finding it.
type Entry struct {
	// Name by which a model calls it.
	Name string
	// Origin is where it comes from, as in tool.Spec; About is what that place
	// says of itself, and the same for all its tools.
	Origin string
	About  string

	Description string
	// Schema of the arguments, as JSON schema; nil for none.
	Schema   json.RawMessage
	Tags     []string
	Examples []string // what somebody says who needs it
}

// EntryOf returns what the catalog knows of a tool. About is what its origin
// says of itself; empty when it says nothing.
func EntryOf(t tool.Tool, about string) Entry {
	s := t.Spec()
	e := Entry{Name: s.Name, Origin: s.Origin, About: about, Description: s.Description, Tags: s.Tags, Examples: s.Examples}
	if s.Schema != nil {
		e.Schema = s.Schema.Strict
	}
	return e
}

// same says whether two entries are found alike.
func (e *Entry) same(o *Entry) bool {
	return e.Name == o.Name && e.Origin == o.Origin && e.About == o.About && e.Description == o.Description &&
		bytes.Equal(e.Schema, o.Schema) && slices.Equal(e.Tags, o.Tags) && slices.Equal(e.Examples, o.Examples)
}

// place is the name of the origin without what kind of origin it is.
func (e *Entry) place() string {
	if _, name, ok := strings.Cut(e.Origin, ":"); ok {
		return name
	}
	if e.Origin == tool.Builtin {
		return ""
	}
	return e.Origin
}

// arguments is what a schema says in words.
type arguments struct {
	names        []string
	descriptions []string
	values       []string // of enumerations
}

// Bounds of what is read of a schema: it comes from servers.
const (
	schemaDepth = 6
	schemaWords = 400
)

// argumentsOf reads a schema. One that is no schema has no words.
func argumentsOf(raw json.RawMessage) arguments {
	var a arguments
	if len(raw) == 0 {
		return a
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	a.schema(dec, 0)
	return a
}

func (a *arguments) full() bool {
	return len(a.names)+len(a.descriptions)+len(a.values) >= schemaWords
}

// schema reads the next value as a schema, in the order of its text.
func (a *arguments) schema(dec *json.Decoder, depth int) {
	t, err := dec.Token()
	if err != nil {
		return
	}
	switch t {
	case json.Delim('['):
		for dec.More() {
			a.schema(dec, depth)
			if a.full() {
				return
			}
		}
		_, _ = dec.Token() // an error shows at the next one
		return
	case json.Delim('{'):
	default:
		return
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil || a.full() {
			return
		}
		switch key {
		case "properties", "$defs", "definitions":
			a.members(dec, depth, key == "properties")
		case "items", "anyOf", "oneOf", "allOf", "additionalProperties", "prefixItems":
			if depth >= schemaDepth {
				skip(dec)
				continue
			}
			a.schema(dec, depth+1)
		case "description", "title":
			a.text(dec, &a.descriptions, key == "description" && depth > 0)
		case "enum", "const":
			a.text(dec, &a.values, true)
		default:
			skip(dec)
		}
	}
	_, _ = dec.Token()
}

// members reads an object whose values are schemas.
func (a *arguments) members(dec *json.Decoder, depth int, named bool) {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return
	}
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		if err != nil || !ok || a.full() {
			return
		}
		if named {
			a.names = append(a.names, name)
		}
		if depth >= schemaDepth {
			skip(dec)
			continue
		}
		a.schema(dec, depth+1)
	}
	_, _ = dec.Token()
}

// text keeps the strings of the next value.
func (a *arguments) text(dec *json.Decoder, to *[]string, keep bool) {
	var v any
	if dec.Decode(&v) != nil || !keep {
		return
	}
	switch v := v.(type) {
	case string:
		*to = append(*to, v)
	case []any:
		for _, one := range v {
			if s, ok := one.(string); ok && !a.full() {
				*to = append(*to, s)
			}
		}
	}
}

func skip(dec *json.Decoder) {
	var v json.RawMessage
	_ = dec.Decode(&v) // an error shows at the next token
}
