package llm

import (
	"context"
	"errors"
	"time"
)

// Failure is a call that failed, or a reply that can't be used, and what is
// done about it: it is told while the call that it belongs to goes on.
type Failure struct {
	Err     error
	Attempt int // of this call, from 1
	Then    Consequence
	Wait    time.Duration // before it is repeated
}

// Consequence is what follows from a failure.
type Consequence string

// The consequences. The last three are decided by whoever wanted the reply.
const (
	ThenRepeated     Consequence = "repeated"      // the same call goes out again
	ThenAgain        Consequence = "again"         // the model is told what was wrong and asked again
	ThenOtherWay     Consequence = "other_way"     // what the endpoint refused is left out or asked for in another way
	ThenShorter      Consequence = "shorter"       // it goes out again with less of the conversation
	ThenWithoutTools Consequence = "without_tools" // an agent calls its tools in text
	ThenRules        Consequence = "rules"         // rules decide instead of the model
	ThenFailed       Consequence = "failed"        // nothing can be done without it
)

type watchKey struct{}

// Watcher is told of failures.
type Watcher interface{ CallFailed(Failure) }

// Watched is a context with which calls tell the watcher of every failure that
// they work around, at once and from the caller's goroutine.
type Watched struct {
	context.Context
	Watcher Watcher
}

// Value implements context.Context.
func (w *Watched) Value(key any) any {
	if key == (watchKey{}) {
		return w.Watcher
	}
	return w.Context.Value(key)
}

func tell(ctx context.Context, f Failure) {
	if w, ok := ctx.Value(watchKey{}).(Watcher); ok {
		w.CallFailed(f)
	}
}

type replaceableKey struct{}

// Replaceable returns a context for calls that something can stand in for: they
// don't wait for an endpoint that is believed to be down, nor for a repetition
// that would come after ctx's deadline.
func Replaceable(ctx context.Context) context.Context {
	return context.WithValue(ctx, replaceableKey{}, true)
}

func replaceable(ctx context.Context) bool { return ctx.Value(replaceableKey{}) != nil }

// CodeOf names what went wrong, as a run's events do: the kind of an *Error,
// "no_object" for a reply that doesn't fit, what another error says of itself,
// else "failed".
func CodeOf(err error) string {
	if kind := KindOf(err); kind != "" {
		return string(kind)
	}
	if errors.Is(err, ErrNoObject) {
		return "no_object"
	}
	var named interface{ Fault() (code, hint string) }
	if errors.As(err, &named) {
		code, _ := named.Fault()
		return code
	}
	return "failed"
}
