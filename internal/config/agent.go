package config

import (
	"maps"
	"slices"
	"strings"

	"dossier/agent"
	"dossier/tool"

	"go.yaml.in/yaml/v3"
)

// agentKeys are the keys of an entry of agents: beside its sections.
type agentKeys struct {
	Name         string      `key:"name" help:"Name of the agent, the same as its key."`
	Description  string      `key:"description" help:"What the agent is for, in one sentence."`
	BaseClass    class       `key:"base_class" default:"SGRToolCallingAgent" help:"How the agent decides: SGRAgent, ToolCallingAgent, SGRToolCallingAgent, IronAgent, DialogAgent, ReActAgent, KBAgent or RuleBasedAgent, or one of these with Research before it."`
	Tools        []toolEntry `key:"tools" help:"Tools in the order in which the model sees them: a name, or {name: {settings}}."`
	Rules        []tool.Rule `key:"rules" help:"When tools are taken away: {counter, at_least, drop or only}."`
	ToolSearch   toolSearch  `key:"tool_search" help:"Tools that the agent does not list."`
	Agents       []string    `key:"agents" help:"Agents that it may call as tools."`
	Capabilities []string    `key:"capabilities" help:"Words by which others find the agent."`
}

type toolSearch struct {
	Always   []string `key:"always" help:"Tools that are put before the model whatever is asked."`
	Never    []string `key:"never" help:"Tools that are not found."`
	OnDemand bool     `key:"on_demand" default:"false" help:"Whether the agent may find tools of the catalog."`
	K        int      `key:"k" default:"10" min:"1" max:"100" help:"How many of those found the model sees."`
}

// class is a base_class that there is.
type class string

// UnmarshalText checks the name.
func (c *class) UnmarshalText(text []byte) error {
	*c = class(text)
	if len(text) == 0 {
		return nil
	}
	_, _, err := agent.ParseClass(string(text))
	return err
}

// toolEntry is one tool of an agent's list.
type toolEntry struct {
	name   string
	config map[string]any
	origin origin
	layer  layer
}

// entry is an agent as one document defines it.
type entry struct {
	name     string
	origin   origin
	sections []setting // of Config, for layerAgent or layerTemplate
	keys     []setting // of agentKeys
	value    any       // as it was written
}

// entrySections are the sections of Config that an entry may have.
var entrySections = []string{"llm", "models", "execution", "prompts", "search", "mcp"}

// agent reads a definition at once, so that mistakes in it are found although
// nobody asks for the agent.
func (r *reader) agent(p pair, name string, value any) {
	e := &entry{name: p.key.Value, origin: origin{r.name, p.key.Line}, value: value}
	if problem := badName(e.name); problem != "" {
		r.fail(p.key, name, problem, "")
	}
	sub := *r
	sub.layer = layerAgent
	sub.definition(e, p.value, name)
	r.stopped, r.grown = sub.stopped, sub.grown
	if r.agents != nil {
		r.agents[e.name] = e
	}
}

// definition reads an entry's sections and keys.
func (r *reader) definition(e *entry, y *yaml.Node, name string) {
	r.agents, r.out, r.seen = nil, &e.sections, map[*leaf]int{}
	r.within(y, name, func(y *yaml.Node) {
		if isNull(y) {
			return
		}
		if y.Kind != yaml.MappingNode {
			r.fail(y, name, "expected an agent's definition (key: value), found "+shape(y), "")
			return
		}
		for _, p := range r.pairs(y, name, strings.ToLower) {
			r.definitionKey(e, p, name)
		}
	})
}

func (r *reader) definitionKey(e *entry, p pair, prefix string) {
	key, name := strings.ToLower(p.key.Value), join(prefix, p.key.Value)
	keys := agentSchema()
	switch {
	case slices.Contains(entrySections, key):
		if child := r.t.root.byKey[key]; child.leaf != nil {
			r.value(child.leaf, p, name)
		} else {
			r.section(child, p.value, name)
		}
	case key == "extra" || strings.HasPrefix(key, "x-"):
		// Whatever the user keeps there; free has read it.
	case keys.root.byKey[key] != nil:
		r.as(keys, &e.keys, func() { r.entry(keys.root, p, prefix) })
		if s := e.own("name"); key == "name" && s != nil && s.value != e.name {
			r.fail(p.value, name, "the agent is called "+e.name+"; leave this out or write the same", "")
		}
	default:
		r.fail(p.key, name, "unknown key", r.suggestKey(key))
	}
}

// as runs fn with another schema; the bounds go on counting.
func (r *reader) as(t *tables, out *[]setting, fn func()) {
	before, had := r.t, r.out
	r.t, r.out = t, out
	fn()
	r.t, r.out = before, had
}

// suggestKey finds what was meant by an unknown key of an entry: one of its
// keys, or a key of one of its sections.
func (r *reader) suggestKey(key string) string {
	if r.bad.full() {
		return ""
	}
	sections := [...]string{"llm", "execution", "prompts", "search"}
	for _, section := range sections {
		if r.t.root.byKey[section].byKey[key] != nil {
			return section + "." + key
		}
	}
	names := append(slices.Clone(entrySections), "extra")
	for _, n := range agentSchema().root.children {
		names = append(names, n.key)
	}
	if near := nearest(key, names); near != "" {
		return near
	}
	for _, section := range sections {
		var keys []string
		for _, c := range r.t.root.byKey[section].children {
			keys = append(keys, c.key)
		}
		if near := nearest(key, keys); near != "" {
			return section + "." + near
		}
	}
	return ""
}

