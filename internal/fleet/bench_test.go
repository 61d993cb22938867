package fleet_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"dossier/internal/fleet"
)

// A run comes and goes: at an instance that has other work, from all sides,
// and at one that sleeps in between.
func BenchmarkSubmitLeave(b *testing.B) {
	setup := func(b *testing.B, busy bool) *fleet.Fleet {
		f := newFleet(b, newStore())
		if _, err := f.Create(b.Context(), "writer", fleet.Text{Document: "one"}); err != nil {
			b.Fatal(err)
		}
		if _, err := f.Register(b.Context(), fleet.Instance{ID: "w", Template: "writer", Slots: 1 << 20}); err != nil {
			b.Fatal(err)
		}
		if busy {
			if _, err := f.Submit(b.Context(), "w", "s", "first"); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportAllocs()
		return f
	}
	turn := func(b *testing.B, f *fleet.Fleet, run string) {
		if _, err := f.Submit(b.Context(), "w", "s", run); err != nil {
			b.Error(err)
		}
		if _, err := f.Leave(b.Context(), run); err != nil {
			b.Error(err)
		}
	}
	b.Run("busy", func(b *testing.B) {
		f := setup(b, true)
		for b.Loop() {
			turn(b, f, "run")
		}
	})
	b.Run("crowd", func(b *testing.B) {
		f := setup(b, true)
		var n atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			run := fmt.Sprint("run", n.Add(1))
			for pb.Next() {
				turn(b, f, run)
			}
		})
	})
	b.Run("asleep", func(b *testing.B) {
		f := setup(b, false)
		for b.Loop() {
			turn(b, f, "run")
		}
	})
}
