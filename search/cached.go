package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"dossier/lang"
)

// Cache keeps values for a time. It is safe for concurrent use, may forget
// whatever it likes, and fails nobody: what it can't keep is asked for again.
type Cache interface {
	// Get returns a value that is not too old. It is the caller's own.
	Get(key string) ([]byte, bool)
	// Put keeps a value for ttl.
	Put(key string, value []byte, ttl time.Duration)
}

// CacheStats counts searches.
type CacheStats struct {
	Hits   int64 `json:"hits"`   // answered from the cache
	Shared int64 `json:"shared"` // answered with what another was just asking for
	Misses int64 `json:"misses"` // asked of the engine
}

// cacheVersion is raised with each change of what Cached keeps.
const cacheVersion = 1

// CachedEngine remembers what an engine found. Its zero value is not usable;
// see Cached.
type CachedEngine struct {
	engine Engine
	name   string
	cache  Cache
	ttl    time.Duration

	mu      sync.Mutex
	flights map[string]*flight

	hits, shared, misses atomic.Int64
}

// flight is a question that is under way for all who ask it.
type flight struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiting int // guarded by CachedEngine.mu

	value  []byte
	cached bool
	err    error
}

// Cached puts a cache before an engine: what was asked within ttl is not asked
// again. Questions are the same if they differ in nothing but case, spaces, the
// order of the sites and the hour of the bounds in time. A question that is
// asked by several at once goes out once; it goes on as long as any of them
// waits. Failures are not kept, and that nothing was found only for a while.
// Each caller gets hits of its own.
//
// Entries are told apart by the engine's name: engines of one name that find
// different things need caches of their own. The result is an Opener as well,
// as that of Polite is.
func Cached(e Engine, c Cache, ttl time.Duration) *CachedEngine {
	return &CachedEngine{engine: e, name: e.Info().Name, cache: c, ttl: ttl, flights: map[string]*flight{}}
}

// Info is that of the engine.
func (c *CachedEngine) Info() Info { return c.engine.Info() }

// Fresh returns the engine behind the cache.
func (c *CachedEngine) Fresh() Engine { return c.engine }

// Stats counts searches and openings so far.
func (c *CachedEngine) Stats() CacheStats {
	return CacheStats{Hits: c.hits.Load(), Shared: c.shared.Load(), Misses: c.misses.Load()}
}

// nothingTTL is how long it is believed that there is nothing.
func (c *CachedEngine) nothingTTL() time.Duration { return min(c.ttl/10, 10*time.Minute) }

// Search returns what the engine found when it was last asked.
func (c *CachedEngine) Search(ctx context.Context, q Query) ([]Hit, error) {
	var hits []Hit
	cached, err := c.fetch(ctx, queryKey(c.name, q), &hits, func(ctx context.Context) ([]byte, time.Duration, error) {
		found, err := ask(WithTrace(ctx, nil), c.name, func(ctx context.Context) ([]Hit, error) { return c.engine.Search(ctx, q) })
		if err != nil {
			return nil, 0, err
		}
		ttl := c.ttl
		if len(found) == 0 {
			ttl = c.nothingTTL()
		}
		value, err := pack(found...)
		return value, ttl, err
	})
	tell(ctx, c.name, len(hits), cached, err)
	return hits, err
}

// Open returns what the engine had of the page when it was last asked.
func (c *CachedEngine) Open(ctx context.Context, url string) (Hit, error) {
	if _, ok := c.engine.(Opener); !ok {
		return Hit{}, ErrNotMine
	}
	var hits []Hit
	_, err := c.fetch(ctx, cacheKey("open", c.name, url), &hits, func(ctx context.Context) ([]byte, time.Duration, error) {
		found, err := ask(ctx, c.name, func(ctx context.Context) ([]Hit, error) {
			hit, err := open(ctx, c.engine, url)
			return []Hit{hit}, err
		})
		if err != nil {
			return nil, 0, err
		}
		value, err := pack(found...)
		return value, c.ttl, err
	})
	switch {
	case err != nil:
		return Hit{}, err
	case len(hits) == 0:
		return Hit{}, ErrNotMine
	}
	return hits[0], nil
}

