package fleet

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
)

// shards keep Submits and Leaves of different instances out of each other's
// way.
const shards = 64

// shard is a part of the instances that have work.
type shard struct {
	mu    sync.Mutex
	desks map[string]*desk
	// changes counts what was done to instances by hand. A row that was read
	// before the latest of these may be out of date.
	changes uint64
}

func (f *Fleet) shard(id string) *shard { return &f.shards[maphash.String(f.seed, id)%shards] }

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
// returns the runs that the caller has to start now, and the place of this run
// in the queue: 0 when it is among these. A run without a session has an
// empty one. The first instance to use a session keeps it.
//
// It fails with *QueueFullError, *StateError, *SessionError or ErrNoInstance.
func (f *Fleet) Submit(ctx context.Context, instance, session, run string) (start []string, pos int, err error) {
	return f.admit(ctx, instance, session, run, fresh)
}

// Resume is Submit for a run that had left to wait for its user or because it
// was paused. It goes before new runs of its session, and neither a full queue
// nor draining keeps it out: it was admitted before.
func (f *Fleet) Resume(ctx context.Context, instance, session, run string) (start []string, pos int, err error) {
	return f.admit(ctx, instance, session, run, resumed)
}

func (f *Fleet) admit(ctx context.Context, instance, session, run string, e entry) (start []string, pos int, err error) {
	id, claimed := instance, session == ""
	for {
		s := f.shard(id)
		s.mu.Lock()
		changes, d := s.changes, s.desks[id]
		if d != nil {
			if claimed || d.lanes[session] != nil || d.runs[run] != nil {
				start, pos, err = d.submit(session, run, e)
				s.mu.Unlock()
				return start, pos, named(err, instance)
			}
			err = d.refuses(e)
		}
		s.mu.Unlock()
		if err != nil {
			return nil, 0, named(err, instance)
		}

		var row Instance
		if d == nil {
			if row, err = f.find(ctx, id); err != nil {
				return nil, 0, err
			}
			if row.ID != id { // it was a name
				id = row.ID
				continue
			}
			if err := f.admits(&row, e); err != nil {
				return nil, 0, err
			}
		}
		if !claimed {
			if err := f.claim(ctx, session, id); err != nil {
				return nil, 0, err
			}
			claimed = true
		}

		s.mu.Lock()
		if s.changes == changes && d == nil && s.desks[id] == nil {
			d = newDesk(&row)
			start, pos, err = d.submit(session, run, e)
			if err == nil {
				s.desks[id] = d
			}
			s.mu.Unlock()
			return start, pos, named(err, instance)
		}
		// It has woken, gone to sleep or was changed meanwhile: look again.
		s.mu.Unlock()
	}
}

// admits says why an instance without work does not take a run.
func (f *Fleet) admits(row *Instance, e entry) error {
	_, starting := f.starting.Load(row.ID)
	switch {
	case row.State == Ready, row.State == Draining && e != fresh:
		return nil
	case starting:
		return &StateError{Instance: row.Name, State: Starting}
	}
	return &StateError{Instance: row.Name, State: Stopped}
}

// Resumes says why an instance, given by id or name, would not let a run go on
// that it had admitted before.
func (f *Fleet) Resumes(ctx context.Context, instance string) error {
	row, err := f.find(ctx, instance)
	if err != nil {
		return err
	}
	return f.admits(&row, resumed)
}

