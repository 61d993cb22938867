package kb

import (
	"context"
	"fmt"

	"dossier/index"
	"dossier/lang/terms"
)

// Words are those of a collection: how telling each is there, and how else one
// that is asked for may be said.
type Words struct {
	*index.Index
	terms *terms.Dictionary
}

// Rephrase returns other ways to say words of a text: the words of the
// collection that may be meant by those which it does not have, and what they
// are in the other languages of its documents.
func (w *Words) Rephrase(text string) ([]index.Group, error) {
	groups, err := w.Respell(text)
	return append(groups, Translate(w.terms, w.Index, text)...), err
}

// Words returns the words of a collection as it is now.
func (l *Library) Words(ctx context.Context, name string) (*Words, error) {
	c, err := l.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	v, err := l.view(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("collection %q: %w", name, err)
	}
	return l.words(v), nil
}

func (l *Library) words(v *view) *Words { return &Words{v.index, l.opts.Terms} }

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
