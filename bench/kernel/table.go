package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// describe says how the table came about.
func describe(l *lab, reps int, before string) string {
	pinned := "the model server on core 0, the client on core 1 (on any where runs work at once)"
	if l.taskset == "" {
		pinned = "client and server not pinned"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "go run ./bench/kernel -reps %d\n", reps)
	fmt.Fprintf(&b, "%s, %s, %s, %d cores, %s\n", time.Now().UTC().Format("2006-01-02 15:04 MST"), runtime.Version(), cpuModel(), runtime.NumCPU(), pinned)
	fmt.Fprintf(&b, "load average %s before, %s after\n", before, loadAverage())
	fmt.Fprintf(&b, "medians of %d turns; ratios and differences are medians of those within a turn\n", reps)
	return b.String()
}

func table(figures []*figure) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "figure\tbeside\tours\tratio\ttarget\t")
	missed := 0
	for _, f := range figures {
		beside, against := "", ""
		if f.beside != nil {
			beside = number(median(f.beside), f.unit)
		}
		switch f.kind {
		case ratio:
			against = fmt.Sprintf("%.2f", f.value())
		case difference:
			against = fmt.Sprintf("%+.0f", f.value())
		case alone:
			if f.beside != nil {
				against = fmt.Sprintf("%.2f", median(f.ours)/median(f.beside))
			}
		}
		verdict := "met"
		if !f.met() {
			verdict = "missed"
			missed++
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", f.name, beside, number(median(f.ours), f.unit), against, f.target, verdict)
	}
	_ = w.Flush() // into memory
	fmt.Fprintf(&b, "%d of %d targets met\n", len(figures)-missed, len(figures))
	return b.String()
}

func number(v float64, unit string) string {
	text := fmt.Sprintf("%.1f", v)
	switch {
	case v >= 1000:
		text = fmt.Sprintf("%.0f", v)
	case v < 10:
		text = fmt.Sprintf("%.2f", v)
	}
	return strings.TrimSpace(text + " " + unit)
}

func cpuModel() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(info)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func loadAverage() string {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(load), " ")
	return first
}
