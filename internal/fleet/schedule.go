package fleet

import (
	"context"
	"errors"
	"fmt"
)

// QueueFullError is what a run gets when as many wait as may.
type QueueFullError struct {
	Instance string
	Limit    int
}

func (e *QueueFullError) Error() string {
	if e.Limit == 0 {
		return fmt.Sprintf("instance %s has no free slot and no queue: try again later, or register it with more slots", e.Instance)
	}
	return fmt.Sprintf("instance %s: its queue is full (%d): try again later", e.Instance, e.Limit)
}

// StateError is what a run gets when its instance takes none.
type StateError struct {
	Instance string
	State    State
}

func (e *StateError) Error() string {
	switch e.State {
	case Starting:
		return fmt.Sprintf("instance %s is starting: try again in a moment", e.Instance)
	case Draining:
		return fmt.Sprintf("instance %s is draining and takes no new runs: start it again, or use another instance", e.Instance)
	}
	return fmt.Sprintf("instance %s is %s: start it, or use another instance", e.Instance, e.State)
}

// SessionError is what a run gets whose session is another instance's; Instance
// is empty for one that belongs to none.
type SessionError struct{ Session, Instance, Owner string }

func (e *SessionError) Error() string {
	if e.Instance == "" {
		return fmt.Sprintf("session %s belongs to instance %s: go on with it there, or begin a new session", e.Session, e.Owner)
	}
	return fmt.Sprintf("session %s belongs to instance %s, not to %s: go on with it there, or begin a new session", e.Session, e.Owner, e.Instance)
}

// Submit admits a run of a session to an instance, given by id or name. It
// returns the runs that the caller has to start now: this one, or none while it
// waits for a slot. A run without a session has an empty one. The first instance
// to use a session keeps it.
//
// It fails with *QueueFullError, *StateError, *SessionError or ErrNoInstance.
func (f *Fleet) Submit(ctx context.Context, instance, session, run string) (start []string, err error) {
	return f.admit(ctx, Seat{instance, session, run}, Fresh)
}

// Resume is Submit for a run that had left to wait for its user or because it
// was paused. It goes before new runs of its session, and neither a full queue
// nor draining keeps it out: it was admitted before.
func (f *Fleet) Resume(ctx context.Context, instance, session, run string) (start []string, err error) {
	return f.admit(ctx, Seat{instance, session, run}, Resumed)
}

func (f *Fleet) admit(ctx context.Context, s Seat, how Arrival) (start []string, err error) {
	key := s.Instance
	granted, err := f.store.Enter(ctx, s, how)
	if errors.Is(err, ErrNoInstance) {
		row, missing := f.find(ctx, key)
		if missing != nil {
			return nil, missing
		}
		s.Instance = row.ID // it was a name
		granted, err = f.store.Enter(ctx, s, how)
	}
	switch {
	case err != nil:
		return nil, f.named(err, key, s.Instance)
	case granted:
		return []string{s.Run}, nil
	}
	return nil, nil
}

// named puts the instance as its caller knows it into an error.
func (f *Fleet) named(err error, key, id string) error {
	if e, ok := errors.AsType[*QueueFullError](err); ok {
		e.Instance = key
	}
	if e, ok := errors.AsType[*StateError](err); ok {
		e.Instance = key
		if _, starting := f.starting.Load(id); starting {
			e.State = Starting
		}
	}
	return err
}

// admits says why an instance does not take a run.
func (f *Fleet) admits(row *Instance, load Load, how Arrival) error {
	e := row.Refuses(load, how)
	if e == nil {
		return nil
	}
	return f.named(e, row.Name, row.ID)
}

// Refuses says why an instance that has this to do would not take a run: with a
// *StateError or a *QueueFullError. It is the rule of Seats.Enter.
func (i *Instance) Refuses(load Load, how Arrival) error {
	limit := max(i.Queue, 0)
	switch {
	case i.State == Stopped, i.State == Draining && how == Fresh:
		state := i.State
		if load == (Load{}) {
			state = Stopped
		}
		return &StateError{Instance: i.Name, State: state}
	case how == Fresh && load.Running >= i.Slots && load.Queued >= limit:
		return &QueueFullError{Instance: i.Name, Limit: limit}
	}
	return nil
}

