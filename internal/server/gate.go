package server

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"dossier/internal/access"
	"dossier/internal/base/logs"
	"dossier/internal/base/trace"
)

// Access is who may come in.
type Access struct {
	// Token of the operator; "" for none.
	Token string
	// Required asks everybody for a token. Without it, whoever reaches the server
	// without one is the operator: that is for a server that only this machine
	// reaches.
	Required bool
	// Hosts are names by which the server may be addressed, beside those of this
	// machine; AnyHost takes all. It keeps pages of others from reaching the
	// server under a name that they have made lead here.
	Hosts   []string
	AnyHost bool
	// Origins are those of pages that may call beside the server's own.
	Origins []string
	// Rate is how many requests a second a token may make on average; 0 is any
	// number.
	Rate float64
}

// gate admits requests: it knows where they come from, who makes them, and what
// that caller may do.
type gate struct {
	Access
	api    *api
	policy *Policy
	check  func(ctx context.Context, token string) (access.Caller, error)
	pace   *pace
	meter  *meter
	tracer trace.Tracer // nil for none
	log    *slog.Logger
	mux    *http.ServeMux
	near   map[string]Protocol // those that have a form of their own, by the first part of their paths
}

// handle puts the routes of a protocol behind the gate.
func (g *gate) handle(p Protocol) {
	for _, route := range p.Routes {
		g.mux.HandleFunc(route.Pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := g.admit(w, r, route); err != nil {
				g.fail(w, r, p, err)
			}
		})
		if at := section(routeOf(route.Pattern)); p.Fail != nil && g.near[at].Fail == nil {
			g.near[at] = p // the first of several counts
		}
	}
}

// refuse answers what no route is asked, in the form of the protocol whose routes
// begin alike.
func (g *gate) refuse(w http.ResponseWriter, r *http.Request, p *Problem) {
	status := statusFor(p)
	if near, ok := g.near[section(r.URL.Path)]; ok {
		near.Fail(w, r, status, p)
		return
	}
	if section(r.URL.Path) == "api" {
		p = p.in(tongue(r))
	}
	_ = reply(w, status, p)
}

// elsewhere answers what no route is for.
func (g *gate) elsewhere(w http.ResponseWriter, r *http.Request) {
	var takes []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if _, pattern := g.mux.Handler(&http.Request{Method: method, Host: r.Host, URL: r.URL}); pattern != "/" {
			takes = append(takes, method)
		}
	}
	if len(takes) == 0 {
		g.refuse(w, r, noRoute(r))
		return
	}
	allowed := strings.Join(takes, ", ")
	w.Header().Set("Allow", allowed)
	g.refuse(w, r, &Problem{Code: "method", Message: fmt.Sprintf("%s does not take %s", r.URL.Path, r.Method), Hint: "it takes " + allowed})
}

