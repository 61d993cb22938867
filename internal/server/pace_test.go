package server

import (
	"testing"
	"time"
)

// A clock that jumps neither locks a token out nor lets it do more than at once.
func TestPaceWhenTheClockJumps(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p := newPace(5)
	p.now = func() time.Time { return now }
	most := func() (n int) {
		for {
			if _, ok := p.take("ann"); !ok {
				return n
			}
			n++
		}
	}
	if got := most(); got != 10 {
		t.Errorf("%d at once", got)
	}
	now = now.Add(-24 * time.Hour)
	if wait, ok := p.take("ann"); ok || wait > time.Second {
		t.Errorf("after the clock went back: %v, %v", wait, ok)
	}
	now = now.Add(time.Second)
	if got := most(); got != 5 {
		t.Errorf("a second later %d", got)
	}
	now = now.Add(24 * time.Hour)
	if got := most(); got != 10 {
		t.Errorf("after the clock went ahead %d", got)
	}
}
