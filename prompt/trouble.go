package prompt

import (
	"context"
	"sync"
	"time"

	"dossier/event"
	"dossier/llm"
	"dossier/run"
)

// Caller is who calls a model in a step: its failures become events of it.
type Caller struct {
	Scope *run.Scope // of the step
	Role  llm.RoleName
	Model string
}

// quiet is how long a reply may be waited for before the user is told that it
// is, and again whenever it is twice as long.
const quiet = 10 * time.Second

// again is how often a failure is told anew while the next attempt is waited for, to
// those who began to listen since.
const again = 2 * time.Second

// Watch returns ctx with which calls tell of what goes wrong in them: at once
// to those who listen, and in the log. The caller ends the vigil when the reply
// is there, or won't come.
func (c Caller) Watch(ctx context.Context) (context.Context, *Vigil) {
	v := &Vigil{caller: c, began: time.Now()}
	v.ctx = llm.Watched{Context: ctx, Watcher: v}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.next = time.AfterFunc(quiet, v.tell)
	return &v.ctx, v
}

// Vigil is the wait for a model's reply.
type Vigil struct {
	caller Caller
	ctx    llm.Watched
	began  time.Time

	mu     sync.Mutex
	next   *time.Timer        // nil once it is over
	failed event.ModelWaiting // the last failure
	until  time.Time          // and when the attempt that follows it is made
}

// End says that nothing is waited for any more.
func (v *Vigil) End() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.next.Stop()
	v.next = nil
}

// tell says that the reply is still waited for, or the next attempt.
func (v *Vigil) tell() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.next == nil || v.ctx.Err() != nil {
		return
	}
	if wait := time.Until(v.until); wait > 0 {
		failed := v.failed
		failed.Wait = seconds(wait)
		_ = v.caller.Scope.Emit(failed)
		v.next.Reset(min(again, wait))
		return
	}
	so := time.Since(v.began)
	if so < quiet {
		v.next.Reset(quiet - so)
		return
	}
	_ = v.caller.Scope.Emit(event.ModelWaiting{Role: string(v.caller.Role), Model: v.caller.Model, Code: "quiet", Wait: so.Round(time.Second).Seconds()})
	v.next.Reset(so)
}

// CallFailed implements llm.Watcher.
func (v *Vigil) CallFailed(f llm.Failure) {
	failed := v.caller.failed(f.Err, f.Then)
	failed.Attempt, failed.Wait = f.Attempt, seconds(f.Wait)
	waiting := event.ModelWaiting{
		Role: failed.Role, Model: failed.Model, Code: failed.Code, Message: failed.Message, Attempt: failed.Attempt, Wait: failed.Wait,
	}
	_ = v.caller.Scope.Emit(waiting)
	v.mu.Lock()
	if v.next != nil && f.Wait > again {
		v.failed, v.until = waiting, time.Now().Add(f.Wait)
		v.began = v.until
		v.next.Reset(again)
	}
	v.mu.Unlock()
	_ = v.caller.Scope.Emit(failed) // a step that can't hold it can't end either, and says so
}

func seconds(d time.Duration) float64 { return d.Round(100 * time.Millisecond).Seconds() }

// Failed records that there was no reply, and what is done instead.
func (c Caller) Failed(err error, then llm.Consequence) error {
	return c.Scope.Emit(c.failed(err, then))
}

func (c Caller) failed(err error, then llm.Consequence) event.ModelFailed {
	return event.ModelFailed{Role: string(c.Role), Model: c.Model, Code: llm.CodeOf(err), Message: llm.CutMiddle(err.Error(), 150), Then: string(then)}
}

// clockKey is the context's key of a clock.
type clockKey struct{}

// clock bounds how long the models are waited for in a piece of work.
type clock struct {
	began time.Time
	limit time.Duration
}

// Within returns ctx for a piece of work in which models have so much time from
// now on, all decisions together; 0 is no bound. Decisions that prepare an
// answer (those of the summarizer) are due after half of it, so that it can be
// written. What is not decided in time is decided by rules.
func Within(ctx context.Context, limit time.Duration) context.Context {
	if limit <= 0 {
		return ctx
	}
	return context.WithValue(ctx, clockKey{}, clock{time.Now(), limit})
}

// due returns ctx with the time by which a decision of the role has to be made;
// least is the share of all time that it gets however late it is.
func due(ctx context.Context, role llm.RoleName, least float64) (context.Context, context.CancelFunc) {
	c, ok := ctx.Value(clockKey{}).(clock)
	if !ok {
		return context.WithCancel(ctx)
	}
	end := c.began.Add(c.limit)
	if role == llm.ForSummarizer {
		end = c.began.Add(c.limit / 2)
	}
	if own := time.Now().Add(time.Duration(least * float64(c.limit))); least > 0 && own.After(end) {
		end = own
	}
	return context.WithDeadlineCause(ctx, end, &lateError{c.limit})
}

// lateError says that a model was not ready in the time that there is.
type lateError struct{ limit time.Duration }

func (e *lateError) Error() string {
	return "the model was not ready in its part of the " + e.limit.String() + " that models have here"
}

// Fault tells the kernel how to record the error.
func (e *lateError) Fault() (code, hint string) {
	return "timeout", "use a faster model, or give this mode more time"
}
