package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"dossier/internal/store"
	"dossier/internal/store/sqlite"
)

// zombieTTL is the lease of the takeover test: long enough that a worker which is
// not stopped keeps it on a busy machine.
const zombieTTL = 5 * time.Second

// zombieCalls is how many calls the model answers until the worker is stopped: its
// run can't be over by then.
const zombieCalls = 4

// takeover stops a worker with SIGSTOP in the middle of a run, for longer than
// its lease, has another worker finish the run, and wakes the first one: it gives
// the run up, or its next commit is refused, and it changes nothing.
func (t *test) takeover(ctx context.Context) (bool, error) {
	dir := filepath.Join(t.dir, "takeover")
	var calls atomic.Int64
	stopped := make(chan struct{})
	goOn := sync.OnceFunc(func() { close(stopped) })
	srv, err := t.serve(dir, func() {
		if calls.Add(1) > zombieCalls {
			<-stopped
		}
	})
	if err != nil {
		return false, err
	}
	defer srv.close()
	defer goOn()
	first := order{Dir: dir, URL: srv.url, Owner: "first", Runs: 1, Most: 1, TTL: zombieTTL}
	zombie, said, err := t.start(ctx, first)
	if err != nil {
		return false, err
	}
	if line := <-said; line != sayWorking {
		return false, fmt.Errorf("the first worker says %q", line)
	}
	if err := t.untilRecorded(ctx, dir, zombieCalls); err != nil {
		return false, err
	}
	if err := stopBetweenWrites(zombie.Process, filepath.Join(dir, "dossier.db")); err != nil {
		return false, err
	}
	goOn()
	heir := first
	heir.Owner = "heir"
	if err := t.finish(ctx, heir); err != nil {
		return false, fmt.Errorf("the second worker: %w", err)
	}
	before, err := check(ctx, dir, nil)
	if err != nil {
		return false, err
	}
	if err := zombie.Process.Signal(syscall.SIGCONT); err != nil {
		return false, err
	}
	refused := false
	for line := range said {
		refused = refused || line == sayFenced
	}
	if err := zombie.Wait(); err != nil {
		return false, fmt.Errorf("the first worker: %w", err)
	}
	after, err := check(ctx, dir, nil)
	if err != nil {
		return false, err
	}
	// A worker that was stopped between two steps asks its model once more
	// before it learns at the commit that the run is not its own any more. That
	// call is wasted; what counts is that nothing of it is stored.
	unchanged := before.ok() && after.stored() && before.steps == after.steps
	fmt.Fprintf(t.out, "refused=%t unchanged=%t steps=%d\n", refused, unchanged, after.steps)
	return refused && unchanged, nil
}

// stopBetweenWrites stops a process at a moment at which it is not writing: a
// process that is stopped within a transaction of SQLite holds the file's
// lock, and nobody can take anything over before it goes on.
func stopBetweenWrites(p *os.Process, path string) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if err := p.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		// The signal takes its time: until the process stands still it may
		// begin to write.
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(p.Pid, &status, syscall.WUNTRACED, nil); err != nil {
			return err
		}
		if !status.Stopped() {
			return errors.New("the first worker ended before it was stopped")
		}
		if writable(path) {
			return nil
		}
		if err := p.Signal(syscall.SIGCONT); err != nil {
			return err
		}
	}
	return errors.New("the first worker writes all the time")
}

// writable says whether a write transaction can be begun.
func writable(path string) bool {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(20)&_txlock=immediate")
	if err != nil {
		return false
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		return false
	}
	return tx.Rollback() == nil
}

// untilRecorded waits until the only run has n journal entries and is still
// going.
func (t *test) untilRecorded(ctx context.Context, dir string, n int) error {
	s, err := sqlite.Open(filepath.Join(dir, "dossier.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		runs, err := s.List(ctx, store.Filter{})
		if err != nil {
			return err
		}
		if len(runs) == 1 {
			h, err := s.History(ctx, runs[0].ID)
			if err != nil {
				return err
			}
			if len(h.Entries) >= n {
				return nil
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	return errors.New("the first worker records nothing")
}
