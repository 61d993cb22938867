package sqlite

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// turn lets the writers of several processes go one after the other, in about the
// order in which they came. SQLite alone has whoever finds the file locked look
// again now and then, the less often the longer it waits: among hundreds, some
// never find it free.
//
// It is a lock of the operating system on a file beside the database, so it ends
// with the process that has it. SQLite's own locks are what keeps the file sound;
// a program that takes no turns is only impolite.
type turn struct {
	path  string
	limit time.Duration // how long it is waited for
	file  *os.File      // nil until the first turn, and after one that did not come
}

// turnTimeout is how long a writer waits for its turn. A process that keeps the
// others waiting for so long hangs.
const turnTimeout = time.Minute

var errNoTurn = errors.New("the processes before it don't come to an end")

func newTurn(path string) *turn { return &turn{path: path + "-turn", limit: turnTimeout} }

// take waits for the turn.
func (t *turn) take() error {
	if t.file == nil {
		f, err := os.OpenFile(t.path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		t.file = f
	}
	free, err := tryLock(t.file)
	if err != nil || free {
		return err
	}
	f, came := t.file, make(chan error, 1)
	go func() { came <- awaitLock(f) }()
	wait := time.NewTimer(t.limit)
	defer wait.Stop()
	select {
	case err := <-came:
		return err
	case <-wait.C:
		// Its place in the queue goes with the file, when the turn comes after all.
		t.file = nil
		go func() { _, _ = <-came, f.Close() }()
		return fmt.Errorf("waiting for %s: %w", t.path, errNoTurn)
	}
}

// give ends the turn.
func (t *turn) give() error { return unlock(t.file) }

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
