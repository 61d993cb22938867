package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// State of an instance.
type State string

// The states of an instance. Busy, and whether a drained one still has work,
// follow from its runs and are not stored.
const (
	Starting State = "starting" // its template is being checked
	Ready    State = "ready"    // nothing to do
	Busy     State = "busy"     // some of its slots are taken
	Draining State = "draining" // takes no new runs, and has some
	Stopped  State = "stopped"  // takes no new runs, and has none
)

// What an instance has where nothing is said.
const (
	DefaultSlots = 4
	DefaultQueue = 100
)

// Instance is a long-lived agent made from a template.
type Instance struct {
	ID string `json:"id"`
	// Name is unique; it is the id where none was given.
	Name string `json:"name"`
	// User whose it is; "" is the operator's.
	User     string `json:"user,omitempty"`
	Template string `json:"template"`
	// Version of the template; 0 follows the published one.
	Version int `json:"version,omitempty"`
	// Slots are how many runs work at once, and Queue how many more may wait:
	// DefaultQueue when it is 0, none when it is negative.
	Slots int   `json:"slots"`
	Queue int   `json:"queue"`
	State State `json:"state"`
	// Labels are words by which it is found, beside its template's.
	Labels  []string  `json:"labels,omitempty"`
	Created time.Time `json:"created"`
	// LastUsed is when a run of it was last recorded as over, or a new
	// session began; Served counts these runs.
	LastUsed time.Time `json:"last_used,omitzero"`
	Served   int64     `json:"served"`
}

// Filter narrows List and Count. The zero value means all, a hundred at a time.
type Filter struct {
	Template string
	User     string // only this user's and the operator's; "" is everybody's
	// State of the instances. A store knows of two: Ready, and Stopped for
	// those that take no new runs, whether they have any or not.
	State  State
	Prefix string // of the name
	Limit  int
	After  string // only names that come after this one
}

// Shows says whether the user of a filter sees an instance.
func (f Filter) Shows(i Instance) bool { return f.User == "" || i.User == "" || i.User == f.User }

// pageSize is how many instances a list has where nothing is said.
const pageSize = 100

// Register adds an instance, ready to work. It gets an id, a name, slots and a
// queue where these are not given.
func (f *Fleet) Register(ctx context.Context, i Instance) (Instance, error) {
	i, err := f.prepare(ctx, i, map[ref]error{})
	if err == nil {
		err = f.add(ctx, []Instance{i})
	}
	if err != nil {
		return Instance{}, err
	}
	return i, nil
}

// registerAtOnce is how many instances go into one commit: enough that they
// share its cost, and few enough that others need not wait for long.
const registerAtOnce = 5000

// RegisterMany adds instances, some thousand at a time, and says how many it
// has added. When it fails, those are the first ones of the sequence.
func (f *Fleet) RegisterMany(ctx context.Context, list iter.Seq[Instance]) (added int, err error) {
	checked := map[ref]error{}
	batch := make([]Instance, 0, registerAtOnce)
	flush := func() error {
		if err := f.add(ctx, batch); err != nil {
			return err
		}
		added += len(batch)
		// The store may keep what it was given.
		batch = make([]Instance, 0, registerAtOnce)
		return nil
	}
	for i := range list {
		i, err := f.prepare(ctx, i, checked)
		if err != nil {
			return added, err
		}
		if batch = append(batch, i); len(batch) == registerAtOnce {
			if err := flush(); err != nil {
				return added, err
			}
		}
	}
	return added, flush()
}

// ref names a version of a template.
type ref struct {
	template string
	version  int
}

// prepare completes an instance and says what is wrong with it.
func (f *Fleet) prepare(ctx context.Context, i Instance, checked map[ref]error) (Instance, error) {
	given := i.Name
	i.ID = cmp.Or(i.ID, f.newID())
	i.Name = cmp.Or(i.Name, i.ID)
	i.Slots = cmp.Or(i.Slots, DefaultSlots)
	i.Queue = cmp.Or(i.Queue, DefaultQueue)
	i.State, i.Created, i.LastUsed, i.Served = Ready, f.now().UTC(), time.Time{}, 0
	for _, name := range []string{i.ID, i.Name} {
		if err := checkName("instance", name); err != nil {
			return i, err
		}
	}
	if i.Slots < 0 {
		return i, refuse("instance %q: %d slots: give it at least one", i.Name, i.Slots)
	}
	r := ref{i.Template, i.Version}
	err, known := checked[r]
	if !known {
		err = f.usable(ctx, r)
		checked[r] = err
	}
	if err != nil {
		if given != "" {
			err = fmt.Errorf("instance %q: %w", given, err)
		}
		return i, err
	}
	return i, nil
}

// usable says why no instance can be made from a version.
func (f *Fleet) usable(ctx context.Context, r ref) error {
	t, err := f.Template(ctx, r.template)
	if err != nil {
		return err
	}
	if t.Deprecated {
		return refuse("template %q is deprecated: publish a version of it, or use another template", r.template)
	}
	_, v, err := f.Definition(ctx, r.template, r.version)
	if err != nil {
		return err
	}
	if r.version != 0 && v.State == Deprecated {
		return refuse("template %q: version %d is deprecated: use another version, or publish it again", r.template, v.N)
	}
	return nil
}

