package schedule

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"dossier/internal/base/usage"
)

// Options of a Scheduler.
type Options struct {
	Store Store
	// NewID makes the id of a run or a schedule.
	NewID func(now time.Time) string
	// Begin begins the run of a firing under the id that it names; one that there
	// is already is no error. ErrLater has it called again.
	Begin func(ctx context.Context, s Schedule, f Firing) error
	// On says whether a run is neither over nor gone.
	On func(ctx context.Context, run string) (bool, error)
	// Now is the clock on the wall, which may be set; nil is that of the machine.
	Now func() time.Time
	Log *slog.Logger
}

// Scheduler makes schedules and sees to it that those that are due are carried
// out. It is safe for concurrent use.
type Scheduler struct {
	Options
	nudge chan struct{}
}

// New returns a scheduler. Nothing is carried out before Run.
func New(o Options) *Scheduler {
	if o.Now == nil {
		o.Now = func() time.Time { return time.Now().Round(0) } // without what is not set
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Scheduler{Options: o, nudge: make(chan struct{}, 1)}
}

// Create keeps a new schedule.
func (c *Scheduler) Create(ctx context.Context, s Schedule) (Schedule, error) {
	now := c.Now()
	s.ID, s.Created, s.Revision = c.NewID(now), now.UTC(), 1
	if err := s.reckon(now); err != nil {
		return Schedule{}, err
	}
	if err := c.Store.AddSchedule(ctx, s); err != nil {
		return Schedule{}, err
	}
	c.look()
	return s, nil
}

// Change makes a schedule another one. When it is due is reckoned anew, from now.
func (c *Scheduler) Change(ctx context.Context, id string, do func(*Schedule) error) (Schedule, error) {
	for {
		s, err := c.Store.Schedule(ctx, id)
		if err == nil {
			err = do(&s)
		}
		if err == nil {
			err = s.reckon(c.Now())
		}
		if err == nil {
			err = c.Store.ChangeSchedule(ctx, s)
		}
		switch {
		case errors.Is(err, ErrChanged):
			continue
		case err != nil:
			return Schedule{}, err
		}
		s.Revision++
		c.look()
		return s, nil
	}
}

// Fire carries a schedule out now, whenever it is due.
func (c *Scheduler) Fire(ctx context.Context, id string) (Firing, error) {
	for {
		s, err := c.Store.Schedule(ctx, id)
		if err != nil {
			return Firing{}, err
		}
		blocking, err := c.blocking(ctx, s)
		if err != nil {
			return Firing{}, err
		}
		if blocking != "" {
			return Firing{}, &usage.Error{Message: fmt.Sprintf("run %s of this schedule is not over yet", blocking), Hint: "wait for it, or stop it with `dossier runs cancel " + blocking + "`"}
		}
		now := c.Now().UTC()
		f := Firing{Schedule: s.ID, Run: c.NewID(now), Due: now, At: now, ByHand: true, State: Claimed}
		switch err := c.Store.Fire(ctx, s, f); {
		case errors.Is(err, ErrChanged):
			continue
		case err != nil:
			return Firing{}, err
		}
		err = c.begin(ctx, s, &f)
		if f.State == Failed {
			return f, err
		}
		return f, nil
	}
}

// blocking is the run of a schedule that is not over, "" if there is none.
func (c *Scheduler) blocking(ctx context.Context, s Schedule) (string, error) {
	last, err := c.Store.Firings(ctx, s.ID, 1)
	if err != nil || len(last) == 0 || last[0].State == Failed {
		return "", err
	}
	if last[0].State == Claimed {
		return last[0].Run, nil
	}
	on, err := c.On(ctx, last[0].Run)
	if err != nil || !on {
		return "", err
	}
	return last[0].Run, nil
}

// begin begins the run of a firing and records how that went. An error is also
// returned where it is tried again.
func (c *Scheduler) begin(ctx context.Context, s Schedule, f *Firing) error {
	err := c.Begin(ctx, s, *f)
	switch {
	case err == nil:
		f.State = Started
	case errors.Is(err, ErrLater) || ctx.Err() != nil:
		return err
	default:
		f.State, f.Error = Failed, err.Error()
		c.Log.Warn("a scheduled run could not begin", "schedule", s.ID, "error", err)
	}
	return errors.Join(err, c.Store.SettleFiring(ctx, *f))
}

// How often is looked at least, how many schedules at a time, and how far a
// clock may be set back without what is due being reckoned anew: so long what has
// come is not repeated when the clock shows its time again.
const (
	lookEvery   = 10 * time.Second
	lookAtMost  = 100
	setBackMost = time.Hour
)

// Run carries out what is due, until ctx ends.
func (c *Scheduler) Run(ctx context.Context) {
	var last time.Time
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-c.nudge:
		}
		now := c.Now()
		if last.IsZero() || now.Before(last.Add(-setBackMost)) {
			if err := c.mend(ctx, now); err != nil && ctx.Err() == nil {
				c.Log.Warn("schedules could not be looked at", "error", err)
			}
		}
		last = now
		next, err := c.Look(ctx)
		if err != nil && ctx.Err() == nil {
			c.Log.Warn("schedules could not be looked at", "error", err)
		}
		wait := lookEvery
		if !next.IsZero() {
			wait = max(min(next.Sub(now), wait), 0)
		}
		if err != nil {
			wait = lookEvery
		}
		timer.Reset(wait)
	}
}

