package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dossier/internal/store"
	"dossier/kb"
	"dossier/reader"
)

// collect makes a collection whose id and name are id.
func (f *fixture) collect(id string) {
	f.Helper()
	f.ok(f.store.CreateCollection(f.ctx, kb.Collection{ID: id, Name: id, Created: at}))
}

// collection returns a collection.
func (f *fixture) collection(name string) kb.Collection {
	f.Helper()
	c, err := f.store.Collection(f.ctx, name)
	f.ok(err)
	return c
}

// change makes a change for the present revision.
func (f *fixture) change(id string, c kb.Change) {
	f.Helper()
	c.Revision = f.collection(id).Revision
	revision, err := f.store.ChangeCollection(f.ctx, id, c)
	f.ok(err)
	if revision <= c.Revision {
		f.Fatalf("revision %d follows %d", revision, c.Revision)
	}
}

// refused demands that a change fails with want and changes nothing.
func (f *fixture) refused(id string, c kb.Change, want error) {
	f.Helper()
	before := f.contents(id)
	_, err := f.store.ChangeCollection(f.ctx, id, c)
	f.is(err, want)
	f.same(f.contents(id), before)
}

// contents is everything that can be read of a collection.
type contents struct {
	Collection kb.Collection
	Files      []kb.File
	Documents  []kb.Document
	Failed     []kb.Document
	Segments   []kb.Segment
}

func (f *fixture) contents(id string) (c contents) {
	f.Helper()
	c.Collection = f.collection(id)
	var err error
	c.Files, err = f.store.Files(f.ctx, id)
	f.ok(err)
	var numbers []int64
	for _, file := range c.Files {
		numbers = append(numbers, file.N)
	}
	c.Documents, err = f.store.Documents(f.ctx, id, numbers...)
	f.ok(err)
	c.Failed, err = f.store.FailedDocuments(f.ctx, id)
	f.ok(err)
	var revision int64
	c.Segments, revision, err = f.store.Segments(f.ctx, id)
	f.ok(err)
	if revision != c.Collection.Revision {
		f.Fatalf("the index is of revision %d, the collection of %d", revision, c.Collection.Revision)
	}
	return c
}

// same demands that two values are alike to the last slice that is nil.
func (f *fixture) same(got, want any) {
	f.Helper()
	if !reflect.DeepEqual(got, want) {
		f.Fatalf("got  %+v\nwant %+v", got, want)
	}
}

// document returns a document with a text of two chunks.
func document(n int64, path string) kb.Document {
	text := fmt.Sprintf("Heading of %d\n\nText of %d.", n, n)
	half := strings.Index(text, "\n\n")
	return kb.Document{
		N: n, Path: path, Hash: fmt.Sprintf("hash-%d", n), Size: 10 * n, Modified: at, Format: reader.HTML,
		Title: "Title", Author: "Author", Date: "2024-05", Lang: "en", Warnings: []string{"a table was cut"}, Reading: "1.2", Text: text,
		Chunks: []kb.Chunk{{End: half, Page: 1}, {Start: half + 2, End: len(text), Page: 2, Headings: []string{text[:half]}}},
	}
}

// unreadable returns a document without text.
func unreadable(n int64, path string) kb.Document {
	return kb.Document{N: n, Path: path, Size: 7, Modified: at, Failure: &kb.Failure{Reason: reader.Unsupported, Why: "it is a picture"}}
}

func file(d kb.Document) kb.File {
	return kb.File{N: d.N, Path: d.Path, Hash: d.Hash, Size: d.Size, Modified: d.Modified, Failed: d.Failure != nil, Reading: d.Reading}
}

