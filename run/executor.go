package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"dossier/event"
)

// Program finds the code of a run and what the run may spend.
type Program func(r Record) (Func, Limits, error)

// Executor is a worker: it takes runs, executes them, keeps their leases alive
// and hands signals to them. It needs no goroutine per run beside the one that
// calls Execute.
type Executor struct {
	journal Journal
	owner   string
	ttl     time.Duration
	program Program
	publish func(event.Event)
	watch   Watch
	log     *slog.Logger
	commits sync.Pool

	mu    sync.Mutex
	live  map[string]*execution
	dirty []*execution
	kick  chan struct{}
	quit  chan struct{}
	once  sync.Once
	wg    sync.WaitGroup
}

// ExecutorConfig is what an Executor is made of.
type ExecutorConfig struct {
	Journal Journal
	// Owner names the worker; no two workers share a name.
	Owner string
	// TTL of the leases; a worker that is silent for longer loses its runs.
	TTL     time.Duration
	Program Program
	// Publish gets each event once it is durable, in order, and transient
	// ones at once. It must not block.
	Publish func(event.Event)
	// Watch is told of the steps that are carried out; nil for nobody.
	Watch Watch
	// Log gets what went wrong around runs and the stacks of panics; nil means
	// nothing.
	Log *slog.Logger
}

// Watch is told that a step begins to be carried out: of one whose outcome is
// recorded it is not. It returns the context in which the step does its work, and
// what is called with its error once the outcome is recorded. Of a step that is to
// be carried out again that is not called. It must not block.
type Watch func(ctx context.Context, key string) (context.Context, func(error))

// DefaultTTL of a lease.
const DefaultTTL = 15 * time.Second

// flushDelay is how long an event may stay in memory before it is stored.
const flushDelay = 5 * time.Millisecond

