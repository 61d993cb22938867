// Package mcp serves Dossier to those who speak the Model Context Protocol: over
// HTTP as a protocol of the server, and over standard input and output.
//
// It keeps nothing between requests. A research is a run, and its id is the handle
// by which a client comes back for it: leaving a call is not cancelling the run. A
// run that asks something asks the client's user in the form that the client
// knows: as a result that requires input (2026-07-28), as an elicitation (before
// it, where the client can be called back), or as a result that says so, which
// the tool run_answer answers.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier/internal/access"
	"dossier/internal/server"
)

// Path at which the protocol is served.
const Path = "/mcp"

// versions of the protocol that are spoken; the first without a handshake.
var versions = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"}

// withoutHandshake is the first version in which a result can require input.
const withoutHandshake = "2026-07-28"

// Options of the server.
type Options struct {
	Version string       // of the program
	Log     *slog.Logger // nil for none
}

// Protocol is MCP over streamable HTTP, without sessions.
func Protocol(o Options) server.Protocol {
	mcp := newServer(o)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return mcp }, &sdk.StreamableHTTPOptions{
		Stateless: true,
		// The gate has looked at the Host, and bounds the body.
		DisableLocalhostProtection: true, MaxRequestBodyBytes: -1,
	})
	serve := func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("X-Accel-Buffering", "no")
		handler.ServeHTTP(w, r.WithContext(until(r.Context())))
		return nil
	}
	return server.Protocol{Name: "mcp", Fail: fail, Failure: Refusal{}, Routes: []server.Route{
		{Pattern: "POST " + Path, Scope: access.Read, Serve: serve, Doc: &server.Doc{
			Summary: "The Model Context Protocol over streamable HTTP, without sessions: research, search, read, ask_collection and runs as tools, reports as resources",
			Media:   "text/event-stream",
		}},
		{Pattern: Path, Scope: access.Read, Serve: serve}, // says that only POST is served
	}}
}

// Serve speaks MCP with one client until in ends, and what was asked before is replied
// to, or ctx ends. What the client does
// is done by the caller of ctx: see server.Admit.
func Serve(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	p := &pipe{ctx: ctx, in: in, out: out}
	err := newServer(o).Run(ctx, &sdk.IOTransport{Reader: p, Writer: p})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil //nolint:nilerr // it was told to end
	}
	return err
}

// newServer makes the server for all clients. Whose things they see is in the
// context of each request.
func newServer(o Options) *sdk.Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "dossier", Title: "Dossier", Version: strings.TrimSpace(o.Version)}, &sdk.ServerOptions{
		Instructions: instructions, SupportedProtocolVersions: versions,
		// What is there differs from caller to caller, and nobody is told of changes.
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}},
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" },
	})
	d := &desk{o.Log}
	d.addTools(s)
	d.addReports(s)
	s.AddReceivingMiddleware(declared, ending, allowed, d.listed)
	return s
}

const instructions = `Research with answers that can be checked: each sentence leads to where it stands.
Every research is a run with an id. A call that returns before the run is over names it: run_status waits for it, run_answer answers what it asks. Reports are resources, dossier://runs/ID/report.md.`

// declared refuses what the server does not say that it offers. The library would
// answer with an empty list.
func declared(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if strings.HasPrefix(method, "prompts/") || strings.HasPrefix(method, "logging/") {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("method not found: %q", method)}
		}
		return next(ctx, method, req)
	}
}

// untilKey is that of the context by which a request ends.
type untilKey struct{}

func until(ctx context.Context) context.Context { return context.WithValue(ctx, untilKey{}, ctx) }

// ending lets handlers end with the request that they serve. The library keeps
// that from them.
func ending(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if outer, ok := ctx.Value(untilKey{}).(context.Context); ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(outer, cancel)()
		}
		return next(ctx, method, req)
	}
}

// fail writes what the gate refuses as the protocol writes errors.
func fail(w http.ResponseWriter, _ *http.Request, status int, p *server.Problem) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(refusal(p)) // whoever left doesn't need it
}
