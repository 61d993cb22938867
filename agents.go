package dossier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dossier/agent"
	"dossier/internal/dispatch"
	"dossier/internal/fleet"
	"dossier/mode"
	"dossier/mode/agents"
	"dossier/run"
	"dossier/tool"
	"dossier/tool/catalog"
	"dossier/tool/mcptool"
	"dossier/tool/stock"
)

// AgentEntry is an agent in the directory.
type AgentEntry struct {
	Name string `json:"name"`
	// Kind is definition, template, instance or remote.
	Kind         string   `json:"kind"`
	Description  string   `json:"description,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	Decider      string   `json:"decider,omitempty"`
	Tools        []string `json:"tools,omitempty"`
	// Template and Version of a template or an instance.
	Template string `json:"template,omitempty"`
	Version  int    `json:"version,omitempty"`
	// Trouble says why it can't work.
	Trouble string `json:"trouble,omitempty"`
}

// Agents is the directory: the definitions of the configuration, the templates
// and the agents of other servers, by name. Instances have lists of their own.
func (e *Engine) Agents(ctx context.Context) ([]AgentEntry, error) {
	a := e.agency
	templates, err := a.fleet.Templates(ctx)
	if err != nil {
		return nil, err
	}
	var out []AgentEntry
	taken := make(map[string]bool)
	for _, t := range templates {
		taken[t.Name] = true
		out = append(out, a.entry(ctx, t.Name, "template"))
	}
	for _, name := range a.Definitions() {
		if !taken[name] {
			out = append(out, a.entry(ctx, name, "definition"))
		}
	}
	for _, name := range a.Remotes() {
		out = append(out, AgentEntry{Name: name, Kind: "remote", Tools: []string{"a2a:" + name}})
	}
	slices.SortFunc(out, func(a, b AgentEntry) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// entry describes an agent; that it can't work is part of that.
func (a *agency) entry(ctx context.Context, name, kind string) AgentEntry {
	m, err := a.Member(ctx, name)
	d := m.Agent
	out := AgentEntry{Name: name, Kind: kind, Description: d.Description, Capabilities: d.Capabilities, Decider: string(d.Decider), Template: m.Template, Version: m.Version}
	for _, ref := range d.Tools {
		out.Tools = append(out.Tools, ref.Name)
	}
	for _, callee := range d.Agents {
		out.Tools = append(out.Tools, agent.ToolName(callee))
	}
	if err != nil {
		out.Trouble = err.Error()
	}
	return out
}

// Agent returns the definition that a run of an agent would be given: that of a
// template, which may be followed by @ and a version, or of the configuration.
func (e *Engine) Agent(ctx context.Context, name string) (agents.Member, error) {
	return e.agency.Member(ctx, name)
}

// ErrUnknownAgent says that no run is of the agent with an id.
var ErrUnknownAgent = errors.New("no such agent")

// ByAgent returns the last run of the agent that clients know by an id.
func (e *Engine) ByAgent(ctx context.Context, id string) (run.Record, error) {
	if id == "" {
		return run.Record{}, ErrUnknownAgent
	}
	list, err := e.store.List(ctx, Filter{Agent: id, Limit: 1})
	if err != nil {
		return run.Record{}, err
	}
	if len(list) == 0 {
		return run.Record{}, fmt.Errorf("%w: %q", ErrUnknownAgent, id)
	}
	return e.store.Run(ctx, list[0].ID)
}

// goOn makes a request that names an agent by its id one for that agent: the same
// definition or instance, the next run of its session.
func (e *Engine) goOn(ctx context.Context, req *Request) error {
	if req.AgentID == "" {
		return nil
	}
	last, err := e.ByAgent(ctx, req.AgentID)
	if err != nil {
		return &UsageError{Message: err.Error(), Err: err}
	}
	if !last.Status.Ended() {
		return &UsageError{
			Message: fmt.Sprintf("agent %s is not done: run %s is %s", req.AgentID, last.ID, last.Status),
			Hint:    "`dossier runs answer` answers what it asks, `dossier runs steer` tells it something",
		}
	}
	var before mode.Request
	if err := json.Unmarshal(last.Request, &before); err != nil {
		return fmt.Errorf("the stored request: %w", err)
	}
	for what, pair := range map[string][2]string{
		"mode": {req.Mode, last.Mode}, "session": {req.Session, last.Session}, "agent": {req.Agent, before.Agent}, "instance": {req.Instance, before.Instance},
	} {
		if pair[0] != "" && pair[0] != pair[1] {
			return &UsageError{Message: fmt.Sprintf("agent %s has the %s %q, not %q", req.AgentID, what, pair[1], pair[0])}
		}
	}
	req.Mode, req.Session, req.Agent, req.Instance = last.Mode, last.Session, before.Agent, before.Instance
	return nil
}

// Templates lists the templates.
func (e *Engine) Templates(ctx context.Context) ([]fleet.Template, error) {
	return e.agency.fleet.Templates(ctx)
}

// Template returns a template with its versions and publications.
func (e *Engine) Template(ctx context.Context, name string) (fleet.Template, error) {
	t, err := e.agency.fleet.Template(ctx, name)
	return t, fleetError(err)
}

// TemplateVersion returns a version with its document; 0 is the published one,
// and the latest where none is.
func (e *Engine) TemplateVersion(ctx context.Context, name string, n int) (fleet.Version, error) {
	v, err := e.agency.fleet.Version(ctx, name, n)
	return v, fleetError(err)
}

// SaveTemplate makes a template, or adds a version to the one there is. Added
// says whether there is a new version: the same document again is none.
func (e *Engine) SaveTemplate(ctx context.Context, name string, t fleet.Text) (v fleet.Version, added bool, err error) {
	v, added, err = e.agency.fleet.AddVersion(ctx, name, t)
	if errors.Is(err, fleet.ErrNoTemplate) {
		v, err = e.agency.fleet.Create(ctx, name, t)
		if added = err == nil; errors.Is(err, fleet.ErrExists) { // somebody was faster
			v, added, err = e.agency.fleet.AddVersion(ctx, name, t)
		}
	}
	return v, added, fleetError(err)
}

// PublishTemplate makes a version the one that is used where none is named.
func (e *Engine) PublishTemplate(ctx context.Context, name string, n int) error {
	return fleetError(e.agency.fleet.Publish(ctx, name, n))
}

// RollBackTemplate publishes an earlier version again, 0 the one before the
// present one, and returns which it is.
func (e *Engine) RollBackTemplate(ctx context.Context, name string, n int) (int, error) {
	now, err := e.agency.fleet.RollBack(ctx, name, n)
	return now, fleetError(err)
}

// DeprecateTemplate marks a version, or with 0 the whole template, as one that
// should not be used any more.
func (e *Engine) DeprecateTemplate(ctx context.Context, name string, n int) error {
	return fleetError(e.agency.fleet.Deprecate(ctx, name, n))
}

// DiffTemplate says line by line how version b differs from version a.
func (e *Engine) DiffTemplate(ctx context.Context, name string, a, b int) (string, error) {
	diff, err := e.agency.fleet.Diff(ctx, name, a, b)
	return diff, fleetError(err)
}

// DeleteTemplate removes a template that no instance is made from.
func (e *Engine) DeleteTemplate(ctx context.Context, name string) error {
	return fleetError(e.agency.fleet.Delete(ctx, name))
}

// TemplateStats says what runs of each version have cost and brought.
func (e *Engine) TemplateStats(ctx context.Context, name string) ([]fleet.VersionStats, error) {
	stats, err := e.agency.fleet.Stats(ctx, name)
	return stats, fleetError(err)
}

// Instances lists long-lived agents by name, a page at a time.
func (e *Engine) Instances(ctx context.Context, f fleet.Filter) ([]fleet.Instance, error) {
	list, err := e.agency.fleet.List(ctx, f)
	return list, fleetError(err)
}

// Instance says what an instance is doing. It is found by its id or its name.
func (e *Engine) Instance(ctx context.Context, key string) (fleet.Status, error) {
	s, err := e.agency.fleet.Status(ctx, key)
	return s, fleetError(err)
}

// RegisterInstance makes a long-lived agent from a template.
func (e *Engine) RegisterInstance(ctx context.Context, i fleet.Instance) (fleet.Instance, error) {
	made, err := e.agency.fleet.Register(ctx, i)
	return made, fleetError(err)
}

// StartInstance makes an instance take runs again. Those of its runs go on that
// were answered while it was stopped.
func (e *Engine) StartInstance(ctx context.Context, key string) error {
	if err := e.agency.fleet.Start(ctx, key); err != nil {
		return fleetError(err)
	}
	made, err := e.agency.fleet.Instance(ctx, key)
	if err != nil {
		return fleetError(err)
	}
	ids, err := e.store.Orphans(ctx, e.owner)
	if err != nil {
		return err
	}
	for _, id := range ids {
		rec, err := e.store.Run(ctx, id)
		if errors.Is(err, run.ErrUnknownRun) {
			continue // deleted meanwhile
		}
		if c, belongs := e.seat(rec); err == nil && belongs && c.Instance == made.ID {
			err = e.work.Enqueue(ctx, id, dispatch.Restored)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// DrainInstance lets an instance end what it has and take nothing new.
func (e *Engine) DrainInstance(ctx context.Context, key string) error {
	return fleetError(e.agency.fleet.Drain(ctx, key))
}

// StopInstance stops an instance at once: its runs are paused, and go on with
// Resume when it was started again.
func (e *Engine) StopInstance(ctx context.Context, key string) error {
	running, waiting, err := e.agency.fleet.Stop(ctx, key)
	if err != nil {
		return fleetError(err)
	}
	var errs []error
	for _, id := range slices.Concat(running, waiting) {
		if err := e.Pause(ctx, id); err != nil && !errors.Is(err, run.ErrEnded) {
			errs = append(errs, fmt.Errorf("pausing run %s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

// UpgradeInstance lets new runs of an instance be made from another version of
// its template; 0 follows the published one. Runs under way keep theirs.
func (e *Engine) UpgradeInstance(ctx context.Context, key string, version int) error {
	return fleetError(e.agency.fleet.Upgrade(ctx, key, version))
}

// RemoveInstance forgets an instance that has no work.
func (e *Engine) RemoveInstance(ctx context.Context, key string) error {
	return fleetError(e.agency.fleet.Remove(ctx, key))
}

// ToolEntry is a tool of the catalog.
type ToolEntry struct {
	Name        string          `json:"name"`
	Origin      string          `json:"origin"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Tags        []string        `json:"tags,omitempty"`
	System      bool            `json:"system,omitempty"`
	Effect      string          `json:"effect"`
	// Calls and Failures count what agents did with it, Took is the time of all
	// calls, and Error what is wrong with it now.
	Calls    int64         `json:"calls,omitempty"`
	Failures int64         `json:"failures,omitempty"`
	Took     time.Duration `json:"took,omitempty"`
	LastUsed time.Time     `json:"last_used,omitzero"`
	Error    string        `json:"error,omitempty"`
	// Score of a search, from 0 to 1, and whether it is Enough to say that the
	// tool serves.
	Score  float64 `json:"score,omitempty"`
	Enough bool    `json:"enough,omitempty"`
}

