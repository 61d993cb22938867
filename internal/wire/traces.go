package wire

import (
	"log/slog"

	"dossier/egress"
	"dossier/internal/base/trace/otlp"
	"dossier/internal/base/usage"
	"dossier/internal/config"
)

// Tracer is what tells a collector of the program's work, where one is configured;
// nil where none is. A version is that of the program.
func Tracer(cfg *config.Config, version string, log *slog.Logger) (*otlp.Tracer, error) {
	t, err := cfg.Tracing()
	if err != nil || t.Endpoint == "" {
		return nil, err
	}
	sampler, err := otlp.NewSampler(t.Sampler, t.Argument)
	if err != nil {
		return nil, &usage.Error{Message: err.Error(), Hint: "unset it, or see the specification of OpenTelemetry"}
	}
	client, err := egress.Plain(egress.PlainConfig{CAFile: t.CAFile})
	if err != nil {
		return nil, err
	}
	return otlp.New(otlp.Options{
		Endpoint: t.Endpoint, Headers: t.Headers, Timeout: t.Timeout, Gzip: t.Gzip, Service: t.Service, Version: version, Resource: t.Resource,
		Sampler: sampler, Client: client, Log: log,
	}), nil
}
