//go:build unix

// Package rusage is what this process has taken of the machine, for benchmarks.
package rusage

import (
	"runtime"
	"syscall"
)

// CPU returns the seconds of CPU that the process and its children that have
// ended used.
func CPU() float64 {
	total := int64(0)
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if err := syscall.Getrusage(who, &r); err != nil {
			return 0
		}
		total += r.Utime.Nano() + r.Stime.Nano()
	}
	return float64(total) / 1e9
}

// PeakMemory returns the most bytes that the process has had in memory, 0 if
// that is not known.
func PeakMemory() int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(r.Maxrss)
	}
	return int64(r.Maxrss) << 10
}
