package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dossier"
	"dossier/internal/fleet"
	"dossier/mode/agents"
	"dossier/tool/mcptool"
)

// What the operator made, templates and instances, every user may use and none
// may change; how it is written is the operator's to know.

// theirs says what a caller may not do with something that belongs to a user.
func (v view) theirs(user string, missing error) error {
	switch {
	case v.caller.Operates() || user == v.caller.User:
		return nil
	case user == "":
		return v.operators()
	}
	return missing
}

func noTemplate(name string) error { return fmt.Errorf("template %q: %w", name, fleet.ErrNoTemplate) }
func noInstance(key string) error  { return fmt.Errorf("instance %q: %w", key, fleet.ErrNoInstance) }

// template finds a template that the caller sees. Its error proposes no names of
// others.
func (v view) template(ctx context.Context, name string) (fleet.Template, error) {
	t, err := v.Engine.Template(ctx, name)
	if errors.Is(err, fleet.ErrNoTemplate) || err == nil && t.User != "" && !v.caller.Sees(t.User) {
		return fleet.Template{}, noTemplate(name)
	}
	return t, err
}

// ownTemplate finds a template that the caller may change, or look into.
func (v view) ownTemplate(ctx context.Context, name string) error {
	if v.caller.Operates() {
		return nil
	}
	t, err := v.template(ctx, name)
	if err != nil {
		return err
	}
	return v.theirs(t.User, noTemplate(name))
}

// calls holds an agent, and those that it may call, to what the caller sees.
func (v view) calls(ctx context.Context, name string, seen map[string]bool) error {
	if v.caller.Operates() || name == "" || seen[name] {
		return nil
	}
	seen[name] = true
	list, err := v.Agents(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(e dossier.AgentEntry) bool { return e.Name == templateOf(name) }) {
		names := make([]string, len(list))
		for i := range list {
			names[i] = list[i].Name
		}
		return &dossier.UsageError{Message: fmt.Sprintf("there is no agent %q", name), Hint: "those there are: " + strings.Join(names, ", "), Err: fleet.ErrNoTemplate}
	}
	m, err := v.Engine.Agent(ctx, name)
	if err != nil {
		return err
	}
	for _, callee := range m.Agent.Agents {
		if err := v.calls(ctx, callee, seen); err != nil {
			return err
		}
	}
	return nil
}

// Agents implements Fleet.
func (v view) Agents(ctx context.Context) ([]dossier.AgentEntry, error) {
	list, err := v.Engine.Agents(ctx)
	return v.visible(ctx, list, err)
}

// SearchAgents implements Fleet.
func (v view) SearchAgents(ctx context.Context, query string, k int) ([]dossier.AgentEntry, error) {
	list, err := v.Engine.SearchAgents(ctx, query, k)
	return v.visible(ctx, list, err)
}

// visible leaves out the templates of others.
func (v view) visible(ctx context.Context, list []dossier.AgentEntry, err error) ([]dossier.AgentEntry, error) {
	if err != nil || v.caller.Operates() {
		return list, err
	}
	templates, err := v.Engine.Templates(ctx)
	if err != nil {
		return nil, err
	}
	hidden := map[string]bool{}
	for _, t := range templates {
		hidden[t.Name] = t.User != "" && t.User != v.caller.User
	}
	return slices.DeleteFunc(list, func(e dossier.AgentEntry) bool { return e.Kind == "template" && hidden[e.Name] }), nil
}

// Agent implements Fleet.
func (v view) Agent(ctx context.Context, name string) (agents.Member, error) {
	if err := v.ownTemplate(ctx, templateOf(name)); err != nil {
		return agents.Member{}, err
	}
	return v.Engine.Agent(ctx, name)
}

// Templates implements Fleet.
func (v view) Templates(ctx context.Context) ([]fleet.Template, error) {
	list, err := v.Engine.Templates(ctx)
	if err != nil || v.caller.Operates() {
		return list, err
	}
	return slices.DeleteFunc(list, func(t fleet.Template) bool { return t.User != "" && t.User != v.caller.User }), nil
}

// Template implements Fleet.
func (v view) Template(ctx context.Context, name string) (fleet.Template, error) {
	if v.caller.Operates() {
		return v.Engine.Template(ctx, name)
	}
	return v.template(ctx, name)
}

// TemplateVersion implements Fleet.
func (v view) TemplateVersion(ctx context.Context, name string, n int) (fleet.Version, error) {
	if err := v.ownTemplate(ctx, name); err != nil {
		return fleet.Version{}, err
	}
	return v.Engine.TemplateVersion(ctx, name, n)
}

// SaveTemplate implements Fleet. A template stands before a definition of the same
// name, so a user's may not have the name of one.
func (v view) SaveTemplate(ctx context.Context, name string, t fleet.Text) (fleet.Version, bool, error) {
	if v.caller.Operates() {
		return v.Engine.SaveTemplate(ctx, name, t)
	}
	list, err := v.Engine.Agents(ctx)
	if err != nil {
		return fleet.Version{}, false, err
	}
	if slices.ContainsFunc(list, func(e dossier.AgentEntry) bool { return e.Name == name && e.Kind != "template" }) {
		return fleet.Version{}, false, nameTaken(name)
	}
	t.User = v.caller.User
	saved, added, err := v.Engine.SaveTemplate(ctx, name, t)
	if errors.Is(err, fleet.ErrExists) {
		err = nameTaken(name)
	}
	return saved, added, err
}

