package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"
)

// lastReplies is how long the end of the input is kept back for what was asked
// before it: a little longer than a call waits for a run by itself.
const lastReplies = 30 * time.Second

// pipe is a conversation over an input and an output, a message per line. The library
// takes the end of the input for that of the conversation and drops what it is still
// asked for; so the end is told when all of that is replied to.
type pipe struct {
	ctx context.Context
	in  io.Reader
	out io.Writer

	asked, replied lines

	mu   sync.Mutex
	open map[string]bool // requests without a reply, by their ids
	left chan struct{}   // closed when there are none; nil while nobody waits
}

// Read implements io.Reader.
func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.in.Read(b)
	p.asked.each(b[:n], p.request)
	if errors.Is(err, io.EOF) && n == 0 {
		p.asked.each([]byte("\n"), p.request) // the last line may have no end
		p.settle()
	} else if n > 0 {
		err = nil // it comes again
	}
	return n, err
}

// Write implements io.Writer.
func (p *pipe) Write(b []byte) (int, error) {
	n, err := p.out.Write(b)
	p.replied.each(b[:n], p.reply)
	if err != nil { // nobody reads any more
		p.forget(nil)
	}
	return n, err
}

// Close implements io.Closer. Neither end is ours to close.
func (*pipe) Close() error { return nil }

// settle waits until all requests are replied to.
func (p *pipe) settle() {
	p.mu.Lock()
	if len(p.open) == 0 {
		p.mu.Unlock()
		return
	}
	p.left = make(chan struct{})
	left := p.left
	p.mu.Unlock()
	late := time.NewTimer(lastReplies)
	defer late.Stop()
	select {
	case <-left:
	case <-late.C:
	case <-p.ctx.Done():
	}
}

// envelope is what tells requests, replies and the rest apart.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
}

func (p *pipe) request(line []byte) {
	for _, m := range envelopes(line) {
		switch {
		case m.Method == "notifications/cancelled":
			p.forget(m.Params.RequestID)
		case m.Method != "" && m.ID != nil:
			p.mu.Lock()
			if p.open == nil {
				p.open = make(map[string]bool)
			}
			p.open[string(m.ID)] = true
			p.mu.Unlock()
		}
	}
}

func (p *pipe) reply(line []byte) {
	for _, m := range envelopes(line) {
		if m.Method == "" && m.ID != nil {
			p.forget(m.ID)
		}
	}
}

// forget says that a request needs no reply any more; nil is all of them.
func (p *pipe) forget(id json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id == nil {
		clear(p.open)
	} else {
		delete(p.open, string(id))
	}
	if len(p.open) == 0 && p.left != nil {
		close(p.left)
		p.left = nil
	}
}

// envelopes are those of a line: of one message or of several together.
func envelopes(line []byte) (out []envelope) {
	line = bytes.TrimSpace(line)
	if len(line) > 0 && line[0] == '[' {
		_ = json.Unmarshal(line, &out) // what is none is not waited for
		return out
	}
	var m envelope
	if json.Unmarshal(line, &m) != nil {
		return nil
	}
	return []envelope{m}
}

// lines finds the lines in what comes in pieces.
type lines struct {
	mu   sync.Mutex
	rest []byte
}

func (l *lines) each(piece []byte, do func(line []byte)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		line, after, ok := bytes.Cut(piece, []byte("\n"))
		if !ok {
			l.rest = append(l.rest, piece...)
			return
		}
		do(append(l.rest, line...))
		l.rest, piece = l.rest[:0], after
	}
}
