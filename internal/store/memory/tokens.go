package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"dossier/internal/access"
)

// token returns where a token is, -1 for nowhere. The lock is held.
func (s *Store) token(id string) int {
	return slices.IndexFunc(s.tokens, func(t access.Token) bool { return t.ID == id })
}

func noToken(id string) error { return fmt.Errorf("token %q: %w", id, access.ErrNoToken) }

// AddToken implements access.Store.
func (s *Store) AddToken(ctx context.Context, t access.Token) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if s.token(t.ID) >= 0 {
		return fmt.Errorf("token %q: %w", t.ID, access.ErrTokenExists)
	}
	s.tokens = append(s.tokens, t)
	return nil
}

// Token implements access.Store.
func (s *Store) Token(ctx context.Context, id string) (access.Token, error) {
	if err := s.open(ctx); err != nil {
		return access.Token{}, err
	}
	defer s.mu.Unlock()
	if i := s.token(id); i >= 0 {
		return s.tokens[i], nil
	}
	return access.Token{}, noToken(id)
}

// Tokens implements access.Store.
func (s *Store) Tokens(ctx context.Context) ([]access.Token, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.Clone(s.tokens), nil
}

// RemoveToken implements access.Store.
func (s *Store) RemoveToken(ctx context.Context, id string) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	i := s.token(id)
	if i < 0 {
		return noToken(id)
	}
	s.tokens = slices.Delete(s.tokens, i, i+1)
	return nil
}

// TokenUsed implements access.Store.
func (s *Store) TokenUsed(ctx context.Context, id string, at time.Time) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if i := s.token(id); i >= 0 {
		s.tokens[i].Used = at
	}
	return nil
}
