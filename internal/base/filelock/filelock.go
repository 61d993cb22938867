// Package filelock locks files between processes. A lock ends when the file is
// closed or the process ends, however that ends.
package filelock

import (
	"errors"
	"os"
	"time"
)

// ErrTimeout is what Wait returns when others had the lock all the time.
var ErrTimeout = errors.New("another process holds the lock")

// Wait locks a file for this handle alone, and waits for that as long as it may
// take at the most. Who waits is served about in the order of coming.
func Wait(f *os.File, most time.Duration) error {
	if free, err := Try(f); free || err != nil {
		return err
	}
	locked := make(chan error, 1)
	go func() { locked <- block(f) }()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case err := <-locked:
		return err
	case <-timer.C:
	}
	go func() {
		if <-locked == nil {
			_ = Unlock(f) // it came too late
		}
	}()
	return ErrTimeout
}
