package main

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"dossier/event"
	"dossier/internal/base/rusage"
	"dossier/internal/store/sqlite"
	"dossier/run"
)

// waits are how long the outside takes for a step, by the last part of its
// name. The other steps wait for nothing.
var waits = map[string]time.Duration{
	"plan": modelLatency, "followups": modelLatency, "rerank": modelLatency, "note": modelLatency, "answer": modelLatency,
	"judge": modelLatency, "rewrite": modelLatency, "find": engineLatency,
}

// parallel are the parts of names by which steps differ that go on at once.
var parallel = regexp.MustCompile(`(search|read)-\d+/`)

// criticalPath is the least time in which the recorded steps can be done: those
// that go on at once count as their longest, and the rest adds up. Pages are read
// so many at once; for those that could not be, which nobody notes, others are
// read afterwards.
func criticalPath(entries []run.Entry, pages int) time.Duration {
	var total time.Duration
	atOnce := make(map[string]map[string]time.Duration) // stage → member → its time
	for _, e := range entries {
		if e.Kind != run.EntryStep {
			continue
		}
		wait := waits[path.Base(e.Key)]
		at := parallel.FindStringIndex(e.Key)
		if at == nil {
			total += wait
			continue
		}
		member := e.Key[at[0]:at[1]]
		stage := e.Key[:at[0]] + strings.TrimRight(member, "-0123456789/")
		if atOnce[stage] == nil {
			atOnce[stage] = make(map[string]time.Duration)
		}
		atOnce[stage][member] += wait
	}
	for stage, members := range atOnce {
		wave := len(members)
		if stage == "read" {
			wave = pages
		}
		for from := 1; from <= len(members); {
			longest, dead := time.Duration(0), 0
			for n := from; n < from+wave && n <= len(members); n++ {
				d := members[fmt.Sprintf("%s-%d/", path.Base(stage), n)]
				if longest = max(longest, d); d == 0 {
					dead++
				}
			}
			total += longest
			from, wave = from+wave, dead
			if wave == 0 {
				break
			}
		}
	}
	return total
}

// pagesOf are the pages that a mode reads.
var pagesOf = map[string]int{"web_search": 4, "deep_search": 8}

// alone does runs one after the other, beside their critical paths.
func alone(ctx context.Context, mode string, runs int, say func(string, ...any)) error {
	l, err := prepare(ctx, map[string]string{"search.cache_ttl": "0s"})
	if err != nil {
		return err
	}
	defer l.close()
	questions := l.questions()
	for i := range runs { // readers of documents start once
		if _, err := l.ask(ctx, mode, questions[i%len(questions)]); err != nil {
			return err
		}
	}
	var took []time.Duration
	var ids []string
	for i := range runs {
		began := time.Now()
		rec, err := l.ask(ctx, mode, questions[i%len(questions)])
		if err != nil {
			return err
		}
		took, ids = append(took, time.Since(began)), append(ids, rec.ID)
	}
	if err := l.engine.Close(); err != nil {
		return err
	}
	store, err := sqlite.Open(filepath.Join(l.dir, "dossier.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	var walls, paths []time.Duration
	var ratios []float64
	steps := 0
	for i, id := range ids {
		h, err := store.History(ctx, id)
		if err != nil {
			return err
		}
		least := criticalPath(h.Entries, pagesOf[mode])
		steps += len(h.Entries)
		walls, paths, ratios = append(walls, took[i]), append(paths, least), append(ratios, float64(took[i])/float64(least))
	}
	say("%s.wall %v median of %d runs, %d steps a run", mode, median(walls).Round(time.Millisecond), runs, steps/runs)
	say("%s.critical-path %v median", mode, median(paths).Round(time.Millisecond))
	say("%s.ratio %.3f median, %.3f worst [≤ 1.3]", mode, median(ratios), slices.Max(ratios))
	return nil
}

func median[T time.Duration | float64](list []T) T {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// crowded does many runs at once.
func crowded(ctx context.Context, n int, say func(string, ...any)) error {
	l, err := prepare(ctx, nil)
	if err != nil {
		return err
	}
	defer l.close()
	questions := l.questions()
	before, began := rusage.CPU(), time.Now()
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		failed []error
		took   []time.Duration
	)
	for i := range n {
		wg.Go(func() {
			at := time.Now()
			_, err := l.ask(ctx, "web_search", fmt.Sprintf("%s (%d)", questions[i%len(questions)], i))
			mu.Lock()
			defer mu.Unlock()
			if took = append(took, time.Since(at)); err != nil {
				failed = append(failed, err)
			}
		})
	}
	wg.Wait()
	wall, cpu := time.Since(began), rusage.CPU()-before
	say("crowd.runs %d at once, %d failed", n, len(failed))
	say("crowd.wall %v, a run %v median, %v longest", wall.Round(time.Millisecond), median(took).Round(time.Millisecond), slices.Max(took).Round(time.Millisecond))
	say("crowd.cpu %.1f s, %.1f ms a run; model server, engine and pages are in this process", cpu, 1000*cpu/float64(n))
	say("crowd.memory %d MiB at the most, %.2f MiB a run", rusage.PeakMemory()>>20, float64(rusage.PeakMemory())/float64(n)/(1<<20))
	say("crowd.asked %d queries, %d pages", len(l.web.Searches()), total(l.web.Fetches()))
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d runs failed, the first: %w", len(failed), n, failed[0])
	}
	return nil
}

func total(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// again asks the same questions twice.
func again(ctx context.Context, say func(string, ...any)) error {
	l, err := prepare(ctx, nil)
	if err != nil {
		return err
	}
	defer l.close()
	questions := l.questions()[:10]
	var took [2]time.Duration
	var queries, pages, cached [2]int
	for round := range 2 {
		searches, fetches := len(l.web.Searches()), total(l.web.Fetches())
		for _, q := range questions {
			began := time.Now()
			rec, err := l.ask(ctx, "web_search", q)
			if err != nil {
				return err
			}
			took[round] += time.Since(began)
			log, err := l.engine.Log(ctx, rec.ID, 0)
			if err != nil {
				return err
			}
			for _, ev := range log {
				switch d := ev.Data.(type) {
				case event.SearchResults:
					queries[round]++
					if d.Cached {
						cached[round]++
					}
				case event.SourceRead:
					pages[round]++
				}
			}
		}
		say("repeat.%d %d queries, %.3f of them from the cache, the engine was asked %d times; %d pages read, %d fetched, dead ones included; %v a run",
			round+1, queries[round], float64(cached[round])/float64(queries[round]), len(l.web.Searches())-searches,
			pages[round], total(l.web.Fetches())-fetches, (took[round] / time.Duration(len(questions))).Round(time.Millisecond))
	}
	return nil
}
