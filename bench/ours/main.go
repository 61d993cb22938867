// Command ours is the kernel's side of the benchmark: it does with runs what
// the bare loop of the yardsticks does with goroutines, against the same model
// server, and prints one JSON line in the same form.
//
//	step     one run after another: CPU, time and allocations per model call
//	conc     many runs at once at a given latency: time for all of them
//	commit   one step at a time on SQLite, each beside a bare commit of the
//	         same bytes
//	waiting  runs that wait for an answer: memory per run
//	active   runs that wait for the model: memory per run; with -bare the same
//	         calls without the kernel
//
// It reports nothing unless the model server counted exactly the calls that
// were to be made and every answer was the right one. bench/kernel drives it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"time"
)

// options are the command line.
type options struct {
	mode     string
	url      string
	steps    int
	sessions int
	rounds   int
	latency  time.Duration
	tokens   int
	stream   bool
	store    string
	dir      string
	governor bool
	bare     bool
}

// result has the yardsticks' names.
type result struct {
	Peer     string  `json:"peer"`
	Mode     string  `json:"mode"`
	Stream   bool    `json:"stream,omitempty"`
	Steps    int     `json:"steps,omitempty"`
	Sessions int     `json:"sessions,omitempty"`
	WallUS   float64 `json:"wall_us_per_step,omitempty"`
	CPUUS    float64 `json:"cpu_us_per_step,omitempty"`
	Allocs   float64 `json:"allocs_per_step,omitempty"`
	Bytes    float64 `json:"bytes_per_step,omitempty"`
	TotalMS  float64 `json:"total_ms,omitempty"`
	Ratio    float64 `json:"ratio_to_ideal,omitempty"`
	P50MS    float64 `json:"session_p50_ms,omitempty"`
	P99MS    float64 `json:"session_p99_ms,omitempty"`
	CPUMS    float64 `json:"cpu_ms,omitempty"`
	PeakMB   float64 `json:"peak_rss_mb,omitempty"`
	// Of commit: median and 95th percentile of a step and of a bare commit.
	StepP50US float64 `json:"step_p50_us,omitempty"`
	StepP95US float64 `json:"step_p95_us,omitempty"`
	BareP50US float64 `json:"bare_p50_us,omitempty"`
	BareP95US float64 `json:"bare_p95_us,omitempty"`
	// Of waiting and active: heap and stacks per run, after collection.
	HeapPer  float64 `json:"heap_bytes_per_run"`
	StackPer float64 `json:"stack_bytes_per_run"`
}

func main() {
	var o options
	flag.StringVar(&o.mode, "mode", "step", "step, conc, commit, waiting or active")
	flag.StringVar(&o.url, "url", "http://127.0.0.1:18080/v1", "base `URL` of the model server")
	flag.IntVar(&o.steps, "steps", 10, "model calls of a run")
	flag.IntVar(&o.sessions, "sessions", 0, "runs: of a round (step) or in all; commits (commit)")
	flag.IntVar(&o.rounds, "rounds", 15, "rounds (step)")
	flag.DurationVar(&o.latency, "lat", 50*time.Millisecond, "the model's latency (conc, active)")
	flag.IntVar(&o.tokens, "tokens", 12, "words of the final answer")
	flag.BoolVar(&o.stream, "stream", false, "stream the replies")
	flag.StringVar(&o.store, "store", "memory", "memory or sqlite")
	flag.StringVar(&o.dir, "dir", "", "`directory` for the SQLite file; a temporary one when empty")
	flag.BoolVar(&o.governor, "governor", true, "put the governor between the kernel and the model")
	flag.BoolVar(&o.bare, "bare", false, "make the calls without the kernel (active)")
	profile := flag.String("cpuprofile", "", "write a CPU profile to `file`")
	flag.Parse()
	if err := profiled(*profile, func() error { return run(context.Background(), o) }); err != nil {
		fmt.Fprintln(os.Stderr, "ours:", err)
		os.Exit(1)
	}
}

func profiled(path string, do func() error) error {
	if path == "" {
		return do()
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return do()
}

func run(ctx context.Context, o options) error {
	modes := map[string]func(context.Context, options) (result, error){
		"step": step, "conc": concurrent, "commit": commits, "waiting": waiting, "active": active,
	}
	measure, ok := modes[o.mode]
	if !ok {
		return fmt.Errorf("there is no mode %q: use step, conc, commit, waiting or active", o.mode)
	}
	r, err := measure(ctx, o)
	if err != nil {
		return err
	}
	r.Peer, r.Mode, r.Stream, r.PeakMB = "ours", o.mode, o.stream, peakRSS()
	return json.NewEncoder(os.Stdout).Encode(r)
}
