package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dossier/internal/store"
	"dossier/kb"
)

// collection is one of kb's, with what is in it.
type collection struct {
	rec       kb.Collection
	documents map[int64]kb.Document
	segments  map[int64]kb.Segment
}

// openCollection locks the store and finds a collection.
func (s *Store) openCollection(ctx context.Context, id string) (*collection, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	c := s.collections[id]
	if c == nil {
		s.mu.Unlock()
		return nil, noCollection(id)
	}
	return c, nil
}

func noCollection(id string) error { return fmt.Errorf("collection %q: %w", id, kb.ErrNoCollection) }

// CreateCollection implements kb.Store.
func (s *Store) CreateCollection(ctx context.Context, c kb.Collection) error {
	if err := store.CheckCollection(c); err != nil {
		return err
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if s.collections[c.ID] != nil || s.named(c.Name) != nil {
		return fmt.Errorf("collection %q: %w", c.Name, kb.ErrExists)
	}
	s.collections[c.ID] = &collection{
		rec:       kb.Collection{ID: c.ID, Name: c.Name, User: c.User, Roots: c.Roots, Tags: c.Tags, Auto: c.Auto, Created: c.Created, Synced: c.Synced},
		documents: map[int64]kb.Document{},
		segments:  map[int64]kb.Segment{},
	}
	return nil
}

// named finds a collection by its name.
func (s *Store) named(name string) *collection {
	for _, c := range s.collections {
		if c.rec.Name == name {
			return c
		}
	}
	return nil
}

// Collection implements kb.Store.
func (s *Store) Collection(ctx context.Context, name string) (kb.Collection, error) {
	if err := s.open(ctx); err != nil {
		return kb.Collection{}, err
	}
	defer s.mu.Unlock()
	if c := cmp.Or(s.named(name), s.collections[name]); c != nil {
		return c.rec, nil
	}
	return kb.Collection{}, noCollection(name)
}

// Collections implements kb.Store.
func (s *Store) Collections(ctx context.Context) ([]kb.Collection, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var list []kb.Collection
	for _, c := range s.collections {
		list = append(list, c.rec)
	}
	slices.SortFunc(list, func(a, b kb.Collection) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// DeleteCollection implements kb.Store.
func (s *Store) DeleteCollection(ctx context.Context, id string) error {
	if _, err := s.openCollection(ctx, id); err != nil {
		return err
	}
	defer s.mu.Unlock()
	delete(s.collections, id)
	return nil
}

// Files implements kb.Store.
func (s *Store) Files(ctx context.Context, id string) ([]kb.File, error) {
	c, err := s.openCollection(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var list []kb.File
	for _, d := range c.byPath() {
		list = append(list, kb.File{N: d.N, Path: d.Path, Hash: d.Hash, Size: d.Size, Modified: d.Modified, Failed: d.Failure != nil, Reading: d.Reading})
	}
	return list, nil
}

// byPath returns the documents in the order of their paths.
func (c *collection) byPath() []kb.Document {
	return slices.SortedFunc(maps.Values(c.documents), func(a, b kb.Document) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.N, b.N))
	})
}

// Documents implements kb.Store.
func (s *Store) Documents(ctx context.Context, id string, numbers ...int64) ([]kb.Document, error) {
	c, err := s.openCollection(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var list []kb.Document
	for _, n := range numbers {
		if d, ok := c.documents[n]; ok {
			list = append(list, d)
		}
	}
	return list, nil
}

// ReadOtherwise implements kb.Store.
func (s *Store) ReadOtherwise(ctx context.Context, id, reading string) (int, error) {
	c, err := s.openCollection(ctx, id)
	if err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	n := 0
	for _, d := range c.documents {
		if d.Reading != reading && d.Hash != "" {
			n++
		}
	}
	return n, nil
}

// FailedDocuments implements kb.Store.
func (s *Store) FailedDocuments(ctx context.Context, id string) ([]kb.Document, error) {
	c, err := s.openCollection(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var list []kb.Document
	for _, d := range c.byPath() {
		if d.Failure != nil {
			list = append(list, d)
		}
	}
	return list, nil
}

// Segments implements kb.Store.
func (s *Store) Segments(ctx context.Context, id string) ([]kb.Segment, int64, error) {
	c, err := s.openCollection(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	defer s.mu.Unlock()
	list := slices.SortedFunc(maps.Values(c.segments), func(a, b kb.Segment) int { return cmp.Compare(a.N, b.N) })
	return list, c.rec.Revision, nil
}

// ChangeCollection implements kb.Store.
func (s *Store) ChangeCollection(ctx context.Context, id string, change kb.Change) (int64, error) {
	c, err := s.openCollection(ctx, id)
	if err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	next, err := store.Marks{Revision: c.rec.Revision, Document: c.rec.LastDocument, Segment: c.rec.LastSegment}.
		Next(change, func(n int64) bool { _, ok := c.segments[n]; return ok })
	if err != nil {
		return 0, fmt.Errorf("change collection %q: %w", id, err)
	}
	if change.Name != "" {
		if other := s.named(change.Name); other != nil && other != c {
			return 0, fmt.Errorf("change collection %q: %q: %w", id, change.Name, kb.ErrExists)
		}
		c.rec.Name, c.rec.Auto = change.Name, false
	}
	c.rec.Revision, c.rec.LastDocument, c.rec.LastSegment = next.Revision, next.Document, next.Segment
	for _, n := range change.Delete {
		if d, ok := c.documents[n]; ok {
			c.count(d, -1)
			delete(c.documents, n)
		}
	}
	for _, n := range change.Drop {
		delete(c.segments, n)
	}
	for _, f := range change.Touch {
		if d, ok := c.documents[f.N]; ok {
			d.Size, d.Modified = f.Size, f.Modified
			c.documents[f.N] = d
		}
	}
	for _, d := range change.Put {
		c.count(d, 1)
		c.documents[d.N] = d
	}
	for _, g := range change.Segments {
		c.segments[g.N] = g
	}
	if change.Roots != nil {
		c.rec.Roots = change.Roots
	}
	if change.Tags != nil {
		c.rec.Tags = change.Tags
	}
	if !change.Synced.IsZero() {
		c.rec.Synced = change.Synced
	}
	return c.rec.Revision, nil
}

// count adds a document to the counts of its collection, or takes it away.
func (c *collection) count(d kb.Document, sign int) {
	if d.Failure == nil {
		c.rec.Documents += sign
	} else {
		c.rec.Failed += sign
	}
	c.rec.Chunks += sign * len(d.Chunks)
	c.rec.Bytes += int64(sign) * int64(len(d.Text))
}
