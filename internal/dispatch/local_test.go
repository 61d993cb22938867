package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dossier/event"
	"dossier/internal/dispatch"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/run"
)

const ttl = 9 * time.Second

// yard is a store with workers on it whose runs take ten seconds.
type yard struct {
	*testing.T
	store *memory.Store

	mu    sync.Mutex
	dead  map[string]bool
	taken []string // runs, each time a worker began with one
}

func (y *yard) began() []string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return slices.Clone(y.taken)
}

func (y *yard) kill(owner string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.dead[owner] = true
}

func (y *yard) alive(owner string) (bool, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	return !y.dead[owner], nil
}

func newYard(t *testing.T) *yard {
	return &yard{T: t, store: memory.New(memory.Options{}), dead: map[string]bool{}}
}

func (y *yard) worker(name string, change func(o *dispatch.Options)) *dispatch.Local {
	o := dispatch.Options{
		Store: y.store.Handle(), Owner: name, TTL: ttl,
		Alive: y.alive,
		Program: func(r run.Record) (run.Func, run.Limits, error) {
			return func(ctx context.Context, s *run.Scope) error {
				y.mu.Lock()
				y.taken = append(y.taken, r.ID)
				y.mu.Unlock()
				_, err := run.Step(ctx, s, "work", func(ctx context.Context, s *run.Scope) (int, error) {
					_ = s.Emit(event.AnswerDelta{Text: "…"})
					select {
					case <-time.After(10 * time.Second):
						return 1, nil
					case <-ctx.Done():
						return 0, context.Cause(ctx)
					}
				})
				return err
			}, run.Limits{}, nil
		},
	}
	if change != nil {
		change(&o)
	}
	l := dispatch.NewLocal(o)
	y.Cleanup(l.Close)
	return l
}

func (y *yard) create(id, home string) {
	y.Helper()
	if err := y.store.Create(y.Context(), run.Record{ID: id, Home: home, Created: time.Now()}, nil, nil); err != nil {
		y.Fatal(err)
	}
}

func (y *yard) status(id string) run.Status {
	y.Helper()
	rec, err := y.store.Run(y.Context(), id)
	if err != nil {
		y.Fatal(err)
	}
	return rec.Status
}

func (y *yard) must(err error) {
	y.Helper()
	if err != nil {
		y.Fatal(err)
	}
}

func adopts(o *dispatch.Options) { o.Adopt = true }

// What a worker leaves behind that is gone is taken up by one that stays, and
// not by one that is there for something else.
func TestWhatTheDeadLeaveIsTakenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		gone := y.worker("gone", nil)
		for _, id := range []string{"under way", "queued"} {
			y.create(id, "gone")
		}
		y.must(gone.Enqueue(t.Context(), "under way", dispatch.Fresh))
		time.Sleep(time.Second)
		y.worker("passer-by", nil)
		time.Sleep(20 * time.Second)
		if got := y.status("under way"); got != run.Done || y.status("queued") != run.Queued {
			t.Fatal(got, y.status("queued"))
		}
		y.create("next", "gone")
		y.must(gone.Enqueue(t.Context(), "next", dispatch.Fresh))
		time.Sleep(time.Second)
		gone.Close() // in an orderly way: what is left is anybody's
		if got := y.status("next"); got != run.Queued {
			t.Fatal(got)
		}
		y.create("lost", "killed")
		if _, err := y.store.Acquire(t.Context(), "lost", "killed", time.Hour); err != nil { // by a process that is killed
			t.Fatal(err)
		}
		y.kill("killed")
		y.worker("stays", adopts)
		time.Sleep(20 * time.Second)
		for _, id := range []string{"queued", "next", "lost"} {
			if got := y.status(id); got != run.Done {
				t.Errorf("%s is %s", id, got)
			}
		}
	})
}

// A run that a storage fault broke goes on by itself when that is over.
func TestAStorageFaultPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		link := &shaky{Store: y.store.Handle()}
		l := y.worker("w", func(o *dispatch.Options) { o.Store = link })
		y.create("r", "w")
		y.must(l.Enqueue(t.Context(), "r", dispatch.Fresh))
		time.Sleep(5 * time.Second)
		link.cut.Store(true)
		var stopped *dispatch.StoppedError
		for _, err := range l.Follow(t.Context(), "r", 0) { // who follows is told
			if err != nil && !errors.As(err, &stopped) && !errors.Is(err, errCut) {
				t.Error(err)
			}
		}
		time.Sleep(5 * time.Second)
		if got := y.status("r"); got != run.Running || stopped == nil {
			t.Fatal(got, stopped)
		}
		link.cut.Store(false)
		time.Sleep(3 * ttl)
		if got := y.status("r"); got != run.Done {
			t.Error(got)
		}
	})
}

