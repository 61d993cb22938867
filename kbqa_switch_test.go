package dossier

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/mode"
	"dossier/run"
	"dossier/sources"
)

// TestNoRequestSeesTwoCollections has a hundred requests a second come in while the
// collection in use is switched, and collections are indexed anew: each is answered
// from one collection alone, the one that it began with.
func TestNoRequestSeesTwoCollections(t *testing.T) {
	const requests, rate = 100, 100 // in a wave; a second
	h := newHarbours(t)
	t.Run("switched before each request", func(t *testing.T) {
		var all sync.WaitGroup
		pace := time.NewTicker(time.Second / rate)
		defer pace.Stop()
		for i := range requests {
			<-pace.C // nobody waits for the request before
			inUse := h.use(t, i)
			rec := h.start(t)
			all.Go(func() {
				if in := h.seenIn(t, followQuietly(t, h.Engine, rec.ID)); len(in) != 1 || in[0] != inUse {
					t.Errorf("request %d sees %v; in use was %s", i, in, inUse)
				}
			})
			if i == requests/2 {
				all.Go(func() { h.fill(t, inUse, 6) })
			}
		}
		all.Wait()
	})
	t.Run("switched at any time", func(t *testing.T) {
		var all sync.WaitGroup
		pace := time.NewTicker(time.Second / rate)
		defer pace.Stop()
		ended := make(chan struct{})
		var switching sync.WaitGroup
		switching.Go(func() {
			often := time.NewTicker(time.Second / rate / 3)
			defer often.Stop()
			for i := 0; ; i++ {
				select {
				case <-ended:
					return
				case <-often.C:
					h.use(t, i)
				}
			}
		})
		for i := range requests {
			<-pace.C
			all.Go(func() {
				in := h.seenIn(t, followQuietly(t, h.Engine, h.start(t).ID))
				if len(in) != 1 {
					t.Errorf("request %d sees %v", i, in)
					return
				}
				h.mu.Lock()
				defer h.mu.Unlock()
				h.asked[in[0]]++
			})
			if i == requests/2 {
				all.Go(func() { h.fill(t, harbourNames[1], 7) })
			}
		}
		all.Wait()
		close(ended)
		switching.Wait()
		if len(h.asked) != 2 {
			t.Errorf("nobody switched: %v", h.asked)
		}
	})
}

var harbourNames = []string{"north", "south"}

// harbours are two collections that tell of harbours of the same kind.
type harbours struct {
	*Engine
	dirs  map[string]string
	mu    sync.Mutex
	asked map[string]int // by the collection that a request saw
}

func newHarbours(t *testing.T) *harbours {
	t.Helper()
	h := &harbours{Engine: engine(t, memory.New(memory.Options{}), nil), dirs: map[string]string{}, asked: map[string]int{}}
	for _, name := range harbourNames {
		h.dirs[name] = t.TempDir()
		h.fill(t, name, 5)
	}
	return h
}

// fill makes a collection have so many documents.
func (h *harbours) fill(t *testing.T, name string, n int) {
	for i := range n {
		text := fmt.Sprintf("# The harbour of the %[1]s, part %[2]d\n\nThe harbour master of the harbour is called %[1]s-%[2]d, and keeps the keys of quay %[2]d.\n", name, i)
		if err := os.WriteFile(filepath.Join(h.dirs[name], fmt.Sprintf("%s-%d.md", name, i)), []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	rec, err := h.Start(t.Context(), Request{Mode: "ingest", Request: mode.Request{Question: "add", In: sources.Target{Paths: []string{h.dirs[name]}, Collection: name}}})
	if err != nil {
		t.Error(err)
		return
	}
	followQuietly(t, h.Engine, rec.ID)
}

// use switches to one of the collections.
func (h *harbours) use(t *testing.T, i int) string {
	name := harbourNames[i%len(harbourNames)]
	if _, err := h.UseCollection(t.Context(), name); err != nil {
		t.Error(err)
	}
	return name
}

func (h *harbours) start(t *testing.T) run.Record {
	rec, err := h.Start(t.Context(), byAgent("kb_agent", "What is the harbour master of the harbour called?"))
	if err != nil {
		t.Error(err)
	}
	return rec
}

// seenIn are the collections that a log has anything of.
func (h *harbours) seenIn(t *testing.T, log []event.Event) (names []string) {
	for _, ev := range log {
		data, err := event.EncodeData(ev.Data)
		if err != nil {
			t.Error(err)
		}
		for _, name := range harbourNames {
			if strings.Contains(string(data), name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// followQuietly follows a run from a goroutine of a test.
func followQuietly(t *testing.T, e *Engine, id string) (events []event.Event) {
	for ev, err := range e.Events(t.Context(), id, 0) {
		if err != nil {
			t.Error(err)
			return events
		}
		events = append(events, ev)
	}
	if rec, err := e.Get(t.Context(), id); err != nil || rec.Status != run.Done {
		t.Errorf("%+v %v", rec, err)
	}
	return events
}
