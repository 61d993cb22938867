package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"dossier/internal/store"
	"dossier/run"
)

// asking creates a run that waits for answers to the given questions.
func (f *fixture) asking(id string, asks ...string) {
	f.Helper()
	epoch := f.start(id)
	var entries []run.Entry
	for _, key := range asks {
		entries = append(entries, entry(run.EntryAsk, key, `"`+key+`?"`))
	}
	f.ok(f.commit(run.Batch{Run: id, Epoch: epoch, Entries: entries, State: &run.State{Status: run.Waiting}, Release: true}))
}

// asks demands that exactly these questions are pending.
func (f *fixture) asks(id string, want ...string) {
	f.Helper()
	pending, err := f.store.Asks(f.ctx, id)
	f.ok(err)
	var keys []string
	for _, e := range pending {
		if e.Kind != run.EntryAsk || string(e.Value) != `"`+e.Key+`?"` {
			f.Fatalf("not a question: %+v", e)
		}
		keys = append(keys, e.Key)
	}
	if !reflect.DeepEqual(keys, want) {
		f.Fatalf("pending %v, want %v", keys, want)
	}
}

// signals returns a run's signals.
func (f *fixture) signals(id string, after int64) []run.Signal {
	f.Helper()
	s, err := f.store.Signals(f.ctx, id, after)
	f.ok(err)
	return s
}

