package search

import (
	"errors"
	"fmt"
	"time"
)

const (
	// inRow is how many searches in a row an engine may leave without an
	// answer before it rests.
	inRow = 3
	// The pause of an engine that wants peace doubles from the first to the
	// longest; so does that of one that is not there, which may come back any
	// moment.
	firstPeace, mostPeace     = 15 * time.Second, 10 * time.Minute
	firstAbsence, mostAbsence = 5 * time.Second, 2 * time.Minute
	// mostAsked bounds what an engine can ask for.
	mostAsked = time.Hour
)

// HealthState says whether an engine is asked.
type HealthState string

// The states of an engine.
const (
	OK      HealthState = "ok"
	Resting HealthState = "resting"
)

// Health is how an engine does.
type Health struct {
	Name  string      `json:"name"`
	State HealthState `json:"state"`
	// Reason of the rest, which lasts until a call that is made after Until has
	// got an answer.
	Reason Reason    `json:"reason,omitempty"`
	Until  time.Time `json:"until,omitzero"`
	// Asked counts the calls that were made, repetitions included, and Failed
	// those of them that failed. Who gives up counts for neither.
	Asked  int `json:"asked"`
	Failed int `json:"failed"`
	// LastError is the last failure, whether or not it is over.
	LastError string `json:"last_error,omitempty"`
}

// rest is what a gate knows about its engine.
type rest struct {
	name    string
	cause   *Error // why it rests; nil if it does not
	until   time.Time
	probing bool // a call is out to see whether the rest is over
	round   int  // counts the rests
	row     int  // searches in a row without an answer
	grown   int  // rests since the last success

	asked, failed int
	last          string
}

func (r *rest) init(name string) { r.name = name }

// refusal is why no call may go out, nil if one may.
func (r *rest) refusal(now time.Time) error {
	left := r.until.Sub(now)
	if r.cause == nil || left <= 0 {
		return nil
	}
	detail := fmt.Sprintf("it is left alone for another %s", max(time.Second, left.Round(time.Second)))
	if r.cause.Detail != "" {
		detail += " after: " + r.cause.Detail
	}
	return &Error{Engine: r.name, Reason: r.cause.Reason, Detail: detail, RetryAfter: left, Err: r.cause}
}

// learn takes note of how a call ended.
func (r *rest) learn(now time.Time, t *turn, err error) {
	e, ok := errors.AsType[*Error](err)
	if err != nil && !ok && !errors.Is(err, ErrNotMine) {
		r.aborted(t) // it tells about the caller
		return
	}
	r.asked++
	if ok {
		r.failed++
		r.last = e.Error()
	}
	if t.probe {
		r.probing = false
	}
	switch {
	case !ok:
		r.answered(t)
		if t.round == r.round {
			r.grown = 0
		}
	case e.Reason == RateLimited || e.Reason == Blocked || e.Reason == Unavailable && e.RetryAfter > 0:
		r.begin(now, t, e, firstPeace, mostPeace)
	case e.Reason == Unreachable || e.Reason == Unavailable || e.Reason == TooSlow:
		if t.round == r.round && !t.repeated {
			r.row++ // a search counts once
		}
		if r.row >= inRow || t.probe {
			r.begin(now, t, e, firstAbsence, mostAbsence)
		}
	default:
		r.answered(t)
	}
}

// answered means that the engine is there. Only a probe ends a rest: other
// calls were out before it began.
func (r *rest) answered(t *turn) {
	if t.round == r.round {
		r.row = 0
	}
	if t.probe {
		r.cause, r.until = nil, time.Time{}
	}
}

// aborted means that a call ended without telling anything. If it was to see
// whether the rest is over, another one is.
func (r *rest) aborted(t *turn) {
	if t.probe {
		r.probing = false
	}
}

// begin puts the engine to rest. Calls that were out when a rest began can
// make it longer if the engine says so, but it does not grow by them.
func (r *rest) begin(now time.Time, t *turn, e *Error, first, most time.Duration) {
	asked := min(e.RetryAfter, mostAsked)
	if t.round != r.round {
		if until := now.Add(asked); r.cause != nil && until.After(r.until) {
			r.until = until
		}
		return
	}
	pause := min(first<<min(r.grown, 16), most)
	if asked > 0 {
		pause = asked
	}
	r.cause, r.until = e, now.Add(pause)
	r.grown++
	r.round++
	r.row = 0
}

func (r *rest) health() Health {
	h := Health{Name: r.name, State: OK, Asked: r.asked, Failed: r.failed, LastError: r.last}
	if r.cause != nil {
		h.State, h.Reason, h.Until = Resting, r.cause.Reason, r.until
	}
	return h
}
