package dossier

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"dossier/agent"
	"dossier/tool"
	"dossier/tool/a2atool"
	"dossier/tool/catalog"
	"dossier/tool/mcptool"
)

// shelf is the catalog of tools with what fills it: the built-in ones, and those
// of the MCP servers and the agents elsewhere when somebody looks for tools. Each
// of these is asked on its own: whoever looks waits a little for those that are
// slow, and not at all for what others wait for.
type shelf struct {
	*catalog.Catalog
	servers *mcptool.Client
	remote  *a2atool.Client
	builtin func() ([]tool.Tool, error)

	filling sync.Mutex
	full    bool // the built-in tools are there

	first, more time.Duration // firstPatience and morePatience

	life    context.Context
	end     context.CancelFunc
	asking  sync.WaitGroup
	putting sync.Mutex // one at a time puts what it was told into the catalog

	mu     sync.Mutex
	closed bool
	places []*place // the servers by name, then the agents as they are named
}

// place is where tools come from.
type place struct {
	name, origin string
	ask          func(ctx context.Context, p *place) // and keep what it said

	asked   time.Time     // when it was last asked, zero before
	stale   bool          // it has said that it has others now
	under   chan struct{} // closed when the question under way is answered, nil without one
	tools   []tool.Tool   // as it names them
	trouble *ToolTrouble
}

const (
	// lastsFor is how long it is believed what servers said of their tools.
	lastsFor = time.Minute
	// firstPatience is how long somebody who has work to do waits for servers
	// that have never answered, and morePatience for those that have.
	firstPatience, morePatience = 10 * time.Second, 2 * time.Second
)

func newShelf(servers func(changed func(string)) *mcptool.Client, remote *a2atool.Client, remotes []string, all *catalog.Catalog, builtin func() ([]tool.Tool, error)) *shelf {
	s := &shelf{Catalog: all, remote: remote, builtin: builtin, first: firstPatience, more: morePatience}
	s.life, s.end = context.WithCancel(context.Background())
	s.servers = servers(s.changed)
	for _, name := range s.servers.Servers() {
		s.places = append(s.places, &place{name: name, origin: "mcp:" + name, ask: s.askServer})
	}
	for _, name := range remotes {
		s.places = append(s.places, &place{name: name, origin: "a2a:" + name, ask: s.askAgent})
	}
	return s
}

// Close ends what is being asked.
func (s *shelf) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.asking.Wait()
	return s.Catalog.Close(ctx)
}

// changed notes that a server has other tools now.
func (s *shelf) changed(server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.places {
		if p.origin == "mcp:"+server {
			p.stale = true
		}
	}
}

