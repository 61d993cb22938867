package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// instance makes JSON that validates against the schema, with texts derived
// from the question. It knows the keywords that structured output uses; what
// it doesn't know it disregards.
func instance(schema json.RawMessage, question string) json.RawMessage {
	m := maker{root: schema, words: wordsFor(question)}
	return m.make(schema, spot{})
}

// maker makes instances of the parts of one schema.
type maker struct {
	root  json.RawMessage
	words words
}

// spot is where in the instance a value stands.
type spot struct {
	name  string // of the nearest property
	index int    // in the nearest array
	depth int
}

// Beyond roomy only what is required is made, so that recursive schemas end;
// beyond deepest nothing is.
const (
	roomy   = 4
	deepest = 40
)

type node map[string]json.RawMessage

func (n node) has(key string) bool { _, ok := n[key]; return ok }

func (n node) number(key string) (float64, bool) {
	var f float64
	ok := n.has(key) && json.Unmarshal(n[key], &f) == nil
	return f, ok
}

func (n node) count(key string, without int) int {
	if f, ok := n.number(key); ok {
		return int(f)
	}
	return without
}

func (n node) list(key string) []json.RawMessage {
	var l []json.RawMessage
	if n.has(key) && json.Unmarshal(n[key], &l) != nil {
		return nil
	}
	return l
}

func (n node) strings(key string) []string {
	var l []string
	if n.has(key) && json.Unmarshal(n[key], &l) != nil {
		return nil
	}
	return l
}

func (m *maker) make(schema json.RawMessage, at spot) json.RawMessage {
	var n node
	if at.depth > deepest || json.Unmarshal(schema, &n) != nil {
		return m.text(node{}, at) // true, false, or no schema at all
	}
	n = m.flatten(n, at.depth)
	if n.has("const") {
		return n["const"]
	}
	if values := n.list("enum"); len(values) > 0 {
		return values[at.index%len(values)]
	}
	switch m.typeOf(n, at.depth) {
	case "object":
		return m.object(n, at)
	case "array":
		return m.array(n, at)
	case "integer":
		return number(n, at, true)
	case "number":
		return number(n, at, false)
	case "boolean":
		return json.RawMessage(strconv.FormatBool(slices.Contains(doneNames, at.name)))
	case "null":
		return json.RawMessage("null")
	}
	return m.text(n, at)
}

var doneNames = []string{"done", "finished", "complete", "is_complete", "sufficient", "is_sufficient", "enough", "enough_data"}

// typeOf picks the type to make.
func (m *maker) typeOf(n node, depth int) string {
	var types []string
	var one string
	if json.Unmarshal(n["type"], &one) == nil && one != "" {
		types = []string{one}
	} else {
		types = n.strings("type")
	}
	if depth > roomy && slices.Contains(types, "null") {
		return "null"
	}
	for _, t := range types {
		if t != "null" {
			return t
		}
	}
	switch {
	case len(types) > 0:
		return "null"
	case n.has("properties"), n.has("required"), n.has("additionalProperties"):
		return "object"
	case n.has("items"), n.has("prefixItems"), n.has("minItems"):
		return "array"
	case n.has("minimum"), n.has("maximum"), n.has("exclusiveMinimum"), n.has("exclusiveMaximum"), n.has("multipleOf"):
		return "number"
	}
	return "string"
}

// flatten merges $ref, allOf and one alternative of anyOf and oneOf into n.
func (m *maker) flatten(n node, depth int) node {
	for range deepest {
		var parts []json.RawMessage
		switch {
		case n.has("$ref"):
			parts = []json.RawMessage{m.resolve(n["$ref"])}
			n = n.without("$ref")
		case n.has("allOf"):
			parts = n.list("allOf")
			n = n.without("allOf")
		case n.has("anyOf"):
			parts = m.alternative(n.list("anyOf"), depth)
			n = n.without("anyOf")
		case n.has("oneOf"):
			parts = m.alternative(n.list("oneOf"), depth)
			n = n.without("oneOf")
		default:
			return n
		}
		for _, p := range parts {
			var part node
			if json.Unmarshal(p, &part) == nil {
				n = n.merge(part)
			}
		}
	}
	return n
}

func (n node) without(key string) node {
	c := make(node, len(n))
	for k, v := range n {
		if k != key {
			c[k] = v
		}
	}
	return c
}

// merge lays part under n: what n says stands, but properties and required
// names add up.
func (n node) merge(part node) node {
	c := n.without("")
	for k, v := range part {
		switch {
		case !c.has(k):
			c[k] = v
		case k == "required":
			c[k] = encode(append(n.strings(k), part.strings(k)...))
		case k == "properties":
			c[k] = encodeMembers(append(members(c[k]), members(v)...))
		case k == "allOf" || k == "anyOf" || k == "oneOf":
			c["allOf"] = encode(append(c.list("allOf"), encode(node{k: v})))
		}
	}
	return c
}

// alternative is the first schema that isn't null, or the one with the least
// in it where the instance is deep already.
func (m *maker) alternative(all []json.RawMessage, depth int) []json.RawMessage {
	isNull := func(s json.RawMessage) bool {
		var n node
		return json.Unmarshal(s, &n) == nil && string(n["type"]) == `"null"`
	}
	if depth > roomy {
		if i := slices.IndexFunc(all, isNull); i >= 0 {
			return all[i : i+1]
		}
		all = slices.Clone(all)
		slices.SortStableFunc(all, func(a, b json.RawMessage) int {
			return bytes.Count(a, []byte("$ref")) - bytes.Count(b, []byte("$ref"))
		})
	}
	for i := range all {
		if !isNull(all[i]) {
			return all[i : i+1]
		}
	}
	return all
}

