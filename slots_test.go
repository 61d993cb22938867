package dossier

import (
	"errors"
	"sync/atomic"
	"testing"

	"dossier/internal/store"
	"dossier/run"
)

// torn is a store that records nothing while it is broken.
type torn struct {
	store.Store
	broken atomic.Bool
}

func (s *torn) Commit(b *run.Batch, done func(error)) {
	if s.broken.Load() {
		done(errors.New("the disk is gone"))
		return
	}
	s.Store.Commit(b, done)
}

// A run that its worker lost, because it could not be recorded, has its slot
// still: it goes on when it is found, and gives the slot to the next.
func TestARunThatWasLostGoesOnInItsSlot(t *testing.T) {
	c := newCrew(t, nil)
	disk := &torn{Store: c.disk}
	c.disk = disk
	c.boot(nil)
	first := c.start("first")
	<-c.gate.in
	second := c.start("second")
	disk.broken.Store(true)
	c.gate.open <- struct{}{}
	for len(c.Engine.work.Busy()) > 1 { // until its worker has given it up
		if c.ctx.Err() != nil {
			t.Fatal("the worker does not give it up")
		}
	}
	disk.broken.Store(false)
	c.must(c.disk.Evict(c.ctx, c.Owner())) // as if its lease were over
	_, err := c.Sweep(c.ctx)
	c.must(err)
	close(c.gate.open)
	c.done(first, "first")
	c.done(second, "second")
	c.empty()
}
