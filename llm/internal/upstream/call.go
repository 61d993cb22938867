// Package upstream carries a provider's HTTP calls: time limits without a
// goroutine per call, pooled request bodies, and the translation of every
// failure into an *llm.Error that holds no key.
package upstream

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dossier/llm"
	"dossier/llm/internal/sse"
)

// Limits are the time limits of a call; a zero or negative one is none.
type Limits struct {
	FirstByte time.Duration // of a stream: until its first byte
	Idle      time.Duration // of a stream: between two pieces of the reply; signs of life are none
	Timeout   time.Duration // of any call, as a whole
}

// WithDefaults sets the limits that are 0.
func (l Limits) WithDefaults() Limits {
	l.FirstByte = cmp.Or(l.FirstByte, 30*time.Second)
	l.Idle = cmp.Or(l.Idle, time.Minute)
	l.Timeout = cmp.Or(l.Timeout, 10*time.Minute)
	return l
}

// afterEnd is how long a stream may stay open once the model's reply is
// complete, for the token counts and the end of the connection.
const afterEnd = 5 * time.Second

// Target is where calls of one sort go. It is built once and shared: nothing
// in it changes afterwards.
type Target struct {
	client  *http.Client
	request *http.Request
	limits  Limits
	secrets []string
}

// NewTarget prepares calls to base joined with path. Secrets are what must
// never show in an error.
func NewTarget(client *http.Client, method, base, path string, header http.Header, limits Limits, secrets ...string) (*Target, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("base URL: not an http or https URL; expected something like http://localhost:11434/v1")
	}
	if u.User != nil {
		if p, ok := u.User.Password(); ok {
			secrets = append(secrets, p)
		}
	}
	for _, values := range u.Query() {
		for _, v := range values {
			if len(v) >= 16 { // a key, not a version or a flag
				secrets = append(secrets, v)
			}
		}
	}
	if u.Path == "" {
		u.Path = "/" // JoinPath would leave the path relative
	}
	u = u.JoinPath(path)
	req := &http.Request{Method: method, URL: u, Host: u.Host, Header: header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	return &Target{client: client, request: req, limits: limits, secrets: secrets}, nil
}

// Credential says whether a header's name is that of a secret.
func Credential(header string) bool {
	header = strings.ToLower(header)
	for _, word := range []string{"key", "token", "auth", "secret", "cookie", "password"} {
		if strings.Contains(header, word) {
			return true
		}
	}
	return false
}

// With is the target with one header set to another value.
func (t *Target) With(name, value string, secrets ...string) *Target {
	n := *t
	r := *t.request
	r.Header = r.Header.Clone()
	r.Header.Set(name, value)
	n.request = &r
	n.secrets = slices.Concat(secrets, t.secrets)
	return &n
}

// Endpoint is the host that the target is on.
func (t *Target) Endpoint() string { return t.request.URL.Host }

// ReplyLimit is how long a call may take as a whole; 0 or less is no limit.
func (t *Target) ReplyLimit() time.Duration { return t.limits.Timeout }

// A body is held as long as its call, so it begins small.
var bodies = sync.Pool{New: func() any { b := make([]byte, 0, 1<<10); return &b }}

// Body returns an empty buffer to append a request to; Do takes it over.
func Body() *[]byte { return bodies.Get().(*[]byte) }

// Drop gives back a Body that no call took.
func Drop(b *[]byte) { *b = (*b)[:0]; bodies.Put(b) }

// Call is a call under way. Close it exactly once.
type Call struct {
	target *Target
	model  string
	parent context.Context
	cancel context.CancelFunc
	resp   *http.Response
	lines  *sse.Reader

	body    *[]byte
	reader  bytes.Reader
	trace   httptrace.ClientTrace
	readers atomic.Int32 // of the body that the transport was given
	written atomic.Int32 // of those, how many it is done with

	timer   *time.Timer
	stream  bool
	begun   bool // a byte came
	pieces  bool // only pieces of the reply count, not bytes
	begin   time.Time
	last    atomic.Int64 // time of the last byte, or piece, since begin
	limit   atomic.Int64 // how long after last the call is stalled; 0 is never
	expired atomic.Bool
	overdue atomic.Bool // expired as a whole
}

