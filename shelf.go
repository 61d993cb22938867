package dossier

import (
	"context"
	"fmt"
	"sync"
	"time"

	"dossier/agent"
	"dossier/tool"
	"dossier/tool/a2atool"
	"dossier/tool/catalog"
	"dossier/tool/mcptool"
)

// shelf is the catalog of tools with what fills it: the built-in ones, and those
// of the MCP servers and the agents elsewhere when somebody looks for tools.
type shelf struct {
	*catalog.Catalog
	servers *mcptool.Client
	remote  *a2atool.Client
	remotes []string
	builtin func() ([]tool.Tool, error)

	mu    sync.Mutex
	full  bool      // the built-in tools are there
	asked time.Time // when the servers were last asked
	stale bool      // one of them has said that it has others now
	last  []mcptool.Trouble
}

// lastsFor is how long it is believed what servers said of their tools.
const lastsFor = time.Minute

// changed notes that a server has other tools now.
func (s *shelf) changed(string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
}

// fill puts the built-in tools in when somebody looks for one: most commands
// never do.
func (s *shelf) fill(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		return nil
	}
	all, err := s.builtin()
	if err == nil {
		err = s.Put(ctx, tool.Builtin, "", all)
	}
	s.full = err == nil
	return err
}

// refresh asks the servers for their tools, unless they were asked just now.
func (s *shelf) refresh(ctx context.Context) ([]mcptool.Trouble, error) {
	if err := s.fill(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.servers.Servers())+len(s.remotes) == 0 || !s.stale && time.Since(s.asked) < lastsFor {
		return s.last, nil
	}
	theirs, trouble := s.servers.All(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	by := make(map[string][]tool.Tool)
	for _, t := range theirs {
		by[t.Spec().Origin] = append(by[t.Spec().Origin], t)
	}
	down := make(map[string]error)
	for _, t := range trouble {
		down["mcp:"+t.Server] = &t
	}
	for _, name := range s.servers.Servers() {
		from := "mcp:" + name
		if err := down[from]; err != nil {
			s.Report(from, err)
			continue // what it had is still worth knowing
		}
		if err := s.Put(ctx, from, name, by[from]); err != nil {
			return nil, fmt.Errorf("the tools of %s: %w", name, err)
		}
		s.Report(from, nil)
	}
	away, why := s.remote.Tools(ctx)
	for _, t := range away {
		if err := s.Put(ctx, t.Spec().Origin, "", []tool.Tool{t}); err != nil {
			return nil, fmt.Errorf("the agent %s: %w", t.Spec().Name, err)
		}
		s.Report(t.Spec().Origin, nil)
	}
	for _, t := range why {
		s.Report("a2a:"+t.Agent, &t)
		trouble = append(trouble, mcptool.Trouble{Server: t.Agent, Problem: t.Problem, Hint: t.Hint})
	}
	s.asked, s.stale, s.last = time.Now(), false, trouble
	return trouble, nil
}

// Select implements agent.Finder.
func (s *shelf) Select(ctx context.Context, task string, have *tool.Set, p agent.ToolSearch) ([]string, error) {
	if _, err := s.refresh(ctx); err != nil {
		return nil, err
	}
	made, err := s.Catalog.Select(ctx, task, policyOf(p))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range made.Tools {
		if _, listed := have.Get(t.Spec().Name); !listed {
			names = append(names, t.Spec().Name)
		}
	}
	return names, nil
}

// Get implements agent.Finder.
func (s *shelf) Get(name string) (tool.Tool, bool) {
	ctx := context.Background()
	if s.fill(ctx) != nil {
		return nil, false
	}
	found, err := s.Resolve(ctx, name)
	if err != nil || len(found) == 0 {
		return nil, false
	}
	return found[0], true
}

func policyOf(p agent.ToolSearch) catalog.Policy {
	return catalog.Policy{Always: p.Always, Never: p.Never, OnDemand: p.OnDemand, K: p.K}
}
