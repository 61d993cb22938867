package server

import (
	"context"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dossier/event"
	"dossier/run"
)

// long is a run that is over, with a long log.
type long struct {
	Engine
	events int64
	told   *atomic.Int64 // the last sequence that was asked for
}

const longText = 4 << 10

func (l long) Get(context.Context, string) (run.Record, error) {
	return run.Record{ID: "r1", Status: run.Done, LastSeq: l.events}, nil
}

func (l long) Events(_ context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for seq := after + 1; seq <= l.events; seq++ {
			l.told.Store(seq)
			if !yield(event.Event{Run: id, Seq: seq, Data: event.Message{Role: "user", Text: strings.Repeat("x", longText)}}, nil) {
				return
			}
		}
	}
}

// stuck is a reader who takes some pieces and then nothing until they go on.
type stuck struct {
	recorder
	pieces int
	goOn   chan struct{}
}

func (s *stuck) Write(b []byte) (int, error) {
	if s.pieces--; s.pieces < 0 {
		<-s.goOn
	}
	return s.recorder.Write(b)
}

// A reader who takes nothing is cut off after a while. Until then little waits for
// them, they learn where to go on, and with that they miss nothing.
func TestSlowReaderIsCutOffAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int64
		const events = 400
		a := &api{engine: long{events: events, told: &told}, closing: t.Context()}
		get := func(w http.ResponseWriter, after string) error {
			r := httptest.NewRequestWithContext(a.as(t.Context()), http.MethodGet, "/api/runs/r1/events", nil)
			r.SetPathValue("id", "r1")
			r.Header.Set("Last-Event-ID", after)
			return a.events(w, r)
		}
		slow := &stuck{recorder: recorder{ResponseRecorder: httptest.NewRecorder()}, pieces: 3, goOn: make(chan struct{})}
		over := make(chan error, 1)
		go func() { over <- get(slow, "") }()
		time.Sleep(streamPatience - time.Second)
		synctest.Wait()
		if at := told.Load(); at == events || at*longText > 3*streamBehind {
			t.Errorf("%d events were read for somebody who takes nothing", at)
		}
		before := slow.text()
		time.Sleep(2 * time.Second)
		close(slow.goOn)
		if err := <-over; err != nil {
			t.Fatal(err)
		}
		got := slow.text()
		if !strings.HasPrefix(got, before) || len(got) == len(before) {
			t.Error("what was under way did not arrive")
		}
		seen := ids(got)
		last := strconv.Itoa(len(seen))
		if len(seen) == 0 || len(seen) == events || !strings.HasSuffix(got, "event: gap\ndata: {\"after\":"+last+"}\n\n") {
			t.Fatalf("%d events, and the end is %q", len(seen), got[max(0, len(got)-100):])
		}
		again := &recorder{ResponseRecorder: httptest.NewRecorder()}
		if err := get(again, last); err != nil {
			t.Fatal(err)
		}
		all := slices.Concat(seen, ids(again.text()))
		if len(all) != events || !strings.HasSuffix(again.text(), "event: end\ndata: {}\n\n") {
			t.Errorf("%d events of %d, and the end is %q", len(all), events, again.text()[len(again.text())-100:])
		}
		for i, id := range all {
			if id != strconv.Itoa(i+1) {
				t.Fatalf("event %d has the id %s", i+1, id)
			}
		}
		if open := a.streams.open(); open != 0 {
			t.Errorf("%d streams are still counted", open)
		}
	})
}

// ids of the messages of a stream.
func ids(stream string) (found []string) {
	for line := range strings.Lines(stream) {
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			found = append(found, strings.TrimSpace(id))
		}
	}
	return found
}

// A client that was cut off comes back behind what it has, and whoever reads
// through it sees nothing of that.
func TestClientComesBackAfterAGap(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		after := r.URL.Query().Get("after")
		asked = append(asked, after)
		send := func(from, to int64) {
			for seq := from; seq <= to; seq++ {
				raw, err := event.Event{Run: "r1", Seq: seq, Data: event.NoteAdded{}}.MarshalJSON()
				if err != nil {
					t.Error(err)
				}
				_, _ = w.Write(appendMessage(nil, strconv.FormatInt(seq, 10), "", raw))
			}
		}
		if after == "0" {
			send(1, 3)
			_, _ = w.Write(appendMessage(nil, "", "gap", []byte(`{"after":3}`)))
			return
		}
		send(4, 5)
		_, _ = w.Write(appendMessage(nil, "", "end", []byte("{}")))
	}))
	defer srv.Close()
	c := &Client{http: &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", srv.Listener.Addr().String())
	}}}}
	var seen []int64
	for ev, err := range c.Events(t.Context(), "r1", 0) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, ev.Seq)
	}
	if !slices.Equal(seen, []int64{1, 2, 3, 4, 5}) || !slices.Equal(asked, []string{"0", "3"}) {
		t.Errorf("seen %v, asked after %v", seen, asked)
	}
}
