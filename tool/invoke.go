package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dossier/internal/base/trace"
	"dossier/llm"
	"dossier/run"
)

// Outcome is a result, or why there is none, as the loop records it.
type Outcome struct {
	Result
	// Failed says that the text tells what went wrong.
	Failed bool `json:"failed,omitempty"`
}

// AppendJSON implements run.JSONAppender.
func (o *Outcome) AppendJSON(buf []byte) ([]byte, error) {
	buf = slices.Grow(buf, 32+len(o.Text)+len(o.Text)/8+len(o.Data))
	buf = llm.AppendString(append(buf, `{"text":`...), o.Text)
	if o.Data != nil {
		buf = append(append(buf, `,"data":`...), o.Data...)
	}
	if !o.Change.IsZero() {
		change, err := json.Marshal(&o.Change)
		if err != nil {
			return nil, err
		}
		buf = append(append(buf, `,"change":`...), change...)
	}
	if o.Failed {
		buf = append(buf, `,"failed":true`...)
	}
	return append(buf, '}'), nil
}

// Guard bounds what a call may do.
type Guard struct {
	// Timeout replaces that of the tool where it is shorter; 0 leaves it.
	Timeout time.Duration
	// MostText bounds the text of a result, in characters; 0 is MostText.
	MostText int
	// Until ends when the call is not waited for any longer although the run
	// goes on, because it is to finish or its time is up; see
	// run.Scope.UntilFinish. Nil is never.
	Until context.Context
}

const (
	// MostText is how long the text of a result may be, in characters.
	MostText = 200_000
	// mostData bounds the data of a result, in bytes: it is recorded.
	mostData = 4 << 20
)

// ArgumentError says what is wrong with the arguments of a call, for a model.
type ArgumentError struct {
	Tool string
	Err  error
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("the arguments of %s don't fit: %v. Call it again with arguments that fit its schema.", e.Tool, e.Err)
}

func (e *ArgumentError) Unwrap() error { return e.Err }

// UnknownEffectError says that a call which changes something was left before it
// said how it ended: nobody knows whether it took effect. It is the failure of
// the call's step, so that the call is never made again by itself.
type UnknownEffectError struct {
	Tool string
	Why  error
}

func (e *UnknownEffectError) Error() string {
	return fmt.Sprintf("%s was left before it said how it ended (%v). It is unknown whether it took effect: don't call it again without finding that out", e.Tool, e.Why)
}

func (e *UnknownEffectError) Unwrap() error { return e.Why }

// Fault tells the kernel how to record the error.
func (e *UnknownEffectError) Fault() (code, hint string) {
	return run.CodeUnknownEffect, "find out whether it took effect before it is done again"
}

// leaveTime is how long a tool that may have changed something is waited for
// after it was told to stop: a program that it has started is to be gone, and
// what is done by then counts.
const leaveTime = 2 * time.Second

// Invoke calls a tool and turns whatever it does into an outcome: an error, a
// panic, no answer in time, too much text or text that is none. An error is
// returned when the run itself has to stop, when an effectful tool is not called
// because the run is to finish, and when it is unknown whether one took effect:
// an *UnknownEffectError.
//
// A tool that does not heed its context is left behind when its time is up, or
// when the run is to finish.
//
// The call is all that the step does in which it is made.
func Invoke(ctx context.Context, t Tool, c *Call, g Guard) (Outcome, error) {
	spec := t.Spec()
	span := trace.InStep(ctx, trace.Call{Tool: spec.Name, ID: c.ID, Elsewhere: spec.Elsewhere()})
	out, err := invoke(ctx, t, c, g)
	if out.Failed {
		span.Fail(codeFailed)
	}
	return out, err
}

// codeFailed is how a trace calls the failure of a tool; what it said of it is for
// the model.
const codeFailed = "tool_failed"

