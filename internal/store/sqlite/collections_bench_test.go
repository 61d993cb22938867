package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dossier/internal/store/sqlite"
	"dossier/kb"
)

// prose returns n bytes that compress about as text does.
func prose(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(text(6))
		b.WriteString(" and the rest of ")
	}
	return b.String()[:n]
}

// papers returns documents numbered from first on, each with a text of size
// bytes and a chunk per kilobyte.
func papers(first int64, n int, body string) []kb.Document {
	list := make([]kb.Document, n)
	for i := range list {
		number := first + int64(i)
		d := kb.Document{
			N: number, Path: fmt.Sprintf("/home/somebody/documents/%02d/projects and papers/%03d/paper-%07d.html", number%7, number/100, number),
			Hash: text(64), Size: int64(len(body)), Modified: time.Unix(1_700_000_000+number, 123_456_789), Format: "html",
			Title: fmt.Sprint("Paper number ", number), Lang: "en", Text: body,
		}
		for start := 0; start < len(body); start += 1000 {
			d.Chunks = append(d.Chunks, kb.Chunk{Start: start, End: min(start+1000, len(body)), Headings: []string{d.Title, fmt.Sprint("Section ", start/3000)}})
		}
		list[i] = d
	}
	return list
}

// library opens a store with a collection "c" of n documents.
func library(b *testing.B, n int, body string) *sqlite.Store {
	b.Helper()
	s := open(b, filepath.Join(b.TempDir(), "dossier.db"), sqlite.Options{})
	if err := s.CreateCollection(b.Context(), kb.Collection{ID: "c", Name: "c"}); err != nil {
		b.Fatal(err)
	}
	stock(b, s, 0, n, body)
	return s
}

// stock adds n documents in changes of 1,000.
func stock(b *testing.B, s *sqlite.Store, revision int64, n int, body string) {
	b.Helper()
	const each = 1000
	for first := 0; first < n; first += each {
		var err error
		c := kb.Change{Revision: revision, Put: papers(int64(first)+1, min(each, n-first), body)}
		if revision, err = s.ChangeCollection(b.Context(), "c", c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFiles reads what a sync compares, of 100,000 documents.
func BenchmarkFiles(b *testing.B) {
	s := library(b, 100_000, prose(1000))
	b.ReportAllocs()
	for b.Loop() {
		if files, err := s.Files(b.Context(), "c"); err != nil || len(files) != 100_000 {
			b.Fatal(len(files), err)
		}
	}
}

// BenchmarkFailedDocuments looks for failures among 100,000 documents.
func BenchmarkFailedDocuments(b *testing.B) {
	s := library(b, 100_000, "")
	for b.Loop() {
		if _, err := s.FailedDocuments(b.Context(), "c"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkChange puts 256 documents of 4 kB, and beside it deletes those of
// the change before.
func BenchmarkChange(b *testing.B) {
	const each = 256
	s := library(b, 0, "")
	c := kb.Change{Put: papers(1, each, prose(4096))}
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if c.Revision, err = s.ChangeCollection(b.Context(), "c", c); err != nil {
			b.Fatal(err)
		}
		c.Delete = c.Delete[:0]
		for i := range c.Put {
			c.Delete = append(c.Delete, c.Put[i].N)
			c.Put[i].N += each
		}
	}
}

// BenchmarkDocuments reads 50 documents of 40 kB that lie apart.
func BenchmarkDocuments(b *testing.B) {
	s := library(b, 2000, prose(40_000))
	var numbers []int64
	for i := range int64(50) {
		numbers = append(numbers, 1+(i*1237)%2000)
	}
	b.ReportAllocs()
	for b.Loop() {
		if list, err := s.Documents(b.Context(), "c", numbers...); err != nil || len(list) != 50 {
			b.Fatal(len(list), err)
		}
	}
}

// BenchmarkSegments reads an index of 10 MB with vectors of 10 MB.
func BenchmarkSegments(b *testing.B) {
	s := library(b, 0, "")
	g := kb.Segment{N: 1, Data: []byte(text(10 << 20)), Dead: make([]byte, 1250), Vectors: []byte(text(10 << 20))}
	if _, err := s.ChangeCollection(b.Context(), "c", kb.Change{Segments: []kb.Segment{g}}); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(20 << 20)
	for b.Loop() {
		if list, _, err := s.Segments(b.Context(), "c"); err != nil || len(list) != 1 {
			b.Fatal(len(list), err)
		}
	}
}

// BenchmarkPutSegment puts a segment of 10 MB in, and replaces it when only
// its tombstones are others.
func BenchmarkPutSegment(b *testing.B) {
	g := kb.Segment{Data: []byte(text(10 << 20)), Dead: make([]byte, 1250)}
	for _, fresh := range []bool{true, false} {
		b.Run(map[bool]string{true: "new", false: "tombstones"}[fresh], func(b *testing.B) {
			s := library(b, 0, "")
			g.N = 1
			c := kb.Change{Segments: []kb.Segment{g}}
			for i := 0; b.Loop(); i++ {
				var err error
				if c.Revision, err = s.ChangeCollection(b.Context(), "c", c); err != nil {
					b.Fatal(err)
				}
				if fresh {
					c.Drop = []int64{c.Segments[0].N}
					c.Segments[0].N++
				} else {
					c.Segments[0].Dead[i%1250]++
				}
			}
		})
	}
}

// BenchmarkDeleteCollection deletes 100,000 documents of 4 kB.
func BenchmarkDeleteCollection(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := library(b, 100_000, prose(4000))
		b.StartTimer()
		if err := s.DeleteCollection(b.Context(), "c"); err != nil {
			b.Fatal(err)
		}
	}
}
