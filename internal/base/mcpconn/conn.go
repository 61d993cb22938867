// Package mcpconn keeps connections to MCP servers: one that is started as a
// program, or one that is reached over HTTP. A connection is made when it is
// first needed, shared by all who ask, and made anew when it was lost.
//
// A server gets no sampling, no questions to the user and no folders. A program
// gets nothing of our environment but what programs need to run, is the head of
// a process group of its own, and is gone with all of its group when the
// connection is.
package mcpconn

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// ConnectTime is how long a server may take to start, which for a program
	// that is fetched first is long.
	ConnectTime = time.Minute
	// MostReply bounds a message of a server, in bytes.
	MostReply = 8 << 20
	// mostRest is the longest time that a server which fails is left alone.
	mostRest = time.Minute
)

// Server is how a server is reached: Command is a program that speaks over its
// standard input and output; URL is an address, used when Command is empty.
type Server struct {
	Command string
	Args    []string
	Env     map[string]string

	URL     string
	Headers map[string]string
}

// Options of a connection. T is what is known of a server once it is connected.
type Options[T any] struct {
	HTTP *http.Client // for servers over HTTP
	// Connect bounds the time of the handshake; 0 is ConnectTime.
	Connect time.Duration
	// Greet is called with each new session, within the time of the handshake.
	// Its error ends the session.
	Greet func(context.Context, *mcp.ClientSession) (T, error)
	// ToolsChanged is called when a server says that its tools are others now.
	// Without it a server over HTTP is not listened to between calls.
	ToolsChanged func()
	// Rest is how long a server that failed twice in a row is left alone; each
	// further failure doubles it, up to a minute. 0 never rests.
	Rest time.Duration
	// Transport replaces the way in which the server is reached.
	Transport func() mcp.Transport
}

// ErrClosed is the error of whoever asks after Close.
var ErrClosed = errors.New("the connection was closed")

// Failure says why a server could not be connected.
type Failure struct {
	Err    error  // of the SDK, of Greet, or the context's
	Seen   Seen   // of the HTTP below it
	Stderr string // the last lines of a program
}

// Error leaves out what addresses, and keys in them, could be in.
func (f *Failure) Error() string { return "the server could not be connected" }

func (f *Failure) Unwrap() error { return f.Err }

// Resting says that a server which failed several times is left alone.
type Resting struct {
	For time.Duration // that it still rests
	Err error         // its last failure, which may be nil
}

func (r *Resting) Error() string {
	return fmt.Sprintf("the server failed several times and is tried again in %s", max(r.For.Round(time.Second), time.Second))
}

func (r *Resting) Unwrap() error { return r.Err }

// Conn is a connection to a server, safe for concurrent use.
type Conn[T any] struct {
	options Options[T]
	client  *mcp.Client
	dial    func() mcp.Transport
	life    context.Context // of programs, and of requests that nobody waits for
	end     context.CancelFunc

	mu       sync.Mutex
	current  *flight[T] // nil when the next one has to connect
	closed   bool
	failures int       // in a row
	rests    time.Time // until then
	last     error
	ending   sync.WaitGroup // sessions that are watched or being taken down
}

// flight is a session, or one that is being made.
type flight[T any] struct {
	ready   chan struct{} // closed when the rest is set
	stop    context.CancelFunc
	session *Session[T]
	err     error
}

// Session is a session with a server.
type Session[T any] struct {
	*mcp.ClientSession

	// Known is what Greet returned.
	Known T

	flight  *flight[T]
	program *program // nil over HTTP
}

// Stderr returns the last lines that a program wrote to its standard error.
func (s *Session[T]) Stderr() string { return s.program.said() }

// TooLong says that the session ended because a program said more than
// MostReply at once. Over HTTP a call's Seen tells.
func (s *Session[T]) TooLong() bool { return s.program != nil && s.program.long.Load() }

// Kill ends a program at once, for one that would not hear anything else.
func (s *Session[T]) Kill() {
	if s.program == nil {
		return
	}
	select {
	case <-s.program.done: // its number may be another's by now
	default:
		killGroup(s.program.command.Process)
	}
}

