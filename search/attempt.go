package search

import (
	"context"
	"errors"
	"fmt"
)

// open asks an engine that may not be an Opener.
func open(ctx context.Context, e Engine, url string) (Hit, error) {
	if o, ok := e.(Opener); ok {
		return o.Open(ctx, url)
	}
	return Hit{}, ErrNotMine
}

// tell writes an engine's part in a search.
func tell(ctx context.Context, engine string, found int, cached bool, err error) {
	a := Attempt{Engine: engine, Found: found, Cached: cached}
	if err != nil {
		a.Found, a.Reason = 0, Stopped
		if e, ok := errors.AsType[*Error](err); ok {
			a.Reason, a.Detail = e.Reason, e.Detail
			if e.Status != 0 && a.Detail != "" {
				a.Detail = fmt.Sprintf("HTTP %d: %s", e.Status, e.Detail)
			} else if e.Status != 0 {
				a.Detail = fmt.Sprintf("HTTP %d", e.Status)
			}
		}
	}
	TraceOf(ctx).Tried(a)
}

// failure is err as the contract of Searcher wants it: ctx's own if it has
// ended, an *Error or *ExhaustedError otherwise. What else an engine returns may
// repeat a key, so that only its type is told.
func failure(ctx context.Context, engine string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*ExhaustedError](err); ok {
		return err
	}
	return unexpected(engine, err)
}

func unexpected(engine string, err error) *Error {
	return &Error{Engine: engine, Reason: Unavailable, Detail: fmt.Sprintf("it failed with an unexpected %T", err), Err: err}
}

// nameOf is the name of an engine; other searchers have none.
func nameOf(s Searcher) string {
	if e, ok := s.(Engine); ok {
		return e.Info().Name
	}
	return "search"
}

// ask asks in a goroutine of ours, which a panic may not take down: nobody
// above could catch it.
func ask(ctx context.Context, name string, search func(context.Context) ([]Hit, error)) (hits []Hit, err error) {
	defer func() {
		if p := recover(); p != nil {
			hits, err = nil, &Error{Engine: name, Reason: Malformed, Detail: "reading its reply went wrong", Err: fmt.Errorf("panic: %v", p)}
		}
	}()
	return search(ctx)
}
