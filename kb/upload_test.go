package kb_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dossier/kb"
)

func uploading(t *testing.T, store kb.Store) (*kb.Library, string) {
	dir := filepath.Join(t.TempDir(), "uploads")
	return newLibrary(t, store, nil, kb.Options{Uploads: dir, MaxFile: 1000}), dir
}

// What is put into a collection is read by the next sync, is listed with the path
// that it has there and why it could not be read, and goes when it is discarded.
func TestPutAndDiscard(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		l, dir := uploading(t, store)
		c, err := l.Begin(t.Context(), "ann", " Harbour ", "sea", "law", "sea ")
		must(t, err)
		if c.Name != "Harbour" || c.User != "ann" || !slices.Equal(c.Tags, []string{"law", "sea"}) || len(l.Mirrored(c)) != 0 {
			t.Fatalf("%+v", c)
		}
		put := func(at, text string) {
			t.Helper()
			_, err := l.Put(t.Context(), c.ID, at, strings.NewReader(text))
			must(t, err)
		}
		put("отчёты/2026/маяк.md", "# Маяк\n\nМаяк построен в 1871 году.\n")
		put("lamp.txt", "The lamp weighs 12 kg.")
		put("lamp.txt", "The lamp weighs 40 kg.")
		put("报告/灯.txt", "灯重四十公斤。")
		put("broken.pdf", "%PDF-1.7 and nothing more")
		if n, err := l.Unread(t.Context(), c.ID); err != nil || n != 4 {
			t.Errorf("%d files are unread: %v", n, err)
		}
		_, err = l.Sync(t.Context(), c.ID, kb.SyncOptions{})
		must(t, err)
		if n, err := l.Unread(t.Context(), c.ID); err != nil || n != 0 {
			t.Errorf("%d files are unread: %v", n, err)
		}
		list, err := l.Entries(t.Context(), c.ID, kb.EntryFilter{})
		must(t, err)
		var got []string
		for _, d := range list.Documents {
			if !d.Uploaded || (d.Failure != nil) != (d.Path == "broken.pdf") || d.Failure == nil && d.Chunks == 0 {
				t.Errorf("%+v", d)
			}
			got = append(got, d.Path)
		}
		if want := []string{"broken.pdf", "lamp.txt", "отчёты/2026/маяк.md", "报告/灯.txt"}; !slices.Equal(got, want) || list.Total != 4 {
			t.Fatalf("%q", got)
		}
		yes := true
		if failed, err := l.Entries(t.Context(), c.ID, kb.EntryFilter{Failed: &yes}); err != nil || failed.Total != 1 || failed.Documents[0].Failure.Why == "" {
			t.Errorf("%+v %v", failed, err)
		}
		if named, err := l.Entries(t.Context(), c.ID, kb.EntryFilter{Words: "МАЯК 2026"}); err != nil || named.Total != 1 {
			t.Errorf("%+v %v", named, err)
		}
		if some, err := l.Entries(t.Context(), c.ID, kb.EntryFilter{Skip: 1, Limit: 2}); err != nil || some.Total != 4 || len(some.Documents) != 2 || some.Documents[0].Path != "lamp.txt" {
			t.Errorf("%+v %v", some, err)
		}
		lamp := list.Documents[1]
		if d, err := l.Pieces(t.Context(), c.ID, lamp.N, 0, 0); err != nil || len(d.Passages) != 1 || !strings.Contains(d.Passages[0].Text, "40 kg") {
			t.Errorf("%+v %v", d, err)
		}
		if found := search(t, l, c.ID, kb.Query{Text: "lamp"}); len(found.Hits) != 1 {
			t.Fatalf("%d hits", len(found.Hits))
		}
		must(t, l.Discard(t.Context(), c.ID, lamp.N, list.Documents[2].N))
		if found := search(t, l, c.ID, kb.Query{Text: "lamp"}); len(found.Hits) != 0 {
			t.Errorf("it is still found: %v", found.Hits)
		}
		if err := l.Discard(t.Context(), c.ID, lamp.N); !errors.Is(err, kb.ErrNoDocument) {
			t.Error(err)
		}
		after, err := l.Sync(t.Context(), c.ID, kb.SyncOptions{})
		must(t, err)
		if after.Found != 2 || after.Removed != 0 || after.Collection.Documents != 1 {
			t.Errorf("%+v", after)
		}
		if _, err := os.Stat(filepath.Join(c.Roots[0], "отчёты")); !os.IsNotExist(err) {
			t.Errorf("an empty folder stays: %v", err)
		}
		must(t, l.Delete(t.Context(), c.ID))
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%v stays: %v", left, err)
		}
	})
}

