package dispatch

import (
	"encoding/json"
	"testing"

	"dossier/event"
)

func note(run string, seq int64) event.Event {
	return event.Event{Run: run, Seq: seq, Data: event.NoteAdded{}}
}

// A follower that is too slow keeps nothing of what it would have to take, since
// the store has it, and learns of a run that can't go on in any case.
func TestSlowFollower(t *testing.T) {
	h := newHub()
	f := h.follow("r")
	for i := range followerBuffer {
		h.publish(note("r", int64(i+1)))
	}
	if n := f.take(); n.missed || len(n.events) != followerBuffer || n.events[7].Seq != 8 {
		t.Fatalf("missed %v with %d events", n.missed, len(n.events))
	}
	for i := range followerBuffer + 1 {
		h.publish(note("r", int64(i+1)))
	}
	h.publish(event.Event{Run: "r", Data: event.RunError{Code: "storage", Fatal: true}})
	h.publish(note("other", 1))
	if n := f.take(); !n.missed || n.events != nil || n.dead == nil || n.dead.Code != "storage" {
		t.Errorf("%+v", n)
	}
	h.publish(note("r", 1000))
	if n := f.take(); n.missed || len(n.events) != 1 {
		t.Errorf("after it was told: %+v", n)
	}
	h.leave(f)
	if len(h.runs) != 0 {
		t.Errorf("the hub still holds %v", h.runs)
	}
}

// A follower to whom nothing happens has no buffer, also after something did.
func TestIdleFollowerHoldsNothing(t *testing.T) {
	h := newHub()
	f := h.follow("r")
	if f.news.events != nil {
		t.Error("a new follower has a buffer")
	}
	h.publish(note("r", 1))
	f.take()
	if f.news.events != nil {
		t.Error("what was taken is still there")
	}
}

// What several follow is the same event for all of them, encoded once.
func TestFollowersShareEvents(t *testing.T) {
	h := newHub()
	all := []*follower{h.follow("r"), h.follow("r"), h.follow("r")}
	h.publish(note("r", 1))
	var forms [][]byte
	for _, f := range all {
		raw, err := f.take().events[0].MarshalJSON()
		if err != nil || !json.Valid(raw) {
			t.Fatalf("%s: %v", raw, err)
		}
		forms = append(forms, raw)
	}
	if &forms[0][0] != &forms[1][0] || &forms[1][0] != &forms[2][0] {
		t.Error("each follower has the event encoded anew")
	}
	h.leave(all[0])
	h.publish(note("r", 2))
	for i, want := range []int{0, 1, 1} {
		if got := len(all[i].take().events); got != want {
			t.Errorf("follower %d gets %d events, want %d", i, got, want)
		}
	}
	h.leave(all[2])
	h.leave(all[1])
	if len(h.runs) != 0 {
		t.Errorf("the hub still holds %v", h.runs)
	}
}

// One look at the store is for all: only followers of runs that went on, or are
// gone, are told to look themselves.
func TestOneLookForAll(t *testing.T) {
	h := newHub()
	rests, goes, gone := h.follow("rests"), h.follow("goes"), h.follow("gone")
	runs := h.followed(func(string) bool { return true })
	if len(runs) != 3 {
		t.Fatal(runs)
	}
	h.found(runs, map[string]int64{"rests": 4, "goes": 4, "gone": 4})
	for _, f := range []*follower{rests, goes, gone} {
		if !f.take().look {
			t.Errorf("%s: what happened before the first look is not looked at", f.run)
		}
	}
	h.found(runs, map[string]int64{"rests": 4, "goes": 5})
	if rests.take().look || !goes.take().look || !gone.take().look {
		t.Error("the wrong ones are told to look")
	}
	if got := h.followed(func(run string) bool { return run == "goes" }); len(got) != 1 || got[0] != "goes" {
		t.Error(got)
	}
}
