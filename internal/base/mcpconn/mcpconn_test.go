package mcpconn

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type deadTransport struct{}

var errDead = errors.New("nobody is there")

func (deadTransport) Connect(context.Context) (mcp.Connection, error) { return nil, errDead }

// inMemory connects to a server in this process.
func inMemory(t *testing.T, s *mcp.Server) mcp.Transport {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := s.Connect(context.WithoutCancel(t.Context()), theirs, nil); err != nil {
		t.Error(err)
	}
	return ours
}

func newServer() *mcp.Server {
	return mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
}

// A server that fails is left alone for longer and longer, and no longer once
// it works.
func TestRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dials int
		dead := true
		c := New(t.Context(), Server{}, Options[int]{Rest: time.Second, Transport: func() mcp.Transport {
			dials++
			if dead {
				return deadTransport{}
			}
			return inMemory(t, newServer())
		}})
		fails := func(want int) {
			t.Helper()
			_, _, err := c.Session(t.Context())
			if _, resting := errors.AsType[*Resting](err); !errors.Is(err, errDead) || dials != want {
				t.Errorf("%v (resting: %v) after %d tries, not %d", err, resting, dials, want)
			}
		}
		fails(1)
		fails(2) // the first failure may be an accident
		fails(2)
		time.Sleep(time.Second)
		fails(3)
		time.Sleep(time.Second)
		fails(3)
		time.Sleep(time.Second)
		fails(4)
		for range 100 {
			time.Sleep(mostRest)
			fails(dials + 1)
		}
		dead = false
		time.Sleep(mostRest)
		s, fresh, err := c.Session(t.Context())
		if err != nil || !fresh {
			t.Fatal(err)
		}
		c.Works()
		c.Lost(s)
		if _, fresh, err = c.Session(t.Context()); err != nil || !fresh {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if _, _, err := c.Session(t.Context()); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
}

// A server that does not shake hands is given up after its time, and whoever is
// in more of a hurry leaves earlier.
func TestHandshakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		c := New(t.Context(), Server{}, Options[int]{Connect: 10 * time.Second, Transport: func() mcp.Transport {
			return &mcp.IOTransport{Reader: in, Writer: nothing{}}
		}})
		defer out.Close()
		hurry, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, _, err := c.Session(hurry); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Error(err, time.Since(began))
		}
		_, _, err := c.Session(t.Context())
		if f, ok := errors.AsType[*Failure](err); !ok || !errors.Is(f.Err, context.DeadlineExceeded) || time.Since(began) != 10*time.Second {
			t.Error(err, time.Since(began))
		}
		_ = c.Close()
	})
}

type nothing struct{}

func (nothing) Write(p []byte) (int, error) { return len(p), nil }
func (nothing) Close() error                { return nil }

// A session that the other side ends is forgotten without anybody asking.
func TestNoticesTheEnd(t *testing.T) {
	var last *mcp.ServerSession
	var dials atomic.Int32
	c := New(t.Context(), Server{}, Options[int]{Transport: func() mcp.Transport {
		dials.Add(1)
		ours, theirs := mcp.NewInMemoryTransports()
		session, err := newServer().Connect(context.WithoutCancel(t.Context()), theirs, nil)
		if err != nil {
			t.Error(err)
		}
		last = session
		return ours
	}})
	s, _, err := c.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = last.Close()
	_ = s.Wait()
	for {
		again, _, err := c.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if again != s {
			break
		}
	}
	if dials.Load() != 2 {
		t.Error(dials.Load())
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// The stream of what a server says unasked is no condition: a server that has
// none, refuses it, or ends it, works all the same.
func TestListeningIsOptional(t *testing.T) {
	for name, listen := range map[string]http.HandlerFunc{
		"refused": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) },
		"a page":  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"ended": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
		},
		"broken": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer()
			inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					listen(w, r)
					return
				}
				inner.ServeHTTP(w, r)
			}))
			defer h.Close()
			c := New(t.Context(), Server{URL: h.URL}, Options[int]{HTTP: h.Client(), ToolsChanged: func() {}})
			first, _, err := c.Session(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				session, _, err := c.Session(t.Context())
				if err != nil || session != first {
					t.Fatal(err, session)
				}
				if _, err := session.ListTools(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTail(t *testing.T) {
	var kept tail
	for range 1000 {
		_, _ = kept.Write([]byte("a line of a server that talks a lot\n"))
	}
	_, _ = kept.Write([]byte("the last one"))
	got := kept.String()
	if len(got) > mostTail || !strings.HasPrefix(got, "a line") || !strings.HasSuffix(got, "\nthe last one") {
		t.Errorf("%d bytes: %.100q", len(got), got)
	}
}

// Whatever the pieces in which it comes, messages stay and the rest is kept with
// the errors.
func TestSift(t *testing.T) {
	const said = "Welcome!\n\n  {\"a\":1}\r\nlistening on {stdio}\n[{\"b\":2}]\n{\"c\":\"x\"}"
	for size := 1; size <= len(said); size++ {
		r := reader{&program{}}
		var kept []byte
		for piece := range slices.Chunk([]byte(said), size) {
			piece = slices.Clone(piece)
			kept = append(kept, piece[:r.sift(piece)]...)
		}
		if got := string(kept); got != "{\"a\":1}\r\n[{\"b\":2}]\n{\"c\":\"x\"}" {
			t.Errorf("in pieces of %d: %q", size, got)
		}
		if got := r.said(); got != "Welcome!\nlistening on {stdio}" {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
}
