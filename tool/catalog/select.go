package catalog

import (
	"context"
	"fmt"
	"slices"

	"dossier/tool"
)

// Policy says which tools an agent has. References are as in
// [Catalog.Resolve].
type Policy struct {
	// Listed tools come first, in this order.
	Listed []string
	// Always are there whatever is asked.
	Always []string
	// Never are not there, unless they are system tools.
	Never []string
	// OnDemand adds the K best tools for the task.
	OnDemand bool
	K        int // DefaultK if zero
}

// DefaultK is how many tools a search puts before a model.
const DefaultK = 10

func (p *Policy) k() int {
	if p.K <= 0 {
		return DefaultK
	}
	return p.K
}

func (p *Policy) never(s *tool.Spec) bool {
	return !s.System && slices.ContainsFunc(p.Never, func(ref string) bool { return matches(ref, s) })
}

// Selection is tools for a model's context.
type Selection struct {
	Tools []tool.Tool
	// Notes say what is missing and why, in words for a user or a model.
	Notes []string
}

// Select returns the tools to put before a model that works on a task: those
// listed, the system tools, those that are always there, and on demand the best
// ones for the task, in this order and each name once. Tools whose origin is
// down are left out with a note. When no tool is surely enough for the task
// none is added on demand.
func (c *Catalog) Select(ctx context.Context, task string, p Policy) (Selection, error) {
	s := &selecting{c: c, policy: &p, names: map[string]string{}, told: map[string]bool{}}
	now := c.look(ctx)
	s.refer(now.tools, p.Listed)
	for _, t := range now.tools {
		if t.Spec().System {
			s.add(t)
		}
	}
	s.refer(now.tools, p.Always)
	if !p.OnDemand {
		return s.Selection, nil
	}
	found, err := c.find(ctx, now, task, &p, s.names)
	if err != nil {
		return Selection{}, fmt.Errorf("select tools: %w", err)
	}
	for _, t := range found.tools {
		s.add(t)
	}
	s.Notes = append(s.Notes, found.notes...)
	return s.Selection, nil
}

// selecting is a selection in the making.
type selecting struct {
	Selection
	c      *Catalog
	policy *Policy
	names  map[string]string // origins by plain name
	told   map[string]bool
}

func (s *selecting) refer(tools []tool.Tool, refs []string) {
	for _, ref := range refs {
		there := false
		for _, t := range tools {
			if matches(ref, t.Spec()) {
				there = true
				s.add(t)
			}
		}
		if !there {
			s.note(fmt.Sprintf("There is no tool %s.", ref))
		}
	}
}

func (s *selecting) add(t tool.Tool) {
	spec := t.Spec()
	if s.policy.never(spec) {
		return
	}
	if err := s.c.down(spec.Origin); err != nil {
		s.note(downNote(spec.Origin, err))
		return
	}
	name := tool.PlainName(spec.Name)
	if other, taken := s.names[name]; taken {
		if other != spec.Origin {
			s.note(fmt.Sprintf("%s of %s is left out: that of %s has the same name.", spec.Name, spec.Origin, other))
		}
		return
	}
	s.names[name] = spec.Origin
	s.Tools = append(s.Tools, t)
}

func (s *selecting) note(text string) {
	if !s.told[text] {
		s.told[text] = true
		s.Notes = append(s.Notes, text)
	}
}

func downNote(from string, err error) string {
	return fmt.Sprintf("The tools of %s can't be called at the moment: %v", from, err)
}

// hits are tools that a search found for an agent.
type hits struct {
	tools []tool.Tool
	notes []string
}

// find returns the best tools for a task among those that the policy leaves,
// that are up, and whose names are not taken.
func (c *Catalog) find(ctx context.Context, now *assortment, task string, p *Policy, taken map[string]string) (hits, error) {
	var h hits
	open := make(map[key]tool.Tool, len(now.tools))
	for _, t := range now.tools {
		s := t.Spec()
		if _, there := taken[tool.PlainName(s.Name)]; !there && !s.System && s.Kind != tool.Finding && !p.never(s) {
			open[key{s.Origin, s.Name}] = t
		}
	}
	// Those that can't be had take places in the ranking.
	found, err := now.index.Search(ctx, task, p.k()+len(now.tools)-len(open)+c.downTools())
	if err != nil {
		return h, err
	}
	sure := false
	seen := map[string]bool{}
	told := map[string]bool{}
	for _, f := range found {
		t, there := open[key{f.Origin, f.Name}]
		if !there || len(h.tools) == p.k() {
			continue
		}
		if err := c.down(f.Origin); err != nil {
			if f.Confidence >= Enough && !told[f.Origin] {
				told[f.Origin] = true
				h.notes = append(h.notes, downNote(f.Origin, err))
			}
			continue
		}
		if name := tool.PlainName(f.Name); !seen[name] {
			seen[name] = true
			h.tools = append(h.tools, t)
			sure = sure || f.Confidence >= Enough
		}
	}
	if !sure {
		h.tools = nil
	}
	return h, nil
}

// downTools counts the tools that can't be called.
func (c *Catalog) downTools() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, o := range c.origins {
		if o.down != nil {
			n += len(o.tools)
		}
	}
	return n
}
