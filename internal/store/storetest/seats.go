package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"dossier/internal/fleet"
	"dossier/internal/store"
	"dossier/run"
)

// office makes an instance "i" with so many slots.
func (f *fixture) office(slots, queue int) {
	f.Helper()
	f.template("t", "d")
	f.ok(f.store.AddInstances(f.ctx, []fleet.Instance{{ID: "i", Name: "n", Template: "t", Slots: slots, Queue: queue, State: fleet.Ready, Created: at}}))
}

// enter has a run come to it, and demands that it gets a slot or not.
func (f *fixture) enter(id, session string, how fleet.Arrival, granted bool) {
	f.Helper()
	got, err := f.store.Enter(f.ctx, fleet.Seat{Instance: "i", Session: session, Run: id}, how)
	f.ok(err)
	if got != granted {
		f.Fatalf("%s has a slot: %v, want %v", id, got, granted)
	}
}

// leaves has a run leave, and demands that these get its slot.
func (f *fixture) leaves(id string, granted ...string) {
	f.Helper()
	got, err := f.store.Leave(f.ctx, id)
	f.ok(err)
	if !slices.Equal(got, granted) {
		f.Fatalf("%v got the slot, want %v", got, granted)
	}
}

// does demands that so many runs work and wait.
func (f *fixture) does(running, queued, sessions int) {
	f.Helper()
	want := map[string]fleet.Load{}
	if running+queued > 0 {
		want["i"] = fleet.Load{Running: running, Queued: queued, Sessions: sessions}
	}
	got, err := f.store.Loads(f.ctx)
	f.ok(err)
	if !reflect.DeepEqual(got, want) {
		f.Fatalf("got %v, want %v", got, want)
	}
}

// settled demands that a sweep gives slots to these.
func (f *fixture) settled(granted ...string) {
	f.Helper()
	got, err := f.store.Settle(f.ctx)
	f.ok(err)
	if !slices.Equal(got, granted) {
		f.Fatalf("%v got a slot, want %v", got, granted)
	}
}

// to brings a run into a state.
func (f *fixture) to(id string, status run.Status) {
	f.Helper()
	f.ok(f.commit(run.Batch{Run: id, Epoch: f.acquire(id, "worker"), State: &run.State{Status: status}, Release: true}))
}

