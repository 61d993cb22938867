package dispatch

import (
	"sync"

	"dossier/event"
)

// hub fans live events out to those who follow a run. It holds nothing for runs
// that nobody follows, and next to nothing for a follower to whom nothing
// happens: no timer, and no buffer before there is something to keep in it.
type hub struct {
	mu   sync.RWMutex
	runs map[string]*topic
}

// topic is a run that is followed.
type topic struct {
	followers []*follower
	// reached is the last sequence that a look at the store has found.
	reached int64
}

// follower gets the events of one run. When it is too slow they are left out:
// the durable ones can be read from the store.
type follower struct {
	run string
	at  int // in its topic; the hub's
	// wake says that there is something to take.
	wake chan struct{}

	mu   sync.Mutex
	news news
}

// news is what a follower has not taken yet.
type news struct {
	// events are shared with other followers and not to be changed.
	events []*event.Event
	// missed says that events were left out: all of them, and the store has what
	// is durable of them.
	missed bool
	// look says that the store may have more.
	look bool
	// dead is why the run can't go on here; it reaches every follower.
	dead *event.RunError
}

// followerBuffer is how many events a follower may be behind.
const followerBuffer = 256

func newHub() *hub { return &hub{runs: make(map[string]*topic)} }

// publish never blocks. What several follow is encoded once for all of them.
func (h *hub) publish(ev event.Event) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	t := h.runs[ev.Run]
	if t == nil {
		return
	}
	if len(t.followers) > 1 {
		ev = ev.Shared()
	}
	for _, f := range t.followers {
		f.offer(&ev)
	}
}

func (f *follower) offer(ev *event.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if why := fatal(ev); why != nil {
		f.news.dead = why
	}
	switch {
	case f.news.missed:
	case len(f.news.events) == followerBuffer:
		f.news.missed, f.news.events = true, nil // older than what the store has by the time it is read
	default:
		f.news.events = append(f.news.events, ev)
	}
	f.poke()
}

// take returns what there is for the follower, and keeps nothing of it.
func (f *follower) take() news {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.news
	f.news = news{dead: n.dead}
	return n
}

func (f *follower) poke() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// fatal returns why a run can't go on here if that is what an event says.
func fatal(ev *event.Event) *event.RunError {
	if why, ok := ev.Data.(event.RunError); ok && why.Fatal && ev.Seq == 0 {
		return &why
	}
	return nil
}

func (h *hub) follow(run string) *follower {
	f := &follower{run: run, wake: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.runs[run]
	if t == nil {
		t = &topic{}
		h.runs[run] = t
	}
	f.at = len(t.followers)
	t.followers = append(t.followers, f)
	return f
}

func (h *hub) leave(f *follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.runs[f.run]
	last := len(t.followers) - 1
	t.followers[f.at] = t.followers[last]
	t.followers[f.at].at = f.at
	t.followers[last] = nil
	if t.followers = t.followers[:last]; last == 0 {
		delete(h.runs, f.run)
	}
}

// followed returns the runs that are followed and fit.
func (h *hub) followed(fits func(run string) bool) (runs []string) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for run := range h.runs {
		if fits(run) {
			runs = append(runs, run)
		}
	}
	return runs
}

// found has those look at the store who follow one of these runs, if it is gone or
// its last sequence is another than a look has found before.
func (h *hub) found(runs []string, last map[string]int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, run := range runs {
		t := h.runs[run]
		seq, there := last[run]
		if t == nil || there && t.reached == seq {
			continue
		}
		t.reached = seq
		for _, f := range t.followers {
			f.mu.Lock()
			f.news.look = true
			f.mu.Unlock()
			f.poke()
		}
	}
}
