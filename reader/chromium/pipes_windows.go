package chromium

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// pipes makes the two pipes of the protocol. The browser inherits its ends and
// is told their numbers.
func pipes(cmd *exec.Cmd) (in, out *os.File, theirs []*os.File, err error) {
	theirIn, out, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	in, theirOut, err := os.Pipe()
	theirs = []*os.File{theirIn, theirOut}
	if err != nil {
		return in, out, theirs, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	for _, f := range theirs {
		handle := syscall.Handle(f.Fd())
		if err := syscall.SetHandleInformation(handle, syscall.HANDLE_FLAG_INHERIT, syscall.HANDLE_FLAG_INHERIT); err != nil {
			return in, out, theirs, err
		}
		cmd.SysProcAttr.AdditionalInheritedHandles = append(cmd.SysProcAttr.AdditionalInheritedHandles, handle)
	}
	cmd.Args = append(cmd.Args, fmt.Sprintf("--remote-debugging-io-pipes=%d,%d", theirIn.Fd(), theirOut.Fd()))
	return in, out, theirs, nil
}

// ownGroup has nothing to do: the children end when their browser is gone.
func ownGroup(*exec.Cmd) {}

func killGroup(p *os.Process) { _ = p.Kill() }

func group(int) (processes int, memory int64) { return 0, 0 }
