package dispatch

import (
	"context"
	"iter"

	"dossier/event"
	"dossier/run"
)

// eventPage is how many events are read from the store at once: reading a page
// takes well under a millisecond.
const eventPage = 100

// Begin is where a follower stands who was there before the run began: all of
// it comes live.
const Begin = -1

// Follow implements Dispatcher.
func (l *Local) Follow(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		w := l.Watch(id)
		defer w.Leave()
		w.follow(ctx, w.tail(after, yield))
	}
}

// Stay implements Dispatcher.
func (l *Local) Stay(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		w := l.Watch(id)
		defer w.Leave()
		w.follow(ctx, &tail{l: l, id: id, last: after, stays: true, yield: yield})
	}
}

// Tell implements Dispatcher.
func (l *Local) Tell(ev event.Event) { l.hub.publish(ev) }

// Watcher follows a run from the moment at which it was made.
type Watcher struct {
	l *Local
	f *follower
}

// Watch begins to follow a run, maybe before it begins: then no delta is
// missed. The caller calls Leave.
func (l *Local) Watch(id string) *Watcher { return &Watcher{l, l.hub.follow(id)} }

// Leave ends it.
func (w *Watcher) Leave() { w.l.hub.leave(w.f) }

// Follow yields what Dispatcher.Follow promises, or all of a new run as it
// happens when after is Begin.
func (w *Watcher) Follow(ctx context.Context, after int64, yield func(event.Event, error) bool) {
	w.follow(ctx, w.tail(after, yield))
}

func (w *Watcher) tail(after int64, yield func(event.Event, error) bool) *tail {
	return &tail{l: w.l, id: w.f.run, last: max(after, 0), begins: after == Begin, yield: yield}
}

func (w *Watcher) follow(ctx context.Context, t *tail) {
	yield := t.yield
	if !t.begins && !t.rest(ctx) {
		return
	}
	for !t.ended() {
		select {
		case <-ctx.Done():
			yield(event.Event{}, context.Cause(ctx))
			return
		case <-w.l.ctx.Done():
			yield(event.Event{}, run.ErrShutdown)
			return
		case <-w.f.wake:
			if !t.take(ctx, w.f.take()) {
				return
			}
		}
	}
}

// tail is how far a follower is with the log of a run.
type tail struct {
	l     *Local
	id    string
	last  int64
	over  bool
	yield func(event.Event, error) bool
	// begins says that nothing of the run is to be read before it is told, stays that
	// the follower waits for what comes behind its end.
	begins, stays bool
}

// ended says whether there is no more to come.
func (t *tail) ended() bool { return t.over && !t.stays }

// catchUp yields what the store has beyond what was yielded.
func (t *tail) catchUp(ctx context.Context) bool {
	for {
		page, err := t.l.Store.Events(ctx, t.id, t.last, eventPage)
		if err != nil {
			t.yield(event.Event{}, err)
			return false
		}
		for _, p := range page {
			t.last, t.over = p.Seq, ends(p.Event)
			if !t.yield(p.Event, nil) {
				return false
			}
		}
		if len(page) < eventPage {
			return true
		}
	}
}

// rest is catchUp that also sees whether the run is over, which the last event
// alone does not tell: a run that had ended may have been taken up again.
func (t *tail) rest(ctx context.Context) bool {
	if !t.catchUp(ctx) {
		return false
	}
	rec, err := t.l.Store.Run(ctx, t.id)
	if err != nil {
		t.yield(event.Event{}, err)
		return false
	}
	t.over = rec.Status.Ended() && t.last >= rec.LastSeq
	return true
}

// look is rest for a run that others work on. One that is worked on here tells
// of itself, with deltas that belong before what the store has by then.
func (t *tail) look(ctx context.Context) bool { return t.l.exec.Live(t.id) || t.rest(ctx) }

// take yields what happened, and before it what the store has and was not told.
func (t *tail) take(ctx context.Context, n news) bool {
	if n.missed && (!t.catchUp(ctx) || !t.goesOn(n.dead)) {
		return false
	}
	for _, ev := range n.events {
		if !t.ended() && !t.one(ctx, ev) {
			return false
		}
	}
	return t.ended() || !n.look || t.look(ctx)
}

// one yields a live event, after those of the store that come before it.
func (t *tail) one(ctx context.Context, ev *event.Event) bool {
	if ev.Seq > t.last+1 && !t.catchUp(ctx) || !t.goesOn(fatal(ev)) {
		return false
	}
	if ev.Seq != 0 && ev.Seq <= t.last {
		return true
	}
	if ev.Seq != 0 {
		t.last, t.over = ev.Seq, ends(*ev)
	}
	return t.yield(*ev, nil)
}

// goesOn yields why a run can't go on here, if there is a reason.
func (t *tail) goesOn(why *event.RunError) bool {
	if why == nil {
		return true
	}
	t.yield(event.Event{}, &StoppedError{Run: t.id, Failure: run.Failure{Code: why.Code, Message: why.Message, Hint: why.Hint}})
	return false
}

// ends says whether an event is the last one of a run.
func ends(ev event.Event) bool {
	s, ok := ev.Data.(event.RunStatus)
	return ok && run.Status(s.Status).Ended()
}

// StoppedError says that a run can't go on here, though it is not over.
type StoppedError struct {
	Run     string
	Failure run.Failure
}

func (e *StoppedError) Error() string { return e.Failure.Message }
