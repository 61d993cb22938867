package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks a file unless another has it locked.
func tryLock(f *os.File) (free bool, err error) {
	err = lockFile(f, windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// awaitLock locks a file when those before have unlocked it.
func awaitLock(f *os.File) error { return lockFile(f, 0) }

func lockFile(f *os.File, how uint32) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|how, 0, 1, 0, new(windows.Overlapped))
	return os.NewSyscallError("LockFileEx", err)
}

func unlock(f *os.File) error {
	return os.NewSyscallError("UnlockFileEx", windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, new(windows.Overlapped)))
}
