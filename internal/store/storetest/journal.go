package storetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"dossier/event"
	"dossier/internal/store"
	"dossier/run"
)

var journalTests = []test{
	{"a batch is recorded whole", func(f *fixture) {
		epoch := f.start("r1")
		f.clock.Advance(time.Second)
		f.ok(f.commit(run.Batch{
			Run: "r1", Epoch: epoch,
			Entries: []run.Entry{
				{Key: "a", Kind: run.EntryIntent, Value: json.RawMessage(`{"x":1}`), Seq: 1, Time: at},
				{Key: "a", Kind: run.EntryStep, Value: json.RawMessage(`"done"`), Seq: 2, Spent: run.Spent{Calls: 1, InputTokens: 7, OutputTokens: 3, Cost: 0.125}},
			},
			Events: notes(1, 2),
			Active: 1500 * time.Millisecond,
			Spent:  run.Spent{Calls: 1, InputTokens: 7, OutputTokens: 3, Cost: 0.125, Searches: 2, Pages: 1},
		}))
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Entries: []run.Entry{step("b", `null`)}, Active: time.Second, Spent: run.Spent{Calls: 2, Cost: 0.25}}))
		h := f.history("r1")
		want := []run.Entry{
			{Ord: 1, Key: "a", Kind: run.EntryIntent, Value: json.RawMessage(`{"x":1}`), Seq: 1, Time: at},
			{Ord: 2, Key: "a", Kind: run.EntryStep, Value: json.RawMessage(`"done"`), Seq: 2, Time: f.clock.Now(), Spent: run.Spent{Calls: 1, InputTokens: 7, OutputTokens: 3, Cost: 0.125}},
			{Ord: 3, Key: "b", Kind: run.EntryStep, Value: json.RawMessage(`null`), Time: at},
		}
		if !reflect.DeepEqual(h.Entries, want) {
			f.Fatalf("got  %+v\nwant %+v", h.Entries, want)
		}
		r := h.Record
		if r.Active != 2500*time.Millisecond || r.Spent != (run.Spent{Calls: 3, InputTokens: 7, OutputTokens: 3, Cost: 0.375, Searches: 2, Pages: 1}) ||
			r.LastSeq != 2 || !r.Updated.Equal(f.clock.Now()) || r.Status != run.Running {
			f.Fatalf("record: %+v", r)
		}
		if !reflect.DeepEqual(r, f.record("r1")) {
			f.Fatal("the history's record is another than the run's")
		}
		f.ok(f.store.Check(f.ctx))
	}},
	{"a batch may be empty", func(f *fixture) {
		epoch := f.start("r1")
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch}))
		f.sizes("r1", 0, 0)
	}},
	{"a batch changes the state", func(f *fixture) {
		epoch := f.start("r1")
		failure := &run.Failure{Code: "c", Message: "m", Hint: "h", Step: "s"}
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, State: &run.State{Status: run.Failed, Failure: failure}}))
		if r := f.record("r1"); r.Status != run.Failed || !reflect.DeepEqual(r.Failure, failure) || r.Owner != "worker" {
			f.Fatalf("record: %+v", r)
		}
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, State: &run.State{Status: run.Waiting}, Release: true}))
		if r := f.record("r1"); r.Status != run.Waiting || r.Failure != nil || r.Owner != "" || !r.LeaseUntil.IsZero() || r.Epoch != epoch {
			f.Fatalf("record: %+v", r)
		}
	}},
	{"batches of a run keep their order", func(f *fixture) {
		epoch := f.start("r1")
		const n = 200
		results := make(chan error, n)
		var order []int // done is called in order too: the suite's writes are ordered by the channel
		for i := range n {
			f.store.Commit(&run.Batch{Run: "r1", Epoch: epoch,
				Entries: []run.Entry{step(fmt.Sprint("k", i), fmt.Sprint(i))}, Events: notes(int64(i)+1, 1)},
				func(err error) { order = append(order, i); results <- err })
		}
		for range n {
			f.ok(<-results)
		}
		for i, e := range f.history("r1").Entries {
			if e.Ord != int64(i)+1 || string(e.Value) != fmt.Sprint(i) || order[i] != i {
				f.Fatalf("entry %d: %+v, done as %d", i, e, order[i])
			}
		}
		f.sizes("r1", n, n)
	}},
	{"a step is recorded once", func(f *fixture) {
		epoch := f.start("r1")
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Entries: []run.Entry{step("a", `1`)}}))
		f.is(f.commit(run.Batch{Run: "r1", Epoch: epoch, Entries: []run.Entry{step("b", `1`), step("a", `2`)}, Events: notes(1, 1),
			State: &run.State{Status: run.Done}, Release: true, Spent: run.Spent{Calls: 5}}), store.ErrExists)
		f.is(f.commit(run.Batch{Run: "r1", Epoch: epoch, Entries: []run.Entry{step("c", `1`), step("c", `2`)}}), store.ErrExists)
		f.sizes("r1", 1, 0)
		if r := f.record("r1"); r.Status != run.Running || r.Owner != "worker" || r.Spent.Calls != 0 {
			f.Fatalf("a failed batch changed the record: %+v", r)
		}
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Entries: []run.Entry{entry(run.EntryFault, "a", `{}`), step("b", `1`)}}))
		if e := f.history("r1").Entries; len(e) != 3 || e[2].Ord != 3 {
			f.Fatalf("entries: %+v", e)
		}
	}},
	{"a place emits once", func(f *fixture) {
		epoch := f.start("r1")
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Events: notes(1, 2)}))
		f.is(f.commit(run.Batch{Run: "r1", Epoch: epoch, Entries: []run.Entry{step("a", `1`)}, Events: []run.PlacedEvent{note(3, "x", ""), note(4, "place/1", "")}}), store.ErrExists)
		f.is(f.commit(run.Batch{Run: "r1", Epoch: epoch, Events: []run.PlacedEvent{note(3, "x", ""), note(4, "x", "")}}), store.ErrExists)
		f.sizes("r1", 0, 2)
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Events: []run.PlacedEvent{note(3, "x", "")}}))
		f.sizes("r1", 0, 3)
	}},
	{"another run may use the same keys and places", func(f *fixture) {
		for _, id := range []string{"r1", "r2"} {
			epoch := f.start(id)
			f.ok(f.commit(run.Batch{Run: id, Epoch: epoch, Entries: []run.Entry{step("a", `1`)}, Events: notes(1, 2)}))
		}
		f.sizes("r1", 1, 2)
		f.sizes("r2", 1, 2)
	}},
	{"events have no gap", func(f *fixture) {
		epoch := f.start("r1")
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Events: notes(1, 2)}))
		for name, events := range map[string][]run.PlacedEvent{
			"gap":       {note(4, "x", "")},
			"repeat":    {note(2, "x", "")},
			"backward":  {note(4, "x", ""), note(3, "y", "")},
			"inner gap": {note(3, "x", ""), note(5, "y", "")},
			"zero":      {note(0, "x", "")},
			"transient": {{Place: "x", Event: event.Event{Seq: 3, Data: event.AnswerDelta{Text: "a"}}}},
		} {
			if err := f.commit(run.Batch{Run: "r1", Epoch: epoch, Entries: []run.Entry{step("a", `1`)}, Events: events}); err == nil {
				f.Fatalf("%s was committed", name)
			} else if name != "transient" {
				f.is(err, store.ErrSequence)
			}
			f.sizes("r1", 0, 2)
		}
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Events: notes(3, 1)}))
	}},
	{"a stale epoch changes nothing", func(f *fixture) {
		old := f.start("r1")
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: old, Entries: []run.Entry{step("a", `1`)}, Events: notes(1, 1)}))
		f.clock.Advance(ttl)
		epoch := f.acquire("r1", "successor")
		before := f.record("r1")
		batch := run.Batch{Run: "r1", Entries: []run.Entry{step("b", `1`)}, Events: notes(2, 1),
			State: &run.State{Status: run.Done}, Release: true, Active: time.Hour, Spent: run.Spent{Calls: 1}}
		for _, stale := range []int64{old, 0, epoch + 1, -1} {
			batch.Epoch = stale
			f.is(f.commit(batch), run.ErrFenced)
		}
		if after := f.record("r1"); !reflect.DeepEqual(before, after) {
			f.Fatalf("before %+v\nafter  %+v", before, after)
		}
		f.sizes("r1", 1, 1)
		batch.Epoch = epoch
		f.ok(f.commit(batch))
		f.sizes("r1", 2, 2)
	}},
	{"a released run takes no batch", func(f *fixture) {
		epoch := f.start("r1")
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Release: true}))
		f.is(f.commit(run.Batch{Run: "r1", Epoch: epoch, Entries: []run.Entry{step("a", `1`)}}), run.ErrFenced)
		f.create("r2", "")
		f.is(f.commit(run.Batch{Run: "r2", Epoch: 0, Entries: []run.Entry{step("a", `1`)}}), run.ErrFenced)
		f.sizes("r1", 0, 0)
		f.sizes("r2", 0, 0)
	}},
	{"an expired lease that nobody took still commits", func(f *fixture) {
		epoch := f.start("r1")
		f.clock.Advance(10 * ttl)
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Entries: []run.Entry{step("a", `1`)}}))
	}},
	{"failing batches don't disturb their neighbours", func(f *fixture) {
		const n = 40
		epochs := make([]int64, n)
		for i := range n {
			epochs[i] = f.start(fmt.Sprint("r", i))
			f.ok(f.commit(run.Batch{Run: fmt.Sprint("r", i), Epoch: epochs[i], Entries: []run.Entry{step("first", `1`)}, Events: notes(1, 1)}))
		}
		results := make([]chan error, n)
		for i := range n { // queued together, so that an adapter which groups has them in one group
			b := run.Batch{Run: fmt.Sprint("r", i), Epoch: epochs[i], Entries: []run.Entry{step("second", `2`)}, Events: notes(2, 1)}
			switch i % 5 {
			case 1:
				b.Epoch += 3
			case 2:
				b.Entries = append(b.Entries, step("first", `again`))
			case 3:
				b.Events = append(b.Events, note(3, "place/1", "again"))
			case 4:
				b.Events[0].Seq = 9
			}
			results[i] = make(chan error, 1)
			f.store.Commit(&b, func(err error) { results[i] <- err })
		}
		for i := range n {
			err := <-results[i]
			want := []error{nil, run.ErrFenced, store.ErrExists, store.ErrExists, store.ErrSequence}[i%5]
			if want == nil {
				f.ok(err)
				f.sizes(fmt.Sprint("r", i), 2, 2)
				continue
			}
			f.is(err, want)
			f.sizes(fmt.Sprint("r", i), 1, 1)
		}
		f.ok(f.store.Check(f.ctx))
	}},
	{"a batch after a failed one of the same run stands on what is recorded", func(f *fixture) {
		epoch := f.start("r1")
		results := make(chan error, 3)
		done := func(err error) { results <- err }
		f.store.Commit(&run.Batch{Run: "r1", Epoch: epoch, Events: notes(1, 1)}, done)
		f.store.Commit(&run.Batch{Run: "r1", Epoch: epoch, Events: []run.PlacedEvent{note(2, "place/1", "again")}}, done)
		f.store.Commit(&run.Batch{Run: "r1", Epoch: epoch, Events: notes(2, 1)}, done)
		f.ok(<-results)
		f.is(<-results, store.ErrExists)
		f.ok(<-results)
		f.sizes("r1", 0, 2)
	}},
}
