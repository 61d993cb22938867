//go:build unix

package kb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dossier/internal/store/memory"
	"dossier/kb"
	"dossier/reader"
)

// scannedPDF has a page and no text on it.
func scannedPDF() []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range []string{
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>",
	} {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj%sendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, p := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", p)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF", len(at)+1, start)
	return b.Bytes()
}

func TestOddFiles(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		dir := t.TempDir()
		odd := "caf\xe9 \xff.txt" // Latin-1
		long := strings.Repeat("л", 120) + ".txt"
		write(t, dir, map[string]string{
			"good.txt":     "A good file about whales.",
			"sub/more.txt": "More about whales in the sea.",
			odd:            "Oddly named, about walruses.",
			long:           "Called at great length, about wolves.",
			"empty.txt":    "",
			"signs.txt":    "*** --- ***",
			"image.png":    "\x89PNG\r\n\x1a\n\x00\x00",
			"tool.bin":     "\x7fELF\x00\x01\x02",
			"drawing.svg":  `<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>`,
			"style.css":    "body { color: red }",
			"void.html":    "<html><body><div></div></body></html>",
			"scan.pdf":     string(scannedPDF()),
			"broken.pdf":   "%PDF-1.7\nnothing of the kind",
		})
		must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
		listener, err := net.Listen("unix", filepath.Join(dir, "s"))
		must(t, err)
		defer listener.Close()
		must(t, os.Symlink(dir, filepath.Join(dir, "sub", "loop")))
		must(t, os.Symlink(filepath.Join(dir, "good.txt"), filepath.Join(dir, "link.txt")))
		must(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
		big, err := os.Create(filepath.Join(dir, "big.txt"))
		must(t, err)
		must(t, big.Truncate(2<<30))
		must(t, big.Close())
		// Files that cannot be opened, and folders that cannot be read.
		write(t, dir, map[string]string{"locked.txt": "nobody can read me"})
		deep := deepFolder(t, dir)

		r := newCounting(t)
		l := kb.New(store, r, nil, kb.Options{})
		l.SetOpen(func(path string) (*os.File, error) {
			if strings.HasSuffix(path, "locked.txt") {
				return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
			}
			if strings.HasSuffix(path, "big.txt") || strings.HasSuffix(path, "pipe") {
				t.Errorf("%s was opened", path)
			}
			return os.Open(path)
		})
		got := mirror(t, l, dir)
		want := map[string]reader.Reason{
			"empty.txt": reader.NoText, "signs.txt": reader.NoText, "scan.pdf": reader.NoText, "broken.pdf": reader.Broken,
			"big.txt": reader.TooLarge, "locked.txt": kb.Unreadable, filepath.Base(deep): kb.Unreadable,
		}
		for _, f := range got.Failures {
			name := filepath.Base(f.Path)
			if want[name] != f.Reason || f.Why == "" {
				t.Errorf("%s: %s (%s), want %s", name, f.Reason, f.Why, want[name])
			}
			delete(want, name)
		}
		if len(want) > 0 {
			t.Errorf("not listed: %v", want)
		}
		if got.Ignored != 5 || got.Skipped != 5 || len(got.Skips) != 5 {
			t.Errorf("%s, %v", counts(got), got.Skips)
		}
		if got.Added != got.Collection.Documents {
			t.Errorf("%d new of %d documents", got.Added, got.Collection.Documents)
		}
		name := got.Collection.Name
		for query, want := range map[string]string{"walruses": odd, "wolves": long, "whales sea": "more.txt"} {
			hits := search(t, l, name, kb.Query{Text: query, Limit: 1}).Hits
			if len(hits) != 1 || filepath.Base(hits[0].Path) != want {
				t.Errorf("%s: %v", query, hits)
			}
		}
		files, err := l.Failures(t.Context(), name)
		if err != nil || len(files) != len(got.Failures) {
			t.Errorf("%d failures listed, want %d (%v)", len(files), len(got.Failures), err)
		}

		// Nothing is parsed again, and nothing changes.
		read := r.n.Load()
		again := sync(t, l, name)
		if r.n.Load() != read {
			t.Errorf("%d files were parsed again", r.n.Load()-read)
		}
		if again.Added+again.Changed+again.Removed != 0 || len(again.Failures) != len(got.Failures) || again.Ignored != 5 {
			t.Errorf("the second time: %s", counts(again))
		}
		// What could not be opened is tried again.
		l.SetOpen(os.Open)
		if again = sync(t, l, name); again.Changed != 1 || names(search(t, l, name, kb.Query{Text: "nobody"})) != "locked.txt" {
			t.Errorf("after unlocking: %s", counts(again))
		}
	})
}

// deepFolder makes folders in folders until their path is too long for the
// system, and returns the first that cannot be read.
func deepFolder(t *testing.T, dir string) string {
	t.Helper()
	name := strings.Repeat("d", 200)
	root, err := os.OpenRoot(dir)
	must(t, err)
	path := dir
	for {
		must(t, root.Mkdir(name, 0o755))
		next, err := root.OpenRoot(name)
		must(t, err)
		must(t, root.Close())
		root = next
		path = filepath.Join(path, name)
		if _, err := os.Stat(path); err != nil {
			break
		}
	}
	must(t, root.Close())
	t.Cleanup(func() { must(t, os.RemoveAll(filepath.Join(dir, name))) })
	return path
}

func TestNoFiles(t *testing.T) {
	l := newLibrary(t, memory.New(memory.Options{}), nil, kb.Options{})
	dir := t.TempDir()
	r := mirror(t, l, dir)
	if r.Found != 0 || r.Collection.Synced.IsZero() || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "no files in "+r.Collection.Name) {
		t.Errorf("got %+v", r)
	}
	if got := search(t, l, r.Collection.Name, kb.Query{Text: "anything"}); len(got.Hits) != 0 {
		t.Errorf("found %v", got.Hits)
	}
}

