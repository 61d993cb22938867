package kb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dossier/internal/store/memory"
	"dossier/kb"
)

// fill writes so many files into folders of a hundred.
func fill(t testing.TB, dir string, n int) {
	t.Helper()
	for i := range n {
		sub := filepath.Join(dir, fmt.Sprint(i/100))
		if i%100 == 0 {
			must(t, os.MkdirAll(sub, 0o755))
		}
		text := fmt.Sprintf("Note %d. It is about topic%d and about theme%d, and nothing else.\n", i, i%97, i)
		must(t, os.WriteFile(filepath.Join(sub, fmt.Sprintf("%06d.txt", i)), []byte(text), 0o644))
	}
}

func TestManyFiles(t *testing.T) {
	const files = 3000
	dir := t.TempDir()
	fill(t, dir, files)
	store := memory.New(memory.Options{})
	l := newLibrary(t, store, nil, kb.Options{})
	c, err := l.Ensure(t.Context(), dir)
	must(t, err)
	var last kb.Progress
	phases := map[kb.Phase]int{}
	r, err := l.Sync(t.Context(), c.Name, kb.SyncOptions{Progress: func(p kb.Progress) {
		if p.Done < last.Done && p.Phase == last.Phase || p.Found < last.Found {
			t.Errorf("from %+v to %+v", last, p)
		}
		last = p
		phases[p.Phase]++
	}})
	must(t, err)
	if r.Added != files || r.Collection.Documents != files || r.Collection.Chunks != files {
		t.Errorf("got %s", counts(r))
	}
	if last.Found != files || last.Done != files || last.Added != files || phases[kb.Walking] == 0 || phases[kb.Reading] == 0 || phases[kb.Reading] > files/10 {
		t.Errorf("progress ended at %+v after %v", last, phases)
	}
	for _, i := range []int{0, 511, 512, 1777, 2999} {
		if got := search(t, l, c.Name, kb.Query{Text: fmt.Sprintf("theme%d", i), Limit: 1}); names(got) != fmt.Sprintf("%06d.txt", i) {
			t.Errorf("theme%d: %s", i, names(got))
		}
	}
	// Numbers follow the paths.
	files2, err := store.Files(t.Context(), c.ID)
	must(t, err)
	for i, f := range files2 {
		if f.N != int64(i+1) {
			t.Fatalf("%s has number %d, want %d", f.Path, f.N, i+1)
		}
	}
}

func TestNumbersDoNotDependOnWorkers(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 250)
	var want string
	for _, workers := range []int{1, 3, 8} {
		store := memory.New(memory.Options{})
		l := newLibrary(t, store, nil, kb.Options{Workers: workers})
		l.SetBatch(32)
		c := mirror(t, l, dir).Collection
		files, err := store.Files(t.Context(), c.ID)
		must(t, err)
		var b strings.Builder
		for _, f := range files {
			fmt.Fprintln(&b, f.N, f.Path)
		}
		if want == "" {
			want = b.String()
		}
		if b.String() != want {
			t.Errorf("%d workers give other numbers", workers)
		}
	}
}

// However a collection came about, it has few segments, and what a search
// finds does not depend on them.
func TestSegmentsStayFew(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 600)
	store := memory.New(memory.Options{})
	l := newLibrary(t, store, &bag{name: "one", dims: 32}, kb.Options{})
	l.SetBatch(3)
	c := mirror(t, l, dir).Collection
	for i := range 40 {
		path := filepath.Join(dir, "0", fmt.Sprintf("%06d.txt", i))
		must(t, os.WriteFile(path, []byte(fmt.Sprintf("Rewritten %d, about change%d.", i, i)), 0o644))
		sync(t, l, c.Name)
	}
	segments, _, err := store.Segments(t.Context(), c.ID)
	must(t, err)
	if len(segments) > 12 {
		t.Errorf("%d segments", len(segments))
	}
	one := newLibrary(t, memory.New(memory.Options{}), &bag{name: "one", dims: 32}, kb.Options{})
	other := mirror(t, one, dir).Collection
	for _, q := range []string{"change7", "topic12", "theme450", "about nothing", "rewritten"} {
		for _, route := range []kb.Route{kb.Dense, kb.BM25} {
			query := kb.Query{Text: q, Limit: 600, Route: route}
			a, b := search(t, l, c.Name, query), search(t, one, other.Name, query)
			if len(a.Hits) != len(b.Hits) {
				t.Errorf("%s by %s: %d hits and %d", q, route, len(a.Hits), len(b.Hits))
			}
			if a.Hits[0].Text != b.Hits[0].Text {
				t.Errorf("%s by %s: %q and %q", q, route, a.Hits[0].Text, b.Hits[0].Text)
			}
		}
	}
	if got := search(t, l, c.Name, kb.Query{Text: "theme7", Route: kb.BM25}); len(got.Hits) != 0 {
		t.Errorf("what was rewritten is found: %s", names(got))
	}
}

func TestRoots(t *testing.T) {
	l := newLibrary(t, memory.New(memory.Options{}), nil, kb.Options{})
	dir := t.TempDir()
	write(t, dir, map[string]string{"docs/a.txt": "ants", "docs/sub/b.txt": "bees", "c.txt": "cats"})
	docs := filepath.Join(dir, "docs")
	must(t, os.Symlink(docs, filepath.Join(dir, "link")))
	// A link to a folder is the folder.
	a, err := l.Ensure(t.Context(), docs)
	must(t, err)
	b, err := l.Ensure(t.Context(), filepath.Join(dir, "link")+"/../link/")
	must(t, err)
	if a.ID != b.ID || a.Name != docs || !a.Auto {
		t.Errorf("%+v and %+v", a, b)
	}
	// Roots may overlap, and be files.
	c, err := l.Create(t.Context(), "mine", docs, filepath.Join(docs, "sub"), filepath.Join(dir, "c.txt"), docs)
	must(t, err)
	if r := sync(t, l, c.Name); r.Added != 3 || len(r.Collection.Roots) != 3 {
		t.Errorf("got %s", counts(r))
	}
	write(t, dir, map[string]string{"more/d.txt": "dogs"})
	if c, err = l.AddRoots(t.Context(), "mine", docs, filepath.Join(dir, "more")); err != nil || len(c.Roots) != 4 {
		t.Errorf("%v, %v", c.Roots, err)
	}
	if r := sync(t, l, c.Name); r.Added != 1 || r.Unchanged != 3 {
		t.Errorf("with one root more: %s", counts(r))
	}
	if _, err := l.Create(t.Context(), "mine", docs); err == nil {
		t.Error("a name was given twice")
	}
	if _, err := l.Create(t.Context(), "gone", filepath.Join(dir, "nowhere")); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a root that is not there: %v", err)
	}
	list, err := l.List(t.Context())
	if err != nil || len(list) != 2 {
		t.Errorf("%d collections, %v", len(list), err)
	}
}
