// Package schedule is research that is repeated: when it is due, who sees to it,
// and that each time brings one run, whoever dies on the way.
//
// A schedule that is due is fired in two steps. First a firing is recorded with
// the id that its run will have, together with when the schedule is due next: of
// several processes one succeeds. Then the run is begun under that id. What is cut
// short between the two is begun later, by anybody, and cannot be begun twice,
// because ids of runs are unique.
package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"dossier/internal/base/cron"
	"dossier/internal/base/usage"
)

// Schedule is a request that is carried out again and again.
type Schedule struct {
	ID   string
	Name string // for people; may be empty
	User string // whose it is; "" is the operator's
	// Cron says when, by the clocks of Zone; an empty one is that of the machine.
	Cron, Zone string
	// Request is what is asked each time.
	Request json.RawMessage
	Paused  bool
	Created time.Time
	// Next is when it is due, zero while it is paused, and From the moment from
	// which that was reckoned.
	Next, From time.Time
	// Revision goes up with each change.
	Revision int64
}

// State of a firing.
type State string

// The states.
const (
	// Claimed: its run is about to begin.
	Claimed State = "claimed"
	// Started: its run was begun.
	Started State = "started"
	// Skipped: the run before it was not over.
	Skipped State = "skipped"
	// Failed: its run could not begin.
	Failed State = "failed"
)

// Firing is one time that a schedule was due.
type Firing struct {
	Schedule string `json:"schedule"`
	// Run is the id of its run; of one that was skipped the run that was still on.
	Run string `json:"run"`
	// Due is when it was, and At when that was seen: later, if nobody was there.
	Due time.Time `json:"due"`
	At  time.Time `json:"at"`
	// ByHand says that somebody asked for it, whenever it was due.
	ByHand bool   `json:"by_hand,omitempty"`
	State  State  `json:"state"`
	Error  string `json:"error,omitempty"`
}

// Store keeps schedules and firings. It is safe for concurrent use.
type Store interface {
	// AddSchedule fails with ErrExists when the id is taken.
	AddSchedule(ctx context.Context, s Schedule) error
	// Schedule fails with ErrNone.
	Schedule(ctx context.Context, id string) (Schedule, error)
	// Schedules returns those of a user, "" all, in the order in which they were
	// added.
	Schedules(ctx context.Context, user string) ([]Schedule, error)
	// Upcoming returns the first schedules that are not paused, by when they are
	// due.
	Upcoming(ctx context.Context, limit int) ([]Schedule, error)
	// ChangeSchedule replaces all but id, user and the time of creation. It fails
	// with ErrChanged unless the revision is s's, which goes up by one, and with
	// ErrNone.
	ChangeSchedule(ctx context.Context, s Schedule) error
	// Fire is ChangeSchedule that records a firing with it. Of the firings of a
	// schedule the last KeepFirings are kept.
	Fire(ctx context.Context, s Schedule, f Firing) error
	// RemoveSchedule removes a schedule with its firings. It fails with ErrNone.
	RemoveSchedule(ctx context.Context, id string) error
	// Firings returns the last firings of a schedule, the newest first.
	Firings(ctx context.Context, schedule string, limit int) ([]Firing, error)
	// OpenFirings returns those that are claimed, the oldest first.
	OpenFirings(ctx context.Context) ([]Firing, error)
	// SettleFiring gives a firing that is claimed its state and error. One that is
	// not, or is gone, stays as it is.
	SettleFiring(ctx context.Context, f Firing) error
}

// KeepFirings is how many are kept of each schedule.
const KeepFirings = 100

// Errors of the port.
var (
	ErrNone    = errors.New("there is no such schedule")
	ErrExists  = errors.New("there is a schedule of that id already")
	ErrChanged = errors.New("the schedule was changed meanwhile")
)

// ErrLater says that a run could not begin now, and that it is to be tried again.
var ErrLater = errors.New("it is tried again")

// Clock finds out when a cron expression comes, by the clocks of a zone.
func Clock(expression, zone string) (next func(time.Time) time.Time, err error) {
	e, err := cron.Parse(expression)
	if err != nil {
		return nil, &usage.Error{
			Message: err.Error(),
			Hint:    `write it as "30 7 * * mon-fri" (minute, hour, day of the month, month, day of the week) or as @daily`,
		}
	}
	where, err := location(zone)
	if err != nil {
		return nil, err
	}
	return func(after time.Time) time.Time {
		if at := e.Next(after.In(where)); !at.IsZero() {
			return at.UTC()
		}
		return time.Time{}
	}, nil
}

func location(zone string) (*time.Location, error) {
	if zone == "" {
		return time.Local, nil
	}
	where, err := time.LoadLocation(zone)
	if err != nil {
		return nil, &usage.Error{Message: fmt.Sprintf("there is no time zone %q", zone), Hint: "use a name such as Europe/Moscow, Asia/Shanghai or UTC"}
	}
	return where, nil
}

const maxName = 100

// reckon holds a schedule to what can be kept, and sets when it is due.
func (s *Schedule) reckon(now time.Time) error {
	s.Name = strings.Join(strings.Fields(strings.ToValidUTF8(s.Name, "\uFFFD")), " ")
	if n := utf8.RuneCountInString(s.Name); n > maxName {
		return &usage.Error{Message: fmt.Sprintf("the name has %d characters, more than the %d that fit", n, maxName)}
	}
	s.Cron = strings.Join(strings.Fields(s.Cron), " ")
	next, err := Clock(s.Cron, s.Zone)
	if err != nil {
		return err
	}
	s.From, s.Next = now.UTC(), time.Time{}
	if !s.Paused {
		s.Next = next(now)
	}
	return nil
}
