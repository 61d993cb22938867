package config_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"dossier/internal/config"
)

// Traces are sent where the section traces or OpenTelemetry's variables say so, and
// nowhere by default.
func TestTracing(t *testing.T) {
	type want struct {
		endpoint, service string
		headers           map[string]string
	}
	for name, c := range map[string]struct {
		env   []string
		flags map[string]string
		want  want
	}{
		"nothing":      {},
		"the endpoint": {env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318"}, want: want{endpoint: "http://c:4318/v1/traces", service: "dossier"}},
		"that of traces": {
			env:  []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://c:4318/own", "OTEL_EXPORTER_OTLP_HEADERS=a=1,b=x%20y", "OTEL_SERVICE_NAME=office"},
			want: want{endpoint: "http://c:4318/own", service: "office", headers: map[string]string{"a": "1", "b": "x y"}},
		},
		"a setting": {
			flags: map[string]string{"traces.endpoint": "http://d:4318/base/", "traces.headers": "a=2"}, env: []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://c:4318/own", "OTEL_EXPORTER_OTLP_HEADERS=a=1"},
			want: want{endpoint: "http://d:4318/base/v1/traces", service: "dossier", headers: map[string]string{"a": "2"}},
		},
		"the resource": {
			env:  []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318/v1/traces", "OTEL_RESOURCE_ATTRIBUTES=service.name=lab,x=1"},
			want: want{endpoint: "http://c:4318/v1/traces", service: "lab"},
		},
		"switched off":  {env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", "OTEL_SDK_DISABLED=true"}},
		"not of traces": {env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", "OTEL_TRACES_EXPORTER=none"}},
	} {
		cfg, err := config.Load(config.Sources{Env: append(c.env, "HOME="+t.TempDir()), File: config.NoFile, Flags: c.flags})
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := cfg.Tracing()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got.Endpoint != c.want.endpoint || got.Service != c.want.service || !maps.Equal(got.Headers, c.want.headers) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	for _, wrong := range []string{
		"OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_TIMEOUT=soon", "OTEL_EXPORTER_OTLP_HEADERS=nothing", "OTEL_TRACES_EXPORTER=zipkin",
		"OTEL_RESOURCE_ATTRIBUTES=a=%zz", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=nowhere",
	} {
		cfg, err := config.Load(config.Sources{Env: []string{"HOME=" + t.TempDir(), "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", wrong}, File: config.NoFile})
		if err != nil {
			t.Fatal(err)
		}
		var problem *config.Error
		if _, err := cfg.Tracing(); !errors.As(err, &problem) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	cfg, err := config.Load(config.Sources{Env: []string{"HOME=" + t.TempDir(), "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", "OTEL_EXPORTER_OTLP_TIMEOUT=250"}, File: config.NoFile})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := cfg.Tracing(); err != nil || got.Timeout != 250*time.Millisecond {
		t.Errorf("%+v, %v", got, err)
	}
}

// Secrets are also those in addresses and in the sections about servers.
func TestSecretsInAddressesAndServers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	err := os.WriteFile(file, []byte(`
search: {searxng: {base_url: "http://user:pass-of-searxng@host/?key=key-of-searxng"}}
traces: {headers: x-a=value-of-header}
mcp: {mcpServers: {a: {url: "http://u:pass-of-server@h/", headers: {Authorization: "Bearer bearer-of-server"}}, b: {command: x, env: {SOME_TOKEN: short-one, NODE_ENV: production}}}}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Sources{Env: []string{"HOME=" + t.TempDir()}, File: file})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range cfg.Secrets() {
		got = append(got, s.Reveal())
	}
	for _, want := range []string{"pass-of-searxng", "key-of-searxng", "value-of-header", "pass-of-server", "bearer-of-server", "short-one"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among %q", want, got)
		}
	}
	if slices.Contains(got, "production") {
		t.Error("an ordinary word is taken for a secret")
	}
}
