package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"dossier/internal/access"
)

func noToken(id string) error { return fmt.Errorf("token %q: %w", id, access.ErrNoToken) }

const selectToken = "SELECT id, hash, user, scopes, note, created, expires, used FROM tokens "

func scanToken(row scanner) (t access.Token, err error) {
	var scopes []string
	err = row.Scan(&t.ID, bytesOf{&t.Hash}, &t.User, stringsOf{&scopes}, &t.Note, timeAt{&t.Created}, timeAt{&t.Expires}, timeAt{&t.Used})
	for _, s := range scopes {
		t.Scopes = append(t.Scopes, access.Scope(s))
	}
	return t, err
}

// AddToken implements access.Store.
func (s *Store) AddToken(ctx context.Context, t access.Token) error {
	scopes := make([]string, len(t.Scopes))
	for i, scope := range t.Scopes {
		scopes[i] = string(scope)
	}
	return s.writer.do(ctx, 0, func(tx *tx) error {
		var n int64
		switch err := tx.row("SELECT n FROM tokens WHERE id = ?", []any{t.ID}, &n); {
		case err == nil:
			return fmt.Errorf("token %q: %w", t.ID, access.ErrTokenExists)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		return tx.exec("INSERT INTO tokens (id, hash, user, scopes, note, created, expires, used) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			t.ID, t.Hash, t.User, encodeStrings(scopes), t.Note, moment(t.Created), moment(t.Expires), moment(t.Used))
	})
}

// Token implements access.Store.
func (s *Store) Token(ctx context.Context, id string) (t access.Token, err error) {
	found := false
	err = s.each(ctx, selectToken+"WHERE id = ?", []any{id}, func(row scanner) (err error) {
		found = true
		t, err = scanToken(row)
		return err
	})
	switch {
	case err != nil:
		return access.Token{}, fmt.Errorf("token %q: %w", id, err)
	case !found:
		return access.Token{}, noToken(id)
	}
	return t, nil
}

// Tokens implements access.Store.
func (s *Store) Tokens(ctx context.Context) ([]access.Token, error) {
	var list []access.Token
	err := s.each(ctx, selectToken+"ORDER BY n", nil, func(row scanner) error {
		t, err := scanToken(row)
		list = append(list, t)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	return list, nil
}

// RemoveToken implements access.Store.
func (s *Store) RemoveToken(ctx context.Context, id string) error {
	return s.writer.do(ctx, 0, func(tx *tx) error {
		changed, err := tx.w.conn.exec("DELETE FROM tokens WHERE id = ?", id)
		if err == nil && changed == 0 {
			return noToken(id)
		}
		return err
	})
}

// TokenUsed implements access.Store.
func (s *Store) TokenUsed(ctx context.Context, id string, at time.Time) error {
	return s.writer.do(ctx, 0, func(tx *tx) error {
		return tx.exec("UPDATE tokens SET used = ? WHERE id = ?", moment(at), id)
	})
}
