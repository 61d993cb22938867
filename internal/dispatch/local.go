package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"dossier/event"
	"dossier/run"
)

// stage is how far a run is here.
type stage int

const (
	absent    stage = iota
	entering        // it is being asked whether it is its turn
	waiting         // for its turn
	queued          // for a worker
	executing       // a worker is on it
	again           // a worker is on it, and there is more to do after that
)

// Local is a dispatcher whose workers are goroutines of this process. Other
// processes on the same store have their own.
type Local struct {
	Options
	exec *run.Executor
	hub  *hub

	// sweeps has room for the one under way: they take turns, so that runs come
	// to wait in the order in which one finds them.
	sweeps chan struct{}

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	stages  map[string]stage
	mine    map[string]bool // runs that this process is to bring to their end or rest
	queue   []string
	running int
	all     bool // whatever was left behind is taken up here
	closed  bool
}

var _ Dispatcher = (*Local)(nil)

// NewLocal starts a dispatcher; Close ends it.
func NewLocal(o Options) *Local {
	if o.TTL <= 0 {
		o.TTL = run.DefaultTTL
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Left == nil {
		o.Left = func(string, run.Status) {}
	}
	l := &Local{Options: o, hub: newHub(), stages: make(map[string]stage), mine: make(map[string]bool), all: o.Adopt, sweeps: make(chan struct{}, 1)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.exec = run.NewExecutor(run.ExecutorConfig{
		Journal: o.Store, Owner: o.Owner, TTL: o.TTL, Program: o.Program, Publish: l.hub.publish, Log: o.Log,
	})
	l.wg.Add(1)
	go l.watching()
	return l
}

// Close implements Dispatcher.
func (l *Local) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.cancel()
	l.wg.Wait()
	l.exec.Close()
	if len(l.mine) == 0 {
		return
	}
	if err := l.Store.Evict(context.Background(), l.Owner); err != nil { // others find out when they look for this worker
		l.Log.Warn("what was left is not given up", "error", err)
	}
}

// Enqueue implements Dispatcher.
func (l *Local) Enqueue(ctx context.Context, id string, how Entry) error {
	switch l.noted(id, entering) {
	case absent:
	case executing, again:
		return nil // it is looked at once more
	default:
		return nil // it waits already
	}
	rec, err := l.Store.Run(ctx, id)
	if err == nil && rec.Owner != "" && rec.Owner != l.Owner && time.Now().Before(rec.LeaseUntil) {
		l.drop(id) // another process is on it, and finds what there is to do
		return nil
	}
	next := []string{id}
	if err == nil && l.Turns != nil && !rec.Status.Ended() {
		next, err = l.Turns.Enter(ctx, rec, how)
	}
	if err != nil {
		l.drop(id)
		return err
	}
	l.ready(next...)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stages[id] == entering {
		l.stages[id] = waiting
	}
	return nil
}

// noted returns the stage of a run and sets that of an absent one; one that is
// executed is to be executed again.
func (l *Local) noted(id string, as stage) stage {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.stages[id]
	switch {
	case l.closed:
		return waiting
	case was == absent:
		l.stages[id], l.mine[id] = as, true
	case was == executing:
		l.stages[id] = again
	}
	return was
}

// drop takes a run off those that are worked on here.
func (l *Local) drop(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.stages, id)
	delete(l.mine, id)
}

// ready has runs executed whose turn has come.
func (l *Local) ready(ids ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		if was := l.stages[id]; l.closed || was != waiting && was != entering {
			continue
		}
		l.stages[id] = queued
		if l.Workers > 0 && l.running >= l.Workers {
			l.queue = append(l.queue, id)
		} else {
			l.startLocked(id)
		}
	}
}

func (l *Local) startLocked(id string) {
	l.running++
	l.wg.Add(1)
	go l.work(id)
}

// hurry has a run executed at once, for a moment beyond the number of workers.
func (l *Local) hurry(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.Index(l.queue, id)
	switch was := l.stages[id]; {
	case l.closed:
		return
	case at >= 0:
		l.queue = slices.Delete(l.queue, at, at+1)
	case was == executing:
		l.stages[id] = again
		return
	case was == again, was == queued: // a worker is on it, or about to be
		return
	}
	l.stages[id], l.mine[id] = queued, true
	l.startLocked(id)
}

// work executes a run, and then whatever else is queued.
func (l *Local) work(id string) {
	defer l.wg.Done()
	for more := true; more; {
		l.execute(id)
		l.mu.Lock()
		if more = len(l.queue) > 0 && !l.closed && (l.Workers == 0 || l.running <= l.Workers); more {
			id, l.queue = l.queue[0], l.queue[1:]
		} else {
			l.running--
		}
		l.mu.Unlock()
	}
}

// execute works on a run until there is nothing more to do for it now.
func (l *Local) execute(id string) {
	for {
		l.mu.Lock()
		l.stages[id] = executing
		l.mu.Unlock()
		status, err := l.exec.Execute(l.ctx, id)
		l.told(id, status, err)
		l.mu.Lock()
		more := l.stages[id] == again && !l.closed && err == nil
		l.mu.Unlock()
		if more {
			continue
		}
		leaves := status.Ended() || status == run.Waiting || status == run.Paused || errors.Is(err, run.ErrEnded) || errors.Is(err, run.ErrUnknownRun)
		if leaves {
			l.leave(id)
		}
		l.mu.Lock()
		more = l.stages[id] == again && !l.closed
		delete(l.stages, id)
		if leaves {
			delete(l.mine, id)
		}
		l.mu.Unlock()
		if more {
			if err := l.Enqueue(l.ctx, id, Resumed); err != nil {
				l.Log.Error("a run could not go on", "run", id, "error", err)
			}
		}
		return
	}
}