// add stores instances.
func (f *Fleet) add(ctx context.Context, list []Instance) error {
	if len(list) == 0 {
		return nil
	}
	err := f.store.AddInstances(ctx, list)
	if errors.Is(err, ErrExists) {
		err = fmt.Errorf("%w: choose another name", err)
	}
	return err
}

// Instance returns an instance by its id or its name.
func (f *Fleet) Instance(ctx context.Context, key string) (Instance, error) {
	st, err := f.Status(ctx, key)
	return st.Instance, err
}

// find reads an instance as it is stored.
func (f *Fleet) find(ctx context.Context, key string) (Instance, error) {
	row, err := f.store.Instance(ctx, key)
	if !errors.Is(err, ErrNoInstance) {
		return row, err
	}
	return row, fmt.Errorf("instance %q: %w%s", key, ErrNoInstance, f.near(ctx, key))
}

// near is the end of a sentence that proposes a name for an unknown one. Among
// very many the nearest is looked for where the beginning is right.
func (f *Fleet) near(ctx context.Context, key string) string {
	for _, n := range []int{len(key) - 1, len(key) / 2, 2, 0} {
		if n < 0 || n >= len(key) {
			continue
		}
		list, err := f.store.InstanceList(ctx, Filter{Prefix: key[:n], Limit: 1000})
		if err != nil {
			return "" // the proposal is a courtesy
		}
		var names []string
		for i := range list {
			names = append(names, list[i].Name)
		}
		if proposal := meant(key, names); proposal != "" {
			return proposal
		}
	}
	return ""
}

// Wake returns an instance, given by id or name, and the version of its
// template that a new run of it is made from. It fails where Submit would
// because of the instance's state or a full queue.
func (f *Fleet) Wake(ctx context.Context, instance string) (Instance, Version, error) {
	row, err := f.find(ctx, instance)
	if err != nil {
		return Instance{}, Version{}, err
	}
	load, err := f.load(ctx, row.ID)
	if err != nil {
		return Instance{}, Version{}, err
	}
	if err := f.admits(&row, load, Fresh); err != nil {
		return Instance{}, Version{}, err
	}
	v, err := f.Version(ctx, row.Template, row.Version)
	if err != nil {
		return Instance{}, Version{}, err
	}
	return f.status(row, load).Instance, v, nil
}

// List returns instances in the order of their names; the next page is After
// the last name.
func (f *Fleet) List(ctx context.Context, q Filter) ([]Instance, error) {
	if q.Limit <= 0 {
		q.Limit = pageSize
	}
	switch q.State {
	case "", Ready, Stopped:
	default:
		list, err := f.atWork(ctx, q)
		return list[:min(q.Limit, len(list))], err
	}
	var list []Instance
	ask := q
	for {
		page, err := f.store.InstanceList(ctx, ask)
		if err != nil {
			return nil, err
		}
		if err := f.states(ctx, page); err != nil {
			return nil, err
		}
		for _, i := range page {
			if q.State != "" && i.State != q.State {
				continue
			}
			if list = append(list, i); len(list) == q.Limit {
				return list, nil
			}
		}
		if len(page) < ask.Limit {
			return list, nil
		}
		ask.After = page[len(page)-1].Name
	}
}

// Count counts what List would return without a limit.
func (f *Fleet) Count(ctx context.Context, q Filter) (int, error) {
	state := q.State
	switch state {
	case "", Ready, Stopped:
	default:
		list, err := f.atWork(ctx, q)
		return len(list), err
	}
	n, err := f.store.CountInstances(ctx, q)
	if err != nil || state == "" {
		return n, err
	}
	// The store counts those at work among the ready and the stopped ones.
	q.State = Busy
	if state == Stopped {
		q.State = Draining
	}
	other, err := f.atWork(ctx, q)
	return max(0, n-len(other)), err
}

// atWork returns the instances in a state that follows from what they do.
func (f *Fleet) atWork(ctx context.Context, q Filter) ([]Instance, error) {
	loads := map[string]Load{}
	switch q.State {
	case Busy, Draining:
		var err error
		if loads, err = f.store.Loads(ctx); err != nil {
			return nil, err
		}
	case Starting:
		for id := range f.starting.Range {
			loads[id.(string)] = Load{}
		}
	default:
		return nil, refuse("there is no state %q: use %s, %s, %s, %s or %s", q.State, Starting, Ready, Busy, Draining, Stopped)
	}
	var list []Instance
	for id, load := range loads {
		row, err := f.store.Instance(ctx, id)
		if errors.Is(err, ErrNoInstance) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		i := f.status(row, load).Instance
		if i.State == q.State && q.Shows(i) && (q.Template == "" || i.Template == q.Template) && strings.HasPrefix(i.Name, q.Prefix) && i.Name > q.After {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b Instance) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}
