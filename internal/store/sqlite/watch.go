package sqlite

import (
	"sync"
	"time"
)

// watchEvery is how often the file is looked at for what others have written,
// while somebody watches. A look costs some microseconds.
const watchEvery = 30 * time.Millisecond

// watch is who wants to know that others have written.
type watch struct {
	mu       sync.Mutex
	watchers map[chan struct{}]struct{}
	quit     chan struct{} // ends the looking; nil while nobody watches
}

// Watch implements store.Store.
func (s *Store) Watch() (changes <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	w := &s.writer.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.watchers) == 0 {
		w.watchers = make(map[chan struct{}]struct{})
		w.quit = make(chan struct{})
		go s.writer.looking(w.quit)
	}
	w.watchers[ch] = struct{}{}
	return ch, sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.watchers, ch)
		if len(w.watchers) == 0 {
			close(w.quit)
		}
	})
}

// looking has the writer look at the file again and again.
func (w *writer) looking(quit <-chan struct{}) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.look.Store(true)
			w.rouse()
		case <-quit:
			return
		case <-w.ended:
			return
		}
	}
}

// lookAround tells the watchers when another connection, in whatever process,
// has written since the last look. It belongs to the writer's goroutine: what
// this connection writes does not count.
func (w *writer) lookAround() {
	if !w.look.Swap(false) {
		return
	}
	var version int64
	if err := w.conn.row("PRAGMA data_version", nil, &version); err != nil || version == w.version {
		return // what keeps it from being read is said to those who write
	}
	w.version = version
	w.watch.mu.Lock()
	defer w.watch.mu.Unlock()
	for ch := range w.watch.watchers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
