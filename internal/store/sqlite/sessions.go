package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"dossier/internal/store"
)

// A session is listed with its newest run.
const selectSession = `SELECT s.id, s.title, s.user, s.created, (SELECT count(*) FROM runs WHERE session = s.n), r.id, r.updated
	FROM sessions s JOIN runs r ON r.n = (SELECT max(n) FROM runs WHERE session = s.n) `

func scanSession(row scanner) (g store.Session, err error) {
	err = row.Scan(&g.ID, &g.Title, &g.User, timeAt{&g.Created}, &g.Runs, &g.Last, timeAt{&g.Updated})
	return g, err
}

// Session implements store.Sessions.
func (s *Store) Session(ctx context.Context, id string) (g store.Session, err error) {
	found := false
	err = s.each(ctx, selectSession+"WHERE s.id = ?", []any{id}, func(row scanner) (err error) {
		found = true
		g, err = scanSession(row)
		return err
	})
	switch {
	case err != nil:
		return store.Session{}, fmt.Errorf("session %q: %w", id, err)
	case !found:
		return store.Session{}, noSession(id)
	}
	return g, nil
}

// SessionList implements store.Sessions.
func (s *Store) SessionList(ctx context.Context, f store.SessionFilter) ([]store.Session, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	where, args := "WHERE 1", []any{}
	if f.User != "" {
		where, args = where+" AND s.user = ? AND s.user <> ''", append(args, f.User)
	}
	if f.Before != "" {
		var last sql.NullInt64
		switch err := s.row(ctx, "SELECT (SELECT max(n) FROM runs WHERE session = s.n) FROM sessions s WHERE id = ?", []any{f.Before}, &last); {
		case errors.Is(err, sql.ErrNoRows):
			return nil, noSession(f.Before)
		case err != nil:
			return nil, fmt.Errorf("sessions: %w", err)
		}
		where, args = where+" AND r.n < ?", append(args, last.Int64)
	}
	var list []store.Session
	err := s.each(ctx, selectSession+where+" ORDER BY r.n DESC LIMIT ?", append(args, f.Limit), func(row scanner) error {
		g, err := scanSession(row)
		list = append(list, g)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	return list, nil
}

// RenameSession implements store.Sessions.
func (s *Store) RenameSession(ctx context.Context, id, title string) error {
	return s.writer.do(ctx, len(title), func(tx *tx) error {
		changed, err := tx.w.conn.exec("UPDATE sessions SET title = ? WHERE id = ?", title, id)
		if err == nil && changed == 0 {
			return noSession(id)
		}
		return err
	})
}
