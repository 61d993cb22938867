//go:build !unix

// Package rusage is what this process has taken of the machine, for benchmarks.
package rusage

import "time"

var started = time.Now()

// CPU returns the seconds that the process has run.
func CPU() float64 { return time.Since(started).Seconds() }

// PeakMemory is not known here.
func PeakMemory() int64 { return 0 }
