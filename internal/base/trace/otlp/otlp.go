// Package otlp sends spans to a collector, over HTTP in the protocol of
// OpenTelemetry (OTLP). The SDK of OpenTelemetry makes the spans, samples and
// batches them; what is sent is written here, since the exporter that goes with the
// SDK brings gRPC along.
//
// Nothing waits for the collector: spans queue up to a bound, beyond which they are
// dropped, and what can't be delivered is dropped too, and logged.
package otlp

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"

	"dossier/internal/base/trace"
)

// Options of a Tracer.
type Options struct {
	// Endpoint gets the spans, as https://collector.example/v1/traces.
	Endpoint string
	// Headers go with each request.
	Headers map[string]string
	// Timeout of a request; 0 is DefaultTimeout.
	Timeout time.Duration
	Gzip    bool
	// Service and Version are what the spans are of, and Resource what else is
	// known of that.
	Service, Version string
	Resource         map[string]string
	// Sampler decides which traces are told of; see NewSampler. Nil is all of those
	// that whoever asked did not leave out.
	Sampler sdk.Sampler
	// Client makes the requests.
	Client *http.Client
	Log    *slog.Logger
}

// DefaultTimeout of a request, as OpenTelemetry has it.
const DefaultTimeout = 10 * time.Second

// closeTimeout is how long the end of the program waits for what is not sent yet.
const closeTimeout = 3 * time.Second

// Tracer sends spans. It is safe for concurrent use.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   api.Tracer
	giveUp   context.CancelFunc
}

// New returns a Tracer; Close ends it.
func New(o Options) *Tracer {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Sampler == nil {
		o.Sampler = sdk.ParentBased(sdk.AlwaysSample())
	}
	known := []attribute.KeyValue{attribute.String(trace.KeyService, o.Service), attribute.String(trace.KeyServiceVersion, o.Version)}
	for key, value := range o.Resource {
		known = append(known, attribute.String(key, value))
	}
	closed, giveUp := context.WithCancel(context.Background())
	p := sdk.NewTracerProvider(
		sdk.WithBatcher(&exporter{Options: o, closed: closed}),
		sdk.WithSampler(o.Sampler),
		sdk.WithIDGenerator(ids{}),
		sdk.WithResource(resource.NewWithAttributes(trace.Schema, known...)),
	)
	return &Tracer{p, p.Tracer("dossier", api.WithInstrumentationVersion(o.Version), api.WithSchemaURL(trace.Schema)), giveUp}
}

// Close sends what is left, for a few seconds at the most.
func (t *Tracer) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	defer t.giveUp()
	_ = t.provider.Shutdown(ctx) // what could not be sent is in the log
	return nil
}

var kinds = map[trace.Kind]api.SpanKind{trace.Internal: api.SpanKindInternal, trace.Server: api.SpanKindServer, trace.Client: api.SpanKindClient}

// Start implements trace.Tracer.
func (t *Tracer) Start(ctx context.Context, s trace.Span) (context.Context, trace.Live) {
	options := []api.SpanStartOption{api.WithSpanKind(kinds[s.Kind]), api.WithAttributes(attributes(s.Attributes)...)}
	if !s.Begun.IsZero() {
		options = append(options, api.WithTimestamp(s.Begun))
	}
	made := ctx
	if s.Key != "" {
		made = context.WithValue(ctx, wantedKey{}, wanted{s.Run, s.Key})
	}
	_, span := t.tracer.Start(made, s.Name, options...)
	return api.ContextWithSpan(ctx, span), live{span}
}

var carrier = propagation.TraceContext{}

// Under implements trace.Tracer.
func (*Tracer) Under(ctx context.Context, traceparent string) context.Context {
	return carrier.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent})
}

// Parent implements trace.Tracer.
func (*Tracer) Parent(ctx context.Context) string {
	out := propagation.MapCarrier{}
	carrier.Inject(ctx, out)
	return out["traceparent"]
}

// live is a span of the SDK.
type live struct{ span api.Span }

func (l live) Set(a ...trace.Attribute) { l.span.SetAttributes(attributes(a)...) }
func (l live) Rename(name string)       { l.span.SetName(name) }
func (l live) End()                     { l.span.End() }

func (l live) Event(name string, a ...trace.Attribute) {
	l.span.AddEvent(name, api.WithAttributes(attributes(a)...))
}

func (l live) Fail(kind string) {
	l.span.SetStatus(codes.Error, "") // a text could hold what is nobody's business
	l.span.SetAttributes(attribute.String(trace.KeyError, kind))
}

func attributes(list []trace.Attribute) []attribute.KeyValue {
	out := make([]attribute.KeyValue, len(list))
	for i, a := range list {
		switch v := a.Value.(type) {
		case string:
			out[i] = attribute.String(a.Key, v)
		case int:
			out[i] = attribute.Int(a.Key, v)
		case float64:
			out[i] = attribute.Float64(a.Key, v)
		case bool:
			out[i] = attribute.Bool(a.Key, v)
		case []string:
			out[i] = attribute.StringSlice(a.Key, v)
		default:
			out[i] = attribute.String(a.Key, fmt.Sprint(v))
		}
	}
	return out
}

// wanted is what the ids of a span are to follow from.
type wanted struct{ run, key string }

type wantedKey struct{}

// ids makes those of spans: where something is wanted of them they follow from
// that, in every process alike.
type ids struct{}

// NewIDs implements sdk.IDGenerator.
func (g ids) NewIDs(ctx context.Context) (api.TraceID, api.SpanID) {
	var id api.TraceID
	if w, ok := ctx.Value(wantedKey{}).(wanted); ok {
		sum := sha256.Sum256([]byte("trace of run " + w.run))
		copy(id[:], sum[:])
	} else {
		for !id.IsValid() {
			binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
			binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
		}
	}
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID implements sdk.IDGenerator.
func (ids) NewSpanID(ctx context.Context, _ api.TraceID) (id api.SpanID) {
	if w, ok := ctx.Value(wantedKey{}).(wanted); ok {
		sum := sha256.Sum256([]byte("span " + w.key + " of run " + w.run))
		copy(id[:], sum[:])
		return id
	}
	for !id.IsValid() {
		binary.NativeEndian.PutUint64(id[:], rand.Uint64())
	}
	return id
}
