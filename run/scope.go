// Package run is the kernel: a run is ordinary Go code whose effects are
// recorded, so that it survives anything. Each piece of work is a Step with a
// name; its result is recorded once, and when the run is taken up again, after
// a crash, an answer or on another machine, the code runs from its start and
// recorded steps return what they returned.
//
// For that, the code between steps has to be deterministic: it depends on the
// request, on results of steps and on nothing else (no clock, no random
// numbers, no map order), and parallel work goes into a Child each, started
// with Go.
package run

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"dossier/event"
)

// Scope is a place in a run's code: a namespace for the names of steps and
// children. A Scope belongs to one goroutine; parallel work takes a child
// each.
type Scope struct {
	exec  *execution
	path  string
	agent string
	// branch is the one in which entries are recorded here.
	branch *branch

	emits, asks, steers int
	sends               map[string]int
	checks              int
	refused             error // why a step inside could not begin

	// inStep marks the scope that a step's function gets: what happens inside
	// is part of that step.
	inStep bool
	pure   bool // it has Effect Pure
	// What a step leaves beside its result, guarded by exec.mu.
	held      []emission  // events
	first     [1]emission // room for them: most steps have one
	spent     Spent
	short     string      // as Entry.Short, where a look at the budget said so
	breakable bool        // it can be broken off when the run is to finish
	tell      func(error) // how it ended, to the worker's Watch; nil for nobody
}

// Record returns what is known of the run. Its Created time is the clock that
// a run may depend on.
func (s *Scope) Record() Record { return s.exec.rec }

// Path is the scope's place in the run, "" for the root.
func (s *Scope) Path() string { return s.path }

// Child returns the namespace name below s for a branch of work, such as one
// researcher. Children share the budget and the cancellation of the run. A
// name that s already used is an error at the child's first use.
func (s *Scope) Child(name string) *Scope {
	key, err := s.reserve(name)
	if err != nil {
		s.exec.fail(err)
	}
	return &Scope{exec: s.exec, path: key, agent: key, branch: s.branch}
}

// reserve takes a name in the scope and returns its key.
func (s *Scope) reserve(name string) (string, error) {
	if name == "" || strings.ContainsAny(name, "/#<>?!@$") {
		return "", fmt.Errorf("run: %q can't be a name in a run: use letters, digits, '-', '_', '.' or ':'", name)
	}
	key := name
	if s.path != "" {
		key = s.path + "/" + name
	}
	e := s.exec
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, dup := e.used[key]; dup {
		return "", fmt.Errorf("run: the name %q is used twice: give each step and child of a scope its own name", key)
	}
	e.used[key] = struct{}{}
	return key, nil
}

// Emit appends an event to the run's log. Durable events get the next
// sequence and become visible once they are stored, at the latest with the
// next step; an event is keyed by its place, so code that runs again emits
// nothing twice. What is emitted inside a step is stored with its outcome.
// Transient data goes to those who listen now and nowhere else.
//
// Emit does not wait. Its error is that of the run: the run was stopped or
// can't be stored any more.
func (s *Scope) Emit(data event.Data) error {
	e := s.exec
	if event.IsTransient(data) {
		e.pass(s.agent, data)
		return nil
	}
	s.emits++
	ev := emission{s.path + "#" + strconv.Itoa(s.emits), s.agent, data, time.Now()}
	if s.inStep {
		return e.hold(s, ev)
	}
	return e.emit(ev)
}

// Charge adds to what the run has spent. It belongs inside a step: there it is
// recorded with the step's result, so that a resumed run knows what was spent.
func (s *Scope) Charge(c Spent) {
	e := s.exec
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.inStep {
		s.spent = s.spent.Add(c)
	}
	e.spent = e.spent.Add(c)
	e.warnBudget()
}

// UntilFinish returns a context that also ends when the run is told to finish,
// with the cause ErrFinish, or when its time is up, with that of Budget.Check:
// for work that can be broken off and still leaves something. The caller calls
// cancel.
func (s *Scope) UntilFinish(ctx context.Context) (_ context.Context, cancel context.CancelFunc) {
	finished := s.exec.untilFinish()
	s.breakable = true
	if ctx == s.exec.ctx {
		return finished, func() {} // it ends with the run
	}
	ctx, end := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(finished, func() { end(context.Cause(finished)) })
	return ctx, func() { unhook(); end(nil) }
}

// Steer returns what the user said to the run, unasked, since the last call in
// this scope or another. A resumed run sees the same at the same place.
func (s *Scope) Steer() ([]string, error) {
	s.steers++
	return s.exec.steer(s, s.path+"!"+strconv.Itoa(s.steers))
}

// The errors with which kernel calls return when the run has to stop here. The
// run's code passes them on; whatever it does instead is not recorded.
var (
	// ErrParked: the run waits for an answer and leaves memory.
	ErrParked = errors.New("the run waits for an answer")
	// ErrPaused: the run was told to pause.
	ErrPaused = errors.New("the run is paused")
	// ErrCancelled: the run was cancelled.
	ErrCancelled = errors.New("the run was cancelled")
	// ErrShutdown: the worker is going down; another will go on.
	ErrShutdown = errors.New("the worker is shutting down")
	// ErrLapsed: the worker could not renew its lease of the run in time, and
	// another may be on it.
	ErrLapsed = errors.New("the lease of the run could not be renewed")
	// ErrNoSender: nobody is left who could send what the run waits for.
	ErrNoSender = errors.New("nothing is left in the run that could send to this mailbox")
	// ErrLive: a replay came to an effect that was not recorded.
	ErrLive = errors.New("the replay came to something that is not in the journal")
)

// Stopped says whether err is one of those with which the kernel stops a run,
// rather than a failure of the work.
func Stopped(err error) bool {
	for _, stop := range []error{ErrParked, ErrPaused, ErrCancelled, ErrShutdown, ErrFenced, ErrLapsed, ErrLive} {
		if errors.Is(err, stop) {
			return true
		}
	}
	return false
}

// GoesOn says whether err stops a run here, to go on later: what was under way is
// not over.
func GoesOn(err error) bool { return Stopped(err) && !errors.Is(err, ErrCancelled) }

// CodeOf names what went wrong, as a Fault does.
func CodeOf(err error) string {
	if errors.Is(err, ErrCancelled) {
		return "cancelled"
	}
	return faultFrom(err).Code
}

// Func is the code of a run.
type Func func(ctx context.Context, s *Scope) error