var seatTests = []test{
	{"sessions take turns, and the runs of one keep their order", func(f *fixture) {
		f.office(1, 10)
		f.enter("a1", "a", fleet.Fresh, true)
		for _, id := range []string{"a2", "a3", "b1", "a4", "b2"} {
			f.enter(id, id[:1], fleet.Fresh, false)
		}
		f.enter("a0", "a", fleet.Resumed, false)
		f.enter("a5", "a", fleet.Restored, false)
		f.does(1, 7, 2)
		standing, err := f.handles[1].Standing(f.ctx, []string{"a1", "a2", "nobody"})
		f.ok(err)
		f.equal(standing, map[string]bool{"a1": true, "a2": false})
		for asked, want := range map[string][]string{"a2": {"a1"}, "a1": nil, "nobody": nil} { // who has a slot waits for nobody
			holders, err := f.handles[1].Holders(f.ctx, []string{asked})
			f.ok(err)
			f.equal(holders, want)
		}
		last := "a1"
		for _, next := range []string{"a0", "b1", "a2", "b2", "a3", "a4", "a5"} {
			f.leaves(last, next)
			last = next
		}
		f.leaves(last)
		f.does(0, 0, 0)
		f.leaves(last) // twice is once
		f.ok(f.store.RemoveInstance(f.ctx, "i"))
	}},
	{"who is refused", func(f *fixture) {
		f.office(1, 1)
		refused := func(how fleet.Arrival, want string) {
			f.Helper()
			_, err := f.store.Enter(f.ctx, fleet.Seat{Instance: "i", Session: "new", Run: "r"}, how)
			if err == nil || !strings.Contains(err.Error(), want) {
				f.Fatalf("%v, want %q", err, want)
			}
			// Who is refused does not have the session.
			owner, err := f.store.SessionOwner(f.ctx, "new")
			f.ok(err)
			f.equal(owner, "")
		}
		f.enter("r1", "a", fleet.Fresh, true)
		f.enter("r2", "a", fleet.Fresh, false)
		refused(fleet.Fresh, "queue is full (1)")
		f.enter("r3", "a", fleet.Resumed, false)
		f.enter("r4", "a", fleet.Restored, false)
		f.ok(f.store.SetInstanceState(f.ctx, "i", fleet.Draining))
		refused(fleet.Fresh, "draining")
		f.enter("r5", "a", fleet.Resumed, false)
		running, waiting, err := f.store.StopInstance(f.ctx, "i")
		f.ok(err)
		f.equal(running, []string{"r1"})
		f.equal(waiting, []string{"r2", "r3", "r4", "r5"})
		for _, how := range []fleet.Arrival{fleet.Fresh, fleet.Resumed, fleet.Restored} {
			refused(how, "stopped")
		}
		// One that was there from before is refused as well, and still has its slot.
		_, err = f.store.Enter(f.ctx, fleet.Seat{Instance: "i", Session: "a", Run: "r1"}, fleet.Restored)
		if _, refused := errors.AsType[*fleet.StateError](err); !refused {
			f.Fatal(err)
		}
		f.does(1, 0, 1)
		f.leaves("r1")
		f.does(0, 0, 0)
		_, _, err = f.store.StopInstance(f.ctx, "none")
		f.is(err, fleet.ErrNoInstance)
	}},
	{"an orphan that waits for a slot is left out", func(f *fixture) {
		f.office(1, 10)
		orphans := func(want ...string) {
			f.Helper()
			got, err := f.store.Orphans(f.ctx, "")
			f.ok(err)
			if !slices.Equal(got, want) {
				f.Fatalf("orphans %v, want %v", got, want)
			}
		}
		for _, id := range []string{"r1", "r2", "r3"} {
			f.create(id, "")
		}
		orphans("r1", "r2", "r3")
		f.enter("r1", "", fleet.Fresh, true)
		f.enter("r2", "", fleet.Fresh, false)
		f.enter("r3", "", fleet.Fresh, false)
		orphans("r1")
		f.leaves("r1", "r2")
		orphans("r1", "r2")
	}},
	{"a run that is deleted frees its seat", func(f *fixture) {
		f.office(1, 10)
		for _, id := range []string{"r1", "r2", "r3"} {
			f.create(id, "")
		}
		f.enter("r1", "", fleet.Fresh, true)
		f.enter("r2", "", fleet.Fresh, false)
		f.enter("r3", "", fleet.Fresh, false)
		f.ok(f.store.Delete(f.ctx, "r2"))
		f.does(1, 1, 1)
		f.ok(f.store.Delete(f.ctx, "r1"))
		f.does(1, 0, 1)
		f.enter("r3", "", fleet.Restored, true)
	}},
	{"who is evicted keeps the seat for whoever goes on", func(f *fixture) {
		f.office(1, 10)
		for _, id := range []string{"r1", "r2"} {
			f.ok(f.store.Create(f.ctx, run.Record{ID: id, Home: "worker"}, nil, nil))
		}
		f.enter("r1", "", fleet.Fresh, true)
		f.enter("r2", "", fleet.Fresh, false)
		f.acquire("r1", "worker")
		f.ok(f.store.Evict(f.ctx, "worker"))
		f.settled()
		f.does(1, 1, 1)
		got, err := f.store.Orphans(f.ctx, "other")
		f.ok(err)
		f.equal(got, []string{"r1"})
		f.enter("r1", "", fleet.Restored, true)
		f.enter("r2", "", fleet.Restored, false)
	}},
	{"seats that nobody gives back are settled", func(f *fixture) {
		f.office(4, 10)
		var all []string
		for _, status := range []run.Status{run.Done, run.Waiting, run.Paused, run.Failed} {
			id := string(status)
			f.create(id, "")
			f.enter(id, "", fleet.Fresh, true)
			all = append(all, id)
		}
		for i := range 6 {
			id := fmt.Sprint("next", i)
			f.create(id, "")
			f.enter(id, id, fleet.Fresh, false)
		}
		f.settled() // they have not begun
		for _, id := range all {
			f.to(id, run.Status(id))
		}
		f.settled("next0", "next1", "next2", "next3")
		f.does(4, 2, 6)
		f.settled()
		// Those that wait for a slot may end too.
		f.to("next4", run.Cancelled)
		f.acquire("next0", "worker")
		f.settled()
		f.does(4, 1, 5)
		f.ok(f.store.Delete(f.ctx, "next1"))
		f.does(4, 0, 4)
	}},
	{"one that rests and was brought to go on is not settled", func(f *fixture) {
		f.office(1, 10)
		f.create("r1", "")
		f.create("r2", "")
		f.enter("r1", "", fleet.Fresh, true)
		f.to("r1", run.Waiting)
		f.leaves("r1")
		f.enter("r1", "", fleet.Resumed, true) // it is about to be taken
		f.enter("r2", "", fleet.Fresh, false)
		f.settled()
		f.clock.Advance(fleet.SeatGrace)
		f.settled()
		f.clock.Advance(time.Second) // whoever brought it is dead
		f.settled("r2")
		f.enter("r1", "", fleet.Resumed, false)
		f.clock.Advance(2 * fleet.SeatGrace)
		f.settled() // to wait for a slot takes as long as it takes
		f.does(1, 1, 1)
	}},
	{"one of a run that is gone, or never was, is settled", func(f *fixture) {
		f.office(1, 10)
		f.create("r2", "")
		f.enter("r1", "", fleet.Fresh, true)
		f.enter("r2", "", fleet.Fresh, false)
		f.settled("r2")
		f.does(1, 0, 1)
	}},
	{"those that wait know who has the slots", func(f *fixture) {
		f.office(2, 10)
		f.ok(f.store.AddInstances(f.ctx, []fleet.Instance{
			{ID: "j", Name: "m", Template: "t", Slots: 1, Queue: 10, State: fleet.Ready, Created: at},
			{ID: "k", Name: "o", Template: "t", Slots: 1, Queue: 10, State: fleet.Ready, Created: at},
		}))
		for _, id := range []string{"b", "a", "c", "d"} {
			f.enter(id, "", fleet.Fresh, id < "c")
		}
		for _, id := range []string{"j1", "j2", "k1", "k2"} {
			_, err := f.store.Enter(f.ctx, fleet.Seat{Instance: id[:1], Run: id}, fleet.Fresh)
			f.ok(err)
		}
		holders, err := f.handles[1].Holders(f.ctx, []string{"d", "j2", "c", "k1"})
		f.ok(err)
		f.equal(holders, []string{"a", "b", "j1"})
	}},
	{"however many come at once, slots are slots", func(f *fixture) { f.rush(3) }},
	{"with one slot all go in order, however they come", func(f *fixture) { f.rush(1) }},
	{"one that enters through every handle has one seat", func(f *fixture) {
		f.office(1, 10)
		f.enter("first", "", fleet.Fresh, true)
		f.all(func(s store.Store, _ int) error {
			granted, err := s.Enter(f.ctx, fleet.Seat{Instance: "i", Session: "s", Run: "r"}, fleet.Fresh)
			if granted {
				err = errors.New("there are two in one slot")
			}
			return err
		})
		f.does(1, 1, 2)
		var mu sync.Mutex
		var granted []string
		f.all(func(s store.Store, _ int) error {
			next, err := s.Leave(f.ctx, "first")
			mu.Lock()
			defer mu.Unlock()
			granted = append(granted, next...)
			return err
		})
		f.equal(granted, []string{"r"})
	}},
	{"an instance is removed or entered, not both", func(f *fixture) {
		f.template("t", "d")
		for round := range 20 {
			id := fmt.Sprint("i", round)
			f.ok(f.store.AddInstances(f.ctx, []fleet.Instance{{ID: id, Name: id, Template: "t", Slots: 1, Queue: 1, State: fleet.Ready, Created: at}}))
			var removed, entered error
			var both sync.WaitGroup
			both.Go(func() { removed = f.handles[0].RemoveInstance(f.ctx, id) })
			both.Go(func() { _, entered = f.handles[1].Enter(f.ctx, fleet.Seat{Instance: id, Run: "r" + id}, fleet.Fresh) })
			both.Wait()
			if (removed == nil) == (entered == nil) {
				f.Fatalf("removed: %v, entered: %v", removed, entered)
			}
			f.ok(ignore(removed, fleet.ErrInUse))
			f.ok(ignore(entered, fleet.ErrNoInstance))
		}
	}},
	{"a stop leaves nobody behind who waits", func(f *fixture) {
		f.template("t", "d")
		for round := range 10 {
			id := fmt.Sprint("i", round)
			f.ok(f.store.AddInstances(f.ctx, []fleet.Instance{{ID: id, Name: id, Template: "t", Slots: 1, Queue: 100, State: fleet.Ready, Created: at}}))
			var mu sync.Mutex
			entered := map[string]bool{}
			var running, waiting []string
			f.all(func(s store.Store, i int) error {
				if i == crowd/2 {
					var err error
					running, waiting, err = s.StopInstance(f.ctx, id)
					return err
				}
				run := fmt.Sprint(id, "-", i)
				_, err := s.Enter(f.ctx, fleet.Seat{Instance: id, Run: run}, fleet.Fresh)
				if _, refused := errors.AsType[*fleet.StateError](err); refused {
					return nil
				}
				mu.Lock()
				defer mu.Unlock()
				entered[run] = true
				return err
			})
			if len(entered) != len(running)+len(waiting) {
				f.Fatalf("%d were admitted, %v run and %v wait", len(entered), running, waiting)
			}
			loads, err := f.store.Loads(f.ctx, id)
			f.ok(err)
			if l := loads[id]; l.Running != len(running) || l.Queued != 0 {
				f.Fatalf("%+v", l)
			}
		}
	}},
}

