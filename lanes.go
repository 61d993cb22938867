package dossier

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"dossier/internal/fleet"
	"dossier/mode"
	"dossier/mode/agents"
	"dossier/run"
)

// A run that belongs to an instance waits for one of its slots before a worker
// may take it. The fleet says who goes when; the engine sets them going.

// lane is the place of a run in an instance.
type lane struct {
	instance string
	// leaving says that a worker has left the run and its slot is being given
	// free; again that the run is to come back after that.
	leaving, again bool
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
	e.dispatch(start...)
	return nil
}

// take notes the place of a run.
func (e *Engine) take(claims ...fleet.Claim) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range claims {
		e.lanes[c.Run] = &lane{instance: c.Instance}
	}
}

// forget takes that back.
func (e *Engine) forget(claims ...fleet.Claim) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range claims {
		delete(e.lanes, c.Run)
	}
}

// reenter has a run executed that goes on after a pause, an answer or a signal.
func (e *Engine) reenter(ctx context.Context, id string) error {
	if e.agency == nil {
		e.dispatch(id)
		return nil
	}
	e.mu.Lock()
	l, here := e.lanes[id]
	switch {
	case here && l.leaving:
		l.again = true
	case here && e.busy[id] != idle:
		e.queueLocked(id)
	}
	e.mu.Unlock()
	if here {
		return nil // it has a place, or waits for one
	}
	rec, err := e.store.Run(ctx, id)
	if err != nil {
		return err
	}
	c, belongs := e.claim(rec)
	if !belongs || rec.Status.Ended() {
		e.dispatch(id)
		return nil
	}
	e.take(c)
	start, _, err := e.agency.fleet.Resume(ctx, c.Instance, c.Session, c.Run)
	if err != nil {
		e.forget(c)
		if !errors.Is(err, fleet.ErrNoInstance) {
			return fleetError(err)
		}
		start = []string{id} // its instance is gone, and the work is still to be done
	}
	e.dispatch(start...)
	return nil
}

// leaveLocked notes that a worker has left a run, nil if it has no lane.
func (e *Engine) leaveLocked(id string) *lane {
	l := e.lanes[id]
	if l != nil {
		l.leaving = true
	}
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
	again := l.again
	e.mu.Unlock()
	e.dispatch(start...)
	if again {
		if err := e.reenter(ctx, id); err != nil {
			e.log.Error("a run could not go on", "run", id, "error", err)
		}
	}
}

// quality is how good an answer is.
type quality struct {
	coverage   *float64 // share of its claims that have a verified passage
	unanswered bool
}

func qualityOf(a mode.Answer) quality {
	q := quality{unanswered: a.Unanswered}
	if a.Report != nil && a.Report.Coverage.Claims.Total > 0 {
		share := a.Report.Coverage.Claims.Of()
		q.coverage = &share
	}
	return q
}

// settle records what became of a run of a template.
func (e *Engine) settle(id string, status run.Status) {
	delivered, _ := e.delivered.LoadAndDelete(id)
	if e.agency == nil || !status.Ended() {
		return
	}
	ctx := context.WithoutCancel(e.ctx)
	rec, err := e.store.Run(ctx, id)
	if err != nil || rec.Mode != agents.Name {
		return
	}
	var req mode.Request
	var set agents.Settings
	if json.Unmarshal(rec.Request, &req) != nil || json.Unmarshal(req.Settings, &set) != nil || set.Template == "" {
		return
	}
	o := fleet.Outcome{
		Run: id, Template: set.Template, Version: set.Version, Instance: req.Instance, Status: status,
		Tokens: rec.Spent.InputTokens + rec.Spent.OutputTokens, Cost: rec.Spent.Cost, Time: rec.Active, At: time.Now(),
	}
	if q, ok := delivered.(quality); ok {
		o.Coverage = q.coverage
		if q.unanswered && status == run.Done {
			o.Status = run.Failed // the run ended well, and the agent did not
		}
	}
	if err := e.agency.fleet.Record(ctx, o); err != nil {
		e.log.Warn("a run's outcome was not recorded", "run", id, "error", err)
	}
}

// restore puts the runs of instances back into their lanes and returns the
// others.
func (e *Engine) restore(ctx context.Context, ids []string) ([]string, error) {
	if e.agency == nil {
		return ids, nil
	}
	var claims []fleet.Claim
	var others []string
	for _, id := range ids {
		rec, err := e.store.Run(ctx, id)
		if err != nil {
			return nil, err
		}
		if c, belongs := e.claim(rec); belongs {
			claims = append(claims, c)
		} else {
			others = append(others, id)
		}
	}
	if len(claims) == 0 {
		return others, nil
	}
	e.take(claims...)
	start, left, err := e.agency.fleet.Restore(ctx, claims)
	if err != nil {
		e.forget(claims...)
		return nil, fleetError(err)
	}
	e.forget(left...)
	for _, c := range left {
		e.log.Warn("a run waits: its instance is stopped or gone", "run", c.Run, "instance", c.Instance)
	}
	return append(others, start...), nil
}
