package chromium

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxMessage bounds what the browser sends at once: it may be made to say much
// by the page.
const maxMessage = 16 << 20

// message is one of the DevTools protocol: a command, its reply or an event.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// wire speaks the DevTools protocol over two pipes: JSON with a zero byte
// after each message.
type wire struct {
	in    *bufio.Reader
	out   io.Writer
	write sync.Mutex // held while a message is written

	mu      sync.Mutex
	last    int
	waiting map[int]chan *message
	gone    chan struct{} // closed when nothing more will come
	why     error         // of gone
}

func newWire(in io.Reader, out io.Writer) *wire {
	return &wire{in: bufio.NewReaderSize(in, 64<<10), out: out, waiting: map[int]chan *message{}, gone: make(chan struct{})}
}

// listen reads until the browser is gone. What it tells unasked goes to event,
// one at a time, which may send, and must not wait for a reply.
func (w *wire) listen(event func(*message)) {
	w.why = w.read(event)
	close(w.gone)
}

func (w *wire) read(event func(*message)) error {
	var data []byte
	for {
		part, err := w.in.ReadSlice(0)
		if len(data)+len(part) > maxMessage {
			return errors.New("the browser said too much at once")
		}
		data = append(data, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return errGone
		}
		m := &message{}
		if err := json.Unmarshal(data[:len(data)-1], m); err != nil {
			return fmt.Errorf("what the browser says is not JSON: %w", err)
		}
		if data = data[:0]; cap(data) > 1<<20 {
			data = nil
		}
		if m.ID == 0 {
			event(m)
			continue
		}
		w.mu.Lock()
		reply := w.waiting[m.ID]
		delete(w.waiting, m.ID)
		w.mu.Unlock()
		if reply != nil {
			reply <- m
		}
	}
}

var errGone = errors.New("the browser is gone")

// refused is a command that the browser did not carry out.
type refused struct{ method, why string }

func (r *refused) Error() string { return r.method + ": " + r.why }

// send gives a command without waiting for its reply, which is dropped unless
// reply is there.
func (w *wire) send(session, method string, params any, reply chan *message) (id int, err error) {
	w.mu.Lock()
	w.last++
	id = w.last
	if reply != nil {
		w.waiting[id] = reply
	}
	w.mu.Unlock()
	data, err := json.Marshal(params)
	if err == nil {
		data, err = json.Marshal(message{ID: id, Session: session, Method: method, Params: data})
	}
	if err == nil {
		w.write.Lock()
		if _, err = w.out.Write(append(data, 0)); err != nil {
			err = errGone
		}
		w.write.Unlock()
	}
	return id, err
}

// call gives a command and waits for its result, which goes into result unless
// that is nil.
func (w *wire) call(ctx context.Context, session, method string, params, result any) error {
	reply := make(chan *message, 1)
	id, err := w.send(session, method, params, reply)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	defer func() {
		w.mu.Lock()
		delete(w.waiting, id)
		w.mu.Unlock()
	}()
	select {
	case m := <-reply:
		if m.Error != nil {
			return &refused{method, m.Error.Message[:min(len(m.Error.Message), 200)]}
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-w.gone:
		return fmt.Errorf("%s: %w", method, w.why)
	case <-ctx.Done():
		return ctx.Err()
	}
}
