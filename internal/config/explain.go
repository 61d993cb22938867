package config

import (
	"encoding/json"
	"fmt"
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
	// Layer is the part of the chain that Origin belongs to: default, env,
	// file, definitions, agents, agent, template or flag; empty where a value
	// was found out.
	Layer string `json:"layer,omitempty"`
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
		switch {
		case l == t.agents && c.st().ofAgent():
			out = append(out, c.explainAgent()...)
			continue
		case l == t.agents:
			out = append(out, c.explainAgents()...)
			continue
		case l.kind == kindTree && !strings.HasPrefix(l.path, "models."):
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
				v.Origin, v.Layer = s.origin.String(), s.layer.String()
			} else {
				v.Overrides = append(v.Overrides, Override{inline(shownEntry(k, s.value)), s.origin.String()})
			}
		}
		out = append(out, v)
	}
	return out
}

func (c *Config) explain(l *leaf, models map[Role]*Model) Value {
	v := Value{Path: l.path, Help: l.help, Origin: "default", Layer: layerDefault.String(), Env: l.envNames()}
	if l.kind == kindTree {
		v.Env = nil
	}
	i := c.st().last[l.id]
	if i >= 0 {
		s := &c.st().settings[i]
		v.Value, v.Origin, v.Layer = c.shown(s), s.origin.String(), s.layer.String()
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
	if v.Inherited = origin != v.Origin; v.Inherited {
		v.Layer = ""
	}
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
