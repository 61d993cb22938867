//go:build unix

package mcptool

import "syscall"

const stopped = syscall.SIGSTOP
