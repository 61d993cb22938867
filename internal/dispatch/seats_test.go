package dispatch_test

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dossier/internal/dispatch"
	"dossier/internal/fleet"
	"dossier/internal/store/memory"
	"dossier/run"
)

// seats are turns that are rows of a store: those of the instance "i".
type seats struct{ *shaky }

func (s seats) Enter(ctx context.Context, r run.Record, how dispatch.Entry) ([]string, error) {
	if s.cut.Load() {
		return nil, errCut
	}
	arrival := map[dispatch.Entry]fleet.Arrival{dispatch.Fresh: fleet.Fresh, dispatch.Resumed: fleet.Resumed, dispatch.Restored: fleet.Restored}[how]
	granted, err := s.Store.Enter(ctx, fleet.Seat{Instance: "i", Session: r.Session, Run: r.ID}, arrival)
	if !granted {
		return nil, err
	}
	return []string{r.ID}, err
}

func (s seats) Leave(ctx context.Context, id string) ([]string, error) {
	if s.cut.Load() {
		return nil, errCut
	}
	return s.Store.Leave(ctx, id)
}

// office makes the instance.
func office(t *testing.T, s *memory.Store, slots int) {
	t.Helper()
	if err := s.CreateTemplate(t.Context(), "t", fleet.Version{Document: "d"}); err != nil {
		t.Fatal(err)
	}
	err := s.AddInstances(t.Context(), []fleet.Instance{{ID: "i", Name: "i", Template: "t", Slots: slots, Queue: 100, State: fleet.Ready}})
	if err != nil {
		t.Fatal(err)
	}
}

// began notes that a step of a run is under way, until over is called, and demands
// that no more runs are at work than there are slots.
func (c *chaos) began(id string) (over func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at[id]++; c.slots > 0 && len(c.at) > c.slots {
		// The step of a worker that lost its run may be about to end, in this very
		// moment of virtual time.
		time.AfterFunc(time.Millisecond, c.crowded)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.at[id]--; c.at[id] == 0 {
			delete(c.at, id)
		}
	}
}

// crowded fails when more runs are at work than there are slots.
func (c *chaos) crowded() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.at) > c.slots {
		c.Errorf("%v are at work in %d slots", slices.Sorted(maps.Keys(c.at)), c.slots)
	}
}

// vacated demands that runs which are over keep no seat for longer than it takes to
// find that.
func (c *chaos) vacated(ctx context.Context) {
	time.Sleep(2 * chaosTTL)
	if loads, err := c.store.Loads(ctx); err != nil || len(loads) > 0 {
		c.Errorf("after all runs: %v, %v", loads, err)
	}
}

// seated is a worker whose runs belong to an instance with one slot.
func (y *yard) seated(name string) *dispatch.Local {
	return y.worker(name, func(o *dispatch.Options) { o.Turns = seats{&shaky{Store: y.store.Handle()}} })
}

// The turn of a run that is deleted is given on at once.
func TestADeletedRunGivesItsTurnOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		office(t, y.store, 1)
		y.create("gone", "elsewhere")
		if granted, err := y.store.Enter(t.Context(), fleet.Seat{Instance: "i", Run: "gone"}, fleet.Fresh); err != nil || !granted {
			t.Fatal(granted, err)
		}
		l := y.seated("w")
		y.create("next", "w")
		y.must(l.Enqueue(t.Context(), "next", dispatch.Fresh))
		time.Sleep(time.Second)
		if got := y.began(); len(got) > 0 {
			t.Fatalf("%v began", got)
		}
		y.must(l.Store.(*memory.Store).Delete(t.Context(), "gone")) // what its own handle changes, nobody tells it
		l.Forget(t.Context(), "gone")
		time.Sleep(time.Second)
		if got := y.began(); !slices.Equal(got, []string{"next"}) {
			t.Errorf("%v began", got)
		}
	})
}

