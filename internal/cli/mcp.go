package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"dossier"
	"dossier/internal/access"
	"dossier/internal/base/term"
	"dossier/internal/server"
	"dossier/internal/server/mcp"
	"dossier/tool/mcptool"
)

type mcpCmd struct {
	List  mcpList  `cmd:"" default:"withargs" help:"List the MCP servers, and whether they answer."`
	Test  mcpTest  `cmd:"" help:"Ask the servers for their tools."`
	Serve mcpServe `cmd:"" help:"Be an MCP server for the program that starts this one."`
}

func (mcpCmd) Help() string {
	return `MCP servers bring tools that agents can call. They stand in the configuration
file under mcp.mcpServers; a server with a command is started when it is needed.
The other way round, serve lets programs that speak MCP do research with Dossier.

` + examples("dossier mcp list", "dossier mcp test docs", "dossier tools list --origin mcp:docs")
}

// mcpServers asks the servers how they are.
func (a *app) mcpServers(l *link) ([]mcptool.Status, error) {
	list, err := l.MCPStatus(a.ctx)
	if err == nil && len(list) == 0 {
		a.notef("no MCP servers; name them in mcp.mcpServers of the configuration: `dossier config explain mcp`")
	}
	return list, err
}

type mcpList struct{}

func (mcpList) Help() string { return examples("dossier mcp list", "dossier mcp list --json") }

func (mcpList) Run(a *app) error {
	return a.with(a.ctx, func(l *link) error {
		list, err := a.mcpServers(l)
		if err != nil {
			return err
		}
		if a.JSON {
			for _, s := range list {
				printJSON(a.proc.Stdout, s)
			}
			return nil
		}
		rows := make([][]string, len(list))
		for i, s := range list {
			state, about := "ok", fmt.Sprintf("%d tools (%s) %s", s.Tools, took(s.Took), s.ServerInfo)
			if !s.OK {
				state, about = "failed", s.Error
			}
			rows[i] = []string{s.Server, state, about}
		}
		return a.printRows(rows)
	})
}

type mcpTest struct {
	Server string `arg:"" optional:"" help:"Only this server."`
}

func (mcpTest) Help() string {
	return "Exit code 3 says that a server does not answer.\n\n" + examples("dossier mcp test", "dossier mcp test docs --json")
}

func (c mcpTest) Run(a *app) error {
	return a.with(a.ctx, func(l *link) error {
		list, err := a.mcpServers(l)
		if err != nil {
			return err
		}
		if c.Server != "" {
			names := make([]string, len(list))
			for i, s := range list {
				names[i] = s.Server
			}
			if !slices.Contains(names, c.Server) {
				return &failure{code: exitUsage, message: fmt.Sprintf("there is no MCP server %q", c.Server), hint: "those there are: " + strings.Join(names, ", ")}
			}
			list = slices.DeleteFunc(list, func(s mcptool.Status) bool { return s.Server != c.Server })
		}
		if err := a.printServers(l, list); err != nil {
			return err
		}
		if slices.ContainsFunc(list, func(s mcptool.Status) bool { return !s.OK }) {
			return exitWith(exitProvider)
		}
		return nil
	})
}

// printServers shows how servers are, with the names of their tools.
func (a *app) printServers(l *link, list []mcptool.Status) error {
	if a.JSON {
		for _, s := range list {
			printJSON(a.proc.Stdout, s)
		}
		return nil
	}
	all, err := l.Tools(a.ctx)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, s := range list {
		if !s.OK {
			fmt.Fprintf(&b, "%-9s%s: %s\n", "failed", term.Line(s.Server), term.Line(s.Error))
			if s.Hint != "" {
				fmt.Fprintf(&b, "         %s\n", term.Line(s.Hint))
			}
			continue
		}
		fmt.Fprintf(&b, "%-9s%s: %s, %d tools (%s)\n", "ok", term.Line(s.Server), term.Line(s.ServerInfo), s.Tools, took(s.Took))
		for _, t := range all.Tools {
			if t.Origin == "mcp:"+s.Server {
				b.WriteString("         " + toolLine(t) + "\n")
			}
		}
	}
	_, err = io.WriteString(a.proc.Stdout, b.String())
	return err
}

// toolLine is a tool in a short line.
func toolLine(t dossier.ToolEntry) string {
	const most = 90
	line := term.Line(t.Name)
	if t.Description != "" {
		line += ": " + term.Line(t.Description)
	}
	return term.Fit(line, most)
}

type mcpServe struct{}

func (mcpServe) Help() string {
	return `Speaks MCP over standard input and output, for programs that start their servers
themselves: name "dossier" as the command there, and "mcp", "serve" as its
arguments. Research, web search, pages, collections and runs are tools, reports
are resources. Folders can be asked about below those of server.folders.

It ends with its input; runs under way are kept. "dossier serve" speaks MCP too,
at /mcp.

` + examples("dossier mcp serve", "dossier mcp serve --data ~/research")
}

func (mcpServe) Run(a *app) error {
	cfg, err := a.settings()
	if err != nil {
		return err
	}
	policy, err := policyOf(cfg)
	if err != nil {
		return err
	}
	return a.with(a.ctx, func(l *link) error {
		ctx := server.Admit(a.ctx, l, access.Operator(), &policy, a.log)
		return mcp.Serve(ctx, mcp.Options{Version: version(), Log: a.log}, a.proc.Stdin, a.proc.Stdout)
	})
}
