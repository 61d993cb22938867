package dossier

import (
	"errors"
	"testing"
	"time"

	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/llm/llmtest"
)

// What runs that were deleted had stored goes a day later; what others name
// stays.
func TestBodiesOfDeletedRunsGo(t *testing.T) {
	now := time.Now()
	disk := &kept{memory.New(memory.Options{Now: func() time.Time { return now }})}
	e := engine(t, disk, connected(llmtest.Start(t, llmtest.Script{})))
	old, err := disk.PutBlob(t.Context(), []byte("of nobody"))
	if err != nil {
		t.Fatal(err)
	}
	id := follow(t, e, ask("one"))[0].Run
	other := follow(t, e, ask("two"))[0].Run
	if err := e.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.Blob(t.Context(), old); err != nil {
		t.Errorf("a body is gone that may be named in a moment: %v", err)
	}
	now = now.Add(bodiesUnused + store.PutGrain + time.Second)
	if err := disk.SetSetting(t.Context(), bodiesBucket, bodiesCollected, []byte("2026-01-01T00:00:00Z")); err != nil {
		t.Fatal(err)
	}
	if err := e.Delete(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.Blob(t.Context(), old); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a body that nobody names is still there: %v", err)
	}
}
