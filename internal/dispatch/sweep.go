package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dossier/run"
)

// Sweep implements Dispatcher. What was left behind and is not yet in its turn is
// taken up when it is.
func (l *Local) Sweep(ctx context.Context) (int, error) {
	l.mu.Lock()
	l.all = true
	l.mu.Unlock()
	return l.sweep(ctx, true)
}

// sweep is Sweep of all that was left behind, or only of what is this
// process's own.
func (l *Local) sweep(ctx context.Context, all bool) (int, error) {
	select {
	case l.sweeps <- struct{}{}:
		defer func() { <-l.sweeps }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if err := l.Evict(ctx); err != nil {
		return 0, err
	}
	if err := l.settle(ctx); err != nil {
		return 0, err
	}
	if err := l.giveUp(ctx); err != nil {
		return 0, err
	}
	ids, err := l.Store.Orphans(ctx, l.Owner)
	if err != nil {
		return 0, err
	}
	ahead, err := l.ahead(ctx, all || len(ids) == 0)
	if err != nil {
		return 0, err
	}
	var errs []error
	n := 0
	for _, id := range ids {
		if !l.concerns(id, all, ahead) {
			continue
		}
		n++
		if err := l.Enqueue(ctx, id, Restored); err != nil && !errors.Is(err, run.ErrUnknownRun) {
			errs = append(errs, fmt.Errorf("run %s: %w", id, err))
		}
	}
	return n, errors.Join(errs...)
}

// concerns says whether an orphan is to be taken up here.
func (l *Local) concerns(id string, all bool, ahead map[string]bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stages[id] == absent && l.coming[id] == 0 && (all || l.mine[id] || ahead[id])
}

// ahead returns the runs that have the turns which runs here wait for. Those of
// them that were left behind go on here, or nobody might ever give these turns on.
// A process that takes up everything need not know.
func (l *Local) ahead(ctx context.Context, all bool) (map[string]bool, error) {
	here := l.waiting()
	if all || l.Turns == nil || len(here) == 0 {
		return nil, nil
	}
	ids, err := l.Turns.Holders(ctx, here)
	ahead := make(map[string]bool)
	for _, id := range ids {
		ahead[id] = true
	}
	return ahead, err
}

// waiting returns the runs that wait here for their turn.
func (l *Local) waiting() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var here []string
	for id, s := range l.stages {
		if s == waiting {
			here = append(here, id)
		}
	}
	slices.Sort(here)
	return here
}

// settle goes on with the runs that wait here and were given their turn elsewhere,
// and forgets that those wait which were taken out.
func (l *Local) settle(ctx context.Context) error {
	if l.Turns == nil {
		return nil
	}
	next, err := l.Turns.Settle(ctx)
	if err != nil {
		return err
	}
	l.ready(next...) // others are among the orphans
	here := l.waiting()
	if len(here) == 0 {
		return nil
	}
	turns, err := l.Turns.Standing(ctx, here)
	if err != nil {
		return err
	}
	for _, id := range here {
		has, in := turns[id]
		if has {
			l.ready(id)
		}
		l.mu.Lock()
		if !in && l.stages[id] == waiting {
			delete(l.stages, id)
		}
		l.mu.Unlock()
	}
	return nil
}

// setback is that of a run which could not be recorded here, for want of room. It
// is tried again after a pause, and after a longer one each time: what it does until
// it finds no room again is done for nothing.
type setback struct {
	due   time.Time
	pause time.Duration
	stuck bool // its lease was not given up
}

func (l *Local) setBack(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.setbacks[id]
	if b == nil {
		b = &setback{pause: sweepEvery / 2}
		l.setbacks[id] = b
	}
	b.pause = min(2*b.pause, max(l.TTL, sweepEvery))
	b.due, b.stuck = time.Now().Add(b.pause), true
}

