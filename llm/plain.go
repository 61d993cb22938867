package llm

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// plain is a schema of the kinds that most tools have: objects with named
// properties, lists, texts, numbers and choices. JSON that fits it as it stands
// is read in one pass. Whatever else a model writes is left to coerce and the
// validator, which say what is wrong with it: plain either comes to the same
// result as they do, or to none.
type plain struct {
	kind     plainKind
	null     bool
	props    []plainProp // by name
	items    *plain
	min, max *float64 // of a number
	least    int      // length of a text or a list
	most     int      // -1 is any
	choices  []string
}

type plainKind uint8

const (
	plainObject plainKind = iota
	plainArray
	plainString
	plainInteger
	plainNumber
	plainBoolean
)

type plainProp struct {
	name     string
	key      string // with quotes and colon
	required bool
	standard []byte // stands in where the property is missing
	of       *plain
}

// mostProps is how many properties a plain object can have.
const mostProps = 24

// plainObjectOf returns the plain form of an object's schema, nil where it has
// none.
func plainObjectOf(s *jsonschema.Schema) *plain {
	p := plainOf(s)
	if p == nil || p.kind != plainObject {
		return nil
	}
	p.null = false
	return p
}

func plainOf(s *jsonschema.Schema) *plain {
	known := &jsonschema.Schema{
		Schema: s.Schema, Title: s.Title, Description: s.Description, Comment: s.Comment, Examples: s.Examples, Default: s.Default,
		Type: s.Type, Types: s.Types, Enum: s.Enum, Properties: s.Properties, PropertyOrder: s.PropertyOrder,
		Required: s.Required, AdditionalProperties: s.AdditionalProperties, Items: s.Items,
		Minimum: s.Minimum, Maximum: s.Maximum, MinLength: s.MinLength, MaxLength: s.MaxLength, MinItems: s.MinItems, MaxItems: s.MaxItems,
	}
	if !reflect.DeepEqual(s, known) {
		return nil // it says more than is understood here
	}
	p := &plain{most: -1}
	types := slices.DeleteFunc(slices.Clone(schemaTypes(s)), func(t string) bool { return t == "null" })
	p.null = len(types) < len(schemaTypes(s))
	if len(types) != 1 {
		return nil
	}
	ok := false
	switch types[0] {
	case "object":
		p.kind, ok = plainObject, p.takeProperties(s)
	case "array":
		p.kind, ok = plainArray, p.takeItems(s)
	case "string":
		p.kind, ok = plainString, p.takeChoices(s)
		p.bound(s.MinLength, s.MaxLength)
	case "integer":
		p.kind, p.min, p.max, ok = plainInteger, s.Minimum, s.Maximum, true
	case "number":
		p.kind, p.min, p.max, ok = plainNumber, s.Minimum, s.Maximum, true
	case "boolean":
		p.kind, ok = plainBoolean, true
	}
	if !ok || s.Enum != nil && p.kind != plainString {
		return nil
	}
	return p
}

func (p *plain) bound(least, most *int) {
	if least != nil {
		p.least = *least
	}
	if most != nil {
		p.most = *most
	}
}

func (p *plain) takeItems(s *jsonschema.Schema) bool {
	p.bound(s.MinItems, s.MaxItems)
	if s.Items == nil {
		return false
	}
	p.items = plainOf(s.Items)
	return p.items != nil
}

func (p *plain) takeChoices(s *jsonschema.Schema) bool {
	if s.Enum == nil {
		return true
	}
	spelled := map[string]bool{}
	none := false
	for _, c := range s.Enum {
		text, ok := c.(string)
		switch {
		case c == nil:
			none = true
		case !ok || spelled[plainKey(text)] || !verbatim(text):
			return false
		default:
			spelled[plainKey(text)] = true
			p.choices = append(p.choices, text)
		}
	}
	p.null = p.null && none
	return p.choices != nil
}

func (p *plain) takeProperties(s *jsonschema.Schema) bool {
	if len(s.Properties) > mostProps {
		return false
	}
	for name, of := range s.Properties {
		prop := plainProp{name: name, key: `"` + name + `":`, required: slices.Contains(s.Required, name)}
		if of == nil || !verbatim(name) {
			return false
		}
		if prop.of = plainOf(of); prop.of == nil {
			return false
		}
		if of.Default != nil {
			// Nothing may stand where the default does, and the default has
			// to be what it would be read as.
			prop.of.null = false
			r := plainReader{text: string(of.Default)}
			if !r.value(prop.of) || r.at != len(r.text) || string(r.out) != r.text {
				return false
			}
			prop.standard = r.out
		}
		p.props = append(p.props, prop)
	}
	slices.SortFunc(p.props, func(a, b plainProp) int { return strings.Compare(a.name, b.name) })
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			return false
		}
	}
	return true
}

// verbatim says whether a text is the same in JSON, but for the quotes.
func verbatim(text string) bool {
	raw, err := json.Marshal(text)
	return err == nil && string(raw[1:len(raw)-1]) == text
}

// read returns text in the form that json.Marshal gives it, if it is a JSON
// value that fits as it stands.
func (p *plain) read(text string) (json.RawMessage, bool) {
	r := plainReader{text: text, out: make([]byte, 0, len(text)+16)}
	r.space()
	if !r.value(p) {
		return nil, false
	}
	r.space()
	return r.out, r.at == len(text)
}

// plainReader reads text from at on, and writes out.
type plainReader struct {
	text string
	at   int
	out  []byte
}

func (r *plainReader) space() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

// next takes c, with white space around it.
func (r *plainReader) next(c byte) bool {
	r.space()
	if r.at == len(r.text) || r.text[r.at] != c {
		return false
	}
	r.at++
	r.space()
	return true
}

