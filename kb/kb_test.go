package kb_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"dossier/internal/store/memory"
	"dossier/internal/store/sqlite"
	"dossier/kb"
	"dossier/reader"
)

func TestMain(m *testing.M) {
	reader.WorkerMain()
	dir, err := os.MkdirTemp("", "kb")
	if err != nil {
		panic(err)
	}
	compiled = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// compiled keeps the PDF parser's machine code, which takes seconds to make.
var compiled string

func newReader(t testing.TB) *reader.Reader {
	r := reader.New(reader.Config{CacheDir: compiled})
	t.Cleanup(r.Close)
	return r
}

// eachStore runs a test over both adapters.
func eachStore(t *testing.T, test func(t *testing.T, store kb.Store)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) { test(t, memory.New(memory.Options{})) })
	t.Run("sqlite", func(t *testing.T) {
		s, err := sqlite.Open(filepath.Join(t.TempDir(), "store.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		test(t, s)
	})
}

func newLibrary(t testing.TB, store kb.Store, e kb.Embedder, o kb.Options) *kb.Library {
	t.Helper()
	return kb.New(store, newReader(t), e, o)
}

// counting is a reader that counts what it reads.
type counting struct {
	kb.PageReader
	n    atomic.Int64
	each func(n int64)
}

func (c *counting) Read(ctx context.Context, d reader.Document) (*reader.Page, error) {
	n := c.n.Add(1)
	if c.each != nil {
		c.each(n)
	}
	return c.PageReader.Read(ctx, d)
}

func newCounting(t testing.TB) *counting { return &counting{PageReader: newReader(t)} }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write makes files in dir, by name and content.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// mirror makes the collection of a folder and syncs it.
func mirror(t testing.TB, l *kb.Library, dir string) kb.SyncResult {
	t.Helper()
	c, err := l.Ensure(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return sync(t, l, c.Name)
}

func sync(t testing.TB, l *kb.Library, name string) kb.SyncResult {
	t.Helper()
	r, err := l.Sync(t.Context(), name, kb.SyncOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func search(t testing.TB, l *kb.Library, name string, q kb.Query) kb.Result {
	t.Helper()
	r, err := l.Search(t.Context(), name, q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// names are the base names of the files that were found.
func names(r kb.Result) string {
	var out []string
	for _, h := range r.Hits {
		out = append(out, filepath.Base(h.Path))
	}
	return strings.Join(out, " ")
}

// counts are the numbers of a result in short.
func counts(r kb.SyncResult) string {
	return fmt.Sprintf("found %d unchanged %d added %d changed %d removed %d ignored %d failed %d skipped %d",
		r.Found, r.Unchanged, r.Added, r.Changed, r.Removed, r.Ignored, len(r.Failures), r.Skipped)
}

func TestFindsWhatWasPutIn(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		dir := t.TempDir()
		write(t, dir, map[string]string{
			"rivers.md":                "# Rivers\n\n## Neva\n\nThe Neva flows from Lake Ladoga to the Gulf of Finland.\n\n## Volga\n\nThe Volga flows into the Caspian Sea.\n",
			"ru/кот.txt":               "Кошка спит на окне.\n\nСобаки лают во дворе на прохожих.\n",
			"zh/北京.md":                 "# 北京\n\n北京是中华人民共和国的首都,位于华北平原。\n\n上海是最大的城市。\n",
			"page.html":                "<html><head><title>Cheese</title></head><body><article><h1>Cheese</h1><p>Cheese is made of milk, and it ripens in cellars for many months before it is sold.</p></article></body></html>",
			"data.csv":                 "city,population\nParis,2100000\nLyon,520000\n",
			".hidden.md":               "secret",
			".git/config":              "secret",
			"node_modules/x/readme.md": "secret",
		})
		l := newLibrary(t, store, nil, kb.Options{})
		r := mirror(t, l, dir)
		if got, want := counts(r), "found 5 unchanged 0 added 5 changed 0 removed 0 ignored 0 failed 0 skipped 0"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		name := r.Collection.Name
		for query, want := range map[string]string{
			"where does the Neva flow": "rivers.md",
			"собака лает":              "кот.txt",
			"中国的首都":                    "北京.md",
			"how cheese ripens":        "page.html",
			"population of Lyon":       "data.csv",
		} {
			got := search(t, l, name, kb.Query{Text: query, Limit: 1})
			if names(got) != want {
				t.Errorf("%s: got %s, want %s", query, names(got), want)
			}
			if got.Route != kb.BM25 || got.Note != "no embedder is configured" {
				t.Errorf("%s: route %s, note %q", query, got.Route, got.Note)
			}
		}
		got := search(t, l, name, kb.Query{Text: "Neva Ladoga", Limit: 1}).Hits[0]
		if want := []string{"Rivers", "Neva"}; fmt.Sprint(got.Headings) != fmt.Sprint(want) {
			t.Errorf("headings %q, want %q", got.Headings, want)
		}
		if !strings.Contains(got.Text, "Gulf of Finland") || strings.Contains(got.Text, "Volga") {
			t.Errorf("text %q", got.Text)
		}
		if got := search(t, l, name, kb.Query{Text: "secret"}); len(got.Hits) != 0 {
			t.Errorf("found what is hidden: %v", names(got))
		}
	})
}

func TestFollowsTheFolder(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"a.txt": "apples grow here", "b.txt": "bananas grow here", "c.txt": "cherries grow here"})
		l := newLibrary(t, store, nil, kb.Options{})
		name := mirror(t, l, dir).Collection.Name
		before := search(t, l, name, kb.Query{Text: "grow"})

		write(t, dir, map[string]string{"b.txt": "blueberries grow here", "d.txt": "dates grow here"})
		if err := os.Remove(filepath.Join(dir, "c.txt")); err != nil {
			t.Fatal(err)
		}
		r := sync(t, l, name)
		if got, want := counts(r), "found 3 unchanged 1 added 1 changed 1 removed 1 ignored 0 failed 0 skipped 0"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		for query, want := range map[string]string{"bananas": "", "cherries": "", "blueberries": "b.txt", "dates": "d.txt", "apples": "a.txt"} {
			if got := names(search(t, l, name, kb.Query{Text: query})); got != want {
				t.Errorf("%s: got %q, want %q", query, got, want)
			}
		}
		// Numbers are never used again.
		used := map[int64]string{}
		for _, h := range append(before.Hits, search(t, l, name, kb.Query{Text: "grow"}).Hits...) {
			if text, ok := used[h.Document]; ok && text != h.Text {
				t.Errorf("document %d was %q and is %q", h.Document, text, h.Text)
			}
			used[h.Document] = h.Text
		}
		if len(used) != 5 {
			t.Errorf("%d numbers for 5 texts", len(used))
		}
		if c := r.Collection; c.Documents != 3 || c.Chunks != 3 {
			t.Errorf("collection counts %d documents and %d chunks", c.Documents, c.Chunks)
		}
	})
}
