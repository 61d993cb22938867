package sources

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// shelves are collections that are asked together. Their scores are of one
// scale, so what they find is put in one order by these.
type shelves []*localCorpus

// Name implements Corpus.
func (s shelves) Name() string { return LocalName }

// Find implements Corpus. A collection that was removed costs its part; that all
// were is an error.
func (s shelves) Find(ctx context.Context, q Query) (Finding, error) {
	var all Finding
	var gone error
	answered := false
	for i, c := range s {
		found, err := c.Find(ctx, q)
		if _, removed := errors.AsType[*removedError](err); removed {
			gone = err
			continue
		}
		if err != nil {
			return Finding{}, err
		}
		answered = true
		for _, l := range found.Leads {
			mark := strconv.Itoa(i) + "/"
			l.ID, l.Ref = mark+l.ID, mark+l.Ref
			all.Leads = append(all.Leads, l)
		}
	}
	if !answered {
		return Finding{}, gone
	}
	slices.SortStableFunc(all.Leads, func(a, b Lead) int { return cmp.Compare(b.Ranking, a.Ranking) })
	if q.Limit > 0 {
		all.Leads = first(all.Leads, q.Limit)
	}
	return all, nil
}

// Read implements Corpus.
func (s shelves) Read(ctx context.Context, lead Lead) (Document, error) {
	shelf, ref, _ := strings.Cut(lead.Ref, "/")
	i, err := strconv.Atoi(shelf)
	if err != nil || i < 0 || i >= len(s) {
		return Document{}, fmt.Errorf("%s is in none of the collections", lead.URI)
	}
	lead.Ref = ref
	return s[i].Read(ctx, lead)
}

// Weights implements Corpus: those of the largest collection.
func (s shelves) Weights(ctx context.Context) (Weights, error) {
	largest := slices.MaxFunc(s, func(a, b *localCorpus) int { return cmp.Compare(a.at.Documents, b.at.Documents) })
	return largest.Weights(ctx)
}
