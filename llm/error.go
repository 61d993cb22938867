package llm

import (
	"errors"
	"fmt"
	"time"
)

// ErrorKind sorts the failures of a call by what can be done about them.
type ErrorKind string

// The kinds of failures.
const (
	ErrUnreachable ErrorKind = "unreachable"    // no connection: DNS, refused, TLS
	ErrTimeout     ErrorKind = "timeout"        // no first byte, or a stall
	ErrRateLimited ErrorKind = "rate_limited"   // 429
	ErrServer      ErrorKind = "server"         // 5xx, overloaded
	ErrCut         ErrorKind = "cut"            // the stream ended early
	ErrMalformed   ErrorKind = "malformed"      // a reply that is not in the provider's format, empty choices
	ErrAuth        ErrorKind = "auth"           // 401, 403
	ErrNoModel     ErrorKind = "no_model"       // the endpoint doesn't know the model
	ErrTooLong     ErrorKind = "context_length" // the conversation doesn't fit
	ErrBadRequest  ErrorKind = "bad_request"    // any other 4xx
	ErrQuota       ErrorKind = "quota"          // out of money: waiting doesn't help
)

// Error is a failed call. It never holds a key.
type Error struct {
	Kind     ErrorKind
	Endpoint string // host of the endpoint, without credentials
	Model    string
	Status   int    // HTTP status, 0 when there was none
	Message  string // what the provider said, shortened
	// RetryAfter is how long the provider asked to wait; 0 when it didn't.
	RetryAfter time.Duration
	// Unsupported names a request field that the endpoint refused
	// ("response_format", "tools", "tool_choice", "temperature" …).
	Unsupported string
	Err         error
}

func (e *Error) Error() string {
	s := fmt.Sprintf("model %s at %s: %s", e.Model, e.Endpoint, e.Kind)
	if e.Model == "" {
		s = fmt.Sprintf("model at %s: %s", e.Endpoint, e.Kind)
	}
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Retryable says whether the same call may succeed later.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case ErrUnreachable, ErrTimeout, ErrRateLimited, ErrServer, ErrCut, ErrMalformed:
		return true
	}
	return false
}

// Fault says how a run records the error: its kind, and what to do about it.
func (e *Error) Fault() (code, hint string) {
	switch e.Kind {
	case ErrUnreachable:
		hint = "check that " + e.Endpoint + " is up and that base_url and proxy are right"
	case ErrTimeout, ErrServer, ErrCut, ErrMalformed:
		hint = "the endpoint is in trouble: resume the run later, or use another model"
	case ErrRateLimited:
		hint = "the endpoint asks for fewer calls: resume the run later"
	case ErrAuth:
		hint = "the key is not accepted by " + e.Endpoint + ": check api_key"
	case ErrNoModel:
		hint = "`dossier models list` shows the models that the endpoint has"
	case ErrTooLong:
		hint = "ask a shorter question, or use a model with a larger context"
	case ErrQuota:
		hint = "the account at " + e.Endpoint + " is out of credit"
	}
	return string(e.Kind), hint
}

// KindOf returns the kind of the *Error in err's chain, or "".
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}
