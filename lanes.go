package dossier

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"dossier/internal/fleet"
	"dossier/mode/agents"
	"dossier/run"
)

// A run that belongs to an instance waits for one of its slots before a worker
// may take it. The fleet says who goes when; the engine sets them going.

// lane is the place of a run in an instance.
type lane struct {
	instance string
	// slot says that the run has one: a worker is on it, or is about to be.
	slot bool
	// leaving says that a worker has left the run and its slot is being given
	// free; again and halt that the run is to come back after that, the latter
	// only to end or to rest.
	leaving, again, halt bool
}

// claim says which instance a run belongs to, if to any.
func (e *Engine) claim(rec run.Record) (c fleet.Claim, belongs bool) {
	if e.agency == nil || rec.Mode != agents.Name {
		return c, false
	}
	var req struct {
		Instance string `json:"instance"`
	}
	if json.Unmarshal(rec.Request, &req) != nil || req.Instance == "" {
		return c, false
	}
	return fleet.Claim{Instance: req.Instance, Session: rec.Session, Run: rec.ID}, true
}

// enter has a new run executed: at once, or when its instance has a slot.
func (e *Engine) enter(ctx context.Context, rec run.Record) error {
	c, belongs := e.claim(rec)
	if !belongs {
		e.dispatch(rec.ID)
		return nil
	}
	e.take(c) // before others can find that it is its turn
	start, _, err := e.agency.fleet.Submit(ctx, c.Instance, c.Session, c.Run)
	if err != nil {
		e.forget(c)
		return fleetError(err)
	}
	e.admitted(c.Run, start)
	return nil
}

// take notes the places of runs and returns those that had none.
func (e *Engine) take(claims ...fleet.Claim) (taken []fleet.Claim) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range claims {
		if e.lanes[c.Run] == nil {
			e.lanes[c.Run] = &lane{instance: c.Instance}
			taken = append(taken, c)
		}
	}
	return taken
}

// forget takes that back.
func (e *Engine) forget(claims ...fleet.Claim) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range claims {
		delete(e.lanes, c.Run)
	}
}

// grant has runs executed that were given a slot.
func (e *Engine) grant(ids []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range ids {
		if l := e.lanes[id]; l != nil {
			l.slot, l.halt = true, false // its worker sees what it was told
		}
		e.queueLocked(id)
	}
}

// reenter has a run executed that goes on after a pause, an answer or a signal.
func (e *Engine) reenter(ctx context.Context, id string) error {
	if e.agency == nil {
		e.dispatch(id)
		return nil
	}
	for !e.placed(id) {
		rec, err := e.store.Run(ctx, id)
		if err != nil {
			return err
		}
		c, belongs := e.claim(rec)
		if !belongs || rec.Status.Ended() {
			e.dispatch(id)
			return nil
		}
		if len(e.take(c)) == 0 {
			continue // somebody else has it go on at this moment
		}
		start, _, err := e.agency.fleet.Resume(ctx, c.Instance, c.Session, c.Run)
		if err != nil {
			e.forget(c)
			if !errors.Is(err, fleet.ErrNoInstance) {
				return fleetError(err)
			}
			e.dispatch(id) // its instance is gone, and the work is still to be done
			return nil
		}
		e.admitted(id, start)
		return nil
	}
	return nil
}

// placed says whether a run has a place in an instance. If a worker is on it, it
// looks at the run once more.
func (e *Engine) placed(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.lanes[id]
	switch {
	case l == nil:
		return false
	case l.leaving:
		l.again = true
	case l.slot && e.busy[id] != idle:
		e.queueLocked(id)
	}
	return true // or it waits, or is about to be executed
}

// halt has a run executed that was told to end or to rest. That takes neither a
// slot of its instance nor a place among the workers: it must not wait for work
// that is slow.
func (e *Engine) halt(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch l := e.lanes[id]; {
	case l == nil:
	case l.leaving:
		l.halt = true
		return
	case l.slot && e.busy[id] == idle:
		return // it is about to be executed
	case l.slot:
	case e.agency.fleet.Withdraw(l.instance, id):
		delete(e.lanes, id)
	default: // it has been given a slot just now, or is about to wait for one
		l.halt = true
		return
	}
	e.hurryLocked(id)
}

// admitted goes on with the places that runs were just given, and with the one
// of these runs that was told to end or to rest meanwhile.
func (e *Engine) admitted(id string, start []string) {
	e.grant(start)
	e.mu.Lock()
	l := e.lanes[id]
	halt := l != nil && l.halt && !l.leaving
	e.mu.Unlock()
	if halt {
		e.halt(id)
	}
}

// withdraw takes a run that is gone off those that wait for a slot or a worker.
// Where it has a slot already, its worker finds out.
func (e *Engine) withdraw(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.lanes[id]
	if at := slices.Index(e.queue, id); at >= 0 && l == nil {
		e.queue = slices.Delete(e.queue, at, at+1)
		delete(e.busy, id)
	}
	if l != nil && !l.slot && e.agency.fleet.Withdraw(l.instance, id) {
		delete(e.lanes, id)
	}
}

// leaveLocked notes that a worker has left a run, nil if that has no slot.
func (e *Engine) leaveLocked(id string) *lane {
	l := e.lanes[id]
	if l == nil || !l.slot {
		return nil
	}
	l.leaving = true
	return l
}

// left gives the slot of a run free that a worker has left.
func (e *Engine) left(id string, l *lane) {
	if l == nil {
		return
	}
	ctx := context.WithoutCancel(e.ctx)
	start := e.agency.fleet.Leave(ctx, l.instance, id)
	e.mu.Lock()
	delete(e.lanes, id)
	again, halt := l.again, l.halt
	e.mu.Unlock()
	e.grant(start)
	switch {
	case again:
		if err := e.reenter(ctx, id); err != nil {
			e.log.Error("a run could not go on", "run", id, "error", err)
		}
	case halt:
		e.halt(id)
	}
}

// claims tells runs that belong to instances from others. Those that have a place
// are left out.
func (e *Engine) claims(ctx context.Context, ids []string) (claims []fleet.Claim, others []string, err error) {
	if e.agency == nil {
		return nil, ids, nil
	}
	for _, id := range ids {
		e.mu.Lock()
		placed := e.lanes[id] != nil
		e.mu.Unlock()
		if placed {
			continue
		}
		rec, err := e.store.Run(ctx, id)
		if errors.Is(err, run.ErrUnknownRun) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, nil, err
		}
		if c, belongs := e.claim(rec); belongs {
			claims = append(claims, c)
		} else {
			others = append(others, id)
		}
	}
	return claims, others, nil
}

// restore puts runs back into their lanes. What an instance that is stopped has
// left behind is paused: it goes on with Resume when the instance was started
// again.
func (e *Engine) restore(ctx context.Context, claims []fleet.Claim) error {
	if len(claims) == 0 {
		return nil
	}
	taken := e.take(claims...)
	start, left, err := e.agency.fleet.Restore(ctx, taken)
	e.forget(left...)
	e.grant(start)
	for _, c := range taken {
		e.admitted(c.Run, nil)
	}
	if err != nil {
		return fleetError(err)
	}
	for _, c := range left {
		if _, err := e.agency.fleet.Instance(ctx, c.Instance); errors.Is(err, fleet.ErrNoInstance) {
			e.dispatch(c.Run) // the work is still to be done
			continue
		}
		e.log.Warn("a run is paused: its instance takes none", "run", c.Run, "instance", c.Instance)
		if err := e.Pause(ctx, c.Run); err != nil && !errors.Is(err, run.ErrEnded) {
			return err
		}
	}
	return nil
}
