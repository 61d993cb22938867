package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dossier/internal/fleet"
)

// agents is what the store keeps of a fleet.
type agents struct {
	templates map[string]*fleet.Template // with documents in their versions
	instances map[string]*fleet.Instance // by id
	names     map[string]string          // ids of instances by their names
	owners    map[string]string          // ids of instances by their sessions
	outcomes  map[string]fleet.Outcome   // by run
	desks     map[string]*desk           // by the ids of instances that have work
	seats     map[string]*work           // by run
}

func newAgents() agents {
	return agents{
		templates: map[string]*fleet.Template{}, instances: map[string]*fleet.Instance{}, names: map[string]string{},
		owners: map[string]string{}, outcomes: map[string]fleet.Outcome{},
		desks: map[string]*desk{}, seats: map[string]*work{},
	}
}

func noTemplate(name string) error { return fmt.Errorf("template %q: %w", name, fleet.ErrNoTemplate) }
func noInstance(key string) error  { return fmt.Errorf("instance %q: %w", key, fleet.ErrNoInstance) }

func noVersion(name string, n int) error {
	return fmt.Errorf("template %q: version %d: %w", name, n, fleet.ErrNoVersion)
}

// openTemplate locks the store and finds a template.
func (s *Store) openTemplate(ctx context.Context, name string) (*fleet.Template, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	t := s.agents.templates[name]
	if t == nil {
		s.mu.Unlock()
		return nil, noTemplate(name)
	}
	return t, nil
}

// openInstance locks the store and finds an instance by its id.
func (s *Store) openInstance(ctx context.Context, id string) (*fleet.Instance, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	i := s.agents.instances[id]
	if i == nil {
		s.mu.Unlock()
		return nil, noInstance(id)
	}
	return i, nil
}

// CreateTemplate implements fleet.Templates.
func (s *Store) CreateTemplate(ctx context.Context, name string, v fleet.Version) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if s.agents.templates[name] != nil {
		return fmt.Errorf("template %q: %w", name, fleet.ErrExists)
	}
	user := v.User
	v.Template, v.N, v.State, v.User = name, 1, fleet.Draft, ""
	s.agents.templates[name] = &fleet.Template{Name: name, User: user, Latest: 1, Created: v.Created, Updated: v.Created, Versions: []fleet.Version{v}}
	return nil
}

// Template implements fleet.Templates.
func (s *Store) Template(ctx context.Context, name string) (fleet.Template, error) {
	t, err := s.openTemplate(ctx, name)
	if err != nil {
		return fleet.Template{}, err
	}
	defer s.mu.Unlock()
	public := *t
	public.Versions, public.Publications = slices.Clone(t.Versions), slices.Clone(t.Publications)
	for i := range public.Versions {
		public.Versions[i].Document = ""
	}
	return public, nil
}

