package search

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// fake is an engine that answers with what fn gives.
type fake struct {
	name string
	fn   func(ctx context.Context, q Query) ([]Hit, error)

	mu     sync.Mutex
	calls  []Query
	starts []time.Time
	inside int
	most   int // calls at once
}

func (f *fake) Info() Info { return Info{Name: f.name, Topics: []Topic{General}} }

func (f *fake) Search(ctx context.Context, q Query) ([]Hit, error) {
	f.mu.Lock()
	f.calls = append(f.calls, q)
	f.starts = append(f.starts, time.Now())
	f.inside++
	f.most = max(f.most, f.inside)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.inside--
		f.mu.Unlock()
	}()
	return f.fn(ctx, q)
}

func (f *fake) asked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

// finding is an engine that finds these URLs.
func finding(name string, urls ...string) *fake {
	return &fake{name: name, fn: func(context.Context, Query) ([]Hit, error) {
		var hits []Hit
		for _, u := range urls {
			hits = append(hits, Hit{URL: u, Title: "Title of " + u, Engine: name})
		}
		return hits, nil
	}}
}

// failing is an engine that always fails.
func failing(name string, r Reason) *fake {
	return &fake{name: name, fn: func(context.Context, Query) ([]Hit, error) {
		return nil, &Error{Engine: name, Reason: r, Detail: "for a test"}
	}}
}

// slow is an engine that takes its time, and minds its context.
func slow(name string, takes time.Duration) *fake {
	return &fake{name: name, fn: func(ctx context.Context, q Query) ([]Hit, error) {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(takes):
			return []Hit{{URL: "https://slow.example/" + q.Text, Engine: name}}, nil
		}
	}}
}

// given is a searcher for hits that are there.
type given []Hit

func (l given) Search(context.Context, Query) ([]Hit, error) { return append([]Hit(nil), l...), nil }

// reads is an engine that opens one page.
type reads struct {
	*fake

	page   string
	opened int
}

func (r *reads) Open(_ context.Context, url string) (Hit, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened++
	if url != r.page {
		return Hit{}, fmt.Errorf("%s: %w", r.name, ErrNotMine)
	}
	return Hit{URL: url, Text: "the page"}, nil
}

func urls(hits []Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.URL)
	}
	return out
}
