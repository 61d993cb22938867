package dossier

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"dossier/agent"
	"dossier/egress"
	"dossier/internal/config"
	"dossier/internal/fleet"
	"dossier/internal/store"
	"dossier/lang"
	"dossier/llm"
	"dossier/mode"
	"dossier/mode/agents"
	"dossier/tool"
	"dossier/tool/a2atool"
	"dossier/tool/catalog"
	"dossier/tool/mcptool"
	"dossier/toolkit"
)

// DefaultAgent works when none is named.
const DefaultAgent = "sgr_tool_calling_agent"

// agency makes agents ready: it finds their definitions, their tools and their
// models.
type agency struct {
	cfg       *config.Config
	dir       string // relative folders of definitions lie in it
	language  lang.Code
	connector *connector
	base      *llm.Models
	kit       *toolkit.Toolkit
	servers   *mcptool.Client
	remote    *a2atool.Client
	remotes   []string // names of the agents elsewhere
	shelf     *shelf
	fleet     *fleet.Fleet

	client *http.Client
	listed []mcptool.Server // of the configuration

	mu      sync.Mutex
	models  map[[sha256.Size]byte]*llm.Models // of agents with models of their own
	byAgent map[string]*llm.Models            // by the agent's name and what it was made from
	private map[string]*mcptool.Client        // of agents with servers of their own, by name
}

// newAgency puts together what agents are made of.
func newAgency(cfg *config.Config, dir string, language lang.Code, c *connector, base *llm.Models, kit *toolkit.Toolkit, s store.Store) (*agency, error) {
	a := &agency{
		cfg: cfg, dir: dir, language: language, connector: c, base: base, kit: kit, models: make(map[[sha256.Size]byte]*llm.Models), byAgent: make(map[string]*llm.Models), private: make(map[string]*mcptool.Client),
	}
	var err error
	if a.listed, err = serversIn(cfg); err != nil {
		return nil, err
	}
	if a.client, err = egress.Plain(egress.PlainConfig{}); err != nil {
		return nil, err
	}
	if a.remotes, err = cfg.RemoteAgents(); err != nil {
		return nil, err
	}
	var elsewhere []a2atool.Agent
	for _, name := range a.remotes {
		r, err := cfg.RemoteAgent(name)
		if err != nil {
			return nil, err
		}
		elsewhere = append(elsewhere, a2atool.Agent{Name: name, URL: r.URL, Headers: r.Headers})
	}
	a.remote = a2atool.New(elsewhere, a2atool.Options{ContextLimit: cfg.Execution.MCPContextLimit, HTTP: a.client})
	a.shelf = newShelf(func(changed func(string)) *mcptool.Client { return a.connect(a.listed, changed) }, a.remote, a.remotes, catalog.New(s, catalog.Options{Embedder: meaning(base)}), a.builtin)
	a.servers = a.shelf.servers
	a.fleet, err = fleet.New(fleet.Options{Store: s, Check: a.check})
	if err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

// serversIn are the MCP servers of a configuration.
func serversIn(cfg *config.Config) (servers []mcptool.Server, err error) {
	names, err := cfg.MCPServers()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		m, err := cfg.MCPServer(name)
		if err != nil {
			return nil, err
		}
		servers = append(servers, mcptool.Server{Name: name, URL: m.URL, Headers: m.Headers, Command: m.Command, Args: m.Args, Env: m.Env})
	}
	return servers, nil
}

func (a *agency) connect(servers []mcptool.Server, changed func(string)) *mcptool.Client {
	return mcptool.New(context.Background(), servers, mcptool.Options{ContextLimit: a.cfg.Execution.MCPContextLimit, HTTP: a.client, Changed: changed})
}

