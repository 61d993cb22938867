package dossier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"dossier/internal/fleet"
	"dossier/internal/store"
	"dossier/mode"
	"dossier/mode/agents"
	"dossier/run"
)

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
	e.traceEnd(id, status)
	delivered, _ := e.delivered.LoadAndDelete(id)
	if e.agency == nil || !status.Ended() {
		return
	}
	err := e.outcome(context.Background(), id, status, func(run.Record, *agents.Settings) (quality, bool) {
		q, ok := delivered.(quality)
		return q, ok
	})
	if err != nil {
		e.log.Warn("a run's outcome was not recorded", "run", id, "error", err)
	}
}

// outcome records what became of a run, if it is one of a template.
func (e *Engine) outcome(ctx context.Context, id string, status run.Status, delivered func(run.Record, *agents.Settings) (quality, bool)) error {
	rec, err := e.store.Run(ctx, id)
	switch {
	case errors.Is(err, run.ErrUnknownRun):
		return nil // deleted meanwhile
	case err != nil:
		return err
	case rec.Mode != agents.Name:
		return nil
	}
	var req mode.Request
	var set agents.Settings
	if err := json.Unmarshal(rec.Request, &req); err != nil {
		return fmt.Errorf("the stored request: %w", err)
	}
	if err := json.Unmarshal(req.Settings, &set); err != nil {
		return fmt.Errorf("the stored settings: %w", err)
	}
	if set.Template == "" {
		return nil
	}
	o := fleet.Outcome{
		Run: id, Template: set.Template, Version: set.Version, Instance: req.Instance, Status: status,
		Tokens: rec.Spent.InputTokens + rec.Spent.OutputTokens, Cost: rec.Spent.Cost, Time: rec.Active, At: time.Now(),
	}
	if q, ok := delivered(rec, &set); ok {
		o.Coverage = q.coverage
		if q.unanswered && status == run.Done {
			o.Status = run.Failed // the run ended well, and the agent did not
		}
	}
	err = e.agency.fleet.Record(ctx, o)
	if errors.Is(err, fleet.ErrNoTemplate) {
		return nil // deleted meanwhile, with all that was known of its runs
	}
	return err
}

// Where it is kept until when all outcomes are recorded.
const outcomesBucket, outcomesSince = "outcomes", "since"

// recoverOutcomes records the outcomes of runs that ended when a process died before it
// could do so.
func (e *Engine) recoverOutcomes(ctx context.Context) error {
	if e.agency == nil {
		return nil
	}
	var since time.Time
	raw, err := e.store.Setting(ctx, outcomesBucket, outcomesSince)
	switch {
	case err == nil:
		if since.UnmarshalText(raw) != nil {
			since = time.Time{}
		}
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	now := time.Now()
	if !since.IsZero() {
		since = since.Add(-time.Minute) // clocks are set back sometimes
	}
	ids, err := e.store.Unrecorded(ctx, agents.Name, since)
	if err != nil {
		return err
	}
	for _, id := range ids {
		rec, err := e.store.Run(ctx, id)
		if err != nil || !rec.Status.Ended() {
			continue // whoever is on it records it
		}
		if err := e.outcome(ctx, id, rec.Status, func(rec run.Record, set *agents.Settings) (quality, bool) { return e.judged(ctx, rec, set) }); err != nil {
			e.log.Warn("a run's outcome was not recorded", "run", id, "error", err)
		}
	}
	raw, err = now.UTC().MarshalText()
	if err != nil {
		return err
	}
	return e.store.SetSetting(ctx, outcomesBucket, outcomesSince, raw)
}

// judged finds out once more how good the answer of a run was. Where the run's
// tools are those of servers, these are not asked for that.
func (e *Engine) judged(ctx context.Context, rec run.Record, set *agents.Settings) (q quality, ok bool) {
	if rec.Status != run.Done || set.Reaches() {
		return q, false
	}
	h, log, err := e.past(ctx, rec.ID)
	if err != nil {
		return q, false
	}
	fn, limits, err := e.code(rec, func(made quality) { q, ok = made, true })
	if err != nil {
		return q, false
	}
	_, err = run.Replay(ctx, h, log, fn, limits)
	return q, ok && err == nil
}
