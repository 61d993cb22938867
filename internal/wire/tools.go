package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dossier/agent"
	"dossier/internal/base/usage"
	"dossier/internal/config"
	"dossier/mode/agents"
	"dossier/tool"
	"dossier/tool/mcptool"
	"dossier/toolkit"
)

// builtin are the built-in tools that may be used here.
func (a *Agency) builtin() ([]tool.Tool, error) {
	var all []tool.Tool
	for _, name := range a.kit.Names() {
		if name == toolkit.RunCommand && commandsOf(a.cfg).Workspace == "" {
			continue // the operator has not allowed it
		}
		t, err := a.make(agent.ToolRef{Name: name, Config: a.config(name)}, agent.Definition{ReportsDir: a.cfg.Execution.ReportsDir})
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// config is what the section tools says about a tool.
func (a *Agency) config(name string) json.RawMessage {
	for key, entry := range a.cfg.Tools {
		if tool.PlainName(key) != name || entry == nil {
			continue
		}
		if raw, err := json.Marshal(entry); err == nil {
			return raw
		}
	}
	return nil
}

// checkTools says which of a definition's tools there is not. Whether a server
// has the tool that is named is not asked: it may be down just now.
func (a *Agency) checkTools(d agent.Definition, servers *mcptool.Client) error {
	for _, ref := range d.Tools {
		if name, ok := strings.CutPrefix(ref.Name, "a2a:"); ok {
			if !slices.Contains(a.remotes, name) {
				return &usage.Error{
					Message: fmt.Sprintf("agent %s: there is no agent %q elsewhere", d.Name, name),
					Hint:    "name it in a2a.agents of the configuration; those there are: " + orNone(a.remotes),
				}
			}
			continue
		}
		if server, _, ok := mcpRef(ref.Name); ok {
			if !slices.Contains(servers.Servers(), server) {
				return &usage.Error{
					Message: fmt.Sprintf("agent %s: there is no MCP server %q", d.Name, server),
					Hint:    "name it in mcp.mcpServers of the configuration; those there are: " + orNone(servers.Servers()),
				}
			}
			continue
		}
		if err := a.kit.Check(builtinName(ref), ref.Config, a.toolSettings(d)); err != nil {
			return &usage.Error{Message: fmt.Sprintf("agent %s: %v", d.Name, err), Hint: "`dossier tools list` shows what there is"}
		}
	}
	return nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// mcpRef takes "mcp:SERVER" and "mcp:SERVER/TOOL" apart.
func mcpRef(name string) (server, toolName string, ok bool) {
	rest, ok := strings.CutPrefix(name, "mcp:")
	if !ok {
		return "", "", false
	}
	server, toolName, _ = strings.Cut(rest, "/")
	return server, toolName, true
}

// make makes a built-in tool.
func (a *Agency) make(ref agent.ToolRef, d agent.Definition) (tool.Tool, error) {
	t, err := a.kit.Make(builtinName(ref), ref.Config, a.toolSettings(d))
	if err != nil || ref.Of == "" {
		return t, err
	}
	return tool.Renamed(t, ref.Name), nil
}

// toolSettings are what a definition and the configuration say about tools.
func (a *Agency) toolSettings(d agent.Definition) toolkit.Settings {
	return toolkit.Settings{
		ReportsDir: a.folder(d.ReportsDir), ContentLimit: a.cfg.Search.ContentLimit, MaxResults: a.cfg.Search.MaxResults, Commands: commandsOf(a.cfg),
	}
}

// builtinName is the name of the tool that a reference means.
func builtinName(ref agent.ToolRef) string {
	if ref.Of != "" {
		return ref.Of
	}
	return ref.Name
}

// commandsOf is what the operator allows agents to run: what stands in the
// configuration's own section tools, and not in an agent's.
func commandsOf(cfg *config.Config) toolkit.Commands {
	var c struct {
		Workspace string   `json:"workspace_path"`
		Mode      string   `json:"mode"`
		Programs  []string `json:"programs"`
	}
	for name, entry := range cfg.Tools {
		if tool.PlainName(name) != toolkit.RunCommand {
			continue
		}
		if raw, err := json.Marshal(entry); err != nil || json.Unmarshal(raw, &c) != nil {
			return toolkit.Commands{}
		}
	}
	return toolkit.Commands{Workspace: c.Workspace, Programs: c.Programs, Unsafe: c.Mode == "unsafe"}
}

// toolsOf makes the built-in tools that an agent lists. Others is asked for those
// that are not built in, each in its place.
func (a *Agency) toolsOf(d agent.Definition, others func(ref agent.ToolRef) ([]tool.Tool, error)) (tools []tool.Tool, err error) {
	ends := false
	for _, ref := range d.Tools {
		if strings.HasPrefix(ref.Name, "mcp:") || strings.HasPrefix(ref.Name, "a2a:") {
			theirs, err := others(ref)
			if err != nil {
				return nil, err
			}
			tools = append(tools, theirs...)
			continue
		}
		t, err := a.make(ref, d)
		if err != nil {
			return nil, fmt.Errorf("agent %s: %w", d.Name, err)
		}
		ends = ends || t.Spec().Kind == tool.Final || d.Decider == agent.Dialog && t.Spec().Kind == tool.Answering
		tools = append(tools, t)
	}
	if !ends {
		name := toolkit.FinalAnswer
		if d.Decider == agent.Dialog {
			name = toolkit.AnswerUser
		}
		t, err := a.make(agent.ToolRef{Name: name}, d)
		if err != nil {
			return nil, err
		}
		tools = append(tools, t)
	}
	if d.Search.OnDemand {
		tools = append(tools, a.Stock.Finder(d.Search))
	}
	return tools, nil
}

// builtinOf makes the tools of an agent that are part of the program.
func (a *Agency) builtinOf(m agents.Member) ([]tool.Tool, error) {
	return a.toolsOf(m.Agent, func(agent.ToolRef) ([]tool.Tool, error) { return nil, nil })
}

// tools makes all tools that an agent lists, and asks servers and agents elsewhere
// for theirs.
func (a *Agency) tools(ctx context.Context, m agents.Member) (tools []tool.Tool, trouble []string, err error) {
	d := m.Agent
	servers, err := a.serversOf(m)
	if err != nil {
		return nil, nil, err
	}
	tools, err = a.toolsOf(d, func(ref agent.ToolRef) ([]tool.Tool, error) {
		if name, ok := strings.CutPrefix(ref.Name, "a2a:"); ok {
			t, why := a.remote.Tool(ctx, name)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if why != nil {
				trouble = append(trouble, why.Error())
				return nil, nil
			}
			return []tool.Tool{t}, nil
		}
		server, name, _ := mcpRef(ref.Name)
		theirs, why := offered(ctx, servers, server, name)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if why != nil {
			trouble = append(trouble, why.Error())
		}
		return theirs, nil
	})
	if err != nil {
		return nil, nil, err
	}
	if d.Search.OnDemand || len(d.Search.Always) > 0 {
		down, err := a.Stock.Refresh(ctx, false)
		if err != nil {
			return nil, nil, err
		}
		for _, t := range down {
			trouble = append(trouble, t.Error())
		}
	}
	return mcptool.Limited(mcptool.Distinct(tools), d.Limits.Full().MCPContext), trouble, nil
}

// offered returns the tools of a server, or the one of a name.
func offered(ctx context.Context, servers *mcptool.Client, server, name string) ([]tool.Tool, error) {
	all, err := servers.Tools(ctx, server)
	if err != nil || name == "" {
		return all, err
	}
	one := slices.IndexFunc(all, func(t tool.Tool) bool { return tool.PlainName(t.Spec().Name) == tool.PlainName(name) })
	if one < 0 {
		return nil, fmt.Errorf("MCP server %s has no tool %s", server, name)
	}
	return all[one : one+1], nil
}

// used notes a call of a tool.
func (a *Agency) used(spec *tool.Spec, failed string, took time.Duration) {
	var err error
	if failed != "" {
		err = errors.New(failed)
	}
	a.Stock.RecordUse(spec, took, err)
}

// tool finds a tool by its name.
func (a *Agency) tool(ctx context.Context, name string) (tool.Tool, error) {
	if t := a.Stock.At(ctx, name); t != nil {
		return t, nil
	}
	trouble, err := a.Stock.Refresh(ctx, true)
	if err != nil {
		return nil, err
	}
	if t := a.Stock.At(ctx, name); t != nil {
		return t, nil
	}
	if slices.ContainsFunc(a.kit.Names(), func(known string) bool { return tool.PlainName(known) == tool.PlainName(name) }) {
		err := a.kit.Check(name, nil, a.toolSettings(agent.Definition{}))
		return nil, &usage.Error{Message: fmt.Sprint(err)} // the operator has not set it up
	}
	hints := []string{"`dossier tools list` shows what there is"}
	for _, t := range trouble {
		hints = append(hints, t.Error())
	}
	return nil, &usage.Error{Message: fmt.Sprintf("there is no tool %q", name), Hint: strings.Join(hints, "; ")}
}
