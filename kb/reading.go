package kb

import (
	"context"
	"fmt"

	"dossier/index"
	"dossier/reader"
)

// Reading is the version of what a document becomes here: of the reader that
// reads it, of how its text is cut, and of the terms by which the pieces are
// found. Documents with another one are read again by the next Sync.
func (l *Library) Reading() string {
	if l.opts.ChunkSize != DefaultChunkSize {
		return fmt.Sprintf("%d.%d.%d/%d", reader.Version, cutting, index.Analysis, l.opts.ChunkSize)
	}
	return fmt.Sprintf("%d.%d.%d", reader.Version, cutting, index.Analysis)
}

// Outdated counts the documents of a collection that were read by another
// version of the program: they are found as that one understood them until a
// sync has read them again.
func (l *Library) Outdated(ctx context.Context, name string) (int, error) {
	c, err := l.Get(ctx, name)
	if err != nil {
		return 0, err
	}
	n, err := l.store.ReadOtherwise(ctx, c.ID, l.Reading())
	if err != nil {
		return 0, fmt.Errorf("collection %q: %w", name, err)
	}
	return n, nil
}

// vectorOf finds the vector that a text has already: that of a chunk which it
// was before its file was read again.
type vectorOf map[string]located

// located is a vector in a set.
type located struct {
	set *index.Vectors
	row int
}

// known returns the vectors of a document's chunks by the texts that they were
// made of, so that what has not changed is not embedded again. What cannot be
// had is made anew.
func (a *applier) known(ctx context.Context, n int64) vectorOf {
	if a.rows == nil {
		a.rows = map[string]located{}
		for _, p := range a.parts {
			if p.vectors == nil || p.Embedder != a.s.l.embedder.Name() {
				continue
			}
			row := 0
			for id := range p.vectors.IDs() {
				a.rows[id] = located{p.vectors, row}
				row++
			}
		}
	}
	if len(a.rows) == 0 {
		return nil
	}
	docs, err := a.s.l.store.Documents(ctx, a.s.id, n)
	if err != nil || len(docs) == 0 {
		return nil
	}
	out := vectorOf{}
	for i := range docs[0].Chunks {
		doc := Indexed(&docs[0], i)
		if at, ok := a.rows[doc.ID]; ok {
			out[Embedded(doc)] = at
		}
	}
	return out
}
