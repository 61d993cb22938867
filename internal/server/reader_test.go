package server_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dossier"
	"dossier/run"
)

// follower reads the stream of a run.
type follower struct {
	*site
	resp *http.Response
	in   *bufio.Reader
}

// message is one of a stream.
type message struct{ id, name, data string }

// follow opens the stream of a run after a sequence.
func (s *site) follow(id string, after int) *follower {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.public.URL()+"/api/runs/"+id+"/events", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer operator-secret")
	req.Header.Set("Last-Event-ID", strconv.Itoa(after))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		s.t.Fatal(resp.Status)
	}
	return &follower{s, resp, bufio.NewReader(resp.Body)}
}

// next returns the next message; comments are passed over.
func (f *follower) next() (m message, err error) {
	for {
		line, err := f.in.ReadString('\n')
		if err != nil {
			return m, err
		}
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch key {
		case "id":
			m.id = value
		case "event":
			m.name = value
		case "data":
			m.data = value
		case "":
			if m != (message{}) && value == "" {
				return m, nil
			}
		}
	}
}

// until reads the messages with an id until one that fits, or the stream is over.
func (f *follower) until(fits func(message) bool) (seen []message, last message) {
	f.t.Helper()
	for {
		m, err := f.next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return seen, last
		case err != nil:
			f.t.Fatal(err)
		}
		last = m
		if m.id != "" {
			seen = append(seen, m)
		}
		if fits != nil && fits(m) {
			return seen, last
		}
	}
}

func has(text string) func(message) bool {
	return func(m message) bool { return strings.Contains(m.data, text) }
}

// whole checks that messages are the durable events of a run, each once.
func (s *site) whole(id string, seen []message) {
	s.t.Helper()
	log, err := s.engine.Log(s.t.Context(), id, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	var want, got []string
	for _, ev := range log {
		raw, err := ev.MarshalJSON()
		if err != nil {
			s.t.Fatal(err)
		}
		want = append(want, fmt.Sprint(ev.Seq, " ", string(raw)))
	}
	for _, m := range seen {
		got = append(got, m.id+" "+m.data)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("seen:\n%s\nthe log:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A reader who takes nothing does not keep a run from its end, and gets all of it
// when they go on in time.
func TestReaderWhoTakesNothingSlowsNoRun(t *testing.T) {
	s := serve(t, nil)
	rec := s.start("wait flood")
	idle, other := s.follow(rec.ID, 0), s.follow(rec.ID, 0)
	s.release <- struct{}{}
	s.until(rec.ID, run.Done)
	seen, last := other.until(nil)
	if last.name == "end" {
		s.whole(rec.ID, seen)
	} else if last.name != "gap" { // a machine that is too busy for both of them
		t.Errorf("the last message is %+v", last)
	}
	_ = idle.resp.Body.Close()
}

// Leaving a stream is not cancelling.
func TestReaderWhoLeavesCancelsNothing(t *testing.T) {
	s := serve(t, nil)
	rec := s.start("one wait two")
	f := s.follow(rec.ID, 0)
	if _, err := f.next(); err != nil {
		t.Fatal(err)
	}
	_ = f.resp.Body.Close()
	s.release <- struct{}{}
	s.until(rec.ID, run.Done)
	seen, last := s.follow(rec.ID, 0).until(nil)
	if last.name != "end" {
		t.Errorf("the last message is %+v", last)
	}
	s.whole(rec.ID, seen)
}

// When a server is stopped in the middle of a stream its readers are told, and go
// on at the next one where they were: nothing twice, nothing missing.
func TestRestartInTheMiddleOfAStream(t *testing.T) {
	dir := t.TempDir()
	first := serveOf(open(t, dir), nil)
	rec := first.start("one wait two ask three")
	f := first.follow(rec.ID, 0)
	seen, _ := f.until(has(`"one wait two ask three"`))
	closed := make(chan error, 2)
	go func() { closed <- first.public.Close(); closed <- first.engine.Close() }()
	rest, last := f.until(nil)
	seen = append(seen, rest...)
	if last.name != "stopped" || !strings.Contains(last.data, `"shutdown"`) {
		t.Errorf("the last message of the first server is %+v", last)
	}
	for range 2 {
		if err := <-closed; err != nil {
			t.Fatal(err)
		}
	}
	second := serveOf(open(t, dir), nil)
	if err := second.Resume(t.Context(), rec.ID, dossier.ResumeOptions{}); err != nil {
		t.Fatal(err)
	}
	f = second.follow(rec.ID, len(seen))
	second.release <- struct{}{}
	more, _ := f.until(has(`"status":"waiting"`))
	seen = append(seen, more...)
	if err := second.Answer(t.Context(), rec.ID, "", "first"); err != nil {
		t.Fatal(err)
	}
	rest, last = f.until(nil)
	if last.name != "end" {
		t.Errorf("the last message of the second server is %+v", last)
	}
	second.whole(rec.ID, append(seen, rest...))
}

// A run that another process works on in the same data directory is streamed like
// one's own.
func TestRunsOfOtherProcessesAreStreamed(t *testing.T) {
	dir := t.TempDir()
	worker, other := open(t, dir), serveOf(open(t, dir), nil)
	rec := worker.start("one wait two ask three")
	f := other.follow(rec.ID, 0)
	seen, _ := f.until(has(`"one wait two ask three"`))
	worker.release <- struct{}{}
	more, _ := f.until(has(`"status":"waiting"`))
	seen = append(seen, more...)
	if err := worker.Answer(t.Context(), rec.ID, "", "first"); err != nil {
		t.Fatal(err)
	}
	rest, last := f.until(nil)
	if last.name != "end" {
		t.Errorf("the last message is %+v", last)
	}
	other.whole(rec.ID, append(seen, rest...))
}

// Many readers of one run see the same, and are all let go when the server closes.
func TestManyReaders(t *testing.T) {
	s := serve(t, nil)
	rec := s.start("one wait two three")
	var all []*follower
	for range 50 {
		all = append(all, s.follow(rec.ID, 0))
	}
	s.release <- struct{}{}
	for _, f := range all {
		seen, last := f.until(nil)
		if last.name != "end" {
			t.Errorf("the last message is %+v", last)
		}
		s.whole(rec.ID, seen)
	}
}