// section is the first part of a path.
func section(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

// admit lets a request through to its route.
func (g *gate) admit(w http.ResponseWriter, r *http.Request, route Route) error {
	if route.Scope == Open {
		d := &door{gate: g, token: bearer(r), proxied: forwarded(r)}
		return route.Serve(w, r.WithContext(context.WithValue(r.Context(), doorKey{}, d)))
	}
	body := r.Body
	r, err := g.admitted(w, r, route.Scope)
	if err != nil {
		return err
	}
	if route.Large {
		r.Body = body
	}
	return route.Serve(w, r)
}

// admitted returns a request that knows its caller, who has the scope.
func (g *gate) admitted(w http.ResponseWriter, r *http.Request, scope access.Scope) (*http.Request, error) {
	caller, err := g.identify(r.Context(), bearer(r), forwarded(r))
	if err != nil {
		return nil, err
	}
	if s, ok := w.(*response); ok {
		s.caller = caller
	}
	c, err := g.call(caller, scope)
	if err != nil {
		return nil, err
	}
	if s, ok := w.(*response); ok {
		c.reply = s
	}
	known := r.WithContext(c.in(r.Context()))
	known.Body = http.MaxBytesReader(w, r.Body, g.api.maxBody)
	return known, nil
}

// tooFast is the problem of a caller who asks more often than they may.
type tooFast struct {
	*Problem
	wait time.Duration
}

func (e *tooFast) Unwrap() error { return e.Problem }

// call is one thing that a caller asks for, if they may.
func (g *gate) call(caller access.Caller, scope access.Scope) (*call, error) {
	if wait, ok := g.pace.take(caller.Token); !ok {
		return nil, &tooFast{&Problem{Code: "rate_limit", Message: "this token makes too many requests", Hint: "wait for the seconds that Retry-After says"}, wait}
	}
	if !caller.May(scope) {
		return nil, lacks(scope)
	}
	return &call{caller: caller, engine: view{g.api.engine, caller, g.policy, g.api.closing}, api: g.api}, nil
}

// identify says who shows a token, or comes without one.
func (g *gate) identify(ctx context.Context, text string, proxied bool) (access.Caller, error) {
	switch {
	case text != "" && g.Token != "" && same(text, g.Token):
		c := access.Operator()
		c.Token = "server.token"
		return c, nil
	case strings.HasPrefix(text, access.Prefix):
		c, err := g.check(ctx, text)
		if errors.Is(err, access.ErrRefused) {
			return c, unauthorized("the token is not valid: it was revoked, has expired, or is none of this server's")
		}
		return c, err
	case text != "" && g.Required:
		return access.Caller{}, unauthorized("the token is none of this server's")
	case g.Required:
		return access.Caller{}, unauthorized("this server asks for a token")
	case proxied:
		// Whoever stands before a proxy is not on this machine, though it looks so.
		return access.Caller{}, unauthorized("the request comes through a proxy, and such need a token")
	}
	// Clients of other programs always send some key: here none is needed.
	return access.Operator(), nil
}

func unauthorized(message string) error {
	return &Problem{Code: "unauthorized", Message: message, Hint: "`dossier tokens create USER` makes one; send it as Authorization: Bearer TOKEN"}
}

// forwarded says whether a proxy has passed a request on.
func forwarded(r *http.Request) bool {
	return slices.ContainsFunc([]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"}, func(name string) bool {
		return r.Header.Get(name) != ""
	})
}

