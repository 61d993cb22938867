package llm

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// BreakerState says whether an endpoint is believed to be there.
type BreakerState string

// The states of a breaker.
const (
	BreakerClosed   BreakerState = "closed"
	BreakerOpen     BreakerState = "open"
	BreakerHalfOpen BreakerState = "half-open" // one probe is out
)

// breaker is the part of a gate that stops calls to an endpoint that is down.
// Whoever got any answer, an error included, closes it.
type breaker struct {
	state    BreakerState
	row      int           // failures in a row
	opened   int64         // when it left the closed state
	until    int64         // when the next probe is due
	cooldown time.Duration // of the next opening
	after    int
	base     time.Duration
	cause    *Error
}

func (b *breaker) init(cfg *GovernorConfig) {
	b.state = BreakerClosed
	b.after = cfg.BreakerAfter
	b.base = cfg.BreakerCooldown
	b.cooldown = b.base
}

func (b *breaker) wait(now int64) int64 {
	switch {
	case b.state == BreakerClosed:
		return 0
	case b.state == BreakerHalfOpen:
		return untilLeave
	case now < b.until:
		return b.until - now
	}
	return 0
}

// admit says whether the call that goes out is the probe.
func (b *breaker) admit() bool {
	if b.state != BreakerOpen {
		return false
	}
	b.state = BreakerHalfOpen
	return true
}

func (b *breaker) answered() {
	b.row = 0
	if b.state != BreakerClosed {
		b.state, b.cause, b.cooldown = BreakerClosed, nil, b.base
	}
}

// aborted means that a call ended without telling anything.
func (b *breaker) aborted(probe bool) {
	if probe && b.state == BreakerHalfOpen {
		b.state = BreakerOpen
	}
}

func (b *breaker) failed(now int64, probe bool, e *Error) {
	b.row++
	switch {
	case b.state == BreakerClosed && b.row >= b.after:
		b.opened = now
	case b.state == BreakerHalfOpen && probe:
	default:
		return
	}
	b.state, b.cause = BreakerOpen, e
	b.until = now + int64(b.cooldown)
	b.cooldown = min(2*b.cooldown, maxCooldown)
}

// expire fails the waiters whose patience with the open breaker has ended.
func (g *gate) expire(now int64) {
	for w := g.first; w != nil; {
		next := w.next
		if now >= g.deadline(w) && g.breaker.wait(now) != 0 {
			g.remove(w)
			w.err = g.brokenError(now)
			close(w.ready)
		}
		w = next
	}
}

// patience is the time until the first waiter gives up.
func (g *gate) patience(now int64) int64 {
	d := int64(untilLeave)
	for w := g.first; w != nil; w = w.next {
		d = min(d, g.deadline(w)-now)
	}
	return max(d, 1)
}

func (g *gate) deadline(w *waiter) int64 {
	return max(w.since, g.opened) + max(0, int64(g.cfg.BreakerWait))
}

func (g *gate) brokenError(now int64) *Error {
	e := &Error{Kind: ErrUnreachable, Endpoint: g.cfg.Endpoint}
	if g.cause != nil {
		e.Kind, e.Model, e.Status, e.Message, e.Err = g.cause.Kind, g.cause.Model, g.cause.Status, g.cause.Message, g.cause.Err
		e.Endpoint = cmp.Or(e.Endpoint, g.cause.Endpoint)
	}
	e.Message = strings.TrimPrefix(fmt.Sprintf("%s; not called now: %d calls in a row got no answer", e.Message, g.row), "; ")
	if d := time.Duration(g.until - now); d > 0 {
		e.RetryAfter = d
	}
	return e
}
