package kb_test

import (
	"testing"

	"dossier/kb"
)

// A search that was made before is not made again, until the collection changes.
func TestResultsAreKeptUntilAReindex(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"a.txt": "The bakers bake bread in the morning."})
		embedder := &bag{name: "bag", dims: 64}
		l := newLibrary(t, store, embedder, kb.Options{})
		c, err := l.Create(t.Context(), "c", dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Sync(t.Context(), c.ID, kb.SyncOptions{}); err != nil {
			t.Fatal(err)
		}
		ask := func() kb.Result {
			t.Helper()
			found, err := l.Search(t.Context(), "c", kb.Query{Text: "who bakes bread?"})
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		first := ask()
		embedded := embedder.texts.Load()
		first.Hits[0].Text = "spoilt"
		second := ask()
		if embedder.texts.Load() != embedded || len(second.Hits) != 1 || second.Hits[0].Text == "spoilt" || second.Revision != first.Revision {
			t.Errorf("%d questions were embedded; %+v", embedder.texts.Load()-embedded, second)
		}
		write(t, dir, map[string]string{"b.txt": "Who bakes bread? The miller bakes bread, too."})
		if _, err := l.Sync(t.Context(), c.ID, kb.SyncOptions{}); err != nil {
			t.Fatal(err)
		}
		if third := ask(); len(third.Hits) != 2 || third.Revision == first.Revision {
			t.Errorf("after a reindex: %+v", third)
		}
		if err := l.Delete(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Search(t.Context(), "c", kb.Query{Text: "who bakes bread?"}); err == nil {
			t.Error("a collection that was deleted is found")
		}
	})
}
