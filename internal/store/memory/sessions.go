package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"dossier/internal/store"
)

func noSession(id string) error { return fmt.Errorf("session %q: %w", id, store.ErrNotFound) }

// newest is the run of a session that was created last; a session has one.
func (g *session) newest() *journal { return g.runs[len(g.runs)-1] }

func (g *session) public() store.Session {
	last := g.newest()
	return store.Session{
		ID: g.id, Title: g.title, User: g.user, Created: g.created, Runs: len(g.runs), Last: last.rec.ID, Updated: last.rec.Updated,
	}
}

// Session implements store.Sessions.
func (s *Store) Session(ctx context.Context, id string) (store.Session, error) {
	if err := s.open(ctx); err != nil {
		return store.Session{}, err
	}
	defer s.mu.Unlock()
	if g := s.sessions[id]; g != nil {
		return g.public(), nil
	}
	return store.Session{}, noSession(id)
}

// SessionList implements store.Sessions.
func (s *Store) SessionList(ctx context.Context, f store.SessionFilter) ([]store.Session, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if f.Limit <= 0 {
		f.Limit = 100
	}
	before := s.created + 1
	if f.Before != "" {
		g := s.sessions[f.Before]
		if g == nil {
			return nil, noSession(f.Before)
		}
		before = g.newest().n
	}
	var list []store.Session
	for _, g := range slices.SortedFunc(maps.Values(s.sessions), func(a, b *session) int { return cmp.Compare(b.newest().n, a.newest().n) }) {
		if len(list) == f.Limit {
			break
		}
		if g.newest().n < before && (f.User == "" || g.user == f.User) {
			list = append(list, g.public())
		}
	}
	return list, nil
}

// RenameSession implements store.Sessions.
func (s *Store) RenameSession(ctx context.Context, id, title string) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	g := s.sessions[id]
	if g == nil {
		return noSession(id)
	}
	g.title = title
	return nil
}
