package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"dossier/event"
)

// Replay executes the code of a run that is over from its journal alone and
// returns the event log that comes out: every event that the code emits is
// made anew and must equal the recorded one, as this program tells it or as
// earlier ones did (see event.Earlier), and every recorded one must come
// up again. Any live effect is ErrLive. Events inside steps are part of the
// steps' records and are taken from there, as are the kernel's own.
func Replay(ctx context.Context, h *History, log []PlacedEvent, fn Func, limits Limits) ([]event.Event, error) {
	if !h.Record.Status.Ended() {
		return nil, fmt.Errorf("replay: the run is %s, and only a run that is over can be replayed", h.Record.Status)
	}
	e := newExecution(ctx, h, limits)
	defer e.release()
	e.outlet.publish = func(event.Event) {}
	e.replay = &replay{log: make(map[string]event.Event, len(log)), made: make(map[string]event.Data)}
	for _, p := range log {
		e.replay.log[p.Place] = p.Event
	}
	err := protect(e.ctx, &Scope{exec: e, branch: &e.own}, fn)
	e.drain(err)
	live := e.replay.live
	if h.Record.Status == Failed {
		live = e.replay.own // other branches were interrupted when it failed
	}
	if live != nil && h.Record.Status != Cancelled {
		return nil, fmt.Errorf("replay: %w", live) // also where the code passed over it
	}
	switch {
	case h.Record.Status == Cancelled && errors.Is(err, ErrLive):
		// A cancelled run ends where it was cancelled.
	case h.Record.Status == Failed && err != nil && !Stopped(err):
		// Earlier programs recorded the message with the name of the step.
		if f := failureOf(err); h.Record.Failure != nil && f.Message != h.Record.Failure.Message && err.Error() != h.Record.Failure.Message {
			return nil, fmt.Errorf("replay: the run failed with %q, the replay with %q", h.Record.Failure.Message, f.Message)
		}
	case err != nil:
		return nil, fmt.Errorf("replay: %w", err)
	}
	return e.replay.result(e, log)
}

// replay collects what the code emits and holds it against the log.
type replay struct {
	mu   sync.Mutex
	log  map[string]event.Event
	made map[string]event.Data
	live error // the first effect that was not in the journal
	own  error // the first one of the run's own branch
}

// live says that the replay came to something that is not in the journal, in a
// branch.
func (e *execution) live(what string, in *branch) error {
	err := fmt.Errorf("%w: %s", ErrLive, what)
	r := e.replay
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live == nil {
		r.live = err
	}
	if r.own == nil && in == &e.own {
		r.own = err
	}
	return err
}

func (r *replay) emitted(ev emission) error {
	at, agent, data := ev.place, ev.agent, ev.data
	r.mu.Lock()
	defer r.mu.Unlock()
	recorded, ok := r.log[at]
	if !ok {
		return fmt.Errorf("replay: the code emits %s at %s, which is not in the log", data.Kind(), at)
	}
	want, err := event.EncodeData(recorded.Data)
	if err != nil {
		return err
	}
	var got []byte
	for _, told := range []event.Data{data, event.Earlier(data)} {
		raw, err := event.EncodeData(told)
		if err != nil {
			return err
		}
		if recorded.Kind() == data.Kind() && recorded.Agent == agent && bytes.Equal(want, raw) {
			r.made[at] = told
			return nil
		}
		if got == nil {
			got = raw
		}
	}
	return fmt.Errorf("replay: at %s the log has %s %s, the code emits %s %s", at, recorded.Kind(), want, data.Kind(), got)
}

func (r *replay) result(e *execution, log []PlacedEvent) ([]event.Event, error) {
	out := make([]event.Event, 0, len(log))
	for _, p := range log {
		ev := p.Event
		if data, ok := r.made[p.Place]; ok {
			ev.Data = data
		} else if !strings.HasPrefix(p.Place, kernelPlace) && !e.insideStep(p.Place) {
			return nil, fmt.Errorf("replay: the log has %s at %s, which the code did not emit", ev.Kind(), p.Place)
		}
		out = append(out, ev)
	}
	return out, nil
}

// insideStep says whether a place belongs to a recorded step, or to what the
// kernel asked about one that was begun.
func (e *execution) insideStep(at string) bool {
	scope := scopeOf(at)
	if strings.HasPrefix(at[len(scope):], "@") && e.has(EntryIntent, scope) {
		return true
	}
	_, ok := stepAround(scope, func(key string) bool { _, ok := e.recorded(key); return ok })
	return ok
}

// scopeOf returns the path of the scope that a place, or the key of an ask,
// send or receive, belongs to.
func scopeOf(at string) string {
	if i := strings.IndexAny(at, "#?!><$@"); i >= 0 {
		return at[:i]
	}
	return at
}

// stepAround finds the outermost step that path is, or is inside of.
func stepAround(path string, isStep func(string) bool) (string, bool) {
	for i := 0; i <= len(path); i++ {
		if (i == len(path) || path[i] == '/') && isStep(path[:i]) {
			return path[:i], true
		}
	}
	return "", false
}
