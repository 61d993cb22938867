package server

import (
	"context"
	"log/slog"
	"net/http"

	"dossier/internal/access"
)

// Protocol is a set of routes that speak alike. All protocols of a server are
// on one mux behind one gate: what a route is called with has been admitted, and
// knows its caller (CallerOf) and the engine as that caller sees it (EngineOf).
type Protocol struct {
	// Name of it in /openapi.json and in figures.
	Name   string
	Routes []Route
	// Fail writes an error in the protocol's own form; nil writes a Problem.
	Fail func(w http.ResponseWriter, r *http.Request, status int, p *Problem)
	// Failure is a value of the type that Fail writes; nil is a Problem.
	Failure any
}

// Route is one thing that clients can ask for.
type Route struct {
	// Pattern is that of a http.ServeMux, as in "GET /api/runs/{id}".
	Pattern string
	// Scope that a caller needs. Open lets anybody in, unknown; such a route has
	// no engine.
	Scope access.Scope
	Serve Handler
	// Large says that the route itself bounds the body that it takes.
	Large bool
	// Doc is what /openapi.json says of it; nil leaves it out.
	Doc *Doc
}

// Open is the scope of routes that need none.
const Open access.Scope = ""

// Handler answers a request, or fails with an error that Describe explains.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Doc describes a route.
type Doc struct {
	Summary string
	Query   []Param
	// Body is a value of the type of the request's body; nil for none. Optional
	// says that it may be left out.
	Body     any
	Optional bool
	// Takes is the type of a body that is no JSON.
	Takes string
	// Reply is a value of the type of the reply; nil for none, or for one that is
	// no JSON and whose Media is named.
	Reply any
	Media string
	// Status of success: by default 200, or 204 where there is no reply.
	Status int
}

// Param is one of the query.
type Param struct {
	Name, Type, Help string
}

// call is what the gate found out about a request.
type call struct {
	caller access.Caller
	engine Engine
	api    *api
	reply  *response // nil where the caller does not come over HTTP
}

type callKey struct{}

func (c *call) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// about notes which run the request with this context is about.
func about(ctx context.Context, id string) {
	if c, _ := ctx.Value(callKey{}).(*call); c != nil && c.reply != nil && id != "" {
		c.reply.run.Store(&id)
	}
}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	if c == nil {
		panic("server: the context is not that of a request which was admitted")
	}
	return c
}

// CallerOf is who makes the request with this context.
func CallerOf(ctx context.Context) access.Caller { return callOf(ctx).caller }

// EngineOf is the engine as the caller of the request with this context sees
// it: what is not theirs is not there.
func EngineOf(ctx context.Context) Engine { return callOf(ctx).engine }

// Require says why the caller of the request with this context may not do what
// needs a scope, for routes that serve several things.
func Require(ctx context.Context, s access.Scope) error {
	if CallerOf(ctx).May(s) {
		return nil
	}
	return lacks(s)
}

// Admit lets a caller in who does not come over HTTP: what is done with the
// context is done by them, within the policy. The log gets what goes wrong inside;
// nil for none.
func Admit(ctx context.Context, e Engine, caller access.Caller, p *Policy, log *slog.Logger) context.Context {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	never := context.Background()
	c := &call{caller: caller, engine: view{e, caller, p, never}, api: &api{engine: e, closing: never, log: log}}
	return c.in(ctx)
}