// Resumes says why an instance, given by id or name, would not let a run go on
// that it had admitted before.
func (f *Fleet) Resumes(ctx context.Context, instance string) error {
	row, err := f.find(ctx, instance)
	if err != nil {
		return err
	}
	load, err := f.load(ctx, row.ID)
	if err != nil {
		return err
	}
	return f.admits(&row, load, Resumed)
}

// Free says whether runs that belong to no instance may use a session: it fails
// with *SessionError when an instance has it.
func (f *Fleet) Free(ctx context.Context, session string) error {
	owner, err := f.store.SessionOwner(ctx, session)
	switch {
	case err != nil:
		return fmt.Errorf("session %q: %w", session, err)
	case owner != "":
		return &SessionError{Session: session, Owner: owner}
	}
	return nil
}

// Leave says that a run has ended, waits for its user, is paused or was
// cancelled in the queue. It returns the runs that the caller has to start
// now. A run that has no seat is no error: leaving twice is leaving.
func (f *Fleet) Leave(ctx context.Context, run string) (start []string, err error) {
	return f.store.Leave(ctx, run)
}

// Withdraw takes a run away that waits for a slot, and says whether it did: a
// run that has one leaves with Leave.
func (f *Fleet) Withdraw(ctx context.Context, run string) (bool, error) {
	return f.store.Withdraw(ctx, run)
}

// Restore puts runs back that were queued or at work when the process ended,
// in the order given, however long the queues get. It returns the runs that
// the caller has to start now, and those that could not be put back because
// their instance is stopped or gone, or their session another's. When it fails,
// what it returns holds still: left has all that were not put back.
func (f *Fleet) Restore(ctx context.Context, seats []Seat) (start []string, left []Seat, err error) {
	for i, s := range seats {
		first, err := f.admit(ctx, s, Restored)
		_, refused := errors.AsType[*StateError](err)
		_, foreign := errors.AsType[*SessionError](err)
		switch {
		case refused, foreign, errors.Is(err, ErrNoInstance):
			left = append(left, s)
		case err != nil:
			return start, append(left, seats[i:]...), fmt.Errorf("restore run %q: %w", s.Run, err)
		}
		start = append(start, first...)
	}
	return start, left, nil
}

// Standing says of those of the given runs that have a seat whether it is a slot.
func (f *Fleet) Standing(ctx context.Context, runs []string) (map[string]bool, error) {
	return f.store.Standing(ctx, runs)
}

// Holders returns the runs that have the slots which the given ones wait for.
func (f *Fleet) Holders(ctx context.Context, runs []string) ([]string, error) {
	return f.store.Holders(ctx, runs)
}

// Settle frees the seats of runs that need none any more, which a process that
// died could not give back, and returns the runs that were given a slot by that.
func (f *Fleet) Settle(ctx context.Context) (start []string, err error) { return f.store.Settle(ctx) }

// Status is an instance and what it is doing.
type Status struct {
	Instance

	// Running of its slots are taken, and Queued runs wait for one.
	Running int `json:"running"`
	Queued  int `json:"queued"`
	// Sessions that have a run at work or waiting.
	Sessions int `json:"sessions"`
}

// Status returns what an instance is doing.
func (f *Fleet) Status(ctx context.Context, instance string) (Status, error) {
	row, err := f.find(ctx, instance)
	if err != nil {
		return Status{}, err
	}
	load, err := f.load(ctx, row.ID)
	if err != nil {
		return Status{}, err
	}
	return f.status(row, load), nil
}

// load returns what an instance is doing.
func (f *Fleet) load(ctx context.Context, id string) (Load, error) {
	loads, err := f.store.Loads(ctx, id)
	return loads[id], err
}

// status puts a row and what the instance is doing together.
func (f *Fleet) status(row Instance, load Load) Status {
	st := Status{Instance: row, Running: load.Running, Queued: load.Queued, Sessions: load.Sessions}
	_, starting := f.starting.Load(row.ID)
	switch {
	case starting:
		st.State = Starting
	case row.State == Ready && load != (Load{}):
		st.State = Busy
	case row.State == Ready:
	case load != (Load{}):
		st.State = Draining
	default:
		st.State = Stopped
	}
	return st
}

// states gives rows the states that follow from what the instances are doing.
func (f *Fleet) states(ctx context.Context, rows []Instance) error {
	if len(rows) == 0 {
		return nil
	}
	ids := make([]string, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	loads, err := f.store.Loads(ctx, ids...)
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i] = f.status(rows[i], loads[rows[i].ID]).Instance
	}
	return nil
}
