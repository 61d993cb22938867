package dispatch

import (
	"context"
	"errors"
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
	// due tells that one is to be made soon.
	due chan struct{}

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	stages   map[string]stage
	mine     map[string]bool // runs that this process is to bring to their end or rest
	coming   map[string]int  // runs that are about to be enqueued: how many callers are
	setbacks map[string]*setback
	queue    []string
	running  int
	all      bool // whatever was left behind is taken up here
	closed   bool
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
	l := &Local{
		Options: o, hub: newHub(), sweeps: make(chan struct{}, 1), due: make(chan struct{}, 1),
		stages: make(map[string]stage), mine: make(map[string]bool), setbacks: make(map[string]*setback), coming: make(map[string]int), all: o.Adopt,
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.exec = run.NewExecutor(run.ExecutorConfig{
		Journal: o.Store, Owner: o.Owner, TTL: o.TTL, Program: o.Program, Watch: o.Watch, Publish: l.hub.publish, Log: o.Log,
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

// Expect implements Dispatcher.
func (l *Local) Expect(id string) (over func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.coming[id]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.coming[id]--; l.coming[id] == 0 {
			delete(l.coming, id)
		}
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
	return l.enter(ctx, id, how)
}

// enter lets a run whose stage is entering wait for its turn.
func (l *Local) enter(ctx context.Context, id string, how Entry) error {
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
		if l.stages[id] = waiting; !l.Adopt {
			l.sweepSoon() // those that it waits for may have been left behind
		}
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
	l.execute(id)
	for {
		id, more := l.nextOrEnd()
		switch {
		case !more:
			return
		case l.hasTurn(id):
			l.execute(id)
		}
	}
}

// nextOrEnd takes the first of the queue for a worker, which ends if there is none.
func (l *Local) nextOrEnd() (id string, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if more = len(l.queue) > 0 && !l.closed && (l.Workers == 0 || l.running <= l.Workers); more {
		id, l.queue = l.queue[0], l.queue[1:]
	} else {
		l.running--
	}
	return id, more
}

// hasTurn says whether a run that has waited for a worker still has its turn. If
// another process was faster with it and has left it, it has not: then it is
// nobody's here, and what there may be to do for it is found by a sweep.
func (l *Local) hasTurn(id string) bool {
	if l.Turns == nil {
		return true
	}
	turns, err := l.Turns.Standing(l.ctx, []string{id})
	if err == nil && turns[id] {
		return true
	}
	if err != nil && l.ctx.Err() == nil {
		l.Log.Error("whose turn it is could not be seen", "run", id, "error", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.stages, id)
	l.sweepSoon()
	return false
}

// execute works on a run until it rests, and lets it wait for its turn again when
// there was more to do for it by then: one that came here only to rest has none.
func (l *Local) execute(id string) {
	l.mu.Lock()
	l.stages[id] = executing
	l.mu.Unlock()
	status, err := l.exec.Execute(l.ctx, id)
	l.told(id, status, err)
	leaves := status.Ended() || status == run.Waiting || status == run.Paused || errors.Is(err, run.ErrEnded) || errors.Is(err, run.ErrUnknownRun)
	if leaves {
		l.leave(id)
	}
	l.mu.Lock()
	more := l.stages[id] == again && !l.closed
	if more {
		l.stages[id], l.mine[id] = entering, true // and no sweep finds it meanwhile
	} else {
		delete(l.stages, id)
		if leaves {
			delete(l.mine, id)
		}
	}
	l.mu.Unlock()
	if !more {
		return
	}
	if err := l.enter(l.ctx, id, Resumed); err != nil {
		l.Log.Error("a run could not go on", "run", id, "error", err)
	}
}

// told says how an execution ended.
func (l *Local) told(id string, status run.Status, err error) {
	switch {
	case err == nil:
		l.Log.Debug("a worker left a run", "run", id, "status", status)
		l.Left(id, status)
		l.mu.Lock()
		delete(l.setbacks, id)
		l.mu.Unlock()
	case errors.Is(err, run.ErrEnded), errors.Is(err, run.ErrLeased), errors.Is(err, run.ErrUnknownRun), l.ctx.Err() != nil:
	case errors.Is(err, run.ErrLapsed), errors.Is(err, run.ErrFenced):
		l.Log.Warn("a run was lost to others", "run", id, "error", err) // the next sweep sees what became of it
	default:
		l.Log.Error("a run stopped", "run", id, "error", err)
		why := event.RunError{Code: "storage", Message: err.Error(), Hint: "nothing that was recorded is lost: `dossier runs resume " + id + "` goes on", Fatal: true}
		if unstored, ok := errors.AsType[*run.UnstoredError](err); ok {
			why.Code, why.Hint = unstored.Fault()
			l.setBack(id)
		}
		l.hub.publish(event.Event{Run: id, Time: time.Now(), Data: why})
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
	foreign, all := l.stages[id] == absent && !l.closed, l.all
	l.mu.Unlock()
	if !foreign {
		return
	}
	rec, err := l.Store.Run(l.ctx, id)
	if err == nil && (rec.Home == "" || rec.Home == l.Owner) {
		var ahead map[string]bool
		if ahead, err = l.ahead(l.ctx, all); err == nil && l.concerns(id, all, ahead) {
			err = l.Enqueue(l.ctx, id, Restored)
		}
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
	if len(l.waiting()) > 0 {
		l.sweepSoon() // its turn may have been given on when it was deleted
	}
	l.hub.publish(event.Event{Run: id, Time: time.Now(), Data: event.RunError{
		Code: "deleted", Message: "the run was deleted", Fatal: true,
	}})
}
