package search

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// gate lets calls out: in the order in which they came, a number at once, at a
// pace, and none while the engine rests.
type gate struct {
	mu    sync.Mutex
	free  int
	queue list.List // of *turn
	timer *time.Timer

	// The pace: a call may start when due is no more than slack ahead, and puts
	// it off by every.
	every, slack time.Duration
	due          time.Time

	rest
}

// turn is a call's place in the queue and then its right to be under way.
type turn struct {
	at       *list.Element // nil when it has left the queue
	ready    chan struct{}
	err      error // why it may not go, once ready is closed
	repeated bool
	// round is that of the gate's rest when it went out: what it tells about
	// the engine is old after the next.
	round int
	probe bool
}

func (g *gate) init(name string, m Manners) {
	g.free = m.Concurrent
	if g.free <= 0 {
		g.free = 4
	}
	g.every = max(0, m.Every)
	g.slack = g.every * time.Duration(max(0, m.Burst-1))
	g.rest.init(name)
}

// enter waits for a turn. A call that is repeated goes before those that have
// not begun.
func (g *gate) enter(ctx context.Context, repeated bool) (*turn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	t := &turn{ready: make(chan struct{}), repeated: repeated}
	g.mu.Lock()
	if repeated {
		t.at = g.queue.PushFront(t)
	} else {
		t.at = g.queue.PushBack(t)
	}
	g.dispatch(time.Now())
	g.mu.Unlock()

	select {
	case <-t.ready:
		return t, t.err
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case t.at != nil:
		g.queue.Remove(t.at)
	case t.err == nil: // it was let out at the same moment
		g.free++
		g.aborted(t)
	}
	g.dispatch(time.Now())
	return nil, context.Cause(ctx)
}

// leave takes note of how a call ended.
func (g *gate) leave(t *turn, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	g.free++
	g.learn(now, t, err)
	g.dispatch(now)
}

// dispatch decides about those who wait, as far as that can be done now.
func (g *gate) dispatch(now time.Time) {
	for g.queue.Len() > 0 {
		if refused := g.refusal(now); refused != nil {
			for at := g.queue.Front(); at != nil; at = g.queue.Front() {
				g.release(at, refused)
			}
			break
		}
		if g.probing || g.free == 0 {
			break // who leaves calls again
		}
		if wait := g.due.Add(-g.slack).Sub(now); wait > 0 {
			if g.timer == nil {
				g.timer = time.AfterFunc(wait, g.tick)
			} else {
				g.timer.Reset(wait)
			}
			return
		}
		g.free--
		if g.due.Before(now) {
			g.due = now
		}
		g.due = g.due.Add(g.every)
		t := g.queue.Front().Value.(*turn)
		t.round, t.probe = g.round, g.cause != nil
		g.probing = t.probe
		g.release(t.at, nil)
	}
	if g.timer != nil {
		g.timer.Stop()
	}
}

func (g *gate) release(at *list.Element, err error) {
	t := g.queue.Remove(at).(*turn)
	t.at, t.err = nil, err
	close(t.ready)
}

func (g *gate) tick() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dispatch(time.Now())
}

func (g *gate) health() Health {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rest.health()
}