// word takes a word.
func (r *plainReader) word(w string) bool {
	if !strings.HasPrefix(r.text[r.at:], w) {
		return false
	}
	r.at += len(w)
	r.out = append(r.out, w...)
	return true
}

func (r *plainReader) value(p *plain) bool {
	if p.null && r.word("null") {
		return true
	}
	switch p.kind {
	case plainObject:
		return r.object(p)
	case plainArray:
		return r.array(p)
	case plainString:
		return r.string(p)
	case plainBoolean:
		return r.word("true") || r.word("false")
	}
	return r.number(p)
}

func (r *plainReader) array(p *plain) bool {
	if !r.next('[') {
		return false
	}
	r.out = append(r.out, '[')
	n := 0
	for !r.next(']') {
		if n > 0 {
			if !r.next(',') {
				return false
			}
			r.out = append(r.out, ',')
		}
		if !r.value(p.items) {
			return false
		}
		n++
	}
	r.out = append(r.out, ']')
	return n >= p.least && (p.most < 0 || n <= p.most)
}

// object reads members in any order and writes them by name.
func (r *plainReader) object(p *plain) bool {
	if !r.next('{') {
		return false
	}
	start := len(r.out)
	r.out = append(r.out, '{')
	var spans [mostProps]struct{ from, to int } // of values
	n, last, ordered := 0, -1, true
	for !r.next('}') {
		if n > 0 {
			if !r.next(',') {
				return false
			}
			r.out = append(r.out, ',')
		}
		i := r.member(p)
		if i < 0 || spans[i].to > 0 || !r.next(':') {
			return false
		}
		ordered = ordered && i > last
		n, last = n+1, i
		r.out = append(r.out, p.props[i].key...)
		spans[i].from = len(r.out)
		if !r.value(p.props[i].of) {
			return false
		}
		spans[i].to = len(r.out)
	}
	r.out = append(r.out, '}')
	for i := range p.props {
		if spans[i].to > 0 {
			continue
		}
		if p.props[i].standard != nil {
			ordered = false
		} else if p.props[i].required {
			return false
		}
	}
	if ordered {
		return true
	}
	sorted := make([]byte, 0, len(r.out)-start+64)
	for i := range p.props {
		value := r.out[spans[i].from:spans[i].to]
		if spans[i].to == 0 {
			value = p.props[i].standard
		}
		if len(value) > 0 {
			sorted = append(append(append(sorted, ','), p.props[i].key...), value...)
		}
	}
	sorted[0] = '{' // for the first comma
	r.out = append(append(r.out[:start], sorted...), '}')
	return true
}

// member takes the name of a property and returns its number, -1 for none.
func (r *plainReader) member(p *plain) int {
	if r.at == len(r.text) || r.text[r.at] != '"' {
		return -1
	}
	rest := r.text[r.at+1:]
	end := strings.IndexByte(rest, '"')
	if end < 0 {
		return -1
	}
	for i := range p.props {
		if p.props[i].name == rest[:end] {
			r.at += end + 2
			return i
		}
	}
	return -1
}

// string takes a text that json.Marshal would write in the same way.
func (r *plainReader) string(p *plain) bool {
	if r.at == len(r.text) || r.text[r.at] != '"' {
		return false
	}
	s := r.text[r.at+1:]
	i, letters := 0, 0
	for ; ; letters++ {
		if i == len(s) {
			return false
		}
		c := s[i]
		if c == '"' {
			break
		}
		switch {
		case c < ' ' || c == '<' || c == '>' || c == '&':
			return false
		case c == '\\':
			if i+1 == len(s) || strings.IndexByte(`"\nrtbf`, s[i+1]) < 0 {
				return false
			}
			i += 2
		case c < utf8.RuneSelf:
			i++
		default:
			char, size := utf8.DecodeRuneInString(s[i:])
			if char == utf8.RuneError && size == 1 || char == '\u2028' || char == '\u2029' {
				return false
			}
			i += size
		}
	}
	if p.choices != nil && !slices.Contains(p.choices, s[:i]) {
		return false
	}
	r.out = append(r.out, r.text[r.at:r.at+i+2]...)
	r.at += i + 2
	return letters >= p.least && (p.most < 0 || letters <= p.most)
}

// number takes a number with at most a fraction, that only where it may have
// one, and well within the bounds: on one of them rounding could be in the way.
func (r *plainReader) number(p *plain) bool {
	start, at := r.at, r.at
	if at < len(r.text) && r.text[at] == '-' {
		at++
	}
	first := at
	for at < len(r.text) && '0' <= r.text[at] && r.text[at] <= '9' {
		at++
	}
	const most = 18 // digits of a whole number that stays as it is
	digits := r.text[first:at]
	if digits == "" || len(digits) > most || digits[0] == '0' && (len(digits) > 1 || first > start) {
		return false
	}
	if at < len(r.text) && r.text[at] == '.' && p.kind == plainNumber {
		point := at
		for at++; at < len(r.text) && '0' <= r.text[at] && r.text[at] <= '9'; at++ {
		}
		if at == point+1 {
			return false
		}
	}
	if at < len(r.text) && (r.text[at] == '.' || r.text[at]|0x20 == 'e') {
		return false
	}
	if p.min != nil || p.max != nil {
		n, err := strconv.ParseFloat(r.text[start:at], 64)
		if err != nil || p.min != nil && n <= *p.min || p.max != nil && n >= *p.max {
			return false
		}
	}
	r.out = append(r.out, r.text[start:at]...)
	r.at = at
	return true
}
