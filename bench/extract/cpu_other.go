//go:build !unix

package main

import "time"

var started = time.Now()

// cpuTime returns the seconds that the process has run.
func cpuTime() float64 { return time.Since(started).Seconds() }
