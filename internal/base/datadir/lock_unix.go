//go:build unix

package datadir

import (
	"errors"
	"os"
	"syscall"
)

type lockMode int

const (
	shared    lockMode = syscall.LOCK_SH
	exclusive lockMode = syscall.LOCK_EX
)

// lock locks a file unless another has it locked. The lock ends when the file
// is closed or the process ends; child processes don't inherit it, as Go opens
// files with close-on-exec.
func lock(f *os.File, mode lockMode) (free bool, err error) {
	for {
		err = syscall.Flock(int(f.Fd()), int(mode)|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, os.NewSyscallError("flock", err)
		}
	}
}

// alive says whether a process is there.
func alive(pid int) bool { return pid <= 0 || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
