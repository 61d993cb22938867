package reader

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Fetches is what reads pages from outside: a Fetcher, or one with a memory
// before it.
type Fetches interface {
	Fetch(ctx context.Context, url string) (*Fetched, error)
}

// PageStore keeps values for a time.
type PageStore interface {
	Get(key string) ([]byte, bool)
	Put(key string, value []byte, ttl time.Duration)
}

// Recall is a fetcher with a memory: a page that was fetched a short while ago
// is not fetched again, and one that several ask for at once is fetched once.
// Only pages are kept, no errors. What is recalled has no Document. It is safe
// for concurrent use.
type Recall struct {
	from  Fetches
	store PageStore
	ttl   time.Duration

	mu      sync.Mutex
	flights map[string]*flight
	under   sync.WaitGroup // flights, also those for which nobody waits any more

	asked, recalled atomic.Int64
}

// flight is a page on its way, for all who ask for it. It goes on as long as
// anyone waits.
type flight struct {
	done    chan struct{}
	waiting int
	cancel  context.CancelFunc
	got     *Fetched
	err     error
}

// Recalled puts a memory before f in which pages stay for ttl; 0 keeps none.
func Recalled(f Fetches, store PageStore, ttl time.Duration) *Recall {
	return &Recall{from: f, store: store, ttl: ttl, flights: make(map[string]*flight)}
}

// keptPage is a page as it is stored.
type keptPage struct {
	URL      string `json:"url"`
	Page     *Page  `json:"page"`
	Rendered bool   `json:"rendered,omitempty"`
}

// Stats returns how many pages were asked for, and how many of them did not
// have to be fetched.
func (r *Recall) Stats() (asked, recalled int64) { return r.asked.Load(), r.recalled.Load() }

// Fetch is as that of Fetcher. The page is the caller's own.
func (r *Recall) Fetch(ctx context.Context, url string) (*Fetched, error) {
	r.asked.Add(1)
	if raw, ok := r.store.Get(url); ok {
		var k keptPage
		if json.Unmarshal(raw, &k) == nil && k.Page != nil {
			r.recalled.Add(1)
			return &Fetched{URL: k.URL, Page: k.Page, Rendered: k.Rendered}, nil
		}
	}
	for {
		f := r.join(ctx, url)
		select {
		case <-ctx.Done():
			r.leave(url, f)
			return nil, context.Cause(ctx)
		case <-f.done:
		}
		r.leave(url, f)
		switch {
		case f.err == nil:
			own := *f.got
			own.Page = (&entry{Page: f.got.Page}).own()
			return &own, nil
		case errors.Is(f.err, context.Canceled):
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			continue // who it was for gave up as we came
		}
		return nil, f.err
	}
}

// join takes part in the flight of a page, or starts one.
func (r *Recall) join(ctx context.Context, url string) *flight {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.flights[url]; f != nil {
		f.waiting++
		return f
	}
	on, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight{done: make(chan struct{}), waiting: 1, cancel: cancel}
	r.flights[url] = f
	r.under.Go(func() {
		defer cancel()
		f.err = errors.New("the page could not be read") // unless it returns
		defer func() {
			r.mu.Lock()
			if r.flights[url] == f {
				delete(r.flights, url)
			}
			r.mu.Unlock()
			close(f.done)
		}()
		if f.got, f.err = r.from.Fetch(on, url); f.err == nil && r.ttl > 0 {
			if raw, err := json.Marshal(keptPage{f.got.URL, f.got.Page, f.got.Rendered}); err == nil {
				r.store.Put(url, raw, r.ttl)
			}
		}
	})
	return f
}

// Close waits until nothing is fetched and kept any more. Nobody may fetch then.
func (r *Recall) Close() error {
	r.mu.Lock()
	for _, f := range r.flights {
		f.cancel()
	}
	r.mu.Unlock()
	r.under.Wait()
	return nil
}

// leave ends a flight for which nobody waits any more.
func (r *Recall) leave(url string, f *flight) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.cancel()
		if r.flights[url] == f {
			delete(r.flights, url)
		}
	}
}
