// Package mcpengine makes a search engine of any MCP server that has a tool for
// searching: one that is started as a program, or one that is reached over HTTP.
// It speaks the protocol of https://modelcontextprotocol.io/specification through
// its Go SDK.
//
// Of a query it passes on the words and Limit, under the names that the tool
// gives them. What else a server can filter by is not told in a way that a
// program could rely on; the port holds the hits to the rest of the query.
//
// What the server says is data. It gets no sampling, no questions to the user
// and no folders, and a program it is started as gets nothing of our
// environment but what programs need to run.
package mcpengine

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier/search"
)

const (
	document     = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools"
	defaultLimit = 10
	// connectTime is how long a server may take to start, which for a program
	// that is fetched first is long. Who asks need not wait that long: the
	// server goes on starting for the next one.
	connectTime = time.Minute
)

// Config says how a server is reached and which of its tools searches.
type Config struct {
	Name   string         // of the engine
	Topics []search.Topic // General when empty

	// Command is a program that speaks over its standard input and output.
	Command string
	Args    []string
	Env     map[string]string

	// URL is the address of a server over HTTP, used when Command is empty.
	URL     string
	Headers map[string]string

	// Tool is the tool's name. Empty chooses the first tool that says in its
	// name, or else in its description, that it searches, and takes a text.
	Tool string
	// QueryArg and LimitArg are the names of its arguments. Empty finds them by
	// the names that are common.
	QueryArg, LimitArg string
}

// Engine asks an MCP server. It connects when it is first asked, and again when
// the connection was lost.
type Engine struct {
	conf   Config
	client *mcp.Client
	dial   func() mcp.Transport
	life   context.Context // of the requests that nobody waits for
	end    context.CancelFunc

	mu      sync.Mutex
	current *connection // nil when the next search has to connect
	closed  bool
	ending  sync.WaitGroup // connections that are being taken down
}

// New returns the engine. client is for servers over HTTP.
func New(client *http.Client, c Config) *Engine {
	c.Name = cmp.Or(c.Name, "mcp")
	if len(c.Topics) == 0 {
		c.Topics = []search.Topic{search.General}
	}
	e := &Engine{
		conf:   c,
		client: mcp.NewClient(&mcp.Implementation{Name: "dossier", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}),
	}
	e.life, e.end = context.WithCancel(context.Background())
	if c.Command != "" {
		e.dial = func() mcp.Transport { return program(c) }
	} else {
		watched := watch(e.life, client, c)
		e.dial = func() mcp.Transport {
			return &mcp.StreamableClientTransport{Endpoint: c.URL, HTTPClient: watched, MaxRetries: -1, DisableStandaloneSSE: true}
		}
	}
	return e
}

// Info implements search.Engine.
func (e *Engine) Info() search.Info {
	return search.Info{Name: e.conf.Name, Topics: e.conf.Topics, Document: document}
}

// Search implements search.Searcher. A connection that turns out to be lost is
// made anew once.
func (e *Engine) Search(ctx context.Context, q search.Query) ([]search.Hit, error) {
	limit := cmp.Or(q.Limit, defaultLimit)
	for again := false; ; again = true {
		c, fresh, err := e.connected(ctx)
		if err != nil {
			return nil, err
		}
		seen := &report{}
		result, err := c.session.CallTool(reporting(ctx, seen), &mcp.CallToolParams{Name: c.tool.name, Arguments: c.tool.arguments(q.Text, limit)})
		if err == nil {
			hits, err := e.hits(result)
			return hits[:min(len(hits), limit)], err
		}
		lost, fault := e.fault(ctx, seen, err)
		if lost {
			e.drop(c)
		}
		if !lost || fresh || again {
			return nil, fault
		}
	}
}

// connection is a session, or one that is being made.
type connection struct {
	ready   chan struct{} // closed when the rest is set
	stop    context.CancelFunc
	session *mcp.ClientSession
	tool    tool
	err     error
}

// connected returns the connection, and whether it was made for this call.
func (e *Engine) connected(ctx context.Context) (*connection, bool, error) {
	e.mu.Lock()
	c := e.current
	fresh := c == nil
	if fresh && !e.closed {
		// Whoever asked first may leave; the connection is for all.
		connecting, stop := context.WithTimeout(context.WithoutCancel(ctx), connectTime)
		c = &connection{ready: make(chan struct{}), stop: stop}
		e.current = c
		go e.connect(connecting, c)
	}
	e.mu.Unlock()
	if c == nil {
		return nil, false, &search.Error{Engine: e.conf.Name, Reason: search.Unreachable, Detail: "it was closed"}
	}
	select {
	case <-c.ready:
		if fault, ok := errors.AsType[*search.Error](c.err); ok {
			own := *fault // several may have waited for it
			return nil, fresh, &own
		}
		return c, fresh, c.err
	case <-ctx.Done():
		return nil, fresh, search.Broken(ctx, e.conf.Name, context.Cause(ctx))
	}
}

func (e *Engine) connect(ctx context.Context, c *connection) {
	defer close(c.ready)
	defer c.stop()
	seen := &report{}
	ctx = reporting(ctx, seen)
	session, err := e.client.Connect(ctx, e.dial(), nil)
	if err == nil {
		c.session = session
		c.tool, err = e.choose(ctx, session)
	}
	if err == nil {
		return
	}
	if c.err = err; search.ReasonOf(err) == "" {
		_, c.err = e.fault(ctx, seen, err)
	}
	if errors.Is(c.err, context.Canceled) {
		c.err = &search.Error{Engine: e.conf.Name, Reason: search.Unreachable, Detail: "it was closed"}
	}
	e.forget(c)
	if session != nil {
		_ = session.Close()
	}
}

// forget lets the next search connect anew.
func (e *Engine) forget(c *connection) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.current == c {
		e.current = nil
	}
}

// drop gives a connection up without waiting for the server to end.
func (e *Engine) drop(c *connection) {
	e.forget(c)
	e.ending.Go(func() { _ = c.session.Close() })
}

// Close ends the connection, and the program that was started. Searches fail
// from then on.
func (e *Engine) Close() error {
	e.mu.Lock()
	c := e.current
	e.current, e.closed = nil, true
	e.mu.Unlock()
	var err error
	if c != nil {
		select {
		case <-c.ready:
		default:
			c.stop()
			e.end()
			<-c.ready
		}
		if c.err == nil {
			err = c.session.Close()
		}
	}
	e.end()
	e.ending.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil // programs that are told to end say what they like
	}
	return err
}
