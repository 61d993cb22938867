package sqlite

import (
	"errors"
	"fmt"
	"os"
	"time"

	"dossier/internal/base/filelock"
)

// turn lets the writers of several processes go one after the other, in about the
// order in which they came. SQLite alone has whoever finds the file locked look
// again now and then, the less often the longer it waits: among hundreds, some
// wait for so long that they lose their leases.
//
// It is a lock on a file beside the database, so it ends with the process that has
// it. SQLite's own locks are what keeps the database sound; a program that takes no
// turns is only impolite.
type turn struct {
	path  string
	limit time.Duration // how long it is waited for
	file  *os.File      // nil until the first turn, and after one that did not come
}

func newTurn(path string) *turn { return &turn{path: path + "-turn", limit: busyTimeout} }

// take waits for the turn. It fails with filelock.ErrTimeout.
func (t *turn) take() error {
	if t.file == nil {
		f, err := os.OpenFile(t.path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		t.file = f
	}
	err := filelock.Wait(t.file, t.limit)
	if errors.Is(err, filelock.ErrTimeout) {
		// Its place in the queue is that of the file, which is unlocked when the
		// turn comes after all: that must not end another turn.
		t.file = nil
		return fmt.Errorf("waiting for %s: %w", t.path, err)
	}
	return err
}

// give ends the turn.
func (t *turn) give() error { return filelock.Unlock(t.file) }

func (t *turn) close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// during does something while it is this process's turn.
func (t *turn) during(do func() error) (err error) {
	if err := t.take(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.give()) }()
	return do()
}
