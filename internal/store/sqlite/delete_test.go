package sqlite_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"dossier/internal/store"
	"dossier/internal/store/sqlite"
	"dossier/run"
)

// written makes a run that has ended after so many steps.
func written(t testing.TB, s *sqlite.Store, id string, steps int, value json.RawMessage) {
	t.Helper()
	epoch := begin(t, s, id)
	failed := make(chan error, steps)
	for i := range steps {
		s.Commit(stepBatch(id, epoch, i, value), func(err error) { failed <- err })
	}
	for range steps {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	if err := wait(s, &run.Batch{Run: id, Epoch: epoch, State: &run.State{Status: run.Done}, Release: true}); err != nil {
		t.Fatal(err)
	}
}

// A run with a long log is gone at once, and its log goes in steps. What a
// deletion that was cut short has left is nobody's, and the next one removes it,
// in another process too.
func TestRunsAreDeletedInSteps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dossier.db")
	s := open(t, path, sqlite.Options{})
	written(t, s, "long", 1000, json.RawMessage(`1`))
	written(t, s, "kept", 3, json.RawMessage(`1`))
	ctx := &impatient{Context: t.Context()}
	ctx.left.Store(10)
	if err := s.Delete(ctx, "long"); err != nil {
		t.Fatal(err)
	}
	left := rows(t, path, "log")
	if left <= 6 || left >= 2006 || rows(t, path, "remains") != 1 {
		t.Fatalf("%d rows are left of the logs", left)
	}
	if _, err := s.Events(t.Context(), "long", 0, 0); !errors.Is(err, run.ErrUnknownRun) {
		t.Errorf("its events: %v", err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	written(t, s, "long", 2, json.RawMessage(`2`)) // another of this name
	if h, err := s.History(t.Context(), "long"); err != nil || len(h.Entries) != 2 || len(h.Places) != 2 {
		t.Fatalf("%+v, %v", h, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, sqlite.Options{})
	if err := s.Delete(t.Context(), "kept"); err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string]int{"runs": 1, "requests": 1, "log": 4, "remains": 0} {
		if got := rows(t, path, table); got != want {
			t.Errorf("%s has %d rows, want %d", table, got, want)
		}
	}
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Rows that are large are removed by their size.
func TestLargeRowsAreDeletedInSteps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dossier.db")
	s := open(t, path, sqlite.Options{})
	written(t, s, "large", 20, json.RawMessage(`"`+text(1<<20)+`"`))
	ctx := &impatient{Context: t.Context()}
	ctx.left.Store(8)
	if err := s.Delete(ctx, "large"); err != nil {
		t.Fatal(err)
	}
	if left := rows(t, path, "log"); left < 20 {
		t.Fatalf("%d rows are left", left)
	}
}

// Of many deletions at once each commit of others has one to wait for.
func TestCommitsGoBetweenDeletions(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "dossier.db"), sqlite.Options{})
	const runs = 200
	for i := range runs {
		if err := s.Create(t.Context(), run.Record{ID: fmt.Sprint("r", i)}, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	epoch := begin(t, s, "worker")
	release := s.Block()
	var all sync.WaitGroup
	deleted := make(chan int, runs)
	for i := range runs {
		all.Go(func() {
			if err := s.Delete(t.Context(), fmt.Sprint("r", i)); err != nil {
				t.Error(err)
			}
			deleted <- i
		})
	}
	s.AwaitPieces(runs)
	result := make(chan error)
	// The writer stands still while the second result is not taken.
	s.Commit(stepBatch("worker", epoch, 0, json.RawMessage(`1`)), func(err error) { result <- err; result <- nil })
	release()
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	if n := len(deleted); n > 1 { // the writer may have been at one
		t.Errorf("%d of %d deletions went before", n, runs)
	}
	<-result
	all.Wait()
	if list, err := s.List(t.Context(), store.Filter{}); err != nil || len(list) != 1 {
		t.Errorf("%d runs are left, %v", len(list), err)
	}
}

// BenchmarkDeletion has runs commit steps at a measured pace, alone and while
// 10,000 others are deleted.
func BenchmarkDeletion(b *testing.B) {
	const workers, others, steps = 20, 10_000, 10
	value := json.RawMessage(`"` + text(600) + `"`)
	for b.Loop() {
		s := open(b, filepath.Join(b.TempDir(), "dossier.db"), sqlite.Options{})
		var making sync.WaitGroup
		for w := range 100 {
			making.Go(func() {
				for i := w; i < others; i += 100 {
					written(b, s, fmt.Sprint("old-", i), steps, value)
				}
			})
		}
		making.Wait()
		next := make([]int, workers)
		epochs := make([]int64, workers)
		for w := range workers {
			epochs[w] = begin(b, s, fmt.Sprint("worker-", w))
		}
		// measured commits steps until ctx ends and returns how long each took.
		measured := func(ctx context.Context) []time.Duration {
			took := make([][]time.Duration, workers)
			var all sync.WaitGroup
			for w := range workers {
				all.Go(func() {
					for ctx.Err() == nil {
						began := time.Now()
						if err := wait(s, stepBatch(fmt.Sprint("worker-", w), epochs[w], next[w], value)); err != nil {
							b.Error(err)
							return
						}
						next[w]++
						took[w] = append(took[w], time.Since(began))
						time.Sleep(time.Millisecond)
					}
				})
			}
			all.Wait()
			list := slices.Concat(took...)
			slices.Sort(list)
			return list
		}
		alone, cancel := context.WithTimeout(b.Context(), 5*time.Second)
		without := measured(alone)
		cancel()
		deleting, cancel := context.WithCancel(b.Context())
		began := time.Now()
		go func() {
			defer cancel()
			for i := range others {
				if err := s.Delete(b.Context(), fmt.Sprint("old-", i)); err != nil {
					b.Error(err)
					return
				}
			}
		}()
		with := measured(deleting)
		took := time.Since(began)
		at := func(d []time.Duration, percent int) float64 { return float64(d[len(d)*percent/100].Microseconds()) }
		b.ReportMetric(at(without, 50), "p50-µs")
		b.ReportMetric(at(without, 99), "p99-µs")
		b.ReportMetric(at(with, 50), "deleting-p50-µs")
		b.ReportMetric(at(with, 99), "deleting-p99-µs")
		b.ReportMetric(at(with, 99)/at(without, 99), "p99-ratio")
		b.ReportMetric(float64(others)/took.Seconds(), "deleted/s")
	}
}
