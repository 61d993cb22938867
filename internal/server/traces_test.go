package server_test

import (
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"

	"dossier"
	"dossier/internal/base/trace/tracetest"
	"dossier/internal/server"
	"dossier/run"
)

// A request is a span below the one that the client names, and the run that it starts
// is below the request.
func TestRequestsAreTraced(t *testing.T) {
	collector := tracetest.Start(t)
	engine, err := dossier.Open(t.Context(), dossier.Options{
		DataDir: filepath.Join(t.TempDir(), "data"), ConfigFile: "none", Version: "test", Env: []string{
			"HOME=" + t.TempDir(), "OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL, "OTEL_SERVICE_NAME=office", "OTEL_EXPORTER_OTLP_HEADERS=x-tenant=a%20b",
			"OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=test", "OTEL_EXPORTER_OTLP_COMPRESSION=gzip", "DOSSIER_SEARCH_ENGINES=none",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var tenant atomic.Value
	collector.Before(func(_ http.ResponseWriter, r *http.Request) bool {
		tenant.Store(r.Header.Get("X-Tenant"))
		return true
	})
	public, err := server.Listen(server.Options{Engine: engine, Host: "127.0.0.1", Tracer: engine.Tracer()})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{bench: &bench{t: t, engine: engine}, public: public}
	const caller, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	status, _ := s.ask("", "POST", "/api/runs", `{"mode":"chat","question":"hello"}`, "Traceparent", "00-"+caller+"-"+parent+"-01")
	if status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	list, err := engine.List(t.Context(), dossier.Filter{})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	for range engine.Events(t.Context(), list[0].ID, 0) { // to its end: there is no model
	}
	// One whose trace nobody wants is not told of, nor is its run.
	s.ask("", "POST", "/api/runs", `{"mode":"chat","question":"hello"}`, "Traceparent", "00-1af7651916cd43dd8448eb211c80319c-"+parent+"-00")
	s.ask("", "GET", "/api/runs/nothing", "", "Traceparent", "nonsense")
	if err := public.Close(); err != nil {
		t.Fatal(err)
	}
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	var request, started, failed tracetest.Span
	for _, span := range collector.Spans() {
		switch span.Name {
		case "POST /api/runs":
			request = span
		case "invoke_workflow chat":
			started = span
		case "GET /api/runs/{id}":
			failed = span
		}
		if span.Trace() != caller && span.Name != "GET /api/runs/{id}" {
			t.Errorf("%s is in trace %s", span.Name, span.Trace())
		}
		if span.Resource["service.name"] != "office" || span.Resource["deployment.environment.name"] != "test" || span.Resource["service.version"] != "test" {
			t.Errorf("%s is of %v", span.Name, span.Resource)
		}
	}
	if request.Span == nil || started.Span == nil || failed.Span == nil {
		t.Fatalf("spans are missing in\n%s", tracetest.Tree(collector.Spans(), nil))
	}
	if request.Parent() != parent || started.Parent() != request.ID() {
		t.Errorf("the request is below %s, its run below %s", request.Parent(), started.Parent())
	}
	if started.Attribute("error.type") != "no_model_configured" || started.Attribute("dossier.run.status") != string(run.Failed) {
		t.Errorf("the run: %s", tracetest.Whole(started))
	}
	for key, want := range map[string]string{"http.request.method": "GET", "http.route": "/api/runs/{id}", "url.path": "/api/runs/nothing", "http.response.status_code": "404", "error.type": "", "url.scheme": "http", "server.address": "127.0.0.1"} {
		if got := failed.Attribute(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if got := tenant.Load(); got != "a b" {
		t.Errorf("the header was %q", got)
	}
}
