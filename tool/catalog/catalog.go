package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"dossier/tool"
)

// Options of a Catalog. The zero value is good.
type Options struct {
	// Embedder makes meaning count in searches, beside words.
	Embedder Embedder
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

// Catalog is the tools that agents may use: those of the program, of MCP
// servers and of other agents. It is safe for concurrent use.
type Catalog struct {
	store    Store // nil keeps nothing
	embedder Embedder
	now      func() time.Time

	mu      sync.Mutex
	origins []*origin   // in the order in which they came
	version int         // of the tools
	current *assortment // nil before the first look

	building sync.Mutex

	uses uses
}

// origin is a place that tools come from.
type origin struct {
	name  string
	about string
	tools []tool.Tool
	down  error
}

// assortment is the tools at one moment, with their index.
type assortment struct {
	version int
	tools   []tool.Tool // in the order of the origins
	index   *Index
	// failure of the embedder, when the index was made.
	failure error
}

// New makes a catalog without tools. The store may be nil.
func New(store Store, opts Options) *Catalog {
	c := &Catalog{store: store, embedder: opts.Embedder, now: opts.Now}
	if c.now == nil {
		c.now = time.Now
	}
	c.uses.pending = map[key]*Use{}
	return c
}

// Put replaces the tools of an origin (see tool.Spec); none removes it. About
// is what the origin says of itself. What the tools are is written to the
// store; the catalog has them also when that fails.
func (c *Catalog) Put(ctx context.Context, from, about string, tools []tool.Tool) error {
	entries := make([]Entry, len(tools))
	for i, t := range tools {
		entries[i] = EntryOf(t, about)
		if entries[i].Origin != from {
			return fmt.Errorf("tool %s is of %q, not of %q", entries[i].Name, entries[i].Origin, from)
		}
	}
	if !c.replace(&origin{name: from, about: about, tools: slices.Clone(tools)}, entries) || c.store == nil || len(entries) == 0 {
		return nil
	}
	if err := c.store.PutTools(ctx, entries); err != nil {
		return fmt.Errorf("tools of %s: %w", from, err)
	}
	return nil
}

// replace puts an origin in its place and says whether that changed what can
// be found. The tools themselves are always those that were put last.
func (c *Catalog) replace(o *origin, entries []Entry) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	at := slices.IndexFunc(c.origins, func(p *origin) bool { return p.name == o.name })
	switch {
	case at < 0:
		if len(o.tools) > 0 {
			c.origins = append(c.origins, o)
		}
		return len(o.tools) > 0
	case len(o.tools) == 0:
		c.origins = slices.Delete(c.origins, at, at+1)
		return true
	}
	old := c.origins[at]
	o.down = old.down
	c.origins[at] = o
	return !slices.EqualFunc(entries, old.tools, func(e Entry, t tool.Tool) bool {
		was := EntryOf(t, old.about)
		return e.same(&was)
	})
}

// Report says how an origin is: err tells why its tools can't be called at the
// moment, nil that they can.
func (c *Catalog) Report(from string, err error) {
	c.mu.Lock()
	at := slices.IndexFunc(c.origins, func(o *origin) bool { return o.name == from })
	if at < 0 {
		c.mu.Unlock()
		return
	}
	c.origins[at].down = err
	tools := c.origins[at].tools
	c.mu.Unlock()
	for _, t := range tools {
		c.note(t.Spec(), 0, 0, err)
	}
}

// look returns the tools and their index as they are now. Only a changed set
// of entries makes a new index.
func (c *Catalog) look(ctx context.Context) *assortment {
	if s, fresh := c.seen(); fresh {
		return s
	}
	c.building.Lock()
	defer c.building.Unlock()
	old, fresh := c.seen()
	if fresh {
		return old // another call has made it
	}
	next := &assortment{}
	var entries []Entry
	c.mu.Lock()
	next.version = c.version
	for _, o := range c.origins {
		for _, t := range o.tools {
			next.tools = append(next.tools, t)
			entries = append(entries, EntryOf(t, o.about))
		}
	}
	c.mu.Unlock()
	if old != nil && old.failure == nil && slices.EqualFunc(entries, old.index.entries, func(a, b Entry) bool { return a.same(&b) }) {
		next.index = old.index
	} else {
		next.index, next.failure = NewIndex(ctx, entries, c.embedder)
		if ctx.Err() != nil {
			return next // the next one to look embeds
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current = next
	return next
}

func (c *Catalog) seen() (s *assortment, fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current, c.current != nil && c.current.version == c.version
}

// down returns why the tools of an origin can't be called; nil when they can.
func (c *Catalog) down(from string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.origins {
		if o.name == from {
			return o.down
		}
	}
	return nil
}

// Search returns the k best tools for a query, whatever their health.
func (c *Catalog) Search(ctx context.Context, query string, k int) ([]Found, error) {
	return c.look(ctx).index.Search(ctx, query, k)
}

// Tools returns all tools, by origin in the order in which these came.
func (c *Catalog) Tools(ctx context.Context) []tool.Tool { return slices.Clone(c.look(ctx).tools) }

// matches says whether a reference is to a tool: its name, or that of its
// origin ("mcp:SERVER"), or both ("mcp:SERVER/TOOL").
func matches(ref string, s *tool.Spec) bool {
	if strings.HasPrefix(ref, s.Origin) && strings.Contains(s.Origin, ":") {
		rest := ref[len(s.Origin):]
		if rest == "" {
			return true
		}
		if name, ok := strings.CutPrefix(rest, "/"); ok {
			return tool.PlainName(name) == tool.PlainName(s.Name)
		}
	}
	return tool.PlainName(ref) == tool.PlainName(s.Name)
}

// Resolve returns the tools that a reference is to.
func (c *Catalog) Resolve(ctx context.Context, ref string) ([]tool.Tool, error) {
	var all []tool.Tool
	for _, t := range c.look(ctx).tools {
		if matches(ref, t.Spec()) {
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no tool %q: name a tool, or mcp:SERVER or mcp:SERVER/TOOL for those of a server", ref)
	}
	return all, nil
}

// Records returns what is known of all tools, also of those that were here
// before; without a store, of those that are here.
func (c *Catalog) Records(ctx context.Context) ([]Record, error) {
	if c.store == nil {
		return c.unstored(ctx), nil
	}
	if err := c.Flush(ctx); err != nil {
		return nil, err
	}
	records, err := c.store.ToolRecords(ctx)
	if err != nil {
		return nil, fmt.Errorf("tool records: %w", err)
	}
	return records, nil
}

func (c *Catalog) unstored(ctx context.Context) []Record {
	var all []Record
	for _, e := range c.look(ctx).index.entries {
		all = append(all, Record{e, c.uses.of(key{e.Origin, e.Name})})
	}
	slices.SortStableFunc(all, func(a, b Record) int {
		if n := strings.Compare(a.Origin, b.Origin); n != 0 {
			return n
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all
}
