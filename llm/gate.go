package llm

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"
)

// gate is the part of a Governor that knows when a call may go out: while the
// breaker lets it, outside of a Retry-After, within the learned concurrency
// and at the learned pace (see learned).
type gate struct {
	cfg   *GovernorConfig
	start time.Time

	mu       sync.Mutex
	inFlight int
	// first and last waiter, in the order of seq; the timer wakes the first.
	first, last *waiter
	waiting     int
	seq         uint64
	timer       *time.Timer

	learned
	breaker
	closedBy *Error // whose Retry-After was obeyed last

	successes, limited, retries uint64
}

// ticket is a call's right to be in flight.
type ticket struct {
	seq   uint64 // the call's place in the queue, kept over its attempts
	at    int64  // when it went out
	n     int    // calls in flight then, itself included
	sent  uint64 // its number in learned.sent
	paced bool   // the pace, not the concurrency, decided when it went out
	probe bool
}

type waiter struct {
	*ticket
	prev, next *waiter
	since      int64
	queued     bool
	err        error
	ready      chan struct{}
}

func (g *gate) init(cfg *GovernorConfig) {
	g.cfg = cfg
	g.start = time.Now()
	g.learned.init(cfg)
	g.breaker.init(cfg)
}

// now is the time since the gate was made, from 1 on: 0 means never.
func (g *gate) now() int64 { return int64(time.Since(g.start)) + 1 }

// open lets a call out if it need not wait.
func (g *gate) open(t *ticket) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t.seq == 0 {
		g.seq++
		t.seq = g.seq
	}
	now := g.now()
	if g.first != nil || g.wait(now) != 0 {
		return false
	}
	g.admit(now, t, false)
	return true
}

// enter waits for the right to go out, of a call that was not let out at once.
func (g *gate) enter(ctx context.Context, t *ticket) error {
	g.mu.Lock()
	now := g.now()
	if err := g.hopeless(ctx, now); err != nil {
		g.mu.Unlock()
		return err
	}
	w := &waiter{ticket: t, since: now, ready: make(chan struct{})}
	g.insert(w)
	g.dispatch(now)
	g.mu.Unlock()

	select {
	case <-w.ready:
		return w.err
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.queued {
		g.remove(w)
		g.dispatch(g.now()) // it may have been the one that the timer was set for
	} else if w.err == nil {
		g.release(g.now()) // it was let out at the same moment
	}
	return ctx.Err()
}

// hopeless says why a call that can be replaced is not worth waiting for: the
// endpoint is believed to be down, or asked for more time than there is.
func (g *gate) hopeless(ctx context.Context, now int64) error {
	if !replaceable(ctx) {
		return nil
	}
	if g.breaker.wait(now) != 0 {
		return g.brokenError(now)
	}
	if end, ok := ctx.Deadline(); ok && g.closedBy != nil && now+int64(time.Until(end)) <= g.closed {
		return g.closedBy
	}
	return nil
}

// untilLeave is a wait that no clock ends, only a call that leaves.
const untilLeave = math.MaxInt64

// wait says how long nobody may go out: 0 for not at all.
func (g *gate) wait(now int64) int64 {
	if d := g.breaker.wait(now); d != 0 {
		return d
	}
	return g.learned.wait(now, g.inFlight)
}

// admit lets a call out; waited says that it had to wait.
func (g *gate) admit(now int64, t *ticket, waited bool) {
	g.inFlight++
	t.at, t.n = now, g.inFlight
	t.probe = g.breaker.admit()
	g.learned.admit(now, t, waited)
}

// leave takes note of how an attempt ended.
func (g *gate) leave(ctx context.Context, t *ticket, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	e, told := errors.AsType[*Error](err)
	switch {
	case err == nil:
		g.successes++
		g.succeeded(now, t)
		g.breaker.answered()
	case ctx.Err() != nil || !told:
		g.breaker.aborted(t.probe)
	case e.Kind == ErrRateLimited:
		g.limited++
		g.breaker.answered()
		g.refused(now, t, g.inFlight-1)
		g.close(now, g.obeyed(e))
	case e.Kind == ErrServer || e.Kind == ErrUnreachable || e.Kind == ErrTimeout:
		if e.Kind == ErrTimeout || e.Status == 503 || e.Status == 529 {
			g.cut(now, t, g.inFlight-1)
		}
		g.close(now, g.obeyed(e))
		g.breaker.failed(now, t.probe, e)
	default:
		g.breaker.answered()
	}
	g.release(now)
}

// obeyed is the pause that an error asks of everybody.
func (g *gate) obeyed(e *Error) time.Duration {
	if e.RetryAfter > g.cfg.MaxRetryAfter {
		return 0 // the call fails with it
	}
	if e.RetryAfter > 0 {
		g.closedBy = e
	}
	return e.RetryAfter
}

func (g *gate) release(now int64) {
	g.inFlight--
	g.dispatch(now)
}

// dispatch lets out the waiters that may go, in order.
func (g *gate) dispatch(now int64) {
	if g.state != BreakerClosed {
		g.expire(now)
	}
	for g.first != nil {
		d := g.wait(now)
		if d == 0 {
			w := g.first
			g.remove(w)
			g.admit(now, w.ticket, true)
			close(w.ready)
			continue
		}
		if g.state != BreakerClosed {
			d = min(d, g.patience(now))
		}
		if d == untilLeave {
			if g.state == BreakerClosed {
				g.fullAt = now
			}
			return
		}
		if g.timer == nil {
			g.timer = time.AfterFunc(time.Duration(d), g.tick)
		} else {
			g.timer.Reset(time.Duration(d))
		}
		return
	}
}

func (g *gate) tick() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dispatch(g.now())
}

// insert puts w in its place, which is near the front for a repeated call.
func (g *gate) insert(w *waiter) {
	g.waiting++
	w.queued = true
	if g.last == nil || g.last.seq < w.seq {
		w.prev = g.last
	} else {
		after := g.first
		for after.seq < w.seq {
			after = after.next
		}
		w.next, w.prev = after, after.prev
		after.prev = w
	}
	if w.prev == nil {
		g.first = w
	} else {
		w.prev.next = w
	}
	if w.next == nil {
		g.last = w
	}
}

func (g *gate) remove(w *waiter) {
	g.waiting--
	w.queued = false
	if w.prev == nil {
		g.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		g.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next = nil, nil
}

func (g *gate) countRetry() {
	g.mu.Lock()
	g.retries++
	g.mu.Unlock()
}

func (g *gate) stats() GovernorStats {
	g.mu.Lock()
	defer g.mu.Unlock()
	return GovernorStats{
		Limit: int(g.limit), Pace: g.pace, InFlight: g.inFlight, Waiting: g.waiting,
		Successes: g.successes, RateLimited: g.limited, Retries: g.retries,
		State: g.state,
	}
}
