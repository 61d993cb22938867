package storetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"dossier/event"
	"dossier/internal/store"
	"dossier/run"
)

var runTests = []test{
	{"a created run is queued and comes back whole", func(f *fixture) {
		r := run.Record{
			ID: "r1", Session: "s1", Mode: "deep_search", Request: json.RawMessage(`{"q":"why","n":3}`), Title: "Why?", Agent: "sgr_agent_1",
			Created: at, Spent: run.Spent{Calls: 2, InputTokens: 10, OutputTokens: 5, Cost: 0.25, Searches: 1, Pages: 4},
			Active: 3 * time.Second, ForkOf: "r0", ForkAt: "round-1/reflect",
			Owner: "nobody", Epoch: 9, LastSeq: 7, LeaseUntil: at, Status: run.Running,
		}
		f.ok(f.store.Create(f.ctx, r, nil, nil))
		r.Owner, r.Epoch, r.LastSeq, r.LeaseUntil, r.Status, r.Updated = "", 0, 0, time.Time{}, run.Queued, at
		if got := f.record("r1"); !reflect.DeepEqual(got, r) {
			f.Fatalf("got  %+v\nwant %+v", got, r)
		}
	}},
	{"runs are found by their tags", func(f *fixture) {
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r1", User: "ann", Tags: []string{"b", "a", "b"}}, nil, nil))
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r2", User: "bob"}, nil, nil))
		if r := f.record("r1"); !slices.Equal(r.Tags, []string{"a", "b"}) {
			f.Fatalf("tags %q", r.Tags)
		}
		f.ok(f.store.Tag(f.ctx, "r2", []string{"новость", "a"}))
		f.ok(f.store.Tag(f.ctx, "r1", []string{"a"}))
		for tag, want := range map[string]int{"a": 2, "b": 0, "новость": 1, "": 2} {
			list, err := f.store.List(f.ctx, store.Filter{Tag: tag})
			f.ok(err)
			if len(list) != want {
				f.Errorf("%d runs have the tag %q", len(list), tag)
			}
		}
		all, err := f.store.Tags(f.ctx, "")
		f.ok(err)
		bobs, err := f.store.Tags(f.ctx, "bob")
		f.ok(err)
		if want := []store.TagCount{{Tag: "a", Runs: 2}, {Tag: "новость", Runs: 1}}; !slices.Equal(all, want) || len(bobs) != 2 || bobs[0].Runs != 1 {
			f.Fatalf("tags: %v, of bob %v", all, bobs)
		}
		f.ok(f.store.Tag(f.ctx, "r2", nil))
		if r := f.record("r2"); r.Tags != nil {
			f.Fatalf("tags %q are left", r.Tags)
		}
		f.ok(f.store.Delete(f.ctx, "r1"))
		if all, err = f.store.Tags(f.ctx, ""); err != nil || len(all) > 0 {
			f.Fatalf("tags of a run that is gone: %v %v", all, err)
		}
		f.is(f.store.Tag(f.ctx, "r1", []string{"a"}), run.ErrUnknownRun)
	}},
	{"an afterword follows on the last event of a run that is over", func(f *fixture) {
		told := []run.PlacedEvent{{Place: "p1", Event: event.Event{Seq: 1, Time: at, Data: event.RunStatus{Status: "done"}}}}
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r1", Status: run.Done}, nil, told))
		rec := f.record("r1")
		f.ok(f.store.Append(f.ctx, "r1", run.Afterword(&rec, "edit", event.ReportEdited{Change: "edit", After: "a newt"})))
		f.is(f.store.Append(f.ctx, "r1", run.Afterword(&rec, "edit", event.ReportEdited{Change: "edit"})), run.ErrChanged)
		log, err := f.store.Events(f.ctx, "r1", 0, 0)
		f.ok(err)
		if len(log) != 2 || log[1].Seq != 2 || log[1].Place != "@edit/2" || log[1].Run != "r1" || f.record("r1").LastSeq != 2 || f.record("r1").Status != run.Done {
			f.Fatalf("%+v", log)
		}
		if list, err := f.store.List(f.ctx, store.Filter{Text: "newt"}); err != nil || len(list) != 1 {
			f.Fatalf("what was edited is not found: %v %v", list, err)
		}
		f.create("r2", "")
		rec = f.record("r2")
		f.is(f.store.Append(f.ctx, "r2", run.Afterword(&rec, "edit", event.ReportEdited{})), store.ErrBusy)
	}},
	{"a run without a time is created now", func(f *fixture) {
		f.create("r1", "")
		if r := f.record("r1"); !r.Created.Equal(f.clock.Now()) || !r.Updated.Equal(r.Created) {
			f.Fatalf("created %v, updated %v, now %v", r.Created, r.Updated, f.clock.Now())
		}
	}},
	{"an ended run can be brought along", func(f *fixture) {
		failure := &run.Failure{Code: "provider", Message: "no answer", Hint: "try again", Step: "ask"}
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r1", Status: run.Failed, Failure: failure}, nil, nil))
		if r := f.record("r1"); r.Status != run.Failed || !reflect.DeepEqual(r.Failure, failure) {
			f.Fatalf("got %+v", r)
		}
	}},
	{"the ends of several logs are known at once", func(f *fixture) {
		events := []run.PlacedEvent{
			{Place: "p1", Event: event.Event{Seq: 1, Time: at, Data: event.RunStatus{Status: "running"}}},
			{Place: "p2", Event: event.Event{Seq: 2, Time: at, Data: event.NoteAdded{}}},
		}
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r1"}, nil, events))
		f.create("r2", "")
		f.create("r3", "")
		for _, ids := range [][]string{nil, {"r1", "r2", "none"}} {
			last, err := f.store.LastSeqs(f.ctx, ids)
			f.ok(err)
			want := map[string]int64{}
			if ids != nil {
				want = map[string]int64{"r1": 2, "r2": 0}
			}
			if !reflect.DeepEqual(last, want) {
				f.Fatalf("of %v: %v, want %v", ids, last, want)
			}
		}
	}},
	{"an id can be used once", func(f *fixture) {
		f.create("r1", "s1")
		f.is(f.store.Create(f.ctx, run.Record{ID: "r1", Session: "s2"}, nil, nil), store.ErrExists)
		if _, err := f.store.Session(f.ctx, "s2"); err == nil {
			f.Fatal("a run that was not created left a session behind")
		}
		if err := f.store.Create(f.ctx, run.Record{}, nil, nil); err == nil {
			f.Fatal("a run without an id was created")
		}
	}},
	{"a fork brings its entries and events along", func(f *fixture) {
		entries := []run.Entry{step("a", `1`), {Ord: 77, Key: "a", Kind: run.EntryFault, Value: json.RawMessage(`{"error":"x"}`), Seq: 1, Time: at, Spent: run.Spent{Cost: 0.5}}}
		events := []run.PlacedEvent{
			{Place: "p1", Event: event.Event{Run: "other", Session: "other", Seq: 1, Time: at, Agent: "x", Data: event.RunStatus{Status: "running"}}},
			{Place: "p2", Event: event.Event{Run: "other", Session: "other", Seq: 2, Time: at, Data: event.Unknown{Name: "from.later", Raw: json.RawMessage(`{"x":[1,2]}`)}}},
		}
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r1", Session: "s1"}, entries, events))
		h := f.history("r1")
		want := []run.Entry{entries[0], entries[1]}
		want[0].Ord, want[1].Ord = 1, 2
		if !reflect.DeepEqual(h.Entries, want) {
			f.Fatalf("entries:\ngot  %+v\nwant %+v", h.Entries, want)
		}
		if !reflect.DeepEqual(h.Places, map[string]int64{"p1": 1, "p2": 2}) || h.Record.LastSeq != 2 {
			f.Fatalf("places %v end at %d", h.Places, h.Record.LastSeq)
		}
		got, err := f.store.Events(f.ctx, "r1", 0, 0)
		f.ok(err)
		for i := range events {
			events[i].Run, events[i].Session = "r1", "s1"
		}
		if !reflect.DeepEqual(got, events) {
			f.Fatalf("events:\ngot  %+v\nwant %+v", got, events)
		}
	}},
	{"a run with broken events is not created", func(f *fixture) {
		for name, events := range map[string][]run.PlacedEvent{
			"gap":       {note(1, "a", ""), note(3, "b", "")},
			"start":     {note(2, "a", "")},
			"place":     {note(1, "a", ""), note(2, "a", "")},
			"transient": {{Place: "a", Event: event.Event{Seq: 1, Data: event.Heartbeat{}}}},
			"no data":   {{Place: "a", Event: event.Event{Seq: 1}}},
		} {
			if err := f.store.Create(f.ctx, run.Record{ID: "r1", Session: "s1"}, nil, events); err == nil {
				f.Fatalf("%s: a broken run was created", name)
			}
			_, err := f.store.Run(f.ctx, "r1")
			f.is(err, run.ErrUnknownRun)
		}
		f.is(f.store.Create(f.ctx, run.Record{ID: "r1"}, []run.Entry{step("a", `1`), step("a", `2`)}, nil), store.ErrExists)
		_, err := f.store.Session(f.ctx, "s1")
		f.is(err, store.ErrNotFound)
	}},
	{"lists are newest first, narrowed and paged", func(f *fixture) {
		for i := range 7 {
			f.create(fmt.Sprintf("r%d", i), fmt.Sprintf("s%d", i%2))
		}
		f.acquire("r3", "worker")
		list := f.listed
		list(store.Filter{}, "r6", "r5", "r4", "r3", "r2", "r1", "r0")
		list(store.Filter{Limit: 2}, "r6", "r5")
		list(store.Filter{Limit: 2, Before: "r5"}, "r4", "r3")
		list(store.Filter{Session: "s1"}, "r5", "r3", "r1")
		list(store.Filter{Session: "s1", Before: "r3"}, "r1")
		list(store.Filter{Status: run.Running}, "r3")
		list(store.Filter{Status: run.Queued, Session: "s1"}, "r5", "r1")
		list(store.Filter{Session: "none"})
		_, err := f.store.List(f.ctx, store.Filter{Before: "none"})
		f.is(err, run.ErrUnknownRun)
	}},
	{"runs are found by the agent that works on them", func(f *fixture) {
		for i, agent := range []string{"a_1", "", "a_2", "a_1", "", "a_1"} {
			f.ok(f.store.Create(f.ctx, run.Record{ID: fmt.Sprintf("r%d", i), Session: fmt.Sprintf("s%d", i%2), Agent: agent}, nil, nil))
		}
		f.acquire("r3", "worker")
		f.ok(f.store.Delete(f.ctx, "r5"))
		for _, f.store = range f.handles { // every process finds them
			f.listed(store.Filter{Agent: "a_1"}, "r3", "r0")
			f.listed(store.Filter{Agent: "a_1", Limit: 1}, "r3")
			f.listed(store.Filter{Agent: "a_1", Before: "r3"}, "r0")
			f.listed(store.Filter{Agent: "a_1", Status: run.Queued}, "r0")
			f.listed(store.Filter{Agent: "a_2", Session: "s0"}, "r2")
			f.listed(store.Filter{Agent: "a_2", Session: "s1"})
			f.listed(store.Filter{Agent: "a"})
			f.listed(store.Filter{Agent: "A_1"})
			f.listed(store.Filter{Agent: "a_%"})
		}
		list, err := f.store.List(f.ctx, store.Filter{Agent: "a_2"})
		f.ok(err)
		if h := f.history("r2"); len(list) != 1 || list[0].Agent != "a_2" || h.Record.Agent != "a_2" || f.record("r1").Agent != "" {
			f.Fatalf("got %+v, %+v", list, h.Record)
		}
		f.ok(f.store.Check(f.ctx))
	}},
	{"the default list has 100 runs", func(f *fixture) {
		for i := range 105 {
			f.create(fmt.Sprintf("r%d", i), "")
		}
		list, err := f.store.List(f.ctx, store.Filter{})
		f.ok(err)
		if len(list) != 100 || list[0].ID != "r104" {
			f.Fatalf("%d runs from %s", len(list), list[0].ID)
		}
	}},
	{"a listed run is the record without its request", func(f *fixture) {
		f.create("r1", "s1")
		list, err := f.store.List(f.ctx, store.Filter{})
		f.ok(err)
		r := f.record("r1")
		if r.Request == nil {
			f.Fatal("the run has no request")
		}
		r.Request = nil
		if !reflect.DeepEqual(list, []run.Record{r}) {
			f.Fatalf("got  %+v\nwant %+v", list, r)
		}
	}},
	{"a run is found by a part of its id", func(f *fixture) {
		for _, id := range []string{"06f3abcd0001", "06f3abcd0002", "06f3zzzz0003", "0003zzzz06f3", "0003", "%_%_%_\xff\xff", "ключ-первый", "ключ-второй"} {
			f.create(id, "")
		}
		for part, want := range map[string][]string{
			"06f3abcd0001": {"06f3abcd0001"}, "06f3abcd": {"06f3abcd0001", "06f3abcd0002"}, "06f3": {"0003zzzz06f3", "06f3abcd0001", "06f3abcd0002", "06f3zzzz0003"},
			"0003": {"0003", "0003zzzz06f3", "06f3zzzz0003"}, "z0003": {"06f3zzzz0003"}, "zzzz": nil, "003": nil, "": nil,
			"%_%_": {"%_%_%_\xff\xff"}, "____": nil, "%%%%": nil, "ключ": {"ключ-второй", "ключ-первый"}, "ервый": {"ключ-первый"}, "06F3": nil,
		} {
			got, err := f.store.Find(f.ctx, part)
			f.ok(err)
			if !slices.Equal(got, want) {
				f.Errorf("%q: got %q, want %q", part, got, want)
			}
		}
		f.ok(f.store.Delete(f.ctx, "0003"))
		for i := range store.FindMost + 5 {
			f.create(fmt.Sprintf("many-%02d", i), "")
		}
		got, err := f.store.Find(f.ctx, "many-")
		f.ok(err)
		if len(got) != store.FindMost || got[0] != "many-00" {
			f.Errorf("got %q", got)
		}
		if got, err := f.store.Find(f.ctx, "0003"); err != nil || len(got) != 2 {
			f.Errorf("a deleted run was found: %q, %v", got, err)
		}
	}},
	{"an unknown run is an error everywhere", func(f *fixture) {
		f.create("r1", "s1")
		_, err := f.store.Run(f.ctx, "none")
		f.is(err, run.ErrUnknownRun)
		_, err = f.store.History(f.ctx, "none")
		f.is(err, run.ErrUnknownRun)
		_, err = f.store.Events(f.ctx, "none", 0, 0)
		f.is(err, run.ErrUnknownRun)
		_, err = f.store.Signals(f.ctx, "none", 0)
		f.is(err, run.ErrUnknownRun)
		_, err = f.store.Acquire(f.ctx, "none", "worker", ttl)
		f.is(err, run.ErrUnknownRun)
		_, err = f.store.Asks(f.ctx, "none")
		f.is(err, run.ErrUnknownRun)
		f.is(f.store.Answer(f.ctx, "none", "", "x"), run.ErrUnknownRun)
		f.is(f.store.Signal(f.ctx, "none", run.Signal{Kind: run.SignalCancel}), run.ErrUnknownRun)
		f.is(f.store.Reopen(f.ctx, "none", run.Reopening{Event: note(1, "x", "")}), run.ErrUnknownRun)
		f.is(f.store.Delete(f.ctx, "none"), run.ErrUnknownRun)
		err = f.commit(run.Batch{Run: "none", Epoch: 1})
		f.is(err, run.ErrUnknownRun)
		f.is(err, run.ErrFenced)
	}},
	{"a deleted run is gone with all it had", func(f *fixture) {
		f.create("r1", "s1")
		epoch := f.acquire("r1", "worker")
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Entries: []run.Entry{step("a", `1`)}, Events: []run.PlacedEvent{message(1, "p", "user", "hi")}}))
		f.ok(f.store.Signal(f.ctx, "r1", run.Signal{Kind: run.SignalSteer, Text: "x"}))
		f.is(f.store.Delete(f.ctx, "r1"), store.ErrBusy)
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Release: true}))
		f.ok(f.store.Delete(f.ctx, "r1"))
		_, err := f.store.Run(f.ctx, "r1")
		f.is(err, run.ErrUnknownRun)
		f.is(f.commit(run.Batch{Run: "r1", Epoch: epoch}), run.ErrFenced)
		_, err = f.store.Session(f.ctx, "s1")
		f.is(err, store.ErrNotFound)
		messages, err := f.store.Messages(f.ctx, "s1", "", 0)
		f.ok(err)
		if len(messages) != 0 {
			f.Fatalf("messages of a deleted run: %v", messages)
		}
		f.create("r1", "s1") // nothing of the old one comes back
		f.sizes("r1", 0, 0)
		signals, err := f.store.Signals(f.ctx, "r1", 0)
		f.ok(err)
		if len(signals) != 0 {
			f.Fatalf("signals of a deleted run: %v", signals)
		}
		f.ok(f.store.Check(f.ctx))
	}},
	{"an expired lease does not keep a run from being deleted", func(f *fixture) {
		f.start("r1")
		f.clock.Advance(ttl)
		f.ok(f.store.Delete(f.ctx, "r1"))
	}},
	{"events are paged", func(f *fixture) {
		epoch := f.start("r1")
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Events: notes(1, 10)}))
		page := func(after int64, limit int, first, last int64) {
			f.Helper()
			events, err := f.store.Events(f.ctx, "r1", after, limit)
			f.ok(err)
			if n := last - first + 1; int64(len(events)) != n || n > 0 && (events[0].Seq != first || events[n-1].Seq != last) {
				f.Fatalf("after %d limit %d: %d events, want %d to %d", after, limit, len(events), first, last)
			}
		}
		page(0, 0, 1, 10)
		page(0, 4, 1, 4)
		page(4, 4, 5, 8)
		page(8, 4, 9, 10)
		page(10, 4, 1, 0)
		page(99, 0, 1, 0)
		page(-5, 2, 1, 2)
	}},
	{"a closed store says so", func(f *fixture) {
		epoch := f.start("r1")
		f.ok(f.store.Close())
		f.ok(f.store.Close())
		_, err := f.store.Run(f.ctx, "r1")
		f.is(err, store.ErrClosed)
		f.is(f.store.Create(f.ctx, run.Record{ID: "r2"}, nil, nil), store.ErrClosed)
		f.is(f.commit(run.Batch{Run: "r1", Epoch: epoch}), store.ErrClosed)
		_, err = f.store.Acquire(f.ctx, "r1", "worker", ttl)
		f.is(err, store.ErrClosed)
	}},
}
