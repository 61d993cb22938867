package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"dossier/event"
	"dossier/internal/access"
	"dossier/run"
)

// How a stream treats its reader.
const (
	// heartbeatEvery is how often a silent stream shows that it is alive.
	heartbeatEvery = 15 * time.Second
	// streamBehind is how many bytes a reader may be behind, beside one message.
	streamBehind = 256 << 10
	// streamPiece is how much is written at a time.
	streamPiece = 16 << 10
	// streamPatience is how long a reader who is behind may take nothing at all.
	streamPatience = 10 * time.Second
)

// Stream is a reply that goes on: server-sent events, as they come, with a sign
// of life when nothing does. A reader who is too slow is cut off: what waits for
// them is dropped, and the last thing that they get is what the stream's Gap
// makes. So a stream takes a bounded amount of memory, and whoever feeds it is
// never kept waiting for long.
//
// One goroutine sends; it calls Close, and the handler returns after that.
type Stream struct {
	// Gap makes the last message for a reader who was cut off, given the id of
	// the last message that they get before, "" if none had an id; nil for none.
	Gap func(last string) (name string, data []byte)

	w      http.ResponseWriter
	ctx    context.Context
	cancel context.CancelFunc
	leave  func()
	beat   *time.Timer
	over   sync.WaitGroup // of the goroutine that writes

	room chan struct{} // something was written

	mu      sync.Mutex
	pending []byte
	writing bool   // somebody writes; a stream at rest has no goroutine for it
	last    string // id of the last message that was put
	written string // id of the last message that is written, or is being
	ended   bool   // nothing more is taken
}

// NewStream begins a stream. It fails where the caller has too many open.
func NewStream(w http.ResponseWriter, r *http.Request) (*Stream, error) {
	ctx, leave, err := Lasting(r.Context())
	if err != nil {
		return nil, err
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	s := &Stream{w: w, leave: leave, room: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.beat = time.AfterFunc(heartbeatEvery, s.alive)
	return s, nil
}

// Lasting is for what a request does for long: until leave is called it is one of
// the streams of its caller, and its context ends with the request's or when the
// server closes. It fails where the caller has too many open.
func Lasting(ctx context.Context) (lasting context.Context, leave func(), err error) {
	c := callOf(ctx)
	exit, err := c.api.streams.enter(c.caller)
	if err != nil {
		return nil, nil, err
	}
	lasting, cancel := withEnd(ctx, c.api.closing)
	return lasting, func() { cancel(); exit() }, nil
}

// Context ends when the reader is gone or cut off, or the server closes.
func (s *Stream) Context() context.Context { return s.ctx }

// Send puts a message into the stream; id and name may be empty. It says whether
// anybody still reads.
func (s *Stream) Send(id, name string, data []byte) bool {
	return s.put(id, len(data)+len(id)+len(name)+32, func(b []byte) []byte { return appendMessage(b, id, name, data) })
}

// appendMessage appends a message to b; data has no line break.
func appendMessage(b []byte, id, name string, data []byte) []byte {
	if id != "" {
		b = append(append(append(b, "id: "...), id...), '\n')
	}
	if name != "" {
		b = append(append(append(b, "event: "...), name...), '\n')
	}
	return append(append(append(b, "data: "...), data...), "\n\n"...)
}

// SendJSON is Send of a value.
func (s *Stream) SendJSON(id, name string, value any) bool {
	raw, err := json.Marshal(value)
	return err == nil && s.Send(id, name, raw)
}

// Comment puts a line into the stream that readers pass over.
func (s *Stream) Comment(text string) bool {
	return s.put("", len(text)+4, func(b []byte) []byte { return append(append(append(b, ": "...), text...), "\n\n"...) })
}

// put has something of a size written.
func (s *Stream) put(id string, size int, appendTo func([]byte) []byte) bool {
	var patience *time.Timer
	for {
		s.mu.Lock()
		switch {
		case s.ended:
			s.mu.Unlock()
			return false
		case len(s.pending) == 0 || len(s.pending)+size <= streamBehind:
			s.pending = appendTo(slices.Grow(s.pending, size))
			if id != "" {
				s.last = id
			}
			s.startWriting()
			s.mu.Unlock()
			return true
		}
		s.mu.Unlock()
		if patience == nil {
			patience = time.NewTimer(streamPatience)
			defer patience.Stop()
		}
		select {
		case <-s.room:
			patience.Reset(streamPatience)
		case <-s.ctx.Done():
			return false
		case <-patience.C:
			s.cutOff()
			return false
		}
	}
}

// cutOff drops what waits for the reader and ends the stream.
func (s *Stream) cutOff() {
	s.mu.Lock()
	s.ended, s.pending = true, nil
	if s.Gap != nil {
		name, data := s.Gap(s.written)
		s.pending = appendMessage(nil, "", name, data)
	}
	s.startWriting()
	s.mu.Unlock()
}

// Close waits until all is written, or the reader is gone.
func (s *Stream) Close() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.over.Wait()
	s.beat.Stop()
	s.cancel()
	s.leave()
}

// alive shows that the stream is.
func (s *Stream) alive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended && !s.writing {
		s.pending = append(s.pending, ": alive\n\n"...)
		s.startWriting()
	}
}

// startWriting has what waits be written. The caller holds the lock.
func (s *Stream) startWriting() {
	if !s.writing && len(s.pending) > 0 {
		s.writing = true
		s.over.Go(s.write)
	}
}

