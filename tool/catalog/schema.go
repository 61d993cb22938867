package catalog

import (
	"bytes"
	"encoding/json"
)

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

// argumentsOf reads a schema. One that is no schema has the words that come
// before it breaks.
func argumentsOf(raw json.RawMessage) arguments {
	w := walker{raw: raw}
	w.schema(0)
	return w.arguments
}

// walker goes through JSON and stops where it is none. It keeps only words:
// making values of whole schemas takes most of the time of making an index.
type walker struct {
	arguments
	raw  []byte
	at   int
	over bool // broken, or enough was read
}

// next returns the next byte that is no space, without taking it; 0 at the
// end.
func (w *walker) next() byte {
	for !w.over && w.at < len(w.raw) {
		switch c := w.raw[w.at]; c {
		case ' ', '\t', '\n', '\r':
			w.at++
		default:
			return c
		}
	}
	w.over = true
	return 0
}

// take takes the next byte if it is c.
func (w *walker) take(c byte) bool {
	if w.next() != c {
		return false
	}
	w.at++
	return true
}

// quote returns the bytes of the next string with its marks.
func (w *walker) quote() []byte {
	if !w.take('"') {
		w.over = true
		return nil
	}
	from := w.at - 1
	for w.at < len(w.raw) {
		switch w.raw[w.at] {
		case '\\':
			w.at++
		case '"':
			w.at++
			return w.raw[from:w.at]
		}
		w.at++
	}
	w.over = true
	return nil
}

// text returns the next string.
func (w *walker) text() string {
	q := w.quote()
	if len(q) < 2 {
		return ""
	}
	if bytes.IndexByte(q, '\\') < 0 {
		return string(q[1 : len(q)-1])
	}
	var s string
	if json.Unmarshal(q, &s) != nil {
		w.over = true
	}
	return s
}

// object calls each for the keys of the next value, which is an object; each
// takes the key's value.
func (w *walker) object(each func(key string)) {
	for w.take('{'); !w.take('}'); w.take(',') {
		key := w.text()
		if !w.take(':') {
			w.over = true
		}
		if w.over {
			return
		}
		each(key)
	}
}

// list calls each for the elements of the next value, which is a list.
func (w *walker) list(each func()) {
	for w.take('['); !w.take(']'); w.take(',') {
		before := w.at
		each()
		w.over = w.over || w.at == before
		if w.over {
			return
		}
	}
}

// skip passes over the next value.
func (w *walker) skip() {
	depth := 0
	for {
		switch c := w.next(); c {
		case 0:
			return
		case '"':
			w.quote()
		case '{', '[':
			depth++
			w.at++
		case '}', ']':
			if depth == 0 {
				w.over = true // the value is missing
				return
			}
			depth--
			w.at++
		case ',', ':':
			if depth == 0 {
				w.over = true
				return
			}
			w.at++
			continue
		default:
			w.scalar()
		}
		if depth == 0 {
			return
		}
	}
}

// scalar passes over a number or a word.
func (w *walker) scalar() {
	for ; w.at < len(w.raw); w.at++ {
		switch w.raw[w.at] {
		case ',', ':', ']', '}', '[', '{', '"', ' ', '\t', '\n', '\r':
			return
		}
	}
}

// schema reads the next value as a schema, or as a list of them.
func (w *walker) schema(depth int) {
	w.over = w.over || len(w.names)+len(w.descriptions)+len(w.values) >= schemaWords
	switch w.next() {
	case '[':
		w.list(func() { w.below(depth) })
	case '{':
		w.object(func(key string) { w.member(key, depth) })
	default:
		w.skip()
	}
}

// below reads a schema inside another one.
func (w *walker) below(depth int) {
	if depth >= schemaDepth {
		w.skip()
		return
	}
	w.schema(depth + 1)
}

// member reads the value of a key of a schema.
func (w *walker) member(key string, depth int) {
	switch key {
	case "properties", "$defs", "definitions":
		if w.next() != '{' {
			w.skip()
			return
		}
		w.object(func(name string) {
			if key == "properties" {
				w.names = append(w.names, name)
			}
			w.below(depth)
		})
	case "items", "anyOf", "oneOf", "allOf", "additionalProperties", "prefixItems":
		w.below(depth)
	case "description":
		// That of the whole schema says what the tool's own description says.
		if w.next() != '"' || depth == 0 {
			w.skip()
			return
		}
		w.descriptions = append(w.descriptions, w.text())
	case "enum", "const":
		w.choices()
	default:
		w.skip()
	}
}

// choices reads the strings of the next value.
func (w *walker) choices() {
	switch w.next() {
	case '"':
		w.values = append(w.values, w.text())
	case '[':
		w.list(func() {
			if w.next() != '"' || len(w.values) >= schemaWords {
				w.skip()
				return
			}
			w.values = append(w.values, w.text())
		})
	default:
		w.skip()
	}
}
