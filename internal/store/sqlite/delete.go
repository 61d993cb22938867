package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"dossier/internal/store"
)

// What a step of a deletion removes at most of a log, beside the one row that is
// larger: about as much as takes the time of another commit.
const (
	clearRows  = 100
	clearBytes = 1 << 20
)

// Delete implements store.Runs. The run is gone with the first commit, and what
// fits into it of its log. The rest is removed in steps between which others can
// commit; if that is cut short, the next deletion goes on with it.
func (s *Store) Delete(ctx context.Context, id string) error {
	more := false
	err := s.writer.between(ctx, clearWrites, func(tx *tx) (err error) {
		more, err = tx.deleteRun(id)
		return err
	})
	if err != nil || !more {
		return err
	}
	if err := s.clear(ctx); err != nil {
		return fmt.Errorf("run %q is deleted, and its log is not: %w", id, err)
	}
	return nil
}

// clearWrites is what a step writes, roughly: pages that get free are not
// written.
const clearWrites = 100 << 10

// deleteRun makes a run disappear and says whether there are logs left to clear.
func (t *tx) deleteRun(id string) (more bool, err error) {
	r, err := t.find(id)
	if err != nil {
		return false, err
	}
	if r.leased(t.now) {
		return false, fmt.Errorf("run %q: %w", id, store.ErrBusy)
	}
	if err := t.exec("DELETE FROM runs WHERE n = ?", r.n); err != nil { // request and signals follow by foreign keys
		return false, err
	}
	if _, err := t.leave(id); err != nil {
		return false, err
	}
	if err := t.unword(r.n); err != nil {
		return false, err
	}
	if r.session.Valid {
		err := t.exec("DELETE FROM sessions WHERE n = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE session = ?1)", r.session.Int64)
		if err != nil {
			return false, err
		}
	}
	if err := t.exec("INSERT INTO remains (run) VALUES (?)", r.n); err != nil {
		return false, err
	}
	return t.clearLog(r.n)
}

// clear removes what deleted runs have left, until nothing is left or ctx ends.
func (s *Store) clear(ctx context.Context) error {
	for more := true; more && ctx.Err() == nil; {
		err := s.writer.between(ctx, clearWrites, func(tx *tx) (err error) {
			var n int64
			switch err := tx.row("SELECT run FROM remains LIMIT 1", nil, &n); {
			case errors.Is(err, sql.ErrNoRows):
				more = false
				return nil
			case err != nil:
				return err
			}
			more, err = tx.clearLog(n)
			return err
		})
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// clearLog removes some of the log of a run that is gone, then what it held, and
// says whether anything is left of this or another one.
func (t *tx) clearLog(n int64) (more bool, err error) {
	var ids []int64
	var sum int64
	rest := false
	err = t.w.conn.each("SELECT id, coalesce(octet_length(value), 0) FROM log WHERE run = ? LIMIT ?", []any{n, clearRows + 1}, func(row scanner) error {
		var id, size int64
		err := row.Scan(&id, &size)
		sum += size
		if rest = rest || len(ids) == clearRows || len(ids) > 0 && sum > clearBytes; !rest {
			ids = append(ids, id)
		}
		return err
	})
	if err != nil {
		return false, err
	}
	if len(ids) > 0 {
		list, err := json.Marshal(ids)
		if err != nil {
			return false, err
		}
		if err := t.exec("DELETE FROM log WHERE id IN (SELECT value FROM json_each(?))", string(list)); err != nil {
			return false, err
		}
	}
	if !rest {
		rest, err = t.release(n)
	}
	if err != nil || rest {
		return true, err
	}
	if err := t.exec("DELETE FROM remains WHERE run = ?", n); err != nil {
		return false, err
	}
	var others int64
	err = t.row("SELECT EXISTS (SELECT 1 FROM remains)", nil, &others)
	return others != 0, err
}