// giveUp gives up the leases of runs whose time has come to be tried again: then
// they are among the orphans. The leases themselves would keep them for minutes.
func (l *Local) giveUp(ctx context.Context) error {
	var due []string
	l.mu.Lock()
	for id, b := range l.setbacks {
		if b.stuck && !time.Now().Before(b.due) {
			due = append(due, id)
		}
	}
	l.mu.Unlock()
	slices.Sort(due)
	for _, id := range due {
		rec, err := l.Store.Run(ctx, id)
		if err == nil && rec.Owner == l.Owner && rec.Status == run.Running && !l.exec.Live(id) {
			err = l.put(ctx, &run.Batch{Run: id, Epoch: rec.Epoch, State: &run.State{Status: run.Queued}, Release: true})
		}
		if err != nil && !errors.Is(err, run.ErrUnknownRun) && !errors.Is(err, run.ErrFenced) {
			return err
		}
		l.mu.Lock()
		if b := l.setbacks[id]; b != nil {
			b.stuck = false
		}
		if err != nil {
			delete(l.setbacks, id) // it is another's, or gone
		}
		l.mu.Unlock()
	}
	return nil
}

// put commits a batch and waits until it is durable.
func (l *Local) put(ctx context.Context, b *run.Batch) error {
	done := make(chan error, 1)
	l.Store.Commit(b, func(err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Evict ends the leases of workers that are dead.
func (l *Local) Evict(ctx context.Context) error {
	if l.Alive == nil {
		return nil
	}
	owners, err := l.Store.Owners(ctx)
	if err != nil {
		return err
	}
	for _, owner := range owners {
		if owner == l.Owner {
			continue
		}
		alive, err := l.Alive(owner) // whoever has a run was there before it
		if err != nil {
			return err
		}
		if alive {
			continue
		}
		l.Log.Info("a worker is gone", "worker", owner)
		if err := l.Store.Evict(ctx, owner); err != nil {
			return err
		}
	}
	return nil
}

// How often what others have changed is looked at, and how often a sweep is
// made, at the most.
const (
	lookEvery  = 100 * time.Millisecond
	sweepEvery = 5 * time.Second
)

// watching sweeps now and then, and takes in what others change.
func (l *Local) watching() {
	defer l.wg.Done()
	changes, stop := l.Store.Watch()
	defer stop()
	tick := time.NewTicker(min(l.TTL/3, sweepEvery))
	defer tick.Stop()
	rest := time.NewTimer(0)
	defer rest.Stop()
	<-rest.C
	for {
		var sweep bool
		select {
		case <-l.ctx.Done():
			return
		case <-changes:
			l.lookForFollowers()
			if err := l.exec.Look(l.ctx); err != nil && l.ctx.Err() == nil {
				l.Log.Warn("signals could not be looked for", "error", err)
			}
			sweep = l.expecting()
		case <-l.due:
			sweep = true
		case <-tick.C:
			sweep = true
			l.lookForFollowers()
		}
		if sweep {
			if _, err := l.sweep(l.ctx, l.Adopt); err != nil && l.ctx.Err() == nil {
				l.Log.Warn("a sweep failed", "error", err)
			}
		}
		rest.Reset(lookEvery)
		select {
		case <-rest.C:
		case <-l.ctx.Done():
			return
		}
	}
}

// lookForFollowers looks for all who follow runs of others at once, whether there
// is anything for them. Runs that are worked on here tell of themselves.
func (l *Local) lookForFollowers() {
	runs := l.hub.followed(func(id string) bool { return !l.exec.Live(id) })
	if len(runs) == 0 {
		return
	}
	last, err := l.Store.LastSeqs(l.ctx, runs)
	if err != nil {
		if l.ctx.Err() == nil {
			l.Log.Warn("what others do could not be looked at", "error", err) // the next look sees it
		}
		return
	}
	l.hub.found(runs, last)
}

// sweepSoon has a sweep made without waiting for the time of the next.
func (l *Local) sweepSoon() {
	select {
	case l.due <- struct{}{}:
	default:
	}
}

// expecting says whether a change may be one that a run here waits for.
func (l *Local) expecting() bool {
	return l.Adopt || len(l.waiting()) > 0
}
