package kb_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"strings"
	gosync "sync"
	"sync/atomic"
	"testing"
	"time"

	"dossier/index"
	"dossier/internal/store/memory"
	"dossier/kb"
	"dossier/lang"
	"dossier/reader"
)

// bag is an embedder whose vectors are the letters' pairs of a text.
type bag struct {
	name  string
	dims  int
	texts atomic.Int64
	fail  func() error
}

func (b *bag) Name() string { return b.name }

func (b *bag) Embed(_ context.Context, texts []string) ([][]float32, error) {
	if b.fail != nil {
		if err := b.fail(); err != nil {
			return nil, err
		}
	}
	b.texts.Add(int64(len(texts)))
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = make([]float32, b.dims)
		for j := range len(text) - 2 {
			h := fnv.New32a()
			h.Write([]byte(strings.ToLower(text[j : j+3])))
			out[i][h.Sum32()%uint32(b.dims)]++
		}
	}
	return out, nil
}

func TestVectors(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		dir := t.TempDir()
		write(t, dir, map[string]string{
			"a.txt": "The photographer develops her photographs.",
			"b.txt": "A fisherman fishes in the river.",
			"c.txt": "Bakers bake bread in the morning.",
		})
		e := &bag{name: "one", dims: 512}
		l := newLibrary(t, store, e, kb.Options{EmbedBatch: 2})
		name := mirror(t, l, dir).Collection.Name
		if e.texts.Load() != 3 {
			t.Errorf("%d texts were embedded", e.texts.Load())
		}
		got := search(t, l, name, kb.Query{Text: "photography", Limit: 1})
		if got.Route != kb.Hybrid || got.Note != "" || names(got) != "a.txt" || got.Hits[0].Dense != 1 {
			t.Errorf("hybrid: %+v", got)
		}
		if got := search(t, l, name, kb.Query{Text: "fisherman fished", Route: kb.Dense, Limit: 1}); names(got) != "b.txt" || got.Hits[0].Lexical != 0 {
			t.Errorf("dense: %+v", got)
		}
		if got := search(t, l, name, kb.Query{Text: "bread", Route: kb.BM25}); got.Route != kb.BM25 || names(got) != "c.txt" || got.Hits[0].Dense != 0 {
			t.Errorf("bm25: %+v", got)
		}

		// What is gone is found by neither side; what is new by both.
		must(t, os.Remove(filepath.Join(dir, "a.txt")))
		write(t, dir, map[string]string{"d.txt": "Cameras and photographic film."})
		sync(t, l, name)
		if got := search(t, l, name, kb.Query{Text: "photographs", Route: kb.Dense}); strings.Contains(names(got), "a.txt") || got.Hits[0].Path != filepath.Join(dir, "d.txt") {
			t.Errorf("after a change: %s", names(got))
		}

		// An embedder that fails costs the vectors, not the sync.
		down := errors.New("no route to the model")
		e.fail = func() error { return down }
		write(t, dir, map[string]string{"e.txt": "Zoologists watch zebras."})
		r := sync(t, l, name)
		if r.Added != 1 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], down.Error()) {
			t.Errorf("a failing embedder: %s %q", counts(r), r.Warnings)
		}
		if got := search(t, l, name, kb.Query{Text: "zebras"}); got.Route != kb.BM25 || !strings.Contains(got.Note, down.Error()) || names(got) != "e.txt" {
			t.Errorf("a failing embedder: %+v", got)
		}
		if _, err := l.Search(t.Context(), name, kb.Query{Text: "zebras", Route: kb.Dense}); !errors.Is(err, down) {
			t.Errorf("dense with a failing embedder: %v", err)
		}
		e.fail = nil
		e.texts.Store(0)
		sync(t, l, name)
		if e.texts.Load() != 1 {
			t.Errorf("%d texts were embedded later", e.texts.Load())
		}
		if got := search(t, l, name, kb.Query{Text: "zebra zoology", Route: kb.Dense, Limit: 1}); names(got) != "e.txt" {
			t.Errorf("embedded later: %s", names(got))
		}

		// Another model makes all vectors anew.
		two := &bag{name: "two", dims: 48}
		l = newLibrary(t, store, two, kb.Options{})
		if got := search(t, l, name, kb.Query{Text: "zebras"}); got.Route != kb.BM25 || !strings.Contains(got.Note, "sync") {
			t.Errorf("with another model: %+v", got)
		}
		sync(t, l, name)
		if two.texts.Load() != 4 {
			t.Errorf("%d texts for another model", two.texts.Load())
		}
		if got := search(t, l, name, kb.Query{Text: "fisher", Route: kb.Dense, Limit: 1}); names(got) != "b.txt" {
			t.Errorf("with another model: %s", names(got))
		}
		// Without one, vectors are not faked.
		l = newLibrary(t, store, nil, kb.Options{})
		if _, err := l.Search(t.Context(), name, kb.Query{Text: "zebras", Route: kb.Dense}); err == nil || !strings.Contains(err.Error(), "no embedder is configured") {
			t.Errorf("dense without an embedder: %v", err)
		}
	})
}