func TestRootIsGone(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		parent := t.TempDir()
		dir, other := filepath.Join(parent, "docs"), filepath.Join(parent, "other")
		write(t, dir, map[string]string{"a.txt": "about alpacas"})
		write(t, other, map[string]string{"b.txt": "about bisons"})
		l := newLibrary(t, store, nil, kb.Options{})
		c, err := l.Create(t.Context(), "both", dir, other)
		must(t, err)
		sync(t, l, c.Name)
		must(t, os.Rename(dir, dir+".away"))
		_, err = l.Sync(t.Context(), c.Name, kb.SyncOptions{})
		if err == nil || !strings.Contains(err.Error(), "docs is gone") || !strings.Contains(err.Error(), "dossier kb rm") {
			t.Errorf("got %v", err)
		}
		if got := names(search(t, l, c.Name, kb.Query{Text: "alpacas"})); got != "a.txt" {
			t.Errorf("found %q", got)
		}
		must(t, os.Rename(dir+".away", dir))
		if r := sync(t, l, c.Name); r.Unchanged != 2 {
			t.Errorf("back again: %s", counts(r))
		}
	})
}

// A folder that cannot be read says nothing about what was in it.
func TestFolderThatCannotBeReadKeepsItsDocuments(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"sub/a.txt": "about alpacas", "b.txt": "about bisons"})
	l := newLibrary(t, memory.New(memory.Options{}), nil, kb.Options{})
	name := mirror(t, l, dir).Collection.Name
	l.SetOpen(func(path string) (*os.File, error) {
		if filepath.Base(path) == "sub" {
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
		}
		return os.Open(path)
	})
	for range 2 {
		if r := sync(t, l, name); r.Removed != 0 || len(r.Failures) != 1 || r.Failures[0].Reason != kb.Unreadable {
			t.Fatalf("closed: %s", counts(r))
		}
	}
	if got := names(search(t, l, name, kb.Query{Text: "alpacas"})); got != "a.txt" {
		t.Errorf("found %q", got)
	}
}

func TestTimes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	long := time.Now().Add(-time.Hour)
	set := func(text string, at time.Time) {
		write(t, dir, map[string]string{"a.txt": text})
		must(t, os.Chtimes(path, at, at))
	}
	r := newCounting(t)
	l := kb.New(memory.New(memory.Options{}), r, nil, kb.Options{})

	now := time.Now()
	set("aardvarks", now)
	name := mirror(t, l, dir).Collection.Name
	for time.Since(now) > time.Second { // on a busy machine it was long ago
		now = time.Now()
		set("aardvarks", now)
		sync(t, l, name)
	}
	// Changed within the clock's granularity: same size, same time.
	set("badgers!!", now)
	if got := sync(t, l, name); got.Changed != 1 || names(search(t, l, name, kb.Query{Text: "badgers"})) != "a.txt" {
		t.Errorf("a change that the clock does not show: %s", counts(got))
	}
	// Another time, the same content.
	read := r.n.Load()
	set("badgers!!", long)
	if got := sync(t, l, name); got.Unchanged != 1 || r.n.Load() != read {
		t.Errorf("touched: %s, parsed %d", counts(got), r.n.Load()-read)
	}
	// Older than the last sync: size and time are believed ...
	set("coyotes!!", long)
	if got := sync(t, l, name); got.Unchanged != 1 || got.Bytes != 0 {
		t.Errorf("unchanged: %s", counts(got))
	}
	// ... unless told otherwise.
	got, err := l.Sync(t.Context(), name, kb.SyncOptions{Rehash: true})
	if err != nil || got.Changed != 1 {
		t.Errorf("rehashed: %s (%v)", counts(got), err)
	}
}

func TestCutShort(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		dir := t.TempDir()
		const files = 600
		many := map[string]string{}
		for i := range files {
			many[fmt.Sprintf("%d/%04d.txt", i%7, i)] = fmt.Sprintf("file number%d tells of %s", i, strings.Repeat("things ", i%40))
		}
		write(t, dir, many)
		r := newCounting(t)
		ctx, cancel := context.WithCancel(t.Context())
		r.each = func(n int64) {
			if n == files/2 {
				cancel()
			}
		}
		l := kb.New(store, r, nil, kb.Options{})
		l.SetBatch(64)
		c, err := l.Ensure(ctx, dir)
		must(t, err)
		if _, err := l.Sync(ctx, c.Name, kb.SyncOptions{}); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
		half, err := l.Get(t.Context(), c.Name)
		must(t, err)
		if half.Documents < files/4 || half.Documents >= files || !half.Synced.IsZero() {
			t.Fatalf("%d documents after half of it", half.Documents)
		}
		r.n.Store(0)
		r.each = nil
		got := sync(t, l, c.Name)
		if got.Added != files-half.Documents || int(r.n.Load()) != got.Added || got.Collection.Documents != files {
			t.Errorf("went on: %s, parsed %d, had %d", counts(got), r.n.Load(), half.Documents)
		}
		for _, i := range []int{0, 17, 299, 301, 599} {
			if got := names(search(t, l, c.Name, kb.Query{Text: fmt.Sprintf("number%d", i), Limit: 1})); got != fmt.Sprintf("%04d.txt", i) {
				t.Errorf("number%d: %q", i, got)
			}
		}
	})
}

func TestTitleOfAFile(t *testing.T) {
	for path, want := range map[string]string{"/d/LGPL-2.1": "LGPL 2.1", "/d/my_notes.txt": "my notes", "/d/GPL-3": "GPL 3", "/d/v1.2.md": "v1.2"} {
		if got := kb.TitleOf(path); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
}
