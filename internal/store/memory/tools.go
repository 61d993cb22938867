package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"dossier/tool/catalog"
)

// toolKey is what a tool is known by.
type toolKey struct{ origin, name string }

// PutTools implements catalog.Store.
func (s *Store) PutTools(ctx context.Context, entries []catalog.Entry) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, e := range entries {
		k := toolKey{e.Origin, e.Name}
		r := s.tools[k]
		r.Entry = e
		s.tools[k] = r
	}
	return nil
}

// ToolRecords implements catalog.Store.
func (s *Store) ToolRecords(ctx context.Context) ([]catalog.Record, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.tools), func(a, b catalog.Record) int {
		return cmp.Or(strings.Compare(a.Origin, b.Origin), strings.Compare(a.Name, b.Name))
	}), nil
}

// RecordUse implements catalog.Store.
func (s *Store) RecordUse(ctx context.Context, uses []catalog.ToolUse) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, u := range uses {
		k := toolKey{u.Origin, u.Name}
		if r, known := s.tools[k]; known {
			r.Add(u.Use)
			s.tools[k] = r
		}
	}
	return nil
}