func invoke(ctx context.Context, t Tool, c *Call, g Guard) (Outcome, error) {
	if g.Until == nil {
		g.Until = ctx
	}
	spec := t.Spec()
	if spec.Effect == run.Effectful && g.Until.Err() != nil && ctx.Err() == nil {
		return Outcome{}, fmt.Errorf("%s was not called: %w", spec.Name, context.Cause(g.Until))
	}
	timeout := spec.Timeout
	if l, ok := t.(*late); ok {
		live, err := l.live(g.Until)
		if err != nil {
			return settle(ctx, spec, answer{err: err}, 0, g)
		}
		t, timeout = live, live.Spec().Timeout
	}
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	if g.Timeout > 0 && g.Timeout < timeout {
		timeout = g.Timeout
	}
	if e, ok := t.(early); ok {
		e.readArgs(c)
	}
	work, cancel := context.WithTimeoutCause(g.Until, timeout, errTooSlow)
	defer cancel()
	done, left := make(chan answer), work.Done()
	if spec.Effect.Changes() { // it is waited for a little longer
		over := make(chan struct{})
		defer close(over)
		left = over
	}
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a.err = &run.PanicError{Value: p, Stack: debug.Stack()}
			}
			select {
			case done <- a:
			case <-left: // nobody waits any more
			}
		}()
		a.result, a.err = t.Call(work, c)
	}()
	var a answer
	select {
	case a = <-done:
	case <-work.Done():
		a = leave(ctx, work, spec, done)
	}
	if a.err != nil && work.Err() != nil && ctx.Err() == nil && spec.Effect == run.Effectful {
		why := context.Cause(work)
		if errors.Is(why, errTooSlow) {
			why = fmt.Errorf("there was no answer in %s", timeout)
		}
		return Outcome{}, &UnknownEffectError{Tool: spec.Name, Why: why}
	}
	return settle(ctx, spec, a, timeout, g)
}

// leave is how a call ends that is not waited for any longer. One that may have
// changed something has a moment to stop.
func leave(ctx, work context.Context, spec *Spec, done <-chan answer) answer {
	if spec.Effect.Changes() && ctx.Err() == nil {
		moment := time.NewTimer(leaveTime)
		defer moment.Stop()
		select {
		case a := <-done:
			return a
		case <-moment.C:
		case <-ctx.Done():
		}
	}
	return answer{err: context.Cause(work)}
}

type answer struct {
	result Result
	err    error
}

var errTooSlow = errors.New("the tool took too long")

// settle turns an answer into an outcome.
func settle(ctx context.Context, spec *Spec, a answer, timeout time.Duration, g Guard) (Outcome, error) {
	if a.err == nil {
		return Outcome{Result: bound(a.result, g)}, nil
	}
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx)
	}
	if why := context.Cause(g.Until); why != nil {
		return Failure(why), nil
	}
	if run.Stopped(a.err) {
		return Outcome{}, a.err
	}
	return Failure(explain(spec, a.err, timeout)), nil
}

func explain(spec *Spec, err error, timeout time.Duration) error {
	if p, ok := errors.AsType[*run.PanicError](err); ok {
		return fmt.Errorf("%s broke down (%v). Do without it or call it differently", spec.Name, p.Value)
	}
	if errors.Is(err, errTooSlow) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s gave no answer in %s. Ask it for less, or do without it", spec.Name, timeout)
	}
	return err
}

// Failure is the outcome of a call that came to nothing.
func Failure(err error) Outcome {
	text := "Error: " + err.Error()
	return Outcome{Result: bound(Result{Text: text}, Guard{MostText: 4000}), Failed: true}
}

// Success is the outcome of a call that came to a result, within the bounds of
// what can be recorded and read.
func Success(r Result) Outcome { return Outcome{Result: bound(r, Guard{})} }

// bound makes a result that can be recorded and read.
func bound(r Result, g Guard) Result {
	most := g.MostText
	if most <= 0 {
		most = MostText
	}
	if !utf8.ValidString(r.Text) {
		r.Text = strings.ToValidUTF8(r.Text, "\uFFFD")
	}
	r.Text = Cut(r.Text, most)
	if len(r.Data) > mostData || r.Data != nil && !json.Valid(r.Data) {
		r.Data = nil
	}
	return r
}

// Cut shortens a text to so many characters and says how much is missing.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	n, end := 0, len(text)
	for i := range text {
		if n == most {
			end = i
			break
		}
		n++
	}
	if end == len(text) {
		return text
	}
	return text[:end] + fmt.Sprintf("\n[cut: %d more characters]", utf8.RuneCountInString(text[end:]))
}
