package storetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"dossier/event"
	"dossier/internal/store"
	"dossier/run"
)

var leaseTests = []test{
	{"a lease has an owner, an epoch and an end", func(f *fixture) {
		f.create("r1", "s1")
		f.clock.Advance(time.Minute)
		h, err := f.store.Acquire(f.ctx, "r1", "worker", ttl)
		f.ok(err)
		r := h.Record
		if r.Epoch != 1 || r.Owner != "worker" || !r.LeaseUntil.Equal(f.clock.Now().Add(ttl)) || r.Status != run.Running || !r.Updated.Equal(f.clock.Now()) {
			f.Fatalf("record: %+v", r)
		}
		if !reflect.DeepEqual(r, f.record("r1")) {
			f.Fatal("the history's record is another than the run's")
		}
		if _, err := f.store.Acquire(f.ctx, "r1", "", ttl); err == nil {
			f.Fatal("a lease without an owner")
		}
	}},
	{"a live lease keeps others off", func(f *fixture) {
		f.start("r1")
		f.clock.Advance(ttl - time.Millisecond)
		for _, owner := range []string{"other", "worker"} {
			_, err := f.store.Acquire(f.ctx, "r1", owner, ttl)
			f.is(err, run.ErrLeased)
		}
		f.clock.Advance(time.Millisecond)
		if epoch := f.acquire("r1", "other"); epoch != 2 {
			f.Fatalf("epoch %d", epoch)
		}
	}},
	{"a released lease is free", func(f *fixture) {
		epoch := f.start("r1")
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, State: &run.State{Status: run.Waiting}, Release: true}))
		if again := f.acquire("r1", "other"); again != epoch+1 {
			f.Fatalf("epoch %d after %d", again, epoch)
		}
		if r := f.record("r1"); r.Status != run.Running {
			f.Fatalf("status %s", r.Status)
		}
	}},
	{"evicting a worker frees its runs and fences it", func(f *fixture) {
		for _, r := range []run.Record{{ID: "mine", Home: "worker"}, {ID: "queued", Home: "worker"}, {ID: "done", Home: "worker"}, {ID: "other", Home: "other"}} {
			f.ok(f.store.Create(f.ctx, r, nil, nil))
		}
		f.ok(f.commit(run.Batch{Run: "done", Epoch: f.acquire("done", "worker"), State: &run.State{Status: run.Done}, Release: true}))
		epoch, held := f.acquire("mine", "worker"), f.acquire("other", "other")
		owners, err := f.store.Owners(f.ctx)
		f.ok(err)
		if slices.Sort(owners); !reflect.DeepEqual(owners, []string{"other", "worker"}) {
			f.Fatalf("owners %v", owners)
		}
		f.ok(f.store.Evict(f.ctx, "worker"))
		f.is(f.commit(run.Batch{Run: "mine", Epoch: epoch, Entries: []run.Entry{{Key: "late", Kind: run.EntryStep, Value: []byte("1")}}}), run.ErrFenced)
		f.ok(f.commit(run.Batch{Run: "other", Epoch: held, Entries: []run.Entry{{Key: "k", Kind: run.EntryStep, Value: []byte("1")}}}))
		if r := f.record("mine"); r.Status != run.Queued || r.Home != "" || r.Owner != "" {
			f.Fatalf("%+v", r)
		}
		if r := f.record("queued"); r.Status != run.Queued || r.Home != "" {
			f.Fatalf("%+v", r)
		}
		if r := f.record("other"); r.Status != run.Running || r.Home != "other" || r.Owner != "other" {
			f.Fatalf("%+v", r)
		}
		if again := f.acquire("mine", "other"); again != epoch+1 {
			f.Fatalf("epoch %d after %d", again, epoch)
		}
	}},
	{"an orphan with a home is its home's", func(f *fixture) {
		f.ok(f.store.Create(f.ctx, run.Record{ID: "a", Home: "here"}, nil, nil))
		f.ok(f.store.Create(f.ctx, run.Record{ID: "b", Home: "there"}, nil, nil))
		f.create("c", "")
		for home, want := range map[string][]string{"here": {"a", "c"}, "there": {"b", "c"}, "": {"c"}} {
			got, err := f.store.Orphans(f.ctx, home)
			f.ok(err)
			if !reflect.DeepEqual(got, want) {
				f.Fatalf("orphans of %q: %v", home, got)
			}
		}
	}},
	{"an ended run cannot be taken", func(f *fixture) {
		for _, status := range []run.Status{run.Done, run.Failed, run.Cancelled} {
			id := string(status)
			epoch := f.start(id)
			f.ok(f.commit(run.Batch{Run: id, Epoch: epoch, State: &run.State{Status: status}, Release: true}))
			_, err := f.store.Acquire(f.ctx, id, "other", ttl)
			f.is(err, run.ErrEnded)
		}
	}},
	{"taking a run gives its history", func(f *fixture) {
		epoch := f.start("r1")
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Entries: []run.Entry{step("a", `1`), step("b", `2`)}, Events: notes(1, 3), Release: true}))
		f.ok(f.store.Signal(f.ctx, "r1", run.Signal{Kind: run.SignalSteer, Text: "left", Time: at}))
		h, err := f.store.Acquire(f.ctx, "r1", "other", ttl)
		f.ok(err)
		if len(h.Entries) != 2 || h.Entries[1].Key != "b" || len(h.Places) != 3 || h.Places["place/2"] != 2 ||
			!reflect.DeepEqual(h.Signals, []run.Signal{{N: 1, Kind: run.SignalSteer, Text: "left", Time: at}}) {
			f.Fatalf("history: %+v", h)
		}
		if !reflect.DeepEqual(h, f.history("r1")) {
			f.Fatal("History reads another history")
		}
	}},
	{"renewing keeps a lease", func(f *fixture) {
		f.start("r1")
		f.start("r2")
		f.clock.Advance(ttl / 2)
		signalled, lost, err := f.store.Renew(f.ctx, "worker", ttl, map[string]int64{"r1": 0})
		f.ok(err)
		if len(signalled)+len(lost) != 0 {
			f.Fatalf("signalled %v, lost %v", signalled, lost)
		}
		if r := f.record("r1"); !r.LeaseUntil.Equal(f.clock.Now().Add(ttl)) {
			f.Fatalf("lease until %v", r.LeaseUntil)
		}
		f.clock.Advance(ttl / 2)
		_, err = f.store.Acquire(f.ctx, "r1", "other", ttl)
		f.is(err, run.ErrLeased)
		f.acquire("r2", "other") // was not named, so its lease ran out
	}},
	{"renewing tells which leases are lost", func(f *fixture) {
		held := map[string]int64{}
		for i := range 6 {
			id := fmt.Sprint("r", i)
			f.start(id)
			held[id] = 0
		}
		f.ok(f.commit(run.Batch{Run: "r0", Epoch: 1, Release: true}))
		f.clock.Advance(ttl)
		f.acquire("r1", "other")
		f.ok(f.store.Delete(f.ctx, "r2"))
		held["never"] = 0
		signalled, lost, err := f.store.Renew(f.ctx, "worker", ttl, held)
		f.ok(err)
		if len(signalled) != 0 || !reflect.DeepEqual(lost, []string{"never", "r0", "r1", "r2"}) {
			f.Fatalf("signalled %v, lost %v", signalled, lost)
		}
		if r := f.record("r1"); r.Owner != "other" || !r.LeaseUntil.Equal(f.clock.Now().Add(ttl)) {
			f.Fatalf("another's lease was touched: %+v", r)
		}
		_, err = f.store.Acquire(f.ctx, "r3", "other", ttl) // expired, but renewed before anybody took it
		f.is(err, run.ErrLeased)
	}},
	{"renewing tells which runs are signalled", func(f *fixture) {
		f.start("r1")
		f.start("r2")
		f.start("r3")
		f.ok(f.store.Signal(f.ctx, "r1", run.Signal{Kind: run.SignalSteer, Text: "1"}))
		f.ok(f.store.Signal(f.ctx, "r1", run.Signal{Kind: run.SignalSteer, Text: "2"}))
		f.ok(f.store.Signal(f.ctx, "r2", run.Signal{Kind: run.SignalCancel}))
		renew := func(held map[string]int64, want ...string) {
			f.Helper()
			signalled, lost, err := f.store.Renew(f.ctx, "worker", ttl, held)
			f.ok(err)
			if !reflect.DeepEqual(signalled, want) || len(lost) != 0 {
				f.Fatalf("signalled %v, lost %v, want %v", signalled, lost, want)
			}
		}
		renew(map[string]int64{"r1": 0, "r2": 0, "r3": 0}, "r1", "r2")
		renew(map[string]int64{"r1": 1, "r2": 1, "r3": 0}, "r1")
		renew(map[string]int64{"r1": 2, "r2": 1, "r3": 0})
		renew(nil)
	}},
	{"who holds runs is told which have signals", func(f *fixture) {
		for _, id := range []string{"a", "b", "c"} {
			f.start(id)
		}
		f.create("d", "")
		f.acquire("d", "other")
		for _, id := range []string{"a", "a", "c", "d"} {
			f.ok(f.store.Signal(f.ctx, id, run.Signal{Kind: run.SignalSteer, Text: "x"}))
		}
		f.ok(f.commit(run.Batch{Run: "c", Epoch: 1, State: &run.State{Status: run.Paused}, Release: true}))
		got, err := f.store.Signalled(f.ctx, "worker")
		f.ok(err)
		if !reflect.DeepEqual(got, map[string]int64{"a": 2}) {
			f.Fatalf("%v", got)
		}
	}},
	{"orphans are the runs that want a worker", func(f *fixture) {
		orphans := func(want ...string) {
			f.Helper()
			got, err := f.store.Orphans(f.ctx, "")
			f.ok(err)
			if !reflect.DeepEqual(got, want) {
				f.Fatalf("got %v, want %v", got, want)
			}
		}
		release := func(id string, status run.Status, entries ...run.Entry) {
			f.Helper()
			f.ok(f.commit(run.Batch{Run: id, Epoch: f.start(id), Entries: entries, State: &run.State{Status: status}, Release: true}))
		}
		f.create("queued", "")
		f.start("running")
		release("done", run.Done)
		release("paused", run.Paused)
		release("waiting", run.Waiting, entry(run.EntryAsk, "q", `"?"`))
		orphans("queued")
		f.clock.Advance(ttl)
		orphans("queued", "running")
		f.acquire("queued", "worker")
		orphans("running")

		f.ok(f.store.Answer(f.ctx, "waiting", "q", "yes"))
		f.ok(f.store.Signal(f.ctx, "paused", run.Signal{Kind: run.SignalSteer, Text: "x"}))
		orphans("running", "waiting")
		f.ok(f.store.Signal(f.ctx, "paused", run.Signal{Kind: run.SignalCancel}))
		orphans("running", "paused", "waiting")

		epoch := f.acquire("waiting", "worker")
		orphans("running", "paused")
		f.ok(f.commit(run.Batch{Run: "waiting", Epoch: epoch, Entries: []run.Entry{entry(run.EntryAnswer, "q", `"yes"`), entry(run.EntryAsk, "q2", `"?"`)},
			State: &run.State{Status: run.Waiting}, Release: true}))
		orphans("running", "paused") // it has used that answer and waits for the next
		f.ok(f.store.Signal(f.ctx, "waiting", run.Signal{Kind: run.SignalFinish}))
		orphans("running", "paused", "waiting")
	}},
	{"a run is reopened at a cut", func(f *fixture) {
		epoch := f.start("r1")
		f.ok(f.store.Signal(f.ctx, "r1", run.Signal{Kind: run.SignalSteer, Text: "keep"}))
		for _, kind := range []run.SignalKind{run.SignalPause, run.SignalFinish, run.SignalCancel} {
			f.ok(f.store.Signal(f.ctx, "r1", run.Signal{Kind: kind}))
		}
		short := step("b", `2`)
		short.Branch, short.Born, short.Short = 1, 7, "time"
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Events: append(notes(1, 3), message(4, "m", "assistant", "void")), Entries: []run.Entry{
			step("a", `1`), entry(run.EntryFault, "handled", `{}`), short, entry(run.EntryIntent, "bad", `{}`), entry(run.EntryFault, "bad", `{}`),
			entry(run.EntryAsk, "q1", `"?"`), entry(run.EntryAsk, "q2", `"?"`),
		}}))
		f.ok(f.store.Answer(f.ctx, "r1", "q1", "one"))
		f.ok(f.store.Answer(f.ctx, "r1", "q2", "two"))
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, State: &run.State{Status: run.Failed, Failure: &run.Failure{Code: "c", Message: "m", Step: "bad"}}}))
		r := f.reopening("r1")
		r.Drop = []run.EntryRef{{Key: "bad", Kind: run.EntryFault}, {Key: "q2", Kind: run.EntryAsk}}
		r.Void, r.Unasked, r.Request, r.Home = []string{"place/2", "m"}, []string{"q2"}, json.RawMessage(`{"q":2}`), "here"
		f.is(f.store.Reopen(f.ctx, "r1", r), store.ErrBusy)
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Release: true}))
		f.ok(f.store.Reopen(f.ctx, "r1", r))
		f.is(f.store.Reopen(f.ctx, "r1", r), run.ErrChanged)
		h := f.history("r1")
		if r := h.Record; r.Status != run.Queued || r.Failure != nil || r.Owner != "" || r.LastSeq != 5 || r.Epoch != epoch+1 || string(r.Request) != `{"q":2}` || r.Home != "here" {
			f.Fatalf("record: %+v", r)
		}
		var keys []string
		for _, e := range h.Entries {
			keys = append(keys, strings.TrimSpace(fmt.Sprint(e.Kind, " ", e.Key, " ", e.Branch+int(e.Born), " ", e.Short)))
		}
		if !reflect.DeepEqual(keys, []string{"step a 0", "fault handled 0", "step b 8 time", "intent bad 0", "ask q1 0"}) {
			f.Fatalf("entries: %v", keys)
		}
		if h.LastOrd != 7 {
			f.Fatalf("the last entry was %d", h.LastOrd)
		}
		events, err := f.store.Events(f.ctx, "r1", 0, 0)
		f.ok(err)
		var places []string
		for i, e := range events {
			if e.Seq != int64(i)+1 || h.Places[e.Place] != e.Seq {
				f.Fatalf("event %d at %q has sequence %d, placed at %d", i, e.Place, e.Seq, h.Places[e.Place])
			}
			places = append(places, e.Place)
		}
		if want := []string{"place/1", run.VoidPlace("place/2", epoch), "place/3", run.VoidPlace("m", epoch), "@reopen"}; !reflect.DeepEqual(places, want) {
			f.Fatalf("places: %v", places)
		}
		if len(h.Signals) != 2 || h.Signals[0].Text != "keep" || h.Signals[1].Text != "one" {
			f.Fatalf("signals: %+v", h.Signals)
		}
		f.is(f.commit(run.Batch{Run: "r1", Epoch: epoch}), run.ErrFenced)
		epoch = f.acquire("r1", "worker")
		f.ok(f.store.Signal(f.ctx, "r1", run.Signal{Kind: run.SignalSteer, Text: "new"}))
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Events: []run.PlacedEvent{note(6, "place/2", "again")}, Entries: []run.Entry{entry(run.EntryFault, "bad", `{}`)}}))
		h = f.history("r1")
		if last := h.Entries[len(h.Entries)-1]; last.Ord != 8 || h.Signals[2].N != 7 || h.Places["place/2"] != 6 {
			f.Fatalf("numbers were used again: entry %d, signal %d, event %d", last.Ord, h.Signals[2].N, h.Places["place/2"])
		}
	}},
	{"a message that is void is not part of the session", func(f *fixture) {
		f.create("r1", "s1")
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: f.acquire("r1", "worker"), Events: []run.PlacedEvent{message(1, "a", "user", "q"), message(2, "b", "assistant", "half")},
			State: &run.State{Status: run.Done}, Release: true}))
		r := f.reopening("r1")
		r.Void = []string{"b"}
		f.ok(f.store.Reopen(f.ctx, "r1", r))
		said, err := f.store.Messages(f.ctx, "s1", "", 0)
		f.ok(err)
		if len(said) != 1 || said[0].Text != "q" {
			f.Fatalf("messages: %+v", said)
		}
	}},
	{"every run that nobody is on can be reopened", func(f *fixture) {
		for _, status := range []run.Status{run.Cancelled, run.Failed, run.Paused, run.Waiting, run.Done} {
			id := string(status)
			f.ok(f.commit(run.Batch{Run: id, Epoch: f.start(id), State: &run.State{Status: status}, Release: true}))
			f.ok(f.store.Reopen(f.ctx, id, f.reopening(id)))
			if r := f.record(id); r.Status != run.Queued {
				f.Fatalf("%s became %s", status, r.Status)
			}
		}
		f.start("running")
		f.is(f.store.Reopen(f.ctx, "running", f.reopening("running")), store.ErrBusy)
	}},
}

// reopening is one that voids nothing.
func (f *fixture) reopening(id string) run.Reopening {
	f.Helper()
	rec := f.record(id)
	return run.Reopening{Epoch: rec.Epoch, LastSeq: rec.LastSeq, Event: run.PlacedEvent{
		Place: "@reopen", Event: event.Event{Seq: rec.LastSeq + 1, Time: at, Data: event.RunReopened{}},
	}}
}
