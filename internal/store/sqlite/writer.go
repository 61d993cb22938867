package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dossier/internal/store"
)

// job is one write. do may be called more than once, each time in a
// transaction that has seen nothing of the earlier calls. A do that refuses
// (an error of the contract) has changed nothing; one that fails with an error
// of SQLite may have.
type job struct {
	do   func(tx *tx) error
	done func(error)
	size int // bytes that it writes, roughly
}

// tx is the writer's transaction.
type tx struct {
	w   *writer
	now time.Time
}

// writer owns the connection that writes.
type writer struct {
	conn  *conn
	turn  *turn
	path  string
	now   func() time.Time
	known map[string]known
	// backlog is how many pages the write-ahead log is thought to have beyond
	// what was carried over into the file.
	backlog int64
	wrote   bool // anything at all

	watch   watch
	look    atomic.Bool // the file is to be looked at
	version int64       // of the file, at the last look

	mu     sync.Mutex
	queue  []job
	pieces []job // of long work: one goes with each group
	closed bool
	wake   chan struct{}
	ended  chan struct{}
}

func newWriter(c *conn, t *turn, path string, now func() time.Time) *writer {
	w := &writer{
		conn: c, turn: t, path: path, now: now, known: map[string]known{},
		wake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	go w.loop()
	return w
}

// enqueue hands a job over. Jobs are done in the order of the calls.
func (w *writer) enqueue(j job) { w.enter(&w.queue, j) }

func (w *writer) enter(queue *[]job, j job) {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		j.done(store.ErrClosed)
		return
	}
	*queue = append(*queue, j)
	w.mu.Unlock()
	w.rouse()
}

func (w *writer) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// do hands a job over and waits for it. Once it has begun it is carried out,
// whatever becomes of ctx.
func (w *writer) do(ctx context.Context, size int, do func(tx *tx) error) error {
	return w.await(ctx, &w.queue, size, do)
}

// between is do for a piece of long work. However many pieces wait, each group of
// other jobs has one of them at most to put up with.
func (w *writer) between(ctx context.Context, size int, do func(tx *tx) error) error {
	return w.await(ctx, &w.pieces, size, do)
}

func (w *writer) await(ctx context.Context, queue *[]job, size int, do func(tx *tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	result := make(chan error, 1)
	w.enter(queue, job{size: size, done: func(err error) { result <- err }, do: func(tx *tx) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return do(tx)
	}})
	return <-result
}

// stop lets the writer finish what is queued. The connection is closed by
// whoever made it.
func (w *writer) stop() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.rouse()
	<-w.ended
}

// loop commits group after group: all that was queued while the last group
// was on its way to the disk is the next one.
func (w *writer) loop() {
	defer close(w.ended)
	var group []job
	var results []error
	for range w.wake {
		w.lookAround()
		for {
			w.mu.Lock()
			group, w.queue = w.queue, group[:0]
			if len(w.pieces) > 0 {
				group = append(group, w.pieces[0])
				w.pieces = slices.Delete(w.pieces, 0, 1)
			}
			closed := w.closed
			w.mu.Unlock()
			if len(group) == 0 {
				if closed {
					return
				}
				break
			}
			results = append(results[:0], make([]error, len(group))...)
			w.commit(group, results)
			for i, j := range group {
				j.done(results[i])
				w.backlog += 2 + int64(j.size)/4096
			}
			clear(group)
			w.carryOver()
		}
	}
}

// commit carries out a group and fills in the results. It is tried in one
// transaction without further ado; if a job breaks a constraint, again with a
// savepoint around each job; and if the transaction as such fails, each job
// for itself, so that one that does not fit on the disk does not keep back
// those that do.
func (w *writer) commit(group []job, results []error) {
	err := w.transact(group, results, false)
	switch {
	case err == nil:
		w.wrote = true
		return
	case len(group) == 1 || errors.Is(err, errNotBegun):
		// Each for itself would wait as long and begin no sooner.
		for i := range results {
			results[i] = explain(err, w.path)
		}
		return
	case violated(err) && w.transact(group, results, true) == nil:
		return
	}
	for i := range group {
		w.commit(group[i:i+1], results[i:i+1])
	}
}

// errNotBegun is what becomes of a transaction that others keep from beginning.
var errNotBegun = errors.New("the transaction could not begin")

// transact carries out jobs in one transaction. When it fails, nothing was
// changed. With apart, a job that breaks a constraint fails alone.
func (w *writer) transact(group []job, results []error, apart bool) (err error) {
	if err := w.turn.take(); err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	defer func() { err = errors.Join(err, w.turn.give()) }()
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	defer func() {
		if err != nil {
			_ = w.exec("ROLLBACK") // SQLite may have rolled back already
		}
	}()
	tx := &tx{w: w, now: w.now()}
	for i, j := range group {
		if apart {
			if err := w.exec("SAVEPOINT job"); err != nil {
				return err
			}
		}
		results[i] = j.do(tx)
		if code(results[i]) != 0 {
			if !apart || !violated(results[i]) {
				return results[i]
			}
			if err := w.exec("ROLLBACK TO job"); err != nil {
				return err
			}
		}
		if apart {
			if err := w.exec("RELEASE job"); err != nil {
				return err
			}
		}
	}
	return w.exec("COMMIT")
}

// The log is carried over into the file when it has checkpointPages, and cut
// off when readers have made it grow beyond truncatePages.
const (
	checkpointPages = 500
	truncatePages   = 8000
)

// carryOver moves the write-ahead log into the file. It runs after the
// waiters were told, so that they don't wait for it.
func (w *writer) carryOver() {
	if w.backlog < checkpointPages {
		return
	}
	log, moved := w.checkpoint("PASSIVE")
	if log > truncatePages {
		log, moved = w.truncate(log, moved)
	}
	w.backlog = min(log-moved, checkpointPages/2)
}

// truncateWait is how long readers may keep the log from being cut off, and with
// it all writers waiting. If they read on, it is cut off another time.
const truncateWait = 50 * time.Millisecond

// truncate cuts the log off. That takes the file for itself, so it waits for its
// turn and for no more than a moment for readers.
func (w *writer) truncate(log, moved int64) (int64, int64) {
	_ = w.turn.during(func() error { // if not now, another time
		defer w.patience(busyTimeout)
		w.patience(truncateWait)
		log, moved = w.checkpoint("TRUNCATE")
		return nil
	})
	return log, moved
}

// patience sets how long this connection waits for others.
func (w *writer) patience(d time.Duration) {
	var set int64
	_ = w.conn.row(fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()), nil, &set) // it only sets a number
}

// checkpoint returns the length of the log in pages and how many of them are
// carried over. A checkpoint that fails is tried again later: the data is
// safe in the log.
func (w *writer) checkpoint(mode string) (log, moved int64) {
	var busy int64
	if err := w.conn.row("PRAGMA wal_checkpoint("+mode+")", nil, &busy, &log, &moved); err != nil {
		return 0, 0
	}
	return log, moved
}

func (w *writer) exec(text string) error {
	_, err := w.conn.exec(text)
	return err
}

func (t *tx) exec(text string, args ...any) error {
	_, err := t.w.conn.exec(text, args...)
	return err
}

func (t *tx) row(text string, args []any, dst ...any) error {
	return t.w.conn.row(text, args, dst...)
}
