package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Store is what a fleet is kept in. Its methods are atomic and durable, and
// its errors of the contract wrap those below.
type Store interface {
	Templates
	Instances
	Seats
	Outcomes
}

// Templates are names with numbered versions.
type Templates interface {
	// CreateTemplate adds a template with its first version, a draft, whose user
	// it belongs to. It fails with ErrExists when the name is taken.
	CreateTemplate(ctx context.Context, name string, v Version) error
	// Template returns a template with its versions, without their documents,
	// and its publications, the oldest first.
	Template(ctx context.Context, name string) (Template, error)
	// Templates returns all templates by name, without versions and
	// publications.
	Templates(ctx context.Context) ([]Template, error)
	// TemplateVersion returns a version with its document; 0 is the published
	// one, and the latest where none is.
	TemplateVersion(ctx context.Context, name string, n int) (Version, error)
	// AddTemplateVersion adds a draft with the next number. When the latest
	// version has the same document, it adds nothing and returns that one. A
	// version of another user than the template's fails with ErrExists.
	AddTemplateVersion(ctx context.Context, name string, v Version) (_ Version, added bool, err error)
	// PublishVersion makes a version the published one, whatever its state
	// was, and records that; a deprecated template is in use again. It changes
	// nothing when the version is the published one of a template in use.
	PublishVersion(ctx context.Context, name string, n int, at time.Time) error
	// DeprecateVersion marks a version, or with 0 the template and all of its
	// versions; the published one stays the published one.
	DeprecateVersion(ctx context.Context, name string, n int, at time.Time) error
	// DeleteTemplate removes a template with its versions and outcomes. It
	// fails with ErrInUse while there are instances of it.
	DeleteTemplate(ctx context.Context, name string) error
}

// Instances are long-lived agents; of their states a store knows Ready,
// Draining and Stopped.
type Instances interface {
	// AddInstances adds all or none. It fails with ErrExists when an id or a
	// name is taken, and with ErrNoTemplate.
	AddInstances(ctx context.Context, list []Instance) error
	// Instance finds an instance by its id, or else by its name, with one
	// indexed read.
	Instance(ctx context.Context, key string) (Instance, error)
	// InstanceList returns instances in the order of their names. Limit is
	// what it says, and none when it is 0.
	InstanceList(ctx context.Context, f Filter) ([]Instance, error)
	// CountInstances counts what InstanceList would return without a limit.
	CountInstances(ctx context.Context, f Filter) (int, error)
	// SetInstanceState changes the state; one that is stopped is not set
	// Draining.
	SetInstanceState(ctx context.Context, id string, s State) error
	SetInstanceVersion(ctx context.Context, id string, version int) error
	// RemoveInstance removes an instance that has no work and frees its
	// sessions. It fails with ErrInUse while a run has a seat in it.
	RemoveInstance(ctx context.Context, id string) error
	// SessionOwner returns the id of the instance that has a session, and ""
	// when nobody has it.
	SessionOwner(ctx context.Context, session string) (string, error)
}

// Seat is that of a run in an instance, given by its id. A run without a session
// has an empty one.
type Seat struct{ Instance, Session, Run string }

// Arrival is how a run comes to an instance.
type Arrival int

// The ways.
const (
	// Fresh is a new run: it is refused when the queue is full or the instance
	// takes none.
	Fresh Arrival = iota
	// Resumed is one that was admitted before and has rested: it goes before
	// new runs of its session.
	Resumed
	// Restored is one that was admitted before and left behind: it keeps its
	// order.
	Restored
)

// Load is what an instance is doing.
type Load struct {
	// Running of its slots are taken, and Queued runs wait for one.
	Running, Queued int
	// Sessions that have a run at work or waiting.
	Sessions int
}

// Seats say which runs have a slot of an instance and which wait for one. They
// outlive the process, so that the next one goes on in the same order.
//
// Runs of a session wait in order. Sessions that have waiting runs take turns, so
// however much one asks for, another waits for no more than one run of each
// session before it.
type Seats interface {
	// Enter gives a run a seat: a slot if one is free, which granted says, or one
	// among those that wait. One that has a seat keeps it. A session that is
	// nobody's becomes the instance's, which counts as a use of it.
	//
	// A stopped instance refuses all, a draining one new runs; that is a
	// *StateError, with Stopped for one that has no work. It also fails with
	// *QueueFullError, *SessionError and ErrNoInstance.
	Enter(ctx context.Context, s Seat, how Arrival) (granted bool, err error)
	// Leave takes a run's seat away and returns the runs that were given a slot
	// by that. A run without a seat is no error and costs one indexed read.
	Leave(ctx context.Context, run string) (granted []string, err error)
	// Withdraw is Leave for a run that waits for a slot, and says whether it did.
	Withdraw(ctx context.Context, run string) (bool, error)
	// StopInstance sets an instance Stopped and takes away the seats of those
	// that wait. It returns these and the runs that have a slot, each in order of
	// their ids.
	StopInstance(ctx context.Context, id string) (running, waiting []string, err error)
	// Loads returns what instances are doing by their ids, those without work
	// left out: the given ones, or all when none is given.
	Loads(ctx context.Context, ids ...string) (map[string]Load, error)
	// Standing says of those of the given runs that have a seat whether it is a
	// slot.
	Standing(ctx context.Context, runs []string) (map[string]bool, error)
	// Holders returns the runs that have a slot in an instance in which one of the
	// given runs waits, in order of their ids.
	Holders(ctx context.Context, runs []string) ([]string, error)
	// Settle takes away the seats of runs that need none any more, because they
	// are over, rest since they had theirs, or are gone, and returns the runs that
	// were given a slot by that. It looks at seats, not at all runs.
	Settle(ctx context.Context) (granted []string, err error)
}

// SeatGrace is how long a slot may be held by a run that rests
// and that nobody has taken up since it came: whoever brought it is dead then.
const SeatGrace = time.Hour

// Outcomes are what became of runs.
type Outcomes interface {
	// PutOutcome records a run, or replaces what was recorded of it. A run
	// that was not recorded before counts as served by its instance, which was
	// used then. It fails with ErrNoTemplate; an instance that is gone is no
	// error.
	PutOutcome(ctx context.Context, o Outcome) error
	// EachOutcome calls do with each outcome of a template, in any order,
	// until it fails.
	EachOutcome(ctx context.Context, template string, do func(Outcome) error) error
}

// Errors of the contract.
var (
	ErrNoTemplate = errors.New("there is no such template")
	ErrNoVersion  = errors.New("there is no such version")
	ErrNoInstance = errors.New("there is no such instance")
	ErrExists     = errors.New("the name is taken")
	ErrInUse      = errors.New("it is in use")
)

// RequestError says that what was asked for can't be, as it was written or as
// things stand. Its text tells what to do instead.
type RequestError struct{ text string }

func (e *RequestError) Error() string { return e.text }

func refuse(format string, args ...any) error { return &RequestError{fmt.Sprintf(format, args...)} }
