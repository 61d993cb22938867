// Package anthropic speaks the Messages API of Anthropic and of the endpoints
// that follow it.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"dossier/egress"
	"dossier/llm"
	"dossier/llm/internal/upstream"
)

// DefaultBaseURL is Anthropic's own endpoint.
const DefaultBaseURL = "https://api.anthropic.com"

const version = "2023-06-01"

// Config says where the endpoint is and how long it may take.
type Config struct {
	// BaseURL ends before /v1/messages; empty means DefaultBaseURL.
	BaseURL string
	// Key is sent as x-api-key.
	Key string
	// Model is used when a request names none.
	Model string
	// HTTP is the client to use; nil means egress.Plain.
	HTTP *http.Client
	// MaxTokens is used when a request sets no limit, which this API demands;
	// 8192 when 0.
	MaxTokens int
	// FirstByte bounds the wait for the first byte of a stream; 30 s when 0.
	FirstByte time.Duration
	// Idle bounds how long a stream may stand still; 60 s when 0.
	Idle time.Duration
	// Timeout bounds a call as a whole; 10 min when 0.
	Timeout time.Duration
	// Headers are sent with every call (anthropic-beta and the like).
	Headers map[string]string
}

// Client is an endpoint. It is an llm.Model.
type Client struct {
	cfg              Config
	messages, models *upstream.Target
	quirks           upstream.Learned[quirks] // per model
}

// quirks are what a model does not take.
type quirks struct {
	noFormat bool // output_config: a forced tool call stands in for it
	noStrict bool // strict tools
}

var _ llm.Model = (*Client)(nil)

// ReplyLimit is the configured Timeout.
func (c *Client) ReplyLimit() time.Duration { return c.messages.ReplyLimit() }

// New makes a client. It does not connect.
func New(cfg Config) (*Client, error) {
	if cfg.HTTP == nil {
		var err error
		if cfg.HTTP, err = egress.Plain(egress.PlainConfig{}); err != nil {
			return nil, fmt.Errorf("anthropic: %w", err)
		}
	}
	if cfg.MaxTokens <= 0 {
		cfg.MaxTokens = 8192
	}
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	for _, tail := range []string{"/messages", "/v1"} {
		cfg.BaseURL = strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(cfg.BaseURL), "/"), tail)
	}
	header := http.Header{"Content-Type": {"application/json"}, "Anthropic-Version": {version}}
	var secrets []string
	if cfg.Key != "" {
		header["X-Api-Key"] = []string{cfg.Key}
		secrets = append(secrets, cfg.Key)
	}
	for k, v := range cfg.Headers {
		header.Set(k, v)
		if upstream.Credential(k) {
			secrets = append(secrets, v)
		}
	}
	limits := upstream.Limits{FirstByte: cfg.FirstByte, Idle: cfg.Idle, Timeout: cfg.Timeout}.WithDefaults()
	c := &Client{cfg: cfg}
	var err error
	if c.messages, err = upstream.NewTarget(cfg.HTTP, http.MethodPost, cfg.BaseURL, "v1/messages", header, limits, secrets...); err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
	}
	if c.models, err = upstream.NewTarget(cfg.HTTP, http.MethodGet, cfg.BaseURL, "v1/models", header, limits, secrets...); err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
	}
	return c, nil
}

// learn takes a lesson from a refused request and says whether the same
// request, written differently, may pass.
func (c *Client) learn(model string, q quirks, req *llm.Request, err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.ErrBadRequest {
		return false
	}
	switch {
	case e.Unsupported == "response_format" && req.Format != nil && !q.noFormat:
		q.noFormat = true
	case e.Unsupported == "strict" && !q.noStrict:
		q.noStrict = true
	default:
		return false
	}
	c.quirks.Set(model, q)
	return true
}

// attempts bounds how often one call is written differently.
const attempts = 3

// Stream implements llm.Model.
func (c *Client) Stream(ctx context.Context, req *llm.Request, sink func(llm.Chunk)) (*llm.Response, error) {
	model := req.Model
	if model == "" {
		model = c.cfg.Model
	}
	if req.Format != nil && len(req.Format.Schema) == 0 {
		return nil, &llm.Error{Kind: llm.ErrBadRequest, Endpoint: c.messages.Endpoint(), Model: model, Unsupported: "response_format",
			Message: "the API knows structured output only with a schema; give one, or ask for JSON in the prompt"}
	}
	for try := 1; ; try++ {
		q, _ := c.quirks.Get(model)
		call, err := c.send(ctx, model, q, req, sink != nil)
		if err != nil {
			if try < attempts && c.learn(model, q, req, err) {
				continue
			}
			return nil, err
		}
		defer call.Close()
		a := assembly{Transcript: upstream.Transcript{Sink: sink}}
		if q.noFormat && req.Format != nil {
			a.format = formatName(req.Format)
		}
		if sink == nil {
			return readWhole(call, &a)
		}
		return readStream(call, &a)
	}
}

func (c *Client) send(ctx context.Context, model string, q quirks, req *llm.Request, stream bool) (*upstream.Call, error) {
	body := upstream.Body()
	var err error
	if *body, err = appendRequest(*body, model, c.cfg.MaxTokens, q, req, stream); err != nil {
		upstream.Drop(body)
		return nil, &llm.Error{Kind: llm.ErrBadRequest, Endpoint: c.messages.Endpoint(), Model: model, Err: err}
	}
	return c.messages.Do(ctx, model, body, stream)
}

// Models lists the names of the models that the endpoint offers.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	call, err := c.models.Do(ctx, "", nil, false)
	if err != nil {
		return nil, err
	}
	return call.Models()
}
