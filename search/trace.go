package search

import (
	"context"
	"sync"
)

// Trace keeps what happened on the way to the hits: which engines were asked
// and how they answered, and what was dropped. It is carried by the context, so
// that decorators and engines stay Searchers. Its methods do nothing on nil.
type Trace struct {
	mu    sync.Mutex
	calls []Attempt
	drops []Drop
}

// Attempt is one engine's part in a search.
type Attempt struct {
	Engine string `json:"engine"`
	Found  int    `json:"found"`
	Cached bool   `json:"cached,omitempty"`
	Reason Reason `json:"reason,omitempty"` // why it failed; Stopped if nobody waited for it
	Detail string `json:"detail,omitempty"`
}

// Drop is a hit that is not passed on.
type Drop struct {
	URL    string     `json:"url"`
	Engine string     `json:"engine,omitempty"`
	Why    DropReason `json:"why"`
	// Detail is the rule that it met or the URL that it is a copy of.
	Detail string `json:"detail,omitempty"`
}

// DropReason is why a hit is not passed on.
type DropReason string

// The reasons for a drop.
const (
	BrokenURL      DropReason = "broken-url"
	RefusedURL     DropReason = "refused-url" // what it points to is not public
	SameURL        DropReason = "same-url"
	SameText       DropReason = "same-text"
	BlockedDomain  DropReason = "blocked-domain"
	BlockedKeyword DropReason = "blocked-keyword"
	OtherSite      DropReason = "other-site"
	OutOfTime      DropReason = "out-of-time"
)

type traceKey struct{}

// WithTrace returns a context under which searches write to t.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the trace of ctx, nil without.
func TraceOf(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}

// Tried adds an engine's part.
func (t *Trace) Tried(a Attempt) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, a)
}

// Dropped adds a hit that is not passed on.
func (t *Trace) Dropped(d Drop) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drops = append(t.drops, d)
}

// Attempts returns the engines' parts so far, and Drops what was dropped.
func (t *Trace) Attempts() []Attempt {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Attempt(nil), t.calls...)
}

// Drops returns what was dropped so far.
func (t *Trace) Drops() []Drop {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Drop(nil), t.drops...)
}
