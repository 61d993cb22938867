package config

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Tracing is where spans are sent and how, as the section traces and the variables
// of OpenTelemetry say. One without an Endpoint sends none.
type Tracing struct {
	Endpoint string
	Headers  map[string]string
	Timeout  time.Duration
	Gzip     bool
	CAFile   string
	// Sampler and Argument are as in OTEL_TRACES_SAMPLER and its _ARG.
	Sampler, Argument string
	Service           string
	Resource          map[string]string
}

// Tracing reads them. What OpenTelemetry's variables say of traces alone counts
// before what they say of all signals.
func (c *Config) Tracing() (Tracing, error) {
	env := c.st().env
	if off, _ := env.get("OTEL_SDK_DISABLED"); strings.EqualFold(strings.TrimSpace(off), "true") {
		return Tracing{}, nil
	}
	switch exporter, _ := env.get("OTEL_TRACES_EXPORTER"); exporter {
	case "", "otlp":
	case "none":
		return Tracing{}, nil
	default:
		return Tracing{}, tracingError("OTEL_TRACES_EXPORTER", "expected otlp or none")
	}
	t := Tracing{Service: c.Traces.Service, CAFile: one(env, "CERTIFICATE"), Gzip: one(env, "COMPRESSION") == "gzip"}
	t.Endpoint = endpoint(string(c.Traces.Endpoint))
	said := c.setting("traces.endpoint")
	if own, _ := env.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"); own != "" && (said == nil || said.layer <= layerEnv) {
		var checked URL
		if err := checked.UnmarshalText([]byte(own)); err != nil {
			return Tracing{}, tracingError("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", err.Error())
		}
		t.Endpoint = own // as it is
	}
	if t.Endpoint == "" {
		return Tracing{}, nil
	}
	if protocol := one(env, "PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return Tracing{}, tracingError("OTEL_EXPORTER_OTLP_PROTOCOL", "traces are sent as http/protobuf and in no other way")
	}
	if ms := one(env, "TIMEOUT"); ms != "" {
		n, err := strconv.Atoi(ms)
		if err != nil || n <= 0 {
			return Tracing{}, tracingError("OTEL_EXPORTER_OTLP_TIMEOUT", "expected milliseconds")
		}
		t.Timeout = time.Duration(n) * time.Millisecond
	}
	var err error
	if t.Headers, err = pairs(c.Traces.Headers.Reveal()); err != nil {
		return Tracing{}, &Error{Key: "traces.headers", Problem: err.Error()}
	}
	known, _ := env.get("OTEL_RESOURCE_ATTRIBUTES")
	if t.Resource, err = pairs(known); err != nil {
		return Tracing{}, tracingError("OTEL_RESOURCE_ATTRIBUTES", err.Error())
	}
	if name := t.Resource["service.name"]; name != "" && c.saidIn("traces.service") == nil {
		t.Service = name
	}
	delete(t.Resource, "service.name")
	t.Sampler, _ = env.get("OTEL_TRACES_SAMPLER")
	t.Argument, _ = env.get("OTEL_TRACES_SAMPLER_ARG")
	return t, nil
}

func tracingError(variable, problem string) error {
	return &Error{Key: variable, Problem: problem}
}

// one is what a variable of the exporter says: of traces, else of all signals.
func one(env environ, name string) string {
	v, _ := env.first("OTEL_EXPORTER_OTLP_TRACES_"+name, "OTEL_EXPORTER_OTLP_"+name)
	return strings.TrimSpace(v)
}

// endpoint is where the traces of a collector go.
func endpoint(base string) string {
	const path = "/v1/traces"
	u, err := url.Parse(base)
	if base == "" || err != nil || strings.HasSuffix(u.Path, path) {
		return base
	}
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/")+path, ""
	return u.String()
}

// pairs reads name=value,name=value, in which values may be escaped as in a URL.
func pairs(text string) (map[string]string, error) {
	out := make(map[string]string)
	for entry := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		name, value, ok := strings.Cut(entry, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" {
			return nil, errors.New("expected name=value, separated by commas")
		}
		plain, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil {
			return nil, fmt.Errorf("the value of %s is not escaped as in a URL", name)
		}
		out[name] = plain
	}
	return out, nil
}

// tracingSecrets are the values of the headers.
func (c *Config) tracingSecrets() []string {
	headers, err := pairs(c.Traces.Headers.Reveal())
	if err != nil {
		return nil
	}
	return slices.Collect(maps.Values(headers))
}
