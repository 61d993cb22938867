package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"dossier/bench/internal/lab"
)

// figure is one line of the table: ours beside something else, turn by turn.
type figure struct {
	name   string
	unit   string
	beside []float64 // nil when there is nothing to stand beside
	ours   []float64
	// target in words, and what is held against it: the ratio, ours alone or
	// the difference.
	target string
	kind   kind
	limit  float64
}

type kind int

const (
	ratio kind = iota
	alone
	difference
)

// add takes the values of one turn.
func (f *figure) add(beside, ours float64) {
	if f.kind != alone || beside != 0 {
		f.beside = append(f.beside, beside)
	}
	f.ours = append(f.ours, ours)
}

// value is what the target is about.
func (f *figure) value() float64 {
	if f.kind == alone {
		return lab.Median(f.ours)
	}
	per := make([]float64, len(f.ours))
	for i := range per {
		if f.kind == ratio {
			per[i] = f.ours[i] / f.beside[i]
		} else {
			per[i] = f.ours[i] - f.beside[i]
		}
	}
	return lab.Median(per)
}

func (f *figure) met() bool { return f.value() <= f.limit }

const (
	streamed = 500  // words of a streamed answer
	crowd    = 1000 // runs at once
	parked   = 10_000
	// noise is what a measured byte per run may be off: the collector's own
	// structures grow a little with the length of a measurement.
	noise  = 64
	starts = 20
)

// measure takes all figures.
func (l *bench) measure(ctx context.Context, reps int) ([]*figure, error) {
	cpu := &figure{name: "CPU per step without commit", unit: "µs", target: "≤ 1.5 × the loop", limit: 1.5}
	allocs := &figure{name: "allocations per step", target: "≤ 150", kind: alone, limit: 150}
	chunk := &figure{name: "CPU per streamed chunk", unit: "µs", target: "≤ 1.2 × the loop", limit: 1.2}
	many := &figure{name: "1,000 runs × 10 steps at 50 ms", unit: "ms", target: "≤ 1.25 × the loop", limit: 1.25}
	durable := &figure{name: "the same, every step committed to SQLite", unit: "ms", target: "≤ 2 × without", limit: 2}
	commit := &figure{name: "one step on SQLite, beside a bare commit", unit: "µs", target: "≤ 1.5 × the commit", limit: 1.5}
	active := &figure{name: "heap and stack per active run", unit: "B", target: "≤ 8,192 more than the loop", kind: difference, limit: 8192}
	waiting := &figure{name: "heap and stack per waiting run", unit: "B", target: fmt.Sprintf("0 (± %d)", noise), kind: alone, limit: noise}
	figures := []*figure{cpu, allocs, chunk, many, durable, commit, active, waiting}

	pair := func(core string, args ...string) (loop, ours lab.Values, err error) {
		if loop, err = l.Result(ctx, core, "baseline", args...); err != nil {
			return nil, nil, err
		}
		ours, err = l.Result(ctx, core, "ours", args...)
		return loop, ours, err
	}
	for turn := range reps {
		fmt.Printf("turn %d of %d\n", turn+1, reps)
		loop, ours, err := pair("1", "-mode", "step", "-rounds", "9")
		if err != nil {
			return nil, err
		}
		cpu.add(loop["cpu_us_per_step"], ours["cpu_us_per_step"])
		allocs.add(loop["allocs_per_step"], ours["allocs_per_step"])

		loop, ours, err = pair("1", "-mode", "step", "-stream", "-steps", "1", "-tokens", fmt.Sprint(streamed), "-sessions", "10", "-rounds", "9")
		if err != nil {
			return nil, err
		}
		chunk.add(loop["cpu_us_per_step"]/streamed, ours["cpu_us_per_step"]/streamed)

		loop, ours, err = pair("", "-mode", "conc", "-sessions", fmt.Sprint(crowd))
		if err != nil {
			return nil, err
		}
		many.add(loop["total_ms"], ours["total_ms"])
		kept, err := l.Result(ctx, "", "ours", "-mode", "conc", "-sessions", fmt.Sprint(crowd), "-store", "sqlite")
		if err != nil {
			return nil, err
		}
		durable.add(ours["total_ms"], kept["total_ms"])

		one, err := l.Result(ctx, "", "ours", "-mode", "commit", "-sessions", "500")
		if err != nil {
			return nil, err
		}
		commit.add(one["bare_p50_us"], one["step_p50_us"])

		held := func(v lab.Values) float64 { return v["heap_bytes_per_run"] + v["stack_bytes_per_run"] }
		bare, err := l.Result(ctx, "", "ours", "-mode", "active", "-bare", "-lat", "5s", "-sessions", fmt.Sprint(crowd))
		if err != nil {
			return nil, err
		}
		blocked, err := l.Result(ctx, "", "ours", "-mode", "active", "-store", "sqlite", "-lat", "5s", "-sessions", fmt.Sprint(crowd))
		if err != nil {
			return nil, err
		}
		active.add(held(bare), held(blocked))

		// What the last turn leaves behind is what runs list is tried on.
		data := filepath.Join(l.Dir, "data")
		if err := os.RemoveAll(data); err != nil {
			return nil, err
		}
		if err := os.Mkdir(data, 0o700); err != nil {
			return nil, err
		}
		asleep, err := l.Result(ctx, "", "ours", "-mode", "waiting", "-store", "sqlite", "-dir", data, "-sessions", fmt.Sprint(parked))
		if err != nil {
			return nil, err
		}
		waiting.add(0, held(asleep))
	}
	started, err := l.starts(ctx)
	return append(figures, started...), err
}

// starts measures the command line's start-up.
func (l *bench) starts(ctx context.Context) ([]*figure, error) {
	var figures []*figure
	for _, c := range []struct {
		name string
		args []string
	}{
		{"dossier version", []string{"version"}},
		{fmt.Sprintf("dossier runs list (of %d)", parked), []string{"runs", "list", "--config", "none", "--data", filepath.Join(l.Dir, "data")}},
	} {
		first := &figure{name: c.name + ": first output", unit: "ms", target: "≤ 50 ms", kind: alone, limit: 50}
		peak := &figure{name: c.name + ": peak memory", unit: "MB", target: "≤ 30 MB", kind: alone, limit: 30}
		for range starts {
			took, mb, err := l.start(ctx, "dossier", c.args...)
			if err != nil {
				return nil, err
			}
			first.add(0, float64(took.Microseconds())/1e3)
			peak.add(0, mb)
		}
		figures = append(figures, first, peak)
	}
	return figures, nil
}