// ToolList is what there is, and what could not be asked.
type ToolList struct {
	Tools   []ToolEntry   `json:"tools"`
	Trouble []ToolTrouble `json:"trouble,omitempty"`
}

// ToolTrouble is a server or an agent elsewhere whose tools can't be had.
type ToolTrouble = stock.Trouble

// MCPStatus asks each MCP server for its tools.
func (e *Engine) MCPStatus(ctx context.Context) ([]mcptool.Status, error) {
	return e.agency.Servers.Status(ctx), nil
}

// Tools lists the built-in tools and those of the MCP servers, which are asked
// now unless they were just before.
func (e *Engine) Tools(ctx context.Context) (ToolList, error) {
	a := e.agency
	trouble, err := a.Stock.Refresh(ctx, true)
	if err != nil {
		return ToolList{}, err
	}
	records, err := a.Stock.Records(ctx)
	if err != nil {
		return ToolList{}, err
	}
	used := make(map[[2]string]*catalog.Use, len(records))
	for i := range records {
		used[[2]string{records[i].Origin, records[i].Name}] = &records[i].Use
	}
	list := ToolList{Trouble: trouble}
	for _, t := range a.Stock.Tools(ctx) {
		entry := entryOf(t)
		if u := used[[2]string{entry.Origin, entry.Name}]; u != nil {
			entry.use(u)
		}
		list.Tools = append(list.Tools, entry)
	}
	return list, nil
}