// full is a handle on a full disk.
type full struct {
	*memory.Store
	on atomic.Bool
}

func (f *full) Commit(b *run.Batch, done func(error)) {
	if f.on.Load() {
		done(fmt.Errorf("writing: %w", store.ErrDiskFull))
		return
	}
	f.Store.Commit(b, done)
}

// A run that finds the disk full rests, and goes on soon after there is room, long
// before its lease is over. It is not tried over and over until then.
func TestAFullDiskPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		disk := &full{Store: y.store.Handle()}
		l := y.worker("w", func(o *dispatch.Options) { o.Store, o.TTL = disk, time.Hour })
		y.create("r", "w")
		y.must(l.Enqueue(t.Context(), "r", dispatch.Fresh))
		time.Sleep(5 * time.Second)
		disk.on.Store(true)
		var stopped *dispatch.StoppedError
		for _, err := range l.Follow(t.Context(), "r", 0) {
			if err != nil && !errors.As(err, &stopped) {
				t.Error(err)
			}
		}
		if stopped == nil || stopped.Failure.Code != "disk_full" || !strings.Contains(stopped.Failure.Hint, "space") {
			t.Fatalf("who follows is told %+v", stopped)
		}
		time.Sleep(time.Minute)
		if got := y.status("r"); got != run.Running || len(y.began()) != 1 {
			t.Fatalf("the run is %s and was begun %d times", got, len(y.began()))
		}
		disk.on.Store(false)
		time.Sleep(30 * time.Second)
		if got := y.status("r"); got != run.Done || len(y.began()) != 2 {
			t.Errorf("with room again the run is %s and was begun %d times", got, len(y.began()))
		}
		// Where there is room for some things only, the pauses grow.
		y.create("big", "w")
		y.must(l.Enqueue(t.Context(), "big", dispatch.Fresh))
		for range 60 {
			time.Sleep(5 * time.Second)
			disk.on.Store(true)
			time.Sleep(6 * time.Second)
			disk.on.Store(false)
		}
		if n := len(y.began()) - 2; n > 10 {
			t.Errorf("in ten minutes it was begun %d times", n)
		}
	})
}

// Whoever follows a run sees its durable events wherever it is worked on, and
// what it is told reaches it there.
func TestFollowAndSignalFromElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		here, there := y.worker("here", nil), y.worker("there", nil)
		y.create("r", "there")
		y.must(there.Enqueue(t.Context(), "r", dispatch.Fresh))
		var kinds []event.Kind
		var began time.Time
		for ev, err := range here.Follow(t.Context(), "r", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if ev.Seq != int64(len(kinds))+1 {
				t.Errorf("event %d has sequence %d", len(kinds)+1, ev.Seq)
			}
			if kinds = append(kinds, ev.Kind()); ev.Seq == 1 {
				began = time.Now()
				y.must(here.Signal(t.Context(), "r", run.Signal{Kind: run.SignalCancel}))
			}
		}
		took := time.Since(began)
		if !slices.Equal(kinds, []event.Kind{event.KindRunStatus, event.KindRunStatus}) || y.status("r") != run.Cancelled || took > time.Second {
			t.Errorf("%v after %v: %s", kinds, took, y.status("r"))
		}
		if !slices.Equal(y.began(), []string{"r"}) {
			t.Errorf("taken by %v", y.began())
		}
	})
}

// A run is executed by one worker at a time, as many at once as there are
// workers, in the order of coming; one that is told to end does not wait.
func TestWorkersAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		l := y.worker("w", func(o *dispatch.Options) { o.Workers = 1 })
		var ids []string
		for i := range 4 {
			id := fmt.Sprint("r", i)
			ids = append(ids, id)
			y.create(id, "w")
			for range 3 { // however often it is said
				y.must(l.Enqueue(t.Context(), id, dispatch.Fresh))
			}
		}
		time.Sleep(time.Second)
		y.must(l.Signal(t.Context(), "r3", run.Signal{Kind: run.SignalCancel}))
		time.Sleep(time.Second)
		if got := y.status("r3"); got != run.Cancelled {
			t.Error(got)
		}
		if busy := l.Busy(); !slices.Equal(busy, ids[:3]) {
			t.Errorf("busy with %v", busy)
		}
		time.Sleep(40 * time.Second)
		if !slices.Equal(y.began(), []string{"r0", "r1", "r2"}) || len(l.Busy()) > 0 {
			t.Errorf("began %v, busy with %v", y.began(), l.Busy())
		}
	})
}