// resolve follows a reference inside the schema.
func (m *maker) resolve(ref json.RawMessage) json.RawMessage {
	var s string
	if json.Unmarshal(ref, &s) != nil || !strings.HasPrefix(s, "#") {
		return nil
	}
	at := m.root
	for _, step := range strings.Split(strings.TrimPrefix(s, "#"), "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~", "%24", "$").Replace(step)
		var n node
		var l []json.RawMessage
		if json.Unmarshal(at, &n) == nil {
			at = n[step]
		} else if i, err := strconv.Atoi(step); err == nil && json.Unmarshal(at, &l) == nil && i >= 0 && i < len(l) {
			at = l[i]
		} else {
			return nil
		}
	}
	return at
}

type member struct {
	name  string
	value json.RawMessage
}

// members lists the members of an object in the order of the text.
func members(object json.RawMessage) []member {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var all []member
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return all
		}
		name, _ := t.(string)
		var v json.RawMessage
		if dec.Decode(&v) != nil {
			return all
		}
		all = append(all, member{name, v})
	}
	return all
}

// object keeps the order of the schema's properties, as services with strict
// output do.
func (m *maker) object(n node, at spot) json.RawMessage {
	required := n.strings("required")
	properties := members(n["properties"])
	most := n.count("maxProperties", math.MaxInt)
	var out []member
	add := func(name string, schema json.RawMessage) {
		out = append(out, member{name, m.make(schema, spot{name: name, index: at.index, depth: at.depth + 1})})
	}
	for _, p := range properties {
		if slices.Contains(required, p.name) || at.depth <= roomy && most == math.MaxInt && string(p.value) != "false" {
			add(p.name, p.value)
		}
	}
	rest := n["additionalProperties"]
	if string(rest) == "false" || len(rest) == 0 {
		rest = json.RawMessage("true")
	}
	named := func(name string) func(member) bool { return func(p member) bool { return p.name == name } }
	for _, name := range required {
		if !slices.ContainsFunc(out, named(name)) {
			add(name, rest)
		}
	}
	for i := 1; len(out) < n.count("minProperties", 0); i++ {
		if name := fmt.Sprintf("key_%d", i); !slices.ContainsFunc(properties, named(name)) {
			add(name, rest)
		}
	}
	return encodeMembers(out)
}

// encodeMembers writes an object in the order given; the first of two members
// with the same name counts.
func encodeMembers(all []member) json.RawMessage {
	b := []byte{'{'}
	for i, p := range all {
		if slices.ContainsFunc(all[:i], func(m member) bool { return m.name == p.name }) {
			continue
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, encode(p.name)...), ':')
		b = append(b, p.value...)
	}
	return append(b, '}')
}

func (m *maker) array(n node, at spot) json.RawMessage {
	least := n.count("minItems", 0)
	size := max(least, 2)
	if at.depth > roomy {
		size = least
	}
	size = min(size, n.count("maxItems", size))
	prefix := n.list("prefixItems")
	items := n["items"]
	if len(items) == 0 {
		items = json.RawMessage("true")
	} else if string(items) == "false" {
		size = min(max(least, size), len(prefix))
	}
	out := make([]json.RawMessage, 0, size)
	for i := range size {
		schema := items
		if i < len(prefix) {
			schema = prefix[i]
		}
		v := m.make(schema, spot{name: at.name, index: i, depth: at.depth + 1})
		again := slices.ContainsFunc(out, func(o json.RawMessage) bool { return bytes.Equal(o, v) })
		if again && i >= least && string(n["uniqueItems"]) == "true" {
			break
		}
		out = append(out, v)
	}
	return encode(out)
}

func number(n node, at spot, whole bool) json.RawMessage {
	v := 0.5
	if whole {
		v = float64(1 + at.index)
	}
	low, high := math.Inf(-1), math.Inf(1)
	if x, ok := n.number("minimum"); ok {
		low = x
	}
	if x, ok := n.number("maximum"); ok {
		high = x
	}
	above, isOpen := n.number("exclusiveMinimum")
	openLow := isOpen && above >= low
	if openLow {
		low = above
	}
	below, isOpen := n.number("exclusiveMaximum")
	openHigh := isOpen && below <= high
	if openHigh {
		high = below
	}
	if whole {
		if openLow {
			low = math.Floor(low) + 1
		}
		if openHigh {
			high = math.Ceil(high) - 1
		}
		v = max(min(v, math.Floor(high)), math.Ceil(low))
	} else if v < low || v > high || openLow && v == low || openHigh && v == high {
		v = between(low, high)
	}
	if step, ok := n.number("multipleOf"); ok && step > 0 {
		v = math.Ceil(v/step) * step
		if v > high || openHigh && v == high {
			v -= step
		}
	}
	return encode(v)
}

// between is a number inside the bounds, one of which may be infinite.
func between(low, high float64) float64 {
	switch {
	case math.IsInf(low, -1):
		return high - 0.5
	case math.IsInf(high, 1):
		return low + 0.5
	}
	return low + (high-low)/2
}
