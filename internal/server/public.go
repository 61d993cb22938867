package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"dossier"
	"dossier/internal/access"
	"dossier/internal/base/trace"
	"dossier/internal/webhook"
	"dossier/run"
)

// PublicEngine is what a public server needs beside what callers see.
type PublicEngine interface {
	Engine
	// Authenticate says who shows a token. It fails with access.ErrRefused.
	Authenticate(ctx context.Context, token string) (access.Caller, error)
	Counts(ctx context.Context) (map[run.Status]int, error)
	ScheduleCounts(ctx context.Context) (going, paused int, err error)
	DeliveryCounts(ctx context.Context) (map[webhook.State]int, error)
}

var _ PublicEngine = (*dossier.Engine)(nil)

// Options of a public server.
type Options struct {
	Engine  PublicEngine
	Version string
	// Host and Port to listen on; port 0 is any that is free.
	Host   string
	Port   int
	Access Access
	Policy Policy
	// Streams is how many one token may have open at once; 0 is any number.
	Streams int
	// MaxBody is the largest body of a request in bytes; 64 MiB when 0.
	MaxBody int64
	// Protocols are served beside the API of Dossier itself.
	Protocols []Protocol
	Tracer    trace.Tracer // nil for none
	Log       *slog.Logger // nil for none
}

// Public is a server that others than the user's own processes can reach.
type Public struct {
	options Options
	api     *api
	gate    *gate
	http    *http.Server
	listen  net.Listener
	began   time.Time
	cancel  context.CancelFunc
	served  chan struct{}
}

// Listen begins to serve. A server that others than this machine reach is refused
// where nobody needs a token.
func Listen(o Options) (*Public, error) {
	if !Loopback(o.Host) && !o.Access.Required {
		return nil, &dossier.UsageError{
			Message: fmt.Sprintf("%s can be reached from other machines, and no token is asked for", shownHost(o.Host)),
			Hint:    "make a token with `dossier tokens create USER`, or set server.token; or listen on 127.0.0.1",
		}
	}
	l, err := net.Listen("tcp", net.JoinHostPort(o.Host, strconv.Itoa(o.Port)))
	if err != nil {
		return nil, cannotListen(o.Host, o.Port, err)
	}
	return newPublic(o).serve(l), nil
}

// serve begins to serve whoever comes to a listener.
func (p *Public) serve(l net.Listener) *Public {
	p.listen = l
	p.http = &http.Server{
		Handler: p.gate, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(p.options.Log.Handler(), slog.LevelDebug), // what clients do wrong
	}
	go func() {
		defer close(p.served)
		_ = p.http.Serve(l) // it ends by Close
	}()
	return p
}

// NewHandler is what Listen serves, for whoever has a listener of their own. Closing
// ends what stays beyond a request.
func NewHandler(o Options) (serve http.Handler, closing func()) {
	p := newPublic(o)
	return p.gate, p.cancel
}

// newPublic puts the routes of a server together.
func newPublic(o Options) *Public {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxBody == 0 {
		o.MaxBody = privateBody
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Public{options: o, began: time.Now(), cancel: cancel, served: make(chan struct{})}
	p.api = &api{
		engine: o.Engine, version: o.Version, closing: ctx, log: o.Log, strict: true, maxBody: o.MaxBody, streams: streams{most: o.Streams},
	}
	p.gate = &gate{
		Access: o.Access, api: p.api, policy: &p.options.Policy, check: o.Engine.Authenticate, pace: newPace(o.Access.Rate), meter: newMeter(), tracer: o.Tracer, log: o.Log,
		mux: http.NewServeMux(), near: map[string]Protocol{},
	}
	for _, protocol := range p.protocols() {
		p.gate.handle(protocol)
	}
	p.gate.mux.HandleFunc("/", p.gate.elsewhere)
	return p
}

// protocols are all that are served.
func (p *Public) protocols() []Protocol {
	all := append([]Protocol{p.api.routes(), others(), p.operations()}, p.options.Protocols...)
	return append(all, description(all))
}

// URL is where this machine reaches the server.
func (p *Public) URL() string {
	at := p.listen.Addr().(*net.TCPAddr)
	host := at.IP.String()
	if at.IP.IsUnspecified() {
		host = "127.0.0.1"
		if p.options.Host == "::" {
			host = "::1"
		}
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(at.Port))
}

// Everywhere says whether the server listens on every address of this machine.
func (p *Public) Everywhere() bool { return p.listen.Addr().(*net.TCPAddr).IP.IsUnspecified() }

// Close stops serving: new requests are refused, streams are told, and other
// requests get a moment to end.
func (p *Public) Close() error {
	p.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	err := p.http.Shutdown(ctx)
	if err != nil {
		err = p.http.Close()
	}
	<-p.served
	return err
}

// Loopback says whether only this machine reaches what listens on a host.
func Loopback(host string) bool { return host != "" && local(host) }

func shownHost(host string) string {
	if host == "" {
		return "a server on every address"
	}
	return "a server on " + host
}

// cannotListen says why a server can't listen, and what to do.
func cannotListen(host string, port int, err error) error {
	at := net.JoinHostPort(host, strconv.Itoa(port))
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		who := "another program listens"
		if Reached(at) {
			who = "another `dossier serve` listens"
		}
		return &dossier.UsageError{Message: fmt.Sprintf("%s on %s already", who, at), Hint: fmt.Sprintf("end it, or choose another port: dossier serve --port %d", port+1), Err: err}
	case errors.Is(err, syscall.EACCES):
		return &dossier.UsageError{Message: fmt.Sprintf("this user may not listen on %s", at), Hint: "ports below 1024 are the system's: choose a higher one, as dossier serve --port 8010", Err: err}
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &dns):
		return &dossier.UsageError{Message: fmt.Sprintf("this machine has no address %q to listen on", host), Hint: "127.0.0.1 is this machine alone, 0.0.0.0 every address of it", Err: err}
	}
	return fmt.Errorf("listening on %s: %w", at, err)
}

// reachPatience is how long Reached waits for an answer: a machine that does much
// beside takes its time, and whatever else listens there seldom says nothing at all.
const reachPatience = 5 * time.Second

// Reached says whether it is a server of ours that listens at an address, as
// 127.0.0.1:8010.
func Reached(at string) bool {
	client := &http.Client{Timeout: reachPatience, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://" + at + "/health")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var h healthBody
	return json.NewDecoder(io.LimitReader(resp.Body, 1<<10)).Decode(&h) == nil && h.Service == Service
}
