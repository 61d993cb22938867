package wire

import (
	"context"
	"crypto/sha256"
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
	"dossier/internal/base/usage"
	"dossier/internal/config"
	"dossier/internal/fleet"
	"dossier/internal/store"
	"dossier/lang"
	"dossier/llm"
	"dossier/mode"
	"dossier/mode/agents"
	"dossier/tool/a2atool"
	"dossier/tool/catalog"
	"dossier/tool/mcptool"
	"dossier/tool/stock"
	"dossier/toolkit"
)

// DefaultAgent works when none is named.
const DefaultAgent = "sgr_tool_calling_agent"

// Agency makes agents ready: it finds their definitions, their tools and their
// models.
type Agency struct {
	cfg       *config.Config
	dir       string // relative folders of definitions lie in it
	language  lang.Code
	connector *connector
	base      *llm.Models
	kit       *toolkit.Toolkit
	remote    *a2atool.Client
	remotes   []string // names of the agents elsewhere

	// Stock are the tools, Servers the MCP servers of the configuration, and
	// Fleet the templates with their instances.
	Stock   *stock.Stock
	Servers *mcptool.Client
	Fleet   *fleet.Fleet

	client *http.Client
	listed []mcptool.Server // of the configuration

	mu      sync.Mutex
	models  map[[sha256.Size]byte]*llm.Models // of agents with models of their own
	byAgent map[string]*llm.Models            // by the agent's name and what it was made from
	private map[string]*mcptool.Client        // of agents with servers of their own, by name
}

// newAgency puts together what agents are made of.
func newAgency(cfg *config.Config, dir string, language lang.Code, c *connector, base *llm.Models, kit *toolkit.Toolkit, s store.Store) (*Agency, error) {
	a := &Agency{
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
	a.Stock = stock.New(stock.Parts{
		Catalog: catalog.New(s, catalog.Options{Embedder: meaning(base)}), Builtin: a.builtin,
		Servers: func(changed func(string)) *mcptool.Client { return a.connect(a.listed, changed) },
		Remote:  a.remote, Remotes: a.remotes,
	})
	a.Servers = a.Stock.Servers()
	a.Fleet, err = fleet.New(fleet.Options{Store: s, Check: a.check})
	if err != nil {
		return nil, errors.Join(err, a.Close())
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

func (a *Agency) connect(servers []mcptool.Server, changed func(string)) *mcptool.Client {
	return mcptool.New(context.Background(), servers, mcptool.Options{ContextLimit: a.cfg.Execution.MCPContextLimit, HTTP: a.client, Changed: changed})
}

// serversOf are the MCP servers that an agent may use: those of the
// configuration, or its own where its definition has some. A template has none
// of its own.
func (a *Agency) serversOf(m agents.Member) (*mcptool.Client, error) {
	if m.Template != "" {
		return a.Servers, nil
	}
	own, err := a.cfg.Agent(m.Agent.Name)
	if err != nil {
		return a.Servers, nil // what it was made from is gone: it goes on with what there is
	}
	servers, err := serversIn(own)
	if err != nil {
		return nil, err
	}
	if reflect.DeepEqual(servers, a.listed) {
		return a.Servers, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.private[m.Agent.Name] == nil {
		a.private[m.Agent.Name] = a.connect(servers, nil)
	}
	return a.private[m.Agent.Name], nil
}

// Close ends the connections to servers and notes what tools were used.
func (a *Agency) Close() error {
	errs := []error{a.Stock.Close(context.Background()), a.Servers.Close()}
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

// Dir is where relative folders of definitions lie.
func (a *Agency) Dir() string { return a.dir }

// Definitions are the names of the agents that the configuration defines.
func (a *Agency) Definitions() []string { return a.cfg.Definitions() }

// Remotes are the names of the agents elsewhere.
func (a *Agency) Remotes() []string { return a.remotes }

// check reads a template's document and says what is wrong with it.
func (a *Agency) check(name string, document []byte) (agent.Definition, error) {
	d, _, err := a.cfg.TemplateDefinition(name, document)
	if err != nil {
		return d, err
	}
	return d, a.checkTools(d, a.Servers)
}

// folder makes a relative folder one of the data directory.
func (a *Agency) folder(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.dir, path)
}

// resolve finds the agent that a request names, and those that it may call.
func (a *Agency) resolve(ctx context.Context, req *mode.Request) (agents.Settings, error) {
	set := agents.Settings{HistoryLimit: a.cfg.Chat.HistoryLimit, Lang: a.language}
	var err error
	if req.Instance != "" {
		i, v, ierr := a.Fleet.Wake(ctx, req.Instance)
		if ierr != nil {
			return set, FleetError(ierr)
		}
		req.Instance, req.Agent = i.ID, i.Template
		set.Member, err = a.template(v)
	} else {
		if req.Agent == "" {
			req.Agent = DefaultAgent
		}
		set.Member, err = a.Member(ctx, req.Agent)
	}
	if err != nil {
		return set, err
	}
	return set, a.callees(ctx, &set, set.Agent)
}

// callees finds the agents that an agent may call, and those that these may.
func (a *Agency) callees(ctx context.Context, set *agents.Settings, d agent.Definition) error {
	for _, name := range d.Agents {
		if _, done := set.Callees[name]; done || name == set.Agent.Name {
			continue
		}
		m, err := a.Member(ctx, name)
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

// Member finds an agent by its name: a template, which may be followed by @ and
// a version, or a definition of the configuration.
func (a *Agency) Member(ctx context.Context, name string) (agents.Member, error) {
	name, version, pinned := strings.Cut(name, "@")
	n := 0
	if pinned {
		var err error
		if n, err = strconv.Atoi(strings.TrimPrefix(version, "v")); err != nil || n < 1 {
			return agents.Member{}, &usage.Error{Message: fmt.Sprintf("%q is no version of a template", version), Hint: "write it as " + name + "@3"}
		}
	}
	v, err := a.Fleet.Version(ctx, name, n)
	if err == nil {
		return a.template(v)
	}
	if pinned || !errors.Is(err, fleet.ErrNoTemplate) {
		return agents.Member{}, FleetError(err)
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
func (a *Agency) template(v fleet.Version) (agents.Member, error) {
	d, err := a.check(v.Template, []byte(v.Document))
	d.LogsDir, d.ReportsDir = a.folder(d.LogsDir), a.folder(d.ReportsDir)
	return agents.Member{Agent: d, Template: v.Template, Version: v.N}, err
}

// unknown says that there is no agent of a name, and which ones there are.
func (a *Agency) unknown(ctx context.Context, name string) error {
	names := a.cfg.Definitions()
	if templates, err := a.Fleet.Templates(ctx); err == nil {
		for _, t := range templates {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return &usage.Error{Message: fmt.Sprintf("there is no agent %q", name), Hint: "those there are: " + strings.Join(slices.Compact(names), ", ")}
}

// FleetError gives the errors of a fleet a hint.
func FleetError(err error) error {
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
	return &usage.Error{Message: err.Error(), Hint: hint, Err: err}
}
