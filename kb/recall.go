package kb

import (
	"container/list"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// resultCache keeps what was found last. A result belongs to the revision of its
// collection, so a collection that was indexed anew is searched anew: nothing of
// an earlier revision is found again.
type resultCache struct {
	mu    sync.Mutex
	limit int // bytes
	size  int
	byKey map[resultKey]*list.Element
	used  *list.List // of cachedResult, the last used first
}

// resultKey is a search: which collection, as it was when, and what for.
type resultKey struct {
	collection string
	revision   int64
	query      string
}

type cachedResult struct {
	key    resultKey
	result Result
	size   int
}

func newResultCache(limit int) *resultCache {
	return &resultCache{limit: limit, byKey: map[resultKey]*list.Element{}, used: list.New()}
}

// keyOf names a search whose defaults are filled in; false if it can't be named.
func keyOf(collection string, revision int64, q Query) (resultKey, bool) {
	raw, err := json.Marshal(q)
	return resultKey{collection, revision, string(raw)}, err == nil
}

func (c *resultCache) get(key resultKey) (Result, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return Result{}, false
	}
	c.used.MoveToFront(e)
	found := e.Value.(cachedResult).result
	found.Hits = slices.Clone(found.Hits) // the caller's own
	return found, true
}

// put keeps a result. Its texts are copied, so that it does not hold the documents
// that they are of.
func (c *resultCache) put(key resultKey, r Result) {
	size := len(key.query)
	r.Hits = slices.Clone(r.Hits)
	for i := range r.Hits {
		r.Hits[i].Text = strings.Clone(r.Hits[i].Text)
		size += 512 + len(r.Hits[i].Text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if size > c.limit || c.byKey[key] != nil {
		return
	}
	c.byKey[key] = c.used.PushFront(cachedResult{key, r, size})
	c.size += size
	for c.size > c.limit {
		c.remove(c.used.Back())
	}
}

// forget drops what is of a collection.
func (c *resultCache) forget(collection string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.used.Front(); e != nil; {
		next := e.Next()
		if e.Value.(cachedResult).key.collection == collection {
			c.remove(e)
		}
		e = next
	}
}

func (c *resultCache) remove(e *list.Element) {
	old := c.used.Remove(e).(cachedResult)
	delete(c.byKey, old.key)
	c.size -= old.size
}
