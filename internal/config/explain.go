package config

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Value is one setting as it is shown to people; secrets are redacted.
type Value struct {
	Path   string `json:"path"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // "default", "env CHAT_MODEL", "config.yaml:12", "flag --model"
	Help   string `json:"help"`
	// Inherited marks a role's setting that comes from default or from the
	// provider, not from the role itself.
	Inherited bool `json:"inherited,omitempty"`
	// Overrides is what lower layers said, the nearest first.
	Overrides []Override `json:"overrides,omitempty"`
	// Env lists the variables that set it, the winning one first.
	Env []string `json:"env,omitempty"`
}

// Override is a value that a higher layer replaced.
type Override struct {
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// Explain lists every setting with its value and where it came from, in the
// order of Config. An entry of a free section is a setting of its own.
func (c *Config) Explain() []Value {
	t := schema()
	out := make([]Value, 0, len(t.leaves))
	models := map[Role]*Model{}
	for _, l := range t.leaves {
		if l.kind == kindTree && !strings.HasPrefix(l.path, "models.") {
			out = append(out, c.entries(l)...)
			continue
		}
		out = append(out, c.explain(l, models))
	}
	return out
}

// entries of a free section, by name.
func (c *Config) entries(l *leaf) []Value {
	tree := reflect.ValueOf(c).Elem().FieldByIndex(l.index).Interface().(Tree)
	keys := make([]string, 0, len(tree))
	for k := range tree {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out := make([]Value, 0, len(keys))
	for _, k := range keys {
		v := Value{Path: l.path + "." + k, Value: inline(shownEntry(k, tree[k])), Help: l.help}
		for i := c.st().last[l.id]; i >= 0; i = c.st().settings[i].prev {
			s := &c.st().settings[i]
			if s.key != k {
				continue
			}
			if v.Origin == "" {
				v.Origin = s.origin.String()
			} else {
				v.Overrides = append(v.Overrides, Override{inline(shownEntry(k, s.value)), s.origin.String()})
			}
		}
		out = append(out, v)
	}
	return out
}

func (c *Config) explain(l *leaf, models map[Role]*Model) Value {
	v := Value{Path: l.path, Help: l.help, Origin: "default", Env: l.envNames()}
	if l.kind == kindTree {
		v.Env = nil
	}
	i := c.st().last[l.id]
	if i >= 0 {
		s := &c.st().settings[i]
		v.Value, v.Origin = c.shown(s), s.origin.String()
		if s.via != "" {
			v.Origin += " (" + s.via + ")"
		}
		for i = s.prev; i >= 0; i = c.st().settings[i].prev {
			low := &c.st().settings[i]
			v.Overrides = append(v.Overrides, Override{c.shown(low), low.origin.String()})
		}
	}
	rest, ok := strings.CutPrefix(l.path, "models.")
	if !ok {
		return v
	}
	role, key, _ := strings.Cut(rest, ".")
	m := models[Role(role)]
	if m == nil {
		resolved := c.Model(Role(role))
		m = &resolved
		models[Role(role)] = m
	}
	value, origin := show(fieldOf(&m.Endpoint, key)), m.origins[key]
	if origin == "" {
		origin = "not set"
	}
	v.Inherited = origin != v.Origin
	v.Value, v.Origin = value, origin
	return v
}

func (c *Config) shown(s *setting) string {
	if s.leaf.kind == kindTree {
		return inline(shownEntry(s.key, s.value))
	}
	if s.empty {
		return ""
	}
	return show(reflect.ValueOf(s.value))
}

// show renders a value on one line, without secrets.
func show(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case Secret:
		return x.String()
	case URL:
		return printable(x.String())
	case Tree:
		if len(x) == 0 {
			return ""
		}
		return x.String()
	case time.Duration:
		return x.String()
	case []string:
		return printable(strings.Join(x, ", "))
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	default:
		return printable(fmt.Sprint(x))
	}
}

// inline renders plain values as JSON on one line.
func inline(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return redacted
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Render writes a table of the settings. Without all it leaves out what a role
// only inherits and what is empty.
func (c *Config) Render(w io.Writer, all bool) error {
	values := slices.DeleteFunc(c.Explain(), func(v Value) bool {
		if all {
			return false
		}
		return v.Value == "" || v.Inherited && !strings.HasPrefix(v.Path, "models.default.") || v.Origin == "not set"
	})
	path, value := 0, 0
	for i := range values {
		values[i].Value = shorten(values[i].Value, 48)
		path, value = max(path, len(values[i].Path)), max(value, len([]rune(values[i].Value)))
	}
	var b strings.Builder
	for _, v := range values {
		pad := value - len([]rune(v.Value))
		fmt.Fprintf(&b, "%-*s  %s%*s  %s\n", path, printable(v.Path), v.Value, pad, "", printable(v.Origin))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// RenderKey writes everything about one setting, or about each setting of a
// section. The key may be a path, a flat name or a variable's name.
func (c *Config) RenderKey(w io.Writer, key string) error {
	t := schema()
	want := strings.ToLower(key)
	if l := t.find(want); l != nil {
		want = l.path
	} else if e, ok := t.env[want]; ok {
		want = e.leaf.path
	} else if l := t.find(strings.TrimPrefix(want, "dossier_")); l != nil {
		want = l.path
	} else if n := t.root.byKey[want]; n != nil {
		want = n.path
	}
	var b strings.Builder
	for _, v := range c.Explain() {
		if p := strings.ToLower(v.Path); p != want && !strings.HasPrefix(p, want+".") {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		v.write(&b)
	}
	if b.Len() == 0 {
		if n := t.root.byKey[want]; n == nil || n.leaf == nil {
			return &Error{Key: key, Problem: "no such setting", Nearest: t.suggest(t.root, strings.ReplaceAll(want, ".", "_"))}
		}
		fmt.Fprintf(&b, "%s is empty\n", want)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (v Value) write(b *strings.Builder) {
	value := v.Value
	if value == "" {
		value = "(empty)"
	}
	fmt.Fprintf(b, "%s = %s\n  from       %s\n", printable(v.Path), value, printable(v.Origin))
	for _, o := range v.Overrides {
		fmt.Fprintf(b, "  overrides  %s from %s\n", o.Value, printable(o.Origin))
	}
	if l := schema().byPath[v.Path]; l != nil {
		if l.enum != nil {
			fmt.Fprintf(b, "  allowed    %s\n", strings.Join(l.enum, ", "))
		}
		if r := l.bounds(); r != "" {
			fmt.Fprintf(b, "  range      %s\n", r)
		}
	}
	if len(v.Env) > 0 {
		fmt.Fprintf(b, "  variables  %s\n", strings.Join(v.Env, ", "))
	}
	fmt.Fprintf(b, "  %s\n", v.Help)
}
