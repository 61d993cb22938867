package llm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// GovernorConfig sets up a Governor. The zero value of a field means its
// default.
type GovernorConfig struct {
	// Endpoint is the host that errors of the governor itself name.
	Endpoint string
	// StartConcurrency is how many calls may be in flight before anything was
	// learned (256: the first refusal tells more than a slow start),
	// MaxConcurrency is the ceiling of what is learned (1024).
	StartConcurrency int
	MaxConcurrency   int
	// MaxRetries is how often one call is repeated after a failure that may
	// pass (3); negative means never. Waits for a rate limit don't count.
	MaxRetries int
	// MaxTime is how long one call may take with all its repetitions and waits
	// (10 min). It ends with the last failure then; negative means no bound.
	MaxTime time.Duration
	// Backoff is the wait before the first repetition (500 ms). It doubles
	// each time up to MaxBackoff (20 s) and is jittered by half. After a 429
	// the first wait is a fifth of it, because there the learned pace, which
	// holds for all callers together, does the spreading.
	Backoff    time.Duration
	MaxBackoff time.Duration
	// MaxRetryAfter is the longest Retry-After that is waited for (15 min). A
	// call that is told to wait longer fails with what the endpoint said.
	MaxRetryAfter time.Duration
	// BreakerAfter consecutive failures to get any answer (5) open the
	// breaker: nothing is sent for BreakerCooldown (1 s, doubled by each
	// failed probe up to 30 s), then a single probe goes out.
	BreakerAfter    int
	BreakerCooldown time.Duration
	// BreakerWait is how long a call waits for an open breaker before it
	// fails (30 s); negative means that it fails at once.
	BreakerWait time.Duration
	// Rand returns numbers in [0,1) for the jitter. It has to be safe for
	// concurrent use.
	Rand func() float64
}

const maxCooldown = 30 * time.Second

func (c GovernorConfig) withDefaults() GovernorConfig {
	def := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	defTime := func(p *time.Duration, v time.Duration) {
		if *p == 0 {
			*p = v
		}
	}
	def(&c.MaxConcurrency, 1024)
	def(&c.StartConcurrency, 256)
	c.StartConcurrency = max(1, min(c.StartConcurrency, c.MaxConcurrency))
	def(&c.MaxRetries, 3)
	def(&c.BreakerAfter, 5)
	defTime(&c.MaxTime, 10*time.Minute)
	defTime(&c.Backoff, 500*time.Millisecond)
	defTime(&c.MaxBackoff, 20*time.Second)
	defTime(&c.MaxRetryAfter, 15*time.Minute)
	defTime(&c.BreakerCooldown, time.Second)
	defTime(&c.BreakerWait, 30*time.Second)
	if c.Rand == nil {
		c.Rand = rand.Float64
	}
	return c
}

// Governor decides when calls to one endpoint with one key may go out, and
// repeats those that fail for a passing reason. All Models and Embedders that
// share the endpoint and the key share one Governor.
//
// Calls are admitted in the order in which they came; a call that has to be
// repeated keeps its place. Waiting costs no goroutine but the caller's, and
// a call whose context ends leaves the queue at once. See gate for how the
// limits are learned.
type Governor struct {
	cfg  GovernorConfig
	gate gate
}

// NewGovernor returns a Governor that has learned nothing yet.
func NewGovernor(cfg GovernorConfig) *Governor {
	g := &Governor{cfg: cfg.withDefaults()}
	g.gate.init(&g.cfg)
	return g
}

// Governors keeps one Governor per endpoint and key.
type Governors struct {
	// Config is that of each governor, beside its Endpoint.
	Config GovernorConfig

	mu sync.Mutex
	m  map[governorKey]*Governor
}

type governorKey struct {
	endpoint string
	key      [sha256.Size]byte
}