var collectionTests = []test{
	{"a collection is found by its name, then by its id", func(f *fixture) {
		want := kb.Collection{ID: "one", Name: "two", Roots: []string{"/a", "/b\xff"}, Tags: []string{"law", "право"}, Auto: true, Created: at, Synced: at.Add(time.Nanosecond)}
		made := want
		made.Revision, made.Documents, made.Failed, made.Chunks, made.Bytes, made.LastDocument, made.LastSegment = 1, 2, 3, 4, 5, 6, 7
		f.ok(f.store.CreateCollection(f.ctx, made))
		f.collect("three")
		other := kb.Collection{ID: "two", Name: "/folder \xff", Roots: []string{}}
		f.ok(f.store.CreateCollection(f.ctx, other))
		f.same(f.collection("two"), want)
		f.same(f.collection("one"), want)
		f.same(f.collection("/folder \xff"), other)
		all, err := f.store.Collections(f.ctx)
		f.ok(err)
		f.same(all, []kb.Collection{other, {ID: "three", Name: "three", Created: at}, want})
	}},
	{"names and ids are unique", func(f *fixture) {
		f.collect("a")
		f.is(f.store.CreateCollection(f.ctx, kb.Collection{ID: "a", Name: "b"}), kb.ErrExists)
		f.is(f.store.CreateCollection(f.ctx, kb.Collection{ID: "b", Name: "a"}), kb.ErrExists)
		for _, c := range []kb.Collection{{ID: "c"}, {Name: "c"}} {
			if err := f.store.CreateCollection(f.ctx, c); err == nil {
				f.Fatalf("made: %+v", c)
			}
		}
		f.ok(f.store.DeleteCollection(f.ctx, "a"))
		f.ok(f.store.CreateCollection(f.ctx, kb.Collection{ID: "b", Name: "a"}))
	}},
	{"there is no such collection", func(f *fixture) {
		f.ok(f.store.CreateCollection(f.ctx, kb.Collection{ID: "id", Name: "name"}))
		all, err := f.store.Collections(f.ctx)
		f.ok(err)
		_, err = f.store.Collection(f.ctx, "none")
		f.is(err, kb.ErrNoCollection)
		for _, id := range []string{"none", "", "name"} { // only Collection takes names
			f.is(f.store.DeleteCollection(f.ctx, id), kb.ErrNoCollection)
			_, err = f.store.Files(f.ctx, id)
			f.is(err, kb.ErrNoCollection)
			_, err = f.store.Documents(f.ctx, id)
			f.is(err, kb.ErrNoCollection)
			_, err = f.store.ReadOtherwise(f.ctx, id, "1")
			f.is(err, kb.ErrNoCollection)
			_, err = f.store.FailedDocuments(f.ctx, id)
			f.is(err, kb.ErrNoCollection)
			_, _, err = f.store.Segments(f.ctx, id)
			f.is(err, kb.ErrNoCollection)
			_, err = f.store.ChangeCollection(f.ctx, id, kb.Change{Put: []kb.Document{document(1, "/a")}})
			f.is(err, kb.ErrNoCollection)
		}
		after, err := f.store.Collections(f.ctx)
		f.ok(err)
		f.same(after, all)
	}},
	{"an empty collection has nothing", func(f *fixture) {
		f.collect("c")
		f.same(f.contents("c"), contents{Collection: kb.Collection{ID: "c", Name: "c", Created: at}})
	}},
	{"documents come back by path and in the order asked for", func(f *fixture) {
		f.collect("c")
		a, b, c, d := document(1, "/z"), unreadable(2, "/a/b"), document(7, "/a"), unreadable(3, "/B")
		f.change("c", kb.Change{Put: []kb.Document{a, b, c}})
		f.collect("other")
		f.change("other", kb.Change{Put: []kb.Document{document(1, "/other")}})
		d.N = 8
		f.change("c", kb.Change{Put: []kb.Document{d}})
		got := f.contents("c")
		f.same(got.Files, []kb.File{file(d), file(c), file(b), file(a)})
		f.same(got.Documents, []kb.Document{d, c, b, a})
		f.same(got.Failed, []kb.Document{d, b})
		some, err := f.store.Documents(f.ctx, "c", 7, 99, 1, -1, 7)
		f.ok(err)
		f.same(some, []kb.Document{c, a, c})
		want := kb.Collection{ID: "c", Name: "c", Created: at, Revision: 2, Documents: 2, Failed: 2, Chunks: 4,
			Bytes: int64(len(a.Text) + len(c.Text)), LastDocument: 8}
		f.same(got.Collection, want)
		f.ok(f.store.Check(f.ctx))
	}},
	{"documents go and are touched", func(f *fixture) {
		f.collect("c")
		a, b, c := document(1, "/a"), unreadable(2, "/b"), document(3, "/c")
		f.change("c", kb.Change{Put: []kb.Document{a, b, c}})
		later := at.Add(time.Hour + time.Nanosecond)
		f.change("c", kb.Change{
			Put: []kb.Document{document(4, "/a")}, Delete: []int64{1, 2, 2, 99, 4},
			Touch: []kb.File{{N: 3, Path: "/x", Hash: "x", Size: 77, Modified: later, Failed: true}, {N: 1, Size: 5}, {N: 99}},
			Roots: []string{"/r"}, Synced: later,
		})
		c.Size, c.Modified = 77, later
		got := f.contents("c")
		f.same(got.Documents, []kb.Document{document(4, "/a"), c})
		want := kb.Collection{ID: "c", Name: "c", Created: at, Roots: []string{"/r"}, Synced: later, Revision: 2, Documents: 2, Chunks: 4,
			Bytes: int64(len(document(4, "").Text) + len(c.Text)), LastDocument: 4}
		f.same(got.Collection, want)
		f.change("c", kb.Change{Roots: []string{}, Delete: []int64{3, 4}})
		want = kb.Collection{ID: "c", Name: "c", Created: at, Roots: []string{}, Synced: later, Revision: 3, LastDocument: 4}
		f.same(f.contents("c"), contents{Collection: want})
		f.ok(f.store.Check(f.ctx))
	}},
	{"a collection gets another name", func(f *fixture) {
		f.ok(f.store.CreateCollection(f.ctx, kb.Collection{ID: "c", Name: "/folder", Roots: []string{"/folder"}, Auto: true, Created: at}))
		f.collect("other")
		f.change("c", kb.Change{Put: []kb.Document{document(1, "/folder/a")}})
		f.refused("c", kb.Change{Revision: 1, Name: "other", Delete: []int64{1}}, kb.ErrExists)
		f.change("c", kb.Change{Name: "notes"})
		got, err := f.store.Collection(f.ctx, "notes")
		f.ok(err)
		f.same([]any{got.ID, got.Auto, got.Documents}, []any{"c", false, 1})
		_, err = f.store.Collection(f.ctx, "/folder")
		f.is(err, kb.ErrNoCollection)
		f.change("c", kb.Change{Name: "notes"}) // its own
	}},
	{"documents that were read otherwise are counted", func(f *fixture) {
		f.collect("c")
		a, b, c := document(1, "/a"), unreadable(2, "/b"), document(3, "/c")
		c.Reading = ""
		f.change("c", kb.Change{Put: []kb.Document{a, b, c}})
		f.collect("other")
		f.change("other", kb.Change{Put: []kb.Document{document(1, "/other")}})
		for reading, want := range map[string]int{a.Reading: 1, "": 1, "another": 2} {
			got, err := f.store.ReadOtherwise(f.ctx, "c", reading)
			f.ok(err)
			f.same(got, want)
		}
	}},
	{"a change for another revision is refused as a whole", func(f *fixture) {
		f.collect("c")
		f.change("c", kb.Change{Put: []kb.Document{document(1, "/a")}, Segments: []kb.Segment{{N: 1, Data: []byte("x")}}})
		for _, revision := range []int64{0, 2, -1} {
			f.refused("c", kb.Change{Revision: revision, Put: []kb.Document{document(2, "/b")}, Delete: []int64{1}, Touch: []kb.File{{N: 1}},
				Segments: []kb.Segment{{N: 2}}, Drop: []int64{1}, Roots: []string{"/x"}, Synced: at}, kb.ErrChanged)
		}
	}},
	{"numbers are never used again", func(f *fixture) {
		f.collect("c")
		f.change("c", kb.Change{Put: []kb.Document{document(9, "/a"), document(5, "/b")}, Segments: []kb.Segment{{N: 4}, {N: 2}}})
		f.change("c", kb.Change{Delete: []int64{9, 5}, Drop: []int64{4}})
		for _, n := range []int64{9, 5, 1, 0, -1} {
			f.refused("c", kb.Change{Revision: 2, Put: []kb.Document{document(10, "/c"), document(n, "/d")}, Drop: []int64{2}}, store.ErrExists)
		}
		f.refused("c", kb.Change{Revision: 2, Put: []kb.Document{document(10, "/c"), document(10, "/d")}}, store.ErrExists)
		for _, n := range []int64{4, 3, 1, 0, -1} {
			f.refused("c", kb.Change{Revision: 2, Put: []kb.Document{document(10, "/c")}, Segments: []kb.Segment{{N: 5}, {N: n}}}, store.ErrExists)
		}
		f.refused("c", kb.Change{Revision: 2, Segments: []kb.Segment{{N: 5}, {N: 5}}}, store.ErrExists)
		f.refused("c", kb.Change{Revision: 2, Drop: []int64{2}, Segments: []kb.Segment{{N: 2}}}, store.ErrExists)
		f.change("c", kb.Change{Put: []kb.Document{document(10, "/c")}, Segments: []kb.Segment{{N: 2}, {N: 5}}})
		if c := f.collection("c"); c.LastDocument != 10 || c.LastSegment != 5 {
			f.Fatalf("collection: %+v", c)
		}
	}},
	{"segments are put, replaced and dropped", func(f *fixture) {
		f.collect("c")
		large := noise(300 << 10)
		f.change("c", kb.Change{Segments: []kb.Segment{{N: 2, Data: large}, {N: 1, Data: []byte("one"), Vectors: []byte("v"), Embedder: "e"}}})
		f.change("c", kb.Change{Segments: []kb.Segment{{N: 3, Data: []byte{}, Dead: []byte{}, Vectors: []byte{}}, {N: 2, Data: large, Dead: []byte("\x01"), Vectors: large, Embedder: "m"}}})
		f.same(f.contents("c").Segments, []kb.Segment{
			{N: 1, Data: []byte("one"), Vectors: []byte("v"), Embedder: "e"},
			{N: 2, Data: large, Dead: []byte("\x01"), Vectors: large, Embedder: "m"},
			{N: 3, Data: []byte{}, Dead: []byte{}, Vectors: []byte{}},
		})
		f.change("c", kb.Change{Drop: []int64{1, 3, 99}, Segments: []kb.Segment{{N: 2}}})
		f.same(f.contents("c").Segments, []kb.Segment{{N: 2}})
		f.ok(f.store.Check(f.ctx))
	}},
	{"a collection goes with all that is in it", func(f *fixture) {
		for _, id := range []string{"a", "b"} {
			f.collect(id)
			f.change(id, kb.Change{Put: []kb.Document{document(1, "/a"), unreadable(2, "/b")}, Segments: []kb.Segment{{N: 1, Data: []byte(id)}}})
		}
		kept := f.contents("b")
		f.ok(f.store.DeleteCollection(f.ctx, "a"))
		f.is(f.store.DeleteCollection(f.ctx, "a"), kb.ErrNoCollection)
		_, err := f.store.Documents(f.ctx, "a", 1)
		f.is(err, kb.ErrNoCollection)
		f.same(f.contents("b"), kept)
		f.ok(f.store.CreateCollection(f.ctx, kb.Collection{ID: "c", Name: "a"}))
		f.same(f.contents("c"), contents{Collection: kb.Collection{ID: "c", Name: "a"}})
		f.ok(f.store.Check(f.ctx))
	}},
	{"strange documents come back", func(f *fixture) {
		f.collect("c")
		var put []kb.Document
		n := int64(0)
		add := func(d kb.Document) {
			n++
			d.N = n
			if d.Path == "" {
				d.Path = fmt.Sprintf("/%03d", n)
			}
			put = append(put, d)
		}
		for i, s := range strange {
			add(kb.Document{
				Hash: s, Format: reader.Format(s), Title: s, Author: s, Date: s, Lang: "zh", Warnings: []string{s, "", s}, Text: s,
				Chunks: []kb.Chunk{{End: len(s), Headings: []string{s}}, {Headings: []string{s}}, {Headings: []string{s, s}}},
			})
			add(kb.Document{Path: fmt.Sprintf("/%03d %s", 100+i, s), Failure: &kb.Failure{Reason: reader.Reason(s), Why: s}})
		}
		add(kb.Document{Failure: &kb.Failure{}})
		add(kb.Document{Warnings: []string{}, Chunks: []kb.Chunk{}})
		add(kb.Document{Chunks: []kb.Chunk{{Headings: []string{}}, {}, {}, {Headings: []string{}}, {Start: 9, End: 3, Page: 1 << 30}, {Start: -1, End: 1 << 40}}})
		add(kb.Document{Text: strings.Repeat("compressible ", 1<<14), Size: 1 << 40})
		add(kb.Document{Text: string(noise(100_000))})
		var many []kb.Chunk
		for i := range 5000 {
			many = append(many, kb.Chunk{Start: 20 * i, End: 20*i + 19, Page: i / 30, Headings: []string{"Book", fmt.Sprint("Chapter ", i/100)}})
		}
		add(kb.Document{Chunks: many})
		for _, t := range []time.Time{{}, time.Unix(0, 0), time.Unix(0, 1), time.Unix(-1, 999_999_999), at,
			time.Date(1601, 1, 1, 0, 0, 0, 100, time.UTC), time.Date(2446, 5, 10, 22, 38, 55, 1, time.UTC)} {
			if !t.IsZero() {
				t = t.UTC()
			}
			add(kb.Document{Modified: t})
		}
		f.change("c", kb.Change{Put: put})
		numbers := make([]int64, len(put))
		for i := range put {
			numbers[i] = put[i].N
		}
		got, err := f.store.Documents(f.ctx, "c", numbers...)
		f.ok(err)
		for i := range put {
			f.same(got[i], put[i])
		}
		files, err := f.store.Files(f.ctx, "c")
		f.ok(err)
		for _, g := range files {
			f.same(g, file(put[g.N-1]))
		}
		f.ok(f.store.Check(f.ctx))
	}},
	{"one of many changes of a revision wins", func(f *fixture) {
		f.collect("c")
		var wg sync.WaitGroup
		var won atomic.Int64
		for i := range 20 {
			wg.Go(func() {
				_, err := f.store.ChangeCollection(f.ctx, "c", kb.Change{Put: []kb.Document{document(int64(i)+1, fmt.Sprint("/", i))}})
				switch {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, kb.ErrChanged):
					f.Error(err)
				}
			})
		}
		wg.Wait()
		if c := f.collection("c"); won.Load() != 1 || c.Documents != 1 || c.Revision != 1 {
			f.Fatalf("%d changes won: %+v", won.Load(), c)
		}
	}},
	{"collections of a closed store and a cancelled context", func(f *fixture) {
		f.collect("c")
		every := func(ctx context.Context, want error) {
			f.Helper()
			_, err := f.store.Collection(ctx, "c")
			f.is(err, want)
			_, err = f.store.Collections(ctx)
			f.is(err, want)
			_, err = f.store.Files(ctx, "c")
			f.is(err, want)
			_, err = f.store.Documents(ctx, "c", 1)
			f.is(err, want)
			_, err = f.store.FailedDocuments(ctx, "c")
			f.is(err, want)
			_, _, err = f.store.Segments(ctx, "c")
			f.is(err, want)
			_, err = f.store.ChangeCollection(ctx, "c", kb.Change{})
			f.is(err, want)
			f.is(f.store.CreateCollection(ctx, kb.Collection{ID: "d", Name: "d"}), want)
			f.is(f.store.DeleteCollection(ctx, "c"), want)
		}
		ctx, cancel := context.WithCancel(f.ctx)
		cancel()
		every(ctx, context.Canceled)
		f.same(f.contents("c"), contents{Collection: kb.Collection{ID: "c", Name: "c", Created: at}})
		f.ok(f.store.Close())
		every(f.ctx, store.ErrClosed)
	}},
}
