package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"dossier"
	"dossier/internal/base/datadir"
	"dossier/internal/server"
)

// backend is what the commands work with: an engine of this process, or the
// process that owns the data directory.
type backend interface{ server.Engine }

// link is a backend that is found again when its process goes away.
type link struct {
	backend
	// remote says that another process does the work.
	remote bool
	close  func() error
}

// connect finds the owner of the data directory, or becomes it.
func (a *app) connect(ctx context.Context) (*link, error) {
	c, err := a.settings()
	if err != nil {
		return nil, err
	}
	// Whoever owns the directory without answering is starting or stopping.
	deadline := time.Now().Add(ownerPatience)
	for {
		client, err := server.Dial(ctx, c.DataDir)
		if err == nil {
			a.log.Debug("another process owns the data directory", "version", client.Version)
			if len(a.Set) > 0 {
				a.notef("note: --set has no effect here: another dossier process works on the data directory")
			}
			return &link{backend: client, remote: true, close: client.Close}, nil
		}
		if !errors.Is(err, server.ErrNoOwner) {
			return nil, err
		}
		l, err := a.own(ctx)
		if err == nil || !owned(err) || time.Now().After(deadline) {
			return l, err
		}
		select {
		case <-time.After(ownerPoll):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// How long and how often to look for an owner that is starting or stopping.
const (
	ownerPatience = 5 * time.Second
	ownerPoll     = 20 * time.Millisecond
)

// own opens the data directory and serves it to other commands.
func (a *app) own(ctx context.Context) (*link, error) {
	o := a.options()
	o.DataDir, o.Version, o.Modes = a.config.DataDir, version(), a.proc.Modes
	engine, err := dossier.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	srv, err := server.Serve(a.config.DataDir, engine, version())
	if err != nil {
		// Where there can be no socket, others have to wait for this command.
		a.log.Warn("other commands can't reach this one", "error", err)
		return &link{backend: engine, close: engine.Close}, nil
	}
	return &link{backend: engine, close: func() error { return errors.Join(srv.Close(), engine.Close()) }}, nil
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

// owned says whether an error means that another process owns the directory.
func owned(err error) bool {
	var other *datadir.OwnedError
	return errors.As(err, &other)
}
