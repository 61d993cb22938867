// Package store is the contract of durable storage: runs with their journal,
// events and signals, sessions, blobs by hash, small settings, collections of
// documents, templates and instances of agents, what is known of tools, the tokens
// of users, schedules, and what is told to webhooks. The adapters live in sub-packages and pass one conformance
// suite (storetest).
package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dossier/event"
	"dossier/internal/access"
	"dossier/internal/fleet"
	"dossier/internal/schedule"
	"dossier/internal/webhook"
	"dossier/kb"
	"dossier/run"
	"dossier/tool/catalog"
)

// Store is everything that Dossier keeps. It is safe for concurrent use. After
// Close every call fails with ErrClosed.
//
// What is handed to a store (values, events, batches) must not be changed
// afterwards, and neither must what it returns: an adapter may share memory
// with its callers.
type Store interface {
	run.Journal
	Runs
	Sessions
	Blobs
	Settings
	kb.Store
	fleet.Store
	catalog.Store
	access.Store
	schedule.Store
	webhook.Store
	// Watch tells that somebody else, through another handle or in another
	// process, has changed something about runs. Several changes may be told as
	// one, and some that are none; it is a hint. The caller calls stop.
	Watch() (changes <-chan struct{}, stop func())
	// Check verifies the store's integrity.
	Check(ctx context.Context) error
	Close() error
}

// Runs are requests being worked on and what is known of them.
type Runs interface {
	// Create adds a queued run, with the entries and events that a fork or an
	// import brings along (their run and session are set to r's, the entries
	// are counted in the order given, the events are numbered from 1). A
	// record whose status is an ended one keeps it. Its session is made if it
	// does not exist, with the run's title and user; a run may have no session.
	// It fails with ErrExists when the id is taken, and with ErrNotFound when
	// the session is another user's.
	Create(ctx context.Context, r run.Record, entries []run.Entry, events []run.PlacedEvent) error
	Run(ctx context.Context, id string) (run.Record, error)
	// List returns runs, the last created first. Their records are without
	// Request, which may be large: whoever needs it reads the Run.
	List(ctx context.Context, f Filter) ([]run.Record, error)
	// CountRuns counts the runs of each status.
	CountRuns(ctx context.Context) (map[run.Status]int, error)
	// Find returns the ids that begin or end with a part, in order, FindMost of
	// them at most. A part of fewer than FindLeast characters fits none.
	Find(ctx context.Context, part string) ([]string, error)
	// Delete removes a run that no worker holds, with its journal, events and
	// signals. A session without runs goes with its last one. It fails with
	// ErrBusy while a lease is alive. The run is gone at once for everybody,
	// and its seat in an instance is free;
	// what takes long is done in pieces that don't keep others waiting, and
	// what a deletion that was cut short has left goes with the next one.
	Delete(ctx context.Context, id string) error
	// Events returns up to limit durable events with Seq > after, in order;
	// a limit of 0 means all.
	Events(ctx context.Context, id string, after int64, limit int) ([]run.PlacedEvent, error)
	// LastSeqs returns the sequence of the last event of each of the given runs;
	// those that there are not are left out.
	LastSeqs(ctx context.Context, ids []string) (map[string]int64, error)
	// Answer records the answer to a pending question: the one with the given
	// ask key, or the oldest when ask is empty. It fails with ErrNotWaiting
	// when nothing is asked or the run is over, and with ErrAnswered when the
	// question has another answer already; the same answer again is no error.
	// An empty ask also means a question whose answer the run has not used
	// yet, so that of several answers at once all but one fail.
	Answer(ctx context.Context, id, ask, text string) error
	// Signal records any other signal; its N and, where zero, its time are
	// set by the store. It fails with run.ErrEnded when the run is over.
	Signal(ctx context.Context, id string, s run.Signal) error
	// Asks returns the questions of a run that have no answer yet, the oldest
	// first; none when the run is over.
	Asks(ctx context.Context, id string) ([]run.Entry, error)
	// Reopen makes a run runnable again as r says: what is void is forgotten or
	// gets its run.VoidPlace, cancel, pause and finish signals and answers to
	// r.Unasked are gone, its epoch goes up, r.Event is in its log, r.Home is
	// its home, and it is queued. It fails with ErrBusy while a lease is alive, and with
	// run.ErrChanged when r was made for another state of the run.
	Reopen(ctx context.Context, id string, r run.Reopening) error
	// Append adds an event behind the last one of a run that is over. It fails with
	// ErrBusy when the run is not over, and with run.ErrChanged when the event does
	// not follow on its last one.
	Append(ctx context.Context, id string, e run.PlacedEvent) error
	// Tag gives a run these tags, each once and in order, in place of those that it
	// had.
	Tag(ctx context.Context, id string, tags []string) error
	// Tags returns the tags that runs of a user have, of all with an empty one, in
	// order.
	Tags(ctx context.Context, user string) ([]TagCount, error)
	// Owners returns the workers that hold runs, or whose home runs have, that
	// are not over.
	Owners(ctx context.Context) ([]string, error)
	// Evict ends the leases of a worker that is dead and makes its runs
	// anybody's; those that were running are queued.
	Evict(ctx context.Context, owner string) error
	// Orphans returns the runs without a live lease, by the store's clock, that
	// a worker should take, the oldest first, if home is theirs or they have
	// none: those that are queued or running, those that wait and have an answer
	// which they have not used or a cancel, pause or finish signal, and those
	// that are paused and have a cancel or finish signal. Runs that wait for a
	// slot of their instance are left out: it is not their turn.
	Orphans(ctx context.Context, home string) ([]string, error)
	// Unrecorded returns the runs of a mode that are over since a moment, or
	// were changed since they are, and have no outcome, the oldest first.
	Unrecorded(ctx context.Context, mode string, since time.Time) ([]string, error)
}

