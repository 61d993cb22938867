package lab

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Median of values, which stay as they are.
func Median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	if n := len(x); n%2 == 0 {
		return (x[n/2-1] + x[n/2]) / 2
	}
	return x[len(x)/2]
}

// Number is a value with its unit, as precise as a reader needs it.
func Number(v float64, unit string) string {
	text := fmt.Sprintf("%.1f", v)
	switch {
	case v >= 1000:
		text = fmt.Sprintf("%.0f", v)
	case v < 10:
		text = fmt.Sprintf("%.2f", v)
	}
	return strings.TrimSpace(text + " " + unit)
}

// Describe says how figures came about: the command, the machine, its load
// before (see Load) and now, and how often each side took its turn.
func (l *Lab) Describe(command string, reps int, before string) string {
	pinned := "the model server on core 0, the client on core 1 (on any where runs work at once)"
	if l.taskset == "" {
		pinned = "client and server not pinned"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", command)
	fmt.Fprintf(&b, "%s, %s, %s, %d cores, %s\n", time.Now().UTC().Format("2006-01-02 15:04 MST"), runtime.Version(), CPU(), runtime.NumCPU(), pinned)
	fmt.Fprintf(&b, "load average %s before, %s after\n", before, Load())
	fmt.Fprintf(&b, "medians of %d turns; ratios and differences are medians of those within a turn\n", reps)
	return b.String()
}

// CPU is the name of the machine's processor.
func CPU() string {
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

// Load is the machine's load average over a minute.
func Load() string {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(load), " ")
	return first
}