// SearchTools returns the k best tools for what somebody wants done.
func (e *Engine) SearchTools(ctx context.Context, query string, k int) (ToolList, error) {
	a := e.agency
	trouble, err := a.Stock.Refresh(ctx, true)
	if err != nil {
		return ToolList{}, err
	}
	if k <= 0 {
		k = catalog.DefaultK
	}
	found, err := a.Stock.Search(ctx, query, k)
	if err != nil {
		return ToolList{}, err
	}
	list := ToolList{Trouble: trouble}
	for _, f := range found {
		if t := a.Stock.At(ctx, f.Name); t != nil {
			entry := entryOf(t)
			entry.Score, entry.Enough = f.Confidence, f.Confidence >= catalog.Enough
			list.Tools = append(list.Tools, entry)
		}
	}
	return list, nil
}

// SearchAgents returns the agents of the directory that fit what somebody wants
// done, the best first, k at most.
func (e *Engine) SearchAgents(ctx context.Context, query string, k int) ([]AgentEntry, error) {
	all, err := e.Agents(ctx)
	if err != nil {
		return nil, err
	}
	entries := make([]catalog.Entry, len(all))
	byName := make(map[string]AgentEntry, len(all))
	for i, a := range all {
		entries[i] = catalog.Entry{Name: a.Name, Origin: a.Kind, Description: a.Description, Tags: a.Capabilities}
		byName[a.Name] = a
	}
	x, err := catalog.NewIndex(ctx, entries, nil)
	if err != nil {
		return nil, err
	}
	if k <= 0 {
		k = catalog.DefaultK
	}
	found, err := x.Search(ctx, query, k)
	out := make([]AgentEntry, len(found))
	for i, f := range found {
		out[i] = byName[f.Name]
	}
	return out, err
}

func (e *ToolEntry) use(u *catalog.Use) {
	e.Calls, e.Failures, e.Took, e.LastUsed, e.Error = u.Calls, u.Failures, u.Time, u.Last, ""
	if !u.Healthy() {
		e.Error = u.Error
	}
}

func entryOf(t tool.Tool) ToolEntry {
	s := t.Spec()
	return ToolEntry{
		Name: s.Name, Origin: s.Origin, Description: s.Description, Schema: s.Schema.Strict, Tags: s.Tags, System: s.System,
		Effect: [...]string{run.Read: "read", run.Idempotent: "idempotent", run.Effectful: "effectful", run.Pure: "pure"}[s.Effect],
	}
}
