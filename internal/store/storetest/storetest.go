// Package storetest is the conformance suite of store.Store: an adapter is
// right when it passes Run.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"dossier/event"
	"dossier/internal/store"
	"dossier/run"
)

// Open returns n handles, as several processes would have, on an empty store
// whose leases follow the clock now. It arranges for them to be closed when the
// test is over.
type Open func(t testing.TB, now func() time.Time, n int) []store.Store

// Run tests an adapter.
func Run(t *testing.T, open Open) {
	t.Helper()
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"runs", runTests},
		{"journal", journalTests},
		{"leases", leaseTests},
		{"signals", signalTests},
		{"sessions", sessionTests},
		{"users", userTests},
		{"words", wordTests},
		{"tokens", tokenTests},
		{"bodies", bodyTests},
		{"blobs", blobTests},
		{"collections", collectionTests},
		{"templates", templateTests},
		{"instances", instanceTests},
		{"seats", seatTests},
		{"tools", toolTests},
		{"schedules", scheduleTests},
		{"webhooks", webhookTests},
		{"crowds", crowdTests},
		{"handles", handleTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.tests {
				t.Run(c.name, func(t *testing.T) { c.test(newFixture(t, open)) })
			}
		})
	}
	t.Run("model", func(t *testing.T) { modelTest(t, open) })
	t.Run("model of seats", func(t *testing.T) { seatModelTest(t, open) })
	t.Run("model of collections", func(t *testing.T) { collectionModelTest(t, open) })
}

type test struct {
	name string
	test func(f *fixture)
}

// Clock is a clock that stands still until it is told to move.
type Clock struct {
	mu sync.Mutex
	t  time.Time
}

// NewClock returns a clock that stands at some moment.
func NewClock() *Clock { return &Clock{t: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

// Now returns the moment at which the clock stands.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// ttl is the length of the suite's leases.
const ttl = 30 * time.Second

// fixture is an empty store and short words for what the tests do with it.
type fixture struct {
	testing.TB
	ctx   context.Context
	clock *Clock
	store store.Store
	// handles are all there are on the store, the one above among them.
	handles []store.Store
}

func newFixture(t testing.TB, open Open) *fixture {
	clock := NewClock()
	all := open(t, clock.Now, handles)
	return &fixture{TB: t, ctx: context.Background(), clock: clock, store: all[0], handles: all}
}

// handles is how many the suite opens on a store.
const handles = 3

// ok fails the test when there is an error.
func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// is fails the test unless err is want and says more than want does.
func (f *fixture) is(err, want error) {
	f.Helper()
	if !errors.Is(err, want) {
		f.Fatalf("got error %v, want %v", err, want)
	}
}

// create adds a run of a session.
func (f *fixture) create(id, session string) {
	f.Helper()
	f.ok(f.store.Create(f.ctx, run.Record{ID: id, Session: session, Mode: "chat", Title: "title of " + id, Request: json.RawMessage(`{"q":1}`)}, nil, nil))
}

// acquire takes a run and returns its epoch.
func (f *fixture) acquire(id, owner string) int64 {
	f.Helper()
	h, err := f.store.Acquire(f.ctx, id, owner, ttl)
	f.ok(err)
	return h.Record.Epoch
}

// start creates a run and takes it.
func (f *fixture) start(id string) int64 {
	f.Helper()
	f.create(id, "")
	return f.acquire(id, "worker")
}

// commit waits for a batch.
func (f *fixture) commit(b run.Batch) error {
	result := make(chan error, 1)
	f.store.Commit(&b, func(err error) { result <- err })
	return <-result
}

// record returns a run's record.
func (f *fixture) record(id string) run.Record {
	f.Helper()
	r, err := f.store.Run(f.ctx, id)
	f.ok(err)
	return r
}

// listed demands that these runs are in a list, in this order.
func (f *fixture) listed(filter store.Filter, want ...string) {
	f.Helper()
	if got := f.ids(filter); !slices.Equal(got, want) {
		f.Fatalf("%+v: got %v, want %v", filter, got, want)
	}
}

// history returns what is known of a run.
func (f *fixture) history(id string) *run.History {
	f.Helper()
	h, err := f.store.History(f.ctx, id)
	f.ok(err)
	return h
}

// sizes demands that a run has so many entries and events.
func (f *fixture) sizes(id string, entries, events int) {
	f.Helper()
	h := f.history(id)
	all, err := f.store.Events(f.ctx, id, 0, 0)
	f.ok(err)
	if len(h.Entries) != entries || len(all) != events || len(h.Places) != events || h.Record.LastSeq != int64(events) {
		f.Fatalf("run %s has %d entries, %d events, %d places and ends at %d; want %d entries and %d events",
			id, len(h.Entries), len(all), len(h.Places), h.Record.LastSeq, entries, events)
	}
}

// at is the moment of the suite's entries and events.
var at = time.Date(2026, 2, 3, 4, 5, 6, 789_000_000, time.UTC)

func step(key, value string) run.Entry {
	return run.Entry{Key: key, Kind: run.EntryStep, Value: json.RawMessage(value), Time: at}
}

func entry(kind run.EntryKind, key, value string) run.Entry {
	return run.Entry{Key: key, Kind: kind, Value: json.RawMessage(value), Time: at}
}

func note(seq int64, place, text string) run.PlacedEvent {
	return run.PlacedEvent{Place: place, Event: event.Event{Seq: seq, Time: at, Agent: "a/b", Data: event.NoteAdded{Text: text}}}
}

func message(seq int64, place, role, text string) run.PlacedEvent {
	return run.PlacedEvent{Place: place, Event: event.Event{Seq: seq, Time: at, Data: event.Message{Role: role, Text: text}}}
}

// notes returns n events from sequence first on.
func notes(first int64, n int) []run.PlacedEvent {
	var events []run.PlacedEvent
	for i := range int64(n) {
		events = append(events, note(first+i, fmt.Sprintf("place/%d", first+i), fmt.Sprintf("note %d", first+i)))
	}
	return events
}
