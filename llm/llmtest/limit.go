package llmtest

import (
	"time"
)

// limiter is a token bucket whose rate follows the script.
type limiter struct {
	limits []Limit
	start  time.Time
	last   time.Time
	tokens float64
	at     int // the limit in force
}

// take admits a call or says why not.
func (l *limiter) take(now time.Time, inFlight int) *refusal {
	if len(l.limits) == 0 {
		return nil
	}
	if l.start.IsZero() {
		l.start, l.last, l.at = now, now, -1
	}
	l.refill(now)
	if l.at < 0 {
		return nil
	}
	lim := l.limits[l.at]
	refuse := func(wait time.Duration) *refusal {
		if lim.Silent {
			wait = 0
		}
		return &refusal{status: 429, code: "rate_limit_exceeded", message: "Rate limit reached for requests", retryAfter: wait}
	}
	if lim.Concurrency > 0 && inFlight >= lim.Concurrency {
		return refuse(time.Second)
	}
	if lim.RPS <= 0 {
		return nil
	}
	if l.tokens < 1 {
		wait := time.Duration((1 - l.tokens) / lim.RPS * float64(time.Second))
		return refuse(max(wait.Round(time.Millisecond), time.Millisecond))
	}
	l.tokens--
	return nil
}

// refill adds what the limits since the last call allow, piece by piece.
func (l *limiter) refill(now time.Time) {
	for {
		next := now
		if l.at+1 < len(l.limits) {
			if t := l.start.Add(l.limits[l.at+1].At); !t.After(now) {
				next = t
			}
		}
		if l.at >= 0 {
			l.tokens += l.limits[l.at].RPS * next.Sub(l.last).Seconds()
			l.tokens = min(l.tokens, l.limits[l.at].burst())
		}
		l.last = next
		if l.at+1 >= len(l.limits) || l.start.Add(l.limits[l.at+1].At).After(now) {
			return
		}
		l.at++
		if l.at == 0 {
			l.tokens = l.limits[0].burst()
		}
		l.tokens = min(l.tokens, l.limits[l.at].burst())
	}
}

func (l Limit) burst() float64 {
	if l.Burst > 0 {
		return l.Burst
	}
	return max(l.RPS, 1)
}
