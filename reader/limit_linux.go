package reader

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
)

// limitMemory lets this process map so many bytes more than it has, and write
// no core file.
func limitMemory(bytesMore int64) error {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	first, _, _ := bytes.Cut(statm, []byte(" "))
	pages, err := strconv.ParseInt(string(first), 10, 64)
	if err != nil {
		return fmt.Errorf("/proc/self/statm: %w", err)
	}
	most := uint64(pages*int64(os.Getpagesize()) + bytesMore)
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
		return err
	}
	return syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}

// watchCPU ends this process when its processor time is over. The system says
// so by a signal, which Go programs do not heed by themselves.
var watchCPU = sync.OnceFunc(func() {
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGXCPU)
	go func() {
		<-over
		fmt.Fprintln(os.Stderr, "cpu limit exceeded")
		os.Exit(1)
	}()
})

// limitCPU lets this process use so many seconds of processor time more.
func limitCPU(seconds int) {
	watchCPU()
	var used syscall.Rusage
	var was syscall.Rlimit
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil || syscall.Getrlimit(syscall.RLIMIT_CPU, &was) != nil {
		return
	}
	was.Cur = min(uint64(used.Utime.Sec+used.Stime.Sec)+1+uint64(seconds), was.Max)
	_ = syscall.Setrlimit(syscall.RLIMIT_CPU, &was) // the parent's clock is the other limit
}