// told says how an execution ended.
func (l *Local) told(id string, status run.Status, err error) {
	switch {
	case err == nil:
		l.Log.Debug("a worker left a run", "run", id, "status", status)
		l.Left(id, status)
	case errors.Is(err, run.ErrEnded), errors.Is(err, run.ErrLeased), errors.Is(err, run.ErrUnknownRun), l.ctx.Err() != nil:
	case errors.Is(err, run.ErrLapsed), errors.Is(err, run.ErrFenced):
		l.Log.Warn("a run was lost to others", "run", id, "error", err) // the next sweep sees what became of it
	default:
		l.Log.Error("a run stopped", "run", id, "error", err)
		l.hub.publish(event.Event{Run: id, Time: time.Now(), Data: event.RunError{
			Code: "storage", Message: err.Error(), Hint: "nothing that was recorded is lost: `dossier runs resume " + id + "` goes on",
			Fatal: true,
		}})
	}
}

// leave gives the turn of a run to the next.
func (l *Local) leave(id string) {
	if l.Turns == nil {
		return
	}
	next, err := l.Turns.Leave(context.WithoutCancel(l.ctx), id)
	if err != nil {
		l.Log.Error("a run's turn was not given on", "run", id, "error", err) // the next sweep does it
	}
	l.ready(next...)
	for _, id := range next {
		l.takeUp(id)
	}
}

// takeUp goes on with a run whose turn has come and that nobody waits for: the
// process that did is gone. Where one does, it finds out.
func (l *Local) takeUp(id string) {
	l.mu.Lock()
	foreign := l.stages[id] == absent
	takes := l.all && !l.closed
	l.mu.Unlock()
	if !foreign || !takes {
		return
	}
	rec, err := l.Store.Run(l.ctx, id)
	if err == nil && (rec.Home == "" || rec.Home == l.Owner) {
		err = l.Enqueue(l.ctx, id, Restored)
	}
	if err != nil && !errors.Is(err, run.ErrUnknownRun) && l.ctx.Err() == nil {
		l.Log.Error("a run could not go on", "run", id, "error", err) // the next sweep tries again
	}
}

// Busy returns the runs that wait here or are worked on.
func (l *Local) Busy() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.stages))
}

// Signal implements Dispatcher.
func (l *Local) Signal(ctx context.Context, id string, s run.Signal) error {
	s.Time = time.Now()
	if err := l.Store.Signal(ctx, id, s); err != nil {
		return err
	}
	if s.Kind != run.SignalPause && s.Kind != run.SignalCancel {
		return l.Wake(ctx, id)
	}
	live, err := l.exec.Notify(ctx, id)
	if err != nil || live {
		return err
	}
	if l.Turns != nil {
		if _, err := l.Turns.Withdraw(ctx, id); err != nil {
			return err
		}
	}
	l.hurry(id)
	return nil
}

// Wake implements Dispatcher.
func (l *Local) Wake(ctx context.Context, id string) error {
	live, err := l.exec.Notify(ctx, id)
	if err != nil || live {
		return err
	}
	return l.Enqueue(ctx, id, Resumed)
}

// Forget implements Dispatcher.
func (l *Local) Forget(ctx context.Context, id string) {
	l.mu.Lock()
	if at := slices.Index(l.queue, id); at >= 0 {
		l.queue = slices.Delete(l.queue, at, at+1)
		delete(l.stages, id)
	}
	if was := l.stages[id]; was == waiting || was == entering {
		delete(l.stages, id)
	}
	delete(l.mine, id)
	l.mu.Unlock()
	l.leave(id)
	l.hub.publish(event.Event{Run: id, Time: time.Now(), Data: event.RunError{
		Code: "deleted", Message: "the run was deleted", Fatal: true,
	}})
}

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
	ids, err := l.Store.Orphans(ctx, l.Owner)
	if err != nil {
		return 0, err
	}
	var errs []error
	n := 0
	for _, id := range ids {
		if !l.concerns(id, all) {
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
func (l *Local) concerns(id string, all bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stages[id] == absent && (all || l.mine[id])
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
	l.mu.Lock()
	var here []string
	for id, s := range l.stages {
		if s == waiting {
			here = append(here, id)
		}
	}
	l.mu.Unlock()
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
		sweep := false
		select {
		case <-l.ctx.Done():
			return
		case <-changes:
			l.hub.poke()
			if err := l.exec.Look(l.ctx); err != nil && l.ctx.Err() == nil {
				l.Log.Warn("signals could not be looked for", "error", err)
			}
			sweep = l.expecting()
		case <-tick.C:
			sweep = true
			l.hub.poke()
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

// expecting says whether a change may be one that a run here waits for.
func (l *Local) expecting() bool {
	if l.Adopt {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.stages {
		if s == waiting {
			return true
		}
	}
	return false
}