func (c *Scheduler) look() {
	select {
	case c.nudge <- struct{}{}:
	default:
	}
}

// mend reckons anew when those schedules are due that were reckoned from a moment
// which the clock, since it was set back, shows only much later.
func (c *Scheduler) mend(ctx context.Context, now time.Time) error {
	all, err := c.Store.Schedules(ctx, "")
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.Paused || !now.Before(s.From.Add(-setBackMost)) {
			continue
		}
		c.Log.Info("the clock was set back: a schedule is reckoned anew", "schedule", s.ID)
		err := s.reckon(now)
		if err == nil {
			err = c.Store.ChangeSchedule(ctx, s)
		}
		if err != nil && !errors.Is(err, ErrChanged) && !errors.Is(err, ErrNone) {
			return err
		}
	}
	return nil
}

// Look carries out what is due now, and begins what was left behind between a
// claim and its run. It returns when the next schedule is due, zero if none is. A
// schedule that was due several times is carried out once.
func (c *Scheduler) Look(ctx context.Context) (next time.Time, err error) {
	open, err := c.Store.OpenFirings(ctx)
	if err != nil {
		return next, err
	}
	var errs []error
	for _, f := range open {
		s, err := c.Store.Schedule(ctx, f.Schedule)
		if err == nil {
			err = c.begin(ctx, s, &f)
		}
		if err != nil && f.State != Failed && !errors.Is(err, ErrNone) {
			errs = append(errs, err)
		}
	}
	for {
		list, err := c.Store.Upcoming(ctx, lookAtMost)
		if err != nil {
			return next, errors.Join(append(errs, err)...)
		}
		fired := false
		for _, s := range list {
			if now := c.Now(); s.Next.After(now) {
				return s.Next, errors.Join(errs...)
			} else if err := c.due(ctx, s, now); err != nil {
				return next, errors.Join(append(errs, err)...)
			}
			fired = true
		}
		if !fired {
			return next, errors.Join(errs...)
		}
	}
}

// due fires a schedule, unless another process was faster.
func (c *Scheduler) due(ctx context.Context, s Schedule, now time.Time) error {
	f := Firing{Schedule: s.ID, Run: c.NewID(now), Due: s.Next, At: now.UTC(), State: Claimed}
	blocking, err := c.blocking(ctx, s)
	if err != nil {
		return err
	}
	if blocking != "" {
		f.State, f.Run = Skipped, blocking
		c.Log.Info("a schedule was skipped: its last run is not over", "schedule", s.ID, "run", blocking)
	}
	if err := s.reckon(now); err != nil { // its zone is not known any more
		f.State, f.Run, f.Error = Failed, "", err.Error()
		s.Paused, s.Next = true, time.Time{}
	}
	switch err := c.Store.Fire(ctx, s, f); {
	case errors.Is(err, ErrChanged), errors.Is(err, ErrNone):
		return nil
	case err != nil:
		return err
	}
	if f.State != Claimed {
		return nil
	}
	if err := c.begin(ctx, s, &f); err != nil && f.State != Failed {
		return err
	}
	return nil
}
