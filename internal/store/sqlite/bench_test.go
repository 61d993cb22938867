package sqlite_test

import (
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"dossier/event"
	"dossier/internal/base/rusage"
	"dossier/internal/store"
	"dossier/internal/store/sqlite"
	"dossier/run"
)

// text returns n characters that hardly compress.
func text(n int) string {
	random := make([]byte, n)
	_, _ = rand.Read(random) // never fails
	return base64.RawURLEncoding.EncodeToString(random)[:n]
}

// stepBatch is what a typical step commits: its result and one event.
func stepBatch(id string, epoch int64, i int, value json.RawMessage) *run.Batch {
	place := fmt.Sprintf("round-%d/search#1", i)
	return &run.Batch{
		Run: id, Epoch: epoch, Active: time.Millisecond, Spent: run.Spent{Calls: 1, InputTokens: 100},
		Entries: []run.Entry{{Key: place, Kind: run.EntryStep, Value: value, Seq: int64(i), Spent: run.Spent{Calls: 1, InputTokens: 100}}},
		Events:  []run.PlacedEvent{{Place: place, Event: event.Event{Seq: int64(i) + 1, Time: time.Now(), Agent: "researcher-1", Data: event.SearchResults{Query: "why is the sky blue", Found: 10, New: 4}}}},
	}
}

// BenchmarkCommitAlone commits one step after another, each beside a bare
// commit of the same bytes: one row into one table, by the same driver.
func BenchmarkCommitAlone(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "dossier.db"), sqlite.Options{})
	bare, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "bare.db")+"?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	bare.SetMaxOpenConns(1)
	if _, err := bare.Exec("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT)"); err != nil {
		b.Fatal(err)
	}
	insert, err := bare.Prepare("INSERT INTO t (a, b) VALUES (?, ?)")
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Create(b.Context(), run.Record{ID: "r"}, nil, nil); err != nil {
		b.Fatal(err)
	}
	h, err := s.Acquire(b.Context(), "r", "w", time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	value := json.RawMessage(`"` + text(600) + `"`)
	rest := text(150) // what the event and the keys take
	var ours, theirs []time.Duration
	result := make(chan error, 1)
	done := func(err error) { result <- err }
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		batch := stepBatch("r", h.Record.Epoch, i, value)
		start := time.Now()
		s.Commit(batch, done)
		if err := <-result; err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(start))
		start = time.Now()
		tx, err := bare.Begin()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := tx.Stmt(insert).Exec(string(value), rest); err != nil {
			b.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
		theirs = append(theirs, time.Since(start))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	us := func(d []time.Duration, q int) float64 { return float64(d[len(d)*q/100].Microseconds()) }
	b.ReportMetric(us(ours, 50), "p50-µs")
	b.ReportMetric(us(ours, 95), "p95-µs")
	b.ReportMetric(us(theirs, 50), "bare-p50-µs")
	b.ReportMetric(us(theirs, 95), "bare-p95-µs")
	b.ReportMetric(us(ours, 50)/us(theirs, 50), "ratio")
}

// BenchmarkCommitCrowd has 1,000 runs commit steps at the same time, each
// waiting for one before it makes the next.
func BenchmarkCommitCrowd(b *testing.B) {
	const runs = 1000
	s := open(b, filepath.Join(b.TempDir(), "dossier.db"), sqlite.Options{})
	value := json.RawMessage(`"` + text(600) + `"`)
	epochs := make([]int64, runs)
	var wg sync.WaitGroup
	for r := range runs {
		wg.Go(func() {
			id := fmt.Sprint("run-", r)
			if err := s.Create(b.Context(), run.Record{ID: id}, nil, nil); err != nil {
				b.Error(err)
				return
			}
			h, err := s.Acquire(b.Context(), id, "w", time.Hour)
			if err != nil {
				b.Error(err)
				return
			}
			epochs[r] = h.Record.Epoch
		})
	}
	wg.Wait()
	next := 0
	b.ReportAllocs()
	cpu := rusage.CPU()
	for b.Loop() { // an iteration is ten steps of each run
		first := next
		next += 10
		for r := range runs {
			wg.Go(func() {
				result := make(chan error, 1)
				for i := first; i < first+10; i++ {
					s.Commit(stepBatch(fmt.Sprint("run-", r), epochs[r], i, value), func(err error) { result <- err })
					if err := <-result; err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(next*runs)/b.Elapsed().Seconds(), "commits/s")
	b.ReportMetric((rusage.CPU()-cpu)*1e6/float64(next*runs), "cpu-µs/commit")
}

// BenchmarkCommitOne commits one step of one run after another and nothing else,
// for what a commit takes of the processor.
func BenchmarkCommitOne(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "dossier.db"), sqlite.Options{})
	epoch := begin(b, s, "r")
	value := json.RawMessage(`"` + text(600) + `"`)
	b.ReportAllocs()
	cpu := rusage.CPU()
	for i := 0; b.Loop(); i++ {
		if err := wait(s, stepBatch("r", epoch, i, value)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((rusage.CPU()-cpu)*1e6/float64(b.N), "cpu-µs/commit")
}

// BenchmarkEvents reads of a run that has 100,000 events, among others that were
// at work at the same time: the last few, as a client does that comes back, and
// pages as one reads that catches up.
func BenchmarkEvents(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "dossier.db"), sqlite.Options{})
	const events, step = 100_000, 20
	value := json.RawMessage(`"` + text(600) + `"`)
	epoch, other := begin(b, s, "r"), begin(b, s, "other")
	failed := make(chan error, 1)
	done := func(err error) {
		if err != nil {
			select {
			case failed <- err:
			default:
			}
		}
	}
	for i := 0; i < events; i += step {
		batch := stepBatch("r", epoch, i, value)
		for k := 1; k < step; k++ {
			e := batch.Events[0]
			e.Seq += int64(k)
			e.Place = fmt.Sprintf("round-%d/search#%d", i, k+1)
			batch.Events = append(batch.Events, e)
		}
		s.Commit(batch, done)
		s.Commit(stepBatch("other", other, i/step, value), done)
	}
	if err := wait(s, &run.Batch{Run: "r", Epoch: epoch}); err != nil {
		b.Fatal(err)
	}
	select {
	case err := <-failed:
		b.Fatal(err)
	default:
	}
	for _, c := range []struct {
		name  string
		limit int
		after func(i int) int64
	}{
		{"tail", 0, func(int) int64 { return events - 10 }},
		{"page of 100", 100, func(i int) int64 { return int64(i) * 7919 * 100 % (events - 100) }},
		{"page of 500", 500, func(i int) int64 { return int64(i) * 7919 * 500 % (events - 500) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				list, err := s.Events(b.Context(), "r", c.after(i), c.limit)
				took = append(took, time.Since(began))
				if err != nil || list[0].Seq != c.after(i)+1 {
					b.Fatal(len(list), err)
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds()), "p95-µs")
		})
	}
}

// BenchmarkHistory reads all that a worker needs to go on with a run of 500 steps.
func BenchmarkHistory(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "dossier.db"), sqlite.Options{})
	epoch := begin(b, s, "r")
	value := json.RawMessage(`"` + text(600) + `"`)
	for i := range 500 {
		if err := wait(s, stepBatch("r", epoch, i, value)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if h, err := s.History(b.Context(), "r"); err != nil || len(h.Entries) != 500 {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen opens a store that is there, reads the list of runs and closes it.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "dossier.db")
	begin(b, open(b, path, sqlite.Options{}), "r")
	for b.Loop() {
		s, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.List(b.Context(), store.Filter{}); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
