package mode

import (
	"context"
	"encoding/json"
	"fmt"

	"dossier/run"
)

// Engines returns a mode that is carried out by one of several, each with
// settings and circumstances of its own. New runs are the chosen one's; a run
// stays with the one that it began with.
func Engines(name, chosen string, engines map[string]Mode) Mode {
	return &choice{name: name, chosen: chosen, engines: engines}
}

type choice struct {
	name, chosen string
	engines      map[string]Mode
}

// ofEngine are settings with whose they are.
type ofEngine struct {
	Engine   string          `json:"engine"`
	Settings json.RawMessage `json:"settings"`
}

// Name implements Mode.
func (c *choice) Name() string { return c.name }

// Settings implements Mode.
func (c *choice) Settings() any {
	raw, err := json.Marshal(c.engines[c.chosen].Settings())
	if err != nil {
		return nil // settings are plain values
	}
	return ofEngine{c.chosen, raw}
}

// engine finds the one that a request's settings are of, and makes them its own.
func (c *choice) engine(req *Request) (Mode, error) {
	var set ofEngine
	if err := json.Unmarshal(req.Settings, &set); err != nil {
		return nil, fmt.Errorf("settings of %s: %w", c.name, err)
	}
	m, ok := c.engines[set.Engine]
	if !ok {
		return nil, fmt.Errorf("this program has no engine %q of %s", set.Engine, c.name)
	}
	req.Settings = set.Settings
	return m, nil
}

// Circumstances implements Situated.
func (c *choice) Circumstances(ctx context.Context, req *Request) Circumstances {
	own := *req
	m, err := c.engine(&own)
	if err != nil {
		return Circumstances{}
	}
	if s, ok := m.(Situated); ok {
		return s.Circumstances(ctx, &own)
	}
	return Circumstances{}
}

// Run implements Mode.
func (c *choice) Run(ctx context.Context, s *run.Scope, req Request) (Answer, error) {
	m, err := c.engine(&req)
	if err != nil {
		return Answer{}, err
	}
	return m.Run(ctx, s, req)
}

var _ Situated = (*choice)(nil)
