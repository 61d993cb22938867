package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
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

// Check says which of the limits is none: zero is no limit, and less is nothing.
func (l Limits) Check() error {
	for _, limit := range []struct {
		what string
		less bool
	}{{"tokens", l.Tokens < 0}, {"cost", l.Cost < 0}, {"time", l.Time < 0}, {Searches, l.Searches < 0}, {Pages, l.Pages < 0}} {
		if limit.less {
			return fmt.Errorf("the limit of %s is less than nothing", limit.what)
		}
	}
	return nil
}

// Raise returns the limits with those that to names, and the names, as
// BudgetError has them, of those that are higher for it. The limits of searches
// and pages, by which a run's code plans, can only be raised.
func (l Limits) Raise(to Limits) (_ Limits, raised []string, err error) {
	for _, planned := range []struct {
		what   string
		is, to int
	}{{Searches, l.Searches, to.Searches}, {Pages, l.Pages, to.Pages}} {
		if planned.to > 0 && planned.to <= planned.is || planned.to > 0 && planned.is == 0 {
			return l, nil, fmt.Errorf("the limit of %s can only be raised, and it is %s", planned.what, orNone(planned.is))
		}
	}
	raised = slices.Concat(
		replace("tokens", &l.Tokens, to.Tokens), replace("cost", &l.Cost, to.Cost), replace("time", &l.Time, to.Time),
		replace(Searches, &l.Searches, to.Searches), replace(Pages, &l.Pages, to.Pages))
	return l, raised, nil
}

func orNone(limit int) string {
	if limit == 0 {
		return "none"
	}
	return strconv.Itoa(limit)
}

// replace sets a limit unless to names none, and returns its name if it is
// higher for that.
func replace[N int | float64 | time.Duration](what string, is *N, to N) (raised []string) {
	if to > 0 {
		if *is > 0 && to > *is {
			raised = []string{what}
		}
		*is = to
	}
	return raised
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
	return codeBudget, "raise the limit and resume the run"
}

const codeBudget = "budget"

// ErrFinish says that the run was told to finish now. For the run's code it is
// the same as a spent budget.
var ErrFinish error = finishError{}

type finishError struct{}

func (finishError) Error() string { return "the run was told to finish with what there is" }

// Fault implements the kernel's way to record an error.
func (finishError) Fault() (code, hint string) {
	return "finished", "there was nothing yet to finish with: resume the run to let it go on"
}

// Reason is why less was done, as steps record it for users: a spent budget
// without its figures, which differ from step to step.
func Reason(err error) string {
	if limit, ok := errors.AsType[*BudgetError](err); ok {
		return "the budget of " + limit.What + " is spent"
	}
	if errors.Is(err, ErrFinish) {
		return "the run was told to finish"
	}
	return err.Error()
}

// Budget is what a run may still spend, shared by all its branches.
type Budget struct{ scope *Scope }

// Budget of the run.
func (s *Scope) Budget() Budget { return Budget{s} }

// Searches and Pages are limits that concern only those who search or read: a
// run that may read no more pages can still write about those it has read.
const (
	Searches = "searches"
	Pages    = "pages"
)

// Check is called before each call that costs something, with the limits that
// the call counts against beside tokens, cost and time, which concern all. It
// returns a *BudgetError when a limit is reached, ErrFinish when the run was
// told to finish, and nil otherwise. Outside a step the outcome is recorded, so
// that a resumed or replayed run decides the same at the same place; inside it
// is part of the step.
func (b Budget) Check(limits ...string) error {
	s, e := b.scope, b.scope.exec
	if s.inStep {
		e.mu.Lock()
		defer e.mu.Unlock()
		c := e.checkBudget(limits)
		s.fall(c.short())
		return c.err()
	}
	s.checks++
	key := s.path + "$" + strconv.Itoa(s.checks)
	var c check
	if entry, ok := s.recall(EntryCheck, key); ok {
		if err := json.Unmarshal(entry.Value, &c); err != nil {
			return fmt.Errorf("run: the journal's budget check %s: %w", key, err)
		}
		return c.err()
	}
	if err := e.recordCheck(s, key, func() check { c = e.checkBudget(limits); return c }); err != nil {
		return err
	}
	return c.err()
}

