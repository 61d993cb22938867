//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Try locks a file unless another has it locked. Child processes don't inherit
// the lock, as Go opens files with close-on-exec.
func Try(f *os.File) (free bool, err error) {
	err = flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Unlock ends the lock.
func Unlock(f *os.File) error { return flock(f, syscall.LOCK_UN) }

func block(f *os.File) error { return flock(f, syscall.LOCK_EX) }

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}
