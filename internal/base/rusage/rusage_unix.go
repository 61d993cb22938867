//go:build unix

package rusage

import "syscall"

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
