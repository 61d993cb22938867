package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// mostReply bounds the bytes of a reply.
	mostReply = 8 << 20
	// mostDetail bounds what is repeated of a reply in an error.
	mostDetail = 200
)

// Call makes a request of an engine and returns the body of a reply that
// succeeded. Every other outcome is an *Error with its reason, or ctx's error.
// The error repeats nothing of the request, which may carry a key.
func Call(ctx context.Context, client *http.Client, engine string, req *http.Request) ([]byte, error) {
	fail := func(reason Reason, status int, detail string, err error) error {
		return &Error{Engine: engine, Reason: reason, Status: status, Detail: detail, Err: err}
	}
	resp, err := client.Do(req.WithContext(ctx))
	if err != nil {
		if ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			return nil, context.Cause(ctx)
		}
		reason, detail := network(err)
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // it repeats the address, which may carry a key
		}
		return nil, fail(reason, 0, detail, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostReply+1))
	switch {
	case err != nil && ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return nil, context.Cause(ctx)
	case err != nil:
		reason, detail := network(err)
		return nil, fail(reason, resp.StatusCode, detail, err)
	case len(body) > mostReply:
		return nil, fail(Malformed, resp.StatusCode, fmt.Sprintf("the reply is longer than %d MiB", mostReply>>20), nil)
	}
	if resp.StatusCode/100 == 2 {
		if resp.StatusCode != http.StatusOK && robotCheck(body) {
			return nil, fail(Blocked, resp.StatusCode, "it asks to prove that we are human", nil)
		}
		return body, nil
	}
	e := &Error{Engine: engine, Reason: reasonFor(resp.StatusCode, body), Status: resp.StatusCode, Detail: said(body)}
	e.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), time.Now())
	return nil, e
}

// Decode reads a reply that has to be JSON. A page instead of it is a block or
// a fault of the service, and never taken for an empty result.
func Decode(engine string, body []byte, v any) error {
	err := json.Unmarshal(body, v)
	if err == nil {
		return nil
	}
	e := &Error{Engine: engine, Reason: Malformed, Detail: "the reply is not the JSON that it documents", Err: err}
	if at := bytes.TrimSpace(body); len(at) > 0 && at[0] == '<' {
		e.Detail = "it sent a page instead of results"
		if robotCheck(body) {
			e.Reason, e.Detail = Blocked, "it asks to prove that we are human"
		}
	}
	return e
}

// Missing is the error for a reply without the part that holds the results.
func Missing(engine, part string) error {
	return &Error{Engine: engine, Reason: Malformed, Detail: "the reply has no " + part}
}

func reasonFor(status int, body []byte) Reason {
	switch {
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired:
		return Unauthorized
	case status == http.StatusForbidden:
		if robotCheck(body) {
			return Blocked
		}
		if text := strings.ToLower(string(body[:min(len(body), 2000)])); strings.Contains(text, "rate limit") {
			return RateLimited
		}
		return Blocked
	case status >= 500:
		return Unavailable
	}
	return Rejected
}

// robotCheck says whether a page wants proof that a person is there.
func robotCheck(body []byte) bool {
	text := bytes.ToLower(body[:min(len(body), 200_000)])
	for _, sign := range []string{"captcha", "anomaly-modal", "unusual traffic", "are you a robot", "not a robot", "cf-challenge", "challenge-platform"} {
		if bytes.Contains(text, []byte(sign)) {
			return true
		}
	}
	return false
}

// said is the message in the body of an error, or nothing if it is a page.
func said(body []byte) string {
	var known struct {
		Message string          `json:"message"`
		Msg     string          `json:"msg"`
		Error   json.RawMessage `json:"error"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &known) != nil {
		return ""
	}
	for _, text := range []string{known.Message, known.Msg, text(known.Error), text(known.Detail)} {
		if text != "" {
			return short(text)
		}
	}
	return ""
}

// text is the message in a JSON value: the value, or one of its fields.
func text(raw json.RawMessage) string {
	var plain string
	if json.Unmarshal(raw, &plain) == nil {
		return plain
	}
	var object struct {
		Message string `json:"message"`
		Error   string `json:"error"`
		Detail  string `json:"detail"`
	}
	_ = json.Unmarshal(raw, &object)
	return object.Message + object.Error + object.Detail
}

func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > mostDetail {
		return string(runes[:mostDetail-1]) + "…"
	}
	return text
}

// network is what went wrong below HTTP, without the address, which may carry
// a key.
func network(err error) (Reason, string) {
	var timeout interface{ Timeout() bool }
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return TooSlow, "it did not answer in time"
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return Unreachable, "its name " + strconv.Quote(dns.Name) + " could not be resolved"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return Unreachable, op.Op + ": " + op.Err.Error()
	}
	return Unreachable, "the connection failed"
}

// mostRetryAfter bounds what one reply can ask for.
const mostRetryAfter = 24 * time.Hour

// retryAfter reads the header, which is seconds or a date.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if n, err := strconv.Atoi(value); err == nil {
		return time.Duration(max(0, min(n, int(mostRetryAfter/time.Second)))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, min(at.Sub(now), mostRetryAfter))
	}
	return 0
}
