package reader

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// counting reads nothing: it counts, and answers with what fn gives.
type counting struct {
	reads atomic.Int64
	fn    func(context.Context, Document) (*Page, error)
}

func (c *counting) Read(ctx context.Context, d Document) (*Page, error) {
	c.reads.Add(1)
	return c.fn(ctx, d)
}

func echo(_ context.Context, d Document) (*Page, error) {
	return &Page{Format: Text, Text: string(d.Body), Blocks: []Block{{Kind: Paragraph, End: len(d.Body), Path: []string{"a"}}}}, nil
}

func cacheOf(r Reads, dir string, most int64) *Cache {
	c := Cached(New(Config{}), dir, most)
	c.reader = r
	return c
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestCacheGivesWhatTheReaderGives(t *testing.T) {
	r := newReader(t, Config{Workers: 1})
	dir := filepath.Join(t.TempDir(), "made")
	for _, d := range []Document{
		{URL: "https://www.site.example/a/b", Body: []byte(articleOf("en-US", "Old bridge is closed", "", enText))},
		{Path: "a.md", Body: []byte("# Head\n\nText of it.\n")},
		{Path: "a.csv", Body: []byte("a,b\n1,2\n")},
	} {
		want, err := r.Read(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // a new cache on the same directory, too
			c := Cached(r, dir, 0)
			for range 2 {
				got, err := c.Read(t.Context(), d)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%+v, %v\nwant %+v", got, err, want)
				}
				got.Text, got.Blocks[0].Level = "changed", 99 // by who got it
			}
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory is %v, %v", info.Mode(), err)
	}
}

func TestCacheErrors(t *testing.T) {
	bomb := &Error{Reason: TooCostly, Format: PDF, Why: "it is a bomb"}
	r := &counting{fn: func(context.Context, Document) (*Page, error) { return nil, fmt.Errorf("a.pdf: %w", bomb) }}
	dir := t.TempDir()
	for range 3 {
		_, err := cacheOf(r, dir, 0).Read(t.Context(), Document{Body: []byte("%PDF-")})
		if about, ok := errors.AsType[*Error](err); !ok || *about != *bomb {
			t.Errorf("%v", err)
		}
	}
	if n := r.reads.Load(); n != 1 {
		t.Errorf("the bomb was read %d times", n)
	}
	old := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(entries(t, dir)[0], old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := cacheOf(r, dir, 0).Read(t.Context(), Document{Body: []byte("%PDF-")}); err == nil || r.reads.Load() != 2 {
		t.Errorf("after a day: %v, read %d times", err, r.reads.Load())
	}

	r = &counting{fn: func(context.Context, Document) (*Page, error) { return nil, context.Canceled }}
	c := cacheOf(r, t.TempDir(), 0)
	for range 2 {
		if _, err := c.Read(t.Context(), Document{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if n := r.reads.Load(); n != 2 || len(entries(t, c.dir)) != 0 {
		t.Errorf("read %d times, entries %v", n, entries(t, c.dir))
	}
}

func TestCacheReadsOnceForAll(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := &counting{fn: func(ctx context.Context, d Document) (*Page, error) {
			select {
			case <-time.After(time.Second):
				return echo(ctx, d)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}
		c := cacheOf(r, dir, 0)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if p, err := c.Read(t.Context(), Document{Body: []byte("one")}); err != nil || p.Text != "one" {
					t.Errorf("%v, %v", p, err)
				}
			})
		}
		all.Wait()
		if n := r.reads.Load(); n != 1 {
			t.Errorf("read %d times", n)
		}

		// Who reads gives up; who waits goes on, and who waits can give up.
		ctx, cancel := context.WithCancel(t.Context())
		stop := errors.New("stop")
		waiting, leave := context.WithCancelCause(t.Context())
		all.Go(func() {
			if _, err := c.Read(ctx, Document{Body: []byte("two")}); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if p, err := c.Read(t.Context(), Document{Body: []byte("two")}); err != nil || p.Text != "two" {
				t.Errorf("%v, %v", p, err)
			}
		})
		all.Go(func() {
			if _, err := c.Read(waiting, Document{Body: []byte("two")}); !errors.Is(err, stop) {
				t.Errorf("%v", err)
			}
		})
		synctest.Wait()
		leave(stop)
		synctest.Wait()
		cancel()
		all.Wait()
		if n := r.reads.Load(); n != 3 {
			t.Errorf("read %d times", n)
		}
	})
}

func TestCacheDamage(t *testing.T) {
	r := &counting{fn: echo}
	dir := t.TempDir()
	c := cacheOf(r, dir, 0)
	d := Document{Body: bytes.Repeat([]byte("text "), 100)}
	read := func() {
		t.Helper()
		if p, err := c.Read(t.Context(), d); err != nil || p.Text != string(d.Body) {
			t.Errorf("%v, %v", p, err)
		}
	}
	read()
	name := entries(t, dir)[0]
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	reads := int64(1)
	for _, bad := range [][]byte{nil, whole[:10], whole[:len(whole)-1], flipped, append(bytes.Clone(whole), 0)} {
		if err := os.WriteFile(name, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok := c.load(filepath.Base(name)); ok || len(entries(t, dir)) != 0 {
			t.Errorf("%d bytes were taken, or are still there", len(bad))
		}
		read()
		if reads++; r.reads.Load() != reads {
			t.Errorf("read %d times, want %d", r.reads.Load(), reads)
		}
	}

	// A directory that cannot be one.
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c = cacheOf(r, file, 0)
	read()
	read()
}

func TestCacheEvictsTheOldest(t *testing.T) {
	r := &counting{fn: echo}
	dir := t.TempDir()
	doc := func(i int) Document {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		text := make([]byte, 2000)
		for j := range text {
			text[j] = byte('!' + random.IntN(90)) // does not compress
		}
		return Document{Body: text}
	}
	c := cacheOf(r, dir, 30_000)
	abandoned := ""
	for i := range 60 {
		if _, err := c.Read(t.Context(), doc(i)); err != nil {
			t.Fatal(err)
		}
		// The files get a day each, so that their order does not hang on the clock.
		old := time.Now().Add(time.Duration(i-1000) * 24 * time.Hour)
		if err := os.Chtimes(c.path(c.key(&Document{Body: doc(i).Body})), old, old); err != nil {
			t.Fatal(err)
		}
		if i == 3 {
			abandoned = filepath.Join(filepath.Dir(entries(t, dir)[0]), "new-1")
			if err := os.WriteFile(abandoned, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(abandoned, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	total := int64(0)
	for _, name := range entries(t, dir) {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total > 30_000 || total < 15_000 {
		t.Errorf("%d bytes are kept", total)
	}
	for i, kept := range map[int]bool{0: false, 30: false, 58: true, 59: true} {
		if _, err := os.Stat(c.path(c.key(&Document{Body: doc(i).Body}))); (err == nil) != kept {
			t.Errorf("document %d: kept is %v", i, err == nil)
		}
	}
	if _, err := os.Stat(abandoned); err == nil {
		t.Error("a file that was given up is still there")
	}
}

func TestCacheKeys(t *testing.T) {
	c := Cached(New(Config{}), t.TempDir(), 0)
	other := Cached(New(Config{MaxText: 1000}), t.TempDir(), 0)
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"", "a", "b", "ab", "a.md", "b.md", "a.txt", "text/html"})
		gen := func() Document {
			return Document{URL: part.Draw(t, "url"), Path: part.Draw(t, "path"), ContentType: part.Draw(t, "type"), Body: []byte(part.Draw(t, "body"))}
		}
		a, b := gen(), gen()
		same := a.URL == b.URL && filepath.Ext(a.Path) == filepath.Ext(b.Path) && (a.Path == "") == (b.Path == "") && a.ContentType == b.ContentType && bytes.Equal(a.Body, b.Body)
		if (c.key(&a) == c.key(&b)) != same {
			t.Errorf("%+v and %+v", a, b)
		}
		if c.key(&a) == other.key(&a) {
			t.Error("other limits have the same key")
		}
	})
}

func FuzzCacheEntry(f *testing.F) {
	whole, err := packEntry(&entry{Page: &Page{Text: "text"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole[sha256.Size:], true)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, data []byte, summed bool) {
		if summed {
			sum := sha256.Sum256(data)
			data = append(sum[:], data...)
		}
		if e, err := unpackEntry(data, 1<<20); err == nil && (e.Page == nil) == (e.Error == nil) {
			t.Errorf("%+v", e)
		}
	})
}

func BenchmarkCache(b *testing.B) {
	body := articleOf("en-US", "Old bridge is closed", "", strings.Repeat(enText, 20))
	r := newReader(b, Config{Workers: 1})
	for name, read := range map[string]func(context.Context, Document) (*Page, error){"parse": r.Read, "hit": Cached(r, b.TempDir(), 0).Read} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := read(b.Context(), Document{URL: "https://site.example/", Body: []byte(body)}); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(body)))
		})
	}
}
