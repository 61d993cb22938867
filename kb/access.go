package kb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"dossier/index"
)

// AddRoots makes a collection mirror further folders and files, from the next
// sync on. It fails with ErrNoCollection.
func (l *Library) AddRoots(ctx context.Context, name string, roots ...string) (Collection, error) {
	for {
		c, err := l.Get(ctx, name)
		if err != nil {
			return c, err
		}
		all := slices.Clone(c.Roots)
		for _, root := range roots {
			path, err := resolve(root)
			if err != nil {
				return c, err
			}
			if !slices.Contains(all, path) {
				all = append(all, path)
			}
		}
		if len(all) == len(c.Roots) {
			return c, nil
		}
		_, err = l.store.ChangeCollection(ctx, c.ID, Change{Revision: c.Revision, Roots: all})
		if err == nil {
			return l.Get(ctx, c.ID)
		}
		if !errors.Is(err, ErrChanged) {
			return c, fmt.Errorf("collection %q: %w", name, err)
		}
	}
}

// Weights returns the index of a collection as it is now, which tells how
// telling a word is there.
func (l *Library) Weights(ctx context.Context, name string) (*index.Index, error) {
	c, err := l.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	v, err := l.view(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("collection %q: %w", name, err)
	}
	return v.index, nil
}

// Verify reads the whole index of a collection and compares its checksums.
func (l *Library) Verify(ctx context.Context, name string) error {
	c, err := l.Get(ctx, name)
	if err != nil {
		return err
	}
	segments, _, err := l.store.Segments(ctx, c.ID)
	if err != nil {
		return fmt.Errorf("collection %q: %w", name, err)
	}
	for _, s := range segments {
		opened, err := index.Open(s.Data)
		if err == nil {
			err = opened.Verify()
		}
		if err != nil {
			return fmt.Errorf("collection %q: segment %d of the index: %w", name, s.N, err)
		}
	}
	return nil
}
