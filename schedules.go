package dossier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"dossier/internal/schedule"
	"dossier/internal/store"
	"dossier/report"
	"dossier/run"
)

// Schedule is a request that is carried out again and again, while a process
// attends to schedules.
type Schedule struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// User whose it is, and whose its runs are; empty is the operator's.
	User string `json:"user,omitempty"`
	// Cron says when, as "30 7 * * mon-fri" or @daily, by the clocks of Zone, as
	// Europe/Moscow; an empty zone is that of the server.
	Cron string `json:"cron"`
	Zone string `json:"zone,omitempty"`
	// Request is what is asked each time. Its runs never ask anything back, and
	// each is a conversation of its own.
	Request Request   `json:"request"`
	Paused  bool      `json:"paused,omitempty"`
	Created time.Time `json:"created"`
	// Next is when it is due; zero while it is paused.
	Next time.Time `json:"next,omitzero"`
	// Last is the last time that it was due.
	Last *Firing `json:"last,omitempty"`
}

// ScheduleChange is what is to be different with a schedule; nil stays as it is.
type ScheduleChange struct {
	Name    *string  `json:"name,omitempty"`
	Cron    *string  `json:"cron,omitempty"`
	Zone    *string  `json:"zone,omitempty"`
	Paused  *bool    `json:"paused,omitempty"`
	Request *Request `json:"request,omitempty"`
}

// Firing is one time that a schedule was due.
type Firing = schedule.Firing

// ScheduledRun is a firing and how its run stands.
type ScheduledRun struct {
	Firing
	// Status of the run; empty if there is none, because it was skipped, could not
	// begin, or was deleted.
	Status run.Status `json:"status,omitempty"`
}

// Comparison is what a report has that an earlier one had not, and the other way round.
type Comparison struct {
	Run  string    `json:"run"`
	Made time.Time `json:"made"`
	// Changes since the report before it; nil for the first one.
	Changes *report.Changes `json:"changes,omitempty"`
	// Told is the same in sentences of the report's language.
	Told []string `json:"told,omitempty"`
}

// ErrNoSchedule says that there is no such schedule.
var ErrNoSchedule = schedule.ErrNone

// mostSchedules is how many a user has at most.
const mostSchedules = 100

func (e *Engine) newScheduler() *schedule.Scheduler {
	return schedule.New(schedule.Options{
		Store: e.store, NewID: newID, Log: e.log, Begin: e.beginScheduled,
		On: func(ctx context.Context, id string) (bool, error) {
			rec, err := e.store.Run(ctx, id)
			if errors.Is(err, run.ErrUnknownRun) {
				return false, nil
			}
			if err == nil && rec.Status == run.Waiting {
				err = e.skipQuestion(ctx, rec)
			}
			return !rec.Status.Ended(), err
		},
	})
}

// skipQuestion answers what a scheduled run waits for, because nobody else does. It
// asks nothing about what it is to do; what is left is whether to repeat a step of
// which nobody knows whether it took effect, and that is not repeated.
func (e *Engine) skipQuestion(ctx context.Context, rec run.Record) error {
	var req struct {
		Schedule string `json:"schedule"`
	}
	if json.Unmarshal(rec.Request, &req) != nil || req.Schedule == "" {
		return nil //nolint:nilerr // it is none of a schedule
	}
	err := e.Answer(ctx, rec.ID, "", "skip")
	if errors.Is(err, store.ErrNotWaiting) || errors.Is(err, store.ErrAnswered) {
		return nil
	}
	return err
}

// beginScheduled begins the run of a firing. It is the same run whoever begins it,
// and however often.
func (e *Engine) beginScheduled(ctx context.Context, s schedule.Schedule, f schedule.Firing) error {
	req, err := scheduled(s)
	if err != nil {
		return err
	}
	if permit := e.permit.Load(); permit != nil {
		if err := (*permit)(ctx, &req); err != nil {
			return err
		}
	}
	if req.CompareWith, err = e.lastReported(ctx, s.ID); err == nil {
		_, err = e.startAs(ctx, req, f.Run)
	}
	switch {
	case errors.Is(err, store.ErrExists):
		return nil
	case errors.Is(err, store.ErrDiskFull), errors.Is(err, store.ErrReadOnly), errors.Is(err, store.ErrClosed):
		return fmt.Errorf("%w: %w", schedule.ErrLater, err)
	}
	return err
}

