package dispatch_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dossier/internal/dispatch"
	"dossier/run"
)

// slowDoor is where runs line up, each of which takes a second for it.
type slowDoor struct {
	mu    sync.Mutex
	lined []string
}

func (d *slowDoor) Enter(_ context.Context, r run.Record, _ dispatch.Entry) ([]string, error) {
	time.Sleep(time.Second)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lined = append(d.lined, r.ID)
	return nil, nil
}

func (d *slowDoor) Leave(context.Context, string) ([]string, error)     { return nil, nil }
func (d *slowDoor) Withdraw(context.Context, string) (bool, error)      { return false, nil }
func (d *slowDoor) Holders(context.Context, []string) ([]string, error) { return nil, nil }
func (d *slowDoor) Settle(context.Context) ([]string, error)            { return nil, nil }

func (d *slowDoor) Standing(_ context.Context, ids []string) (map[string]bool, error) {
	all := make(map[string]bool)
	for _, id := range ids {
		all[id] = false
	}
	return all, nil
}

// Runs that were left behind line up in the order of their creation, also when
// a sweep takes so long that the next would begin.
func TestSweepsKeepTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		var ids []string
		for i := range 20 {
			ids = append(ids, fmt.Sprintf("r%02d", i))
			y.create(ids[i], "")
		}
		door := &slowDoor{}
		l := y.worker("w", func(o *dispatch.Options) { o.Adopt, o.Turns = true, door })
		var sweeps sync.WaitGroup
		for range 3 {
			sweeps.Go(func() {
				_, err := l.Sweep(t.Context())
				y.must(err)
			})
		}
		sweeps.Wait()
		if !slices.Equal(door.lined, ids) {
			t.Errorf("they line up as %v", door.lined)
		}
	})
}
