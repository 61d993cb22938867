// Package sqlite keeps everything in one SQLite file, durably: a commit that
// was reported is on disk.
//
// One goroutine writes. It takes all that is queued and commits it in one
// transaction, so that the steps of many runs share one fsync; a batch that
// fails does not take the others of its group with it. Readers use
// connections of their own and never wait for the writer. Several processes
// may open the same file; leases and epochs keep them apart.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver

	"dossier/internal/store"
)

// Options of a Store.
type Options struct {
	// Now is the clock of leases; time.Now when nil.
	Now func() time.Time
}

// Store implements store.Store.
type Store struct {
	path   string
	now    func() time.Time
	writer *writer
	reader *sql.DB

	prepared *prepared // of reader

	mu     sync.RWMutex // held for reading by every read
	closed bool
}

var _ store.Store = (*Store)(nil)

// busyTimeout is how long a connection waits for other processes. One that keeps
// the others waiting for so long hangs.
const busyTimeout = 2 * time.Minute

// Open opens the database file at path and makes it if it is not there. A file
// that is damaged, or is no database of ours, is left as it is.
func Open(path string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	s := &Store{path: abs, now: o.Now}
	fail := func(err error) (*Store, error) {
		return nil, fmt.Errorf("open database %s: %w", abs, explain(err, abs))
	}
	if err := openable(abs); err != nil {
		return fail(err)
	}
	if err := private(abs); err != nil {
		return fail(err)
	}
	// Two rows of 2 kB don't fit into a page of 4 kB: with 8 kB a conversation
	// takes a quarter less space.
	c, err := connect(s.dsn("_pragma=page_size(8192)&_pragma=synchronous(FULL)&_pragma=wal_autocheckpoint(0)"))
	if err != nil {
		return fail(err)
	}
	t := newTurn(abs)
	if err := prepareFile(c, t); err != nil {
		return fail(errors.Join(err, c.close(), t.close()))
	}
	s.reader, err = sql.Open("sqlite", s.dsn("_pragma=query_only(1)"))
	if err != nil {
		return fail(errors.Join(err, c.close(), t.close()))
	}
	// Opening a connection costs more than a read, so they are kept for a while.
	s.reader.SetMaxOpenConns(8)
	s.reader.SetMaxIdleConns(8)
	s.reader.SetConnMaxIdleTime(time.Minute)
	s.prepared = &prepared{db: s.reader}
	s.writer = newWriter(c, t, abs, o.Now)
	return s, nil
}

// dsn names the file with what every connection needs and with more.
func (s *Store) dsn(more string) string {
	path := filepath.ToSlash(s.path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: fmt.Sprintf(
		"_pragma=busy_timeout(%d)&_pragma=foreign_keys(1)&%s", busyTimeout.Milliseconds(), more)}
	return u.String()
}

// prepareFile brings the file into the form that this program needs. A file that
// has it is only looked at; of many processes that come to one that has not, one
// after the other does what is left.
func prepareFile(c *conn, t *turn) error {
	known, err := latestMigration()
	if err != nil {
		return err
	}
	// A read comes first: it fails on a damaged file before anything is changed.
	var have int64
	var mode string
	if err := c.row("PRAGMA user_version", nil, &have); err != nil {
		return err
	}
	if err := c.row("PRAGMA journal_mode", nil, &mode); err != nil {
		return err
	}
	if have >= known && (have > known || mode == "wal") {
		if err := migrate(c); err != nil { // it says what is wrong with one that is newer
			return err
		}
		return writable(c)
	}
	if err := writable(c); err != nil {
		return err
	}
	return t.during(func() error {
		if err := migrate(c); err != nil {
			return err
		}
		if err := c.row("PRAGMA journal_mode = WAL", nil, &mode); err != nil {
			return err
		}
		if mode != "wal" {
			return fmt.Errorf("the file system does not support SQLite's write-ahead log (journal mode is %q): put the data directory on a local disk", mode)
		}
		return nil
	})
}

// writable fails for a file that SQLite can only read: it would only notice at the
// first commit.
func writable(c *conn) error {
	if c.readOnly() {
		return errReadOnly
	}
	return nil
}

// openable says what keeps path from being a database at all.
func openable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		_, err = os.Stat(filepath.Dir(path))
		return err
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a directory, not a file")
	}
	return nil
}

// private makes the file one that only this user can read, as it is made or if it
// was made readable; SQLite gives the files beside it the same mode. A file that
// belongs to somebody else is left as it is.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, os.ErrExist) {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		for _, name := range []string{path, path + "-wal", path + "-shm"} {
			_ = os.Chmod(name, 0o600)
		}
	}
	return nil
}

// Check verifies that the file is sound. It reads all of it.
func (s *Store) Check(ctx context.Context) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	var verdict string
	if err := s.reader.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return fmt.Errorf("check database: %w", explain(err, s.path))
	}
	if verdict != "ok" {
		return fmt.Errorf("check database: %s: %w", verdict, damaged(s.path))
	}
	var table string
	err := s.reader.QueryRowContext(ctx, `SELECT "table" FROM pragma_foreign_key_check LIMIT 1`).Scan(&table)
	switch {
	case err == nil:
		return fmt.Errorf("check database: rows of table %s belong to nothing: %w", table, damaged(s.path))
	case !errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("check database: %w", explain(err, s.path))
	}
	var run int64
	err = s.reader.QueryRowContext(ctx, `SELECT run FROM (SELECT run FROM log UNION SELECT run FROM held)
		WHERE run NOT IN (SELECT n FROM runs) AND run NOT IN (SELECT run FROM remains) LIMIT 1`).Scan(&run)
	switch {
	case err == nil:
		return fmt.Errorf("check database: rows of the log belong to no run: %w", damaged(s.path))
	case !errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("check database: %w", explain(err, s.path))
	}
	var id string
	err = s.reader.QueryRowContext(ctx, `SELECT id FROM runs WHERE last_seq <> (SELECT count(*) FROM events WHERE run = runs.n)
		OR last_seq <> (SELECT coalesce(max(seq), 0) FROM events WHERE run = runs.n) LIMIT 1`).Scan(&id)
	switch {
	case err == nil:
		return fmt.Errorf("check database: the events of run %q have a gap: %w", id, damaged(s.path))
	case !errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("check database: %w", explain(err, s.path))
	}
	if err := s.checkTemplates(ctx); err != nil {
		return err
	}
	return s.checkCollections(ctx)
}

// Close waits for what is queued and closes the file.
func (s *Store) Close() error {
	s.writer.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	// The last connection to close carries the log over into the file. While
	// there is always another, whoever leaves sees to it that it does not grow.
	if s.writer.wrote {
		s.writer.checkpoint("PASSIVE")
	}
	if err := errors.Join(s.prepared.close(), s.reader.Close(), s.writer.conn.close(), s.writer.turn.close()); err != nil {
		return fmt.Errorf("close database %s: %w", s.path, explain(err, s.path))
	}
	return nil
}