// Templates implements fleet.Templates.
func (s *Store) Templates(ctx context.Context) ([]fleet.Template, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var list []fleet.Template
	for _, t := range s.agents.templates {
		public := *t
		public.Versions, public.Publications = nil, nil
		list = append(list, public)
	}
	slices.SortFunc(list, func(a, b fleet.Template) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// TemplateVersion implements fleet.Templates.
func (s *Store) TemplateVersion(ctx context.Context, name string, n int) (fleet.Version, error) {
	t, err := s.openTemplate(ctx, name)
	if err != nil {
		return fleet.Version{}, err
	}
	defer s.mu.Unlock()
	n = cmp.Or(n, t.Published, t.Latest)
	if n < 1 || n > t.Latest {
		return fleet.Version{}, noVersion(name, n)
	}
	return t.Versions[n-1], nil
}

// AddTemplateVersion implements fleet.Templates.
func (s *Store) AddTemplateVersion(ctx context.Context, name string, v fleet.Version) (fleet.Version, bool, error) {
	t, err := s.openTemplate(ctx, name)
	if err != nil {
		return fleet.Version{}, false, err
	}
	defer s.mu.Unlock()
	if v.User != "" && v.User != t.User {
		return fleet.Version{}, false, fmt.Errorf("template %q: %w", name, fleet.ErrExists)
	}
	if latest := t.Versions[t.Latest-1]; latest.Document == v.Document {
		return latest, false, nil
	}
	t.Latest++
	t.Updated = v.Created
	v.Template, v.N, v.State, v.User = name, t.Latest, fleet.Draft, ""
	t.Versions = append(t.Versions, v)
	return v, true, nil
}

// PublishVersion implements fleet.Templates.
func (s *Store) PublishVersion(ctx context.Context, name string, n int, at time.Time) error {
	t, err := s.openTemplate(ctx, name)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	switch {
	case n < 1 || n > t.Latest:
		return noVersion(name, n)
	case t.Published == n && !t.Deprecated:
		return nil
	}
	t.Versions[n-1].State = fleet.Published
	t.Published, t.Deprecated, t.Updated = n, false, at
	t.Publications = append(t.Publications, fleet.Publication{Version: n, At: at})
	return nil
}

// DeprecateVersion implements fleet.Templates.
func (s *Store) DeprecateVersion(ctx context.Context, name string, n int, at time.Time) error {
	t, err := s.openTemplate(ctx, name)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if n < 0 || n > t.Latest {
		return noVersion(name, n)
	}
	for i := range t.Versions {
		if n == 0 || n == i+1 {
			t.Versions[i].State = fleet.Deprecated
		}
	}
	t.Deprecated, t.Updated = t.Deprecated || n == 0, at
	return nil
}

// DeleteTemplate implements fleet.Templates.
func (s *Store) DeleteTemplate(ctx context.Context, name string) error {
	if _, err := s.openTemplate(ctx, name); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, i := range s.agents.instances {
		if i.Template == name {
			return fmt.Errorf("template %q: %w", name, fleet.ErrInUse)
		}
	}
	delete(s.agents.templates, name)
	maps.DeleteFunc(s.agents.outcomes, func(_ string, o fleet.Outcome) bool { return o.Template == name })
	return nil
}

// taken says whether a key is an instance's id or name.
func (a *agents) taken(key string) bool { return a.instances[key] != nil || a.names[key] != "" }

// AddInstances implements fleet.Instances.
func (s *Store) AddInstances(ctx context.Context, list []fleet.Instance) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	keys := map[string]int{}
	for k := range list {
		i := &list[k]
		if s.agents.templates[i.Template] == nil {
			return fmt.Errorf("instance %q: %w", i.Name, noTemplate(i.Template))
		}
		for _, key := range []string{i.ID, i.Name} {
			other, twice := keys[key]
			keys[key] = k
			if twice && other != k || s.agents.taken(key) {
				return fmt.Errorf("instance %q: %w", key, fleet.ErrExists)
			}
		}
	}
	for _, i := range list {
		s.agents.instances[i.ID] = &i
		s.agents.names[i.Name] = i.ID
	}
	return nil
}

// Instance implements fleet.Instances.
func (s *Store) Instance(ctx context.Context, key string) (fleet.Instance, error) {
	if err := s.open(ctx); err != nil {
		return fleet.Instance{}, err
	}
	defer s.mu.Unlock()
	if i := cmp.Or(s.agents.instances[key], s.agents.instances[s.agents.names[key]]); i != nil {
		return *i, nil
	}
	return fleet.Instance{}, noInstance(key)
}

// InstanceList implements fleet.Instances.
func (s *Store) InstanceList(ctx context.Context, f fleet.Filter) ([]fleet.Instance, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	list := s.agents.matching(f)
	slices.SortFunc(list, func(a, b fleet.Instance) int { return strings.Compare(a.Name, b.Name) })
	if f.Limit > 0 && len(list) > f.Limit {
		list = list[:f.Limit]
	}
	return list, nil
}

func (a *agents) matching(f fleet.Filter) []fleet.Instance {
	var list []fleet.Instance
	for _, i := range a.instances {
		open := i.State == fleet.Ready
		if (f.Template == "" || i.Template == f.Template) && (f.State == "" || open == (f.State == fleet.Ready)) &&
			f.Shows(*i) && strings.HasPrefix(i.Name, f.Prefix) && i.Name > f.After {
			list = append(list, *i)
		}
	}
	return list
}

// CountInstances implements fleet.Instances.
func (s *Store) CountInstances(ctx context.Context, f fleet.Filter) (int, error) {
	if err := s.open(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	return len(s.agents.matching(f)), nil
}

// SetInstanceState implements fleet.Instances.
func (s *Store) SetInstanceState(ctx context.Context, id string, state fleet.State) error {
	i, err := s.openInstance(ctx, id)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if state != fleet.Draining || i.State != fleet.Stopped {
		i.State = state
	}
	return nil
}

// SetInstanceVersion implements fleet.Instances.
func (s *Store) SetInstanceVersion(ctx context.Context, id string, version int) error {
	i, err := s.openInstance(ctx, id)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	i.Version = version
	return nil
}

// RemoveInstance implements fleet.Instances.
func (s *Store) RemoveInstance(ctx context.Context, id string) error {
	i, err := s.openInstance(ctx, id)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := s.agents.inUse(id); err != nil {
		return err
	}
	delete(s.agents.instances, id)
	delete(s.agents.names, i.Name)
	maps.DeleteFunc(s.agents.owners, func(_, owner string) bool { return owner == id })
	return nil
}

// SessionOwner implements fleet.Instances.
func (s *Store) SessionOwner(ctx context.Context, session string) (string, error) {
	if err := s.open(ctx); err != nil {
		return "", err
	}
	defer s.mu.Unlock()
	return s.agents.owners[session], nil
}

// use notes that an instance was used.
func use(i *fleet.Instance, at time.Time) {
	if at.After(i.LastUsed) {
		i.LastUsed = at
	}
}

// PutOutcome implements fleet.Outcomes.
func (s *Store) PutOutcome(ctx context.Context, o fleet.Outcome) error {
	if _, err := s.openTemplate(ctx, o.Template); err != nil {
		return fmt.Errorf("outcome of run %q: %w", o.Run, err)
	}
	defer s.mu.Unlock()
	if _, known := s.agents.outcomes[o.Run]; !known {
		if i := s.agents.instances[o.Instance]; i != nil {
			i.Served++
			use(i, o.At)
		}
	}
	s.agents.outcomes[o.Run] = o
	return nil
}

// EachOutcome implements fleet.Outcomes.
func (s *Store) EachOutcome(ctx context.Context, template string, do func(fleet.Outcome) error) error {
	if _, err := s.openTemplate(ctx, template); err != nil {
		return err
	}
	var list []fleet.Outcome
	for _, o := range s.agents.outcomes {
		if o.Template == template {
			list = append(list, o)
		}
	}
	s.mu.Unlock()
	for _, o := range list {
		if err := do(o); err != nil {
			return err
		}
	}
	return nil
}
