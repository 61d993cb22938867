package server

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"dossier/event"
	"dossier/internal/access"
	"dossier/lang"
	"dossier/llm"
	"dossier/mode"
	"dossier/run"
)

// Formed is a type of a protocol whose JSON is not that of its fields: it says what
// it is.
type Formed interface{ Form() *jsonschema.Schema }

// forms are those of types of other packages.
var forms = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[event.Event]():     {Type: "object", Description: "An event, as docs/events.schema.json describes it.", Required: []string{"v", "run", "seq", "time", "kind", "data"}},
	reflect.TypeFor[run.PlacedEvent](): {Type: "object", Description: "An event beside the place that it has in the code of its run.", Required: []string{"place", "event"}},
	reflect.TypeFor[json.RawMessage](): {},
	reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
	reflect.TypeFor[time.Duration]():   {Type: "integer", Description: "nanoseconds"},
	reflect.TypeFor[lang.Code]():       {Type: "string"},
	reflect.TypeFor[access.Scope]():    {Type: "string"},
	reflect.TypeFor[llm.Message]():     messageForm,
	reflect.TypeFor[mode.Turn]():       messageForm,
	reflect.TypeFor[llm.Tool]():        functionForm,
}

// messageForm is a message in OpenAI's form.
var messageForm = &jsonschema.Schema{
	Type: "object", Description: "A message, as OpenAI's chat completions have it.", Required: []string{"role"},
	Properties: map[string]*jsonschema.Schema{
		"role":    {Type: "string", Enum: []any{"system", "developer", "user", "assistant", "tool"}},
		"content": {Types: []string{"string", "array", "null"}, Description: "a text, or a list of parts of it", Items: &jsonschema.Schema{Type: "object"}},
		"name":    {Type: "string"},
		"tool_calls": {Types: []string{"array", "null"}, Items: &jsonschema.Schema{Type: "object", Required: []string{"id", "function"}, Properties: map[string]*jsonschema.Schema{
			"id": {Type: "string"}, "type": {Type: "string"},
			"function": {Type: "object", Required: []string{"name"}, Properties: map[string]*jsonschema.Schema{"name": {Type: "string"}, "arguments": {Type: "string", Description: "JSON"}}},
		}}},
		"tool_call_id": {Type: "string", Description: "of a message in the role tool: the call that returned it"},
	},
}

// functionForm is a function in OpenAI's form.
var functionForm = &jsonschema.Schema{
	Type: "object", Description: "A function that can be called, as OpenAI's chat completions have it.", Required: []string{"function"},
	Properties: map[string]*jsonschema.Schema{
		"type": {Type: "string"},
		"function": {Type: "object", Required: []string{"name"}, Properties: map[string]*jsonschema.Schema{
			"name": {Type: "string"}, "description": {Type: "string"}, "parameters": {Description: "a JSON schema"}, "strict": {Types: []string{"boolean", "null"}},
		}},
	},
}

// formsIn are the schemas of what is in a type and is not described by its fields.
// A type that has JSON of its own and does not say which is a mistake in the code.
func formsIn(t reflect.Type) map[reflect.Type]*jsonschema.Schema {
	found := map[reflect.Type]*jsonschema.Schema{}
	seen := map[reflect.Type]bool{}
	var look func(t reflect.Type)
	look = func(t reflect.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		if form, ok := forms[t]; ok {
			found[t] = form
			return
		}
		if formed, ok := reflect.TypeAssert[Formed](reflect.Zero(t)); ok && t.Kind() != reflect.Pointer {
			found[t] = formed.Form()
			return
		}
		if t.Name() != "" && t.Kind() != reflect.Interface && ownJSON(t) {
			panic(fmt.Sprintf("server: %v has JSON of its own and does not say which: see Formed", t))
		}
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			look(t.Elem())
		case reflect.Struct:
			for f := range t.Fields() {
				if (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" {
					look(f.Type)
				}
			}
		}
	}
	look(t)
	return found
}

// ownJSON says whether a type writes or reads JSON by itself.
func ownJSON(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[json.Unmarshaler]())
}

// loosen lets an object have fields that are not described: those of protocols that
// others have laid down are passed over.
func loosen(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Type == "object" && s.AdditionalProperties != nil && s.Properties != nil {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		loosen(p)
	}
	loosen(s.Items)
}
