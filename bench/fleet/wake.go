package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dossier/internal/fleet"
	"dossier/internal/store/sqlite"
)

// found is what was measured.
type found struct {
	Registering time.Duration
	Disk        int64
	Opening     time.Duration
	Wakes       []time.Duration // sorted
	Listing     time.Duration
	Counting    time.Duration
	Waking      time.Duration // all that are woken once
	Heap        int64         // growth
	RSS         int64         // growth
	Peak        int64         // growth of RSS at its highest
	Goroutines  int           // growth
}

// crowd is how many goroutines wake instances at once.
const crowd = 64

// wake takes the figures of a store with instances.
func wake(ctx context.Context, file string, n size) (r found, err error) {
	began := time.Now()
	s, err := sqlite.Open(file, sqlite.Options{})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	f, err := newFleet(s)
	if err != nil {
		return r, err
	}
	if _, _, err := f.Restore(ctx, nil); err != nil {
		return r, err
	}
	r.Opening = time.Since(began)

	order := rand.New(rand.NewPCG(1, 2)).Perm(n.instances)
	for _, i := range order[:n.wakes] {
		took, err := once(ctx, f, i)
		if err != nil {
			return r, err
		}
		r.Wakes = append(r.Wakes, took)
	}
	slices.Sort(r.Wakes)

	began = time.Now()
	if _, err := f.List(ctx, fleet.Filter{After: name(n.instances / 2), Template: template(n.instances / 2 % templates)}); err != nil {
		return r, err
	}
	r.Listing = time.Since(began)
	began = time.Now()
	if _, err := f.Count(ctx, fleet.Filter{}); err != nil {
		return r, err
	}
	r.Counting = time.Since(began)

	before, err := memory()
	if err != nil {
		return r, err
	}
	began = time.Now()
	peak, err := each(ctx, f, order[n.wakes:n.wakes+n.woken])
	if err != nil {
		return r, err
	}
	r.Waking = time.Since(began)
	after, err := memory()
	if err != nil {
		return r, err
	}
	runtime.KeepAlive(order) // it is not what the instances have left
	r.Heap, r.RSS, r.Peak, r.Goroutines = after.heap-before.heap, after.rss-before.rss, peak-before.rss, after.goroutines-before.goroutines
	return r, nil
}

// once wakes an instance for a run of a new session, as the engine does, and
// lets the run leave.
func once(ctx context.Context, f *fleet.Fleet, n int) (time.Duration, error) {
	began := time.Now()
	i, v, err := f.Wake(ctx, name(n))
	if err != nil {
		return 0, err
	}
	run := fmt.Sprint("run-", n)
	start, err := f.Submit(ctx, i.ID, fmt.Sprint("session-", n), run)
	took := time.Since(began)
	switch {
	case err != nil:
		return 0, err
	case len(start) != 1 || v.Document != document:
		return 0, fmt.Errorf("instance %s did not wake: %v", i.Name, start)
	}
	_, err = f.Leave(ctx, run)
	return took, err
}

// each wakes instances from many goroutines and returns the most memory that
// the process had meanwhile.
func each(ctx context.Context, f *fleet.Fleet, order []int) (peak int64, err error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make(chan error, crowd)
	for range crowd {
		wg.Go(func() {
			for {
				k := int(next.Add(1)) - 1
				if k >= len(order) {
					return
				}
				if _, err := once(ctx, f, order[k]); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case <-tick.C:
			peak = max(peak, rss())
		case <-done:
			tick.Stop()
			select {
			case err := <-errs:
				return 0, err
			default:
				return max(peak, rss()), nil
			}
		}
	}
}

// held is what the process has of the machine.
type held struct {
	heap, rss  int64
	goroutines int
}

func memory() (held, error) {
	runtime.GC()
	runtime.GC() // what finalizers have let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h := held{int64(m.HeapAlloc), rss(), runtime.NumGoroutine()}
	if h.rss == 0 {
		return h, errors.New("the system does not say how much memory a process has")
	}
	return h, nil
}

// rss is the memory of the process, 0 where the system does not tell.
func rss() int64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	size, _, _ := strings.Cut(rest, "kB")
	n, err := strconv.ParseInt(strings.TrimSpace(size), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}
