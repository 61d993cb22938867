package kb_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dossier/kb"
)

// earlier is a store that keeps what a sync puts in as if an earlier version had
// read it.
type earlier struct{ kb.Store }

func (e *earlier) ChangeCollection(ctx context.Context, id string, c kb.Change) (int64, error) {
	for i := range c.Put {
		c.Put[i].Reading = ""
	}
	return e.Store.ChangeCollection(ctx, id, c)
}

// Files that another version read are read again by the next sync, also when the
// one before it was cut short; what can't be read any more stays as it is.
func TestReadAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		dir := t.TempDir()
		const files = 200
		many := map[string]string{}
		for i := range files {
			many[fmt.Sprintf("%04d.txt", i)] = fmt.Sprintf("file number%d tells of things", i)
		}
		write(t, dir, many)
		past := time.Now().Add(-time.Hour) // files that were changed just now are looked at anyway
		for file := range many {
			must(t, os.Chtimes(filepath.Join(dir, file), past, past))
		}
		name := mirror(t, kb.New(&earlier{store}, newReader(t), nil, kb.Options{}), dir).Collection.Name

		r := newCounting(t)
		ctx, cancel := context.WithCancel(t.Context())
		r.each = func(n int64) {
			if n == files/2 {
				cancel()
			}
		}
		l := kb.New(store, r, nil, kb.Options{})
		l.SetBatch(16)
		outdated := func() int {
			t.Helper()
			n, err := l.Outdated(t.Context(), name)
			must(t, err)
			return n
		}
		if outdated() != files {
			t.Errorf("%d are outdated", outdated())
		}
		if _, err := l.Sync(ctx, name, kb.SyncOptions{}); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
		half, err := l.Get(t.Context(), name)
		must(t, err)
		left := outdated()
		if half.Documents != files || left == 0 || left == files {
			t.Fatalf("cut short: %d documents, %d outdated", half.Documents, left)
		}
		r.n.Store(0)
		r.each = nil
		gone := filepath.Join(dir, "0199.txt")
		l.SetOpen(func(path string) (*os.File, error) {
			if path == gone {
				return nil, os.ErrPermission
			}
			return os.Open(path)
		})
		got := sync(t, l, name)
		if got.Reread != left-1 || got.Changed != 0 || got.Added != 0 || len(got.Failures) != 0 || int(r.n.Load()) != left-1 || outdated() != 1 {
			t.Errorf("went on: %s, %d again, %d read; %d were left and %d are", counts(got), got.Reread, r.n.Load(), left, outdated())
		}
		for _, i := range []int{0, 99, 199} {
			if got := names(search(t, l, name, kb.Query{Text: fmt.Sprintf("number%d", i), Limit: 2})); got != fmt.Sprintf("%04d.txt", i) {
				t.Errorf("number%d: %q", i, got)
			}
		}
		// Other chunks are another version, too.
		l = kb.New(store, r, nil, kb.Options{ChunkSize: 300})
		if got := sync(t, l, name); got.Reread != files {
			t.Errorf("with other chunks %d were read again", got.Reread)
		}
	})
}

// Chunks that are as they were keep their vectors.
func TestReadAgainEmbedsWhatChanged(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		dir := t.TempDir()
		section := func(n int, word string) string {
			return fmt.Sprintf("# Section %d\n\n%s\n\n", n, strings.Repeat("It tells of "+word+". ", 20))
		}
		write(t, dir, map[string]string{"a.md": section(1, "photographs") + section(2, "fishermen") + section(3, "bakers")})
		e := &bag{name: "one", dims: 512}
		old := newLibrary(t, &earlier{store}, e, kb.Options{})
		name := mirror(t, old, dir).Collection.Name
		made := e.texts.Swap(0)
		if made < 3 {
			t.Fatalf("%d texts were embedded", made)
		}
		near := func(l *kb.Library) kb.Hit {
			return search(t, l, name, kb.Query{Text: "photography", Route: kb.Dense, Limit: 1}).Hits[0]
		}
		before := near(old)
		e.texts.Store(0)
		l := newLibrary(t, store, e, kb.Options{})
		if got := sync(t, l, name); got.Reread != 1 || e.texts.Load() != 0 {
			t.Errorf("%d were read again, %d texts embedded", got.Reread, e.texts.Load())
		}
		if after := near(l); after.Score != before.Score || after.Text != before.Text || after.ID == before.ID {
			t.Errorf("from %+v to %+v", before, after)
		}
		// So they do when the file changes elsewhere.
		write(t, dir, map[string]string{"a.md": section(1, "photographs") + section(2, "zebras") + section(3, "bakers")})
		e.texts.Store(0)
		if got := sync(t, l, name); got.Changed != 1 || e.texts.Load() != made/3 {
			t.Errorf("%d changed, %d texts embedded of %d", got.Changed, e.texts.Load(), made)
		}
	})
}
