// Package openai speaks the chat completions API of OpenAI and of the many
// endpoints that follow it (vLLM, Ollama, llama.cpp, LM Studio, OpenRouter,
// DeepSeek, DashScope, xAI, Groq, Mistral, Azure's v1 …), with what they do
// differently: what an endpoint refuses is learned once and left out after.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"dossier/egress"
	"dossier/llm"
	"dossier/llm/internal/completion"
	"dossier/llm/internal/upstream"
)

// Config says where the endpoint is and how long it may take.
type Config struct {
	// BaseURL ends before /chat/completions: http://localhost:11434/v1.
	BaseURL string
	// Key is sent as a bearer token; local endpoints need none.
	Key string
	// Model is used when a request names none.
	Model string
	// HTTP is the client to use; nil means egress.Plain.
	HTTP *http.Client
	// FirstByte bounds the wait for the first byte of a stream; 30 s when 0.
	FirstByte time.Duration
	// Idle bounds how long a stream may stand still; 60 s when 0.
	Idle time.Duration
	// Timeout bounds a call as a whole; 10 min when 0.
	Timeout time.Duration
	// MaxTokensField is "max_tokens" or "max_completion_tokens"; empty means
	// the first until the endpoint asks for the second.
	MaxTokensField string
	// Headers are sent with every call.
	Headers map[string]string
}

const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
)

// Client is an endpoint. It is an llm.Model and an llm.Embedder.
type Client struct {
	cfg                    Config
	chat, embed, modelList *upstream.Target
	quirks                 upstream.Learned[quirks] // per model
}

// quirks are what a model's endpoint does differently.
type quirks struct {
	maxTokens     string // the name of that field
	noUsage       bool   // refuses stream_options
	wantReasoning bool   // demands reasoning_content back
}

var (
	_ llm.Model    = (*Client)(nil)
	_ llm.Embedder = (*Client)(nil)
)

// ReplyLimit is the configured Timeout.
func (c *Client) ReplyLimit() time.Duration { return c.chat.ReplyLimit() }

// New makes a client. It does not connect.
func New(cfg Config) (*Client, error) {
	switch cfg.MaxTokensField {
	case "", maxTokens, maxCompletionTokens:
	default:
		return nil, fmt.Errorf("openai: max tokens field %q: use %s or %s", cfg.MaxTokensField, maxTokens, maxCompletionTokens)
	}
	if cfg.HTTP == nil {
		var err error
		if cfg.HTTP, err = egress.Plain(egress.PlainConfig{}); err != nil {
			return nil, fmt.Errorf("openai: %w", err)
		}
	}
	header := http.Header{"Content-Type": {"application/json"}}
	var secrets []string
	if cfg.Key != "" {
		header["Authorization"] = []string{"Bearer " + cfg.Key}
		secrets = append(secrets, cfg.Key)
	}
	for k, v := range cfg.Headers {
		header.Set(k, v)
		if upstream.Credential(k) {
			secrets = append(secrets, v)
		}
	}
	limits := upstream.Limits{FirstByte: cfg.FirstByte, Idle: cfg.Idle, Timeout: cfg.Timeout}.WithDefaults()
	// What people paste is often the whole address.
	cfg.BaseURL = strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(cfg.BaseURL), "/"), "/chat/completions")
	c := &Client{cfg: cfg}
	for _, t := range []struct {
		target       **upstream.Target
		method, path string
	}{{&c.chat, http.MethodPost, "chat/completions"}, {&c.embed, http.MethodPost, "embeddings"}, {&c.modelList, http.MethodGet, "models"}} {
		var err error
		if *t.target, err = upstream.NewTarget(cfg.HTTP, t.method, cfg.BaseURL, t.path, header, limits, secrets...); err != nil {
			return nil, fmt.Errorf("openai: %w", err)
		}
	}
	return c, nil
}

func (c *Client) quirksOf(model string) quirks {
	q, ok := c.quirks.Get(model)
	if !ok {
		q.maxTokens = c.cfg.MaxTokensField
		if q.maxTokens == "" {
			q.maxTokens = maxTokens
		}
	}
	return q
}

// learn takes a lesson from a refused request and says whether the same
// request, written differently, may pass.
func (c *Client) learn(model string, q quirks, req *llm.Request, err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.ErrBadRequest {
		return false
	}
	switch {
	case e.Unsupported == "stream_options" && !q.noUsage:
		q.noUsage = true
	case e.Unsupported == maxTokens && q.maxTokens == maxTokens && req.MaxTokens > 0:
		q.maxTokens = maxCompletionTokens
	case e.Unsupported == maxCompletionTokens && q.maxTokens == maxCompletionTokens && req.MaxTokens > 0:
		q.maxTokens = maxTokens
	case e.Unsupported == "reasoning_content" && !q.wantReasoning:
		q.wantReasoning = true
	default:
		return false
	}
	c.quirks.Set(model, q)
	return true
}

// attempts bounds how often one call is written differently.
const attempts = 4

// Stream implements llm.Model.
func (c *Client) Stream(ctx context.Context, req *llm.Request, sink func(llm.Chunk)) (*llm.Response, error) {
	model := req.Model
	if model == "" {
		model = c.cfg.Model
	}
	for try := 1; ; try++ {
		q := c.quirksOf(model)
		call, err := c.send(ctx, model, q, req, sink != nil)
		if err != nil {
			if try < attempts && c.learn(model, q, req, err) {
				continue
			}
			return nil, err
		}
		return read(call, sink)
	}
}

func read(call *upstream.Call, sink func(llm.Chunk)) (*llm.Response, error) {
	defer call.Close()
	if sink == nil {
		return completion.Read(call, nil)
	}
	return completion.ReadStream(call, sink)
}

func (c *Client) send(ctx context.Context, model string, q quirks, req *llm.Request, stream bool) (*upstream.Call, error) {
	body := upstream.Body()
	var err error
	if *body, err = appendRequest(*body, model, q, req, stream); err != nil {
		upstream.Drop(body)
		return nil, &llm.Error{Kind: llm.ErrBadRequest, Endpoint: c.chat.Endpoint(), Model: model, Err: err}
	}
	return c.chat.Do(ctx, model, body, stream)
}
