package dispatch

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
	run string
	ch  chan event.Event
	// poked says that the store may have more.
	poked chan struct{}

	mu sync.Mutex
	// lagged says that something was left out since the follower last asked.
	lagged bool
	// dead is why the run can't go on here; it reaches every follower.
	dead *event.RunError
}

// followerBuffer is how many events a follower may be behind.
const followerBuffer = 256

func newHub() *hub { return &hub{runs: make(map[string][]*follower)} }

// publish never blocks.
func (h *hub) publish(ev event.Event) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, f := range h.runs[ev.Run] {
		f.offer(ev)
	}
}

func (f *follower) offer(ev event.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if why, ok := ev.Data.(event.RunError); ok && why.Fatal && ev.Seq == 0 {
		f.dead = &why
	}
	select {
	case f.ch <- ev:
	default:
		f.lagged = true
	}
}

func (h *hub) follow(run string) *follower {
	f := &follower{run: run, ch: make(chan event.Event, followerBuffer), poked: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs[run] = append(h.runs[run], f)
	return f
}

// poke has every follower look at the store.
func (h *hub) poke() {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, list := range h.runs {
		for _, f := range list {
			select {
			case f.poked <- struct{}{}:
			default:
			}
		}
	}
}

func (h *hub) leave(f *follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.runs[f.run]
	for i := range list {
		if list[i] == f {
			list = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	if len(list) == 0 {
		delete(h.runs, f.run)
	} else {
		h.runs[f.run] = list
	}
}

// missed says whether events were left out. Then it drops what is buffered,
// since that is older than what the store has by now.
func (f *follower) missed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.lagged {
		return false
	}
	f.lagged = false
	for len(f.ch) > 0 {
		<-f.ch
	}
	return true
}

// stopped returns why the run can't go on here, or nil.
func (f *follower) stopped() *event.RunError {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dead
}
