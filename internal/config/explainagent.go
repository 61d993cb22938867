package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"dossier/tool"
)

// ofAgent says whether the configuration is that of one agent.
func (st *state) ofAgent() bool { return st.agent != nil || st.template != nil }

func (st *state) agentName() string {
	if st.template != nil {
		return st.template.name
	}
	return st.agent.name
}

// explainAgents lists the definitions; a built-in one that a file replaces is
// what that one overrides.
func (c *Config) explainAgents() []Value {
	l := schema().agents
	out := c.entries(l)
	for name, e := range builtIn() {
		shown := inline(shownEntry(name, e.value))
		path := l.path + "." + name
		if i := slices.IndexFunc(out, func(v Value) bool { return v.Path == path }); i >= 0 {
			out[i].Overrides = append(out[i].Overrides, Override{shown, builtInName})
			continue
		}
		out = append(out, Value{Path: path, Value: shown, Origin: builtInName, Layer: layerDefault.String(), Help: l.help})
	}
	slices.SortFunc(out, func(a, b Value) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// explainAgent lists the keys of the agent's definition.
func (c *Config) explainAgent() []Value {
	st := c.st()
	prefix := schema().agents.path + "." + st.agentName() + "."
	keys := st.agentKeys()
	var out []Value
	for _, l := range agentSchema().leaves {
		if l.kind == kindTools {
			out = append(out, c.explainTools(prefix, keys.ToolSearch.OnDemand, l)...)
			continue
		}
		v := Value{Path: prefix + l.path, Value: showKey(reflect.ValueOf(keys).FieldByIndex(l.index)), Origin: "not set", Help: l.help}
		if l.def != "" {
			v.Origin, v.Layer = "default", layerDefault.String()
		}
		for _, e := range []*entry{st.template, st.agent} {
			s := e.own(l.path)
			switch {
			case s == nil:
			case v.Layer == "" || v.Layer == layerDefault.String():
				v.Origin, v.Layer = s.origin.String(), s.layer.String()
			default:
				v.Overrides = append(v.Overrides, Override{showKey(reflect.ValueOf(s.value)), s.origin.String()})
			}
		}
		out = append(out, v)
	}
	return out
}

// explainTools has a line for each tool, with its settings from all places.
func (c *Config) explainTools(prefix string, onDemand bool, l *leaf) []Value {
	tools, _ := c.tools(onDemand) // Definition reports what is wrong with them
	out := make([]Value, 0, len(tools))
	for _, t := range tools {
		settings := map[string]any{}
		if t.of != "" {
			settings["base_class"] = t.of
		}
		maps.Copy(settings, t.config)
		v := Value{Path: prefix + l.path + "." + t.name, Value: inline(shownValue(settings)), Origin: t.origin.String(), Layer: t.layer.String(), Help: l.help}
		if t.below != nil {
			v.Overrides = []Override{{inline(shownEntry(t.below.key, t.below.value)), t.below.origin.String()}}
		}
		out = append(out, v)
	}
	return out
}

func showKey(v reflect.Value) string {
	if rules, ok := reflect.TypeAssert[[]tool.Rule](v); ok {
		if len(rules) == 0 {
			return ""
		}
		return printable(inline(rules))
	}
	return show(v)
}

// String is the layer's name as Value has it.
func (l layer) String() string {
	return [...]string{"default", "env", "file", "definitions", "agents", "agent", "template", "flag"}[l]
}
