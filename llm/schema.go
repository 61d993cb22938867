package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	validation "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"dossier/llm/jsonrepair"
)

// Schema is the JSON schema of a Go struct type. Field descriptions come from
// the tag `jsonschema:"…"`, bounds from `min:"1"` and `max:"10"` (of a number's
// value, a list's length or a text's length), choices from `enum:"a,b,c"`, and
// what stands in for a field that is not there from `default:"5"`, as JSON or
// as text. Fields with omitempty or omitzero are optional.
type Schema struct {
	// Name of the type in lower case with underscores.
	Name string
	// Strict is what is sent: everything is required, optional fields may be
	// null, and nothing else is allowed.
	Strict json.RawMessage
	// Checked is what replies are held to, where that is not what is sent:
	// ParseSchema of it, Showing Strict, reads as this schema does.
	Checked json.RawMessage

	root      *jsonschema.Schema
	validator *validation.Schema
	plain     *plain // nil where the schema has no plain form
}

// schemas holds a *schemaEntry per reflect.Type. It is a cache of pure values.
var schemas sync.Map

type schemaEntry struct {
	once   sync.Once
	schema *Schema
	err    error
}

// SchemaOf returns the schema of T, which is built and compiled once.
func SchemaOf[T any]() (*Schema, error) {
	t := reflect.TypeFor[T]()
	v, ok := schemas.Load(t)
	if !ok {
		v, _ = schemas.LoadOrStore(t, new(schemaEntry))
	}
	e := v.(*schemaEntry)
	e.once.Do(func() { e.schema, e.err = buildSchema(t) })
	return e.schema, e.err
}

func buildSchema(t reflect.Type) (*Schema, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("schema of %s: only a struct can be asked for", t)
	}
	root, err := jsonschema.ForType(t, &jsonschema.ForOptions{})
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", t, err)
	}
	if err := applyTags(t, root); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", t, err)
	}
	s := &Schema{Name: schemaName(t), root: root}
	allowNull(root)
	if s.Checked, err = json.Marshal(root); err == nil {
		s.validator, err = compileSchema(s.Checked)
	}
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", t, err)
	}
	s.plain = plainObjectOf(root)
	strict := root.CloneSchemas()
	requireAll(strict)
	if s.Strict, err = json.Marshal(strict); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", t, err)
	}
	return s, nil
}

// ParseSchema reads a schema that somebody else wrote. What is sent is that
// schema as it is.
func ParseSchema(name string, raw json.RawMessage) (*Schema, error) {
	root := &jsonschema.Schema{}
	if err := json.Unmarshal(raw, root); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	s := &Schema{Name: name, Strict: raw, root: root}
	var err error
	if s.validator, err = compileSchema(raw); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	s.plain = plainObjectOf(root)
	return s, nil
}

// Showing returns s with another schema for the model to see: one that says
// more than is checked.
func (s *Schema) Showing(sent json.RawMessage) *Schema {
	shown := *s
	shown.Strict = sent
	return &shown
}

// Read makes valid JSON of what a model wrote for the schema: it is repaired,
// coerced where that is safe, given its defaults and validated. The error says
// what is wrong in words for a model.
func (s *Schema) Read(text string) (json.RawMessage, error) {
	if s.plain != nil {
		if raw, ok := s.plain.read(text); ok {
			return raw, nil
		}
	}
	return s.mend(text)
}