// NewExecutor starts a worker; Close ends it.
func NewExecutor(c ExecutorConfig) *Executor {
	if c.TTL <= 0 {
		c.TTL = DefaultTTL
	}
	if c.Publish == nil {
		c.Publish = func(event.Event) {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	x := &Executor{
		journal: c.Journal, owner: c.Owner, ttl: c.TTL, program: c.Program, publish: c.Publish, watch: c.Watch, log: c.Log,
		live: make(map[string]*execution), kick: make(chan struct{}, 1), quit: make(chan struct{}),
	}
	x.wg.Add(2)
	go x.flushing()
	go x.renewing()
	return x
}

// Close ends the worker's own goroutines. The caller has ended its Executes.
func (x *Executor) Close() {
	x.once.Do(func() { close(x.quit) })
	x.wg.Wait()
}

// Execute takes the run id and works on it until it ends, waits, is paused or
// ctx ends (then it is queued again for another worker). The error is about
// the run's storage or lease; a failed run is a status, not an error.
func (x *Executor) Execute(ctx context.Context, id string) (Status, error) {
	for {
		status, again, err := x.attempt(ctx, id)
		if err != nil || !again {
			return status, err
		}
	}
}

// attempt executes a run once. again says that it was called back while it was
// being put to rest.
func (x *Executor) attempt(ctx context.Context, id string) (status Status, again bool, err error) {
	// Each run at work has this function's frame on its stack, so what comes
	// before and after the run's code is done elsewhere.
	e, fn, err := x.take(ctx, id)
	if err != nil {
		return "", false, err
	}
	defer e.release()
	defer x.forget(e)
	stopWatch := context.AfterFunc(ctx, func() { e.halt(ErrShutdown, true) })
	defer stopWatch()
	if err = e.stopped(); err == nil {
		err = protect(e.ctx, &Scope{exec: e, branch: &e.own}, fn)
	}
	return x.rest(ctx, e, err)
}

// take acquires a run and makes it live.
func (x *Executor) take(ctx context.Context, id string) (*execution, Func, error) {
	until := time.Now().Add(x.ttl)
	h, err := x.journal.Acquire(ctx, id, x.owner, x.ttl)
	if err != nil {
		return nil, nil, err
	}
	fn, limits, err := x.program(h.Record)
	if err != nil {
		fn = func(context.Context, *Scope) error { return err }
	}
	e := newExecution(context.WithoutCancel(ctx), h, limits)
	e.journal, e.outlet.publish, e.dirty, e.commits, e.watch, e.log = x.journal, x.publish, x.markDirty, &x.commits, x.watch, x.log
	e.extend(until)
	x.mu.Lock()
	x.live[id] = e
	x.mu.Unlock()
	e.announce()
	e.signals(h.Signals)
	return e, fn, nil
}

// rest records how the run's code ended. again is as in attempt.
func (x *Executor) rest(ctx context.Context, e *execution, err error) (status Status, again bool, _ error) {
	e.drain(err)
	if p := e.broken.Load(); p != nil {
		return "", false, *p
	}
	st := e.outcome(err)
	if f := st.Failure; f != nil && f.Stack != "" {
		x.log.Error("a run's code panicked", "run", e.rec.ID, "error", f.Message, "stack", f.Stack)
	}
	if err := e.finish(st); err != nil {
		return "", false, fmt.Errorf("recording the run: %w", err)
	}
	// Who signals from here on finds no live run and has it executed again;
	// who signalled before is found by recalled.
	x.forget(e)
	return st.Status, x.recalled(ctx, e, st.Status), nil
}

// forget takes an execution off the live ones; its run may be live again by
// then.
func (x *Executor) forget(e *execution) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.live[e.rec.ID] == e {
		delete(x.live, e.rec.ID)
	}
}

// recalled says whether a run that was just put to rest has signals that came
// too late to be acted upon and that make it go on. When they can't be read,
// Orphans has the run.
func (x *Executor) recalled(ctx context.Context, e *execution, status Status) bool {
	if status != Waiting && status != Paused {
		return false
	}
	if status == Paused && e.finishing {
		return true // told to finish when its code had seen the pause
	}
	late, err := x.journal.Signals(ctx, e.rec.ID, e.signalN)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(late, func(s Signal) bool {
		switch s.Kind {
		case SignalFinish, SignalCancel:
			return true
		case SignalAnswer, SignalPause:
			return status == Waiting
		}
		return false
	})
}

// announce tells the log that a worker is on the run.
func (e *execution) announce() {
	e.mu.Lock()
	defer e.mu.Unlock()
	reason := ""
	if e.rec.Epoch > 1 {
		reason = "resumed"
	}
	e.tellLocked("run/"+strconv.FormatInt(e.rec.Epoch, 10), event.RunStatus{Status: string(Running), Reason: reason})
}

// drain waits for the run's tasks. When the run's code failed, its tasks are
// interrupted first.
func (e *execution) drain(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil && e.stop == nil {
		e.haltLocked(err, true)
	}
	for e.active+len(e.waiters) > 1 {
		w := &waiter{kind: waitTask}
		e.drainer = w
		_ = e.block(context.Background(), w) // each task wakes it at its end
	}
}

// outcome turns what the run's code returned into the run's new state and
// buffers the events that tell of it.
func (e *execution) outcome(err error) State {
	e.mu.Lock()
	defer e.mu.Unlock()
	st := State{Status: Done}
	stop := e.stop
	switch {
	case err == nil && (stop == nil || errors.Is(stop, ErrPaused) && !e.pauseSeen):
		// The code reached its end before the pause took effect.
	case errors.Is(stop, ErrCancelled):
		st.Status = Cancelled
	case errors.Is(stop, ErrParked):
		st.Status = Waiting
	case errors.Is(stop, ErrPaused):
		st.Status = Paused
	case errors.Is(stop, ErrShutdown):
		st.Status = Queued
	default:
		if stop != nil {
			err = stop
		}
		st.Status, st.Failure = Failed, failureOf(err)
	}
	e.resting = true
	at := "run/" + strconv.FormatInt(e.rec.Epoch, 10) + "/end"
	reason := ""
	if f := st.Failure; f != nil {
		reason = f.Message
		e.tellLocked(at+"/error", event.RunError{Code: f.Code, Message: f.Message, Hint: f.Hint, Step: f.Step, Fatal: true})
	}
	if st.Status == Queued {
		reason = "the worker is shutting down"
	}
	e.tellLocked(at, event.RunStatus{Status: string(st.Status), Reason: reason})
	return st
}

func failureOf(err error) *Failure {
	f := faultFrom(err)
	out := &Failure{Code: f.Code, Message: f.Message, Hint: f.Hint, Stack: f.Stack}
	if keys := failedSteps(err); len(keys) > 0 {
		for _, key := range keys { // which are told beside it
			out.Message = strings.ReplaceAll(out.Message, "step "+key+": ", "")
		}
		out.Step = keys[0]
		if len(keys) > 1 {
			out.Steps = keys
		}
	}
	return out
}

// failedSteps are the steps whose failures an error is made of, each once.
func failedSteps(err error) (keys []string) {
	switch e := err.(type) { //nolint:errorlint // it goes through what is wrapped itself
	case *StepError:
		return []string{e.Key} // what failed inside it is part of it
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return failedSteps(inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			for _, key := range failedSteps(inner) {
				if !slices.Contains(keys, key) {
					keys = append(keys, key)
				}
			}
		}
	}
	return keys
}

// Notify makes a live run look at its signals now. It says whether the run is
// live here.
func (x *Executor) Notify(ctx context.Context, id string) (bool, error) {
	x.mu.Lock()
	e := x.live[id]
	x.mu.Unlock()
	if e == nil {
		return false, nil
	}
	e.mu.Lock()
	after := e.signalN
	e.mu.Unlock()
	list, err := x.journal.Signals(ctx, id, after)
	if err != nil {
		return true, err
	}
	e.signals(list)
	return true, nil
}

// Live says whether a run is being executed here.
func (x *Executor) Live(id string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.live[id] != nil
}

// Look makes live runs look at signals that they have not seen.
func (x *Executor) Look(ctx context.Context) error {
	live, seen := x.held()
	if len(live) == 0 {
		return nil
	}
	last, err := x.journal.Signalled(ctx, x.owner)
	if err != nil {
		return err
	}
	for id, n := range last {
		if mark, here := seen[id]; here && n > mark {
			if _, err := x.Notify(ctx, id); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *Executor) markDirty(e *execution) {
	x.mu.Lock()
	x.dirty = append(x.dirty, e)
	x.mu.Unlock()
	select {
	case x.kick <- struct{}{}:
	default:
	}
}

// flushing stores what runs have buffered, a little later so that it can share
// a commit with the next step.
func (x *Executor) flushing() {
	defer x.wg.Done()
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	for {
		select {
		case <-x.kick:
		case <-x.quit:
			return
		}
		timer.Reset(flushDelay)
		select {
		case <-timer.C:
		case <-x.quit:
			return
		}
		x.mu.Lock()
		dirty := x.dirty
		x.dirty = nil
		x.mu.Unlock()
		for _, e := range dirty {
			e.flush()
		}
	}
}

// held returns the live runs, each with the last signal that it has seen. A
// run's lock is never taken under the worker's: a run that emits takes them
// the other way round.
func (x *Executor) held() (live map[string]*execution, seen map[string]int64) {
	x.mu.Lock()
	live = maps.Clone(x.live)
	x.mu.Unlock()
	seen = make(map[string]int64, len(live))
	for id, e := range live {
		e.mu.Lock()
		seen[id] = e.signalN
		e.mu.Unlock()
	}
	return live, seen
}

// A worker tries to renew its leases three times in the time of one, and gives
// up runs a sixth of that time before a lease ends that it could not renew.
const renewTicks = 6

// renewing keeps the leases of all live runs and looks for their signals.
func (x *Executor) renewing() {
	defer x.wg.Done()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tick := time.NewTicker(x.ttl / renewTicks)
	defer tick.Stop()
	var under chan struct{} // closed when the renewal under way is answered
	for n := 1; ; {
		select {
		case <-tick.C:
		case <-under:
			under = nil
			continue
		case <-x.quit:
			cancel()
			if under != nil {
				<-under
			}
			return
		}
		live, seen := x.held()
		for _, e := range live {
			_ = e.lapsing(x.ttl / renewTicks)
		}
		if n++; n%2 == 0 || under != nil || len(live) == 0 {
			continue
		}
		answered := make(chan struct{})
		under = answered
		go func() {
			defer close(answered)
			ctx, cancel := context.WithTimeout(ctx, x.ttl/3)
			defer cancel()
			x.renew(ctx, live, seen)
		}()
	}
}

// renew renews the leases of runs once. What fails is tried again by the next
// tick, as long as the leases last.
func (x *Executor) renew(ctx context.Context, live map[string]*execution, seen map[string]int64) {
	until := time.Now().Add(x.ttl) // at the least: the store counts from when it was asked
	signalled, lost, err := x.journal.Renew(ctx, x.owner, x.ttl, seen)
	if err != nil {
		x.log.Warn("leases could not be renewed", "runs", len(seen), "error", err)
		return
	}
	for _, id := range lost {
		// Whoever has taken the run since is not meant, be it this worker.
		_ = live[id].breakWith(ErrFenced)
		delete(live, id)
	}
	for _, e := range live {
		e.extend(until)
	}
	for _, id := range signalled {
		if _, err := x.Notify(ctx, id); err != nil {
			x.log.Warn("signals could not be read", "run", id, "error", err) // the next renewal tells of them again
		}
	}
}
