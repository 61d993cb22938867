package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"dossier/cite"
	"dossier/event"
	"dossier/internal/base/rusage"
	"dossier/internal/store/sqlite"
	"dossier/report"
	"dossier/run"
)

// alone does runs of an engine one after the other, beside their critical paths.
func alone(ctx context.Context, engine string, runs int, say func(string, ...any)) error {
	w, err := open(&researcher{searches: 2, pages: 3, thorough: true}, modelLatency)
	if err != nil {
		return err
	}
	defer w.close()
	l, err := prepare(ctx, w.set, map[string]string{"deep_research.engine": engine})
	if err != nil {
		return err
	}
	defer l.close()
	if _, err := l.research(ctx, -1); err != nil { // what starts once has started then
		return err
	}
	var walls []time.Duration
	var done []run.Record
	for n := range runs {
		began := time.Now()
		rec, err := l.research(ctx, n)
		if err != nil {
			return err
		}
		walls, done = append(walls, time.Since(began)), append(done, rec)
	}
	if err := l.engine.Close(); err != nil {
		return err
	}
	store, err := sqlite.Open(filepath.Join(l.dir, "dossier.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	var paths []time.Duration
	var ratios []float64
	var spent run.Spent
	steps := 0
	for i, rec := range done {
		h, err := store.History(ctx, rec.ID)
		if err != nil {
			return err
		}
		least := criticalPath(h.Entries)
		paths, ratios = append(paths, least), append(ratios, float64(walls[i])/float64(least))
		spent, steps = spent.Add(rec.Spent), steps+len(h.Entries)
	}
	say("%s.wall %v median of %d runs; a run has %d entries, %d model calls, %d searches, %d pages", engine,
		median(walls).Round(time.Millisecond), runs, steps/runs, spent.Calls/runs, spent.Searches/runs, spent.Pages/runs)
	say("%s.critical-path %v median", engine, median(paths).Round(time.Millisecond))
	say("%s.ratio %.3f median, %.3f worst [≤ 1.3]", engine, median(ratios), slices.Max(ratios))
	return nil
}

func median[T time.Duration | float64](list []T) T {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// sizes are researches by a team with so many calls of tools.
var sizes = []struct {
	calls int
	model *researcher
	set   map[string]string
}{
	{5, &researcher{searches: 1, pages: 3, liar: true}, map[string]string{
		"deep_research.num_agents": "1", "deep_research.default_max_iterations": "1", "deep_research.max_supervisor_calls": "1",
	}},
	{25, &researcher{searches: 1, pages: 3, liar: true}, map[string]string{
		"deep_research.default_max_iterations": "5", "deep_research.max_supervisor_calls": "5",
	}},
	{100, &researcher{searches: 2, pages: 3, liar: true, thorough: true}, map[string]string{
		"deep_research.default_max_iterations": "10", "deep_research.max_supervisor_calls": "10",
	}},
}

// truthful has a model that lies do researches of several sizes, and counts how
// many statements of the reports are borne out by the passages that they cite. The
// check is the product's own by words: the judge is of the liar's kin.
func truthful(ctx context.Context, say func(string, ...any)) error {
	for _, size := range sizes {
		w, err := open(size.model, 0)
		if err != nil {
			return err
		}
		err = func() error {
			defer w.close()
			l, err := prepare(ctx, w.set, map[string]string{"deep_research.run_deep_search_first": "false"}, size.set)
			if err != nil {
				return err
			}
			defer l.close()
			rec, err := l.research(ctx, size.calls)
			if err != nil {
				return err
			}
			log, err := l.engine.Log(ctx, rec.ID, 0)
			if err != nil {
				return err
			}
			r, err := l.engine.Report(ctx, rec.ID)
			if err != nil {
				return err
			}
			texts, err := l.engine.Snapshots(ctx, rec.ID)
			if err != nil {
				return err
			}
			got, err := weigh(ctx, r, texts, size.model)
			if err != nil {
				return err
			}
			invented := 0
			size.model.lies.Range(func(any, any) bool { invented++; return true })
			say("precision.%d-calls %.4f of %d statements with a source; %d calls of tools, %d lies told, %d of them delivered; %d statements without a source",
				size.calls, float64(got.held)/float64(max(1, got.cited)), got.cited, toolCalls(log), invented, got.lies, got.uncited)
			return nil
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

// toolCalls counts the calls of tools that a log tells of.
func toolCalls(log []event.Event) int {
	n := 0
	for _, ev := range log {
		if d, ok := ev.Data.(event.AgentAction); ok && d.Result == "" && !d.Failed {
			n++
		}
	}
	return n
}

// weighed is what a report says.
type weighed struct{ cited, held, uncited, lies int }

// weigh checks every sentence of a report against the sources that it cites.
func weigh(ctx context.Context, r *report.Report, texts map[string]string, m *researcher) (weighed, error) {
	ledger, snapshots := cite.NewLedger(), make(cite.Snapshots)
	next := 1
	for _, src := range r.Sources {
		for ; next < src.Number; next++ { // numbers that the report does not use
			ledger.Add(cite.Source{URI: fmt.Sprintf("unused-%d", next)})
		}
		entered := ledger.Add(src.Source)
		if _, err := ledger.Read(entered.Number, snapshots.Add(texts[src.Snapshot])); err != nil {
			return weighed{}, err
		}
		next++
	}
	var out weighed
	whole := []string{r.Summary, r.Conclusion}
	for _, s := range r.Sections {
		whole = append(whole, s.Text)
	}
	for _, text := range whole {
		result, err := cite.Verify(ctx, text, ledger, snapshots, cite.Lexical{}, cite.Options{})
		if err != nil {
			return out, err
		}
		for _, c := range result.Claims {
			if m.lied(c.Text) {
				out.lies++
			}
			switch {
			case len(c.Sources) == 0:
				out.uncited++
			case c.Verified:
				out.cited, out.held = out.cited+1, out.held+1
			default:
				out.cited++
			}
		}
	}
	return out, nil
}

// took is what one research has taken of the machine.
type took struct {
	Wall   time.Duration `json:"wall"`
	CPU    float64       `json:"cpu"`
	Memory int64         `json:"memory"`
	Spent  run.Spent     `json:"spent"`
}

// whole has another process do one research of about a hundred calls and sixty
// pages, and tells what that process took.
func whole(ctx context.Context, say func(string, ...any)) error {
	w, err := open(&researcher{searches: 1, pages: 5, thorough: true}, modelLatency)
	if err != nil {
		return err
	}
	defer w.close()
	set := maps.Clone(w.set)
	maps.Copy(set, map[string]string{"deep_research.default_max_iterations": "10"})
	asked, err := asText(set)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "-one", asked)
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return err
	}
	var t took
	if err := json.Unmarshal(raw, &t); err != nil {
		return fmt.Errorf("what a research took: %w", err)
	}
	say("whole.asked %d model calls, %d searches, %d pages", t.Spent.Calls, t.Spent.Searches, t.Spent.Pages)
	say("whole.took %v, %.2f s of CPU, %d MiB at the most; in a process of its own, its start included", t.Wall.Round(time.Millisecond), t.CPU, t.Memory>>20)
	return nil
}

// takes does one research and prints what it took.
func takes(ctx context.Context, settings string) error {
	set := make(map[string]string)
	if err := json.Unmarshal([]byte(settings), &set); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	began := time.Now()
	l, err := prepare(ctx, set)
	if err != nil {
		return err
	}
	defer l.close()
	rec, err := l.research(ctx, 0)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(took{time.Since(began), rusage.CPU(), rusage.PeakMemory(), rec.Spent})
}

// crowded does many runs at once, of both engines in turn.
func crowded(ctx context.Context, n int, say func(string, ...any)) error {
	w, err := open(&researcher{searches: 1, pages: 3}, modelLatency)
	if err != nil {
		return err
	}
	defer w.close()
	dir := make(map[string]string)
	maps.Copy(dir, w.set)
	delete(dir, "search.cache_ttl") // as it is
	l, err := prepare(ctx, dir)
	if err != nil {
		return err
	}
	defer l.close()
	before, began := rusage.CPU(), time.Now()
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		failed []error
		walls  []time.Duration
		spent  run.Spent
	)
	for i := range n {
		wg.Go(func() {
			at := time.Now()
			rec, err := l.research(ctx, i)
			mu.Lock()
			defer mu.Unlock()
			walls, spent = append(walls, time.Since(at)), spent.Add(rec.Spent)
			if err != nil {
				failed = append(failed, err)
			}
		})
	}
	wg.Wait()
	wall, cpu := time.Since(began), rusage.CPU()-before
	say("crowd.runs %d at once, %d failed; %d model calls, %d searches, %d pages", n, len(failed), spent.Calls, spent.Searches, spent.Pages)
	say("crowd.wall %v, a run %v median, %v longest", wall.Round(time.Millisecond), median(walls).Round(time.Millisecond), slices.Max(walls).Round(time.Millisecond))
	say("crowd.cpu %.1f s, %.0f ms a run; model server, engine and pages are in this process", cpu, 1000*cpu/float64(n))
	say("crowd.memory %d MiB at the most", rusage.PeakMemory()>>20)
	if len(failed) > 0 {
		var first []string
		for _, err := range failed[:min(3, len(failed))] {
			first = append(first, err.Error())
		}
		return fmt.Errorf("%d of %d runs failed: %s", len(failed), n, strings.Join(first, "; "))
	}
	return nil
}
