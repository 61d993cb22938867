package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"dossier/event"
)

// place names an entry of the journal.
type place struct {
	kind EntryKind
	key  string
}

// execution is a run while a worker is on it, or while it is replayed.
type execution struct {
	rec     Record
	journal Journal          // nil in a replay
	outlet  outlet           // of events
	dirty   func(*execution) // tells the flusher that something is buffered
	commits *sync.Pool       // of *commit
	watch   Watch            // of the worker; nil for nobody
	log     *slog.Logger     // of the worker; nil in a replay
	cancel  context.CancelCauseFunc
	ctx     context.Context

	// broken is why the run can't be stored any more.
	broken atomic.Pointer[error]
	// leased is until when after started the run is this worker's for sure;
	// 0 in a replay.
	leased atomic.Int64

	mu      sync.Mutex
	own     branch              // the run's own
	used    map[string]struct{} // names claimed by this execution
	history map[place]*Entry    // what earlier executions recorded; nil for a new run
	places  map[string]int64    // events that earlier executions emitted
	seq     int64
	ord     int64
	noted   int64 // the last entry that nobody has waited for
	durable int64 // up to this one they are known to be

	// What is buffered goes with the next batch, in order.
	entries  []Entry
	events   []PlacedEvent
	flagged  bool // the flusher knows
	lastTick time.Time

	// stop is why the run must not start anything more. The first reason
	// counts, but a pause gives way to any other.
	stop      error
	pauseSeen bool // the run's code was told that it is paused
	resting   bool // the execution is over, only its last batch is not
	finishing bool
	finished  context.Context // ctx that also ends when the run is to finish; made when asked for
	onFinish  context.CancelCauseFunc
	deadline  *time.Timer // of finished; nil where the run's time has no limit
	signalN   int64
	answers   map[string]string // by ask key
	steering  []Signal
	steered   int64 // the last steering that an earlier execution has seen

	active  int // goroutines of the run that are not blocked in the kernel
	waiters map[*waiter]struct{}
	boxes   map[string]*box
	drainer *waiter // the end of the run waits here for its tasks

	limits   Limits
	spent    Spent
	reserved map[string]int // what steps under way count against, by limit
	warned   map[string]bool
	started  time.Time

	replay *replay
}

func newExecution(ctx context.Context, h *History, limits Limits) *execution {
	ctx, cancel := context.WithCancelCause(ctx)
	e := &execution{
		rec: h.Record, ctx: ctx, cancel: cancel,
		used: make(map[string]struct{}), places: h.Places,
		seq: h.Record.LastSeq, ord: h.LastOrd, spent: h.Record.Spent, limits: limits,
		active: 1, started: time.Now(),
	}
	e.lastTick = e.started
	if len(h.Entries) > 0 {
		e.history = make(map[place]*Entry, len(h.Entries))
		for i := range h.Entries {
			entry := &h.Entries[i]
			e.history[place{entry.Kind, entry.Key}] = entry
			var seen steering
			if entry.Kind == EntrySteer && json.Unmarshal(entry.Value, &seen) == nil {
				e.steered = max(e.steered, seen.Upto)
			}
		}
	}
	return e
}

// lookup finds what an earlier execution recorded.
func (e *execution) lookup(kind EntryKind, key string) (*Entry, bool) {
	entry, ok := e.history[place{kind, key}]
	return entry, ok
}

// recorded finds the outcome of a step.
func (e *execution) recorded(key string) (*Entry, bool) {
	if e.history == nil {
		return nil, false
	}
	if entry, ok := e.lookup(EntryStep, key); ok {
		return entry, true
	}
	return e.lookup(EntryFault, key)
}

// has says whether an earlier execution recorded something.
func (e *execution) has(kind EntryKind, key string) bool {
	_, ok := e.lookup(kind, key)
	return ok
}

// gate says whether a new effect may start here, in a branch.
func (e *execution) gate(key string, in *branch) error {
	if e.replay != nil {
		return e.live("step "+key, in)
	}
	if err := e.lapsed(); err != nil {
		return err
	}
	return e.stopped()
}

// extend notes that the worker has the run until that moment.
func (e *execution) extend(until time.Time) { e.leased.Store(int64(until.Sub(e.started))) }

// lapsed returns an error when the run may be another worker's by now.
func (e *execution) lapsed() error { return e.lapsing(0) }

// lapsing is lapsed for a moment to come. The run is broken then.
func (e *execution) lapsing(in time.Duration) error {
	if until := e.leased.Load(); until > 0 && int64(time.Since(e.started)+in) >= until {
		return e.breakWith(ErrLapsed)
	}
	return nil
}

// stopped returns why the run has to stop, or nil, to the run's code.
func (e *execution) stopped() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.refuseLocked()
}

