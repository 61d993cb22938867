package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"
)

// Effect is the class of what a step does to the world; it decides what
// happens when a crash leaves a step without a result.
type Effect int

// The classes of effects.
const (
	// Read changes nothing: the step runs again. This is the default.
	Read Effect = iota
	// Idempotent does the same thing when done twice with the same key
	// (Scope.Path inside the step): it runs again.
	Idempotent
	// Effectful must not happen twice: an intent is recorded first, and after
	// a crash the outcome is unknown, so the run asks what to do.
	Effectful
	// Pure computes from what the run knows already, at no cost: the code goes on
	// before its result is durable, which it is with the next step's at the
	// latest. After a crash in between it is computed again.
	Pure
)

// Changes says whether work of the class may change something outside of the run.
func (e Effect) Changes() bool { return e == Idempotent || e == Effectful }

// Fault is a step's failure as it is recorded.
type Fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Stack is that of a panic.
	Stack string `json:"stack,omitempty"`
}

// StepError is a failed step. Live and replayed failures carry the same Fault;
// Err is the original error and only there when the step failed just now, so a
// run's code decides by Fault.
type StepError struct {
	Key   string
	Fault Fault
	Err   error
}

func (e *StepError) Error() string { return "step " + e.Key + ": " + e.Fault.Message }
func (e *StepError) Unwrap() error { return e.Err }

// FaultOf returns the recorded failure in err's chain.
func FaultOf(err error) (Fault, bool) {
	if se, ok := errors.AsType[*StepError](err); ok {
		return se.Fault, true
	}
	return Fault{}, false
}

// faulter is an error that knows how it should be recorded.
type faulter interface{ Fault() (code, hint string) }

func faultFrom(err error) Fault {
	f := Fault{Code: "failed", Message: err.Error()}
	var known faulter
	if inner, ok := errors.AsType[*StepError](err); ok {
		f.Code, f.Hint, f.Stack = inner.Fault.Code, inner.Fault.Hint, inner.Fault.Stack
	} else if errors.As(err, &known) {
		f.Code, f.Hint = known.Fault()
	}
	if p, ok := errors.AsType[*PanicError](err); ok {
		f.Stack = string(p.Stack)
	}
	return f
}

// Step runs fn once and records its result, which has to survive a round trip
// through JSON. On a resumed run the recorded result, or the recorded failure
// as a *StepError, is returned and fn is not called. The scope that fn gets is
// for events and charges that belong to the step: they are recorded with its
// outcome, so those of an attempt that was lost are too. A panic in fn is the
// step's failure.
func Step[T any](ctx context.Context, s *Scope, name string, fn func(context.Context, *Scope) (T, error)) (T, error) {
	return EffectStep(ctx, s, Read, name, fn)
}

// EffectStep is Step for work of another effect class.
func EffectStep[T any](ctx context.Context, s *Scope, effect Effect, name string, fn func(context.Context, *Scope) (T, error)) (result T, err error) {
	// This frame is on the stack while fn works: what can be done without
	// knowing T is done elsewhere.
	inner, recorded, err := s.begin(ctx, effect, name)
	if err != nil {
		return result, err
	}
	v := new(T)
	if recorded != nil {
		err = recorded.restore(v)
	} else if err = guarded(inner.watched(ctx), inner, fn, v); err == nil {
		err = inner.told(inner.keep(ctx, v))
	} else {
		err = inner.told(inner.fail(ctx, err))
	}
	if err == nil {
		result = *v
	}
	return result, err
}

// guarded has fn fill in v and turns a panic into an error.
func guarded[T any](ctx context.Context, s *Scope, fn func(context.Context, *Scope) (T, error), v *T) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	*v, err = fn(ctx, s)
	return err
}

// watched is the context of the work of the step whose scope s is, of which the
// worker's Watch is told.
func (s *Scope) watched(ctx context.Context) context.Context {
	if s.exec.watch != nil {
		ctx, s.tell = s.exec.watch(ctx, s.path)
	}
	return ctx
}

// told passes the error on with which the step whose scope s is has ended.
func (s *Scope) told(err error) error {
	if s.tell != nil && !GoesOn(err) {
		s.tell(err)
	}
	return err
}