// scheduled is what a schedule asks each time.
func scheduled(s schedule.Schedule) (Request, error) {
	var req Request
	if err := json.Unmarshal(s.Request, &req); err != nil {
		return req, fmt.Errorf("the stored request: %w", err)
	}
	req.User, req.NoInput, req.Schedule = s.User, true, s.ID
	return req, nil
}

// lastReported is the last run of a schedule that brought a report, "" if none has.
func (e *Engine) lastReported(ctx context.Context, id string) (string, error) {
	last, err := e.reported(ctx, id, 1)
	if err != nil || len(last) == 0 {
		return "", err
	}
	return last[0].Run, nil
}

// reported are the last reports of a schedule, the newest first.
func (e *Engine) reported(ctx context.Context, id string, most int) ([]*report.Report, error) {
	firings, err := e.store.Firings(ctx, id, schedule.KeepFirings)
	if err != nil {
		return nil, err
	}
	var out []*report.Report
	for _, f := range firings {
		if len(out) == most {
			break
		}
		if f.State != schedule.Started {
			continue
		}
		rec, err := e.store.Run(ctx, f.Run)
		switch {
		case errors.Is(err, run.ErrUnknownRun):
			continue
		case err != nil:
			return nil, err
		case rec.Status != run.Done:
			continue
		}
		r, err := e.reportOf(ctx, f.Run)
		switch {
		case errors.Is(err, ErrNoReport), errors.Is(err, run.ErrUnknownRun):
			continue
		case err != nil:
			return nil, err
		}
		r.Run = f.Run
		out = append(out, r)
	}
	return out, nil
}

// shownSchedule is a schedule as it is told.
func (e *Engine) shownSchedule(ctx context.Context, s schedule.Schedule) (Schedule, error) {
	out := Schedule{ID: s.ID, Name: s.Name, User: s.User, Cron: s.Cron, Zone: s.Zone, Paused: s.Paused, Created: s.Created, Next: s.Next}
	if err := json.Unmarshal(s.Request, &out.Request); err != nil {
		return out, fmt.Errorf("schedule %q: the stored request: %w", s.ID, err)
	}
	last, err := e.store.Firings(ctx, s.ID, 1)
	if err == nil && len(last) > 0 {
		out.Last = &last[0]
	}
	return out, err
}

// storedRequest checks what a schedule asks, and makes it fit to be kept.
func (e *Engine) storedRequest(ctx context.Context, req Request, user string) (json.RawMessage, error) {
	if req.Session != "" || req.AgentID != "" || len(req.Messages) > 0 || len(req.History) > 0 {
		return nil, &UsageError{Message: "a scheduled request stands by itself: it has no session, agent_id, messages or history"}
	}
	req.User, req.NoInput, req.Settings, req.Circumstances, req.Trace, req.Schedule, req.CompareWith = user, true, nil, nil, "", "", ""
	if _, err := e.record(ctx, req, ""); err != nil {
		return nil, err
	}
	return json.Marshal(req)
}

// CreateSchedule keeps a request that is to be carried out again and again. What
// is asked must be possible now.
func (e *Engine) CreateSchedule(ctx context.Context, s Schedule) (Schedule, error) {
	request, err := e.storedRequest(ctx, s.Request, s.User)
	if err != nil {
		return Schedule{}, err
	}
	if s.User != "" {
		switch have, err := e.store.Schedules(ctx, s.User); {
		case err != nil:
			return Schedule{}, err
		case len(have) >= mostSchedules:
			return Schedule{}, &UsageError{Message: fmt.Sprintf("there are %d schedules already, and no more can be kept", len(have)), Hint: "remove one that is not needed any more"}
		}
	}
	made, err := e.clock.Create(ctx, schedule.Schedule{Name: s.Name, User: s.User, Cron: s.Cron, Zone: s.Zone, Request: request, Paused: s.Paused})
	if err != nil {
		return Schedule{}, err
	}
	return e.shownSchedule(ctx, made)
}

