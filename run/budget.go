package run

import (
	"errors"
	"fmt"
	"time"

	"dossier/event"
)

// Limits bound what a run may spend; zero means no limit.
type Limits struct {
	Tokens   int           `json:"tokens,omitempty"`
	Cost     float64       `json:"cost,omitempty"` // USD
	Time     time.Duration `json:"time,omitempty"` // active time
	Searches int           `json:"searches,omitempty"`
	Pages    int           `json:"pages,omitempty"`
}

// warnShare is the share of a limit at which the user is warned.
const warnShare = 0.8

// BudgetError says which limit is reached. The run still ends in an answer
// made of what there is.
type BudgetError struct {
	What         string // tokens, cost, time, searches, pages
	Limit, Spent float64
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("the budget of %s is spent: %g of %g", e.What, e.Spent, e.Limit)
}

// Fault implements the kernel's way to record an error.
func (e *BudgetError) Fault() (code, hint string) {
	return "budget", "raise the limit and resume the run"
}

// ErrFinish says that the run was told to finish now. For the run's code it is
// the same as a spent budget.
var ErrFinish = errors.New("the run was told to finish with what there is")

// Budget is what a run may still spend, shared by all its branches.
type Budget struct{ exec *execution }

// Budget of the run.
func (s *Scope) Budget() Budget { return Budget{s.exec} }

// Check is called before each call that costs something. It returns a
// *BudgetError when a limit is reached, ErrFinish when the run was told to
// finish, and nil otherwise.
func (b Budget) Check() error {
	e := b.exec
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.finishing {
		return ErrFinish
	}
	for _, g := range e.gauges() {
		if g.limit > 0 && g.spent >= g.limit {
			e.warnBudget()
			return &BudgetError{What: g.what, Limit: g.limit, Spent: g.spent}
		}
	}
	return nil
}

// Spent returns what the run has cost so far.
func (b Budget) Spent() Spent {
	b.exec.mu.Lock()
	defer b.exec.mu.Unlock()
	return b.exec.spent
}

// Limits of the run.
func (b Budget) Limits() Limits { return b.exec.limits }

type gauge struct {
	what         string
	limit, spent float64
}

// gauges returns each limit with what is spent of it. e.mu is held.
func (e *execution) gauges() [5]gauge {
	active := e.rec.Active
	if e.replay == nil {
		active += time.Since(e.started)
	}
	return [5]gauge{
		{"tokens", float64(e.limits.Tokens), float64(e.spent.InputTokens + e.spent.OutputTokens)},
		{"cost", e.limits.Cost, e.spent.Cost},
		{"time", e.limits.Time.Seconds(), active.Seconds()},
		{"searches", float64(e.limits.Searches), float64(e.spent.Searches)},
		{"pages", float64(e.limits.Pages), float64(e.spent.Pages)},
	}
}

// warnBudget tells the user, once each, that a limit is near and that it is
// reached. e.mu is held.
func (e *execution) warnBudget() {
	if e.limits == (Limits{}) || e.replay != nil {
		return
	}
	for _, g := range e.gauges() {
		if g.limit <= 0 || g.spent < warnShare*g.limit {
			continue
		}
		hit := g.spent >= g.limit
		at := kernelPlace + "budget/" + g.what
		if hit {
			at += "/hit"
		}
		if e.warned[at] {
			continue
		}
		if e.warned == nil {
			e.warned = make(map[string]bool)
		}
		e.warned[at] = true
		e.emitLocked(at, "", event.BudgetWarning{What: g.what, Limit: g.limit, Spent: g.spent, Hit: hit})
	}
}

// kernelPlace begins the places of events that the kernel itself emits: they
// tell of the run's fate in the world and are not part of its code.
const kernelPlace = "@"
