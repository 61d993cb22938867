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
	engine *Engine
	seated sync.Map // ids of the runs that came to their instances from here
}

var _ dispatch.Turns = (*turns)(nil)

// seat says which instance a run belongs to, if to any, and as what.
func (e *Engine) seat(rec run.Record) (s fleet.Seat, belongs bool) {
	if e.agency == nil || rec.Mode != agents.Name {
		return s, false
	}
	var req struct {
		Instance string `json:"instance"`
	}
	if json.Unmarshal(rec.Request, &req) != nil || req.Instance == "" {
		return s, false
	}
	return fleet.Seat{Instance: req.Instance, Session: rec.Session, Run: rec.ID}, true
}

// Enter implements dispatch.Turns. What an instance that is stopped has left
// behind is paused: it goes on with Resume when the instance was started again.
// What one that is gone has left behind is still to be done.
func (t *turns) Enter(ctx context.Context, rec run.Record, how dispatch.Entry) (next []string, err error) {
	e := t.engine
	s, belongs := e.seat(rec)
	if !belongs {
		return []string{rec.ID}, nil
	}
	t.seated.Store(rec.ID, struct{}{}) // before others can find that it is its turn
	switch how {
	case dispatch.Fresh:
		next, err = e.agency.fleet.Submit(ctx, s.Instance, s.Session, s.Run)
	case dispatch.Resumed:
		next, err = e.agency.fleet.Resume(ctx, s.Instance, s.Session, s.Run)
	case dispatch.Restored:
		var left []fleet.Seat
		next, left, err = e.agency.fleet.Restore(ctx, []fleet.Seat{s})
		if err == nil && len(left) > 0 {
			err = e.agency.fleet.Resumes(ctx, s.Instance)
		}
		if _, stopped := errors.AsType[*fleet.StateError](err); stopped {
			e.log.Warn("a run is paused: its instance takes none", "run", s.Run, "instance", s.Instance)
			if err = e.store.Signal(ctx, s.Run, run.Signal{Kind: run.SignalPause}); err == nil {
				t.seated.Delete(rec.ID) // it needs no slot for that
				next = []string{rec.ID}
			}
		}
	}
	if err != nil {
		t.seated.Delete(rec.ID)
	}
	if how != dispatch.Fresh && errors.Is(err, fleet.ErrNoInstance) {
		return []string{rec.ID}, nil
	}
	return next, fleetError(err)
}

// Leave implements dispatch.Turns.
func (t *turns) Leave(ctx context.Context, id string) ([]string, error) {
	if _, ok := t.seated.LoadAndDelete(id); !ok {
		return nil, nil
	}
	return t.engine.agency.fleet.Leave(ctx, id)
}

// Withdraw implements dispatch.Turns. The run may wait in another process.
func (t *turns) Withdraw(ctx context.Context, id string) (bool, error) {
	waited, err := t.engine.agency.fleet.Withdraw(ctx, id)
	if waited {
		t.seated.Delete(id)
	}
	return waited, err
}

// Standing implements dispatch.Turns. Nothing is read for runs that belong to no
// instance.
func (t *turns) Standing(ctx context.Context, ids []string) (map[string]bool, error) {
	var belong, free []string
	for _, id := range ids {
		if _, belongs := t.seated.Load(id); belongs {
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
