package search

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
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
	// userAgent names us to services, several of which turn away those who
	// don't say who they are.
	userAgent = "Dossier/1 (research assistant; asks what its user asked for)"

	humanWanted = "it asks to prove that we are human"
)

// Call makes a request of an engine and returns the body of a reply that
// succeeded. Every other outcome is an *Error with its reason, or ctx's error.
// The error repeats nothing of the request, which may carry a key. A request
// without a User-Agent is given ours.
func Call(ctx context.Context, client *http.Client, engine string, req *http.Request) ([]byte, error) {
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", userAgent)
	}
	resp, err := client.Do(req.WithContext(ctx))
	if err != nil {
		return nil, Broken(ctx, engine, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostReply+1))
	switch {
	case err != nil:
		return nil, Broken(ctx, engine, err)
	case len(body) > mostReply:
		return nil, &Error{Engine: engine, Reason: Malformed, Status: resp.StatusCode, Detail: fmt.Sprintf("the reply is longer than %d MiB", mostReply>>20)}
	case resp.StatusCode/100 != 2:
		return nil, Refusal(engine, resp, body)
	case resp.StatusCode != http.StatusOK && robotCheck(body):
		return nil, &Error{Engine: engine, Reason: Blocked, Status: resp.StatusCode, Detail: humanWanted}
	}
	return body, nil
}

// Refusal is the error for a reply that is no success, with its body.
func Refusal(engine string, resp *http.Response, body []byte) *Error {
	e := &Error{Engine: engine, Reason: reasonFor(resp.StatusCode, body), Status: resp.StatusCode, Detail: said(body)}
	e.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), time.Now())
	usedUp(e, resp.Header, time.Now())
	return e
}

// Broken is the error for a request that err kept from being answered: ctx's
// own if it was cancelled, which is no fault of the engine.
func Broken(ctx context.Context, engine string, err error) error {
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	reason, detail := network(err)
	if address, ok := errors.AsType[*url.Error](err); ok {
		err = address.Err // the address may carry a key
	}
	return &Error{Engine: engine, Reason: reason, Detail: detail, Err: err}
}

// Decode reads a reply that has to be JSON. A page instead of it is a block or
// a fault of the service, and never taken for an empty result.
func Decode(engine string, body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return Unexpected(engine, body, err)
	}
	return nil
}

// DecodeXML reads a reply that has to be XML with the root that v names, as
// Decode does for JSON.
func DecodeXML(engine string, body []byte, v any) error {
	if err := xml.Unmarshal(body, v); err != nil {
		return Unexpected(engine, body, err)
	}
	return nil
}

// Unexpected is the error for a reply that holds no results and does not say
// that there are none: a block where it asks for proof that a person is there.
// err is what was wrong with it, if that is known.
func Unexpected(engine string, body []byte, err error) error {
	e := &Error{Engine: engine, Reason: Malformed, Detail: "the reply is not what it documents", Err: err}
	if at := bytes.TrimSpace(body); bytes.HasPrefix(at, []byte("<")) && !bytes.HasPrefix(at, []byte("<?xml")) {
		e.Detail = "it sent a page instead of results"
		if robotCheck(body) {
			e.Reason, e.Detail = Blocked, humanWanted
		}
	}
	return e
}

// Missing is the error for a reply without the part that holds the results.
func Missing(engine, part string) error {
	return &Error{Engine: engine, Reason: Malformed, Detail: "the reply has no " + part}
}

// NoKey is the error of an engine that can't search without a key.
func NoKey(engine string) error {
	return &Error{Engine: engine, Reason: Unauthorized, Detail: "it needs a key"}
}

// BadAddress is the error of an engine whose configured address is no URL. It
// does not repeat the address, which may hold a password.
func BadAddress(engine string) error {
	return &Error{Engine: engine, Reason: Unreachable, Detail: "its address is not a valid URL"}
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

// usedUp reads the headers with which services count down to their limit. The
// count at 0 makes a refusal a rate limit, whatever its status. The reset is
// a time in seconds since 1970, or from now.
func usedUp(e *Error, h http.Header, now time.Time) {
	if e.Status != http.StatusForbidden && e.Status != http.StatusTooManyRequests || h.Get("X-RateLimit-Remaining") != "0" {
		return
	}
	e.Reason = RateLimited
	reset, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || e.RetryAfter > 0 {
		return
	}
	const since1970 = 1_000_000_000 // no service counts that many seconds from now
	wait := time.Duration(min(reset, 86400)) * time.Second
	if reset > since1970 {
		wait = time.Unix(reset, 0).Sub(now)
	}
	e.RetryAfter = min(max(0, wait), 24*time.Hour)
}
