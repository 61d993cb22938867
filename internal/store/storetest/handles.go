package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dossier/internal/fleet"
	"dossier/internal/store"
	"dossier/kb"
	"dossier/run"
)

// Whatever looks before it writes has to hold when others, through handles of
// their own, look and write at the same moment.
var handleTests = []test{
	{"of many creations one wins", func(f *fixture) {
		f.one(store.ErrExists, func(s store.Store, i int) error {
			return s.Create(f.ctx, run.Record{ID: "r", Session: fmt.Sprint("s", i)}, nil, nil)
		})
		list, err := f.store.SessionList(f.ctx, store.SessionFilter{})
		f.ok(err)
		if len(list) != 1 {
			f.Fatalf("sessions %+v", list)
		}
	}},
	{"of many workers one gets the run", func(f *fixture) {
		f.create("r", "")
		f.one(run.ErrLeased, func(s store.Store, i int) error {
			_, err := s.Acquire(f.ctx, "r", fmt.Sprint("w", i), ttl)
			return err
		})
		if r := f.record("r"); r.Epoch != 1 {
			f.Fatalf("epoch %d", r.Epoch)
		}
	}},
	{"a lease that has ended is renewed or taken, not both", func(f *fixture) {
		for round := range 20 {
			id := fmt.Sprint("r", round)
			f.start(id)
			f.clock.Advance(ttl)
			var kept, taken atomic.Bool
			f.all(func(s store.Store, i int) error {
				if i == 0 {
					_, lost, err := s.Renew(f.ctx, "worker", ttl, map[string]int64{id: 0})
					kept.Store(err == nil && len(lost) == 0)
					return err
				}
				_, err := s.Acquire(f.ctx, id, fmt.Sprint("w", i), ttl)
				if err == nil && taken.Swap(true) {
					return errors.New("two took it")
				}
				if errors.Is(err, run.ErrLeased) {
					err = nil
				}
				return err
			})
			if kept.Load() == taken.Load() {
				f.Fatalf("renewed: %v, taken: %v", kept.Load(), taken.Load())
			}
		}
	}},
	{"a run is deleted or taken, not both", func(f *fixture) {
		for round := range 20 {
			id := fmt.Sprint("r", round)
			f.create(id, "s")
			var deleted, taken atomic.Bool
			f.all(func(s store.Store, i int) error {
				if i%2 == 0 {
					err := s.Delete(f.ctx, id)
					if err == nil {
						deleted.Store(true)
					}
					return ignore(err, store.ErrBusy, run.ErrUnknownRun)
				}
				_, err := s.Acquire(f.ctx, id, fmt.Sprint("w", i), ttl)
				if err == nil {
					taken.Store(true)
				}
				return ignore(err, run.ErrLeased, run.ErrUnknownRun)
			})
			if deleted.Load() == taken.Load() {
				f.Fatalf("deleted: %v, taken: %v", deleted.Load(), taken.Load())
			}
		}
	}},
	{"a fence holds for every handle", func(f *fixture) {
		epoch := f.start("r")
		for i, s := range f.handles { // each remembers where the run was
			f.ok(f.commitTo(s, run.Batch{Run: "r", Epoch: epoch, Events: notes(int64(i)+1, 1), Entries: []run.Entry{step(fmt.Sprint("k", i), "1")}}))
		}
		f.clock.Advance(ttl)
		h, err := f.handles[1].Acquire(f.ctx, "r", "other", ttl)
		f.ok(err)
		n := int64(len(f.handles))
		for _, s := range f.handles {
			f.is(f.commitTo(s, run.Batch{Run: "r", Epoch: epoch, Entries: []run.Entry{step("late", "1")}}), run.ErrFenced)
		}
		f.ok(f.commitTo(f.handles[2], run.Batch{Run: "r", Epoch: h.Record.Epoch, Events: notes(n+1, 1)}))
		f.sizes("r", len(f.handles), len(f.handles)+1)
	}},
	{"of many answers one counts", func(f *fixture) {
		f.asking("r", "q")
		f.one(store.ErrAnswered, func(s store.Store, i int) error { return s.Answer(f.ctx, "r", "q", fmt.Sprint("answer ", i)) })
		if got := f.signals("r", 0); len(got) != 1 {
			f.Fatalf("%d answers", len(got))
		}
	}},
	{"no signal is lost", func(f *fixture) {
		f.start("r")
		f.all(func(s store.Store, i int) error {
			return s.Signal(f.ctx, "r", run.Signal{Kind: run.SignalSteer, Text: fmt.Sprint(i)})
		})
		got := f.signals("r", 0)
		for i, g := range got {
			if g.N != int64(i)+1 {
				f.Fatalf("signals %+v", got)
			}
		}
		if len(got) != crowd {
			f.Fatalf("%d signals", len(got))
		}
	}},
	{"of many reopenings one counts", func(f *fixture) {
		f.ok(f.commit(run.Batch{Run: "r", Epoch: f.start("r"), State: &run.State{Status: run.Failed}, Release: true}))
		r := f.reopening("r")
		f.one(run.ErrChanged, func(s store.Store, _ int) error { return s.Reopen(f.ctx, "r", r) })
		f.sizes("r", 0, 1)
	}},
	{"of many templates of a name one is made", func(f *fixture) {
		f.one(fleet.ErrExists, func(s store.Store, i int) error {
			return s.CreateTemplate(f.ctx, "t", fleet.Version{Template: "t", Document: fmt.Sprint("version ", i), Created: at})
		})
	}},
	{"versions are numbered without a gap", func(f *fixture) {
		f.ok(f.store.CreateTemplate(f.ctx, "t", fleet.Version{Template: "t", Document: "first", Created: at}))
		f.all(func(s store.Store, i int) error {
			_, _, err := s.AddTemplateVersion(f.ctx, "t", fleet.Version{Template: "t", Document: fmt.Sprint("document ", i), Created: at})
			return err
		})
		t, err := f.store.Template(f.ctx, "t")
		f.ok(err)
		var numbers []int
		for _, v := range t.Versions {
			numbers = append(numbers, v.N)
		}
		slices.Sort(numbers)
		for i, n := range numbers {
			if n != i+1 {
				f.Fatalf("versions %v", numbers)
			}
		}
		if len(numbers) != crowd+1 {
			f.Fatalf("%d versions", len(numbers))
		}
	}},
	{"of many instances of a name one is made", func(f *fixture) {
		f.template("t", "d")
		f.one(fleet.ErrExists, func(s store.Store, i int) error {
			return s.AddInstances(f.ctx, []fleet.Instance{{ID: fmt.Sprint("i", i), Name: "n", Template: "t", Slots: 1, State: fleet.Ready, Created: at}})
		})
	}},
	{"a session has one owner", func(f *fixture) {
		f.template("t", "d")
		for i := range crowd {
			f.ok(f.store.AddInstances(f.ctx, []fleet.Instance{{ID: fmt.Sprint("i", i), Name: fmt.Sprint("n", i), Template: "t", Slots: 1, State: fleet.Ready, Created: at}}))
		}
		var won atomic.Int64
		f.all(func(s store.Store, i int) error {
			_, err := s.Enter(f.ctx, fleet.Seat{Instance: fmt.Sprint("i", i), Session: "s", Run: fmt.Sprint("r", i)}, fleet.Fresh)
			if err == nil {
				won.Add(1)
			}
			if _, foreign := errors.AsType[*fleet.SessionError](err); foreign {
				err = nil
			}
			return err
		})
		owner, err := f.store.SessionOwner(f.ctx, "s")
		f.ok(err)
		if won.Load() != 1 || owner == "" {
			f.Fatalf("%d have the session, which is that of %q", won.Load(), owner)
		}
	}},
	{"an outcome counts once", func(f *fixture) {
		f.template("t", "d")
		f.ok(f.store.AddInstances(f.ctx, []fleet.Instance{{ID: "i", Name: "n", Template: "t", Slots: 1, State: fleet.Ready, Created: at}}))
		f.all(func(s store.Store, _ int) error {
			return s.PutOutcome(f.ctx, fleet.Outcome{Run: "r", Template: "t", Version: 1, Instance: "i", Status: run.Done, At: at})
		})
		i, err := f.store.Instance(f.ctx, "i")
		f.ok(err)
		if i.Served != 1 {
			f.Fatalf("served %d", i.Served)
		}
	}},
	{"of many changes of a collection one counts", func(f *fixture) {
		f.ok(f.store.CreateCollection(f.ctx, kb.Collection{ID: "c", Name: "c", Created: at}))
		f.one(kb.ErrChanged, func(s store.Store, i int) error {
			_, err := s.ChangeCollection(f.ctx, "c", kb.Change{Put: []kb.Document{{N: 1, Path: fmt.Sprint("file ", i)}}})
			return err
		})
	}},
	{"settings are whole", func(f *fixture) {
		f.all(func(s store.Store, i int) error {
			return s.SetSetting(f.ctx, "b", "k", fmt.Appendf(nil, "value %02d", i))
		})
		got, err := f.store.Setting(f.ctx, "b", "k")
		f.ok(err)
		if len(got) != len("value 00") {
			f.Fatalf("%q", got)
		}
	}},
	{"a change through one handle is seen through the others", func(f *fixture) {
		changes, stop := f.handles[1].Watch()
		defer stop()
		for i, change := range []func() error{
			func() error { return f.store.Create(f.ctx, run.Record{ID: "r"}, nil, nil) },
			func() error { return f.store.Signal(f.ctx, "r", run.Signal{Kind: run.SignalSteer, Text: "x"}) },
			func() error { _, err := f.store.Acquire(f.ctx, "r", "w", ttl); return err },
			func() error { return f.commit(run.Batch{Run: "r", Epoch: 1, Events: notes(1, 1)}) },
			func() error { return f.store.Evict(f.ctx, "w") },
		} {
			f.ok(change())
			select {
			case <-changes:
			case <-time.After(time.Minute):
				f.Fatalf("change %d was not told", i)
			}
			if _, err := f.handles[1].Run(f.ctx, "r"); err != nil {
				f.Fatal(err)
			}
		}
	}},
}