// begin returns the scope of a new step, or the outcome that is recorded.
func (s *Scope) begin(ctx context.Context, effect Effect, name string) (inner *Scope, recorded *Entry, err error) {
	key, err := s.reserve(name)
	if err != nil {
		return nil, nil, err
	}
	e := s.exec
	if entry, ok := s.outcome(key); ok {
		return nil, entry, nil
	}
	if err := e.gate(key, s.branch); err != nil {
		s.refused = err
		return nil, nil, err
	}
	inner = &Scope{exec: e, path: key, agent: s.agent, branch: s.branch, inStep: true, pure: effect == Pure}
	if ctx.Err() != nil {
		// The code goes another way from here, and has to when it runs again.
		return nil, nil, inner.fail(ctx, &interruptedError{context.Cause(ctx)})
	}
	switch effect {
	case Idempotent:
		err = e.settle() // what others get to see follows from what is durable
	case Effectful:
		err = inner.declare(ctx)
	}
	return inner, nil, err
}

// interruptedError is why a step did not take place whose context had ended.
type interruptedError struct{ cause error }

func (e *interruptedError) Error() string { return "not begun: " + e.cause.Error() }
func (e *interruptedError) Unwrap() error { return e.cause }

// Fault tells the kernel how to record the error.
func (e *interruptedError) Fault() (code, hint string) {
	var known faulter
	if errors.As(e.cause, &known) {
		return known.Fault()
	}
	return "interrupted", ""
}

// restore reads a step's recorded result into the value that v points to, or
// returns its recorded failure.
func (entry *Entry) restore(v any) error {
	if entry.Kind == EntryFault {
		var f Fault
		if err := json.Unmarshal(entry.Value, &f); err != nil {
			return fmt.Errorf("run: the journal's fault of step %s: %w", entry.Key, err)
		}
		return &StepError{Key: entry.Key, Fault: f}
	}
	if err := json.Unmarshal(entry.Value, v); err != nil {
		return fmt.Errorf("run: the journal's result of step %s does not fit the code any more (fork the run before this step): %w", entry.Key, err)
	}
	return nil
}

// keep records the result that v points to as that of the step whose scope s
// is.
func (s *Scope) keep(ctx context.Context, v any) error {
	if Stopped(s.refused) {
		return s.refused // a step inside did not take place: the result is void
	}
	raw, err := encode(v)
	if err != nil {
		return s.fail(ctx, fmt.Errorf("the result can't be recorded: %w", err))
	}
	return s.record(EntryStep, raw, s.fellShort(ctx, nil))
}

// JSONAppender is a result that writes itself: the same JSON that encoding/json
// would read it from, without the passes that one makes over what a Marshaler
// wrote.
type JSONAppender interface {
	AppendJSON(buf []byte) ([]byte, error)
}

func encode(v any) ([]byte, error) {
	if a, ok := v.(JSONAppender); ok {
		return a.AppendJSON(nil)
	}
	return json.Marshal(v)
}

// fellShort says why the step whose scope s is did less than it could have.
func (s *Scope) fellShort(ctx context.Context, err error) string {
	if s.short != "" {
		return s.short
	}
	if why := shortfall(context.Cause(ctx)); why != "" {
		return why
	}
	if s.breakable {
		if why := shortfall(context.Cause(s.exec.untilFinish())); why != "" {
			return why
		}
	}
	return shortfall(err)
}

// shortfall is what Entry.Short says of an error: empty for those that have
// nothing to do with what a run may spend.
func shortfall(err error) string {
	if errors.Is(err, ErrFinish) {
		return shortFinish
	}
	if spent, ok := errors.AsType[*BudgetError](err); ok {
		return spent.What
	}
	return ""
}

// shortFinish is what Entry.Short says where the run was told to finish.
const shortFinish = "finish"

// declare records the intent of an effectful step, or asks what to do when an
// earlier worker declared it and never said how it ended. Each attempt is
// declared by itself, so that each whose end is not known is asked about.
func (s *Scope) declare(ctx context.Context) error {
	e := s.exec
	attempts := 0
	for e.has(EntryIntent, attempt(s.path, attempts+1)) {
		attempts++
	}
	if attempts > 0 {
		asking := &Scope{exec: e, path: s.path + "@" + strconv.Itoa(attempts), agent: s.agent, branch: s.branch}
		answer, err := asking.Ask(ctx, Question{
			Questions: []string{fmt.Sprintf("Step %q was begun before, and may have taken effect. Do it again, or skip it?", s.path)},
			Options:   []string{"retry", "skip"},
			Reason:    CodeUnknownEffect,
		})
		if err != nil {
			return err
		}
		if answer.Text != "retry" {
			return s.fail(ctx, errSkippedEffect{})
		}
	}
	return e.recordWith(s.branch, nil, Entry{Kind: EntryIntent, Key: attempt(s.path, attempts+1), Value: json.RawMessage("{}")})
}

