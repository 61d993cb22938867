package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
)

// Fault is a step's failure as it is recorded.
type Fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
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
		f.Code, f.Hint = inner.Fault.Code, inner.Fault.Hint
	} else if errors.As(err, &known) {
		f.Code, f.Hint = known.Fault()
	}
	return f
}

// Step runs fn once and records its result, which has to survive a round trip
// through JSON. On a resumed run the recorded result, or the recorded failure
// as a *StepError, is returned and fn is not called. The scope that fn gets is
// for events and charges that belong to the step.
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
	var v T
	if recorded != nil {
		err = recorded.restore(&v)
	} else if v, err = fn(ctx, inner); err == nil {
		err = inner.keep(&v)
	} else {
		err = inner.exec.fault(inner.path, inner, err)
	}
	if err == nil {
		result = v
	}
	return result, err
}

// begin returns the scope of a new step, or the outcome that is recorded.
func (s *Scope) begin(ctx context.Context, effect Effect, name string) (inner *Scope, recorded *Entry, err error) {
	key, err := s.claim(name)
	if err != nil {
		return nil, nil, err
	}
	e := s.exec
	if entry, ok := e.recorded(key); ok {
		return nil, entry, nil
	}
	if err := e.gate(ctx, key); err != nil {
		s.refused = err
		return nil, nil, err
	}
	inner = &Scope{exec: e, path: key, agent: s.agent, inStep: true}
	if effect == Effectful {
		err = e.declare(ctx, inner)
	}
	return inner, nil, err
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
func (s *Scope) keep(v any) error {
	if Stopped(s.refused) {
		return s.refused // a step inside did not take place: the result is void
	}
	raw, err := encode(v)
	if err != nil {
		return s.exec.fault(s.path, s, fmt.Errorf("the result can't be recorded: %w", err))
	}
	return s.exec.record(Entry{Key: s.path, Kind: EntryStep, Value: raw, Spent: s.spent})
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

// declare records the intent of an effectful step, or asks what to do when an
// earlier worker declared it and never said how it ended.
func (e *execution) declare(ctx context.Context, inner *Scope) error {
	if _, unknown := e.lookup(EntryIntent, inner.path); !unknown {
		return e.record(Entry{Key: inner.path, Kind: EntryIntent, Value: json.RawMessage("{}")})
	}
	answer, err := inner.Ask(ctx, Question{
		Questions: []string{fmt.Sprintf("Step %q was under way when its worker stopped, and nobody knows whether it took effect. Do it again, or skip it?", inner.path)},
		Options:   []string{"retry", "skip"},
		Reason:    "unknown_effect",
	})
	if err != nil {
		return err
	}
	if answer.Text != "retry" {
		return e.fault(inner.path, inner, errSkippedEffect{})
	}
	return nil
}

type errSkippedEffect struct{}

func (errSkippedEffect) Error() string { return "skipped: its outcome was unknown after a crash" }
func (errSkippedEffect) Fault() (code, hint string) {
	return "unknown_effect", "check whether the effect took place"
}

// fault records that a step failed and returns the error for the run's code.
// When the step failed because the run was stopped, nothing is recorded.
func (e *execution) fault(key string, inner *Scope, err error) error {
	if Stopped(err) {
		return err
	}
	if stop := e.stopped(); stop != nil {
		return stop
	}
	f := faultFrom(err)
	raw, merr := json.Marshal(f)
	if merr != nil {
		return merr
	}
	if rerr := e.record(Entry{Key: key, Kind: EntryFault, Value: raw, Spent: inner.spent}); rerr != nil {
		return rerr
	}
	return &StepError{Key: key, Fault: f, Err: err}
}

// record commits one entry, with what was buffered before it, and waits until
// it is durable.
func (e *execution) record(entry Entry) error { return e.recordWith(emission{}, entry) }

// recordWith is record with an event that stands or falls with the entry.
func (e *execution) recordWith(ev emission, entry Entry) error {
	e.mu.Lock()
	// A pause lets what is under way finish and be recorded; anything else
	// that stops a run makes its results void.
	if err := e.brokenLocked(); err != nil && !errors.Is(err, ErrPaused) {
		e.mu.Unlock()
		return err
	}
	if ev.data != nil {
		e.emitLocked(ev.place, ev.agent, ev.data)
	}
	e.append(entry)
	c := newCommit(e)
	e.submitLocked(&c.b, c.done)
	e.mu.Unlock()
	if err := c.wait(); err != nil {
		return e.breakWith(err)
	}
	return nil
}

// append buffers an entry for the next batch. e.mu is held.
func (e *execution) append(entry Entry) {
	e.ord++
	entry.Ord = e.ord
	entry.Seq = e.seq
	entry.Time = time.Now()
	e.entries = append(e.entries, entry)
}
