package memory_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"dossier/event"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/internal/store/storetest"
	"dossier/run"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(_ testing.TB, now func() time.Time, n int) []store.Store {
		first := memory.New(memory.Options{Now: now})
		all := []store.Store{first}
		for range n - 1 {
			all = append(all, first.Handle())
		}
		return all
	})
}

// Leases follow the bubble's clock when no other is given.
func TestVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(memory.Options{})
		ctx := t.Context()
		if err := s.Create(ctx, run.Record{ID: "r1"}, nil, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Acquire(ctx, "r1", "a", time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Acquire(ctx, "r1", "b", time.Hour); err == nil {
			t.Fatal("a live lease was taken")
		}
		time.Sleep(time.Hour) // virtual
		if _, err := s.Acquire(ctx, "r1", "b", time.Hour); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkCommit(b *testing.B) {
	s := memory.New(memory.Options{})
	if err := s.Create(b.Context(), run.Record{ID: "r"}, nil, nil); err != nil {
		b.Fatal(err)
	}
	h, err := s.Acquire(b.Context(), "r", "w", time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	value := json.RawMessage(`"` + string(make([]byte, 600)) + `"`)
	keys := make([]string, b.N)
	for i := range keys {
		keys[i] = fmt.Sprint("k", i)
	}
	now := time.Now()
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		s.Commit(&run.Batch{
			Run: "r", Epoch: h.Record.Epoch,
			Entries: []run.Entry{{Key: keys[i], Kind: run.EntryStep, Value: value, Time: now}},
			Events:  []run.PlacedEvent{{Place: keys[i], Event: event.Event{Seq: int64(i) + 1, Time: now, Data: event.NoteAdded{Text: "x"}}}},
		}, func(err error) {
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
