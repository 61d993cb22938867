// Package strict makes schemas fit for the strict mode of a service, which
// takes fewer keywords than JSON Schema has and refuses a call for any other.
package strict

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// Mode is what the strict mode of a service does not take.
type Mode struct {
	refused []string

	mu    sync.RWMutex
	known map[string]fitted // by schema
}

// mostKnown bounds what is remembered; schemas are few and stay the same.
const mostKnown = 512

type fitted struct {
	schema json.RawMessage
	ok     bool
}

// NewMode is one that refuses these keywords.
func NewMode(refused ...string) *Mode { return &Mode{refused: refused, known: make(map[string]fitted)} }

// Fit returns a schema without what the service refuses. A default is said in
// the description, and its field may be null. ok is false for a schema that
// can't be kept strictly, because it leaves something open: it has to be sent
// without strict, and comes back as it is.
func (m *Mode) Fit(schema json.RawMessage) (_ json.RawMessage, ok bool) {
	m.mu.RLock()
	out, found := m.known[string(schema)]
	m.mu.RUnlock()
	if found {
		return out.schema, out.ok
	}
	out = fitted{schema, false}
	if root, err := read(schema); err == nil && closed(root) {
		m.clean(root)
		out = fitted{write(nil, root), true}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) < mostKnown {
		m.known[string(schema)] = out
	}
	return out.schema, out.ok
}

// object is a JSON object in its order, which a model writes its fields in.
type object struct{ members []member }

type member struct {
	key   string
	value any // *object, []any, or json.RawMessage
}

func (o *object) get(key string) any {
	for _, m := range o.members {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

func (o *object) set(key string, value any) {
	for i := range o.members {
		if o.members[i].key == key {
			o.members[i].value = value
			return
		}
	}
	o.members = append(o.members, member{key, value})
}

// below are the schemas in a schema.
func below(o *object) []*object {
	var out []*object
	for _, key := range []string{"properties", "$defs", "definitions"} {
		if all, ok := o.get(key).(*object); ok {
			for _, m := range all.members {
				if s, ok := m.value.(*object); ok {
					out = append(out, s)
				}
			}
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := o.get(key).([]any)
		for _, v := range list {
			if s, ok := v.(*object); ok {
				out = append(out, s)
			}
		}
	}
	if s, ok := o.get("items").(*object); ok {
		out = append(out, s)
	}
	return out
}

// closed says whether a schema says all of what may be there: each object names
// its members, and all of them are required.
func closed(v any) bool {
	o, ok := v.(*object)
	if !ok {
		return false
	}
	if o.get("patternProperties") != nil || o.get("not") != nil || o.get("if") != nil {
		return false
	}
	props, _ := o.get("properties").(*object)
	if kinds := types(o); props != nil || slices.Contains(kinds, "object") {
		if !never(o.get("additionalProperties")) {
			return false
		}
		required := texts(o.get("required"))
		if props != nil {
			for _, m := range props.members {
				if !slices.Contains(required, m.key) {
					return false
				}
			}
		}
	}
	return !slices.ContainsFunc(below(o), func(s *object) bool { return !closed(s) })
}

// never says whether a schema is one that nothing fits, in either spelling.
func never(v any) bool {
	switch v := v.(type) {
	case json.RawMessage:
		return string(v) == "false"
	case *object:
		not, ok := v.get("not").(*object)
		return ok && len(v.members) == 1 && len(not.members) == 0
	}
	return false
}

// clean takes out what is refused.
func (m *Mode) clean(v any) {
	o, ok := v.(*object)
	if !ok {
		return
	}
	if standard, ok := o.get("default").(json.RawMessage); ok && slices.Contains(m.refused, "default") {
		said := "default: " + string(standard)
		var text string
		if raw, ok := o.get("description").(json.RawMessage); ok && json.Unmarshal(raw, &text) == nil && text != "" {
			said = text + " (" + said + ")"
		}
		o.set("description", marshal(said))
		nullable(o)
	}
	if o.get("additionalProperties") != nil {
		o.set("additionalProperties", json.RawMessage("false"))
	}
	o.members = slices.DeleteFunc(o.members, func(one member) bool { return slices.Contains(m.refused, one.key) })
	for _, s := range below(o) {
		m.clean(s)
	}
}

// nullable lets a field be null, which stands for its default.
func nullable(o *object) {
	kinds := types(o)
	if len(kinds) == 0 || slices.Contains(kinds, "null") {
		return
	}
	list := make([]any, 0, len(kinds)+1)
	for _, k := range append(kinds, "null") {
		list = append(list, marshal(k))
	}
	o.set("type", list)
	if choices, ok := o.get("enum").([]any); ok {
		o.set("enum", append(choices, json.RawMessage("null")))
	}
}

func types(o *object) []string {
	if raw, ok := o.get("type").(json.RawMessage); ok {
		return []string{strings.Trim(string(raw), `"`)}
	}
	return texts(o.get("type"))
}

func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, one := range list {
		var text string
		if raw, ok := one.(json.RawMessage); ok && json.Unmarshal(raw, &text) == nil {
			out = append(out, text)
		}
	}
	return out
}

func marshal(text string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(err) // a string encodes
	}
	return bytes.TrimSpace(b.Bytes())
}

// read takes JSON apart.
func read(raw json.RawMessage) (any, error) {
	raw = bytes.TrimSpace(raw)
	dec := json.NewDecoder(bytes.NewReader(raw))
	switch {
	case len(raw) > 0 && raw[0] == '{':
		o := &object{}
		if _, err := dec.Token(); err != nil {
			return nil, err
		}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			var value json.RawMessage
			if err := dec.Decode(&value); err != nil {
				return nil, err
			}
			inner, err := read(value)
			if err != nil {
				return nil, err
			}
			name, _ := key.(string)
			o.members = append(o.members, member{name, inner})
		}
		return o, nil
	case len(raw) > 0 && raw[0] == '[':
		var list []json.RawMessage
		if err := dec.Decode(&list); err != nil {
			return nil, err
		}
		out := make([]any, len(list))
		for i, v := range list {
			inner, err := read(v)
			if err != nil {
				return nil, err
			}
			out[i] = inner
		}
		return out, nil
	}
	return raw, nil
}

// write puts it together again.
func write(b []byte, v any) []byte {
	switch v := v.(type) {
	case *object:
		b = append(b, '{')
		for i, m := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, marshal(m.key)...), ':')
			b = write(b, m.value)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, one := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = write(b, one)
		}
		return append(b, ']')
	case json.RawMessage:
		return append(b, v...)
	}
	return b
}
