package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dossier/internal/store"
	"dossier/kb"
	"dossier/reader"
)

// shelf is a collection as simply as it can be said.
type shelf struct {
	rec       kb.Collection // without counts
	documents map[int64]kb.Document
	segments  map[int64]kb.Segment
}

// contents returns what an adapter must show of a shelf.
func (s *shelf) contents() contents {
	c := contents{Collection: s.rec}
	c.Documents = slices.SortedFunc(maps.Values(s.documents), func(a, b kb.Document) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.N, b.N))
	})
	for _, d := range c.Documents {
		c.Files = append(c.Files, file(d))
		c.Collection.Chunks += len(d.Chunks)
		c.Collection.Bytes += int64(len(d.Text))
		if d.Failure != nil {
			c.Failed = append(c.Failed, d)
		}
	}
	c.Collection.Failed = len(c.Failed)
	c.Collection.Documents = len(c.Documents) - len(c.Failed)
	c.Segments = slices.SortedFunc(maps.Values(s.segments), func(a, b kb.Segment) int { return cmp.Compare(a.N, b.N) })
	return c
}

// Generators of what is put into a collection.
var (
	anyText  = rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "bytes")) })
	anyBytes = rapid.OneOf(rapid.Just([]byte(nil)), rapid.SliceOfN(rapid.Byte(), 0, 12))
	anyTexts = rapid.OneOf(rapid.Just([]string(nil)), rapid.SliceOfN(anyText, 0, 3))
	anyTime  = rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.IntRange(0, 4).Draw(t, "no time") == 0 {
			return time.Time{}
		}
		return time.Unix(rapid.Int64Range(-1<<34, 1<<34).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
	})
	anyChunk = rapid.Custom(func(t *rapid.T) kb.Chunk {
		small := rapid.IntRange(-3, 300)
		return kb.Chunk{Start: small.Draw(t, "start"), End: small.Draw(t, "end"), Page: small.Draw(t, "page"), Headings: anyTexts.Draw(t, "headings")}
	})
	anyDocument = rapid.Custom(func(t *rapid.T) kb.Document {
		d := kb.Document{
			Path: "/" + anyText.Draw(t, "path"), Hash: anyText.Draw(t, "hash"), Size: rapid.Int64Range(0, 1<<50).Draw(t, "size"),
			Modified: anyTime.Draw(t, "modified"), Title: anyText.Draw(t, "title"), Warnings: anyTexts.Draw(t, "warnings"),
			Reading: anyText.Draw(t, "reading"),
		}
		if rapid.IntRange(0, 2).Draw(t, "failed") == 0 {
			d.Failure = &kb.Failure{Reason: reader.Reason(anyText.Draw(t, "reason")), Why: anyText.Draw(t, "why")}
			return d
		}
		d.Text = strings.Repeat(anyText.Draw(t, "text"), rapid.SampledFrom([]int{0, 1, 1000}).Draw(t, "times"))
		d.Chunks = rapid.OneOf(rapid.Just([]kb.Chunk(nil)), rapid.SliceOfN(anyChunk, 0, 4)).Draw(t, "chunks")
		return d
	})
)

// numbered draws numbers: most of them new ones, some used before.
func numbered(t *rapid.T, label string, last int64, most int) []int64 {
	var list []int64
	for range rapid.IntRange(0, most).Draw(t, label) {
		last += rapid.Int64Range(1, 2).Draw(t, "gap")
		n := last
		if rapid.IntRange(0, 14).Draw(t, "used") == 0 {
			n = rapid.Int64Range(-1, last).Draw(t, "number")
		}
		list = append(list, n)
	}
	return list
}

