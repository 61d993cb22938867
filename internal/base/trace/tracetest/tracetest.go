// Package tracetest collects spans as a collector of OpenTelemetry does, for tests:
// it takes OTLP over HTTP and decodes it with the protocol's own types.
package tracetest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector is a server that takes spans.
type Collector struct {
	URL string

	mu       sync.Mutex
	raw      bytes.Buffer // all that came, with the headers
	spans    []Span
	requests int
	before   func(w http.ResponseWriter, r *http.Request) bool
}

// Span is one that came.
type Span struct {
	*tracepb.Span
	// Resource is what it is of, and Schema the version of the names.
	Resource map[string]string
	Schema   string
}

// Start starts a collector that ends with the test.
func Start(t testing.TB) *Collector {
	c := &Collector{}
	srv := httptest.NewServer(c)
	t.Cleanup(srv.Close)
	c.URL = srv.URL
	return c
}

// Before has each request go through do first, which says whether it is to be
// taken.
func (c *Collector) Before(do func(w http.ResponseWriter, r *http.Request) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before = do
}

// ServeHTTP implements http.Handler.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.requests++
	before := c.before
	c.mu.Unlock()
	if before != nil && !before(w, r) {
		return
	}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "no traces in OTLP", http.StatusBadRequest)
		return
	}
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unpacked
	}
	raw, err := io.ReadAll(body)
	var data tracepb.TracesData // the request has the same fields
	if err == nil {
		err = proto.UnmarshalOptions{DiscardUnknown: false}.Unmarshal(raw, &data)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(raw)
	for _, rs := range data.GetResourceSpans() {
		of := map[string]string{}
		for _, a := range rs.GetResource().GetAttributes() {
			of[a.GetKey()] = text(a.GetValue())
		}
		for _, ss := range rs.GetScopeSpans() {
			for _, s := range ss.GetSpans() {
				c.spans = append(c.spans, Span{s, of, ss.GetSchemaUrl()})
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// Spans are those that came so far.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Requests counts what came, also what was not taken.
func (c *Collector) Requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests
}

// Raw is all that was taken, as it came.
func (c *Collector) Raw() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.raw.Bytes())
}

// Attribute is that of a span as text; "" for none.
func (s Span) Attribute(key string) string {
	for _, a := range s.Attributes {
		if a.GetKey() == key {
			return text(a.GetValue())
		}
	}
	return ""
}

// ID is that of a span in hexadecimal.
func (s Span) ID() string { return hex.EncodeToString(s.GetSpanId()) }

// Parent is the ID of the span that a span is below.
func (s Span) Parent() string { return hex.EncodeToString(s.GetParentSpanId()) }

// Trace is the ID of the trace that a span is of.
func (s Span) Trace() string { return hex.EncodeToString(s.GetTraceId()) }

func text(v *commonpb.AnyValue) string {
	switch v := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_IntValue:
		return fmt.Sprint(v.IntValue)
	case *commonpb.AnyValue_DoubleValue:
		return fmt.Sprint(v.DoubleValue)
	case *commonpb.AnyValue_BoolValue:
		return fmt.Sprint(v.BoolValue)
	case *commonpb.AnyValue_ArrayValue:
		var all []string
		for _, one := range v.ArrayValue.GetValues() {
			all = append(all, text(one))
		}
		return "[" + strings.Join(all, " ") + "]"
	}
	return fmt.Sprintf("%v", v)
}

// Tree is the spans as text: a line each below its parent, those of one parent in
// the order of their lines, and alike ones counted. What is shown of a span is up to
// show; nil shows all its attributes.
func Tree(spans []Span, show func(Span) string) string {
	if show == nil {
		show = Whole
	}
	below := map[string][]Span{}
	known := map[string]bool{}
	for _, s := range spans {
		known[s.ID()] = true
	}
	for _, s := range spans {
		parent := s.Parent()
		if !known[parent] {
			parent = ""
		}
		below[parent] = append(below[parent], s)
	}
	var write func(parent string, depth int) []string
	write = func(parent string, depth int) []string {
		var subtrees []string
		for _, s := range below[parent] {
			line := strings.Repeat("  ", depth) + show(s) + "\n"
			subtrees = append(subtrees, line+strings.Join(write(s.ID(), depth+1), ""))
		}
		slices.Sort(subtrees)
		return counted(subtrees)
	}
	return strings.Join(write("", 0), "")
}

// Paths are the spans as text where how many there are differs from time to time: each
// kind of span with the kinds that it is below, once. Numbers in names are left out.
func Paths(spans []Span) string {
	byID := map[string]Span{}
	for _, s := range spans {
		byID[s.ID()] = s
	}
	var out []string
	for _, s := range spans {
		line := Named(s)
		for above, ok := byID[s.Parent()]; ok; above, ok = byID[above.Parent()] {
			line = Named(above) + " > " + line
		}
		out = append(out, numbers.ReplaceAllString(line, "N")+"\n")
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), "")
}

var numbers = regexp.MustCompile(`\d+`)

// counted puts subtrees that are alike together.
func counted(sorted []string) (out []string) {
	for i := 0; i < len(sorted); {
		n := 1
		for i+n < len(sorted) && sorted[i+n] == sorted[i] {
			n++
		}
		tree := sorted[i]
		if n > 1 {
			first, rest, _ := strings.Cut(tree, "\n")
			tree = fmt.Sprintf("%s ×%d\n%s", first, n, rest)
		}
		out = append(out, tree)
		i += n
	}
	return out
}

// Named shows the name of a span, and how it failed.
func Named(s Span) string {
	line := s.Name
	if s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR {
		line += " FAILED " + s.Attribute("error.type")
	}
	return line
}

// Whole shows all that is known of a span but its times and ids.
func Whole(s Span) string {
	var line strings.Builder
	line.WriteString(Named(s) + " (" + strings.ToLower(strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_")) + ")")
	attributes := slices.Clone(s.Attributes)
	slices.SortFunc(attributes, func(a, b *commonpb.KeyValue) int { return cmp.Compare(a.GetKey(), b.GetKey()) })
	for _, a := range attributes {
		line.WriteString(" " + a.GetKey() + "=" + text(a.GetValue()))
	}
	for _, e := range s.Events {
		line.WriteString(" +" + e.GetName())
		for _, a := range e.GetAttributes() {
			line.WriteString(" " + a.GetKey() + "=" + text(a.GetValue()))
		}
	}
	return line.String()
}