// TestNearness holds that a cosine is told beside those of the others, and not at
// all where there are too few others.
func TestNearness(t *testing.T) {
	hits := []index.Hit{{ID: "a", Score: 0.9}, {ID: "b", Score: 0.8}, {ID: "c", Score: 0.6}}
	got := kb.Nearness(hits, 3)
	if len(got) != 2 || math.Abs(got["a"]-0.75) > 1e-9 || math.Abs(got["b"]-0.5) > 1e-9 {
		t.Errorf("near: %v", got)
	}
	same := []index.Hit{{ID: "a", Score: 1}, {ID: "b", Score: 1}}
	for name, got := range map[string]map[string]float64{"too few": kb.Nearness(hits, 4), "none": kb.Nearness(nil, 0), "all the same": kb.Nearness(same, 2)} {
		if len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestFilters(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		dir := t.TempDir()
		write(t, dir, map[string]string{
			"en/river.md":      "---\ntitle: Rivers\ndate: 2021-05-04\n---\nThe delta is where the river ends and meets the sea.",
			"en/old/delta.txt": "A delta of an old river that ends in a lake, as people say.",
			"ru/дельта.txt":    "Дельта реки Волги, delta of the Volga, лежит у Каспийского моря.",
		})
		old := time.Date(2015, 3, 1, 0, 0, 0, 0, time.UTC)
		for _, f := range []string{"en/old/delta.txt", "ru/дельта.txt"} {
			must(t, os.Chtimes(filepath.Join(dir, f), old, old))
		}
		l := newLibrary(t, store, nil, kb.Options{})
		name := mirror(t, l, dir).Collection.Name
		all := search(t, l, name, kb.Query{Text: "delta"})
		if len(all.Hits) != 3 {
			t.Fatalf("found %s", names(all))
		}
		var lake int64
		for _, h := range all.Hits {
			if strings.Contains(h.Text, "lake") {
				lake = h.Document
			}
		}
		for _, c := range []struct {
			filter kb.Filter
			want   int
		}{
			{kb.Filter{Paths: []string{"en"}}, 2},
			{kb.Filter{Paths: []string{"en/"}}, 2},
			{kb.Filter{Paths: []string{all.Hits[0].Path}}, 1},
			{kb.Filter{Paths: []string{"*.txt"}}, 2},
			{kb.Filter{Paths: []string{"en/*.txt"}}, 0},
			{kb.Filter{Paths: []string{"en/**/*.txt"}}, 1},
			{kb.Filter{Paths: []string{"**/old/*", "ru"}}, 2},
			{kb.Filter{Paths: []string{"e"}}, 0},
			{kb.Filter{Langs: []lang.Code{lang.Russian}}, 1},
			{kb.Filter{Langs: []lang.Code{lang.English}, Paths: []string{"en/old"}}, 1},
			{kb.Filter{Formats: []reader.Format{reader.Markdown}}, 1},
			{kb.Filter{After: "2021-05-04"}, 1},
			{kb.Filter{After: "2021-05-05"}, 0},
			{kb.Filter{After: "2021"}, 1},
			{kb.Filter{Before: "2021"}, 3},
			{kb.Filter{Before: "2020-12"}, 2},
			{kb.Filter{After: "2015", Before: "2015"}, 2},
			{kb.Filter{Documents: []int64{lake}}, 1},
			{kb.Filter{Documents: []int64{lake, 999}, Paths: []string{"ru"}}, 0},
		} {
			if got := search(t, l, name, kb.Query{Text: "delta", Filter: c.filter}); len(got.Hits) != c.want {
				t.Errorf("%+v: found %q, want %d", c.filter, names(got), c.want)
			}
		}
	})
}

func TestSearchWhileSyncing(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		dir := t.TempDir()
		many := map[string]string{}
		for i := range 300 {
			many[fmt.Sprintf("%03d.txt", i)] = fmt.Sprintf("the constant word and number%d", i)
		}
		write(t, dir, many)
		l := newLibrary(t, store, nil, kb.Options{})
		l.SetBatch(16)
		c, err := l.Ensure(t.Context(), dir)
		must(t, err)
		stop := make(chan struct{})
		var wg gosync.WaitGroup
		for range 3 {
			wg.Go(func() {
				last := int64(-1)
				for {
					select {
					case <-stop:
						return
					default:
					}
					r, err := l.Search(t.Context(), c.Name, kb.Query{Text: "constant word", Limit: 20})
					if err != nil {
						t.Error(err)
						return
					}
					for _, h := range r.Hits {
						if !strings.Contains(h.Text, "the constant word") {
							t.Errorf("hit %q", h.Text)
						}
					}
					if r.Revision < last {
						t.Errorf("revision %d after %d", r.Revision, last)
					}
					last = r.Revision
				}
			})
		}
		// Two at once: one waits for the other.
		for range 2 {
			wg.Go(func() {
				if _, err := l.Sync(t.Context(), c.Name, kb.SyncOptions{}); err != nil {
					t.Error(err)
				}
			})
		}
		for round := range 3 {
			for i := range 300 {
				if i%3 == round {
					many[fmt.Sprintf("%03d.txt", i)] = fmt.Sprintf("the constant word and number%d, round %d", i, round)
				}
			}
			write(t, dir, many)
			sync(t, l, c.Name)
		}
		close(stop)
		wg.Wait()
		got := search(t, l, c.Name, kb.Query{Text: "constant", Limit: 1000})
		if len(got.Hits) != 300 {
			t.Errorf("%d hits at last", len(got.Hits))
		}
	})
}