// What a part of an id has at least, and how many runs it finds at most.
const (
	FindLeast = 4
	FindMost  = 20
)

// Filter narrows List. The zero value means the newest 100 runs.
type Filter struct {
	Session string
	Agent   string // runs of the agent with this id
	User    string // whose runs; "" is everybody's
	Status  run.Status
	Mode    string
	Tag     string // runs that have this tag
	// Since and Until bound the time of creation; a run of that very moment is
	// within.
	Since, Until time.Time
	// Text has words all of which are said in a run: see Terms.
	Text   string
	Limit  int
	Before string // only runs older than this one
}

// TagCount is a tag and how many runs have it.
type TagCount struct {
	Tag  string `json:"tag"`
	Runs int    `json:"runs"`
}

// Session is a conversation.
type Session struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	User    string    `json:"user,omitempty"` // whose it is; "" is the operator's
	Created time.Time `json:"created"`
	Runs    int       `json:"runs"`
	// Last is the newest run of it, and Updated when that was last changed.
	Last    string    `json:"last"`
	Updated time.Time `json:"updated"`
}

// SessionFilter narrows SessionList. The zero value means the newest 100.
type SessionFilter struct {
	User   string // whose sessions; "" is everybody's
	Limit  int
	Before string // only sessions whose newest run is older than that of this one
}

// Sessions are conversations; their messages are the message events of their
// runs.
type Sessions interface {
	Session(ctx context.Context, id string) (Session, error)
	// SessionList returns sessions, the one with the newest run first. It fails
	// with ErrNotFound when there is no session Before.
	SessionList(ctx context.Context, f SessionFilter) ([]Session, error)
	// RenameSession gives a session another title. It fails with ErrNotFound.
	RenameSession(ctx context.Context, id, title string) error
	// Messages returns the last limit messages of a session (all when limit
	// is 0), oldest first, of the runs that were created before the one named
	// before; when that is empty or no run, of all.
	Messages(ctx context.Context, session, before string, limit int) ([]event.Message, error)
}

// Settings are small values that outlive the process, such as what an
// endpoint was found to be capable of.
type Settings interface {
	// Setting fails with ErrNotFound when there is no such value.
	Setting(ctx context.Context, bucket, key string) ([]byte, error)
	SetSetting(ctx context.Context, bucket, key string, value []byte) error
}

// Errors of the contract, beside those of run.Journal.
var (
	ErrNotFound   = errors.New("not found")
	ErrExists     = errors.New("exists already")
	ErrSequence   = errors.New("events are out of sequence")
	ErrNotWaiting = errors.New("the run is not waiting for an answer")
	ErrAnswered   = errors.New("the question has another answer already")
	ErrBusy       = errors.New("a worker is on this run")
	ErrCorrupt    = errors.New("the database file is damaged")
	// ErrDiskFull stops a run that works, and fails nothing of it.
	ErrDiskFull error = &run.UnstoredError{Code: "disk_full", Message: "the disk is full", Hint: "free some space; nothing that was recorded is lost, and what was under way goes on then"}
	ErrReadOnly       = errors.New("the disk or the file is read-only")
	ErrClosed         = errors.New("the store is closed")
)

// ErrDeleted is what a worker gets that commits to a run which is gone: it
// must stop as one that was fenced, and there is no such run.
var ErrDeleted = fmt.Errorf("%w: %w", run.ErrFenced, run.ErrUnknownRun)

// CheckSequence says whether events follow the event numbered last without a
// gap and are all durable.
func CheckSequence(last int64, events []run.PlacedEvent) error {
	for i := range events {
		e := &events[i]
		switch want := last + 1 + int64(i); {
		case e.Data == nil:
			return fmt.Errorf("event at %q has no data", e.Place)
		case e.Transient():
			return fmt.Errorf("%w: %s at %q is transient and cannot be stored", ErrSequence, e.Kind(), e.Place)
		case e.Seq != want:
			return fmt.Errorf("%w: event at %q has sequence %d, want %d", ErrSequence, e.Place, e.Seq, want)
		}
	}
	return nil
}