// fail writes an error in the form of its protocol. What went wrong inside is for
// the operator: others get a sentence, and the log the rest.
func (g *gate) fail(w http.ResponseWriter, r *http.Request, p Protocol, err error) {
	if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		return // whoever asked has left
	}
	caller := unknown
	if s, ok := w.(*response); ok {
		caller = s.caller
	}
	problem := For(caller, err)
	status := statusFor(problem)
	if status >= http.StatusInternalServerError {
		g.log.Error("a request failed", "method", r.Method, "path", r.URL.Path, "request", w.Header().Get(requestID), "error", err)
	}
	if fast, ok := errors.AsType[*tooFast](err); ok {
		w.Header().Set("Retry-After", fmt.Sprint(1+int(fast.wait.Seconds())))
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="dossier"`)
	}
	if p.Fail != nil {
		p.Fail(w, r, status, problem)
		return
	}
	if p.Name == ownAPI { // clients of the others match on words
		problem = problem.in(tongue(r))
	}
	_ = reply(w, status, problem)
}

// unknown is a caller who has not been made out: surely not the operator.
var unknown = access.Caller{User: "?"}

// For is Describe for a caller: what went wrong inside is for the operator.
func For(caller access.Caller, err error) *Problem {
	problem := Describe(err)
	if caller.Operates() {
		return problem
	}
	if said, inside := forOthers[problem.Code]; inside {
		return &Problem{Code: problem.Code, Message: said, Run: problem.Run}
	}
	return problem
}

// forOthers is what is said to others than the operator of what is wrong inside:
// what an error says of that may name files.
var forOthers = map[string]string{
	"failed": "something went wrong on the server; its log says what", "storage": "the server could not record it; its log says why",
	"disk_full": "the disk of the server is full; nothing that was recorded is lost", "read_only": "the server can't write to its disk", "corrupt": "the server's database is damaged",
}

// How long reading and writing may take.
const (
	headerTimeout = 10 * time.Second // for the head of a request
	idleTimeout   = 2 * time.Minute  // until the next request
	bodyTimeout   = time.Minute      // for the body of a request
	writeTimeout  = 60 * time.Second // for each piece of a reply, at the least
)

// ServeHTTP looks at where a request comes from, and keeps watch over it.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &response{ResponseWriter: w, control: http.NewResponseController(w), began: time.Now(), caller: unknown}
	r, out.span = trace.Request(g.tracer, r)
	out.Header().Set(requestID, requestOf(r))
	defer g.finish(out, r)
	secure(out.Header())
	if r.ContentLength != 0 {
		_ = out.control.SetReadDeadline(time.Now().Add(bodyTimeout)) // not every connection has deadlines
		out.body = &timedBody{readCloser: r.Body, out: out, held: r.Header.Get("Expect") != ""}
		r.Body = out.body
	}
	if !g.addressed(r.Host) {
		g.refuse(out, r, &Problem{Code: "wrong_host", Message: fmt.Sprintf("this server is not called %q", r.Host), Hint: "name it in server.hosts if it is"})
		return
	}
	if !g.origin(out, r) {
		g.refuse(out, r, &Problem{Code: "foreign_origin", Message: "pages of other servers may not call this one", Hint: "name their origin in server.origins if they may"})
		return
	}
	if r.Method == http.MethodOptions {
		out.WriteHeader(http.StatusNoContent)
		return
	}
	g.mux.ServeHTTP(out, r)
}

// finish notes what became of a request.
func (g *gate) finish(out *response, r *http.Request) {
	if crash := recover(); crash != nil {
		if err, ok := crash.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(crash) // the connection is to be cut
		}
		g.log.Log(r.Context(), logs.LevelCritical, "a request made the server panic", "path", r.URL.Path, "panic", fmt.Sprint(crash), "stack", string(debug.Stack()))
		if out.status == 0 {
			g.refuse(out, r, &Problem{Code: "failed", Message: "something went wrong on the server; its log says what"})
		}
	}
	took := time.Since(out.began)
	g.meter.served(r.Pattern, r.Method, out.status, took)
	route := routeOf(r.Pattern)
	trace.Replied(out.span, r.Method, route, out.status)
	level := slog.LevelInfo
	if watching[route] {
		level = slog.LevelDebug
	}
	if !g.log.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("route", route), slog.String("path", r.URL.Path), slog.Int("status", out.status),
		slog.Duration("took", took), slog.String("user", out.caller.User), slog.String("caller", out.caller.Token), slog.String("request", out.Header().Get(requestID)),
	}
	if id := out.run.Load(); id != nil {
		attrs = append(attrs, slog.String("run", *id))
	}
	g.log.LogAttrs(r.Context(), level, "request", attrs...)
}

// watching are the routes that are asked all the time by those who look after a
// server.
var watching = map[string]bool{"/health": true, "/ready": true, "/metrics": true}

// routeOf is the pattern of a route without its method.
func routeOf(pattern string) string {
	if _, path, ok := strings.Cut(pattern, " "); ok {
		return path
	}
	return pattern
}

// requestID is the header by which a request is known in the log, and to the client.
const requestID = "X-Request-Id"

// requestOf is the id that a request has from the proxy before us, or gets.
func requestOf(r *http.Request) string {
	const most = 64
	given := r.Header.Get(requestID)
	if given != "" && len(given) <= most && !strings.ContainsFunc(given, func(c rune) bool {
		return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	}) {
		return given
	}
	return rand.Text()
}

// secure sets what keeps browsers from doing more with a reply than show it.
func secure(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
}

// addressed says whether a Host is a name of this server.
func (g *gate) addressed(host string) bool {
	if g.AnyHost {
		return true
	}
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	return local(name) || slices.ContainsFunc(g.Hosts, func(known string) bool { return strings.EqualFold(known, name) || strings.EqualFold(known, host) })
}

// local says whether a name is one of this machine that nobody outside can claim.
func local(name string) bool {
	if ip := net.ParseIP(name); ip != nil {
		return ip.IsLoopback()
	}
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// origin says whether a request may come from the page that makes it, and tells
// browsers so.
func (g *gate) origin(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		site := r.Header.Get("Sec-Fetch-Site")
		safe := r.Method == http.MethodGet || r.Method == http.MethodHead
		return safe || site == "" || site == "same-origin" || site == "none"
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	u, err := url.Parse(origin)
	own := err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
	if !own && !slices.Contains(g.Origins, origin) && !(slices.Contains(g.Origins, "*") && g.Required) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Location, Retry-After, X-Agent-ID, X-Agent-Model, X-Run-ID, X-Request-Id")
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
		// Clients of the protocols have headers of their own, and none of them is a danger.
		h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
		h.Add("Vary", "Access-Control-Request-Headers")
		h.Set("Access-Control-Max-Age", "600")
	}
	return true
}

// response watches a reply: how it went, and that each piece is taken in time.
type response struct {
	http.ResponseWriter
	control *http.ResponseController
	began   time.Time
	patient time.Time // until then a piece may take; put off when it has come nearer
	status  int
	caller  access.Caller
	body    *timedBody             // of the request; nil for none
	run     atomic.Pointer[string] // the run that it is about, if it is
	span    trace.Live
}

// Unwrap lets a http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(status int) {
	w.begin(status)
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *response) Write(b []byte) (int, error) {
	w.begin(http.StatusOK)
	if now := time.Now(); w.patient.Sub(now) < writeTimeout {
		w.patient = now.Add(writeTimeout + writeTimeout/4)
		_ = w.control.SetWriteDeadline(w.patient)
	}
	return w.ResponseWriter.Write(b)
}

// begin is called before anything is written. What is left of the request is taken
// in first, as long as it comes in time and is not much; else the connection is of no
// use any more, and its time stays what it is.
func (w *response) begin(status int) {
	switch {
	case w.status != 0:
		return
	case w.body == nil || w.body.drain():
		w.readOn()
	default:
		w.Header().Set("Connection", "close")
	}
	w.status = status
}

// Flush implements http.Flusher, for those who don't know of controllers.
func (w *response) Flush() { _ = w.control.Flush() }

// Hijack implements http.Hijacker, for protocols that leave HTTP.
func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.status = http.StatusSwitchingProtocols
	w.readOn()
	return w.control.Hijack()
}

// readOn lets the connection be read for as long as it takes: that is how the
// server notices that a client leaves.
func (w *response) readOn() { _ = w.control.SetReadDeadline(time.Time{}) }

// timedBody is a body that has to come in time.
type timedBody struct {
	readCloser
	out  *response
	held bool // the client sends it when it is asked to
	over bool // all of it has been read
}

type readCloser interface {
	Read(p []byte) (int, error)
	Close() error
}

// Read implements io.Reader. When all is there the time is up for nothing else.
func (b *timedBody) Read(p []byte) (int, error) {
	b.held = false
	n, err := b.readCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.over = true
		b.out.readOn()
	}
	return n, err
}

// mostDrained is how much of a body is taken in that nobody has read.
const mostDrained = 256 << 10

// drain takes in what is left, and says whether that is all.
func (b *timedBody) drain() bool {
	if !b.over && !b.held {
		_, _ = io.CopyN(io.Discard, b, mostDrained) // over tells how it went
	}
	return b.over
}
