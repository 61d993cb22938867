package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"dossier/agent"
)

// maxPrompt bounds a file of a prompt.
const maxPrompt = 256 << 10

// Definitions are the names of all agents, the built-in ones included.
func (c *Config) Definitions() []string {
	names := make([]string, 0, len(c.st().agents)+len(builtIn()))
	for n := range c.st().agents {
		names = append(names, n)
	}
	for n := range builtIn() {
		if c.st().agents[n] == nil {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

func (c *Config) entryOf(name string) *entry {
	if e := c.st().agents[name]; e != nil {
		return e
	}
	return builtIn()[name]
}

// Definition is an agent with everything that the configuration says about it.
// Files of prompts are read now. Settings of tools that hold keys are left out,
// because runs record definitions; see EngineSettings.
func (c *Config) Definition(name string) (agent.Definition, error) {
	own, err := c.Agent(name)
	if err != nil {
		return agent.Definition{}, err
	}
	return own.define(name)
}

// TemplateDefinition is the agent that a stored template describes, and the
// configuration under which it works. The document has the form of one entry
// of agents:, as YAML or JSON; what it does not say, the configuration says.
func (c *Config) TemplateDefinition(name string, document []byte) (agent.Definition, *Config, error) {
	own, err := c.WithTemplate(name, document)
	if err != nil {
		return agent.Definition{}, nil, err
	}
	d, err := own.define(name)
	if err != nil {
		return agent.Definition{}, nil, err
	}
	return d, own, nil
}

// define makes the definition of a configuration that has the sections of an
// agent or a template.
func (c *Config) define(name string) (agent.Definition, error) {
	keys := c.st().agentKeys()
	decider, research, err := agent.ParseClass(string(keys.BaseClass))
	if err != nil {
		return agent.Definition{}, err
	}
	d := agent.Definition{
		Name: name, Description: keys.Description, Decider: decider, Research: research,
		Limits: agent.Limits{
			Iterations: c.Execution.MaxIterations, Clarifications: orNone(c.Execution.MaxClarifications),
			Searches: orNone(c.Search.MaxSearches), MCPContext: c.Execution.MCPContextLimit, Depth: c.Execution.MaxDepth,
		},
		Rules:        keys.Rules,
		Search:       agent.ToolSearch{Always: keys.ToolSearch.Always, Never: keys.ToolSearch.Never, OnDemand: keys.ToolSearch.OnDemand, K: keys.ToolSearch.K},
		Agents:       keys.Agents,
		Capabilities: keys.Capabilities,
		LogsDir:      c.Execution.LogsDir, ReportsDir: c.Execution.ReportsDir, Generator: c.Execution.StreamingGenerator,
	}
	if s := c.inForce(RoleDefault, "model"); s != nil && s.layer >= layerAgent && !s.empty {
		d.Model = s.value.(string)
	}
	bad := &problems{}
	for _, p := range []struct {
		into *string
		path string
	}{
		{&d.Prompts.System, "prompts.system_prompt"},
		{&d.Prompts.Initial, "prompts.initial_user_request"},
		{&d.Prompts.Clarification, "prompts.clarification_response"},
	} {
		text, err := c.prompt(p.path)
		bad.addError(err)
		*p.into = text
	}
	tools, err := c.tools(keys.ToolSearch.OnDemand)
	bad.addError(err)
	for _, t := range tools {
		ref, err := t.ref()
		bad.addError(err)
		d.Tools = append(d.Tools, ref)
	}
	if len(tools) == 0 && len(d.Agents) == 0 && !d.Search.OnDemand && len(d.Search.Always) == 0 && len(bad.list) == 0 {
		at := c.st().said("tools").origin
		bad.add(&Error{File: at.name, Line: at.line, Key: "tools", Problem: "an agent needs a tool; leave the key out for the usual ones"})
	}
	if err := bad.err(); err != nil {
		return agent.Definition{}, err
	}
	return d, d.Validate()
}

// orNone is a limit as agent.Limits has it, where zero is the default.
func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// said is the setting in force of a key of agentKeys, nil when it is unsaid.
func (st *state) said(path string) *setting {
	if s := st.template.own(path); s != nil {
		return s
	}
	return st.agent.own(path)
}

// agentKeys puts what the agent and the template say over the defaults.
func (st *state) agentKeys() agentKeys {
	var k agentKeys
	bad := &problems{}
	fill(&k, (&state{}).defaults(agentSchema(), bad))
	for _, e := range []*entry{st.agent, st.template} {
		if e != nil {
			fill(&k, e.keys)
		}
	}
	if k.BaseClass == "" {
		k.BaseClass = class(agentSchema().byPath["base_class"].def)
	}
	return k
}

// fill puts settings into the struct that their schema was made of.
func fill(into any, settings []setting) {
	root := reflect.ValueOf(into).Elem()
	for i := range settings {
		set(root, &settings[i])
	}
}

// prompt is the text in force: of the text and the file the one that the
// higher layer says, and of one layer the text.
func (c *Config) prompt(path string) (string, error) {
	text, file := c.setting(path+"_str"), c.setting(path+"_file")
	switch {
	case file == nil || file.empty:
		if text == nil || text.empty {
			return "", nil
		}
		return text.value.(string), nil
	case text != nil && (text.layer > file.layer || text.layer == file.layer && !text.empty):
		if text.empty {
			return "", nil
		}
		return text.value.(string), nil
	}
	data, err := readPrompt(file.value.(string))
	if err != nil {
		e := &Error{Key: path + "_file", Problem: printable(file.value.(string)) + " " + err.Error()}
		e.at(file.origin)
		return "", e
	}
	return data, nil
}

// at says where the mistake was made.
func (e *Error) at(o origin) {
	if o.line > 0 {
		e.File, e.Line = o.name, o.line
	} else {
		e.Where = o.name
	}
}

// readPrompt reads a text file of a moderate size.
func readPrompt(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", plain(err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("is no file")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", plain(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPrompt+1))
	if err != nil {
		return "", plain(err)
	}
	if len(data) > maxPrompt {
		return "", fmt.Errorf("is larger than %d KiB; a prompt is not", maxPrompt>>10)
	}
	if _, what := unreadable(data); what != "" {
		return "", errors.New("is no text: " + what)
	}
	return strings.TrimPrefix(string(data), "\ufeff"), nil
}

// setting is the one in force at a path, nil when there is none.
func (c *Config) setting(path string) *setting {
	if i := c.st().last[schema().byPath[path].id]; i >= 0 {
		return &c.st().settings[i]
	}
	return nil
}

// addError takes over one error or all of several.
func (p *problems) addError(err error) {
	if several, ok := errors.AsType[Errors](err); ok {
		for _, e := range several {
			p.add(e)
		}
	} else if one, ok := errors.AsType[*Error](err); ok {
		p.add(one)
	} else if err != nil {
		p.add(&Error{Problem: err.Error()})
	}
}

// ref is the tool without what must not be recorded.
func (t *boundTool) ref() (agent.ToolRef, error) {
	ref := agent.ToolRef{Name: t.name, Of: t.of}
	open := map[string]any{}
	for k, v := range t.config {
		if !secretArgument(k, v) {
			open[k] = v
		}
	}
	if len(open) == 0 {
		return ref, nil
	}
	raw, err := json.Marshal(open)
	if err != nil {
		return ref, &Error{Key: "tools." + t.name, Problem: "its settings cannot be written as JSON"}
	}
	ref.Config = raw
	return ref, nil
}