// fill puts the built-in tools in when somebody looks for one: most commands
// never do.
func (s *shelf) fill(ctx context.Context) error {
	s.filling.Lock()
	defer s.filling.Unlock()
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

// refresh asks the servers for their tools that were not asked just now. It
// returns what is wrong with them. Who is patient waits for all, as long as they
// may take; others wait a little, and what comes later is there for the next one.
func (s *shelf) refresh(ctx context.Context, patient bool) ([]ToolTrouble, error) {
	if err := s.fill(ctx); err != nil {
		return nil, err
	}
	waits, first := s.askAll()
	if len(waits) > 0 {
		var enough <-chan time.Time
		if !patient {
			wait := s.more
			if first {
				wait = s.first
			}
			timer := time.NewTimer(wait)
			defer timer.Stop()
			enough = timer.C
		}
	waiting:
		for _, answered := range waits {
			select {
			case <-answered:
			case <-enough:
				break waiting
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var trouble []ToolTrouble
	for _, p := range s.places {
		switch {
		case p.trouble != nil:
			trouble = append(trouble, *p.trouble)
		case p.asked.IsZero():
			trouble = append(trouble, ToolTrouble{Origin: p.origin, Problem: "it has not answered yet", Hint: "Its tools can be used when it has."})
		}
	}
	return trouble, nil
}

// askAll asks those who are due, and returns what to wait for. First says that
// one of them has never answered.
func (s *shelf) askAll() (waits []<-chan struct{}, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.places {
		if p.under == nil && !s.closed && (p.stale || time.Since(p.asked) >= lastsFor) {
			answered := make(chan struct{})
			p.under, p.stale = answered, false
			s.asking.Go(func() {
				p.ask(s.life, p)
				s.mu.Lock()
				defer s.mu.Unlock()
				p.under, p.asked = nil, time.Now()
				close(answered)
			})
		}
		if p.under != nil {
			waits, first = append(waits, p.under), first || p.asked.IsZero()
		}
	}
	return waits, first
}

func (s *shelf) askServer(ctx context.Context, p *place) {
	tools, err := s.servers.Tools(ctx, p.name)
	if err == nil {
		s.keep(ctx, p, tools, nil)
		return
	}
	trouble := ToolTrouble{Origin: p.origin, Problem: "nobody waited for its answer"}
	if why, ok := errors.AsType[*mcptool.Trouble](err); ok {
		trouble.Problem, trouble.Hint = why.Problem, why.Hint
	}
	s.keep(ctx, p, nil, &trouble)
}

func (s *shelf) askAgent(ctx context.Context, p *place) {
	t, trouble := s.remote.Tool(ctx, p.name)
	if trouble != nil {
		s.keep(ctx, p, nil, &ToolTrouble{Origin: p.origin, Problem: trouble.Problem, Hint: trouble.Hint})
		return
	}
	s.keep(ctx, p, []tool.Tool{t}, nil)
}

// keep puts what one place has said into the catalog. What it had before is still
// worth knowing when it is down.
func (s *shelf) keep(ctx context.Context, p *place, tools []tool.Tool, trouble *ToolTrouble) {
	s.putting.Lock()
	defer s.putting.Unlock()
	s.mu.Lock()
	p.trouble = trouble
	if trouble == nil {
		p.tools = tools
	}
	var all []tool.Tool
	for _, o := range s.places {
		all = append(all, o.tools...)
	}
	s.mu.Unlock()
	if trouble != nil {
		s.Report(p.origin, trouble)
		return
	}
	// A name that two servers use is one of a tool of each, so the names of all
	// are looked at.
	by := make(map[string][]tool.Tool)
	for _, t := range mcptool.Distinct(all) {
		by[t.Spec().Origin] = append(by[t.Spec().Origin], t)
	}
	about := func(o *place) string {
		if strings.HasPrefix(o.origin, "mcp:") {
			return o.name
		}
		return ""
	}
	for _, o := range s.places {
		if err := s.Put(ctx, o.origin, about(o), by[o.origin]); err != nil && o == p {
			s.mu.Lock()
			p.trouble = &ToolTrouble{Origin: p.origin, Problem: "its tools could not be noted: " + err.Error()}
			s.mu.Unlock()
		}
	}
	s.Report(p.origin, nil)
}

// Select implements agent.Finder.
func (s *shelf) Select(ctx context.Context, task string, have *tool.Set, p agent.ToolSearch) ([]string, error) {
	if _, err := s.refresh(ctx, false); err != nil {
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

// Get implements agent.Finder. Servers are asked for a tool that is not known.
func (s *shelf) Get(ctx context.Context, name string) (tool.Tool, error) {
	if t := s.at(ctx, name); t != nil {
		return t, nil
	}
	if _, err := s.refresh(ctx, false); err != nil {
		return nil, err
	}
	return s.at(ctx, name), nil
}

// at returns a tool that is known, nil if there is none.
func (s *shelf) at(ctx context.Context, name string) tool.Tool {
	if s.fill(ctx) != nil {
		return nil
	}
	found, err := s.Resolve(ctx, name)
	if err != nil || len(found) == 0 {
		return nil
	}
	return found[0]
}

// Finder is the tool with which an agent looks for more tools: servers that were
// not asked lately are asked first.
func (s *shelf) Finder(p catalog.Policy) tool.Tool { return &finder{s.Catalog.Finder(p), s} }

type finder struct {
	tool.Tool
	shelf *shelf
}

func (f *finder) Call(ctx context.Context, c *tool.Call) (tool.Result, error) {
	if _, err := f.shelf.refresh(ctx, false); err != nil {
		return tool.Result{}, err
	}
	return f.Tool.Call(ctx, c)
}

func policyOf(p agent.ToolSearch) catalog.Policy {
	return catalog.Policy{Always: p.Always, Never: p.Never, OnDemand: p.OnDemand, K: p.K}
}
