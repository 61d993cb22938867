//go:build unix

package main

import "syscall"

// cpuTime returns the seconds of CPU that the process has used.
func cpuTime() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}
