package socketio

import (
	"context"

	"dossier/internal/server"
)

// follow is a run that the client follows.
type follow struct {
	cancel context.CancelFunc
	over   chan struct{} // nothing more of it is sent
}

// follow makes ready to send the events of a run behind a sequence; begin
// begins. A run that is followed already is followed from there instead.
func (t *talk) follow(ctx context.Context, id string, after int64) (begin func(), err error) {
	t.unfollow(id)
	leave, err := server.EnterStream(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &follow{cancel: cancel, over: make(chan struct{})}
	return func() {
		t.mu.Lock()
		t.follows[id] = f
		t.mu.Unlock()
		go func() {
			defer close(f.over)
			defer leave()
			defer cancel()
			t.tell(ctx, id, after)
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.follows[id] == f {
				delete(t.follows, id)
			}
		}()
	}, nil
}

// unfollow ends that a run is followed, and waits until nothing of it comes.
func (t *talk) unfollow(id string) {
	t.mu.Lock()
	f := t.follows[id]
	delete(t.follows, id)
	t.mu.Unlock()
	if f != nil {
		f.cancel()
		<-f.over
	}
}

// stopAll ends that runs are followed.
func (t *talk) stopAll() {
	t.mu.Lock()
	all := t.follows
	t.follows = map[string]*follow{}
	t.mu.Unlock()
	for _, f := range all {
		f.cancel()
		<-f.over
	}
}

// end ends the talk of a connection that has ended.
func (t *talk) end() {
	t.conn.in.Lock() // nothing more begins
	defer t.conn.in.Unlock()
	t.stopAll()
}

// tell sends the events of a run behind a sequence: those there are, then those
// to come, then that it has ended.
func (t *talk) tell(ctx context.Context, id string, after int64) {
	for ev, err := range server.EngineOf(ctx).Events(ctx, id, after) {
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			t.stop(id, server.Explain(ctx, err))
			return
		}
		raw, err := ev.MarshalJSON()
		if err != nil { // it can't have been stored
			return
		}
		if t.conn.send(event(nameOf(ev.Kind()), raw)) != nil {
			return
		}
	}
	if ctx.Err() == nil {
		_ = t.conn.send(event("end", mustJSON(aboutRun{id})))
	}
}

// stop tells that nothing more of a run comes, though it has not ended.
func (t *talk) stop(id string, p *server.Problem) {
	_ = t.conn.send(event("stopped", mustJSON(map[string]any{"run": id, "error": p})))
}