// crowd is how many do something at once.
const crowd = 12

// all does something that many do at once, over all handles.
func (f *fixture) all(do func(s store.Store, i int) error) {
	f.Helper()
	var wg sync.WaitGroup
	errs := make([]error, crowd)
	for i := range crowd {
		wg.Go(func() { errs[i] = do(f.handles[i%len(f.handles)], i) })
	}
	wg.Wait()
	f.ok(errors.Join(errs...))
}

// one is all for what only one of them can do; the others fail as said.
func (f *fixture) one(otherwise error, do func(s store.Store, i int) error) {
	f.Helper()
	var won atomic.Int64
	f.all(func(s store.Store, i int) error {
		err := do(s, i)
		if err == nil {
			won.Add(1)
		}
		return ignore(err, otherwise)
	})
	if won.Load() != 1 {
		f.Fatalf("%d won", won.Load())
	}
}

// ignore returns nil for errors that are expected.
func ignore(err error, expected ...error) error {
	for _, e := range expected {
		if errors.Is(err, e) {
			return nil
		}
	}
	return err
}

// commitTo is commit through another handle.
func (f *fixture) commitTo(s store.Store, b run.Batch) error {
	result := make(chan error, 1)
	s.Commit(&b, func(err error) { result <- err })
	return <-result
}