// own returns what the entry says for a key of agentKeys, nil when nothing.
func (e *entry) own(path string) *setting {
	if e == nil {
		return nil
	}
	for i := range e.keys {
		if e.keys[i].leaf.path == path {
			return &e.keys[i]
		}
	}
	return nil
}

// toolList reads the tools of an agent.
func (r *reader) toolList(l *leaf, p pair, y *yaml.Node, name string) {
	if isNull(y) {
		return
	}
	if y.Kind != yaml.SequenceNode {
		r.fail(p.value, name, "expected a list of tools, found "+shape(y), "")
		return
	}
	tools := make([]toolEntry, 0, len(y.Content))
	lines := map[string]int{}
	for _, item := range y.Content {
		r.within(item, name, func(y *yaml.Node) {
			t, ok := r.toolEntry(y, name)
			if !ok {
				return
			}
			plain := tool.PlainName(t.name)
			if line, dup := lines[plain]; dup {
				r.fail(item, name, "the tool "+shorten(printable(t.name), 40)+" is listed a second time, first on line "+itoa(line), "")
				return
			}
			lines[plain] = item.Line
			t.origin, t.layer = origin{r.name, item.Line}, r.layer
			tools = append(tools, t)
		})
	}
	r.put(setting{leaf: l, value: tools, empty: len(tools) == 0}, p.key)
}

// toolEntry reads one tool: a name, {name: null} or {name: {settings}}.
func (r *reader) toolEntry(y *yaml.Node, name string) (t toolEntry, ok bool) {
	const form = "expected a tool's name, or {name: {settings}}"
	switch {
	case y.Kind == yaml.ScalarNode && !isNull(y):
		text, problem := r.expand(y.Value)
		if problem != "" {
			r.fail(y, name, problem, "")
			return t, false
		}
		t.name = strings.TrimSpace(text)
	case y.Kind == yaml.MappingNode:
		pairs := r.pairs(y, name, exact)
		if len(pairs) != 1 {
			r.fail(y, name, form+", found "+itoa(len(pairs))+" keys; indent the settings below the name", "")
			return t, false
		}
		t.name = strings.TrimSpace(pairs[0].key.Value)
		if t.config, ok = r.settings(pairs[0], join(name, t.name)); !ok {
			return t, false
		}
	default:
		r.fail(y, name, form+", found "+shape(y), "")
		return t, false
	}
	if tool.PlainName(t.name) == "" {
		r.fail(y, name, form+", found nothing", "")
		return t, false
	}
	return t, true
}

// settings reads the settings of a tool.
func (r *reader) settings(p pair, name string) (map[string]any, bool) {
	v, ok := r.free(p.value, name)
	if !ok {
		return nil, false
	}
	config, isSection := v.(map[string]any)
	if v != nil && !isSection {
		r.fail(p.value, name, "expected the tool's settings (key: value), found another value", "")
		return nil, false
	}
	for _, k := range slices.Sorted(maps.Keys(config)) {
		if r.refusesArgument(k, config[k]) {
			r.fail(p.value, join(name, k), notStored, "")
			return nil, false
		}
	}
	return config, true
}

// ruleList reads the rules of an agent.
func (r *reader) ruleList(l *leaf, p pair, y *yaml.Node, name string) {
	if isNull(y) {
		return
	}
	if y.Kind != yaml.SequenceNode {
		r.fail(p.value, name, "expected a list of rules, found "+shape(y), "")
		return
	}
	rules := make([]tool.Rule, 0, len(y.Content))
	for _, item := range y.Content {
		r.within(item, name, func(y *yaml.Node) {
			if y.Kind != yaml.MappingNode {
				r.fail(item, name, "expected a rule {counter, at_least, drop or only}, found "+shape(y), "")
				return
			}
			had := len(r.bad.list) + r.bad.dropped
			rule := r.rule(y, name)
			if len(r.bad.list)+r.bad.dropped > had {
				return
			}
			if err := rule.Validate(); err != nil {
				r.fail(item, name, err.Error(), "")
				return
			}
			rules = append(rules, rule)
		})
	}
	r.put(setting{leaf: l, value: rules, empty: len(rules) == 0}, p.key)
}

// ruleKeys are the keys of a rule, read as settings are.
type ruleKeys struct {
	Counter string   `key:"counter" help:"What is counted: iteration, searches, clarifications, sources or a tool's calls."`
	AtLeast int      `key:"at_least" min:"0" max:"1000000" help:"From which number on the rule holds."`
	Drop    []string `key:"drop" help:"Tools or kinds that go."`
	Only    []string `key:"only" help:"Tools or kinds that stay."`
}

func (r *reader) rule(y *yaml.Node, name string) tool.Rule {
	var out []setting
	seen := r.seen
	r.seen = map[*leaf]int{}
	t := ruleSchema()
	r.as(t, &out, func() {
		for _, p := range r.pairs(y, name, strings.ToLower) {
			if child := t.root.byKey[strings.ToLower(p.key.Value)]; child != nil {
				r.value(child.leaf, p, join(name, p.key.Value))
				continue
			}
			r.fail(p.key, join(name, p.key.Value), "unknown key", t.suggest(t.root, strings.ToLower(p.key.Value)))
		}
	})
	r.seen = seen
	var k ruleKeys
	fill(&k, out)
	return tool.Rule{Counter: k.Counter, AtLeast: k.AtLeast, Drop: k.Drop, Only: k.Only}
}