// refuseLocked is brokenLocked for answers to the run's code. Code that has
// seen a pause is off its path from there on: what it does next is void.
func (e *execution) refuseLocked() error {
	err := e.brokenLocked()
	e.pauseSeen = e.pauseSeen || errors.Is(err, ErrPaused)
	return err
}

func (e *execution) brokenLocked() error {
	if p := e.broken.Load(); p != nil {
		return *p
	}
	return e.stop
}

// halt stops the run: nothing new starts, and with interrupt what is under way
// is cancelled. Whoever is blocked in the kernel returns with why.
func (e *execution) halt(why error, interrupt bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.haltLocked(why, interrupt)
}

func (e *execution) haltLocked(why error, interrupt bool) {
	if e.stop == nil || errors.Is(e.stop, ErrPaused) {
		e.stop = why
	}
	if interrupt {
		e.cancel(why)
	}
	for w := range e.waiters {
		if w.kind != waitTask {
			w.err = e.refuseLocked()
			e.wake(w)
		}
	}
}

// fail stops a run whose code broke the kernel's rules.
func (e *execution) fail(err error) { e.halt(err, true) }

// breakWith marks the run as one that can't be stored any more.
func (e *execution) breakWith(err error) error {
	err = fmt.Errorf("recording the run: %w", err)
	if e.broken.CompareAndSwap(nil, &err) {
		e.cancel(err)
	}
	return *e.broken.Load()
}

// emission is an event with its place, before it is in the log.
type emission struct {
	place, agent string
	data         event.Data
	time         time.Time
}

// emit appends a durable event unless its place has one already.
func (e *execution) emit(ev emission) error {
	if e.replay != nil {
		return e.replay.emitted(ev)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.brokenLocked(); err != nil && (!errors.Is(err, ErrPaused) || e.pauseSeen) {
		return err
	}
	e.emitLocked(ev)
	return nil
}

// hold keeps an event of the step whose scope s is until its outcome is
// recorded. In a pause too: the step will be.
func (e *execution) hold(s *Scope, ev emission) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.brokenLocked(); err != nil && !errors.Is(err, ErrPaused) {
		return err
	}
	if s.held == nil {
		s.held = s.first[:0]
	}
	s.held = append(s.held, ev)
	return nil
}

func (e *execution) emitLocked(ev emission) {
	if _, done := e.places[ev.place]; done {
		return
	}
	e.seq++
	e.events = append(e.events, PlacedEvent{Place: ev.place, Event: event.Event{
		Run: e.rec.ID, Session: e.rec.Session, Seq: e.seq, Time: ev.time, Agent: ev.agent, Data: ev.data,
	}})
	if e.log != nil {
		logTrouble(e.log, &e.events[len(e.events)-1].Event)
	}
	e.flagLocked()
}

// tellLocked emits an event of the kernel's own.
func (e *execution) tellLocked(place string, data event.Data) {
	e.emitLocked(emission{place: kernelPlace + place, data: data, time: time.Now()})
}

// flagLocked asks the flusher to store what is buffered soon.
func (e *execution) flagLocked() {
	if !e.flagged && e.dirty != nil {
		e.flagged = true
		e.dirty(e)
	}
}

// flush commits what is buffered without waiting for it.
func (e *execution) flush() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.flagged = false
	e.flushLocked()
}

func (e *execution) flushLocked() {
	if len(e.entries) == 0 && len(e.events) == 0 || e.broken.Load() != nil {
		return
	}
	if e.resting { // that it has ended is told with the state that says so
		return
	}
	b := new(Batch)
	e.submitLocked(b, func(err error) {
		if err != nil {
			_ = e.breakWith(err)
		}
		e.outlet.settle(b.Events, err)
	})
}

// pass hands a transient event out, behind what was emitted before it.
func (e *execution) pass(agent string, data event.Data) {
	e.mu.Lock()
	if len(e.events) > 0 {
		e.flushLocked()
	}
	e.mu.Unlock()
	e.outlet.pass(event.Event{Run: e.rec.ID, Session: e.rec.Session, Time: time.Now(), Agent: agent, Data: data})
}

// finish commits the run's last batch of this execution and waits.
func (e *execution) finish(st State) error {
	c := newCommit(e)
	b := &c.b
	b.State, b.Release = &st, true
	e.mu.Lock()
	e.submitLocked(b, c.done)
	e.mu.Unlock()
	return c.wait()
}

// submitLocked hands what is buffered to the journal. e.mu is held, so batches
// reach the journal in the order of their sequences.
func (e *execution) submitLocked(b *Batch, done func(error)) {
	now := time.Now()
	b.Run, b.Epoch = e.rec.ID, e.rec.Epoch
	// What b held before is room for the next batch.
	b.Entries, e.entries = e.entries, b.Entries[:0]
	b.Events, e.events = e.events, b.Events[:0]
	b.Active = now.Sub(e.lastTick)
	for i := range b.Entries {
		b.Spent = b.Spent.Add(b.Entries[i].Spent)
	}
	e.lastTick = now
	if len(b.Events) > 0 {
		e.outlet.expect()
	}
	e.journal.Commit(b, done)
}

