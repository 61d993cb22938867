package egress

import (
	"errors"
	"fmt"
	"time"
)

// Reason is why a fetch gave no page.
type Reason string

// The reasons.
const (
	// Refused says: the URL, its address or one that it redirected to may not be
	// opened from outside.
	Refused Reason = "refused"
	// Robots says: the site's robots.txt disallows it.
	Robots Reason = "robots"
	// Busy says: the site asked to be left alone for longer than MaxWait.
	Busy Reason = "busy"
	// Redirects says: the chain is too long or broken.
	Redirects Reason = "redirects"
	// Status says: the site answered with something else than success.
	Status Reason = "status"
	// TooLarge says: more bytes than allowed, on the wire or unpacked.
	TooLarge Reason = "too large"
	// Ratio says: it unpacks to an implausible multiple of itself.
	Ratio Reason = "ratio"
	// Encoding says: the content encoding is unknown or the data is broken.
	Encoding Reason = "encoding"
	// Timeout says: it took too long.
	Timeout Reason = "timeout"
	// Network says: no connection, no such host, a broken reply.
	Network Reason = "network"
)

// Error is why a fetch gave no page.
type Error struct {
	Reason Reason
	URL    string // the hop that failed, shortened
	Why    string // a clause for people
	// Code is the HTTP status when Reason is Status.
	Code int
	// RetryAfter is how long the site asks to wait, when it did.
	RetryAfter time.Duration
	Err        error // the cause, if another package gave one
}

func (e *Error) Error() string {
	s := e.Why
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.URL == "" {
		return s
	}
	return fmt.Sprintf("fetch %s: %s", e.URL, s)
}

func (e *Error) Unwrap() error { return e.Err }

// ReasonOf returns the reason in err, or "" if it is not from a fetch.
func ReasonOf(err error) Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return ""
}