// serversOf are the MCP servers that an agent may use: those of the
// configuration, or its own where its definition has some. A template has none
// of its own.
func (a *agency) serversOf(m agents.Member) (*mcptool.Client, error) {
	if m.Template != "" {
		return a.servers, nil
	}
	own, err := a.cfg.Agent(m.Agent.Name)
	if err != nil {
		return a.servers, nil // what it was made from is gone: it goes on with what there is
	}
	servers, err := serversIn(own)
	if err != nil {
		return nil, err
	}
	if reflect.DeepEqual(servers, a.listed) {
		return a.servers, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.private[m.Agent.Name] == nil {
		a.private[m.Agent.Name] = a.connect(servers, nil)
	}
	return a.private[m.Agent.Name], nil
}

// builtin are the built-in tools that may be used here.
func (a *agency) builtin() ([]tool.Tool, error) {
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
func (a *agency) config(name string) json.RawMessage {
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

func (a *agency) close() error {
	errs := []error{a.shelf.Close(context.Background()), a.servers.Close()}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, own := range a.private {
		errs = append(errs, own.Close())
	}
	return errors.Join(errs...)
}

// meaning is the configured embedder for the catalog, nil without one.
func meaning(models *llm.Models) catalog.Embedder {
	if e := embedder(models); e != nil {
		return e
	}
	return nil
}

// check reads a template's document and says what is wrong with it.
func (a *agency) check(name string, document []byte) (agent.Definition, error) {
	d, _, err := a.cfg.TemplateDefinition(name, document)
	if err != nil {
		return d, err
	}
	return d, a.checkTools(d, a.servers)
}

// checkTools says which of a definition's tools there is not. Whether a server
// has the tool that is named is not asked: it may be down just now.
func (a *agency) checkTools(d agent.Definition, servers *mcptool.Client) error {
	for _, ref := range d.Tools {
		if name, ok := strings.CutPrefix(ref.Name, "a2a:"); ok {
			if !slices.Contains(a.remotes, name) {
				return &UsageError{
					Message: fmt.Sprintf("agent %s: there is no agent %q elsewhere", d.Name, name),
					Hint:    "name it in a2a.agents of the configuration; those there are: " + orNone(a.remotes),
				}
			}
			continue
		}
		if server, _, ok := mcpRef(ref.Name); ok {
			if !slices.Contains(servers.Servers(), server) {
				return &UsageError{
					Message: fmt.Sprintf("agent %s: there is no MCP server %q", d.Name, server),
					Hint:    "name it in mcp.mcpServers of the configuration; those there are: " + orNone(servers.Servers()),
				}
			}
			continue
		}
		if err := a.kit.Check(builtinName(ref), ref.Config, a.toolSettings(d)); err != nil {
			return &UsageError{Message: fmt.Sprintf("agent %s: %v", d.Name, err), Hint: "`dossier tools list` shows what there is"}
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
func (a *agency) make(ref agent.ToolRef, d agent.Definition) (tool.Tool, error) {
	t, err := a.kit.Make(builtinName(ref), ref.Config, a.toolSettings(d))
	if err != nil || ref.Of == "" {
		return t, err
	}
	return tool.Renamed(t, ref.Name), nil
}

// toolSettings are what a definition and the configuration say about tools.
func (a *agency) toolSettings(d agent.Definition) toolkit.Settings {
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

// folder makes a relative folder one of the data directory.
func (a *agency) folder(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.dir, path)
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
func (a *agency) toolsOf(d agent.Definition, others func(ref agent.ToolRef) ([]tool.Tool, error)) (tools []tool.Tool, err error) {
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
		tools = append(tools, a.shelf.Finder(policyOf(d.Search)))
	}
	return tools, nil
}

// builtinOf makes the tools of an agent that are part of the program.
func (a *agency) builtinOf(m agents.Member) ([]tool.Tool, error) {
	return a.toolsOf(m.Agent, func(agent.ToolRef) ([]tool.Tool, error) { return nil, nil })
}

// tools makes all tools that an agent lists, and asks servers and agents elsewhere
// for theirs.
func (a *agency) tools(ctx context.Context, m agents.Member) (tools []tool.Tool, trouble []string, err error) {
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
		down, err := a.shelf.refresh(ctx, false)
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

// resolve finds the agent that a request names, and those that it may call.
func (a *agency) resolve(ctx context.Context, req *mode.Request) (agents.Settings, error) {
	set := agents.Settings{HistoryLimit: a.cfg.Chat.HistoryLimit, Lang: a.language}
	var err error
	if req.Instance != "" {
		i, v, ierr := a.fleet.Wake(ctx, req.Instance)
		if ierr != nil {
			return set, fleetError(ierr)
		}
		req.Instance, req.Agent = i.ID, i.Template
		set.Member, err = a.template(v)
	} else {
		if req.Agent == "" {
			req.Agent = DefaultAgent
		}
		set.Member, err = a.member(ctx, req.Agent)
	}
	if err != nil {
		return set, err
	}
	return set, a.callees(ctx, &set, set.Agent)
}

// callees finds the agents that an agent may call, and those that these may.
func (a *agency) callees(ctx context.Context, set *agents.Settings, d agent.Definition) error {
	for _, name := range d.Agents {
		if _, done := set.Callees[name]; done || name == set.Agent.Name {
			continue
		}
		m, err := a.member(ctx, name)
		if err != nil {
			return fmt.Errorf("agent %s calls %s: %w", d.Name, name, err)
		}
		if set.Callees == nil {
			set.Callees = make(map[string]agents.Member)
		}
		set.Callees[name] = m
		if err := a.callees(ctx, set, m.Agent); err != nil {
			return err
		}
	}
	if slices.Contains(d.Agents, set.Agent.Name) && set.Agent.Name != d.Name {
		if set.Callees == nil {
			set.Callees = make(map[string]agents.Member)
		}
		set.Callees[set.Agent.Name] = set.Member
	}
	return nil
}

// member finds an agent by its name: a template, which may be followed by @ and
// a version, or a definition of the configuration.
func (a *agency) member(ctx context.Context, name string) (agents.Member, error) {
	name, version, pinned := strings.Cut(name, "@")
	n := 0
	if pinned {
		var err error
		if n, err = strconv.Atoi(strings.TrimPrefix(version, "v")); err != nil || n < 1 {
			return agents.Member{}, &UsageError{Message: fmt.Sprintf("%q is no version of a template", version), Hint: "write it as " + name + "@3"}
		}
	}
	v, err := a.fleet.Version(ctx, name, n)
	if err == nil {
		return a.template(v)
	}
	if pinned || !errors.Is(err, fleet.ErrNoTemplate) {
		return agents.Member{}, fleetError(err)
	}
	if !slices.Contains(a.cfg.Definitions(), name) {
		return agents.Member{}, a.unknown(ctx, name)
	}
	d, err := a.cfg.Definition(name)
	if err == nil {
		var servers *mcptool.Client
		if servers, err = a.serversOf(agents.Member{Agent: d}); err == nil {
			err = a.checkTools(d, servers)
		}
	}
	d.LogsDir, d.ReportsDir = a.folder(d.LogsDir), a.folder(d.ReportsDir)
	return agents.Member{Agent: d}, err
}

// template is a version of a template as a member.
func (a *agency) template(v fleet.Version) (agents.Member, error) {
	d, err := a.check(v.Template, []byte(v.Document))
	d.LogsDir, d.ReportsDir = a.folder(d.LogsDir), a.folder(d.ReportsDir)
	return agents.Member{Agent: d, Template: v.Template, Version: v.N}, err
}

// unknown says that there is no agent of a name, and which ones there are.
func (a *agency) unknown(ctx context.Context, name string) error {
	names := a.cfg.Definitions()
	if templates, err := a.fleet.Templates(ctx); err == nil {
		for _, t := range templates {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return &UsageError{Message: fmt.Sprintf("there is no agent %q", name), Hint: "those there are: " + strings.Join(slices.Compact(names), ", ")}
}

// fleetError gives the errors of a fleet a hint.
func fleetError(err error) error {
	var full *fleet.QueueFullError
	var state *fleet.StateError
	var session *fleet.SessionError
	var refused *fleet.RequestError
	hint := ""
	switch {
	case errors.As(err, &session), errors.As(err, &refused): // they say what to do
	case errors.As(err, &full):
		hint = "wait until some of its runs are over, or register it with a longer queue"
	case errors.As(err, &state):
		hint = "`dossier instances start " + state.Instance + "` makes it take runs again"
	case errors.Is(err, fleet.ErrNoInstance):
		hint = "`dossier instances list` shows what there is"
	case errors.Is(err, fleet.ErrNoTemplate), errors.Is(err, fleet.ErrNoVersion):
		hint = "`dossier templates list` shows what there is"
	case errors.Is(err, fleet.ErrExists):
		hint = "`dossier instances list` shows the names that are taken"
	case errors.Is(err, fleet.ErrInUse): // it says by what
	default:
		return err
	}
	return &UsageError{Message: err.Error(), Hint: hint, Err: err}
}
