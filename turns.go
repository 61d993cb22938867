package dossier

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"dossier/internal/dispatch"
	"dossier/internal/fleet"
	"dossier/mode/agents"
	"dossier/run"
)

// turns lets runs that belong to an instance wait for one of its slots.
type turns struct {
	engine    *Engine
	instances sync.Map // of runs that have a seat, by their ids
}

var _ dispatch.Turns = (*turns)(nil)

// claim says which instance a run belongs to, if to any.
func (e *Engine) claim(rec run.Record) (c fleet.Seat, belongs bool) {
	if e.agency == nil || rec.Mode != agents.Name {
		return c, false
	}
	var req struct {
		Instance string `json:"instance"`
	}
	if json.Unmarshal(rec.Request, &req) != nil || req.Instance == "" {
		return c, false
	}
	return fleet.Seat{Instance: req.Instance, Session: rec.Session, Run: rec.ID}, true
}

// Enter implements dispatch.Turns. What an instance that is stopped has left
// behind is paused: it goes on with Resume when the instance was started again.
// What one that is gone has left behind is still to be done.
func (t *turns) Enter(ctx context.Context, rec run.Record, how dispatch.Entry) (next []string, err error) {
	e := t.engine
	c, belongs := e.claim(rec)
	if !belongs {
		return []string{rec.ID}, nil
	}
	t.instances.Store(rec.ID, c.Instance) // before others can find that it is its turn
	switch how {
	case dispatch.Fresh:
		next, err = e.agency.fleet.Submit(ctx, c.Instance, c.Session, c.Run)
	case dispatch.Resumed:
		next, err = e.agency.fleet.Resume(ctx, c.Instance, c.Session, c.Run)
	case dispatch.Restored:
		var left []fleet.Seat
		next, left, err = e.agency.fleet.Restore(ctx, []fleet.Seat{c})
		if err == nil && len(left) > 0 {
			err = e.agency.fleet.Resumes(ctx, c.Instance)
		}
		var stopped *fleet.StateError
		if errors.As(err, &stopped) {
			e.log.Warn("a run is paused: its instance takes none", "run", c.Run, "instance", c.Instance)
			if err = e.store.Signal(ctx, c.Run, run.Signal{Kind: run.SignalPause}); err == nil {
				t.instances.Delete(rec.ID) // it needs no slot for that
				next = []string{rec.ID}
			}
		}
	}
	if err != nil {
		t.instances.Delete(rec.ID)
	}
	if how != dispatch.Fresh && errors.Is(err, fleet.ErrNoInstance) {
		return []string{rec.ID}, nil
	}
	return next, fleetError(err)
}

// Leave implements dispatch.Turns.
func (t *turns) Leave(ctx context.Context, id string) ([]string, error) {
	if _, ok := t.instances.LoadAndDelete(id); !ok {
		return nil, nil
	}
	return t.engine.agency.fleet.Leave(ctx, id)
}

// Withdraw implements dispatch.Turns. The run may wait in another process.
func (t *turns) Withdraw(ctx context.Context, id string) (bool, error) {
	waited, err := t.engine.agency.fleet.Withdraw(ctx, id)
	if waited {
		t.instances.Delete(id)
	}
	return waited, err
}

// Standing implements dispatch.Turns. Nothing is read for runs that belong to no
// instance.
func (t *turns) Standing(ctx context.Context, ids []string) (map[string]bool, error) {
	var belong, free []string
	for _, id := range ids {
		if _, belongs := t.instances.Load(id); belongs {
			belong = append(belong, id)
		} else {
			free = append(free, id)
		}
	}
	standing := make(map[string]bool)
	if len(belong) > 0 {
		var err error
		if standing, err = t.engine.agency.fleet.Standing(ctx, belong); err != nil {
			return nil, err
		}
	}
	for _, id := range free {
		standing[id] = true
	}
	return standing, nil
}

// Holders implements dispatch.Turns.
func (t *turns) Holders(ctx context.Context, ids []string) ([]string, error) {
	return t.engine.agency.fleet.Holders(ctx, ids)
}

// Settle implements dispatch.Turns.
func (t *turns) Settle(ctx context.Context) ([]string, error) {
	return t.engine.agency.fleet.Settle(ctx)
}