// Schedules returns those of a user, of all with an empty one, in the order in
// which they were made.
func (e *Engine) Schedules(ctx context.Context, user string) ([]Schedule, error) {
	list, err := e.store.Schedules(ctx, user)
	if err != nil {
		return nil, err
	}
	out := make([]Schedule, len(list))
	for i, s := range list {
		if out[i], err = e.shownSchedule(ctx, s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ScheduleCounts are how many schedules there are that go on, and that are paused.
func (e *Engine) ScheduleCounts(ctx context.Context) (going, paused int, err error) {
	list, err := e.store.Schedules(ctx, "")
	for _, s := range list {
		if s.Paused {
			paused++
		}
	}
	return len(list) - paused, paused, err
}

// Schedule fails with ErrNoSchedule.
func (e *Engine) Schedule(ctx context.Context, id string) (Schedule, error) {
	s, err := e.store.Schedule(ctx, id)
	if err != nil {
		return Schedule{}, err
	}
	return e.shownSchedule(ctx, s)
}

// ChangeSchedule makes a schedule another one. It is due next as reckoned from now.
func (e *Engine) ChangeSchedule(ctx context.Context, id string, to ScheduleChange) (Schedule, error) {
	made, err := e.clock.Change(ctx, id, func(s *schedule.Schedule) (err error) {
		set(&s.Name, to.Name)
		set(&s.Cron, to.Cron)
		set(&s.Zone, to.Zone)
		set(&s.Paused, to.Paused)
		if to.Request != nil {
			s.Request, err = e.storedRequest(ctx, *to.Request, s.User)
		}
		return err
	})
	if err != nil {
		return Schedule{}, err
	}
	return e.shownSchedule(ctx, made)
}

func set[T any](field, to *T) {
	if to != nil {
		*field = *to
	}
}

// RemoveSchedule removes a schedule. Its runs stay.
func (e *Engine) RemoveSchedule(ctx context.Context, id string) error {
	return e.store.RemoveSchedule(ctx, id)
}

// FireSchedule carries a schedule out now, whenever it is due. While its last run is
// not over, it is refused.
func (e *Engine) FireSchedule(ctx context.Context, id string) (Firing, error) {
	return e.clock.Fire(ctx, id)
}

// ScheduleRuns returns the last times that a schedule was due, the newest first.
func (e *Engine) ScheduleRuns(ctx context.Context, id string) ([]ScheduledRun, error) {
	if _, err := e.store.Schedule(ctx, id); err != nil {
		return nil, err
	}
	firings, err := e.store.Firings(ctx, id, schedule.KeepFirings)
	if err != nil {
		return nil, err
	}
	out := make([]ScheduledRun, len(firings))
	for i, f := range firings {
		out[i].Firing = f
		if f.State == schedule.Skipped || f.State == schedule.Failed {
			continue
		}
		rec, err := e.store.Run(ctx, f.Run)
		if err != nil && !errors.Is(err, run.ErrUnknownRun) {
			return nil, err
		}
		out[i].Status = rec.Status
	}
	return out, nil
}

// ScheduleChanges returns what changed with the last reports of a schedule, so many
// at most, the newest first.
func (e *Engine) ScheduleChanges(ctx context.Context, id string, most int) ([]Comparison, error) {
	if _, err := e.store.Schedule(ctx, id); err != nil {
		return nil, err
	}
	reports, err := e.reported(ctx, id, most)
	if err != nil {
		return nil, err
	}
	out := make([]Comparison, len(reports))
	for i, r := range reports {
		out[i] = Comparison{Run: r.Run, Made: r.Created, Changes: r.Changes, Told: r.Told()}
	}
	return out, nil
}

// compare tells what changed since the report that a request names. One that is gone
// is compared with nothing.
func (e *Engine) compare(ctx context.Context, s *run.Scope, with string, r *report.Report) error {
	changes, err := run.Step(ctx, s, "changes", func(ctx context.Context, _ *run.Scope) (*report.Changes, error) {
		before, err := e.reportOf(ctx, with)
		switch {
		case errors.Is(err, ErrNoReport), errors.Is(err, run.ErrUnknownRun), errors.Is(err, store.ErrNotFound):
			return nil, nil
		case err != nil:
			return nil, err
		}
		return report.Compare(before, r), nil
	})
	r.Changes = changes
	return err
}
