package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// world is all that the runs depend on: a model, a search engine, and something
// that has an effect. In phases of random length each of them fails in ways of
// its own. It keeps its logs on disk.
type world struct {
	url  string
	http *httptest.Server
	held chan struct{} // tells of an effect during which the child is to die

	mu     sync.Mutex
	rnd    *rand.Rand
	calm   bool
	phases map[string]*phase
	fired  map[string]int // effects by run
	gone   chan struct{}  // closed when the child at work is dead; nil while none is to die
	logs   map[string]*os.File
	faults int
}

// phase is how a service is for a number of calls.
type phase struct {
	failing bool
	calls   int
}

// failure is how a call goes wrong.
type failure int

const (
	fine    failure = iota
	broken          // 500
	busy            // 429
	denied          // 403
	cut             // the connection ends in the middle of the answer
	refused         // the connection ends before any answer
	failures
)

// What the logs are called.
const (
	callLog   = "calls.jsonl"
	effectLog = "effects.jsonl"
)

func newWorld(dir string, seed uint64, calm bool) (*world, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	w := &world{
		held: make(chan struct{}, 1), rnd: rand.New(rand.NewPCG(seed, 2)), calm: calm,
		phases: make(map[string]*phase), fired: make(map[string]int), logs: make(map[string]*os.File),
	}
	for _, name := range []string{callLog, effectLog} {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		w.logs[name] = f
	}
	model := scripted(time.Millisecond)
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/", func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the child is gone
		}
		var call struct{ Model string }
		if r.Method == http.MethodPost && json.Unmarshal(body, &call) == nil {
			w.note(callLog, call.Model)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		w.serve(rw, r, w.draw("model"), model)
	})
	mux.HandleFunc("/search", func(rw http.ResponseWriter, r *http.Request) {
		w.note(callLog, r.Header.Get(callerHeader))
		w.serve(rw, r, w.draw("engine"), http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(rw, "what is known of %s", r.FormValue("q"))
		}))
	})
	mux.HandleFunc("/effect", w.effect)
	w.http = httptest.NewServer(mux)
	w.url = w.http.URL
	return w, nil
}

func (w *world) close() {
	w.http.CloseClientConnections()
	w.http.Close()
	for _, f := range w.logs {
		_ = f.Close()
	}
}

// note writes a line into a log before the answer is sent.
func (w *world) note(name, who string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line, err := json.Marshal(received{Time: time.Now(), Model: who})
	if err == nil {
		_, err = w.logs[name].Write(append(line, '\n'))
	}
	if err != nil {
		panic(err) // without its log the test says nothing
	}
}

// draw says how the next call of a service goes.
func (w *world) draw(service string) failure {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calm {
		return fine
	}
	p := w.phases[service]
	if p == nil || p.calls == 0 {
		p = &phase{failing: p != nil && !p.failing}
		p.calls = 10 + w.rnd.IntN(80)
		if p.failing {
			p.calls = 1 + w.rnd.IntN(12)
		}
		w.phases[service] = p
	}
	p.calls--
	if !p.failing {
		return fine
	}
	w.faults++
	return failure(1 + w.rnd.IntN(int(failures)-1))
}

// serve answers a call, or fails as told.
func (w *world) serve(rw http.ResponseWriter, r *http.Request, how failure, do http.Handler) {
	switch how {
	case broken:
		http.Error(rw, "out of order", http.StatusInternalServerError)
	case busy:
		http.Error(rw, "too many", http.StatusTooManyRequests)
	case denied:
		http.Error(rw, "not you", http.StatusForbidden)
	case refused:
		panic(http.ErrAbortHandler)
	case cut:
		do.ServeHTTP(&cutWriter{ResponseWriter: rw}, r)
		panic(http.ErrAbortHandler)
	default:
		do.ServeHTTP(rw, r)
	}
}

// cutWriter ends the connection after its first bytes.
type cutWriter struct{ http.ResponseWriter }

func (c *cutWriter) Write(p []byte) (int, error) {
	_, _ = c.ResponseWriter.Write(p[:len(p)/2])
	c.Flush()
	panic(http.ErrAbortHandler)
}

func (c *cutWriter) Flush() { _ = http.NewResponseController(c.ResponseWriter).Flush() }

// uncertain is how many of its first effects a run does not live to see the end
// of.
func uncertain(run string) int {
	switch number(run) % 5 {
	case 0:
		return 2
	case 1, 2:
		return 1
	}
	return 0
}

// onUnknown is what is answered when a run asks about an effect of which nobody
// knows whether it took place.
func onUnknown(run string) string {
	if number(run)%5 == 2 {
		return "skip"
	}
	return "retry"
}

// number of a run.
func number(run string) (n int) {
	_, _ = fmt.Sscanf(run, "run-%d", &n)
	return n
}

// effect takes place as soon as it is asked for, whatever the answer is.
func (w *world) effect(rw http.ResponseWriter, r *http.Request) {
	id, _, _ := strings.Cut(r.Header.Get(callerHeader), " ")
	how := w.draw("effect")
	if how != fine && how != cut {
		w.serve(rw, r, how, nil) // it did not take place
		return
	}
	w.note(effectLog, id)
	w.mu.Lock()
	w.fired[id]++
	gone := w.gone
	holds := gone != nil && w.fired[id] <= uncertain(id)
	w.mu.Unlock()
	if holds {
		select {
		case w.held <- struct{}{}:
		default:
		}
		<-gone
		panic(http.ErrAbortHandler)
	}
	w.serve(rw, r, how, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "published") }))
}

// mortal says that the child that is at work from now on may be killed during
// an effect; the effect is let go with dead.
func (w *world) mortal() (dead func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.held:
	default:
	}
	gone := make(chan struct{})
	w.gone = gone
	return func() {
		w.mu.Lock()
		w.gone = nil
		w.mu.Unlock()
		close(gone)
	}
}

// heal ends all failures.
func (w *world) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calm = true
}

// readLog reads a log of the world.
func readLog(dir, name string) ([]received, error) {
	calls, err := readCalls(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return calls, err
}
