package egress

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxHosts bounds how many hosts are remembered; idle ones are forgotten
// first.
const maxHosts = 4096

// manners keeps requests to one host few, apart and out of the times in which
// it asked for peace.
type manners struct {
	conf *GuardConfig

	mu    sync.Mutex
	hosts map[string]*host
}

type host struct {
	slots chan struct{} // one per request under way
	users int           // requests under way or waiting; guarded by manners.mu

	mu    sync.Mutex
	next  time.Time     // when the next request may start
	until time.Time     // what Retry-After asked for
	delay time.Duration // between two starts
}

func newManners(conf *GuardConfig) *manners {
	return &manners{conf: conf, hosts: map[string]*host{}}
}

func (m *manners) host(name string) *host {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.hosts[name]
	if h == nil {
		if len(m.hosts) >= maxHosts {
			now := time.Now()
			for k, v := range m.hosts {
				if v.users == 0 && v.idle(now) {
					delete(m.hosts, k)
				}
			}
		}
		h = &host{slots: make(chan struct{}, m.conf.PerHost), delay: m.conf.MinDelay}
		m.hosts[name] = h
	}
	h.users++
	return h
}

func (h *host) idle(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now.After(h.until) && now.After(h.next)
}

func (m *manners) leave(h *host) {
	m.mu.Lock()
	h.users--
	m.mu.Unlock()
}

// enter waits for a turn. The caller calls done when its request is over.
func (m *manners) enter(ctx context.Context, name string) (done func(), err error) {
	h := m.host(name)
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		m.leave(h)
		return nil, ctx.Err()
	}
	done = func() { <-h.slots; m.leave(h) }
	for {
		wait, err := h.turn(m.conf.MaxWait)
		if err == nil && wait > 0 {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
				continue
			case <-ctx.Done():
				timer.Stop()
				err = ctx.Err()
			}
		}
		if err != nil {
			done()
			return nil, err
		}
		return done, nil
	}
}

// turn takes the next start if it has come, and says how long to wait if not.
func (h *host) turn(most time.Duration) (time.Duration, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	if rest := h.until.Sub(now); rest > most {
		return 0, &Error{Reason: Busy, RetryAfter: rest, Why: fmt.Sprintf("the site asks to wait %s", rest.Round(time.Second))}
	}
	if wait := max(h.next.Sub(now), h.until.Sub(now)); wait > 0 {
		return wait, nil
	}
	h.next = now.Add(h.delay)
	return 0, nil
}

// slow sets the delay that robots.txt asks for, within MaxWait.
func (m *manners) slow(name string, delay time.Duration) {
	h := m.host(name)
	h.mu.Lock()
	h.delay = min(max(delay, m.conf.MinDelay), m.conf.MaxWait)
	h.mu.Unlock()
	m.leave(h)
}

// hold remembers a Retry-After.
func (m *manners) hold(name string, wait time.Duration) {
	h := m.host(name)
	h.mu.Lock()
	if until := time.Now().Add(wait); until.After(h.until) {
		h.until = until
	}
	h.mu.Unlock()
	m.leave(h)
}

// maxRetryAfter bounds what one reply can ask for.
const maxRetryAfter = time.Hour

// retryAfter reads the header of a 429 or 503: seconds or a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0
	}
	wait := time.Duration(0)
	if n, err := strconv.ParseUint(v, 10, 32); err == nil {
		wait = time.Duration(n) * time.Second
	} else if t, err := http.ParseTime(v); err == nil {
		wait = t.Sub(now)
	}
	return min(max(wait, 0), maxRetryAfter)
}
