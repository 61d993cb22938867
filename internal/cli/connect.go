package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"time"

	"dossier"
	"dossier/event"
	"dossier/internal/server"
	"dossier/run"
)

// backend is what the commands work with.
type backend interface{ server.Engine }

// link is the engine of a command. Each command has its own and executes its
// own runs; what others do with theirs it finds in the data directory, and
// sooner from themselves.
type link struct {
	backend
	dir   string
	close func() error
}

// connect opens the data directory.
func (a *app) connect(ctx context.Context) (*link, error) {
	c, err := a.settings()
	if err != nil {
		return nil, err
	}
	o := a.options()
	o.DataDir, o.Version, o.Modes = c.DataDir, version(), a.proc.Modes
	engine, err := dossier.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	l := &link{backend: engine, dir: c.DataDir, close: engine.Close}
	if srv, err := server.Serve(c.DataDir, engine.Owner(), engine, version()); err == nil {
		l.close = func() error { return errors.Join(srv.Close(), engine.Close()) }
	} else {
		a.log.Warn("other commands can't reach this one", "error", err) // they see what it does in the data directory
	}
	return l, nil
}

// peer reaches the process that works on a run, if that is another one.
func (l *link) peer(ctx context.Context, id string) (*server.Client, bool) {
	rec, err := l.Get(ctx, id)
	if err != nil || rec.Owner == "" || !time.Now().Before(rec.LeaseUntil) {
		return nil, false
	}
	if engine, ok := l.backend.(*dossier.Engine); ok && engine.Owner() == rec.Owner {
		return nil, false
	}
	c, err := server.Dial(ctx, l.dir, rec.Owner)
	return c, err == nil
}

// Events follows a run, with the deltas of the process that works on it. When
// that is gone, or can't be reached, the data directory tells what there is.
func (l *link) Events(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if c, ok := l.peer(ctx, id); ok {
			defer c.Close()
			for ev, err := range c.Events(ctx, id, after) {
				if err != nil && ctx.Err() == nil {
					break
				}
				if !yield(ev, err) || err != nil {
					return
				}
				after = max(after, ev.Seq)
			}
		}
		for ev, err := range l.backend.Events(ctx, id, after) {
			if !yield(ev, err) {
				return
			}
		}
	}
}

// told has the process that works on a run look at a signal at once. It would
// find it by itself.
func (l *link) told(ctx context.Context, id string, err error) error {
	if err != nil {
		return err
	}
	if c, ok := l.peer(ctx, id); ok {
		defer c.Close()
		_ = c.Wake(ctx, id)
	}
	return nil
}

// Pause, Finish, Cancel, Steer and Answer are those of the engine, taken in at
// once wherever the run is.
func (l *link) Pause(ctx context.Context, id string) error {
	return l.told(ctx, id, l.backend.Pause(ctx, id))
}

// Finish is as Pause.
func (l *link) Finish(ctx context.Context, id string) error {
	return l.told(ctx, id, l.backend.Finish(ctx, id))
}

// Cancel is as Pause.
func (l *link) Cancel(ctx context.Context, id string) error {
	return l.told(ctx, id, l.backend.Cancel(ctx, id))
}

// Steer is as Pause.
func (l *link) Steer(ctx context.Context, id, text string) error {
	return l.told(ctx, id, l.backend.Steer(ctx, id, text))
}

// Answer is as Pause.
func (l *link) Answer(ctx context.Context, id, ask, text string) error {
	return l.told(ctx, id, l.backend.Answer(ctx, id, ask, text))
}

// with connects, does something and disconnects.
func (a *app) with(ctx context.Context, do func(*link) error) error {
	l, err := a.connect(ctx)
	if err != nil {
		return err
	}
	err = do(l)
	if closing := l.close(); closing != nil {
		a.log.Error("closing", "error", closing)
		if err == nil {
			err = fmt.Errorf("closing: %w", closing)
		}
	}
	return err
}

// empty says whether the data directory was never used.
func (a *app) empty() (bool, error) {
	c, err := a.settings()
	if err != nil {
		return false, err
	}
	_, err = os.Stat(c.DataDir)
	return errors.Is(err, os.ErrNotExist), nil
}

// elsewhere says whether another process works on a run or is about to.
func elsewhere(rec run.Record) bool {
	return rec.Owner != "" && time.Now().Before(rec.LeaseUntil) || rec.Home != "" && rec.Status == run.Queued
}
