package kb_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dossier/kb"
)

// A data directory is moved: what was put into collections is found, listed, read
// again, discarded and added to at its new place, also by a program that kept it
// under the paths of old. What is mirrored stays where it is.
func TestUploadsSurviveAMove(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		home, mirrored := t.TempDir(), t.TempDir()
		old, moved := filepath.Join(home, "old", "uploads"), filepath.Join(home, "new", "uploads")
		must(t, os.WriteFile(filepath.Join(mirrored, "note.txt"), []byte("A note of the folder."), 0o600))
		before := newLibrary(t, store, nil, kb.Options{Uploads: old})
		c, err := before.Create(t.Context(), "mixed", mirrored)
		must(t, err)
		put := func(l *kb.Library, at, text string) {
			t.Helper()
			_, err := l.Put(t.Context(), c.ID, at, strings.NewReader(text))
			must(t, err)
		}
		put(before, "a/lamp.txt", "The lamp weighs 40 kg.")
		put(before, "broken.pdf", "%PDF-1.7 and nothing more")
		_, err = before.Sync(t.Context(), c.ID, kb.SyncOptions{})
		must(t, err)
		was, err := before.Get(t.Context(), c.ID)
		must(t, err)

		must(t, os.Rename(filepath.Dir(old), filepath.Dir(moved)))
		after := newLibrary(t, store, nil, kb.Options{Uploads: moved})
		for _, again := range []bool{false, true} {
			got, err := after.Sync(t.Context(), c.ID, kb.SyncOptions{Rehash: again})
			must(t, err)
			if got.Found != 3 || got.Removed != 0 || got.Added != 0 || got.Collection.Documents != 2 || len(got.Failures) != 1 || !strings.HasPrefix(got.Failures[0].Path, moved) {
				t.Errorf("%+v", got)
			}
		}
		put(after, "a/rope.txt", "The rope is new.")
		if n, err := after.Unread(t.Context(), c.ID); err != nil || n != 1 {
			t.Errorf("%d files are unread: %v", n, err)
		}
		// A run that was begun before names the roots as they were.
		now, err := after.AddRoots(t.Context(), c.ID, was.Roots...)
		must(t, err)
		if len(now.Roots) != 2 || len(after.Mirrored(now)) != 1 {
			t.Fatalf("%q", now.Roots)
		}
		_, err = after.Sync(t.Context(), c.ID, kb.SyncOptions{})
		must(t, err)
		list, err := after.Entries(t.Context(), c.ID, kb.EntryFilter{})
		must(t, err)
		paths := map[string]int64{}
		for _, d := range list.Documents {
			if d.Uploaded != (d.Path != filepath.Base(mirrored)+"/note.txt") {
				t.Errorf("%+v", d)
			}
			paths[d.Path] = d.N
		}
		if list.Total != 4 || paths["a/lamp.txt"] == 0 || paths["a/rope.txt"] == 0 {
			t.Fatalf("%+v", list)
		}
		if found := search(t, after, c.ID, kb.Query{Text: "lamp"}); len(found.Hits) != 1 || !strings.HasPrefix(found.Hits[0].Path, moved) {
			t.Errorf("%+v", found.Hits)
		}
		must(t, after.Discard(t.Context(), c.ID, paths["a/lamp.txt"]))
		must(t, after.Delete(t.Context(), c.ID))
		if left, err := os.ReadDir(moved); err != nil || len(left) != 0 {
			t.Errorf("%v stays: %v", left, err)
		}
		if _, err := os.Stat(filepath.Join(mirrored, "note.txt")); err != nil {
			t.Error(err)
		}
	})
}

// What a user has put into collections has a limit of its own: that of others is
// others', what goes makes room, and what was refused takes none.
func TestUploadsHaveALimit(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		dir := t.TempDir()
		l := newLibrary(t, store, nil, kb.Options{Uploads: dir, MaxUploads: 1000})
		for _, user := range []string{"ann", "bob"} {
			for _, name := range []string{"1", "2"} {
				_, err := l.Begin(t.Context(), user, user+name)
				must(t, err)
			}
		}
		put := func(l *kb.Library, name, at string, n int, ok bool) {
			t.Helper()
			_, err := l.Put(t.Context(), name, at, strings.NewReader(strings.Repeat("x", n)))
			var full *kb.FullError
			if ok != (err == nil) || err != nil && !errors.As(err, &full) {
				t.Errorf("%d bytes in %s/%s: %v", n, name, at, err)
			}
		}
		put(l, "ann1", "a.txt", 600, true)
		put(l, "ann2", "b.txt", 401, false)
		put(l, "ann2", "b.txt", 400, true)
		put(l, "ann2", "c.txt", 1, false)
		put(l, "bob1", "a.txt", 1000, true)
		put(l, "ann1", "a.txt", 500, false) // both are there for a moment
		put(newLibrary(t, store, nil, kb.Options{Uploads: dir, MaxUploads: 1000}), "ann1", "d.txt", 1, false)
		must(t, l.Delete(t.Context(), "ann2"))
		put(l, "ann1", "c.txt", 400, true)
		if n, err := l.Used(t.Context(), "ann"); err != nil || n != 1000 {
			t.Errorf("%d %v", n, err)
		}
		put(newLibrary(t, store, nil, kb.Options{Uploads: dir}), "bob2", "x.txt", 5000, true) // no limit
	})
}
