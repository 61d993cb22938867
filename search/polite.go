package search

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"syscall"
	"time"
)

// Manners are how an engine wants to be asked. The zero value of a field means
// its default.
type Manners struct {
	// Concurrent is how many calls may be under way at once; 4.
	Concurrent int
	// Every is the time between the starts of two calls; 0 is none.
	Every time.Duration
	// Burst is how many calls may start at once after a time of peace, while
	// their average keeps to Every; 1.
	Burst int
	// Timeout is how long the engine may take for one search, a repetition
	// included, without the wait for a turn; 15 s.
	Timeout time.Duration
}

// retryPause is the mean pause before a call is repeated.
const retryPause = 400 * time.Millisecond

// PoliteEngine asks an engine in the way it wants to be asked. Its zero value
// is not usable; see Polite.
type PoliteEngine struct {
	engine  Engine
	name    string
	timeout time.Duration
	gate    gate
}

// Polite puts manners before an engine. Searches go out in the order in which
// they came, at most m.Concurrent at once and m.Every apart; one that waits
// leaves when its context ends. A search that the engine failed for a passing
// reason of its own, or that was cut off, is repeated once if there is time.
//
// An engine that wants fewer questions or takes us for a robot rests for as
// long as it asks, or for a pause that grows each time; so does one that did not
// answer several times in a row. While it rests a search fails at once, for the
// reason of the rest and with the time that is left of it. Then one search goes
// out to see, and those that come meanwhile wait for what it tells. A key that
// is not accepted, or a question that is not, puts nobody to rest.
//
// The result is an Opener as well; its Open says ErrNotMine if e is none.
func Polite(e Engine, m Manners) *PoliteEngine {
	p := &PoliteEngine{engine: e, name: e.Info().Name, timeout: cmp.Or(max(0, m.Timeout), 15*time.Second)}
	p.gate.init(p.name, m)
	return p
}

// Info is that of the engine.
func (p *PoliteEngine) Info() Info { return p.engine.Info() }

// Health says how the engine does.
func (p *PoliteEngine) Health() Health { return p.gate.health() }

// Search asks the engine when it is its turn.
func (p *PoliteEngine) Search(ctx context.Context, q Query) ([]Hit, error) {
	quiet := WithTrace(ctx, nil)
	var hits []Hit
	err := p.do(ctx, func(limit time.Duration) (err error) {
		timed, cancel := context.WithTimeout(quiet, limit)
		defer cancel()
		hits, err = p.engine.Search(timed, q)
		return p.judge(ctx, timed, err)
	})
	if err != nil {
		hits = nil
	}
	tell(ctx, p.name, len(hits), false, err)
	return hits, err
}

// Open asks the engine for a page when it is its turn.
func (p *PoliteEngine) Open(ctx context.Context, url string) (Hit, error) {
	if _, ok := p.engine.(Opener); !ok {
		return Hit{}, ErrNotMine
	}
	var hit Hit
	err := p.do(ctx, func(limit time.Duration) (err error) {
		timed, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		hit, err = open(timed, p.engine, url)
		if errors.Is(err, ErrNotMine) {
			return err
		}
		return p.judge(ctx, timed, err)
	})
	return hit, err
}

// judge tells whose fault a failure is: the caller's if ctx has ended, the
// engine's if only its own time was up.
func (p *PoliteEngine) judge(ctx, timed context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, told := errors.AsType[*Error](err); !told && ctx.Err() == nil && timed.Err() != nil {
		return &Error{Engine: p.name, Reason: TooSlow, Detail: "it did not answer within " + p.timeout.String(), Err: err}
	}
	return failure(ctx, p.name, err)
}

// do makes a call, and repeats it once if that may help.
func (p *PoliteEngine) do(ctx context.Context, call func(limit time.Duration) error) error {
	t, err := p.gate.enter(ctx, false)
	if err != nil {
		return err
	}
	took, err := p.during(t, p.timeout, call)
	if !p.again(ctx, took, err) {
		return err
	}
	pause := time.NewTimer(retryPause/2 + rand.N(retryPause))
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-pause.C:
	}
	t, refused := p.gate.enter(ctx, true)
	switch {
	case ctx.Err() != nil && refused != nil:
		return refused
	case refused != nil:
		return err // the engine rests by now, because of others
	}
	_, err = p.during(t, p.timeout-took, call)
	return err
}

// during makes the call in its turn, which is given back whatever happens.
func (p *PoliteEngine) during(t *turn, limit time.Duration, call func(time.Duration) error) (took time.Duration, err error) {
	err = errPanicked
	defer func() { p.gate.leave(t, err) }()
	start := time.Now()
	err = call(limit)
	return time.Since(start), err
}

// errPanicked is what the gate sees of a call that did not return.
var errPanicked = errors.New("the call did not return")

// again says whether to repeat a call that took so long: it met trouble that
// passes, the engine is not at rest by that, and there is as much time left as
// it took.
func (p *PoliteEngine) again(ctx context.Context, took time.Duration, err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || took > p.timeout/2 || p.Health().State == Resting {
		return false
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < took+2*retryPause {
		return false
	}
	return e.Reason == Unavailable || e.Reason == Unreachable && cutOff(e)
}

// cutOff says whether a connection that was there ended before the reply did.
func cutOff(e *Error) bool {
	return e.Status != 0 || errors.Is(e, io.EOF) || errors.Is(e, io.ErrUnexpectedEOF) ||
		errors.Is(e, syscall.ECONNRESET) || errors.Is(e, syscall.EPIPE)
}
