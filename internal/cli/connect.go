package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"dossier"
	"dossier/internal/server"
	"dossier/run"
)

// backend is what the commands work with.
type backend interface{ server.Engine }

// link is the engine of a command. Each command has its own and executes its
// own runs; what others do with theirs it finds in the data directory.
type link struct {
	backend
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
	return &link{backend: engine, close: engine.Close}, nil
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
