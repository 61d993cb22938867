package storetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"dossier/event"
	"dossier/internal/store"
	"dossier/run"
)

// unused is how long the suite's bodies stay when nobody holds them.
const unused = 24 * time.Hour

// collected demands that so many bodies are removed, and that of the given ones
// those are there that should be.
func (f *fixture) collected(n int, there map[string]bool) {
	f.Helper()
	got, err := f.store.CollectBlobs(f.ctx, unused)
	f.ok(err)
	if got != n {
		f.Fatalf("%d bodies were removed, want %d", got, n)
	}
	for name, want := range there {
		_, err := f.store.Blob(f.ctx, name)
		if want {
			f.ok(err)
		} else {
			f.is(err, store.ErrNotFound)
		}
	}
}

// put stores a body.
func (f *fixture) put(text string) string {
	f.Helper()
	name, err := f.store.PutBlob(f.ctx, []byte(text))
	f.ok(err)
	return name
}

// age lets more than that time pass after which a body may go.
func (f *fixture) age() { f.clock.Advance(unused + store.PutGrain + time.Second) }

var blobTests = []test{
	{"a body that nobody holds goes after its time", func(f *fixture) {
		name := f.put("a page")
		f.collected(0, map[string]bool{name: true})
		f.clock.Advance(unused)
		f.collected(0, map[string]bool{name: true})
		f.clock.Advance(store.PutGrain + time.Second)
		f.collected(1, map[string]bool{name: false})
		f.collected(0, nil)
		f.put("a page") // it can come again
		f.collected(0, map[string]bool{name: true})
	}},
	{"a body that is put again stays", func(f *fixture) {
		name := f.put("a page")
		f.age()
		f.put("a page")
		f.collected(0, map[string]bool{name: true})
		f.clock.Advance(unused)
		f.collected(0, map[string]bool{name: true})
	}},
	{"a run holds what it names", func(f *fixture) {
		asked, read, told, large, loose := f.put("asked"), f.put("read"), f.put("told"), f.put("large"), f.put("loose")
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r1", Request: json.RawMessage(`{"file":"` + asked + `"}`)}, nil, nil))
		epoch := f.acquire("r1", "worker")
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Entries: []run.Entry{
			step("read", `{"snapshot":"`+read+`","again":["`+read+`"]}`), step("large", `["`+strings.Repeat("words ", 10_000)+large+`"]`),
		}}))
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Events: []run.PlacedEvent{
			{Place: "p", Event: event.Event{Seq: 1, Time: at, Data: event.ExportReady{Format: "json", Hash: told, Bytes: 4}}},
		}, Release: true}))
		f.age()
		held := map[string]bool{asked: true, read: true, told: true, large: true, loose: false}
		f.collected(1, held)
		f.ok(f.store.Delete(f.ctx, "r1"))
		delete(held, loose)
		f.collected(0, held)
		f.clock.Advance(unused)
		f.collected(0, held)
		f.clock.Advance(store.PutGrain + time.Second)
		f.collected(4, map[string]bool{asked: false, read: false, told: false, large: false})
		f.ok(f.store.Check(f.ctx))
	}},
	{"a fork holds what it brings along", func(f *fixture) {
		read, told, rest := f.put("read"), f.put("told"), f.put("rest")
		entries := []run.Entry{step("read", `"`+read+`"`), step("rest", `"`+rest+`"`)}
		events := []run.PlacedEvent{{Place: "p", Event: event.Event{Seq: 1, Time: at, Data: event.SourceRead{Number: 1, Hash: told}}}}
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r1"}, entries, events))
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r2", ForkOf: "r1"}, entries[:1], events))
		f.ok(f.store.Delete(f.ctx, "r1"))
		f.age()
		f.collected(1, map[string]bool{read: true, told: true, rest: false})
		f.ok(f.store.Delete(f.ctx, "r2"))
		f.age()
		f.collected(2, map[string]bool{read: false, told: false})
	}},
	{"a body is held from when its step is recorded", func(f *fixture) {
		epoch := f.start("r1")
		name := f.put("a page")
		f.clock.Advance(unused) // the step takes its time
		f.collected(0, map[string]bool{name: true})
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Entries: []run.Entry{step("read", `"`+name+`"`)}}))
		f.age()
		f.collected(0, map[string]bool{name: true})
	}},
	{"a batch that is refused holds nothing", func(f *fixture) {
		epoch := f.start("r1")
		name := f.put("a page")
		f.is(f.commit(run.Batch{Run: "r1", Epoch: epoch + 1, Entries: []run.Entry{step("read", `"`+name+`"`)}}), run.ErrFenced)
		f.age()
		f.collected(1, map[string]bool{name: false})
	}},
	{"what only looks like a name holds nothing", func(f *fixture) {
		name := f.put("a page")
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r1"}, []run.Entry{
			step("a", `"`+strings.ToUpper(name)+`"`), step("b", `"`+name[:70]+`"`), step("c", `"sha256-sha256-`+name[7:60]+`"`), step("d", `"`+name[7:]+`"`),
		}, nil))
		f.age()
		f.collected(1, map[string]bool{name: false})
		again := f.put("a page")
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r2"}, []run.Entry{step("a", `"sha256-`+again+`x"`)}, nil))
		f.age()
		f.collected(0, map[string]bool{again: true})
	}},
	{"many bodies go", func(f *fixture) {
		const n = 300
		for i := range n {
			f.put(fmt.Sprint("page ", i))
		}
		f.put(string(bytes.Repeat(noise(1<<20), 6)))
		var names []string
		for i := range n / 2 {
			names = append(names, f.put(fmt.Sprint("page ", 2*i)))
		}
		value, err := json.Marshal(names)
		f.ok(err)
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r1"}, []run.Entry{step("a", string(value))}, nil))
		f.age()
		f.collected(n/2+1, map[string]bool{names[0]: true, names[n/2-1]: true})
		f.ok(f.store.Delete(f.ctx, "r1"))
		f.age()
		f.collected(n/2, nil)
		f.ok(f.store.Check(f.ctx))
	}},
	{"what was just put is not collected, whoever collects meanwhile", func(f *fixture) {
		for range 30 {
			name := f.put("a page")
			f.age()
			var both sync.WaitGroup
			both.Go(func() {
				if _, err := f.store.PutBlob(f.ctx, []byte("a page")); err != nil {
					f.Error(err)
				}
			})
			both.Go(func() {
				if _, err := f.store.CollectBlobs(f.ctx, unused); err != nil {
					f.Error(err)
				}
			})
			both.Wait()
			if _, err := f.store.Blob(f.ctx, name); err != nil {
				f.Fatal(err)
			}
		}
	}},
	{"what a run names meanwhile is not collected", func(f *fixture) {
		for i := range 30 {
			id := fmt.Sprint("r", i)
			epoch := f.start(id)
			name := f.put(fmt.Sprint("page ", i))
			f.age()
			var both sync.WaitGroup
			var recorded error
			both.Go(func() {
				if _, err := f.store.PutBlob(f.ctx, fmt.Append(nil, "page ", i)); err != nil {
					f.Error(err)
				}
				recorded = f.commit(run.Batch{Run: id, Epoch: epoch, Entries: []run.Entry{step("read", `"`+name+`"`)}})
			})
			both.Go(func() {
				if _, err := f.store.CollectBlobs(f.ctx, unused); err != nil {
					f.Error(err)
				}
			})
			both.Wait()
			_, err := f.store.Blob(f.ctx, name)
			f.ok(errors.Join(err, recorded))
		}
	}},
}