// Reserve counts one of the searches or pages as spent until release is called,
// or returns a *BudgetError when its limit is reached: those who do the same at
// once stay within it together. It is for steps; what came of it is charged
// before the release.
func (b Budget) Reserve(limit string) (release func(), err error) {
	s, e := b.scope, b.scope.exec
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, g := range e.gauges() {
		if g.what == limit && g.limit > 0 && g.spent+float64(e.reserved[limit]) >= g.limit {
			e.warnBudget()
			s.fall(limit)
			return nil, &BudgetError{What: limit, Limit: g.limit, Spent: g.spent}
		}
	}
	if e.reserved == nil {
		e.reserved = make(map[string]int)
	}
	e.reserved[limit]++
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.reserved[limit]--
	}, nil
}

// Allot says how many of the searches or pages that are wanted beside those
// already planned stay within the limit, for code that plans before it spends.
// Where that is fewer, code outside a step calls Short behind what it does with
// them: a limit that is raised later is met there anew.
func (b Budget) Allot(limit string, planned, wanted int) int {
	s, e := b.scope, b.scope.exec
	most := e.limits.Searches
	if limit == Pages {
		most = e.limits.Pages
	}
	if most <= 0 || planned+wanted <= most {
		return wanted
	}
	if s.inStep {
		e.mu.Lock()
		defer e.mu.Unlock()
		s.fall(limit)
	}
	return max(0, most-planned)
}

// Short records that less was done up to here than was wanted, because of a
// limit.
func (b Budget) Short(limit string) error {
	s := b.scope
	s.checks++
	return s.exec.recordCheck(s, s.path+"$"+strconv.Itoa(s.checks), func() check {
		return check{What: limit}
	})
}

// check is the outcome of a budget check: the value of an EntryCheck.
type check struct {
	Finish bool    `json:"finish,omitempty"`
	What   string  `json:"what,omitempty"`
	Limit  float64 `json:"limit,omitempty"`
	Spent  float64 `json:"spent,omitempty"`
}

func (c check) err() error {
	switch {
	case c.Finish:
		return ErrFinish
	case c.What != "":
		return &BudgetError{What: c.What, Limit: c.Limit, Spent: c.Spent}
	}
	return nil
}

// fall notes why the step whose scope s is falls short, if it does. e.mu is
// held.
func (s *Scope) fall(short string) {
	if s.short == "" {
		s.short = short
	}
}

// short is what Entry.Short says of the outcome.
func (c check) short() string {
	if c.Finish {
		return shortFinish
	}
	return c.What
}

// checkBudget looks at the budget as it is now. e.mu is held.
func (e *execution) checkBudget(limits []string) check {
	if e.finishing {
		return check{Finish: true}
	}
	for _, g := range e.gauges() {
		if (g.what == Searches || g.what == Pages) && !slices.Contains(limits, g.what) {
			continue
		}
		if g.limit > 0 && g.spent >= g.limit {
			e.warnBudget()
			return check{What: g.what, Limit: g.limit, Spent: g.spent}
		}
	}
	return check{}
}

// recordCheck records what a look at the budget finds, once.
func (e *execution) recordCheck(s *Scope, key string, look func() check) error {
	if _, done := s.recall(EntryCheck, key); done {
		return nil
	}
	if e.replay != nil {
		return e.live("budget check "+key, s.branch)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.refuseLocked(); err != nil {
		return err
	}
	c := look()
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	e.append(s.branch, Entry{Kind: EntryCheck, Key: key, Value: raw, Short: c.short()})
	e.flagLocked()
	return nil
}

// Spent returns what the run has cost so far.
func (b Budget) Spent() Spent {
	e := b.scope.exec
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.spent
}

type gauge struct {
	what         string
	limit, spent float64
}

// gauges returns each limit with what is spent of it. e.mu is held.
func (e *execution) gauges() [5]gauge {
	return [5]gauge{
		{"tokens", float64(e.limits.Tokens), float64(e.spent.InputTokens + e.spent.OutputTokens)},
		{"cost", e.limits.Cost, e.spent.Cost},
		{"time", e.limits.Time.Seconds(), e.worked().Seconds()},
		{Searches, float64(e.limits.Searches), float64(e.spent.Searches)},
		{Pages, float64(e.limits.Pages), float64(e.spent.Pages)},
	}
}

// worked is the run's active time.
func (e *execution) worked() time.Duration {
	if e.replay != nil {
		return e.rec.Active
	}
	return e.rec.Active + time.Since(e.started)
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
		at := fmt.Sprintf("budget/%s/%g", g.what, g.limit) // a limit that was raised is told of again
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
		e.tellLocked(at, event.BudgetWarning{What: g.what, Limit: g.limit, Spent: g.spent, Hit: hit})
	}
}

// kernelPlace begins the places of events that the kernel itself emits: they
// tell of the run's fate in the world and are not part of its code.
const kernelPlace = "@"