// meddler changes the collection behind a sync's back.
type meddler struct {
	kb.Store
	times int
}

func (m *meddler) ChangeCollection(ctx context.Context, id string, c kb.Change) (int64, error) {
	if m.times > 0 {
		m.times--
		if _, err := m.Store.ChangeCollection(ctx, id, kb.Change{Revision: c.Revision}); err != nil {
			return 0, err
		}
	}
	return m.Store.ChangeCollection(ctx, id, c)
}

func TestAnotherProcessSyncsToo(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"a.txt": "ants", "b.txt": "bees", "c.txt": "cats"})
		l := newLibrary(t, &meddler{store, 3}, nil, kb.Options{})
		l.SetBatch(1)
		r := mirror(t, l, dir)
		if r.Added != 3 || r.Collection.Documents != 3 {
			t.Errorf("got %s, %d documents", counts(r), r.Collection.Documents)
		}
		for _, q := range []string{"ants", "bees", "cats"} {
			if got := search(t, l, r.Collection.Name, kb.Query{Text: q}); len(got.Hits) != 1 {
				t.Errorf("%s: %d hits", q, len(got.Hits))
			}
		}
	})
}

func TestDeleted(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"a.txt": "ants"})
		l := newLibrary(t, store, nil, kb.Options{})
		name := mirror(t, l, dir).Collection.Name
		search(t, l, name, kb.Query{Text: "ants"})
		must(t, l.Delete(t.Context(), name))
		if _, err := l.Search(t.Context(), name, kb.Query{Text: "ants"}); !errors.Is(err, kb.ErrNoCollection) {
			t.Errorf("search: %v", err)
		}
		if _, err := l.Sync(t.Context(), name, kb.SyncOptions{}); !errors.Is(err, kb.ErrNoCollection) {
			t.Errorf("sync: %v", err)
		}
		if _, err := l.Fetch(t.Context(), name, 0, "1.0"); !errors.Is(err, kb.ErrNoCollection) {
			t.Errorf("fetch: %v", err)
		}
		if err := l.Delete(t.Context(), name); !errors.Is(err, kb.ErrNoCollection) {
			t.Errorf("delete: %v", err)
		}
	})
}

// A collection that goes while it is being synced ends the sync.
func TestDeletedWhileSyncing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.txt": "ants", "b.txt": "bees"})
	store := memory.New(memory.Options{})
	r := newCounting(t)
	l := kb.New(store, r, nil, kb.Options{})
	c, err := l.Ensure(t.Context(), dir)
	must(t, err)
	r.each = func(int64) { _ = store.DeleteCollection(context.Background(), c.ID) }
	if _, err := l.Sync(t.Context(), c.Name, kb.SyncOptions{}); !errors.Is(err, kb.ErrNoCollection) {
		t.Errorf("got %v", err)
	}
}

// pair is an embedder that answers a call only when there is another one.
type pair struct {
	bag
	waiting atomic.Int32
	both    chan struct{}
}

func (p *pair) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if p.waiting.Add(1) == 2 {
		close(p.both)
	}
	select {
	case <-p.both:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return p.bag.Embed(ctx, texts)
}

// TestBatchesAtOnce holds that an embedder does not get its batches one after
// the other, and that each text has its own vector all the same.
func TestBatchesAtOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.txt": "The photographer develops her photographs.", "b.txt": "A fisherman fishes in the river.", "c.txt": "Bakers bake bread."})
	l := newLibrary(t, memory.New(memory.Options{}), &pair{bag: bag{name: "one", dims: 512}, both: make(chan struct{})}, kb.Options{EmbedBatch: 1})
	name := mirror(t, l, dir).Collection.Name
	for query, want := range map[string]string{"photography": "a.txt", "fisherman fished": "b.txt", "bread bakery": "c.txt"} {
		if got := search(t, l, name, kb.Query{Text: query, Route: kb.Dense, Limit: 1}); names(got) != want {
			t.Errorf("%s: %s", query, names(got))
		}
	}
}