// write writes what waits, until nothing does or the reader is gone.
func (s *Stream) write() {
	flush := http.NewResponseController(s.w).Flush
	for {
		s.mu.Lock()
		out := s.pending
		s.pending, s.written = nil, s.last
		s.writing = len(out) > 0
		s.mu.Unlock()
		if len(out) == 0 {
			return
		}
		for len(out) > 0 {
			piece := out[:min(len(out), streamPiece)]
			if _, err := s.w.Write(piece); err != nil || flush() != nil {
				s.cancel()
				s.mu.Lock()
				s.ended, s.pending, s.writing = true, nil, false
				s.mu.Unlock()
				return
			}
			out = out[len(piece):]
			s.beat.Reset(heartbeatEvery)
			poke(s.room)
		}
	}
}

// poke tells whoever listens, once.
func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// streams counts those that are open.
type streams struct {
	most int // of one caller with a token; 0 is any number

	mu   sync.Mutex
	all  int
	held map[string]int // by token
}

func (s *streams) enter(c access.Caller) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		s.held = map[string]int{}
	}
	if c.Token != "" && s.most > 0 && s.held[c.Token] >= s.most {
		return nil, &Problem{Code: "too_many_streams", Message: fmt.Sprintf("this token has %d streams open already", s.most), Hint: "close some, or ask the operator to raise server.streams"}
	}
	s.all++
	s.held[c.Token]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.held[c.Token]--; s.held[c.Token] == 0 {
			delete(s.held, c.Token)
		}
	}, nil
}

func (s *streams) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// eventRoutes are about the logs of runs.
func (a *api) eventRoutes() []Route {
	return []Route{{Pattern: "GET " + aRun + "/events", Scope: access.Read, Serve: a.events, Doc: &Doc{
		Summary: "The events of a run as server-sent events, from the one after Last-Event-ID or after on until the run is over, or beyond that; as an array of those there are when application/json is accepted",
		Media:   "text/event-stream", Query: []Param{
			{"after", "integer", "only events after this sequence"}, {"stay", "boolean", "go on when the run is over, with what people change in its report"},
		},
	}}}
}

// After is the sequence from which a reader goes on: the header Last-Event-ID,
// or after in the query.
func After(r *http.Request) (int64, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, badRequest(fmt.Sprintf("%q is not the sequence of an event", text))
	}
	return n, nil
}

// events serves the log as a stream, or what is stored of it as an array when
// JSON is asked for.
func (a *api) events(w http.ResponseWriter, r *http.Request) error {
	after, err := After(r)
	if err != nil {
		return err
	}
	if accepts(r, "application/json") {
		log, err := EngineOf(r.Context()).Log(r.Context(), r.PathValue("id"), after)
		return give(w, nonNil(log), err)
	}
	stay, err := flag(r, "stay")
	if err != nil {
		return err
	}
	return a.stream(w, r, after, stay)
}

// stream serves the events of a run as server-sent events. Each run event is a
// plain message whose id is its sequence (none when it is transient); "end"
// closes the log of a run that is over, "stopped" says why the stream ends before,
// and "gap" that the reader was cut off and comes back for the rest. A reader who
// stays gets no "end".
func (a *api) stream(w http.ResponseWriter, r *http.Request, after int64, stay bool) error {
	id, seen, err := standing(r, after)
	if err != nil {
		return err
	}
	if seen && !stay {
		w.WriteHeader(http.StatusNoContent) // tells an EventSource not to come back
		return nil
	}
	out, err := NewStream(w, r)
	if err != nil {
		return err
	}
	defer out.Close()
	out.Gap = func(last string) (string, []byte) {
		if last == "" {
			last = strconv.FormatInt(after, 10)
		}
		return "gap", []byte(`{"after":` + last + `}`)
	}
	out.Comment("run " + id)
	for ev, err := range followed(out.Context(), EngineOf(r.Context()), id, after, stay) {
		if err != nil {
			if a.closing.Err() != nil && !errors.Is(err, run.ErrShutdown) {
				err = run.ErrShutdown
			}
			out.SendJSON("", "stopped", For(CallerOf(r.Context()), err))
			return nil
		}
		if !sendEvent(out, ev) {
			return nil
		}
	}
	out.SendJSON("", "end", struct{}{})
	return nil
}

// followed are the events of a run, until it is over or beyond that.
func followed(ctx context.Context, e Engine, id string, after int64, stay bool) iter.Seq2[event.Event, error] {
	if stay {
		return e.Stay(ctx, id, after)
	}
	return e.Events(ctx, id, after)
}

// standing returns the whole id of the run that a request names, and whether it is
// over and all of it is known to a reader.
func standing(r *http.Request, after int64) (id string, seen bool, err error) {
	rec, err := EngineOf(r.Context()).Get(r.Context(), r.PathValue("id"))
	return rec.ID, rec.Status.Ended() && after > 0 && after >= rec.LastSeq, err
}

// sendEvent sends an event under its sequence, in the form that all readers share.
// One that can't be encoded can't have been stored.
func sendEvent(out *Stream, ev event.Event) bool {
	id := ""
	if ev.Seq != 0 {
		id = strconv.FormatInt(ev.Seq, 10)
	}
	raw, err := ev.MarshalJSON()
	return err == nil && out.Send(id, "", raw)
}