// For returns the governor of an endpoint's host and an API key, of which only
// the hash is kept.
func (gs *Governors) For(endpoint, key string) *Governor {
	k := governorKey{endpoint, sha256.Sum256([]byte(key))}
	gs.mu.Lock()
	defer gs.mu.Unlock()
	g := gs.m[k]
	if g == nil {
		cfg := gs.Config
		cfg.Endpoint = endpoint
		g = NewGovernor(cfg)
		if gs.m == nil {
			gs.m = map[governorKey]*Governor{}
		}
		gs.m[k] = g
	}
	return g
}

// GovernorStats is a snapshot of a Governor.
type GovernorStats struct {
	Limit       int     // calls that may be in flight
	Pace        float64 // calls per second that may go out; 0 while no rate limit was met
	InFlight    int
	Waiting     int
	Successes   uint64
	RateLimited uint64 // 429s
	Retries     uint64 // repeated calls, 429s included
	State       BreakerState
}

// Stats says where the governor stands.
func (g *Governor) Stats() GovernorStats { return g.gate.stats() }

// Wrap returns m governed by g. When a stream breaks after chunks were handed
// to the sink, the sink gets a Chunk with Restart set and then the reply of
// the repeated call from its start.
func (g *Governor) Wrap(m Model) Model { return governedModel{g, m, g.timed(m)} }

// WrapEmbedder returns e governed by g.
func (g *Governor) WrapEmbedder(e Embedder) Embedder { return governedEmbedder{g, e, g.timed(e)} }

// Timed is a Model or an Embedder that gives up waiting for a reply by itself.
// Most calls are one attempt that goes out at once: for these the governor
// then needs no clock of its own.
type Timed interface {
	// ReplyLimit is how long a reply may take as a whole; 0 or less is no limit.
	ReplyLimit() time.Duration
}

// timed says whether one attempt of a model ends within MaxTime by itself.
func (g *Governor) timed(model any) bool {
	t, ok := model.(Timed)
	return ok && t.ReplyLimit() > 0 && t.ReplyLimit() <= g.cfg.MaxTime
}

type governedModel struct {
	g     *Governor
	m     Model
	timed bool
}

func (gm governedModel) Stream(ctx context.Context, req *Request, sink func(Chunk)) (*Response, error) {
	c := gm.g.begin(ctx, req.Model, gm.timed)
	defer c.end()
	resp, err := gm.repeated(c, req, sink)
	return resp, gm.g.overdue(c, err)
}

// repeated makes the call as often as it takes.
func (gm governedModel) repeated(c *call, req *Request, sink func(Chunk)) (*Response, error) {
	var out func(Chunk)
	if sink != nil {
		out = func(ch Chunk) {
			c.delivered = true
			sink(ch)
		}
	}
	for {
		if err := gm.g.enter(c); err != nil {
			return nil, err
		}
		resp, err := gm.stream(c, req, out)
		if err == nil {
			return resp, nil
		}
		if err := gm.g.pause(c, err); err != nil {
			return nil, err
		}
		if c.delivered {
			c.delivered = false
			sink(Chunk{Restart: true})
		}
	}
}

// stream makes one attempt. The slot is given back even when the model panics.
func (gm governedModel) stream(c *call, req *Request, sink func(Chunk)) (resp *Response, err error) {
	err = errAborted
	defer func() { gm.g.gate.leave(c.ctx, &c.ticket, err) }()
	return gm.m.Stream(c.ctx, req, sink)
}

type governedEmbedder struct {
	g     *Governor
	e     Embedder
	timed bool
}

func (ge governedEmbedder) Embed(ctx context.Context, model string, texts []string) (*Embeddings, error) {
	c := ge.g.begin(ctx, model, ge.timed)
	defer c.end()
	out, err := ge.repeated(c, texts)
	return out, ge.g.overdue(c, err)
}

// repeated makes the call as often as it takes.
func (ge governedEmbedder) repeated(c *call, texts []string) (*Embeddings, error) {
	for {
		if err := ge.g.enter(c); err != nil {
			return nil, err
		}
		out, err := ge.embed(c, texts)
		if err == nil {
			return out, nil
		}
		if err := ge.g.pause(c, err); err != nil {
			return nil, err
		}
	}
}