// steering is what a call of Steer returned: the value of an EntrySteer.
type steering struct {
	Texts []string `json:"texts,omitempty"`
	// Upto is the last signal among them; 0 where that was another run's.
	Upto int64 `json:"upto,omitempty"`
}

// noSteering is what most calls find; nobody changes it.
var noSteering = json.RawMessage("{}")

// steer returns the steering that arrived since the last call, as recorded.
func (e *execution) steer(s *Scope, key string) ([]string, error) {
	if entry, ok := s.recall(EntrySteer, key); ok {
		var seen steering
		err := json.Unmarshal(entry.Value, &seen)
		return seen.Texts, err
	}
	if e.replay != nil {
		return nil, e.live("steering "+key, s.branch)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.refuseLocked(); err != nil {
		return nil, err
	}
	var now steering
	for _, said := range e.steering {
		now.Texts, now.Upto = append(now.Texts, said.Text), said.N
	}
	made := Entry{Kind: EntrySteer, Key: key, Value: noSteering}
	if len(now.Texts) > 0 {
		var err error
		if made.Value, err = json.Marshal(now); err != nil {
			return nil, err
		}
	}
	e.steering = nil
	e.append(s.branch, made)
	e.flagLocked()
	return now.Texts, nil
}

// signals takes in what arrived from outside. A run that is being put to rest
// leaves it to its next execution.
func (e *execution) signals(list []Signal) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range list {
		if s.N <= e.signalN {
			continue
		}
		if e.resting || errors.Is(e.stop, ErrParked) {
			return
		}
		e.signalN = s.N
		switch s.Kind {
		case SignalCancel:
			e.haltLocked(ErrCancelled, true)
		case SignalPause:
			e.haltLocked(ErrPaused, false)
		case SignalFinish:
			e.finishLocked()
		case SignalSteer:
			if s.N > e.steered {
				e.steering = append(e.steering, s)
			}
		case SignalAnswer:
			if e.answers == nil {
				e.answers = make(map[string]string)
			}
			e.answers[s.Key] = s.Text
			e.wakeAsk(s.Key)
		}
	}
}

// finishLocked tells the run to end with what there is. It ends a pause, or,
// where the run's code has seen that already, the next execution does.
func (e *execution) finishLocked() {
	e.finishing = true
	if errors.Is(e.stop, ErrPaused) && !e.pauseSeen {
		e.stop = nil
	}
	if e.onFinish != nil {
		e.onFinish(ErrFinish)
	}
	e.wakeAsk("")
}

// untilFinish returns the context of all work that can be broken off.
func (e *execution) untilFinish() context.Context {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.finished != nil {
		return e.finished
	}
	e.finished, e.onFinish = context.WithCancelCause(e.ctx)
	if e.finishing {
		e.onFinish(ErrFinish)
	}
	if e.limits.Time > 0 {
		e.deadline = time.AfterFunc(e.limits.Time-e.worked(), e.outOfTime)
	}
	return e.finished
}

func (e *execution) outOfTime() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.warnBudget()
	e.onFinish(&BudgetError{What: "time", Limit: e.limits.Time.Seconds(), Spent: e.worked().Seconds()})
}

// release lets go of what the execution held.
func (e *execution) release() {
	e.mu.Lock()
	if e.deadline != nil {
		e.deadline.Stop()
	}
	e.mu.Unlock()
	e.cancel(nil)
}

// wakeAsk lets the question with this key, or every one, look for its answer.
func (e *execution) wakeAsk(key string) {
	for w := range e.waiters {
		if w.kind == waitAsk && (key == "" || w.key == key) {
			e.wake(w)
		}
	}
}

// commit is a reusable batch with somebody waiting for it.
type commit struct {
	b      Batch
	exec   *execution
	result chan error
	done   func(error)
}

// newCommit takes a commit from the worker's pool.
func newCommit(e *execution) *commit {
	c, _ := e.commits.Get().(*commit)
	if c == nil {
		c = &commit{result: make(chan error, 1)}
		c.done = func(err error) {
			c.exec.outlet.settle(c.b.Events, err)
			c.result <- err
		}
	}
	c.exec = e
	return c
}

// wait returns the batch's fate and gives c back.
func (c *commit) wait() error {
	err := <-c.result
	pool := c.exec.commits
	clear(c.b.Entries)
	clear(c.b.Events)
	c.b, c.exec = Batch{Entries: c.b.Entries[:0], Events: c.b.Events[:0]}, nil
	pool.Put(c)
	return err
}
