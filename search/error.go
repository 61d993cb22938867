package search

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Reason is why an engine did not search.
type Reason string

// The reasons.
const (
	RateLimited  Reason = "rate-limited" // it wants fewer questions
	Blocked      Reason = "blocked"      // it takes us for a robot, or does not let us in
	Unauthorized Reason = "unauthorized" // the key is missing, wrong or used up
	Unavailable  Reason = "unavailable"  // it has trouble of its own
	Unreachable  Reason = "unreachable"  // there is no connection to it
	TooSlow      Reason = "too slow"     // it did not answer in time
	Malformed    Reason = "malformed"    // its reply is not what it documents
	Rejected     Reason = "rejected"     // it can't search for this

	// Stopped stands in a Trace where whoever asked gave up; no error has it.
	Stopped Reason = "stopped"
)

// ErrNotMine says that an engine knows nothing about a page.
var ErrNotMine = errors.New("the engine does not have this page")

// Error is why an engine did not search.
type Error struct {
	Engine string
	Reason Reason
	// Detail is what the engine or the network said, in short and without
	// secrets.
	Detail string
	// Status of the reply, 0 without one.
	Status int
	// RetryAfter is how long the engine wants to be left alone, 0 if it does
	// not say.
	RetryAfter time.Duration
	Err        error
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s", e.Engine, e.Reason)
	if e.Status != 0 {
		text += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Fault tells the kernel how to record the error.
func (e *Error) Fault() (code, hint string) { return faultCode, hintFor(e) }

// ReasonOf returns the reason in err, or "" if it is not from an engine.
func ReasonOf(err error) Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return ""
}

// ExhaustedError says that every engine that could be asked failed.
type ExhaustedError struct {
	Query string
	Tried []*Error
}

func (e *ExhaustedError) Error() string {
	if len(e.Tried) == 0 {
		return "no search engine is configured"
	}
	tried := make([]string, len(e.Tried))
	for i, t := range e.Tried {
		tried[i] = t.Error()
	}
	return "no search engine answered: " + strings.Join(tried, "; ")
}

// Unwrap lets errors.As find each failure.
func (e *ExhaustedError) Unwrap() []error {
	out := make([]error, len(e.Tried))
	for i, t := range e.Tried {
		out[i] = t
	}
	return out
}

// Fault tells the kernel how to record the error.
func (e *ExhaustedError) Fault() (code, hint string) {
	return faultCode, "`dossier doctor` tests each engine; choose others with --search, or look in your own documents with --in"
}

// faultCode is the code of a run that failed for want of an engine.
const faultCode = "search_unavailable"

func hintFor(e *Error) string {
	switch e.Reason {
	case Unauthorized:
		return "check the engine's key in the section search of the configuration"
	case RateLimited, Blocked:
		return "wait, or choose another engine with --search"
	case Unreachable, TooSlow:
		return "check the network and the engine's address; `dossier doctor` tests it"
	}
	return "choose another engine with --search; `dossier doctor` tests each"
}