var signalTests = []test{
	{"signals are numbered in order", func(f *fixture) {
		f.create("r1", "")
		f.create("r2", "")
		sent := []run.Signal{
			{Kind: run.SignalSteer, Text: "left", Time: at},
			{Kind: run.SignalPause, Key: "k"},
			{N: 99, Kind: run.SignalCancel, Time: at},
		}
		for _, s := range sent {
			f.ok(f.store.Signal(f.ctx, "r1", s))
		}
		f.ok(f.store.Signal(f.ctx, "r2", run.Signal{Kind: run.SignalFinish}))
		sent[0].N, sent[1].N, sent[2].N = 1, 2, 3
		sent[1].Time = f.clock.Now()
		if got := f.signals("r1", 0); !reflect.DeepEqual(got, sent) {
			f.Fatalf("got  %+v\nwant %+v", got, sent)
		}
		if got := f.signals("r1", 2); !reflect.DeepEqual(got, sent[2:]) {
			f.Fatalf("after 2: %+v", got)
		}
		if got := f.signals("r1", 3); len(got) != 0 {
			f.Fatalf("after 3: %+v", got)
		}
		if got := f.history("r1").Signals; !reflect.DeepEqual(got, sent) {
			f.Fatalf("history: %+v", got)
		}
	}},
	{"an ended run takes no signal", func(f *fixture) {
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: f.start("r1"), State: &run.State{Status: run.Done}, Release: true}))
		f.is(f.store.Signal(f.ctx, "r1", run.Signal{Kind: run.SignalCancel}), run.ErrEnded)
		if got := f.signals("r1", 0); len(got) != 0 {
			f.Fatalf("signals: %+v", got)
		}
	}},
	{"an answer is not just any signal", func(f *fixture) {
		f.asking("r1", "q")
		for _, kind := range []run.SignalKind{run.SignalAnswer, ""} {
			if err := f.store.Signal(f.ctx, "r1", run.Signal{Kind: kind, Key: "q", Text: "x"}); err == nil {
				f.Fatalf("signal of kind %q was taken", kind)
			}
		}
		f.asks("r1", "q")
	}},
	{"an answer ends a question", func(f *fixture) {
		f.asking("r1", "q1", "q2", "q3")
		f.asks("r1", "q1", "q2", "q3")
		f.ok(f.store.Answer(f.ctx, "r1", "q2", "two"))
		f.asks("r1", "q1", "q3")
		f.ok(f.store.Answer(f.ctx, "r1", "", "one"))
		f.asks("r1", "q3")
		f.ok(f.store.Answer(f.ctx, "r1", "q2", "two"))
		f.is(f.store.Answer(f.ctx, "r1", "q2", "deux"), store.ErrAnswered)
		f.is(f.store.Answer(f.ctx, "r1", "q9", "x"), store.ErrNotWaiting)
		got := f.signals("r1", 0)
		want := []run.Signal{
			{N: 1, Kind: run.SignalAnswer, Key: "q2", Text: "two", Time: f.clock.Now()},
			{N: 2, Kind: run.SignalAnswer, Key: "q1", Text: "one", Time: f.clock.Now()},
		}
		if !reflect.DeepEqual(got, want) {
			f.Fatalf("got  %+v\nwant %+v", got, want)
		}
	}},
	{"an answer that the run has used", func(f *fixture) {
		f.asking("r1", "q1")
		f.ok(f.store.Answer(f.ctx, "r1", "", "one"))
		f.is(f.store.Answer(f.ctx, "r1", "", "other"), store.ErrAnswered)
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: f.acquire("r1", "worker"), Entries: []run.Entry{entry(run.EntryAnswer, "q1", `"one"`)}}))
		f.asks("r1")
		f.ok(f.store.Answer(f.ctx, "r1", "", "one"))
		f.ok(f.store.Answer(f.ctx, "r1", "q1", "one"))
		f.is(f.store.Answer(f.ctx, "r1", "", "other"), store.ErrNotWaiting)
		f.is(f.store.Answer(f.ctx, "r1", "q1", "other"), store.ErrAnswered)
		if got := f.signals("r1", 0); len(got) != 1 {
			f.Fatalf("signals: %+v", got)
		}
	}},
	{"an answer that the run gave itself", func(f *fixture) {
		f.create("r1", "")
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: f.acquire("r1", "worker"),
			Entries: []run.Entry{entry(run.EntryAsk, "q1", `"q1?"`), entry(run.EntryAnswer, "q1", `"assumed"`)}}))
		f.asks("r1")
		f.is(f.store.Answer(f.ctx, "r1", "q1", "late"), store.ErrAnswered)
		f.ok(f.store.Answer(f.ctx, "r1", "q1", "assumed"))
	}},
	{"a run that asks nothing", func(f *fixture) {
		f.create("r1", "")
		f.is(f.store.Answer(f.ctx, "r1", "", "x"), store.ErrNotWaiting)
		f.is(f.store.Answer(f.ctx, "r1", "q", "x"), store.ErrNotWaiting)
		f.asks("r1")
	}},
	{"a run that is over asks nothing", func(f *fixture) {
		f.asking("r1", "q")
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: f.acquire("r1", "worker"), State: &run.State{Status: run.Cancelled}, Release: true}))
		f.asks("r1")
		f.is(f.store.Answer(f.ctx, "r1", "", "x"), store.ErrNotWaiting)
		f.ok(f.store.Reopen(f.ctx, "r1", f.reopening("r1")))
		f.asks("r1", "q")
		f.ok(f.store.Answer(f.ctx, "r1", "", "x"))
	}},
	{"of many answers at once one counts", func(f *fixture) {
		for _, ask := range []string{"q", ""} {
			id := "r" + ask
			f.asking(id, "q")
			const n = 50
			var wg sync.WaitGroup
			errs := make([]error, n)
			for i := range n {
				wg.Go(func() { errs[i] = f.store.Answer(f.ctx, id, ask, fmt.Sprint("answer ", i)) })
			}
			wg.Wait()
			got := f.signals(id, 0)
			if len(got) != 1 {
				f.Fatalf("%d answers were recorded", len(got))
			}
			for i, err := range errs {
				switch {
				case got[0].Text == fmt.Sprint("answer ", i):
					f.ok(err)
				case !errors.Is(err, store.ErrAnswered):
					f.Fatalf("answer %d: %v", i, err)
				}
			}
		}
	}},
	{"the same answer many times at once is one", func(f *fixture) {
		f.asking("r1", "q")
		var wg sync.WaitGroup
		errs := make([]error, 50)
		for i := range errs {
			wg.Go(func() { errs[i] = f.store.Answer(f.ctx, "r1", "", "yes") })
		}
		wg.Wait()
		f.ok(errors.Join(errs...))
		if got := f.signals("r1", 0); len(got) != 1 {
			f.Fatalf("%d answers were recorded", len(got))
		}
	}},
}