// rush has runs of several sessions come at once through all handles, and demands
// that each gets a slot once, never more than there are, and with one slot in the
// order of its session.
func (f *fixture) rush(slots int) {
	f.Helper()
	const runs, sessions = 60, 5
	f.office(slots, runs)
	var mu sync.Mutex
	var working, most int
	var ran []string
	var all sync.WaitGroup
	// work does what an engine does: the run leaves, and who is next is started.
	var work func(s store.Store, id string)
	work = func(s store.Store, id string) {
		mu.Lock()
		working++
		most = max(most, working)
		ran = append(ran, id)
		mu.Unlock()
		all.Go(func() {
			mu.Lock()
			working--
			mu.Unlock()
			next, err := s.Leave(f.ctx, id)
			if err != nil {
				f.Error(err)
			}
			for _, id := range next {
				work(s, id)
			}
		})
	}
	for session := range sessions {
		s := f.handles[session%len(f.handles)]
		all.Go(func() {
			for i := range runs / sessions {
				id := fmt.Sprintf("s%d-%02d", session, i)
				granted, err := s.Enter(f.ctx, fleet.Seat{Instance: "i", Session: fmt.Sprint("s", session), Run: id}, fleet.Fresh)
				if err != nil {
					f.Error(err)
					return
				}
				if granted {
					work(s, id)
				}
			}
		})
	}
	all.Wait()
	once := slices.Compact(slices.Sorted(slices.Values(ran)))
	if len(ran) != runs || len(once) != runs || most > slots {
		f.Fatalf("%d of %d runs were started %d times, %d at once in %d slots", len(once), runs, len(ran), most, slots)
	}
	f.does(0, 0, 0)
	if slots > 1 {
		return
	}
	last := map[string]string{}
	for _, id := range ran {
		session, _, _ := strings.Cut(id, "-")
		if last[session] > id {
			f.Fatalf("%s came after %s", id, last[session])
		}
		last[session] = id
	}
}