// mend is Read for anything that a model may write.
func (s *Schema) mend(text string) (json.RawMessage, error) {
	raw, err := jsonrepair.Object(text)
	if err != nil {
		return nil, err
	}
	value, err := decodeNumbers(raw)
	if err != nil {
		return nil, err
	}
	value = s.coerce(value)
	if err := s.Validate(value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

func schemaName(t reflect.Type) string {
	var b strings.Builder
	for i, r := range t.Name() {
		switch {
		case r >= 'A' && r <= 'Z':
			if i > 0 {
				b.WriteByte('_')
			}
			b.WriteRune(r - 'A' + 'a')
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_':
			b.WriteRune(r)
		default: // type parameters follow
			return b.String()
		}
	}
	if b.Len() == 0 {
		return "object"
	}
	return b.String()
}

// subschemas calls f for each schema below s that our types can have.
func subschemas(s *jsonschema.Schema, f func(*jsonschema.Schema)) {
	for _, p := range s.Properties {
		f(p)
	}
	if s.Items != nil {
		f(s.Items)
	}
	if s.AdditionalProperties != nil {
		f(s.AdditionalProperties)
	}
}

func schemaTypes(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	return s.Types
}

func setTypes(s *jsonschema.Schema, types []string) {
	s.Type, s.Types = "", nil
	if len(types) == 1 {
		s.Type = types[0]
	} else {
		s.Types = types
	}
}

// allowNull gives the schema the form that replies are held to: null is
// allowed for optional fields and pointers, and not for slices as such.
func allowNull(s *jsonschema.Schema) {
	types := schemaTypes(s)
	if slices.Contains(types, "array") {
		setTypes(s, []string{"array"})
	}
	subschemas(s, allowNull)
	for name, p := range s.Properties {
		types := schemaTypes(p)
		if p.Default != nil {
			s.Required = slices.DeleteFunc(s.Required, func(r string) bool { return r == name })
			continue
		}
		if !slices.Contains(s.Required, name) && len(types) > 0 && !slices.Contains(types, "null") {
			setTypes(p, append(slices.Clone(types), "null"))
			if p.Enum != nil {
				p.Enum = append(slices.Clone(p.Enum), nil)
			}
		}
	}
}

func requireAll(s *jsonschema.Schema) {
	if len(s.Properties) > 0 {
		s.Required = slices.Clone(s.PropertyOrder)
		if len(s.Required) != len(s.Properties) {
			s.Required = s.Required[:0]
			for name := range s.Properties {
				s.Required = append(s.Required, name)
			}
			slices.Sort(s.Required)
		}
	}
	subschemas(s, requireAll)
}

// applyTags adds the bounds and choices of the struct's tags.
func applyTags(t reflect.Type, s *jsonschema.Schema) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if s.Items != nil {
			return applyTags(t.Elem(), s.Items)
		}
	case reflect.Map:
		if s.AdditionalProperties != nil {
			return applyTags(t.Elem(), s.AdditionalProperties)
		}
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				name = f.Name
			}
			p := s.Properties[name]
			if p == nil || f.Anonymous {
				continue
			}
			if err := applyFieldTags(f, p); err != nil {
				return fmt.Errorf("field %s: %w", f.Name, err)
			}
			if err := applyTags(f.Type, p); err != nil {
				return fmt.Errorf("field %s: %w", f.Name, err)
			}
		}
	}
	return nil
}

func applyFieldTags(f reflect.StructField, p *jsonschema.Schema) error {
	target := p
	if slices.Contains(schemaTypes(p), "array") && p.Items != nil {
		target = p.Items // choices are those of the elements
	}
	if tag, ok := f.Tag.Lookup("enum"); ok {
		for v := range strings.SplitSeq(tag, ",") {
			target.Enum = append(target.Enum, v)
		}
	}
	if tag, ok := f.Tag.Lookup("default"); ok {
		p.Default = json.RawMessage(tag)
		if !json.Valid(p.Default) {
			p.Default = AppendString(nil, tag)
		}
	}
	for _, bound := range []string{"min", "max"} {
		tag, ok := f.Tag.Lookup(bound)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(tag, 64)
		if err != nil {
			return fmt.Errorf("tag %s: %w", bound, err)
		}
		i := int(n)
		types := schemaTypes(p)
		low := bound == "min"
		switch {
		case slices.Contains(types, "array") && low:
			p.MinItems = &i
		case slices.Contains(types, "array"):
			p.MaxItems = &i
		case slices.Contains(types, "string") && low:
			p.MinLength = &i
		case slices.Contains(types, "string"):
			p.MaxLength = &i
		case low:
			p.Minimum = &n
		default:
			p.Maximum = &n
		}
	}
	return nil
}

func compileSchema(text json.RawMessage) (*validation.Schema, error) {
	doc, err := validation.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := validation.NewCompiler()
	c.UseLoader(closed{})
	if err := c.AddResource("mem:schema", doc); err != nil {
		return nil, err
	}
	return c.Compile("mem:schema")
}

// closed keeps schemas that somebody else wrote from reading files.
type closed struct{}

func (closed) Load(string) (any, error) {
	return nil, errors.New("a schema may refer only to its own parts")
}

// Validate says what is wrong with a JSON value, in words for a model.
func (s *Schema) Validate(value any) error {
	err := s.validator.Validate(value)
	var v *validation.ValidationError
	if !errors.As(err, &v) {
		return err
	}
	p := message.NewPrinter(language.English)
	var lines []string
	var walk func(*validation.ValidationError)
	walk = func(v *validation.ValidationError) {
		if len(v.Causes) > 0 {
			for _, c := range v.Causes {
				walk(c)
			}
			return
		}
		if extra, ok := v.ErrorKind.(*kind.AdditionalProperties); ok {
			slices.Sort(extra.Properties) // which come in the order of a map
		}
		at := "/" + strings.Join(v.InstanceLocation, "/")
		lines = append(lines, "at "+at+": "+v.ErrorKind.LocalizedString(p))
	}
	walk(v)
	slices.Sort(lines)
	const most = 8
	if extra := len(lines) - most; extra > 0 {
		lines = append(lines[:most], fmt.Sprintf("and %d more", extra))
	}
	return errors.New(strings.Join(lines, "; "))
}
