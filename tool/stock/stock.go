// Package stock is all tools that agents can be given: the catalog with what
// fills it, the tools of the program and those of servers and agents elsewhere.
package stock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"dossier/agent"
	"dossier/tool"
	"dossier/tool/a2atool"
	"dossier/tool/catalog"
	"dossier/tool/mcptool"
)

// Stock is the catalog of tools with what fills it: the built-in ones, and those
// of the MCP servers and the agents elsewhere when somebody looks for tools. Each
// of these is asked on its own: whoever looks waits a little for those that are
// slow, and not at all for what others wait for.
type Stock struct {
	*catalog.Catalog
	// Patience is how long somebody who has work to do waits for those who are
	// slow. It is set before the first one looks for tools.
	Patience Patience

	servers *mcptool.Client
	remote  *a2atool.Client
	builtin func() ([]tool.Tool, error)

	filling sync.Mutex
	full    bool // the built-in tools are there

	life    context.Context
	end     context.CancelFunc
	asking  sync.WaitGroup
	putting sync.Mutex // one at a time puts what it was told into the catalog

	mu        sync.Mutex
	closed    bool
	suppliers []*supplier // the servers by name, then the agents as they are named
}

// supplier is a server or an agent elsewhere that tools come from.
type supplier struct {
	name, origin string
	ask          func(ctx context.Context, p *supplier) // and keep what it said

	asked   time.Time     // when it was last asked, zero before
	stale   bool          // it has said that it has others now
	under   chan struct{} // closed when the question under way is answered, nil without one
	tools   []tool.Tool   // as it names them
	trouble *Trouble
}

// Patience has with servers that have never answered First, and More with those
// that have.
type Patience struct{ First, More time.Duration }

// lastsFor is how long it is believed what servers said of their tools.
const lastsFor = time.Minute

// Trouble is a server or an agent elsewhere whose tools can't be had.
type Trouble struct {
	// Origin is that of its tools: "mcp:" or "a2a:" with a name.
	Origin  string `json:"origin"`
	Problem string `json:"problem"`
	Hint    string `json:"hint,omitempty"`
}

func (t *Trouble) Error() string {
	if name, ok := strings.CutPrefix(t.Origin, "a2a:"); ok {
		return fmt.Sprintf("A2A agent %s: %s", name, t.Problem)
	}
	return fmt.Sprintf("MCP server %s: %s", strings.TrimPrefix(t.Origin, "mcp:"), t.Problem)
}

// Parts are what a stock is made of.
type Parts struct {
	Catalog *catalog.Catalog
	// Builtin makes the tools that are part of the program, when somebody looks
	// for one.
	Builtin func() ([]tool.Tool, error)
	// Servers connects the MCP servers; changed is told of one whose tools are
	// others now.
	Servers func(changed func(server string)) *mcptool.Client
	// Remote reaches the agents elsewhere, whose names are Remotes.
	Remote  *a2atool.Client
	Remotes []string
}

// New returns the stock of these parts. Nobody is asked yet.
func New(p Parts) *Stock {
	s := &Stock{Catalog: p.Catalog, remote: p.Remote, builtin: p.Builtin, Patience: Patience{First: 10 * time.Second, More: 2 * time.Second}}
	s.life, s.end = context.WithCancel(context.Background())
	s.servers = p.Servers(s.Changed)
	for _, name := range s.servers.Servers() {
		s.suppliers = append(s.suppliers, &supplier{name: name, origin: "mcp:" + name, ask: s.askServer})
	}
	for _, name := range p.Remotes {
		s.suppliers = append(s.suppliers, &supplier{name: name, origin: "a2a:" + name, ask: s.askAgent})
	}
	return s
}

// Servers are the MCP servers of the stock.
func (s *Stock) Servers() *mcptool.Client { return s.servers }

// Close ends what is being asked.
func (s *Stock) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.asking.Wait()
	return s.Catalog.Close(ctx)
}

// Changed notes that a server has other tools now.
func (s *Stock) Changed(server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.suppliers {
		if p.origin == "mcp:"+server {
			p.stale = true
		}
	}
}

