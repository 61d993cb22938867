package dispatch

import (
	"testing"

	"dossier/event"
)

// A follower that is too slow drops what it has buffered, which is older than
// what the store has, and learns of a run that can't go on in any case.
func TestSlowFollower(t *testing.T) {
	h := newHub()
	f := h.follow("r")
	for i := range followerBuffer {
		h.publish(event.Event{Run: "r", Seq: int64(i + 1), Data: event.NoteAdded{}})
	}
	if f.missed() {
		t.Fatal("nothing was left out yet")
	}
	h.publish(event.Event{Run: "r", Data: event.RunError{Code: "storage", Fatal: true}})
	h.publish(event.Event{Run: "other", Seq: 1, Data: event.NoteAdded{}})
	if !f.missed() || f.missed() || len(f.ch) != 0 {
		t.Errorf("%d events are still buffered", len(f.ch))
	}
	if why := f.stopped(); why == nil || why.Code != "storage" {
		t.Errorf("stopped: %+v", why)
	}
	h.leave(f)
	if len(h.runs) != 0 {
		t.Errorf("the hub still holds %v", h.runs)
	}
}
