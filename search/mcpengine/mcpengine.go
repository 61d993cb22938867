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

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier/internal/base/mcpconn"
	"dossier/search"
)

const (
	document     = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools"
	defaultLimit = 10
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
	conf Config
	conn *mcpconn.Conn[tool]
}

// New returns the engine. client is for servers over HTTP.
func New(client *http.Client, c Config) *Engine {
	return open(c, mcpconn.Options[tool]{HTTP: client})
}

func open(c Config, o mcpconn.Options[tool]) *Engine {
	c.Name = cmp.Or(c.Name, "mcp")
	if len(c.Topics) == 0 {
		c.Topics = []search.Topic{search.General}
	}
	e := &Engine{conf: c}
	o.Greet = e.choose
	e.conn = mcpconn.New(context.Background(), mcpconn.Server{Command: c.Command, Args: c.Args, Env: c.Env, URL: c.URL, Headers: c.Headers}, o)
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
		session, fresh, err := e.conn.Session(ctx)
		if err != nil {
			return nil, e.unconnected(ctx, err)
		}
		calling, report := mcpconn.Watch(ctx)
		result, err := session.CallTool(calling, &mcp.CallToolParams{Name: session.Known.name, Arguments: session.Known.arguments(q.Text, limit)})
		if err == nil {
			hits, err := e.hits(result)
			return hits[:min(len(hits), limit)], err
		}
		lost, fault := e.fault(ctx, report.Seen(), err)
		if lost {
			e.conn.Lost(session)
		}
		if !lost || fresh || again {
			return nil, fault
		}
	}
}

// unconnected says why there is no connection. Several may get the same error
// of mcpconn; each gets one of its own.
func (e *Engine) unconnected(ctx context.Context, err error) error {
	failure, ok := errors.AsType[*mcpconn.Failure](err)
	switch {
	case errors.Is(err, mcpconn.ErrClosed):
		return &search.Error{Engine: e.conf.Name, Reason: search.Unreachable, Detail: "it was closed"}
	case !ok:
		return search.Broken(ctx, e.conf.Name, err)
	}
	if own, ok := errors.AsType[*search.Error](failure.Err); ok {
		unsuitable := *own
		return &unsuitable
	}
	_, fault := e.fault(ctx, failure.Seen, failure.Err)
	return fault
}

// Close ends the connection, and the program that was started. Searches fail
// from then on.
func (e *Engine) Close() error { return e.conn.Close() }
