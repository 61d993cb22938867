package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"dossier/internal/fleet"
	"dossier/internal/store/memory"
	"dossier/run"
)

// ledger counts what runs at each instance, as the engine would.
type ledger struct {
	f     *fleet.Fleet
	slots int
	mu    sync.Mutex
	at    map[string]int // running runs by instance
	ran   map[string]int // times that a run was started
	wg    sync.WaitGroup
	t     *testing.T
}

// start runs what the fleet says may run, and what follows from it.
func (l *ledger) start(ctx context.Context, instance string, runs []string) {
	for _, r := range runs {
		l.wg.Go(func() {
			l.mu.Lock()
			l.ran[r]++
			if l.at[instance]++; l.at[instance] > l.slots {
				l.t.Errorf("%d runs at once on %s", l.at[instance], instance)
			}
			l.mu.Unlock()
			// A run of an instance never carries the name of another.
			if !strings.HasPrefix(r, instance+"/") {
				l.t.Errorf("run %s on instance %s", r, instance)
			}
			if err := l.f.Record(ctx, fleet.Outcome{Run: r, Template: "writer", Version: 1, Instance: instance, Status: run.Done}); err != nil {
				l.t.Error(err)
			}
			l.mu.Lock()
			l.at[instance]--
			l.mu.Unlock()
			next, err := l.f.Leave(ctx, r)
			if err != nil {
				l.t.Error(err)
			}
			l.start(ctx, instance, next)
		})
	}
}

func TestCrowd(t *testing.T) {
	ctx := t.Context()
	const instances, goroutines, each, slots = 10, 1000, 5, 3
	s := memory.New(memory.Options{})
	f, err := fleet.New(fleet.Options{Store: s, Check: check})
	ok(t, err)
	_, err = f.Create(ctx, "writer", fleet.Text{Document: "one"})
	ok(t, err)
	_, _, err = f.AddVersion(ctx, "writer", fleet.Text{Document: "two"})
	ok(t, err)
	for i := range instances {
		_, err := f.Register(ctx, fleet.Instance{ID: fmt.Sprint("w", i), Template: "writer", Slots: slots, Queue: goroutines * each})
		ok(t, err)
	}
	l := &ledger{f: f, slots: slots, at: map[string]int{}, ran: map[string]int{}, t: t}
	refused := map[string]bool{}
	var submits sync.WaitGroup
	for g := range goroutines {
		submits.Go(func() {
			instance := fmt.Sprint("w", g%instances)
			session := fmt.Sprint("session ", g%instances, " ", g%70)
			for k := range each {
				id := fmt.Sprintf("%s/%d-%d", instance, g, k)
				start, err := f.Submit(ctx, instance, session, id)
				if _, closed := errors.AsType[*fleet.StateError](err); closed || errors.Is(err, fleet.ErrNoInstance) {
					l.mu.Lock()
					refused[id] = true
					l.mu.Unlock()
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				l.start(ctx, instance, start)
			}
		})
	}
	// Meanwhile instances are drained, started again, upgraded and looked at.
	submits.Go(func() {
		for k := range 300 {
			id := fmt.Sprint("w", k%instances)
			for _, err := range []error{f.Drain(ctx, id), f.Upgrade(ctx, id, k%3), f.Start(ctx, id)} {
				if err != nil {
					t.Error(err)
				}
			}
			if err := f.Remove(ctx, id); err == nil {
				// It had no work at that moment; it comes back as it was.
				if _, err := f.Register(ctx, fleet.Instance{ID: id, Template: "writer", Slots: slots, Queue: goroutines * each}); err != nil {
					t.Error(err)
				}
			}
			if _, err := f.List(ctx, fleet.Filter{State: fleet.Busy}); err != nil {
				t.Error(err)
			}
		}
	})
	submits.Wait()
	l.wg.Wait()
	for g := range goroutines {
		for k := range each {
			id := fmt.Sprintf("w%d/%d-%d", g%instances, g, k)
			if want := 1; !refused[id] && l.ran[id] != want || refused[id] && l.ran[id] != 0 {
				t.Errorf("run %s started %d times, refused %v", id, l.ran[id], refused[id])
			}
		}
	}
	for i := range instances {
		st, err := f.Status(ctx, fmt.Sprint("w", i))
		if ok(t, err); st.State != fleet.Ready || st.Running+st.Queued+st.Sessions != 0 {
			t.Errorf("in the end: %+v", st)
		}
	}
	if n, err := f.Count(ctx, fleet.Filter{State: fleet.Busy}); err != nil || n != 0 {
		t.Error(n, err)
	}
}
