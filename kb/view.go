package kb

import (
	"bytes"
	"container/list"
	"context"
	"sync"

	"dossier/index"
)

// view is the index of a collection at one revision, open.
type view struct {
	revision int64
	parts    []*part
	index    *index.Index
	traits   *traits // of all views of the collection
}

// viewSlot keeps the view of a collection that was used last.
type viewSlot struct {
	opening chan struct{} // held while a view is opened
	view    *view         // guarded by opening
	used    int64         // guarded by the library
}

// maxViews is how many collections stay open.
const maxViews = 8

// view returns the index of a collection, opened anew if it has changed. Parts
// that have not changed stay as they are.
func (l *Library) view(ctx context.Context, c Collection) (*view, error) {
	l.mu.Lock()
	slot := l.views[c.ID]
	if slot == nil {
		slot = &viewSlot{opening: make(chan struct{}, 1)}
		l.views[c.ID] = slot
	}
	l.clock++
	slot.used = l.clock
	if len(l.views) > maxViews {
		oldest := c.ID
		for id, s := range l.views {
			if s.used < l.views[oldest].used {
				oldest = id
			}
		}
		delete(l.views, oldest)
	}
	l.mu.Unlock()

	select {
	case slot.opening <- struct{}{}:
		defer func() { <-slot.opening }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if slot.view != nil && slot.view.revision >= c.Revision {
		return slot.view, nil
	}
	segments, revision, err := l.store.Segments(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	known := map[int64]*part{}
	if slot.view != nil {
		for _, p := range slot.view.parts {
			known[p.N] = p
		}
	}
	v := &view{revision: revision, traits: &traits{byN: map[int64]trait{}}}
	if slot.view != nil {
		v.traits = slot.view.traits
	}
	searched := make([]*index.Segment, 0, len(segments))
	for _, s := range segments {
		p := known[s.N]
		if p == nil || !bytes.Equal(p.Dead, s.Dead) || p.Embedder != s.Embedder || len(p.Vectors) != len(s.Vectors) {
			if p, err = openPart(s); err != nil {
				return nil, err
			}
		}
		v.parts = append(v.parts, p)
		searched = append(searched, p.index)
	}
	v.index = index.New(searched...)
	slot.view = v
	return v, nil
}

// documentCache keeps the documents used last, up to a number of bytes.
type documentCache struct {
	mu    sync.Mutex
	limit int
	size  int
	byKey map[documentKey]*list.Element
	used  *list.List // of *Document with its key, the last used first
}

type documentKey struct {
	collection string
	n          int64
}

type cachedDocument struct {
	key  documentKey
	doc  *Document
	size int
}

func newDocumentCache(limit int) *documentCache {
	return &documentCache{limit: limit, byKey: map[documentKey]*list.Element{}, used: list.New()}
}

func (c *documentCache) get(key documentKey) *Document {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return nil
	}
	c.used.MoveToFront(e)
	return e.Value.(*cachedDocument).doc
}

func (c *documentCache) put(key documentKey, d *Document) {
	size := 512 + len(d.Text) + 64*len(d.Chunks)
	c.mu.Lock()
	defer c.mu.Unlock()
	if size > c.limit || c.byKey[key] != nil {
		return
	}
	c.byKey[key] = c.used.PushFront(&cachedDocument{key, d, size})
	c.size += size
	for c.size > c.limit {
		c.remove(c.used.Back())
	}
}

func (c *documentCache) remove(e *list.Element) {
	d := c.used.Remove(e).(*cachedDocument)
	delete(c.byKey, d.key)
	c.size -= d.size
}

// forget lets the documents of a collection go.
func (c *documentCache) forget(collection string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, e := range c.byKey {
		if key.collection == collection {
			c.remove(e)
		}
	}
}

// documents returns documents by number; those that are gone are left out.
func (l *Library) documents(ctx context.Context, id string, numbers ...int64) (map[int64]*Document, error) {
	out := make(map[int64]*Document, len(numbers))
	var missing []int64
	for _, n := range numbers {
		if _, ok := out[n]; ok {
			continue
		}
		if out[n] = l.docs.get(documentKey{id, n}); out[n] == nil {
			delete(out, n)
			missing = append(missing, n)
		}
	}
	const atOnce = 16 // a document may have megabytes
	for len(missing) > 0 {
		some := missing[:min(atOnce, len(missing))]
		missing = missing[len(some):]
		docs, err := l.store.Documents(ctx, id, some...)
		if err != nil {
			return nil, err
		}
		for i := range docs {
			out[docs[i].N] = &docs[i]
			l.docs.put(documentKey{id, docs[i].N}, &docs[i])
		}
	}
	return out, nil
}
