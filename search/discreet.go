package search

import (
	"context"
	"errors"
)

// Redactor masks secrets in what comes from outside.
type Redactor interface {
	// Redact masks the secrets that it was told of, and what looks like one.
	Redact(text string) string
	// Mask masks only those that it was told of.
	Mask(text string) string
}

// Discreet keeps secrets out of what an engine says: some repeat the key in the
// error that refuses it, and what they say is shown and kept. A hit whose address
// has a secret in it is left out. The result is an Opener as well; its Open says
// ErrNotMine if e is none.
func Discreet(e Engine, r Redactor) Engine { return discreet{e, r} }

type discreet struct {
	Engine

	redactor Redactor
}

func (d discreet) Search(ctx context.Context, q Query) ([]Hit, error) {
	hits, err := d.Engine.Search(ctx, q)
	if err != nil {
		return nil, hushed(err, d.redactor)
	}
	kept := hits[:0:0]
	for _, h := range hits {
		if d.redactor.Mask(h.URL) == h.URL {
			kept = append(kept, d.hit(h))
		}
	}
	return kept, nil
}

func (d discreet) Open(ctx context.Context, url string) (Hit, error) {
	h, err := open(ctx, d.Engine, url)
	if err != nil {
		return Hit{}, hushed(err, d.redactor)
	}
	return d.hit(h), nil
}

func (d discreet) hit(h Hit) Hit {
	for _, text := range []*string{&h.Title, &h.Snippet, &h.Text, &h.Author, &h.Site} {
		*text = d.redactor.Mask(*text)
	}
	return h
}

// DiscreetReranker keeps secrets out of the errors of a reranker.
func DiscreetReranker(ranks Reranker, r Redactor) Reranker { return discreetReranker{ranks, r} }

type discreetReranker struct {
	Reranker

	redactor Redactor
}

func (d discreetReranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	scores, err := d.Reranker.Rerank(ctx, query, texts)
	if err != nil {
		return nil, hushed(err, d.redactor)
	}
	return scores, nil
}

// hushed masks what an error says, and what it was caused by.
func hushed(err error, r Redactor) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	told := *e
	told.Detail = r.Redact(e.Detail)
	if e.Err != nil {
		if text := e.Err.Error(); r.Redact(text) != text {
			told.Err = errors.New(r.Redact(text))
		}
	}
	return &told
}
