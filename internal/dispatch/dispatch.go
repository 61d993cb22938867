// Package dispatch sees to it that runs are worked on: each by one worker at a
// time, in its turn, again when somebody tells it something, and also when the
// process that was on it is gone.
//
// The store is the truth and everything here is a hint: what a message, a wake
// or a whole process does not bring about, the next sweep does.
package dispatch

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"dossier/event"
	"dossier/run"
)

// Dispatcher has runs executed. It is safe for concurrent use.
type Dispatcher interface {
	// Expect keeps the sweeps made here off a run that the caller is about to
	// create or to reopen and then to enqueue, until over is called: it comes as
	// what it is, and not as one that was left behind.
	Expect(id string) (over func())
	// Enqueue has a run executed as soon as it is its turn and a worker is
	// free. One that is being worked on here is looked at once more afterwards;
	// one that another process works on is left to it.
	Enqueue(ctx context.Context, id string, how Entry) error
	// Signal records what somebody wants of a run and has it taken in, by
	// whoever works on the run or by executing it. To end and to rest it needs
	// neither a turn nor a free worker.
	Signal(ctx context.Context, id string, s run.Signal) error
	// Wake has signals that were recorded already taken in.
	Wake(ctx context.Context, id string) error
	// Follow yields the durable events of a run after a sequence, and then
	// everything as it happens until the run is over; transient events if it is
	// worked on here. A yielded error is terminal.
	Follow(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error]
	// Stay is Follow that goes on when the run is over: with its afterwords, and with
	// all that happens if it is taken up again.
	Stay(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error]
	// Tell tells followers of an event that was appended here and not by a run.
	Tell(ev event.Event)
	// Forget drops a run that is gone.
	Forget(ctx context.Context, id string)
	// Sweep looks for what was left behind and has it go on. It returns how many
	// runs that were.
	Sweep(ctx context.Context) (int, error)
	// Close ends the work: runs under way are put back to be continued.
	Close()
}

// Entry is how a run comes to be executed.
type Entry int

// The ways.
const (
	// Fresh is a new run: it is refused where there is no room for it.
	Fresh Entry = iota
	// Resumed is one that was admitted before and rested.
	Resumed
	// Restored is one that was left behind: it keeps its place.
	Restored
)

// Turns say whose turn it is among runs that wait for each other, such as
// those of an instance that takes so many at once.
type Turns interface {
	// Enter lets a run wait for its turn. It returns the runs whose turn has
	// come by that: usually this one or none. Those that wait for nobody have
	// theirs at once; one that has its turn already keeps it.
	Enter(ctx context.Context, r run.Record, how Entry) (next []string, err error)
	// Leave says that nobody works on a run any more. It returns the runs whose
	// turn has come by that.
	Leave(ctx context.Context, id string) (next []string, err error)
	// Withdraw takes a run out that waits for its turn, and says whether it did.
	Withdraw(ctx context.Context, id string) (bool, error)
	// Standing says of those of the given runs that have entered and not left
	// whether their turn has come; that of those that wait for nobody has.
	Standing(ctx context.Context, ids []string) (map[string]bool, error)
	// Holders returns the runs that have the turns which the given ones wait for.
	Holders(ctx context.Context, ids []string) ([]string, error)
	// Settle gives the turns on that processes which died had for runs that need
	// none any more. It returns the runs whose turn has come by that.
	Settle(ctx context.Context) (next []string, err error)
}

// Store is what a dispatcher needs of it.
type Store interface {
	run.Journal
	Run(ctx context.Context, id string) (run.Record, error)
	Events(ctx context.Context, id string, after int64, limit int) ([]run.PlacedEvent, error)
	LastSeqs(ctx context.Context, ids []string) (map[string]int64, error)
	Signal(ctx context.Context, id string, s run.Signal) error
	Owners(ctx context.Context) ([]string, error)
	Evict(ctx context.Context, owner string) error
	Orphans(ctx context.Context, home string) ([]string, error)
	Watch() (changes <-chan struct{}, stop func())
}

// Options of a Local dispatcher.
type Options struct {
	Store Store
	// Owner names the worker; no other ever has the name.
	Owner string
	// TTL of leases; run.DefaultTTL when 0.
	TTL time.Duration
	// Workers is how many runs are executed at once; 0 means any number.
	Workers int
	Program run.Program
	// Watch is as in run.ExecutorConfig.
	Watch run.Watch
	// Turns may be nil: then no run waits for another.
	Turns Turns
	// Left is told of each run that a worker has left, and how it stands.
	Left func(id string, status run.Status)
	// Alive says whether a worker is, where that is known at once and not only
	// when its leases end; nil where it is not.
	Alive func(owner string) (bool, error)
	// Adopt takes up runs that others left behind: for processes that stay.
	Adopt bool
	Log   *slog.Logger
}
