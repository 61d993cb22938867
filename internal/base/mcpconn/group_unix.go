//go:build unix

package mcpconn

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup lets a program and its children be ended together.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func endGroup(p *os.Process)  { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
