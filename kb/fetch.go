package kb

import (
	"context"
	"fmt"
	"strconv"
)

// Fetched is what was asked for by id.
type Fetched struct {
	Passages []Passage `json:"passages"` // in the order asked for
	// Missing are the ids of what is not there: it never was, or went since,
	// or has no text.
	Missing []string `json:"missing,omitempty"`
}

// Fetch returns chunks by their ids ("12.3"), each with so many neighbours
// before and after it, and whole documents by their numbers ("12"). It fails
// with ErrNoCollection.
func (l *Library) Fetch(ctx context.Context, name string, neighbours int, ids ...string) (Fetched, error) {
	c, err := l.Get(ctx, name)
	if err != nil {
		return Fetched{}, err
	}
	type ask struct {
		n     int64
		chunk int // -1 for all
	}
	asks := make([]ask, len(ids))
	var numbers []int64
	for i, id := range ids {
		n, chunk, ok := ParseChunkID(id)
		if !ok {
			chunk = -1
			if n, err = strconv.ParseInt(id, 10, 64); err != nil {
				n = 0
			}
		}
		asks[i] = ask{n, chunk}
		if n > 0 {
			numbers = append(numbers, n)
		}
	}
	docs, err := l.documents(ctx, c.ID, numbers...)
	if err != nil {
		return Fetched{}, fmt.Errorf("fetch from %q: %w", name, err)
	}
	var out Fetched
	for i, a := range asks {
		d := docs[a.n]
		switch {
		case d == nil || len(d.Chunks) == 0 || a.chunk >= len(d.Chunks):
			out.Missing = append(out.Missing, ids[i])
		case a.chunk < 0:
			p := passage(d, 0, len(d.Chunks)-1)
			p.ID, p.Headings, p.Start, p.End, p.Text = ids[i], nil, 0, len(d.Text), d.Text
			out.Passages = append(out.Passages, p)
		default:
			around := max(0, neighbours)
			p := passage(d, max(0, a.chunk-around), min(len(d.Chunks)-1, a.chunk+around))
			p.ID = ids[i]
			out.Passages = append(out.Passages, p)
		}
	}
	return out, nil
}

// Documents returns documents by number, in the order asked for; those that
// are gone are left out. It fails with ErrNoCollection.
func (l *Library) Documents(ctx context.Context, name string, numbers ...int64) ([]Document, error) {
	c, err := l.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	docs, err := l.documents(ctx, c.ID, numbers...)
	if err != nil {
		return nil, fmt.Errorf("documents of %q: %w", name, err)
	}
	var out []Document
	for _, n := range numbers {
		if d := docs[n]; d != nil {
			out = append(out, *d)
		}
	}
	return out, nil
}
