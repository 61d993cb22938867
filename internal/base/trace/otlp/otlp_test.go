package otlp_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dossier/internal/base/logs"
	"dossier/internal/base/trace"
	"dossier/internal/base/trace/otlp"
	"dossier/internal/base/trace/tracetest"
)

// What the encoder writes is what was said, by the protocol's own decoder.
func TestEncoding(t *testing.T) {
	c := tracetest.Start(t)
	tracer := otlp.New(otlp.Options{Endpoint: c.URL + "/v1/traces", Service: "s", Version: "1", Resource: map[string]string{"k": "v"}, Client: http.DefaultClient})
	begun := time.Unix(1_700_000_000, 5)
	ctx := tracer.Under(t.Context(), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	_, live := tracer.Start(ctx, trace.Span{Name: "né", Kind: trace.Client, Begun: begun, Attributes: []trace.Attribute{
		{Key: "int", Value: -3}, {Key: "zero", Value: 0}, {Key: "float", Value: 0.25}, {Key: "yes", Value: true}, {Key: "no", Value: false}, {Key: "list", Value: []string{"a", ""}}, {Key: "text", Value: strings.Repeat("x", 300)}, {Key: "empty", Value: ""},
	}})
	live.Event("e", trace.Attribute{Key: "n", Value: 1})
	live.Fail("bad")
	live.End()
	if err := tracer.Close(); err != nil {
		t.Fatal(err)
	}
	spans := c.Spans()
	if len(spans) != 1 {
		t.Fatalf("%d spans", len(spans))
	}
	s := spans[0]
	want := "né FAILED bad (client) empty= error.type=bad float=0.25 int=-3 list=[a ] no=false text=" + strings.Repeat("x", 300) + " yes=true zero=0 +e n=1"
	if got := tracetest.Whole(s); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s.StartTimeUnixNano != uint64(begun.UnixNano()) || s.Trace() != "0af7651916cd43dd8448eb211c80319c" || s.Parent() != "b7ad6b7169203331" || s.Flags&1 != 1 || s.Resource["k"] != "v" {
		t.Errorf("%+v of %v", s.Span, s.Resource)
	}
}

// A collector that is busy is asked again, one that refuses is not, and the log says
// so once, without the headers.
func TestDelivery(t *testing.T) {
	for status, again := range map[int]bool{http.StatusServiceUnavailable: true, http.StatusUnauthorized: false} {
		c := tracetest.Start(t)
		var n atomic.Int32
		c.Before(func(w http.ResponseWriter, _ *http.Request) bool {
			if n.Add(1) > 1 {
				return true
			}
			w.WriteHeader(status)
			return false
		})
		var log bytes.Buffer
		tracer := otlp.New(otlp.Options{
			Endpoint: c.URL + "/v1/traces?key=secret-in-query", Headers: map[string]string{"X-Key": "secret-in-header"}, Client: http.DefaultClient, Log: slog.New(logs.NewHandler(&log, nil, nil)),
		})
		_, live := tracer.Start(t.Context(), trace.Span{Name: "s"})
		live.End()
		if err := tracer.Close(); err != nil {
			t.Fatal(err)
		}
		if came := len(c.Spans()) == 1; came != again {
			t.Errorf("%d: the span came: %v", status, came)
		}
		if lines := strings.Count(log.String(), "\n"); !again && lines != 1 || strings.Contains(log.String(), "secret") {
			t.Errorf("%d: %d lines:\n%s", status, lines, log.String())
		}
	}
}

// Ids that are to follow from a run are the same in every process.
func TestIDsFollowFromTheRun(t *testing.T) {
	seen := map[string]bool{}
	for range 2 {
		c := tracetest.Start(t)
		tracer := otlp.New(otlp.Options{Endpoint: c.URL + "/v1/traces", Client: http.DefaultClient})
		ctx, root := trace.Begin(t.Context(), tracer, trace.Run{ID: "r1", Session: "r1", Mode: "chat", Created: time.Now()})
		_, step := trace.Step(ctx, "answer")
		step.End()
		root.End()
		_ = tracer.Close()
		for _, s := range c.Spans() {
			seen[s.Trace()+" "+s.ID()] = true
		}
	}
	if len(seen) != 2 {
		t.Errorf("%v", seen)
	}
}

// Where there is no tracer, nothing is made for one.
func TestNothingWithoutATracer(t *testing.T) {
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() {
		_, live := trace.Step(ctx, "x")
		live.End()
		if trace.Parent(ctx) != "" {
			t.Fail()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