// A turn that another process gives on is found by the one whose run waits for it,
// and what the dead had goes on where somebody waits for it, in order.
func TestTurnsAreGivenOnBetweenProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		office(t, y.store, 1)
		one, two := y.seated("one"), y.seated("two")
		y.create("1", "one")
		y.must(one.Enqueue(t.Context(), "1", dispatch.Fresh))
		time.Sleep(time.Second)
		y.create("2", "two")
		y.must(two.Enqueue(t.Context(), "2", dispatch.Fresh))
		time.Sleep(10 * time.Second) // the first one is over
		if got := y.began(); !slices.Equal(got, []string{"1", "2"}) {
			t.Fatalf("%v began", got)
		}
		for _, id := range []string{"3", "4"} { // two's, which dies in the midst of the second run
			y.create(id, "two")
			y.must(two.Enqueue(t.Context(), id, dispatch.Fresh))
		}
		two.Close()
		time.Sleep(time.Minute) // one is not there for these
		if got := y.began(); !slices.Equal(got, []string{"1", "2"}) {
			t.Fatalf("%v began", got)
		}
		y.create("5", "one")
		y.must(one.Enqueue(t.Context(), "5", dispatch.Fresh))
		time.Sleep(time.Minute)
		if got := y.began(); !slices.Equal(got, []string{"1", "2", "2", "3", "4", "5"}) {
			t.Errorf("%v began", got)
		}
	})
}

// A run that has its turn and waits for a worker may lose it to another process that
// is faster: then it comes anew, and is not worked on without a turn.
func TestATurnThatIsOverWhenAWorkerIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		office(t, y.store, 2)
		l := y.worker("w", func(o *dispatch.Options) { o.Workers, o.Turns = 1, seats{&shaky{Store: y.store.Handle()}} })
		for _, id := range []string{"busy", "r"} {
			y.create(id, "w")
			y.must(l.Enqueue(t.Context(), id, dispatch.Fresh))
		}
		time.Sleep(time.Second)
		_, err := y.store.Leave(t.Context(), "r") // by one that has worked on it
		y.must(err)
		for _, id := range []string{"x1", "x2"} {
			y.create(id, "elsewhere")
			_, err := y.store.Enter(t.Context(), fleet.Seat{Instance: "i", Run: id}, fleet.Fresh)
			y.must(err)
		}
		time.Sleep(time.Minute)
		if got := y.began(); !slices.Equal(got, []string{"busy"}) {
			t.Fatalf("%v began", got)
		}
		_, err = y.store.Leave(t.Context(), "x1")
		y.must(err)
		time.Sleep(time.Second)
		if got := y.began(); !slices.Equal(got, []string{"busy", "r"}) {
			t.Errorf("%v began", got)
		}
	})
}

// A run that is paused while it waits for its turn, and resumed before its worker
// has left it, waits for its turn again.
func TestOneThatCameToRestHasNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		office(t, y.store, 1)
		var l *dispatch.Local
		var paused atomic.Int32
		l = y.worker("w", func(o *dispatch.Options) {
			o.Turns = seats{&shaky{Store: y.store.Handle()}}
			o.Left = func(id string, status run.Status) {
				if status != run.Paused {
					return
				}
				paused.Add(1)
				h, err := y.store.History(t.Context(), id)
				y.must(err)
				r, err := run.Reopen(h, run.ReopenOptions{Home: "w"})
				y.must(err)
				y.must(y.store.Reopen(t.Context(), id, r))
				y.must(l.Enqueue(t.Context(), id, dispatch.Resumed))
			}
		})
		for _, id := range []string{"1", "2"} {
			y.create(id, "w")
			y.must(l.Enqueue(t.Context(), id, dispatch.Fresh))
			time.Sleep(time.Second)
		}
		y.must(l.Signal(t.Context(), "2", run.Signal{Kind: run.SignalPause}))
		time.Sleep(time.Second)
		if got := y.began(); paused.Load() != 1 || !slices.Equal(got, []string{"1"}) {
			t.Errorf("%v began, %d paused", got, paused.Load())
		}
		time.Sleep(30 * time.Second)
		if got := y.status("2"); !got.Ended() {
			t.Errorf("it is %s", got)
		}
	})
}
