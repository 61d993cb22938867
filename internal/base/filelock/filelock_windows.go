package filelock

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// place is the byte that is locked: one far behind the end, since others cannot
// read what is locked.
func place() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: math.MaxInt32} }

// Try locks a file unless another has it locked.
func Try(f *os.File) (free bool, err error) {
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, place())
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return false, nil
	}
	return false, os.NewSyscallError("LockFileEx", err)
}

// Unlock ends the lock.
func Unlock(f *os.File) error {
	return os.NewSyscallError("UnlockFileEx", windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, place()))
}

func block(f *os.File) error {
	return os.NewSyscallError("LockFileEx", windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, place()))
}