func (ge governedEmbedder) embed(c *call, texts []string) (out *Embeddings, err error) {
	err = errAborted
	defer func() { ge.g.gate.leave(c.ctx, &c.ticket, err) }()
	return ge.e.Embed(c.ctx, c.model, texts)
}

// errAborted is what the gate sees of an attempt that panicked.
var errAborted = errors.New("the call was aborted")

// call is the state of one call over its attempts.
type call struct {
	caller  context.Context // of whoever made the call
	ctx     context.Context // caller, and MaxTime once it is bounded
	cancel  context.CancelFunc
	begin   time.Time
	ticket  ticket
	failed  int // attempts that count
	limited int // attempts answered by a 429
	model   string
	last    error // of the attempts
	// delivered says that the sink got something of the current attempt.
	delivered bool
}

func (g *Governor) begin(ctx context.Context, model string, timed bool) *call {
	c := &call{caller: ctx, ctx: ctx, begin: time.Now(), model: model}
	if !timed {
		g.bounded(c)
	}
	return c
}

func (c *call) end() {
	if c.cancel != nil {
		c.cancel()
	}
}

// bounded returns a context that ends when the call has taken all that it may.
func (g *Governor) bounded(c *call) context.Context {
	if c.cancel == nil && g.cfg.MaxTime >= 0 {
		c.ctx, c.cancel = context.WithDeadline(c.caller, c.begin.Add(g.cfg.MaxTime))
	}
	return c.ctx
}

// overdue is the error of a call: where its time was up, what went wrong last.
func (g *Governor) overdue(c *call, err error) error {
	if err == nil || c.caller.Err() != nil || c.ctx.Err() == nil {
		return err
	}
	if c.last != nil {
		return fmt.Errorf("given up after %s: %w", g.cfg.MaxTime, c.last)
	}
	return &Error{Kind: ErrTimeout, Endpoint: g.cfg.Endpoint, Model: c.model, Message: "no whole answer within " + g.cfg.MaxTime.String()}
}

func (g *Governor) enter(c *call) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if g.gate.open(&c.ticket) {
		return nil
	}
	return g.gate.enter(g.bounded(c), &c.ticket)
}

// pause returns nil when the call is to be repeated, after the wait that this
// takes, and otherwise the error that the call ends with.
func (g *Governor) pause(c *call, err error) error {
	if c.ctx.Err() != nil {
		return err
	}
	c.last = err
	var e *Error
	if !errors.As(err, &e) || !e.Retryable() || e.RetryAfter > g.cfg.MaxRetryAfter {
		return err
	}
	wait := g.cfg.Backoff
	if e.Kind == ErrRateLimited {
		c.limited++
		wait = g.backoff(wait/5, c.limited)
	} else {
		c.failed++
		if c.failed > g.cfg.MaxRetries {
			if c.failed > 1 {
				return fmt.Errorf("given up after %d attempts: %w", c.failed, err)
			}
			return err
		}
		wait = g.backoff(wait, c.failed)
	}
	ctx := g.bounded(c)
	pause := max(wait, e.RetryAfter)
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= pause && replaceable(ctx) {
		return err // it would be broken off before it could go out again
	}
	g.gate.countRetry()
	tell(ctx, Failure{Err: err, Attempt: c.failed + c.limited, Then: ThenRepeated, Wait: pause})
	if e.Kind == ErrRateLimited && e.RetryAfter > 0 || wait <= 0 {
		return nil // the gate is closed to everybody for as long
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// backoff returns the n-th wait, n from 1: base·2^(n-1), of which the upper
// half is random.
func (g *Governor) backoff(base time.Duration, n int) time.Duration {
	d := base << min(n-1, 16)
	if d > g.cfg.MaxBackoff || d <= 0 {
		d = g.cfg.MaxBackoff
	}
	return d/2 + time.Duration(g.cfg.Rand()*float64(d/2))
}
