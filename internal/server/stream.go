package server

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"dossier/event"
	"dossier/run"
)

// heartbeatEvery is how often a silent stream shows that it is alive.
const heartbeatEvery = 15 * time.Second

// stream serves the events of a run as server-sent events. Each run event is a
// plain message whose id is its sequence (none when it is transient); "end"
// closes the log of a run that is over, and "stopped" says why the stream ends
// before.
func (a *api) stream(w http.ResponseWriter, r *http.Request, id string, after int64) error {
	rec, err := a.runs.Get(r.Context(), id)
	if err != nil {
		return err
	}
	if rec.Status.Ended() && after > 0 && after >= rec.LastSeq {
		w.WriteHeader(http.StatusNoContent) // tells an EventSource not to come back
		return nil
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	out := &sse{w: w, flush: http.NewResponseController(w).Flush}
	out.comment("run " + rec.ID)

	ctx, stop := withEnd(r.Context(), a.closing)
	defer stop()
	var beat sync.WaitGroup
	defer beat.Wait()
	quiet := make(chan struct{})
	defer close(quiet)
	beat.Go(func() {
		tick := time.NewTicker(heartbeatEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				out.comment("alive")
			case <-quiet:
				return
			}
		}
	})
	for ev, err := range a.runs.Events(ctx, rec.ID, after) {
		if err != nil {
			if a.closing.Err() != nil {
				err = run.ErrShutdown
			}
			out.named("stopped", Describe(err))
			return nil
		}
		out.event(ev)
	}
	out.named("end", struct{}{})
	return nil
}

// sse writes server-sent events; a client that left is not an error.
type sse struct {
	mu    sync.Mutex
	w     http.ResponseWriter
	flush func() error
	buf   []byte
}

func (s *sse) send(fill func([]byte) []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf = fill(s.buf[:0])
	if _, err := s.w.Write(s.buf); err == nil {
		_ = s.flush()
	}
}

func (s *sse) comment(text string) {
	s.send(func(b []byte) []byte { return append(append(append(b, ": "...), text...), "\n\n"...) })
}

func (s *sse) event(ev event.Event) {
	raw, err := json.Marshal(ev)
	if err != nil {
		return // an event that can't be encoded can't have been stored
	}
	s.send(func(b []byte) []byte {
		if ev.Seq != 0 {
			b = append(b, "id: "...)
			b = strconv.AppendInt(b, ev.Seq, 10)
			b = append(b, '\n')
		}
		b = append(b, "data: "...)
		return append(append(b, raw...), "\n\n"...)
	})
}

func (s *sse) named(name string, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		return
	}
	s.send(func(b []byte) []byte {
		b = append(append(append(b, "event: "...), name...), "\ndata: "...)
		return append(append(b, raw...), "\n\n"...)
	})
}
