package llm

import (
	"context"
	"encoding/json"
	"log/slog"
)

// Logged returns m with each request and each reply written to log at level
// debug, as JSON. Keys are not in either; what else a payload may hold is for
// the log's handler to mask.
func Logged(m Model, log *slog.Logger, endpoint string) Model { return loggedModel{m, log, endpoint} }

type loggedModel struct {
	m        Model
	log      *slog.Logger
	endpoint string
}

func (l loggedModel) Stream(ctx context.Context, req *Request, sink func(Chunk)) (*Response, error) {
	l.log.DebugContext(ctx, "request", "endpoint", l.endpoint, "model", req.Model, "payload", asJSON(req))
	resp, err := l.m.Stream(ctx, req, sink)
	if err != nil {
		l.log.DebugContext(ctx, "no response", "endpoint", l.endpoint, "model", req.Model, "error", err)
		return nil, err
	}
	l.log.DebugContext(ctx, "response", "endpoint", l.endpoint, "model", req.Model, "payload", asJSON(resp))
	return resp, nil
}

func asJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