// A path leads to a file in the collection's own folder, or nowhere.
func TestPutLeadsNowhereElse(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		l, dir := uploading(t, store)
		c, err := l.Begin(t.Context(), "", "x")
		must(t, err)
		for _, at := range []string{
			"", ".", "..", "../x", "a/../../x", "a/..", "/etc/passwd", "//x", "a//b", "a/", "./a", "a/./b", `..\x`, `C:\x`, `a\b`, "a\x00b", "a\nb", "\xff",
			".hidden", "a/.git/config", "node_modules/x.js", ".incoming/x", "NUL", "nul.txt", "a/CON", "com1.pdf", "Lpt9 .md", strings.Repeat("a", 256), strings.Repeat("a/", 32) + "a", strings.Repeat("й", 600),
		} {
			var refused *kb.PutError
			if n, err := l.Put(t.Context(), c.ID, at, strings.NewReader("x")); !errors.As(err, &refused) || refused.Why == "" {
				t.Errorf("%q is taken: %d bytes, %v", at, n, err)
			}
		}
		var refused *kb.PutError
		if _, err := l.Put(t.Context(), c.ID, "large.txt", strings.NewReader(strings.Repeat("x", 1001))); !errors.As(err, &refused) {
			t.Errorf("it is too large: %v", err)
		}
		if _, err := l.Put(t.Context(), c.ID, "a", strings.NewReader("x")); err != nil {
			t.Error(err)
		}
		if _, err := l.Put(t.Context(), c.ID, "a/b", strings.NewReader("x")); !errors.As(err, &refused) {
			t.Errorf("a file is a folder: %v", err)
		}
		// A link that somebody has put there leads nowhere either.
		away := t.TempDir()
		if err := os.Symlink(away, filepath.Join(c.Roots[0], "link")); err == nil {
			if _, err := l.Put(t.Context(), c.ID, "link/x", strings.NewReader("x")); err == nil {
				t.Error("a link is followed out of the folder")
			}
		}
		var files []string
		must(t, filepath.WalkDir(filepath.Dir(dir), func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files = append(files, path)
			}
			return err
		}))
		if !slices.Equal(files, []string{filepath.Join(c.Roots[0], "a")}) {
			t.Errorf("there are %q", files)
		}
		for _, name := range []string{"", " ", "/srv/papers", "a/b", "a\nb", strings.Repeat("x", 201)} {
			if _, err := l.Begin(t.Context(), "", name); !errors.As(err, &refused) {
				t.Errorf("the name %q is taken: %v", name, err)
			}
		}
		if _, err := l.Begin(t.Context(), "bob", "x"); !errors.Is(err, kb.ErrExists) {
			t.Error(err)
		}
		if _, err := l.Tag(t.Context(), "x", "a,b"); !errors.As(err, &refused) {
			t.Error(err)
		}
		if c, err = l.Tag(t.Context(), "x"); err != nil || len(c.Tags) != 0 {
			t.Errorf("%v %v", c.Tags, err)
		}
	})
}

// Files can be put into a collection that mirrors folders; those of the folders are
// not the library's to remove.
func TestPutBesideFolders(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		l, _ := uploading(t, store)
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "note.txt"), []byte("A note of the folder."), 0o600))
		c, err := l.Create(t.Context(), "mixed", dir)
		must(t, err)
		_, err = l.Put(t.Context(), "mixed", "note.txt", strings.NewReader("A note of mine."))
		must(t, err)
		_, err = l.Sync(t.Context(), "mixed", kb.SyncOptions{})
		must(t, err)
		list, err := l.Entries(t.Context(), "mixed", kb.EntryFilter{})
		must(t, err)
		for _, d := range list.Documents {
			err := l.Discard(t.Context(), c.ID, d.N)
			var refused *kb.PutError
			if d.Uploaded != (err == nil) || err != nil && !errors.As(err, &refused) {
				t.Errorf("%+v: %v", d, err)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "note.txt")); err != nil || list.Total != 2 {
			t.Errorf("%+v %v", list, err)
		}
	})
}
