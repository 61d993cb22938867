package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"dossier"
	"dossier/internal/base/term"
	"dossier/lang"
	"dossier/mode"
	"dossier/mode/toolcall"
	"dossier/report"
	"dossier/tool"
)

type toolsCmd struct {
	List   toolsList   `cmd:"" default:"withargs" help:"List the tools that agents can call."`
	Show   toolsShow   `cmd:"" help:"Show what a tool does and which arguments it takes."`
	Search toolsSearch `cmd:"" help:"Find the tools for a task."`
	Test   toolsTest   `cmd:"" help:"Call a tool and print what it returns."`
}

func (toolsCmd) Help() string {
	return `Tools are built in or come from MCP servers ("dossier mcp"), which are asked for
them now.

` + examples("dossier tools list", `dossier tools search "read a web page"`, `dossier tools test search '{"query": "parental leave"}'`)
}

// allTools asks for the tools, and says which servers could not be asked.
func (a *app) allTools(l *link) ([]dossier.ToolEntry, error) {
	list, err := l.Tools(a.ctx)
	for _, t := range list.Trouble {
		a.notef("%s", term.Line(t.Error()))
	}
	return list.Tools, err
}

// printTools lists tools.
func (a *app) printTools(tools []dossier.ToolEntry) error {
	if a.JSON {
		for _, t := range tools {
			printJSON(a.proc.Stdout, t)
		}
		return nil
	}
	rows := make([][]string, len(tools))
	for i, t := range tools {
		rows[i] = []string{t.Name, t.Origin, t.Effect, t.Description}
	}
	return a.printRows(rows)
}

type toolsList struct {
	Origin string `placeholder:"WHERE" help:"Only those of builtin, or of an MCP server, as in mcp:docs."`
}

func (toolsList) Help() string {
	return `The columns are the name, where the tool comes from, what a call does (read: it
changes nothing, idempotent: it may be repeated, effectful: it may not), and the
description.

` + examples("dossier tools list", "dossier tools list --origin mcp:docs", "dossier tools list --json | jq -r .name")
}

func (c toolsList) Run(a *app) error {
	return a.with(a.ctx, func(l *link) error {
		tools, err := a.allTools(l)
		if err != nil {
			return err
		}
		if c.Origin != "" {
			tools = slices.DeleteFunc(tools, func(t dossier.ToolEntry) bool { return t.Origin != c.Origin })
		}
		return a.printTools(tools)
	})
}

type toolsShow struct {
	Name string `arg:"" help:"The tool."`
}

func (toolsShow) Help() string {
	return examples("dossier tools show web_search_tool", "dossier tools show web_search_tool --json | jq .schema")
}

func (c toolsShow) Run(a *app) error {
	return a.with(a.ctx, func(l *link) error {
		tools, err := a.allTools(l)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(tools, func(t dossier.ToolEntry) bool { return t.Name == c.Name })
		if i < 0 {
			i = slices.IndexFunc(tools, func(t dossier.ToolEntry) bool { return tool.PlainName(t.Name) == tool.PlainName(c.Name) })
		}
		if i < 0 {
			return unknownTool(c.Name, tools)
		}
		if a.JSON {
			printJSON(a.proc.Stdout, tools[i])
			return nil
		}
		_, err = io.WriteString(a.proc.Stdout, toolText(tools[i]))
		return err
	})
}

func unknownTool(name string, tools []dossier.ToolEntry) error {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	hint := "`dossier tools list` shows what there is"
	if near := nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %s? %s", near, hint)
	}
	return &failure{code: exitUsage, message: fmt.Sprintf("there is no tool %q", name), hint: hint}
}

func toolText(t dossier.ToolEntry) string {
	var s sheet
	s.row("tool", t.Name)
	s.row("from", t.Origin)
	effects := map[string]string{
		"read": "changes nothing", "idempotent": "changes something; the same call twice is as once", "effectful": "changes something with each call",
	}
	s.row("a call", cmp.Or(effects[t.Effect], t.Effect))
	s.row("tags", strings.Join(t.Tags, ", "))
	fmt.Fprintf(&s, "\n%s\n", strings.TrimSpace(term.Clean(t.Description)))
	for i, arg := range toolArguments(t.Schema) {
		if i == 0 {
			s.WriteString("\nArguments:\n")
		}
		fmt.Fprintf(&s, "  %s\n", term.Line(arg))
	}
	return s.String()
}

