package dossier

import (
	"sync"

	"dossier/event"
)

// hub fans live events out to those who follow a run. It holds nothing for
// runs that nobody follows.
type hub struct {
	mu   sync.RWMutex
	runs map[string][]*follower
}

// follower gets the events of one run. When it is too slow, events are left
// out and lagged is set: the durable ones can be read from the store.
type follower struct {
	ch chan event.Event
	mu sync.Mutex
	// lagged says that something was left out since the follower last asked.
	lagged bool
}

// followerBuffer is how many events a follower may be behind.
const followerBuffer = 256

func newHub() *hub { return &hub{runs: make(map[string][]*follower)} }

// publish never blocks.
func (h *hub) publish(ev event.Event) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, f := range h.runs[ev.Run] {
		select {
		case f.ch <- ev:
		default:
			f.mu.Lock()
			f.lagged = true
			f.mu.Unlock()
		}
	}
}

func (h *hub) follow(run string) *follower {
	f := &follower{ch: make(chan event.Event, followerBuffer)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs[run] = append(h.runs[run], f)
	return f
}

func (h *hub) leave(run string, f *follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.runs[run]
	for i := range list {
		if list[i] == f {
			list = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	if len(list) == 0 {
		delete(h.runs, run)
	} else {
		h.runs[run] = list
	}
}

// missed says whether events were left out, and forgets it.
func (f *follower) missed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	lagged := f.lagged
	f.lagged = false
	return lagged
}