// next draws a change of a shelf and says how it ends: with the shelf that it
// makes, or an error.
func (s *shelf) next(t *rapid.T) (c kb.Change, after *shelf, want error) {
	after = &shelf{rec: s.rec, documents: maps.Clone(s.documents), segments: maps.Clone(s.segments)}
	after.rec.Revision++
	c.Revision = s.rec.Revision
	if rapid.IntRange(0, 6).Draw(t, "stale") == 0 {
		c.Revision += rapid.SampledFrom([]int64{-2, -1, 1}).Draw(t, "off by")
	}
	some := rapid.SliceOfN(rapid.Int64Range(0, s.rec.LastDocument+1), 0, 2)
	c.Delete = some.Draw(t, "delete")
	for _, n := range c.Delete {
		delete(after.documents, n)
	}
	for _, n := range some.Draw(t, "touch") {
		f := kb.File{N: n, Size: rapid.Int64().Draw(t, "size"), Modified: anyTime.Draw(t, "modified")}
		c.Touch = append(c.Touch, f)
		if d, ok := after.documents[n]; ok {
			d.Size, d.Modified = f.Size, f.Modified
			after.documents[n] = d
		}
	}
	for _, n := range numbered(t, "put", s.rec.LastDocument, 4) {
		d := anyDocument.Draw(t, "document")
		d.N = n
		c.Put = append(c.Put, d)
		if n <= s.rec.LastDocument || slices.ContainsFunc(c.Put[:len(c.Put)-1], func(o kb.Document) bool { return o.N == n }) {
			want = store.ErrExists
		}
		after.documents[n] = d
		after.rec.LastDocument = max(after.rec.LastDocument, n)
	}
	c.Drop = rapid.SliceOfN(rapid.Int64Range(0, s.rec.LastSegment+1), 0, 2).Draw(t, "drop")
	for _, n := range c.Drop {
		delete(after.segments, n)
	}
	numbers := numbered(t, "segments", s.rec.LastSegment, 2)
	if len(after.segments) > 0 && rapid.Bool().Draw(t, "replace") {
		numbers = append(numbers, slices.Min(slices.Collect(maps.Keys(after.segments))))
	}
	for _, n := range numbers {
		g := kb.Segment{N: n, Data: anyBytes.Draw(t, "data"), Dead: anyBytes.Draw(t, "dead"), Vectors: anyBytes.Draw(t, "vectors"), Embedder: anyText.Draw(t, "embedder")}
		c.Segments = append(c.Segments, g)
		_, there := after.segments[n]
		if n <= s.rec.LastSegment && !there || slices.ContainsFunc(c.Segments[:len(c.Segments)-1], func(o kb.Segment) bool { return o.N == n }) {
			want = store.ErrExists
		}
		after.segments[n] = g
		after.rec.LastSegment = max(after.rec.LastSegment, n)
	}
	if c.Roots = anyTexts.Draw(t, "roots"); c.Roots != nil {
		after.rec.Roots = c.Roots
	}
	if c.Tags = anyTexts.Draw(t, "tags"); c.Tags != nil {
		after.rec.Tags = c.Tags
	}
	if rapid.Bool().Draw(t, "synced") {
		c.Synced = at.Add(time.Duration(rapid.IntRange(0, 1<<30).Draw(t, "since")))
		after.rec.Synced = c.Synced
	}
	if c.Revision != s.rec.Revision {
		want = kb.ErrChanged
	}
	return c, after, want
}

// collectionModelTest drives collections with random changes and compares
// them with shelves.
func collectionModelTest(t *testing.T, open Open) {
	f := newFixture(t, open) // one for all checks: each has collections of its own
	check := 0
	rapid.Check(t, func(rt *rapid.T) {
		check++
		model := map[string]*shelf{}
		ids := []string{fmt.Sprint(check, "a"), fmt.Sprint(check, "b")}
		anyID := rapid.SampledFrom(ids)
		expect := func(what string, err, want error) {
			if !errors.Is(err, want) || (err == nil) != (want == nil) {
				rt.Fatalf("%s: got %v, want %v", what, err, want)
			}
		}
		create := func(id string, roots []string) {
			rec := kb.Collection{ID: id, Name: "name of " + id, Roots: roots, Created: at}
			var want error
			if model[id] != nil {
				want = kb.ErrExists
			} else {
				model[id] = &shelf{rec: rec, documents: map[int64]kb.Document{}, segments: map[int64]kb.Segment{}}
			}
			expect("create "+id, f.store.CreateCollection(f.ctx, rec), want)
		}
		create(ids[0], nil)
		change := func(rt *rapid.T) {
			id := anyID.Draw(rt, "collection")
			s := model[id]
			if s == nil {
				_, err := f.store.ChangeCollection(f.ctx, id, kb.Change{})
				expect("change", err, kb.ErrNoCollection)
				return
			}
			c, after, want := s.next(rt)
			revision, err := f.store.ChangeCollection(f.ctx, id, c)
			expect("change", err, want)
			if want != nil {
				return
			}
			if revision != after.rec.Revision {
				rt.Fatalf("revision %d, want %d", revision, after.rec.Revision)
			}
			model[id] = after
		}
		rt.Repeat(map[string]func(*rapid.T){
			"create":       func(rt *rapid.T) { create(anyID.Draw(rt, "collection"), anyTexts.Draw(rt, "roots")) },
			"change":       change,
			"change again": change,
			"change more":  change,
			"delete": func(rt *rapid.T) {
				id := anyID.Draw(rt, "collection")
				var want error
				if model[id] == nil {
					want = kb.ErrNoCollection
				}
				delete(model, id)
				expect("delete", f.store.DeleteCollection(f.ctx, id), want)
			},
			"": func(rt *rapid.T) {
				for _, id := range ids {
					s := model[id]
					if s == nil {
						_, err := f.store.Collection(f.ctx, id)
						expect("collection", err, kb.ErrNoCollection)
						continue
					}
					if got, want := f.contents(id), s.contents(); !reflect.DeepEqual(got, want) {
						rt.Fatalf("collection %s:\ngot  %+v\nwant %+v", id, got, want)
					}
				}
			},
		})
	})
	f.ok(f.store.Check(f.ctx))
}
