package config

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Render writes a table of the settings. Without all it leaves out what a role
// only inherits, what is empty, and the built-in agents.
func (c *Config) Render(w io.Writer, all bool) error {
	values := c.Explain()
	if !all {
		values = slices.DeleteFunc(values, Value.dull)
	}
	return renderTable(w, values)
}

// RenderAgent writes a table of what the agent gets whose sections the
// configuration has: its own keys, then the settings that an agent may have.
func (c *Config) RenderAgent(w io.Writer) error {
	var first, rest []Value
	for _, v := range c.Explain() {
		section, _, _ := strings.Cut(v.Path, ".")
		said := v.Layer == layerAgent.String() || v.Layer == layerTemplate.String()
		switch {
		case said && v.Value == "":
			v.Value = "(empty)"
		case v.dull(), section == "search" && v.Layer == layerDefault.String() && !slices.Contains(searchOfAgents, v.Path):
			continue
		}
		switch {
		case section == "agents":
			first = append(first, v)
		case section == "tools" || slices.Contains(entrySections, section):
			rest = append(rest, v)
		}
	}
	return renderTable(w, append(first, rest...))
}

// searchOfAgents are the settings of search that tools of agents heed.
var searchOfAgents = []string{"search.max_searches", "search.max_results", "search.content_limit"}

// dull says whether a value tells nothing to someone who did not ask for it.
func (v Value) dull() bool {
	return v.Value == "" || v.Inherited && !strings.HasPrefix(v.Path, "models.default.") || v.Origin == "not set" ||
		v.Origin == builtInName && v.Layer == layerDefault.String()
}

func renderTable(w io.Writer, values []Value) error {
	path, value := 0, 0
	for i := range values {
		values[i].Value = shorten(values[i].Value, 48)
		path, value = max(path, len(values[i].Path)), max(value, len([]rune(values[i].Value)))
	}
	var b strings.Builder
	for _, v := range values {
		pad := value - len([]rune(v.Value))
		fmt.Fprintf(&b, "%-*s  %s%*s  %s\n", path, printable(v.Path), v.Value, pad, "", v.from())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// from is the origin for people: a line of a file does not tell by itself that
// it speaks about one agent only.
func (v Value) from() string {
	if v.Layer == layerAgent.String() && v.Origin != builtInName {
		return printable(v.Origin) + " (agent)"
	}
	return printable(v.Origin)
}

// renderAgents writes a table of the definitions: class and place of each.
func (c *Config) renderAgents(w io.Writer) error {
	var out []Value
	for _, name := range c.Definitions() {
		st := state{agent: c.entryOf(name)}
		out = append(out, Value{Path: "agents." + name, Value: string(st.agentKeys().BaseClass), Origin: st.agent.origin.String()})
	}
	return renderTable(w, out)
}

// RenderKey writes everything about one setting, or about each setting of a
// section; of the agents, a table. The key may be a path, a flat name or a
// variable's name.
func (c *Config) RenderKey(w io.Writer, key string) error {
	if strings.EqualFold(key, "agents") && !c.st().ofAgent() {
		return c.renderAgents(w)
	}
	values, err := c.ExplainKey(key)
	if err != nil {
		return err
	}
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteByte('\n')
		}
		v.write(&b)
	}
	if len(values) == 0 {
		fmt.Fprintf(&b, "%s is empty\n", strings.ToLower(key))
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// ExplainKey lists one setting, or those of a section; none when the section
// is empty. On the configuration of an agent the keys of a definition count
// first: tools are the agent's.
func (c *Config) ExplainKey(key string) ([]Value, error) {
	t := schema()
	want := strings.ToLower(key)
	first, _, _ := strings.Cut(want, ".")
	if c.st().ofAgent() && agentSchema().root.byKey[first] != nil {
		want = strings.ToLower("agents." + c.st().agentName() + "." + want)
	} else if l := t.find(want); l != nil {
		want = l.path
	} else if e, ok := t.env[want]; ok {
		want = e.leaf.path
	} else if l := t.find(strings.TrimPrefix(want, "dossier_")); l != nil {
		want = l.path
	} else if n := t.root.byKey[want]; n != nil {
		want = n.path
	}
	var out []Value
	for _, v := range c.Explain() {
		if p := strings.ToLower(v.Path); p == want || strings.HasPrefix(p, want+".") {
			out = append(out, v)
		}
	}
	if n := t.root.byKey[want]; len(out) == 0 && (n == nil || n.leaf == nil) {
		return nil, &Error{Key: key, Problem: "no such setting", Nearest: t.suggest(t.root, strings.ReplaceAll(want, ".", "_"))}
	}
	return out, nil
}

func (v Value) write(b *strings.Builder) {
	value := v.Value
	if value == "" {
		value = "(empty)"
	}
	fmt.Fprintf(b, "%s = %s\n  from       %s\n", printable(v.Path), value, v.from())
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