// Do sends body (nil for none) and waits for the reply's header. The status
// is 2xx when err is nil. stream chooses between the limits of streams and
// the one of whole calls.
func (t *Target) Do(ctx context.Context, model string, body *[]byte, stream bool) (*Call, error) {
	if err := ctx.Err(); err != nil {
		if body != nil {
			Drop(body)
		}
		return nil, err
	}
	c := &Call{target: t, model: model, parent: ctx, body: body, stream: stream}
	ctx, c.cancel = context.WithCancel(ctx)
	limit := max(0, t.limits.FirstByte)
	if !stream {
		limit = 0
	}
	if limit > 0 || t.limits.Timeout > 0 || stream && t.limits.Idle > 0 {
		c.begin = time.Now()
		c.limit.Store(int64(limit))
		// Armed only once c.timer is set: check uses it.
		c.timer = time.AfterFunc(time.Hour, c.check)
		c.timer.Reset(c.rest())
	}
	if body != nil {
		c.trace.WroteRequest = func(httptrace.WroteRequestInfo) { c.written.Add(1) }
		ctx = httptrace.WithClientTrace(ctx, &c.trace)
	}
	req := t.request.WithContext(ctx)
	if body != nil {
		c.reader.Reset(*body)
		c.readers.Add(1)
		req.Body = io.NopCloser(&c.reader)
		req.ContentLength = int64(len(*body))
		req.GetBody = func() (io.ReadCloser, error) {
			c.readers.Add(1)
			return io.NopCloser(bytes.NewReader(*c.body)), nil
		}
	}
	resp, err := t.client.Do(req)
	if err != nil {
		err = c.failure(err)
		c.Close()
		return nil, err
	}
	c.resp = resp
	c.lines = sse.NewReader(c)
	if resp.StatusCode/100 != 2 {
		err = c.refusal()
		c.Close()
		return nil, err
	}
	return c, nil
}

// check runs when a limit may have passed. Bytes only note their time; the
// timer is armed again here, so that a stream costs no timer work per chunk.
func (c *Call) check() {
	if rest := c.rest(); rest > 0 {
		c.timer.Reset(rest)
		return
	}
	c.overdue.Store(c.target.limits.Timeout > 0 && time.Since(c.begin) >= c.target.limits.Timeout)
	c.expired.Store(true)
	c.cancel()
}

// rest is the time until the call expires, unless something comes.
func (c *Call) rest() time.Duration {
	rest, now := time.Hour, time.Since(c.begin)
	if whole := c.target.limits.Timeout; whole > 0 {
		rest = whole - now
	}
	if limit := time.Duration(c.limit.Load()); limit > 0 {
		rest = min(rest, limit-(now-time.Duration(c.last.Load())))
	}
	return rest
}

// InPieces says that the body is a stream of events, of which only those count
// that bring the reply on: the transcript that the call gets tells them.
func (c *Call) InPieces() *Call {
	c.pieces = true
	return c
}

// piece notes that the reply came on.
func (c *Call) piece() {
	if c.timer != nil {
		c.last.Store(int64(time.Since(c.begin)))
	}
}

// Read reads the reply's body and notes that bytes came.
func (c *Call) Read(p []byte) (int, error) {
	n, err := c.resp.Body.Read(p)
	if c.stream && c.timer != nil && n > 0 {
		if !c.pieces {
			c.last.Store(int64(time.Since(c.begin)))
		}
		if !c.begun {
			c.begun = true
			c.first()
		}
	}
	return n, err
}

// first changes from the limit of the first byte to the one between bytes.
func (c *Call) first() {
	c.limit.Store(int64(max(0, c.target.limits.Idle)))
	c.timer.Reset(c.rest())
}

// Ending says that the model's reply is complete: what still follows may take
// only a short time.
func (c *Call) Ending() {
	if c.timer != nil && c.stream {
		idle := c.target.limits.Idle
		if idle <= 0 || idle > afterEnd {
			c.last.Store(int64(time.Since(c.begin)))
			c.limit.Store(int64(afterEnd))
			c.timer.Reset(c.rest())
		}
	}
}

