package kb

import (
	"context"
	"fmt"

	"dossier/index"
)

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

// WhyWords says why a collection can be searched by words only; it is empty
// where it can be searched by meaning too. It fails with ErrNoCollection.
func (l *Library) WhyWords(ctx context.Context, name string) (string, error) {
	c, err := l.Get(ctx, name)
	if err != nil {
		return "", err
	}
	v, err := l.view(ctx, c)
	if err != nil {
		return "", fmt.Errorf("collection %q: %w", name, err)
	}
	return l.whyNoVectors(v), nil
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
