//go:build !unix

package toolkit

import "os/exec"

// Where there are no process groups the command itself is ended.
func alone(*exec.Cmd) {}

func endGroup(*exec.Cmd) {}