// New prepares a connection. When ctx ends, its program is killed.
func New[T any](ctx context.Context, s Server, o Options[T]) *Conn[T] {
	if o.Connect == 0 {
		o.Connect = ConnectTime
	}
	c := &Conn[T]{options: o, dial: o.Transport}
	options := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	if o.ToolsChanged != nil {
		options.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { o.ToolsChanged() }
	}
	c.client = mcp.NewClient(&mcp.Implementation{Name: "dossier", Version: "1"}, options)
	c.life, c.end = within(ctx, 0)
	switch {
	case c.dial != nil:
	case s.Command != "":
		c.dial = func() mcp.Transport { return &program{life: c.life, server: s, done: make(chan struct{})} }
	default:
		client := watch(c.life, o.HTTP, s)
		c.dial = func() mcp.Transport {
			return &mcp.StreamableClientTransport{
				Endpoint: s.URL, HTTPClient: client, MaxRetries: -1, MaxEventSize: MostReply,
				DisableStandaloneSSE: o.ToolsChanged == nil,
			}
		}
	}
	return c
}

// within is a context with a time limit, if there is one.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// Session returns the session, and whether it was made for this call. Who asks
// may leave before a server has started: it goes on starting for the next one.
// The error is the context's own, ErrClosed, a *Resting or a *Failure.
func (c *Conn[T]) Session(ctx context.Context) (s *Session[T], fresh bool, err error) {
	c.mu.Lock()
	f := c.current
	if f == nil {
		if c.closed || c.life.Err() != nil {
			c.mu.Unlock()
			return nil, false, ErrClosed
		}
		if rest := time.Until(c.rests); rest > 0 {
			err := &Resting{For: rest, Err: c.last}
			c.mu.Unlock()
			return nil, false, err
		}
		fresh = true
		connecting, stop := within(context.WithoutCancel(ctx), c.options.Connect)
		f = &flight[T]{ready: make(chan struct{}), stop: stop}
		c.current = f
		go c.connect(connecting, f)
	}
	c.mu.Unlock()
	select {
	case <-f.ready:
		return f.session, fresh, f.err
	case <-ctx.Done():
		return nil, fresh, context.Cause(ctx)
	}
}

func (c *Conn[T]) connect(ctx context.Context, f *flight[T]) {
	defer close(f.ready)
	defer f.stop()
	defer context.AfterFunc(c.life, f.stop)()
	ctx, seen := Watch(ctx)
	transport := c.dial()
	s := &Session[T]{flight: f}
	s.program, _ = transport.(*program)
	var err error
	if s.ClientSession, err = c.client.Connect(ctx, transport, nil); err == nil && c.options.Greet != nil {
		s.Known, err = c.options.Greet(ctx, s.ClientSession)
	}
	if err == nil && c.watch(s) {
		f.session = s
		return
	}
	failure := &Failure{Err: err, Seen: seen.Seen(), Stderr: s.program.said()}
	if ctx.Err() != nil {
		failure.Err = context.Cause(ctx)
	}
	f.err = failure
	if s.ClientSession != nil {
		_ = s.Close()
	}
	s.program.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.life.Err() != nil {
		f.err = ErrClosed
	}
	c.forget(f)
	c.failed(f.err)
}

// watch notices when a session ends by itself. It returns false when the
// connection was closed meanwhile.
func (c *Conn[T]) watch(s *Session[T]) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.ending.Go(func() {
		_ = s.Wait()
		c.mu.Lock()
		c.forget(s.flight)
		c.mu.Unlock()
		_ = s.Close()
		s.program.close()
	})
	return true
}

// forget lets the next one connect anew.
func (c *Conn[T]) forget(f *flight[T]) {
	if c.current == f {
		c.current = nil
	}
}

// failed counts a failure.
func (c *Conn[T]) failed(err error) {
	c.last = err
	c.failures++
	if c.options.Rest > 0 && c.failures > 1 {
		c.rests = time.Now().Add(min(c.options.Rest<<min(c.failures-2, 16), mostRest))
	}
}

// Works says that the server answered.
func (c *Conn[T]) Works() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures, c.rests, c.last = 0, time.Time{}, nil
}

// Lost gives a session up, without waiting for the server to end.
func (c *Conn[T]) Lost(s *Session[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == s.flight || c.current == nil {
		c.failed(nil)
	}
	c.forget(s.flight)
	if !c.closed {
		c.ending.Go(func() { _ = s.Close() })
	}
}

// Close ends the session, and the program that was started, and waits for that.
func (c *Conn[T]) Close() error {
	c.mu.Lock()
	f := c.current
	c.current, c.closed = nil, true
	c.mu.Unlock()
	var err error
	if f != nil {
		select {
		case <-f.ready:
		default:
			f.stop()
			c.end()
			<-f.ready
		}
		if f.err == nil {
			err = f.session.Close()
		}
	}
	c.end()
	c.ending.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); ok || c.life.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // programs that are told to end say what they like
	}
	return err
}
