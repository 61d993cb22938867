package llm

import (
	"context"
	"errors"
	"fmt"
	"maps"
)

// RoleName says what a model is used for.
type RoleName string

// The roles that can have a model of their own.
const (
	ForDefault    RoleName = "default"
	ForChat       RoleName = "chat"
	ForSummarizer RoleName = "summarizer"
	ForResearcher RoleName = "researcher"
	ForWriter     RoleName = "writer"
	ForVerifier   RoleName = "verifier"
	ForEmbeddings RoleName = "embeddings"
)

// Setting is a model for a role, and how it is called.
type Setting struct {
	Model    Model
	Embedder Embedder
	// Name of the model as its provider knows it, and the endpoint's host.
	Name     string
	Endpoint string
	// Provider of the model, as the configuration calls it; "" where nobody knows.
	Provider    string
	MaxTokens   int
	Temperature *float64
	Extra       map[string]any
}

// ErrNotConfigured is returned by calls to a role that has no model.
var ErrNotConfigured = errors.New("no model is configured")

// Models gives each role its model. A role that isn't set, or has no Model,
// takes the default's; what it sets beside that (MaxTokens …) still holds.
type Models struct {
	Roles  map[RoleName]Setting
	Probes Probes
	Pricer Pricer
	// MaxObjectRetries is how often a model is asked again for an object (3).
	MaxObjectRetries int
}

// Setting resolves a role.
func (m *Models) Setting(role RoleName) Setting {
	if m == nil {
		return Setting{}
	}
	s, def := m.Roles[role], m.Roles[ForDefault]
	if role == ForEmbeddings {
		if s.Embedder == nil {
			s.Embedder, s.Endpoint, s.Provider = def.Embedder, def.Endpoint, def.Provider
		}
		return s
	}
	if s.Model == nil {
		s.Model, s.Endpoint, s.Provider = def.Model, def.Endpoint, def.Provider
		if s.Name == "" {
			s.Name = def.Name
		}
		if s.Extra == nil {
			s.Extra = def.Extra
		}
		if s.Temperature == nil {
			s.Temperature = def.Temperature
		}
		if s.MaxTokens == 0 {
			s.MaxTokens = def.MaxTokens
		}
	}
	return s
}

// For returns a client that calls the role's model with its settings.
func (m *Models) For(role RoleName) *Client {
	c := &Client{role: role, setting: m.Setting(role)}
	if m != nil {
		c.probes, c.pricer, c.retries = m.Probes, m.Pricer, m.MaxObjectRetries
	}
	return c
}

// Client is a Model with the settings of a role filled into each request that
// doesn't bring its own, and with the costs of replies filled in.
type Client struct {
	role    RoleName
	setting Setting
	probes  Probes
	pricer  Pricer
	retries int
}

// Configured says whether the role has a model.
func (c *Client) Configured() bool { return c.setting.Model != nil }

// Setting returns what the role resolved to.
func (c *Client) Setting() Setting { return c.setting }

// Stream implements Model.
func (c *Client) Stream(ctx context.Context, req *Request, sink func(Chunk)) (*Response, error) {
	if c.setting.Model == nil {
		return nil, fmt.Errorf("role %s: %w", c.role, ErrNotConfigured)
	}
	r := c.fill(req)
	resp, err := c.setting.Model.Stream(ctx, r, sink)
	if err != nil {
		return nil, err
	}
	usage := c.pricer.Fill(r.Model, resp.Usage)
	if usage == resp.Usage {
		return resp, nil
	}
	priced := *resp
	priced.Usage = usage
	return &priced, nil
}

// Embed calls the role's embedder; an empty model means the role's.
func (c *Client) Embed(ctx context.Context, model string, texts []string) (*Embeddings, error) {
	if c.setting.Embedder == nil {
		return nil, fmt.Errorf("role %s: %w", c.role, ErrNotConfigured)
	}
	if model == "" {
		model = c.setting.Name
	}
	out, err := c.setting.Embedder.Embed(ctx, model, texts)
	if err != nil {
		return nil, err
	}
	priced := *out
	priced.Usage = c.pricer.Fill(model, out.Usage)
	return &priced, nil
}

func (c *Client) fill(req *Request) *Request {
	s := &c.setting
	if req.Model != "" && (req.MaxTokens != 0 || s.MaxTokens == 0) && (req.Temperature != nil || s.Temperature == nil) && len(s.Extra) == 0 {
		return req
	}
	r := *req
	if r.Model == "" {
		r.Model = s.Name
	}
	if r.MaxTokens == 0 {
		r.MaxTokens = s.MaxTokens
	}
	if r.Temperature == nil {
		r.Temperature = s.Temperature
	}
	if len(s.Extra) > 0 {
		extra := maps.Clone(s.Extra)
		maps.Copy(extra, r.Extra)
		r.Extra = extra
	}
	return &r
}

// forObject implements objectDefaults.
func (c *Client) forObject(req *Request, opts ObjectOptions) (Model, *Request, ObjectOptions) {
	if opts.MaxRetries == 0 {
		opts.MaxRetries = c.retries
	}
	if opts.Probes == nil {
		opts.Probes = c.probes
	}
	if opts.Endpoint == "" {
		opts.Endpoint = c.setting.Endpoint
	}
	bare := *c
	bare.setting.MaxTokens, bare.setting.Temperature, bare.setting.Extra = 0, nil, nil
	return &bare, c.fill(req), opts
}