func nameTaken(name string) error {
	return &Problem{Code: "name_taken", Message: fmt.Sprintf("the name %q is taken", name), Hint: "choose another name"}
}

// PublishTemplate implements Fleet.
func (v view) PublishTemplate(ctx context.Context, name string, n int) error {
	if err := v.ownTemplate(ctx, name); err != nil {
		return err
	}
	return v.Engine.PublishTemplate(ctx, name, n)
}

// RollBackTemplate implements Fleet.
func (v view) RollBackTemplate(ctx context.Context, name string, n int) (int, error) {
	if err := v.ownTemplate(ctx, name); err != nil {
		return 0, err
	}
	return v.Engine.RollBackTemplate(ctx, name, n)
}

// DeprecateTemplate implements Fleet.
func (v view) DeprecateTemplate(ctx context.Context, name string, n int) error {
	if err := v.ownTemplate(ctx, name); err != nil {
		return err
	}
	return v.Engine.DeprecateTemplate(ctx, name, n)
}

// DiffTemplate implements Fleet.
func (v view) DiffTemplate(ctx context.Context, name string, a, b int) (string, error) {
	if err := v.ownTemplate(ctx, name); err != nil {
		return "", err
	}
	return v.Engine.DiffTemplate(ctx, name, a, b)
}

// DeleteTemplate implements Fleet.
func (v view) DeleteTemplate(ctx context.Context, name string) error {
	if err := v.ownTemplate(ctx, name); err != nil {
		return err
	}
	return v.Engine.DeleteTemplate(ctx, name)
}

// TemplateStats implements Fleet.
func (v view) TemplateStats(ctx context.Context, name string) ([]fleet.VersionStats, error) {
	if err := v.ownTemplate(ctx, name); err != nil {
		return nil, err
	}
	return v.Engine.TemplateStats(ctx, name)
}

// instance finds an instance that the caller sees.
func (v view) instance(ctx context.Context, key string) (fleet.Status, error) {
	s, err := v.Engine.Instance(ctx, key)
	if v.caller.Operates() {
		return s, err
	}
	if errors.Is(err, fleet.ErrNoInstance) || err == nil && s.User != "" && s.User != v.caller.User {
		return fleet.Status{}, noInstance(key)
	}
	return s, err
}

// ownInstance finds an instance that the caller may change.
func (v view) ownInstance(ctx context.Context, key string, do func(id string) error) error {
	s, err := v.instance(ctx, key)
	if err == nil {
		err = v.theirs(s.User, noInstance(key))
	}
	if err != nil {
		return err
	}
	return do(s.ID)
}

// Instances implements Fleet.
func (v view) Instances(ctx context.Context, f fleet.Filter) ([]fleet.Instance, error) {
	if !v.caller.Operates() {
		f.User = v.caller.User
	}
	return v.Engine.Instances(ctx, f)
}

// Instance implements Fleet.
func (v view) Instance(ctx context.Context, key string) (fleet.Status, error) {
	return v.instance(ctx, key)
}

// RegisterInstance implements Fleet.
func (v view) RegisterInstance(ctx context.Context, i fleet.Instance) (fleet.Instance, error) {
	if v.caller.Operates() {
		return v.Engine.RegisterInstance(ctx, i)
	}
	if _, err := v.Template(ctx, i.Template); err != nil {
		return fleet.Instance{}, err
	}
	i.User = v.caller.User
	made, err := v.Engine.RegisterInstance(ctx, i)
	if errors.Is(err, fleet.ErrExists) {
		err = nameTaken(i.Name)
	}
	return made, err
}

// StartInstance implements Fleet.
func (v view) StartInstance(ctx context.Context, key string) error {
	return v.ownInstance(ctx, key, func(id string) error { return v.Engine.StartInstance(ctx, id) })
}

// DrainInstance implements Fleet.
func (v view) DrainInstance(ctx context.Context, key string) error {
	return v.ownInstance(ctx, key, func(id string) error { return v.Engine.DrainInstance(ctx, id) })
}

// StopInstance implements Fleet.
func (v view) StopInstance(ctx context.Context, key string) error {
	return v.ownInstance(ctx, key, func(id string) error { return v.Engine.StopInstance(ctx, id) })
}

// UpgradeInstance implements Fleet.
func (v view) UpgradeInstance(ctx context.Context, key string, version int) error {
	return v.ownInstance(ctx, key, func(id string) error { return v.Engine.UpgradeInstance(ctx, id, version) })
}

// RemoveInstance implements Fleet.
func (v view) RemoveInstance(ctx context.Context, key string) error {
	return v.ownInstance(ctx, key, func(id string) error { return v.Engine.RemoveInstance(ctx, id) })
}

// MCPStatus implements Fleet: what servers answer may name addresses and commands.
func (v view) MCPStatus(ctx context.Context) ([]mcptool.Status, error) {
	if err := v.operators(); err != nil {
		return nil, err
	}
	return v.Engine.MCPStatus(ctx)
}
