// Package store is the contract of durable storage: runs with their journal,
// events and signals, sessions, blobs by hash and small settings. The adapters
// live in sub-packages and pass one conformance suite (storetest).
package store

import (
	"context"
	"errors"
	"time"

	"dossier/event"
	"dossier/run"
)

// Store is everything that Dossier keeps. It is safe for concurrent use.
type Store interface {
	run.Journal
	Runs
	Sessions
	Blobs
	Settings
	// Check verifies the store's integrity.
	Check(ctx context.Context) error
	Close() error
}

// Runs are requests being worked on and what is known of them.
type Runs interface {
	// Create adds a queued run, with the entries and events that a fork or an
	// import brings along (their run and session are set to r's). Its session
	// is made if it does not exist.
	Create(ctx context.Context, r run.Record, entries []run.Entry, events []run.PlacedEvent) error
	Run(ctx context.Context, id string) (run.Record, error)
	// List returns runs, newest first.
	List(ctx context.Context, f Filter) ([]run.Record, error)
	// Delete removes a run that no worker holds, with its journal, events and
	// signals. A session without runs goes with its last one.
	Delete(ctx context.Context, id string) error
	// Events returns up to limit durable events with Seq > after, in order.
	Events(ctx context.Context, id string, after int64, limit int) ([]run.PlacedEvent, error)
	// Answer records the answer to a pending question: the one with the given
	// ask key, or the oldest when ask is empty. It fails with ErrNotWaiting
	// when nothing is asked, and with ErrAnswered when the question has
	// another answer already; the same answer again is no error.
	Answer(ctx context.Context, id, ask, text string) error
	// Signal records any other signal.
	Signal(ctx context.Context, id string, s run.Signal) error
	// Asks returns the questions of a run that have no answer yet.
	Asks(ctx context.Context, id string) ([]run.Entry, error)
	// Reopen makes a failed, cancelled or paused run runnable again: the
	// fault recorded for its failing step is forgotten, cancel, pause and
	// finish signals are void, and it is queued.
	Reopen(ctx context.Context, id string) error
	// Orphans returns runs that are queued, or running with an expired lease.
	Orphans(ctx context.Context, now time.Time) ([]string, error)
}

// Filter narrows List. The zero value means the newest 100 runs.
type Filter struct {
	Session string
	Status  run.Status
	Limit   int
	Before  string // only runs older than this one
}

// Session is a conversation.
type Session struct {
	ID      string
	Title   string
	Created time.Time
	Runs    int
}

// Sessions are conversations; their messages are the message events of their
// runs.
type Sessions interface {
	Session(ctx context.Context, id string) (Session, error)
	SessionList(ctx context.Context, limit int) ([]Session, error)
	// Messages returns the last limit messages of a session, oldest first,
	// leaving out those of the run named except (it may be empty).
	Messages(ctx context.Context, session, except string, limit int) ([]event.Message, error)
}

// Blobs are bodies named by their content.
type Blobs interface {
	// PutBlob stores data and returns its name, "sha256-" and the hash in hex.
	PutBlob(ctx context.Context, data []byte) (string, error)
	Blob(ctx context.Context, name string) ([]byte, error)
}

// Settings are small values that outlive the process, such as what an
// endpoint was found to be capable of.
type Settings interface {
	Setting(ctx context.Context, bucket, key string) ([]byte, error)
	SetSetting(ctx context.Context, bucket, key string, value []byte) error
}

// Errors of the contract, beside those of run.Journal.
var (
	ErrNotFound   = errors.New("not found")
	ErrExists     = errors.New("exists already")
	ErrNotWaiting = errors.New("the run is not waiting for an answer")
	ErrAnswered   = errors.New("the question has another answer already")
	ErrBusy       = errors.New("a worker is on this run")
	ErrCorrupt    = errors.New("the database file is damaged")
	ErrDiskFull   = errors.New("the disk is full")
	ErrReadOnly   = errors.New("the disk or the file is read-only")
)
