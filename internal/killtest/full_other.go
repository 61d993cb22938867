//go:build !linux

package main

import (
	"context"
	"errors"
	"os/exec"
)

var errNoDisk = errors.New("a small disk to fill can be had on Linux only")

func alone(*exec.Cmd) {}

func onSmallDisk(string) error { return errNoDisk }

func (t *test) full(context.Context) (bool, error) { return false, errNoDisk }