// Drain reads the end of a finished stream, so that the connection can be
// used again, but doesn't wait for it for long.
func (c *Call) Drain() {
	stop := time.AfterFunc(200*time.Millisecond, c.cancel)
	defer stop.Stop()
	for {
		if _, err := c.lines.Next(); err != nil {
			return
		}
	}
}

// Lines reads the body as server-sent events or as a whole.
func (c *Call) Lines() *sse.Reader { return c.lines }

// Header is the reply's header.
func (c *Call) Header() http.Header { return c.resp.Header }

// Close frees what the call holds. What Lines returned is invalid then.
func (c *Call) Close() {
	if c.timer != nil {
		c.timer.Stop()
	}
	if c.resp != nil {
		c.resp.Body.Close()
		c.lines.Release()
	}
	c.cancel()
	// The transport may still read the body after it gave a reply, so the
	// buffer is used again only when it said that it is done.
	if c.body != nil && c.written.Load() == c.readers.Load() && cap(*c.body) <= 1<<20 {
		Drop(c.body)
	}
}

// failure translates an error of the transport before there was a reply.
func (c *Call) failure(err error) error {
	if c.parent.Err() != nil {
		return c.parent.Err()
	}
	if c.expired.Load() {
		if c.stream && !c.overdue.Load() {
			return c.Error(llm.ErrTimeout, "no answer within "+c.target.limits.FirstByte.String())
		}
		return c.Error(llm.ErrTimeout, "no answer within "+c.target.limits.Timeout.String())
	}
	// url.Error repeats the whole URL, which may carry a key.
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	kind := llm.ErrUnreachable
	var te interface{ Timeout() bool }
	var op *net.OpError
	if errors.As(err, &te) && te.Timeout() && !(errors.As(err, &op) && op.Op == "dial") {
		kind = llm.ErrTimeout
	}
	message := err.Error()
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		message += "; if this authority is to be trusted, configure its certificate as CA file"
	}
	return c.Error(kind, message)
}

// ReadError translates an error while the reply was being read.
func (c *Call) ReadError(err error) error {
	switch {
	case c.parent.Err() != nil:
		return c.parent.Err()
	case c.overdue.Load():
		return c.Error(llm.ErrTimeout, "no whole answer within "+c.target.limits.Timeout.String())
	case c.expired.Load() && c.stream:
		if !c.begun {
			return c.Error(llm.ErrTimeout, "no answer within "+c.target.limits.FirstByte.String())
		}
		return c.Error(llm.ErrTimeout, "the stream stood still for "+time.Duration(c.limit.Load()).String())
	case c.expired.Load():
		return c.Error(llm.ErrTimeout, "no answer within "+c.target.limits.Timeout.String())
	case errors.Is(err, sse.ErrTooLarge):
		return c.Error(llm.ErrMalformed, "the reply is larger than any reply of a model")
	case err == io.EOF:
		return c.Error(llm.ErrCut, "the stream ended before the model finished")
	}
	return c.Error(llm.ErrCut, err.Error())
}

// NotOurs explains a reply that is not in the provider's format.
func (c *Call) NotOurs(body []byte) error {
	text := strings.TrimSpace(string(body[:min(len(body), 200)]))
	switch {
	case text == "":
		return c.Error(llm.ErrMalformed, "the endpoint answered with nothing")
	case text[0] == '<':
		return c.Error(llm.ErrMalformed, "the endpoint answered with a web page instead of JSON; check the base URL")
	}
	return c.Error(llm.ErrMalformed, "the endpoint's answer is not the expected JSON: "+strings.ToValidUTF8(text, ""))
}

// Error makes an *llm.Error of this call.
func (c *Call) Error(kind llm.ErrorKind, message string) *llm.Error {
	e := &llm.Error{Kind: kind, Endpoint: c.target.Endpoint(), Model: c.model, Message: c.target.Clean(message)}
	if c.resp != nil && c.resp.StatusCode/100 != 2 {
		e.Status = c.resp.StatusCode
	}
	return e
}

// Alive says that nobody cancelled the call from outside.
func (c *Call) Alive() bool { return c.parent.Err() == nil }
