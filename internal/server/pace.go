package server

import (
	"sync"
	"time"
)

// pace bounds how often each token may ask: so many times a second on average,
// and some more at once.
type pace struct {
	rate float64
	now  func() time.Time

	mu     sync.Mutex
	tokens map[string]*allowance
}

// allowance is how often a token may ask at once, as of a moment.
type allowance struct {
	left float64
	at   time.Time
}

func newPace(rate float64) *pace {
	return &pace{rate: rate, now: time.Now, tokens: map[string]*allowance{}}
}

// burst is how many requests may come at once.
func (p *pace) burst() float64 { return max(10, 2*p.rate) }

// take takes one request of a token, or says how long until it may make one. Who
// has none is on this machine and not bounded.
func (p *pace) take(token string) (wait time.Duration, ok bool) {
	if p.rate <= 0 || token == "" {
		return 0, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	a := p.tokens[token]
	if a == nil {
		if len(p.tokens) >= 10_000 { // far more than there are tokens: old ones
			clear(p.tokens)
		}
		a = &allowance{left: p.burst(), at: now}
		p.tokens[token] = a
	}
	a.left = min(p.burst(), a.left+p.rate*max(0, now.Sub(a.at).Seconds())) // a clock that went back takes nothing
	a.at = now
	if a.left < 1 {
		return time.Duration((1 - a.left) / p.rate * float64(time.Second)), false
	}
	a.left--
	return 0, true
}