// claim makes a session the instance's.
func (f *Fleet) claim(ctx context.Context, session, id string) error {
	owner, err := f.store.ClaimSession(ctx, session, id, f.now().UTC())
	switch {
	case err != nil:
		return fmt.Errorf("session %q of instance %q: %w", session, id, err)
	case owner != id:
		return &SessionError{Session: session, Instance: id, Owner: owner}
	}
	return nil
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

// named puts an instance's name into the error of its desk.
func named(err error, instance string) error {
	if e, ok := errors.AsType[*QueueFullError](err); ok {
		e.Instance = instance
	}
	if e, ok := errors.AsType[*StateError](err); ok {
		e.Instance = instance
	}
	return err
}

// Leave says that a run has ended, waits for its user, is paused or was
// cancelled in the queue. It returns the runs that the caller has to start
// now. A run that is not there is no error: leaving twice is leaving.
func (f *Fleet) Leave(ctx context.Context, instance, run string) (start []string) {
	for {
		s := f.shard(instance)
		s.mu.Lock()
		if d := s.desks[instance]; d != nil {
			start = d.leave(run)
			s.settle(instance, d)
			s.mu.Unlock()
			return start
		}
		s.mu.Unlock()
		row, err := f.store.Instance(ctx, instance)
		if err != nil || row.ID == instance {
			return nil
		}
		instance = row.ID // it was a name
	}
}

// Withdraw takes a run away that waits for a slot, and says whether it did: a
// run that has one leaves with Leave. The instance is given by its id; nothing is
// read, so that it may be called under a lock.
func (f *Fleet) Withdraw(instance, run string) bool {
	s := f.shard(instance)
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.desks[instance]
	if d == nil || d.runs[run] == nil || d.runs[run].running {
		return false
	}
	d.leave(run) // no slot is free: who waits has nothing to gain from it
	s.settle(instance, d)
	return true
}

// settle forgets a desk that has no work.
func (s *shard) settle(id string, d *desk) {
	if len(d.runs) == 0 {
		delete(s.desks, id)
	}
}

// Claim is a run that an instance had admitted.
type Claim struct{ Instance, Session, Run string }

// Restore puts runs back that were queued or at work when the process ended,
// in the order given, however long the queues get. It returns the runs that
// the caller has to start now, and those that could not be put back because
// their instance is stopped or gone, or their session another's. When it fails,
// what it returns holds still: left has all that were not put back.
func (f *Fleet) Restore(ctx context.Context, claims []Claim) (start []string, left []Claim, err error) {
	for i, c := range claims {
		first, _, err := f.admit(ctx, c.Instance, c.Session, c.Run, restored)
		_, refused := errors.AsType[*StateError](err)
		_, foreign := errors.AsType[*SessionError](err)
		switch {
		case refused, foreign, errors.Is(err, ErrNoInstance):
			left = append(left, c)
		case err != nil:
			return start, append(left, claims[i:]...), fmt.Errorf("restore run %q: %w", c.Run, err)
		}
		start = append(start, first...)
	}
	return start, left, nil
}

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
	return f.status(row), nil
}

func (f *Fleet) status(row Instance) Status {
	s := f.shard(row.ID)
	st := Status{Instance: row}
	s.mu.Lock()
	d := s.desks[row.ID]
	if d != nil {
		st.Running, st.Queued, st.Sessions = d.running, d.queued, len(d.lanes)
	}
	s.mu.Unlock()
	_, starting := f.starting.Load(row.ID)
	switch {
	case starting:
		st.State = Starting
	case row.State == Ready && d != nil:
		st.State = Busy
	case row.State == Ready:
	case d != nil:
		st.State = Draining
	default:
		st.State = Stopped
	}
	return st
}

// change follows a change of an instance's row: its desk, if it has work, gets
// the state of the row, and do can do more to it.
func (f *Fleet) change(id string, state State, do func(d *desk)) {
	s := f.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	d := s.desks[id]
	if d == nil {
		return
	}
	d.state = state
	if do != nil {
		do(d)
		s.settle(id, d)
	}
}

// working returns the ids of the instances that have work, sorted.
func (f *Fleet) working() []string {
	var ids []string
	for i := range f.shards {
		s := &f.shards[i]
		s.mu.Lock()
		ids = slices.AppendSeq(ids, maps.Keys(s.desks))
		s.mu.Unlock()
	}
	slices.Sort(ids)
	return ids
}
