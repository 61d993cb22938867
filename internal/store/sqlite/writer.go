package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
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
	db    *sql.DB
	conn  *sql.Conn
	path  string
	now   func() time.Time
	stmts map[string]*sql.Stmt
	// backlog is how many pages the write-ahead log is thought to have beyond
	// what was carried over into the file.
	backlog int

	mu     sync.Mutex
	queue  []job
	closed bool
	wake   chan struct{}
	ended  chan struct{}
}

func newWriter(db *sql.DB, conn *sql.Conn, path string, now func() time.Time) *writer {
	w := &writer{
		db: db, conn: conn, path: path, now: now, stmts: map[string]*sql.Stmt{},
		wake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	go w.loop()
	return w
}

// enqueue hands a job over. Jobs are done in the order of the calls.
func (w *writer) enqueue(j job) {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		j.done(store.ErrClosed)
		return
	}
	w.queue = append(w.queue, j)
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
	if err := ctx.Err(); err != nil {
		return err
	}
	result := make(chan error, 1)
	w.enqueue(job{size: size, done: func(err error) { result <- err }, do: func(tx *tx) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return do(tx)
	}})
	return <-result
}

// close lets the writer finish what is queued.
func (w *writer) close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.rouse()
	<-w.ended
	return nil
}

// release closes the connection, after close.
func (w *writer) release() error {
	var err error
	for _, s := range w.stmts {
		err = errors.Join(err, s.Close())
	}
	return errors.Join(err, w.conn.Close(), w.db.Close())
}

// loop commits group after group: all that was queued while the last group
// was on its way to the disk is the next one.
func (w *writer) loop() {
	defer close(w.ended)
	var group []job
	var results []error
	for range w.wake {
		for {
			w.mu.Lock()
			group, w.queue = w.queue, group[:0]
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
				w.backlog += 2 + j.size/2048
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
		return
	case len(group) == 1:
		results[0] = explain(err, w.path)
		return
	case violated(err) && w.transact(group, results, true) == nil:
		return
	}
	for i := range group {
		w.commit(group[i:i+1], results[i:i+1])
	}
}

// transact carries out jobs in one transaction. When it fails, nothing was
// changed. With apart, a job that breaks a constraint fails alone.
func (w *writer) transact(group []job, results []error, apart bool) (err error) {
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return err
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
		if primary, _ := code(results[i]); primary != 0 {
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
	checkpointPages = 1000
	truncatePages   = 16_000
)

// carryOver moves the write-ahead log into the file. It runs after the
// waiters were told, so that they don't wait for it.
func (w *writer) carryOver() {
	if w.backlog < checkpointPages {
		return
	}
	log, moved := w.checkpoint("PASSIVE")
	if log > truncatePages {
		log, moved = w.checkpoint("TRUNCATE")
	}
	w.backlog = min(log-moved, checkpointPages/2)
}

// checkpoint returns the length of the log in pages and how many of them are
// carried over. A checkpoint that fails is tried again later: the data is
// safe in the log.
func (w *writer) checkpoint(mode string) (log, moved int) {
	var busy int
	err := w.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &log, &moved)
	if err != nil {
		return 0, 0
	}
	return log, moved
}

// stmt returns the prepared form of a statement.
func (w *writer) stmt(query string) (*sql.Stmt, error) {
	if s := w.stmts[query]; s != nil {
		return s, nil
	}
	s, err := w.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, fmt.Errorf("prepare %.40q: %w", query, err)
	}
	w.stmts[query] = s
	return s, nil
}

func (w *writer) exec(query string, args ...any) error {
	s, err := w.stmt(query)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(context.Background(), args...)
	return err
}

func (t *tx) exec(query string, args ...any) error { return t.w.exec(query, args...) }

// changed runs a statement and says how many rows it has changed.
func (t *tx) changed(query string, args ...any) (int64, error) {
	s, err := t.w.stmt(query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// row reads one row; it fails with sql.ErrNoRows when there is none.
func (t *tx) row(query string, args []any, dst ...any) error {
	s, err := t.w.stmt(query)
	if err != nil {
		return err
	}
	return s.QueryRowContext(context.Background(), args...).Scan(dst...)
}
