package dossier

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"dossier/internal/fleet"
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

// hasty is a store on which a process sweeps whenever that is least convenient:
// when a run is there and nobody has said yet how it comes, and when it is about
// to be gone because it was refused.
type hasty struct {
	store.Store
	sweep func()
}

func (s *hasty) Create(ctx context.Context, r run.Record, entries []run.Entry, events []run.PlacedEvent) error {
	err := s.Store.Create(ctx, r, entries, events)
	s.sweep()
	return err
}

func (s *hasty) Reopen(ctx context.Context, id string, r run.Reopening) error {
	err := s.Store.Reopen(ctx, id, r)
	s.sweep()
	return err
}

func (s *hasty) Delete(ctx context.Context, id string) error {
	s.sweep()
	return s.Store.Delete(ctx, id)
}

// haste has a crew's engine sweep like that, and returns what is done before.
func (c *crew) haste() (first *func()) {
	before := func() {}
	disk := &hasty{Store: c.disk, sweep: func() {}}
	c.disk = disk
	c.boot(nil)
	disk.sweep = func() {
		now := before
		before = func() {}
		now()
		_, err := c.Sweep(c.ctx)
		c.must(err)
	}
	return &before
}

// A full queue refuses a new run, also when a sweep sees it before it has come.
func TestASweepDoesNotBringNewRunsPastAFullQueue(t *testing.T) {
	c := newCrew(t, nil)
	meanwhile := c.haste()
	first := c.start("first")
	<-c.gate.in
	c.gate.open <- struct{}{}
	c.done(first, "first")
	detail, err := c.Show(c.ctx, first)
	c.must(err)
	ids := []string{c.start("1"), c.start("2"), c.start("3")}
	c.load(1, 2)
	var full *fleet.QueueFullError
	*meanwhile = func() { ids = append(ids, c.start("4")) } // there was room for one
	if _, err := c.Start(c.ctx, job("5")); !errors.As(err, &full) {
		t.Errorf("started: %v", err)
	}
	if _, err := c.Fork(c.ctx, first, detail.Steps[0].Key, ForkOptions{}); !errors.As(err, &full) {
		t.Errorf("forked: %v", err)
	}
	c.load(1, 3)
	close(c.gate.open)
	for i, id := range ids {
		c.done(id, fmt.Sprint(i+1))
	}
	c.empty()
	left, err := c.List(c.ctx, store.Filter{Limit: 100})
	if err != nil || len(left) != 5 {
		t.Errorf("%d runs are there, %v", len(left), err)
	}
}

// One that goes on goes before new runs of its session, also when a sweep sees it
// before it has come.
func TestASweepDoesNotPutBackWhoGoesOn(t *testing.T) {
	c := newCrew(t, nil)
	c.haste()
	begin := func(question string) string {
		req := job(question)
		req.Session = "s"
		rec, err := c.Start(c.ctx, req)
		c.must(err)
		return rec.ID
	}
	ids := []string{begin("1"), begin("2"), begin("3")}
	c.must(c.Pause(c.ctx, ids[1]))
	waitFor(t, c.Engine, ids[1], run.Paused)
	for c.Resume(c.ctx, ids[1], ResumeOptions{}) != nil && c.ctx.Err() == nil { // its worker is just leaving
	}
	for { // one that its worker has not left yet comes when it has
		if s, err := c.Instance(c.ctx, "w"); err != nil || s.Queued == 2 {
			c.must(err)
			break
		}
	}
	close(c.gate.open)
	for i, id := range ids {
		c.done(id, fmt.Sprint(i+1))
	}
	for _, want := range []string{"1", "2", "3"} {
		if got := <-c.gate.in; !strings.HasSuffix(got, want) {
			t.Errorf("%q has its turn, not %q", got, want)
		}
	}
}

// A process that is there for one run goes on with what was left behind in the
// slots that this one waits for, and with nothing else.
func TestWhoWaitsForASlotGoesOnWithWhatIsInIt(t *testing.T) {
	c := newCrew(t, nil)
	_, err := c.RegisterInstance(c.ctx, fleet.Instance{Template: "worker", Name: "other", Slots: 1})
	c.must(err)
	first := c.start("first")
	<-c.gate.in
	second := c.start("second")
	req := job("elsewhere")
	req.Instance = "other"
	elsewhere, err := c.Start(c.ctx, req)
	c.must(err)
	<-c.gate.in
	c.must(c.Engine.Close()) // in the midst of it
	c.boot(nil)
	c.load(1, 1)
	close(c.gate.open)
	third := c.start("third")
	c.done(third, "third")
	c.done(first, "first")
	c.done(second, "second")
	if rec, err := c.Get(c.ctx, elsewhere.ID); err != nil || rec.Status != run.Queued {
		t.Errorf("what is elsewhere is %s, %v", rec.Status, err)
	}
	c.empty()
}
