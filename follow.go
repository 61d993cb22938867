package dossier

import (
	"context"
	"iter"

	"dossier/event"
	"dossier/run"
)

// Run starts a run and follows it to its end. A yielded error is terminal. A
// caller who stops early leaves the run going; its id is in every event.
func (e *Engine) Run(ctx context.Context, req Request) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		rec, err := e.create(ctx, req)
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		f := e.hub.follow(rec.ID) // before the run begins, so that no delta is missed
		defer e.hub.leave(rec.ID, f)
		if err := e.begin(ctx, rec); err != nil {
			yield(event.Event{}, err)
			return
		}
		e.follow(ctx, rec.ID, nothingYet, f, yield)
	}
}

// eventPage is how many events are read from the store at once: what is decoded
// in less than a millisecond, however long the log is.
const eventPage = 100

// nothingYet is where a follower stands who was there before the run began:
// all of it comes live.
const nothingYet = -1

// Events follows a run: first the durable events after the given sequence,
// then everything as it happens, transient events included, until the run is
// over. A yielded error is terminal.
func (e *Engine) Events(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if _, err := e.store.Run(ctx, id); err != nil {
			yield(event.Event{}, err)
			return
		}
		f := e.hub.follow(id)
		defer e.hub.leave(id, f)
		e.follow(ctx, id, after, f, yield)
	}
}

// follow yields what Events promises, or all of a new run as it happens when
// after is nothingYet.
func (e *Engine) follow(ctx context.Context, id string, after int64, f *follower, yield func(event.Event, error) bool) {
	last, over := max(after, 0), false
	// catchUp yields what the store has beyond last.
	catchUp := func() bool {
		for {
			page, err := e.store.Events(ctx, id, last, eventPage)
			if err != nil {
				yield(event.Event{}, err)
				return false
			}
			for _, p := range page {
				last, over = p.Seq, ends(p.Event)
				if !yield(p.Event, nil) {
					return false
				}
			}
			if len(page) < eventPage {
				return true
			}
		}
	}
	if after != nothingYet {
		if !catchUp() {
			return
		}
		if rec, err := e.store.Run(ctx, id); err != nil {
			yield(event.Event{}, err)
			return
		} else if rec.Status.Ended() && last >= rec.LastSeq {
			return
		}
		over = false // an end that the log tells of was taken back by a resume
	}
	for !over {
		select {
		case <-ctx.Done():
			yield(event.Event{}, context.Cause(ctx))
			return
		case <-e.ctx.Done():
			yield(event.Event{}, run.ErrShutdown)
			return
		case ev := <-f.ch:
			missed := f.missed()
			if (missed || ev.Seq > last+1) && !catchUp() {
				return
			}
			if why := f.stopped(); why != nil {
				yield(event.Event{}, &StoppedError{Run: id, Failure: run.Failure{Code: why.Code, Message: why.Message, Hint: why.Hint}})
				return
			}
			if missed || ev.Seq != 0 && ev.Seq <= last {
				continue
			}
			if ev.Seq != 0 {
				last, over = ev.Seq, ends(ev)
			}
			if !yield(ev, nil) {
				return
			}
		}
	}
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
