package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"dossier/internal/store"
	"dossier/internal/store/sqlite"
	"dossier/internal/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t testing.TB, now func() time.Time, n int) (all []store.Store) {
		path := filepath.Join(t.TempDir(), "dossier.db")
		for range n {
			all = append(all, open(t, path, sqlite.Options{Now: now}))
		}
		return all
	})
}

func open(t testing.TB, path string, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
