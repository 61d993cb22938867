package a2atool

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/url"
)

// mostReply bounds a reply, in bytes, whether it is one message or a stream.
const mostReply = 16 << 20

var (
	errElsewhere = errors.New("it sent us to another host")
	errTooLong   = errors.New("its reply is too long")
)

// guard adds the configured headers to requests to the configured host, lets
// none go elsewhere, and bounds what comes back.
type guard struct {
	next    http.RoundTripper
	base    *url.URL
	headers map[string]string
}

func guarded(client *http.Client, base *url.URL, headers map[string]string) *http.Client {
	own := *client
	own.Transport = &guard{next: cmp.Or[http.RoundTripper](client.Transport, http.DefaultTransport), base: base, headers: headers}
	own.Timeout = 0 // tasks have time limits of their own
	return &own
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != g.base.Host || req.URL.Scheme != g.base.Scheme {
		return nil, errElsewhere
	}
	req = req.Clone(req.Context())
	for name, value := range g.headers {
		req.Header.Set(name, value)
	}
	resp, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &bounded{ReadCloser: resp.Body, left: mostReply}
	return resp, nil
}

type bounded struct {
	io.ReadCloser

	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
