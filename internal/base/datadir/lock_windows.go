package datadir

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

type lockMode uint32

const (
	shared    lockMode = 0
	exclusive lockMode = windows.LOCKFILE_EXCLUSIVE_LOCK
)

// lock locks a file unless another has it locked. It locks a byte far behind
// the end: others cannot read what is locked, and they are to read the info.
func lock(f *os.File, mode lockMode) (free bool, err error) {
	at := &windows.Overlapped{OffsetHigh: math.MaxInt32}
	err = windows.LockFileEx(windows.Handle(f.Fd()), uint32(mode)|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return false, nil
	}
	return false, os.NewSyscallError("LockFileEx", err)
}

// alive says whether a process is there. Handles are not inherited here: who
// holds the lock is.
func alive(int) bool { return true }
