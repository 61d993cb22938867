package server

import (
	"bufio"
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dossier/event"
	"dossier/internal/access"
	"dossier/run"
)

// quiet is a run that says one thing and then nothing.
type quiet struct {
	Engine
	rec run.Record
}

func (q quiet) Get(context.Context, string) (run.Record, error) { return q.rec, nil }

func (q quiet) Events(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if !yield(event.Event{Run: id, Seq: after + 1, Data: event.Message{Role: "user", Text: "two\nlines"}}, nil) {
			return
		}
		<-ctx.Done()
		yield(event.Event{}, context.Cause(ctx))
	}
}

// recorder is a response that is read while it is written.
type recorder struct {
	mu sync.Mutex
	*httptest.ResponseRecorder
}

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ResponseRecorder.Write(b)
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Body.String()
}

// as is the context of a request that the operator makes.
func (a *api) as(ctx context.Context) context.Context {
	return (&call{caller: access.Operator(), engine: a.engine, api: a}).in(ctx)
}

func TestStreamForm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closing, end := context.WithCancel(t.Context())
		a := &api{engine: quiet{rec: run.Record{ID: "r1", Status: run.Running}}, closing: closing}
		w := &recorder{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequestWithContext(a.as(t.Context()), http.MethodGet, "/api/runs/r1/events", nil)
		r.SetPathValue("id", "r1")
		r.Header.Set("Last-Event-ID", "7")
		over := make(chan error)
		go func() { over <- a.events(w, r) }()
		time.Sleep(2*heartbeatEvery + time.Second)
		synctest.Wait()
		end()
		if err := <-over; err != nil {
			t.Fatal(err)
		}
		want := ": run r1\n\n" +
			"id: 8\ndata: {\"v\":1,\"run\":\"r1\",\"seq\":8,\"time\":\"0001-01-01T00:00:00Z\",\"kind\":\"message\",\"data\":{\"role\":\"user\",\"text\":\"two\\nlines\"}}\n\n" +
			": alive\n\n: alive\n\n" +
			"event: stopped\ndata: {\"code\":\"shutdown\",\"message\":\"the worker is shutting down\",\"hint\":\"nothing is lost: `dossier runs resume ID` goes on\"}\n\n"
		if got := w.text(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestStreamOfAnEndedRunIsNotRetried(t *testing.T) {
	a := &api{engine: quiet{rec: run.Record{ID: "r1", Status: run.Done, LastSeq: 7}}, closing: t.Context()}
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(a.as(t.Context()), http.MethodGet, "/api/runs/r1/events?after=7", nil)
	r.SetPathValue("id", "r1")
	if err := a.events(w, r); err != nil || w.Code != http.StatusNoContent {
		t.Errorf("status %d, %v", w.Code, err)
	}
}

func TestReadMessage(t *testing.T) {
	in := bufio.NewReader(strings.NewReader(": comment\n\nid: 1\ndata: a\r\ndata: b\n\nevent: end\ndata:\n\nevent: x\n\ndata: cut"))
	for _, want := range []struct{ name, data string }{{"", "a\nb"}, {"end", ""}} {
		name, data, err := readMessage(in)
		if err != nil || name != want.name || string(data) != want.data {
			t.Errorf("got %q %q %v, want %+v", name, data, err, want)
		}
	}
	if _, _, err := readMessage(in); err == nil {
		t.Error("a message that was cut off is no message")
	}
}
