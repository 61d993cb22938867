package mcpconn

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// headTime is how long a server may take to begin an answer for which nobody
// waits with a limit of his own.
const headTime = 20 * time.Second

// Seen is what was seen of the HTTP below a call, since the SDK's errors don't
// tell.
type Seen struct {
	// Answered says that a reply began, with a success.
	Answered bool
	// Response was no success, or a page instead of a message; Body is its own.
	Response *http.Response
	Body     []byte
	// Err is what broke the connection, ErrTooLong among others.
	Err error
}

// Report gathers what is seen.
type Report struct {
	mu   sync.Mutex
	seen Seen
}

type reportKey struct{}

// Watch makes a context for a call, and what will be seen of it.
func Watch(ctx context.Context) (context.Context, *Report) {
	r := &Report{}
	return context.WithValue(ctx, reportKey{}, r), r
}

// Seen returns what was seen last.
func (r *Report) Seen() Seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen
}

func (r *Report) set(seen Seen) {
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seen = seen
	}
}

// watcher adds the configured headers to requests, to the configured host only,
// reports what comes back, and breaks off what is under way when life ends: the
// SDK tells servers of what was cancelled without anybody waiting for it.
type watcher struct {
	life    context.Context
	next    http.RoundTripper
	host    string
	headers map[string]string
}

func watch(life context.Context, client *http.Client, s Server) *http.Client {
	if client == nil {
		client = &http.Client{}
	}
	own := *client
	w := &watcher{life: life, next: cmp.Or[http.RoundTripper](client.Transport, http.DefaultTransport), headers: s.Headers}
	if u, err := url.Parse(s.URL); err == nil {
		w.host = u.Host
	}
	own.Transport = w
	return &own
}

func (w *watcher) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(w.life, cancel)
	over := func() {
		stop()
		cancel()
	}
	began := func() bool { return true }
	if req.Method == http.MethodDelete { // taking leave; the answer is of no use
		began = time.AfterFunc(endTime, cancel).Stop
	} else if _, limited := ctx.Deadline(); !limited {
		began = time.AfterFunc(headTime, cancel).Stop
	}
	seen, _ := ctx.Value(reportKey{}).(*Report)
	req = req.Clone(ctx)
	if req.URL.Host == w.host {
		for name, value := range w.headers {
			req.Header.Set(name, value)
		}
	}
	listening := req.Method == http.MethodGet
	resp, err := w.next.RoundTrip(req)
	began()
	if listening {
		return w.listen(ctx, over, req, resp, err)
	}
	if err != nil {
		over()
		seen.set(Seen{Err: err})
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode/100 == 2 && !strings.HasPrefix(kind, "text/html") {
		seen.set(Seen{Answered: true})
		resp.Body = &body{ReadCloser: resp.Body, over: over, seen: seen, left: MostReply}
		return resp, nil
	}
	defer over()
	said, err := io.ReadAll(io.LimitReader(resp.Body, MostReply))
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(said))
	seen.set(Seen{Response: resp, Body: said, Err: err})
	return resp, nil
}

// listen turns the stream of what a server says unasked into something that a
// session can do without: where there is none the SDK is told so, and one that
// ends stays silent, while for the SDK its end is that of the session.
func (w *watcher) listen(ctx context.Context, over func(), req *http.Request, resp *http.Response, err error) (*http.Response, error) {
	if err == nil {
		kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
		if resp.StatusCode == http.StatusOK && kind == "text/event-stream" {
			resp.Body = &silent{ReadCloser: resp.Body, over: over, ended: ctx.Done()}
			return resp, nil
		}
		_ = resp.Body.Close()
	}
	over()
	return &http.Response{
		Status: "405 Method Not Allowed", StatusCode: http.StatusMethodNotAllowed,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody, Request: req,
	}, nil
}

// body is that of a reply.
type body struct {
	io.ReadCloser

	over func()
	seen *Report
	left int
}

func (b *body) Close() error {
	defer b.over()
	return b.ReadCloser.Close()
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.seen.set(Seen{Err: ErrTooLong})
		return 0, ErrTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	if err != nil && !errors.Is(err, io.EOF) {
		b.seen.set(Seen{Err: err})
	}
	return n, err
}

// silent is a stream that ends only with the connection.
type silent struct {
	io.ReadCloser

	over  func()
	ended <-chan struct{}
}

func (s *silent) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if n > 0 || err == nil {
		return n, nil
	}
	<-s.ended
	return 0, err
}

func (s *silent) Close() error {
	defer s.over()
	return s.ReadCloser.Close()
}
