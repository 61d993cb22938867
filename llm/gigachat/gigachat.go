// Package gigachat speaks Sber's GigaChat API: an OAuth token that lives half
// an hour, and chat completions with the older functions instead of tools, one
// call in a message.
//
// The service's certificate is signed by an authority that most systems don't
// know: configure its certificate through the HTTP client (egress.PlainConfig).
package gigachat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dossier/egress"
	"dossier/llm"
	"dossier/llm/internal/completion"
	"dossier/llm/internal/upstream"
)

// The service's public addresses and the scope of private persons.
const (
	DefaultBaseURL = "https://gigachat.devices.sberbank.ru/api/v1"
	DefaultAuthURL = "https://ngw.devices.sberbank.ru:9443/api/v2/oauth"
	DefaultScope   = "GIGACHAT_API_PERS"
)

// structuredHost is the service's address for companies, the only one that
// documents response_format.
const structuredHost = "api.giga.chat"

// Config says where the service is and who asks.
type Config struct {
	// BaseURL ends before /chat/completions; empty means DefaultBaseURL.
	BaseURL string
	// AuthURL gives the tokens; empty means DefaultAuthURL.
	AuthURL string
	// Key is the authorization key: base64 of "client id:client secret".
	Key string
	// Scope is GIGACHAT_API_PERS, GIGACHAT_API_B2B or GIGACHAT_API_CORP; empty
	// means DefaultScope.
	Scope string
	// Model is used when a request names none.
	Model string
	// HTTP is the client to use; nil means egress.Plain.
	HTTP *http.Client
	// Structured says that the endpoint takes response_format. It is set for
	// api.giga.chat by itself.
	Structured bool
	// FirstByte bounds the wait for the first byte of a stream; 30 s when 0.
	FirstByte time.Duration
	// Idle bounds how long a stream may stand still; 60 s when 0.
	Idle time.Duration
	// Timeout bounds a call as a whole; 10 min when 0.
	Timeout time.Duration
}

// Client is the service. It is an llm.Model and an llm.Embedder.
type Client struct {
	cfg                 Config
	tokens              *tokens
	chat, embed, models *upstream.Target
}

var (
	_ llm.Model    = (*Client)(nil)
	_ llm.Embedder = (*Client)(nil)
)

// ReplyLimit is the configured Timeout.
func (c *Client) ReplyLimit() time.Duration { return c.chat.ReplyLimit() }

// New makes a client. It does not connect.
func New(cfg Config) (*Client, error) {
	defaults := func(s *string, v string) {
		if *s = strings.TrimSpace(*s); *s == "" {
			*s = v
		}
	}
	defaults(&cfg.BaseURL, DefaultBaseURL)
	defaults(&cfg.AuthURL, DefaultAuthURL)
	defaults(&cfg.Scope, DefaultScope)
	if cfg.Key == "" {
		return nil, errors.New("gigachat: no authorization key; take it from your project's settings")
	}
	if cfg.HTTP == nil {
		var err error
		if cfg.HTTP, err = egress.Plain(egress.PlainConfig{}); err != nil {
			return nil, fmt.Errorf("gigachat: %w", err)
		}
	}
	if u, err := url.Parse(cfg.BaseURL); err == nil && u.Hostname() == structuredHost {
		cfg.Structured = true
	}
	c := &Client{cfg: cfg}
	limits := upstream.Limits{FirstByte: cfg.FirstByte, Idle: cfg.Idle, Timeout: cfg.Timeout}.WithDefaults()
	for _, t := range []struct {
		target       **upstream.Target
		method, path string
	}{{&c.chat, http.MethodPost, "chat/completions"}, {&c.embed, http.MethodPost, "embeddings"}, {&c.models, http.MethodGet, "models"}} {
		header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
		var err error
		if *t.target, err = upstream.NewTarget(cfg.HTTP, t.method, cfg.BaseURL, t.path, header, limits, cfg.Key); err != nil {
			return nil, fmt.Errorf("gigachat: %w", err)
		}
	}
	var err error
	if c.tokens, err = newTokens(cfg, limits.FirstByte); err != nil {
		return nil, fmt.Errorf("gigachat: auth URL: %w", err)
	}
	return c, nil
}

// do makes a call with a valid token. A token that the service refuses though
// it should still be valid is replaced once.
func (c *Client) do(ctx context.Context, t *upstream.Target, model string, body func([]byte) ([]byte, error), stream bool) (*upstream.Call, error) {
	for try := 1; ; try++ {
		token, err := c.tokens.get(ctx)
		if err != nil {
			return nil, naming(model, err)
		}
		var b *[]byte
		if body != nil {
			b = upstream.Body()
			if *b, err = body(*b); err != nil {
				upstream.Drop(b)
				return nil, &llm.Error{Kind: llm.ErrBadRequest, Endpoint: t.Endpoint(), Model: model, Err: err}
			}
		}
		call, err := t.With("Authorization", "Bearer "+token, token).Do(ctx, model, b, stream)
		var e *llm.Error
		if errors.As(err, &e) && e.Status == http.StatusUnauthorized && try == 1 {
			c.tokens.drop(token)
			continue
		}
		return call, err
	}
}

// naming is err with the model that the token was wanted for. Others who waited
// for the same token have the error as it was.
func naming(model string, err error) error {
	var e *llm.Error
	if !errors.As(err, &e) || e.Model != "" {
		return err
	}
	named := *e
	named.Model = model
	return &named
}

// Stream implements llm.Model.
func (c *Client) Stream(ctx context.Context, req *llm.Request, sink func(llm.Chunk)) (*llm.Response, error) {
	model := req.Model
	if model == "" {
		model = c.cfg.Model
	}
	if req.Format != nil && (!c.cfg.Structured || len(req.Format.Schema) == 0) {
		return nil, &llm.Error{Kind: llm.ErrBadRequest, Endpoint: c.chat.Endpoint(), Model: model, Unsupported: "response_format",
			Message: "this endpoint has no structured output; ask for JSON in the prompt or through a function"}
	}
	call, err := c.do(ctx, c.chat, model, func(b []byte) ([]byte, error) { return appendRequest(b, model, req, sink != nil) }, sink != nil)
	if err != nil {
		return nil, err
	}
	defer call.Close()
	if sink == nil {
		return completion.Read(call, nil)
	}
	return completion.ReadStream(call, sink)
}

// Embed implements llm.Embedder.
func (c *Client) Embed(ctx context.Context, model string, texts []string) (*llm.Embeddings, error) {
	if model == "" {
		model = "Embeddings"
	}
	if len(texts) == 0 {
		return &llm.Embeddings{Model: model}, nil
	}
	call, err := c.do(ctx, c.embed, model, func(b []byte) ([]byte, error) { return upstream.AppendEmbed(b, model, texts), nil }, false)
	if err != nil {
		return nil, err
	}
	return call.Embeddings(len(texts))
}

// Models lists the names of the models that the service offers.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	call, err := c.do(ctx, c.models, "", nil, false)
	if err != nil {
		return nil, err
	}
	return call.Models()
}
