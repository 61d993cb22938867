// Package trace tells what the program does as spans: pieces of work with a
// begin, an end and a place below others. It is the port; internal/base/trace/otlp
// sends spans to whoever collects them. Where nobody does, no context has a tracer,
// and nothing here does anything.
//
// What is told are names, ids, counts and kinds of errors: never what was asked,
// answered, searched or read, and no text of an error.
//
// A run outlives its process, so the spans of runs, agents and steps have ids that
// follow from the run: those of one that is taken up again have the same place, and
// a span is told of when its work is over and never before, so once.
package trace

import (
	"context"
	"net"
	"strconv"
	"time"
)

// Tracer takes spans. It must not block.
type Tracer interface {
	// Start begins a span below that of ctx.
	Start(ctx context.Context, s Span) (context.Context, Live)
	// Under returns a context whose spans are below the one that a traceparent
	// names; ctx itself if it names none.
	Under(ctx context.Context, traceparent string) context.Context
	// Parent is the span of ctx as a traceparent; "" if there is none.
	Parent(ctx context.Context) string
}

// Kind of a span.
type Kind int

// The kinds.
const (
	Internal Kind = iota
	Server
	Client
)

// Span is a piece of work that begins.
type Span struct {
	Name string
	Kind Kind
	// Run and Key are what the span's id follows from, and its trace's where it has
	// none above it; "" for any id.
	Run, Key string
	// Begun is when, if not now.
	Begun      time.Time
	Attributes []Attribute
}

// Attribute is something known of a span: a string, an int, a float64, a bool or
// strings.
type Attribute struct {
	Key   string
	Value any
}

// Live is a span that is under way. One that is never ended is not told of.
type Live interface {
	Set(...Attribute)
	Rename(name string)
	Event(name string, attributes ...Attribute)
	// Fail says that the work failed, and in which of a few ways.
	Fail(kind string)
	End()
}

// place is where in a trace a context is.
type place struct {
	tracer Tracer
	run    *Run // nil outside of runs
	live   Live // nil where nothing is under way here
}

type placeKey struct{}

func placeOf(ctx context.Context) (place, bool) {
	p, ok := ctx.Value(placeKey{}).(place)
	return p, ok
}

func (p place) in(ctx context.Context) context.Context { return context.WithValue(ctx, placeKey{}, p) }

// start begins a span and returns the context of what is done in it.
func (p place) start(ctx context.Context, s Span) (context.Context, Live) {
	if p.run != nil && s.Key != "" {
		s.Run, s.Key = p.run.ID, strconv.Itoa(p.run.Past.Lives)+" "+s.Key
	}
	ctx, p.live = p.tracer.Start(ctx, s)
	return p.in(ctx), p.live
}

// With returns a context in which a tracer is told what is done; ctx itself for
// nil.
func With(ctx context.Context, t Tracer) context.Context {
	if t == nil {
		return ctx
	}
	return place{tracer: t}.in(ctx)
}

// Parent is the span that ctx is in, as a traceparent; "" if there is none.
func Parent(ctx context.Context) string {
	if p, ok := placeOf(ctx); ok {
		return p.tracer.Parent(ctx)
	}
	return ""
}

// nothing is the span of what nobody is told of.
type nothing struct{}

func (nothing) Set(...Attribute)           {}
func (nothing) Rename(string)              {}
func (nothing) Event(string, ...Attribute) {}
func (nothing) Fail(string)                {}
func (nothing) End()                       {}

// endpoint is the attributes of a host, with its port.
func endpoint(hostport, scheme string) []Attribute {
	if hostport == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		host, port = hostport, map[string]string{"http": "80", "https": "443"}[scheme]
	}
	out := []Attribute{{keyServer, host}}
	if n, err := strconv.Atoi(port); err == nil {
		out = append(out, Attribute{keyPort, n})
	}
	return out
}
