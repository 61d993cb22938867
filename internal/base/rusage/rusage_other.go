//go:build !unix

package rusage

import "time"

var started = time.Now()

// CPU returns the seconds that the process has run.
func CPU() float64 { return time.Since(started).Seconds() }