// toolArguments describes the arguments of a schema, a line each.
func toolArguments(schema json.RawMessage) []string {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil || len(s.Properties) == 0 {
		return nil
	}
	var out []string
	for name, raw := range members(s.Properties) {
		var p struct {
			Type        any    `json:"type"`
			Enum        []any  `json:"enum"`
			Description string `json:"description"`
			Default     any    `json:"default"`
		}
		_ = json.Unmarshal(raw, &p) // what can't be read is left out
		kind, optional := typeName(p.Type)
		if len(p.Enum) > 0 {
			words := make([]string, len(p.Enum))
			for i, v := range p.Enum {
				words[i] = fmt.Sprint(v)
			}
			kind = strings.Join(words, " | ")
		}
		if optional || !slices.Contains(s.Required, name) {
			kind += ", optional"
		}
		line := fmt.Sprintf("%s (%s)", name, kind)
		if p.Description != "" {
			line += ": " + p.Description
		}
		out = append(out, line)
	}
	return out
}

// typeName is a type of a schema; one that may be null is optional.
func typeName(t any) (name string, optional bool) {
	if t == nil {
		return "any", false
	}
	several, ok := t.([]any)
	if !ok {
		return fmt.Sprint(t), false
	}
	var names []string
	for _, one := range several {
		if one == "null" {
			optional = true
			continue
		}
		names = append(names, fmt.Sprint(one))
	}
	return strings.Join(names, " | "), optional
}

// members are the members of a JSON object in the order in which they are
// written.
func members(object json.RawMessage) func(yield func(string, json.RawMessage) bool) {
	return func(yield func(string, json.RawMessage) bool) {
		d := json.NewDecoder(bytes.NewReader(object))
		if open, err := d.Token(); err != nil || open != json.Delim('{') {
			return
		}
		for d.More() {
			name, err := d.Token()
			var value json.RawMessage
			if err != nil || d.Decode(&value) != nil {
				return
			}
			key, _ := name.(string)
			if !yield(key, value) {
				return
			}
		}
	}
}

type toolsSearch struct {
	Words []string `arg:"" help:"What has to be done."`
	K     int      `short:"k" default:"5" placeholder:"N" help:"How many (default 5)."`
}

func (toolsSearch) Help() string {
	return examples(`dossier tools search "read a web page"`, `dossier tools search papers -k 3 --json`)
}

func (c toolsSearch) Run(a *app) error {
	if c.K <= 0 {
		return &failure{code: exitUsage, message: "-k has to be more than 0"}
	}
	return a.with(a.ctx, func(l *link) error {
		found, err := l.SearchTools(a.ctx, strings.Join(c.Words, " "), c.K)
		if err != nil {
			return err
		}
		if err := a.printTools(found.Tools); err != nil {
			return err
		}
		switch {
		case len(found.Tools) == 0:
			a.notef("nothing found; `dossier tools list` shows all")
			return exitWith(exitNotEnough)
		case !found.Tools[0].Enough:
			a.notef("none of these surely does it")
		}
		return nil
	})
}

type toolsTest struct {
	Name      string `arg:"" help:"The tool."`
	Arguments string `arg:"" optional:"" help:"Its arguments as a JSON object (default: none)."`

	budget `embed:""`
}

func (toolsTest) Help() string {
	return `The call is a run of its own: it is kept, and "dossier runs list" shows it. A
tool that changes something does so.

` + examples(`dossier tools test add_note_tool '{"text": "to keep"}'`, `dossier tools test search '{"query": "parental leave"}' --json`)
}

func (c *toolsTest) Run(a *app) error {
	settings, err := a.settings()
	if err != nil {
		return err
	}
	code := a.locale()
	req := dossier.Request{Mode: toolcall.Name, Request: mode.Request{
		Question: cmp.Or(strings.TrimSpace(c.Arguments), "{}"), Agent: c.Name, Lang: string(code), Model: a.Model, NoInput: true, Limits: c.limits(settings),
	}}
	req.In.Base = a.dir()
	return a.with(a.ctx, func(l *link) error {
		rec, err := a.start(a.ctx, l, req)
		if err != nil {
			return err
		}
		return a.follow(a.ctx, l, rec, lang.Catalogue(code), report.Short, "")
	})
}