// fetch reads the value of key into hits, from the cache or from get.
func (c *CachedEngine) fetch(ctx context.Context, key string, hits *[]Hit, get func(context.Context) ([]byte, time.Duration, error)) (cached bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if value, ok := c.cache.Get(key); ok && json.Unmarshal(value, hits) == nil {
		c.hits.Add(1)
		return true, nil
	}
	*hits = nil
	c.mu.Lock()
	f, joined := c.flights[key]
	if !joined {
		f = &flight{done: make(chan struct{})}
		var under context.Context
		under, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
		c.flights[key] = f
		go c.fly(under, key, f, get)
	}
	f.waiting++
	c.mu.Unlock()

	select {
	case <-f.done:
	case <-ctx.Done():
		c.mu.Lock()
		f.waiting--
		if f.waiting == 0 {
			f.cancel()
			c.forget(key, f) // who comes next does not join what was given up
		}
		c.mu.Unlock()
		return false, context.Cause(ctx)
	}
	if f.cached {
		c.hits.Add(1)
	} else if joined {
		c.shared.Add(1)
	}
	if f.err != nil {
		return false, f.err
	}
	if err := json.Unmarshal(f.value, hits); err != nil {
		return false, failure(ctx, c.name, err)
	}
	return f.cached, nil
}

// fly gets a value for all who wait for it.
func (c *CachedEngine) fly(ctx context.Context, key string, f *flight, get func(context.Context) ([]byte, time.Duration, error)) {
	defer f.cancel()
	// It may have been kept since whoever asks looked for it.
	var hits []Hit
	f.value, f.cached = c.cache.Get(key)
	f.cached = f.cached && json.Unmarshal(f.value, &hits) == nil
	if !f.cached {
		c.misses.Add(1)
		var ttl time.Duration
		f.value, ttl, f.err = get(ctx)
		switch {
		case f.err == nil:
			c.cache.Put(key, f.value, ttl)
		case !errors.Is(f.err, ErrNotMine):
			f.err = failure(ctx, c.name, f.err)
		}
	}
	c.mu.Lock()
	c.forget(key, f)
	c.mu.Unlock()
	close(f.done)
}

// forget ends a flight unless another has taken its place.
func (c *CachedEngine) forget(key string, f *flight) {
	if c.flights[key] == f {
		delete(c.flights, key)
	}
}

// pack writes hits. A score that is no number is none.
func pack(hits ...Hit) ([]byte, error) {
	for i := range hits {
		if s := hits[i].Score; math.IsNaN(s) || math.IsInf(s, 0) {
			hits = slices.Clone(hits)
			hits[i].Score = 0
		}
	}
	return json.Marshal(hits)
}

// queryKey is the same for queries that ask for the same.
func queryKey(engine string, q Query) string {
	q.Text = folded(q.Text)
	q.Lang = lang.Code(strings.ToLower(string(q.Lang)))
	sites := make([]string, len(q.Sites))
	for i, site := range q.Sites {
		sites[i] = folded(site)
	}
	slices.Sort(sites)
	q.Sites = slices.Compact(sites)
	return cacheKey("search", engine, fmt.Sprintf("%q %d %q %s %s %q", q.Text, q.Limit, q.Lang, q.Since.Format(time.DateOnly), q.Until.Format(time.DateOnly), q.Sites))
}

func cacheKey(what, engine, about string) string {
	return fmt.Sprintf("%d %s %q %s", cacheVersion, what, engine, about)
}

// folded is a text without what its case and spaces add.
func folded(text string) string {
	return strings.Join(strings.Fields(cases.Fold().String(norm.NFC.String(text))), " ")
}

// dayOf is the day of t where t was taken; zero stays zero.
func dayOf(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}
