package main

import (
	"fmt"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"dossier/bench/internal/lab"
)

// describe says how the table came about.
func describe(n size, before string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "go run ./bench/fleet -instances %d -wakes %d -woken %d\n", n.instances, n.wakes, n.woken)
	fmt.Fprintf(&b, "%s, %s, %s, %d cores\n", time.Now().UTC().Format("2006-01-02 15:04 MST"), runtime.Version(), lab.CPU(), runtime.NumCPU())
	fmt.Fprintf(&b, "load average %s before, %s after\n", before, lab.Load())
	fmt.Fprintf(&b, "SQLite, commits durable; the file is in the cache of the system\n")
	return b.String()
}

func table(n size, f found) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "figure\tvalue\ttarget\t")
	line := func(name, value string) { fmt.Fprintf(w, "%s\t%s\t\t\n", name, value) }
	targets, met := 0, 0
	held := func(name, value, target string, ok bool) {
		verdict := "missed"
		if targets++; ok {
			verdict = "met"
			met++
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", name, value, target, verdict)
	}
	count := float64(n.instances)
	line("instances registered", fmt.Sprint(n.instances))
	line("registering all", fmt.Sprintf("%.1f s, %.0f per s", f.Registering.Seconds(), count/f.Registering.Seconds()))
	line("size on disk", fmt.Sprintf("%.0f MB, %.0f B each", float64(f.Disk)/1e6, float64(f.Disk)/count))
	line("opening the store at start-up", millis(f.Opening))
	line("a page of a list, by template", millis(f.Listing))
	line("counting all", millis(f.Counting))
	line("waking one: p50", millis(quantile(f.Wakes, 0.5)))
	p99 := quantile(f.Wakes, 0.99)
	held("waking one: p99", millis(p99), "≤ 50 ms", p99 <= 50*time.Millisecond)
	line("waking one: slowest", millis(f.Wakes[len(f.Wakes)-1]))
	many := fmt.Sprintf("%d woken once each, %d at a time", n.woken, crowd)
	line(many, fmt.Sprintf("%.1f s, %.0f per s", f.Waking.Seconds(), float64(n.woken)/f.Waking.Seconds()))
	line("  heap after it", fmt.Sprintf("%+.2f MB", float64(f.Heap)/1e6))
	line("  goroutines after it", fmt.Sprintf("%+d", f.Goroutines))
	held("  memory of the process after it", fmt.Sprintf("%+.1f MB", float64(f.RSS)/1e6), "≤ 1 GiB", f.RSS <= 1<<30)
	held("  memory of the process at its highest", fmt.Sprintf("%+.1f MB", float64(f.Peak)/1e6), "≤ 1 GiB", f.Peak <= 1<<30)
	_ = w.Flush() // into memory
	fmt.Fprintf(&b, "%d of %d targets met\n", met, targets)
	return b.String()
}

// quantile of sorted values.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1e3) }
