package server

import (
	"context"
	"net/http"
	"strings"

	"dossier/internal/access"
)

// door is what is known of a request that came in unknown: its gate, and what it
// says of who makes it.
type door struct {
	gate    *gate
	token   string // of its header
	proxied bool
}

type doorKey struct{}

// Visit begins something that stays beyond a request of an Open route, as a
// connection whose client says later who they are. Its context ends with cancel,
// or when the server closes. What is asked for in it is admitted by AdmitLater.
func Visit(r *http.Request) (ctx context.Context, cancel context.CancelFunc) {
	d := doorOf(r.Context())
	return withEnd(context.WithoutCancel(r.Context()), d.gate.api.closing)
}

// AdmitLater lets somebody do something that needs a scope, in a request of an Open
// route or in what Visit began: it is as if they made a request with the token, or
// without one with the header that they came with. In the context that it returns
// CallerOf and EngineOf are known. It is called for each thing that is asked for,
// so that a token which was revoked does nothing more.
func AdmitLater(ctx context.Context, token string, scope access.Scope) (context.Context, error) {
	d := doorOf(ctx)
	if token == "" {
		token = d.token
	}
	caller, err := d.gate.identify(ctx, token, d.proxied)
	if err != nil {
		return nil, err
	}
	c, err := d.gate.call(caller, scope)
	if err != nil {
		return nil, err
	}
	return c.in(ctx), nil
}

// Explain is what may be told of an error to whoever asked in a context of AdmitLater,
// of a request or of Visit. What went wrong inside is for the operator, and the log
// gets it.
func Explain(ctx context.Context, err error) *Problem {
	caller := unknown
	var a *api
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		caller, a = c.caller, c.api
	} else {
		a = doorOf(ctx).gate.api
	}
	problem := For(caller, err)
	if problem.Code == "failed" {
		a.log.Error("a request failed", "error", err)
	}
	return problem
}

// EnterStream counts a stream that is none of NewStream's among those that its
// caller has open, until leave is called. It fails where they are too many.
func EnterStream(ctx context.Context) (leave func(), err error) {
	c := callOf(ctx)
	return c.api.streams.enter(c.caller)
}

func doorOf(ctx context.Context) *door {
	d, _ := ctx.Value(doorKey{}).(*door)
	if d == nil {
		panic("server: the context is not that of a request of an open route")
	}
	return d
}

// bearer is the token of a request's header; "" for none.
func bearer(r *http.Request) string {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(text)
}
