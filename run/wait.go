package run

import (
	"context"
	"fmt"
	"runtime/debug"
)

// The kernel knows how many goroutines of a run are at work. When all of them
// are blocked in the kernel nothing can happen any more without the outside:
// a run with an open question is parked then, and one without is stuck.

type waitKind int

const (
	waitAsk waitKind = iota
	waitReceive
	waitTask
)

// waiter is a goroutine of the run that is blocked in the kernel.
type waiter struct {
	kind waitKind
	key  string
	ch   chan struct{}
	err  error
}

// block waits until somebody wakes w. e.mu is held on entry and on return.
func (e *execution) block(ctx context.Context, w *waiter) error {
	w.ch = make(chan struct{})
	if e.waiters == nil {
		e.waiters = make(map[*waiter]struct{})
	}
	e.waiters[w] = struct{}{}
	e.active--
	e.checkIdle()
	e.mu.Unlock()
	var cause error
	select {
	case <-w.ch:
	case <-ctx.Done():
		cause = context.Cause(ctx)
	}
	e.mu.Lock()
	if _, waiting := e.waiters[w]; waiting { // ctx ended it
		delete(e.waiters, w)
		e.active++
		return cause
	}
	return w.err
}

// wake lets w go on; it counts as active from here. e.mu is held.
func (e *execution) wake(w *waiter) {
	if _, waiting := e.waiters[w]; !waiting {
		return
	}
	delete(e.waiters, w)
	e.active++
	close(w.ch)
}

// checkIdle acts when the last active goroutine has blocked. e.mu is held.
func (e *execution) checkIdle() {
	if e.active > 0 || len(e.waiters) == 0 {
		return
	}
	asking := false
	for w := range e.waiters {
		asking = asking || w.kind == waitAsk
	}
	if asking {
		e.haltLocked(ErrParked, true)
		return
	}
	for w := range e.waiters {
		if w.kind == waitReceive {
			w.err = ErrNoSender
			e.wake(w)
		}
	}
}

// Task is a branch of a run's work that goes on in parallel.
type Task struct {
	exec    *execution
	branch  *branch
	in      *branch // that it was started in
	ended   bool
	err     error
	waiting []*waiter
}

// Go starts fn in parallel, in the child scope name of s. It is the way to do
// things in parallel in a run, since the kernel then knows when the whole run
// waits. A panic in fn is its error. A run ends only when all its tasks have.
func Go(ctx context.Context, s *Scope, name string, fn Func) *Task {
	child := s.Child(name)
	e := s.exec
	child.branch = s.branch.from(child.path)
	t := &Task{exec: e, branch: child.branch, in: s.branch}
	e.mu.Lock()
	e.active++
	e.mu.Unlock()
	go func() {
		err := protect(ctx, child, fn)
		e.mu.Lock()
		defer e.mu.Unlock()
		t.ended, t.err = true, err
		for _, w := range t.waiting {
			e.wake(w)
		}
		e.active--
		if e.drainer != nil {
			e.wake(e.drainer)
		}
		e.checkIdle()
	}()
	return t
}

// Wait returns the task's error once it has ended, to the branch that started
// it.
func (t *Task) Wait(ctx context.Context) error {
	e := t.exec
	e.mu.Lock()
	defer e.mu.Unlock()
	for !t.ended {
		w := &waiter{kind: waitTask}
		t.waiting = append(t.waiting, w)
		if err := e.block(ctx, w); err != nil {
			return err
		}
	}
	t.in.saw(t.branch.seen.Load())
	return t.err
}

// All waits for every task and returns the first error in their order. Errors
// with which the kernel stops the run come before failures of the work.
func All(ctx context.Context, tasks ...*Task) error {
	var first error
	for _, t := range tasks {
		err := t.Wait(context.WithoutCancel(ctx))
		if err != nil && (first == nil || Stopped(err) && !Stopped(first)) {
			first = err
		}
	}
	return first
}

// protect runs fn and turns a panic into an error.
func protect(ctx context.Context, s *Scope, fn Func) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	return fn(ctx, s)
}

// PanicError is a panic in a run's code. It ends that run and nothing else.
type PanicError struct {
	Value any
	Stack []byte
}

func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Fault implements the kernel's way to record an error.
func (p *PanicError) Fault() (code, hint string) {
	return "panic", "this is a bug in dossier: the log has the stack, please report it"
}
