package llmtest

import (
	"context"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// dialect is one service's form of requests and replies.
type dialect interface {
	name() string
	key(http.Header) string
	// parse fills in a chat request.
	parse(body []byte, q *Request) error
	whole(*output) []byte
	// frames are the events of a stream, with text in pieces of size runes.
	frames(o *output, size int) iter.Seq[frame]
	errorBody(*refusal) []byte
	// errorFrame is an error in the middle of a stream.
	errorFrame(*refusal) frame
}

// embedder is a dialect with embeddings.
type embedder interface {
	dialect
	parseEmbeddings(body []byte, q *Request) error
	embeddings(q *Request, vectors [][]float32) []byte
}

// frame is one server-sent event.
type frame struct {
	event string
	data  []byte
	// piece marks a piece of the reply, end what comes after the last piece.
	piece, end bool
}

// transfer sends one reply, and fails on the way as the fault says.
type transfer struct {
	*Server
	w     http.ResponseWriter
	ctx   context.Context
	fault *Fault
	delay time.Duration
}

// pause is the fault's delay; without one it lasts until the client leaves.
func (t *transfer) pause() error {
	d := t.fault.Delay
	if d <= 0 {
		d = -1
	}
	return t.wait(t.ctx, d)
}

func (t *transfer) contentType(right string) {
	if t.fault.is(ContentType) {
		right = "text/html; charset=utf-8"
	}
	t.w.Header().Set("Content-Type", right)
}

func (t *transfer) flush() {
	if f, ok := t.w.(http.Flusher); ok {
		f.Flush()
	}
}

func (t *transfer) whole(body []byte) {
	body = t.fault.spoilBytes(body)
	t.contentType("application/json")
	switch {
	case t.fault.is(Slow):
		if t.pause() != nil {
			return
		}
	case t.fault.is(KeepAlive), t.fault.is(Endless):
		t.repeat([]byte(" "))
		return
	case t.fault.is(Malformed):
		body = []byte(`{"id": "broken, "choices": [{"message`)
	case t.fault.is(EOF):
		t.w.Write(body[:len(body)/2])
		return
	case t.fault.is(Stall), t.fault.is(Cut):
		t.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		t.w.Write(body[:len(body)/2])
		t.flush()
		if t.fault.is(Cut) || t.pause() != nil {
			panic(http.ErrAbortHandler)
		}
		body = body[len(body)/2:]
	default:
		t.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	t.w.Write(body)
}

func (t *transfer) stream(d dialect, o *output, size int) {
	if t.fault.is(Slow) && t.pause() != nil {
		return
	}
	t.contentType("text/event-stream")
	t.w.Header().Set("Cache-Control", "no-cache")
	pieces, struck := 0, false
	var buf []byte
	for f := range d.frames(o, size) {
		if (f.piece && pieces == t.after() || f.end) && !struck {
			struck = true
			if !t.strike(d, &f) {
				return
			}
		}
		if f.piece {
			pieces++
			if pieces > 1 && t.delay > 0 && t.wait(t.ctx, t.delay) != nil {
				return
			}
		}
		buf = appendFrame(buf[:0], f)
		if _, err := t.w.Write(t.fault.spoilBytes(buf)); err != nil {
			return
		}
		if !f.end {
			t.flush()
		}
	}
}

func (t *transfer) after() int {
	if t.fault == nil {
		return -1
	}
	return t.fault.After
}

// strike lets a stream fault happen before f; false ends the stream.
func (t *transfer) strike(d dialect, f *frame) bool {
	if t.fault == nil {
		return true
	}
	switch t.fault.Kind {
	case Stall:
		t.flush()
		return t.pause() == nil
	case KeepAlive:
		return t.repeat([]byte(": still here\n\n"))
	case Endless:
		return t.repeat(appendFrame(nil, *f))
	case Cut:
		t.flush()
		panic(http.ErrAbortHandler)
	case EOF:
		t.flush()
		return false
	case Malformed:
		f.data = []byte(`{"id": "broken, "choices": [{"delta`)
	case StreamError:
		e := &refusal{status: 500, code: "server_error", message: "The server had an error while processing your request."}
		t.w.Write(appendFrame(nil, d.errorFrame(e)))
		return false
	}
	return true
}

// repeat sends the same again and again until the client leaves.
func (t *transfer) repeat(what []byte) bool {
	const every = 5 * time.Millisecond
	for {
		if _, err := t.w.Write(what); err != nil {
			return false
		}
		t.flush()
		if t.wait(t.ctx, every) != nil {
			return false
		}
	}
}

func appendFrame(b []byte, f frame) []byte {
	if f.event != "" {
		b = append(b, "event: "...)
		b = append(b, f.event...)
		b = append(b, '\n')
	}
	b = append(b, "data: "...)
	b = append(b, f.data...)
	return append(b, "\n\n"...)
}

// split cuts a text into pieces of size runes.
func split(s string, size int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s != "" {
			end, n := len(s), 0
			for i := range s {
				if n == size {
					end = i
					break
				}
				n++
			}
			if !yield(s[:end]) {
				return
			}
			s = s[end:]
		}
	}
}

// bearer returns the key of an Authorization header.
func bearer(h http.Header) string {
	return strings.TrimPrefix(h.Get("Authorization"), "Bearer ")
}
