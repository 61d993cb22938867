package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"dossier/internal/store"
	"dossier/run"
)

var crowdTests = []test{
	{"many runs commit at once", func(f *fixture) {
		const runs, batches = 40, 15
		var wg sync.WaitGroup
		errs := make(chan error, runs*batches)
		for r := range runs {
			id := fmt.Sprint("r", r)
			f.create(id, fmt.Sprint("s", r%3))
			wg.Go(func() {
				h, err := f.store.Acquire(f.ctx, id, "worker", ttl)
				if err != nil {
					errs <- err
					return
				}
				for i := range batches {
					errs <- f.commit(run.Batch{Run: id, Epoch: h.Record.Epoch, Spent: run.Spent{Calls: 1},
						Entries: []run.Entry{step(fmt.Sprint("k", i), fmt.Sprint(i))}, Events: notes(int64(2*i)+1, 2)})
					if i%5 == 0 {
						_, err := f.store.Events(f.ctx, id, 0, 0)
						errs <- err
					}
				}
			})
		}
		go func() { wg.Wait(); close(errs) }()
		for err := range errs {
			f.ok(err)
		}
		for r := range runs {
			f.sizes(fmt.Sprint("r", r), batches, 2*batches)
			if got := f.record(fmt.Sprint("r", r)).Spent.Calls; got != batches {
				f.Fatalf("run %d spent %d", r, got)
			}
		}
		f.ok(f.store.Check(f.ctx))
	}},
	{"one of many workers gets a run", func(f *fixture) {
		f.create("r1", "")
		var wg sync.WaitGroup
		var won atomic.Int64
		for i := range 30 {
			wg.Go(func() {
				_, err := f.store.Acquire(f.ctx, "r1", fmt.Sprint("w", i), ttl)
				switch {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, run.ErrLeased):
					f.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 || f.record("r1").Epoch != 1 {
			f.Fatalf("%d workers got the run, epoch %d", won.Load(), f.record("r1").Epoch)
		}
	}},
	{"one of many creations wins", func(f *fixture) {
		var wg sync.WaitGroup
		var won atomic.Int64
		for i := range 30 {
			wg.Go(func() {
				err := f.store.Create(f.ctx, run.Record{ID: "r1", Session: fmt.Sprint("s", i)}, nil, nil)
				switch {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, store.ErrExists):
					f.Error(err)
				}
			})
		}
		wg.Wait()
		list, err := f.store.SessionList(f.ctx, store.SessionFilter{})
		f.ok(err)
		if won.Load() != 1 || len(list) != 1 {
			f.Fatalf("%d creations won, sessions %v", won.Load(), list)
		}
	}},
	{"a cancelled context does nothing", func(f *fixture) {
		ctx, cancel := context.WithCancel(f.ctx)
		cancel()
		f.is(f.store.Create(ctx, run.Record{ID: "r1"}, nil, nil), context.Canceled)
		_, err := f.store.Run(f.ctx, "r1")
		f.is(err, run.ErrUnknownRun)
		_, err = f.store.List(ctx, store.Filter{})
		f.is(err, context.Canceled)
	}},
}