// attempt is the key of the intent of a step's n-th attempt.
func attempt(path string, n int) string {
	if n == 1 {
		return path
	}
	return path + "@" + strconv.Itoa(n)
}

// CodeUnknownEffect is the code of an effectful step of which nobody knows
// whether it took effect.
const CodeUnknownEffect = "unknown_effect"

type errSkippedEffect struct{}

func (errSkippedEffect) Error() string { return "skipped: its outcome was unknown after a crash" }
func (errSkippedEffect) Fault() (code, hint string) {
	return CodeUnknownEffect, "check whether the effect took place"
}

// fail records that the step whose scope s is failed and returns the error for
// the run's code. When it failed because the run was stopped, or because what it
// has to keep can't be stored, nothing is recorded.
func (s *Scope) fail(ctx context.Context, err error) error {
	if Stopped(err) {
		return err
	}
	if stop := s.exec.stopped(); stop != nil {
		return stop
	}
	if _, ok := errors.AsType[*UnstoredError](err); ok {
		return s.exec.breakWith(err)
	}
	f := faultFrom(err)
	raw, merr := json.Marshal(f)
	if merr != nil {
		return merr
	}
	if rerr := s.record(EntryFault, raw, s.fellShort(ctx, err)); rerr != nil {
		return rerr
	}
	return &StepError{Key: s.path, Fault: f, Err: err}
}

// record records the outcome of the step whose scope s is, with what it
// emitted and spent.
func (s *Scope) record(kind EntryKind, value json.RawMessage, short string) error {
	e := s.exec
	entry := Entry{Kind: kind, Key: s.path, Value: value, Short: short}
	e.mu.Lock()
	held := s.held
	entry.Spent = s.spent
	e.mu.Unlock()
	if s.pure && kind == EntryStep && entry.Spent == (Spent{}) {
		return e.note(s.branch, held, entry)
	}
	return e.recordWith(s.branch, held, entry)
}

// recordWith commits one entry of a branch and the events that stand or fall with it, with
// what was buffered before, and waits until it is durable.
func (e *execution) recordWith(in *branch, events []emission, entry Entry) error {
	e.mu.Lock()
	if err := e.appendLocked(in, events, entry); err != nil {
		e.mu.Unlock()
		return err
	}
	return e.commitLocked()
}

// note is recordWith without the wait: the entry goes with the next batch.
func (e *execution) note(in *branch, events []emission, entry Entry) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := e.appendLocked(in, events, entry)
	if err == nil {
		e.noted = e.ord
		e.flagLocked()
	}
	return err
}

// settle waits until all that was noted is durable.
func (e *execution) settle() error {
	e.mu.Lock()
	if e.noted <= e.durable {
		e.mu.Unlock()
		return nil
	}
	return e.commitLocked() // batches become durable in their order
}

// appendLocked buffers an entry of a branch, after its events.
func (e *execution) appendLocked(in *branch, events []emission, entry Entry) error {
	// A pause lets what is under way finish and be recorded; anything else
	// that stops a run makes its results void.
	if err := e.brokenLocked(); err != nil && !errors.Is(err, ErrPaused) {
		return err
	}
	for _, ev := range events {
		e.emitLocked(ev)
	}
	e.append(in, entry)
	return nil
}

// commitLocked commits what is buffered, unlocks e.mu and waits until it is durable.
func (e *execution) commitLocked() error {
	c, upto := newCommit(e), e.ord
	e.submitLocked(&c.b, c.done)
	e.mu.Unlock()
	if err := c.wait(); err != nil {
		return e.breakWith(err)
	}
	e.mu.Lock()
	e.durable = max(e.durable, upto)
	e.mu.Unlock()
	return nil
}

// append buffers an entry of a branch for the next batch. e.mu is held.
func (e *execution) append(in *branch, entry Entry) {
	e.ord++
	entry.Ord = e.ord
	entry.Branch, entry.Born = in.path, in.born
	in.saw(entry.Ord)
	entry.Seq = e.seq
	entry.Time = time.Now()
	e.entries = append(e.entries, entry)
}
