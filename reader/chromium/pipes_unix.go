//go:build unix

package chromium

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// pipes makes the two pipes of the protocol, which the browser finds as its
// third and fourth file. theirs are its ends, to be closed here once it runs.
func pipes(cmd *exec.Cmd) (in, out *os.File, theirs []*os.File, err error) {
	theirIn, out, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	in, theirOut, err := os.Pipe()
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	return in, out, cmd.ExtraFiles, err
}

// ownGroup lets the browser and its children be killed together.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(p *os.Process) {
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) {
		_ = p.Kill()
	}
}