// fill puts the built-in tools in when somebody looks for one: most commands
// never do.
func (s *Stock) fill(ctx context.Context) error {
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

// Refresh asks the servers for their tools that were not asked just now. It
// returns what is wrong with them. Who is patient waits for all, as long as they
// may take; others wait a little, and what comes later is there for the next one.
func (s *Stock) Refresh(ctx context.Context, patient bool) ([]Trouble, error) {
	if err := s.fill(ctx); err != nil {
		return nil, err
	}
	waits, first := s.askAll()
	if len(waits) > 0 {
		var enough <-chan time.Time
		if !patient {
			wait := s.Patience.More
			if first {
				wait = s.Patience.First
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
	var trouble []Trouble
	for _, p := range s.suppliers {
		switch {
		case p.trouble != nil:
			trouble = append(trouble, *p.trouble)
		case p.asked.IsZero():
			trouble = append(trouble, Trouble{Origin: p.origin, Problem: "it has not answered yet", Hint: "Its tools can be used when it has."})
		}
	}
	return trouble, nil
}

// askAll asks those who are due, and returns what to wait for. First says that
// one of them has never answered.
func (s *Stock) askAll() (waits []<-chan struct{}, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.suppliers {
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

func (s *Stock) askServer(ctx context.Context, p *supplier) {
	tools, err := s.servers.Tools(ctx, p.name)
	if err == nil {
		s.keep(ctx, p, tools, nil)
		return
	}
	trouble := Trouble{Origin: p.origin, Problem: "nobody waited for its answer"}
	if why, ok := errors.AsType[*mcptool.Trouble](err); ok {
		trouble.Problem, trouble.Hint = why.Problem, why.Hint
	}
	s.keep(ctx, p, nil, &trouble)
}

func (s *Stock) askAgent(ctx context.Context, p *supplier) {
	t, trouble := s.remote.Tool(ctx, p.name)
	if trouble != nil {
		s.keep(ctx, p, nil, &Trouble{Origin: p.origin, Problem: trouble.Problem, Hint: trouble.Hint})
		return
	}
	s.keep(ctx, p, []tool.Tool{t}, nil)
}

// keep puts what one supplier has said into the catalog. What it had before is still
// worth knowing when it is down.
func (s *Stock) keep(ctx context.Context, p *supplier, tools []tool.Tool, trouble *Trouble) {
	s.putting.Lock()
	defer s.putting.Unlock()
	s.mu.Lock()
	p.trouble = trouble
	if trouble == nil {
		p.tools = tools
	}
	var all []tool.Tool
	for _, o := range s.suppliers {
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
	about := func(o *supplier) string {
		if strings.HasPrefix(o.origin, "mcp:") {
			return o.name
		}
		return ""
	}
	for _, o := range s.suppliers {
		if err := s.Put(ctx, o.origin, about(o), by[o.origin]); err != nil && o == p {
			s.mu.Lock()
			p.trouble = &Trouble{Origin: p.origin, Problem: "its tools could not be noted: " + err.Error()}
			s.mu.Unlock()
		}
	}
	s.Report(p.origin, nil)
}

// Select implements agent.Finder.
func (s *Stock) Select(ctx context.Context, task string, have *tool.Set, p agent.ToolSearch) ([]string, error) {
	if _, err := s.Refresh(ctx, false); err != nil {
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
func (s *Stock) Get(ctx context.Context, name string) (tool.Tool, error) {
	if t := s.At(ctx, name); t != nil {
		return t, nil
	}
	if _, err := s.Refresh(ctx, false); err != nil {
		return nil, err
	}
	return s.At(ctx, name), nil
}

// At returns a tool that is known, nil if there is none.
func (s *Stock) At(ctx context.Context, name string) tool.Tool {
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
func (s *Stock) Finder(p agent.ToolSearch) tool.Tool {
	return &finder{s.Catalog.Finder(policyOf(p)), s}
}

type finder struct {
	tool.Tool
	stock *Stock
}

func (f *finder) Call(ctx context.Context, c *tool.Call) (tool.Result, error) {
	if _, err := f.stock.Refresh(ctx, false); err != nil {
		return tool.Result{}, err
	}
	return f.Tool.Call(ctx, c)
}

func policyOf(p agent.ToolSearch) catalog.Policy {
	return catalog.Policy{Always: p.Always, Never: p.Never, OnDemand: p.OnDemand, K: p.K}
}
