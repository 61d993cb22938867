package server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dossier"
	"dossier/internal/access"
	"dossier/run"
)

// counting is an engine that counts the runs which are started.
type counting struct {
	PublicEngine
	started int
}

func (c *counting) Start(context.Context, dossier.Request) (run.Record, error) {
	c.started++
	return run.Record{ID: "r1"}, nil
}

func (c *counting) Authenticate(context.Context, string) (access.Caller, error) {
	return access.Caller{}, access.ErrRefused
}

// pipes is a listener to which one connects without a network, so that time passes
// as a test wants it.
type pipes struct {
	dials chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.dials:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// trickled sends a text and then byte after byte of the rest, until the server closes
// the connection or a reply has come. It returns the status of that, 0 for none, and
// how long it took.
func trickled(t *testing.T, o Options, head string, rest byte, every, most time.Duration) (status int, took time.Duration, engine *counting) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		engine = &counting{}
		o.Engine = engine
		l := &pipes{dials: make(chan net.Conn), done: make(chan struct{})}
		p := newPublic(o).serve(l)
		near, far := net.Pipe()
		l.dials <- far
		began := time.Now()
		var sending sync.WaitGroup
		defer sending.Wait()
		sending.Go(func() {
			if _, err := io.WriteString(near, head); err != nil {
				return
			}
			for time.Since(began) < most {
				time.Sleep(every)
				if _, err := near.Write([]byte{rest}); err != nil {
					return
				}
			}
			_ = near.Close()
		})
		in := bufio.NewReader(near)
		if resp, err := http.ReadResponse(in, nil); err == nil {
			status = resp.StatusCode
			_, _ = io.Copy(io.Discard, resp.Body)
		}
		_, err := in.ReadByte() // the server closes it
		if took = time.Since(began); err == nil || errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the connection stays: %v", err)
		}
		_ = near.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return status, took, engine
}

// Who sends a request byte by byte holds a connection for a bounded time and nothing
// else, whether or not anybody reads what they send.
func TestSlowLoris(t *testing.T) {
	const long = 10 * time.Minute
	post := "POST /api/runs HTTP/1.1\r\nHost: localhost\r\n"
	for name, c := range map[string]struct {
		o      Options
		head   string
		rest   byte
		status int
		within time.Duration
	}{
		"the head":            {head: "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", rest: 'x', within: headerTimeout},
		"the body":            {head: post + "Content-Length: 1000\r\n\r\n{", rest: ' ', status: http.StatusRequestTimeout, within: bodyTimeout},
		"a body in chunks":    {head: post + "Transfer-Encoding: chunked\r\n\r\n", rest: '0', status: http.StatusRequestTimeout, within: bodyTimeout},
		"a body for nobody":   {head: "POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{", rest: ' ', status: http.StatusNotFound, within: bodyTimeout},
		"a body of no caller": {o: Options{Access: Access{Required: true}}, head: post + "Content-Length: 1000\r\n\r\n{", rest: ' ', status: http.StatusUnauthorized, within: bodyTimeout},
		"a large one":         {o: Options{Access: Access{Required: true}}, head: post + "Content-Length: 100000000\r\n\r\n{", rest: ' ', status: http.StatusUnauthorized, within: bodyTimeout},
	} {
		status, took, engine := trickled(t, c.o, c.head, c.rest, time.Second, long)
		if status != c.status || took > c.within+10*time.Second || engine.started != 0 {
			t.Errorf("%s: status %d after %v, %d runs", name, status, took, engine.started)
		}
	}
}

// A body that is sent when it is asked for is not asked for where nobody wants it.
func TestBodyThatNobodyWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{dials: make(chan net.Conn), done: make(chan struct{})}
		p := newPublic(Options{Engine: &counting{}, Access: Access{Required: true}}).serve(l)
		near, far := net.Pipe()
		l.dials <- far
		go func() {
			_, _ = io.WriteString(near, "POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n")
		}()
		said, err := io.ReadAll(near)
		if err != nil || !strings.HasPrefix(string(said), "HTTP/1.1 401") {
			t.Errorf("%q, %v", said, err)
		}
		_ = near.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A connection to which nothing comes is closed after a while.
func TestIdleConnectionsAreClosed(t *testing.T) {
	_, took, _ := trickled(t, Options{}, "", '\n', time.Hour, time.Hour)
	if took > idleTimeout+time.Second {
		t.Errorf("after %v", took)
	}
	status, took, _ := trickled(t, Options{}, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", '\n', 2*idleTimeout, time.Hour)
	if status != http.StatusOK || took > idleTimeout+time.Second {
		t.Errorf("after a request: %d, %v", status, took)
	}
}
