package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestAFullDiskLosesNothing(t *testing.T) {
	probe := exec.Command("true")
	alone(probe)
	if err := probe.Run(); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
		t.Skip("a disk of its own needs a namespace, and this machine gives none:", err)
	}
	var out, errs bytes.Buffer
	k := &test{self: os.Args[0], dir: t.TempDir(), fills: true, out: &out, errs: &errs}
	ok, err := k.run(t.Context())
	if err != nil || !ok {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	t.Log(strings.TrimSpace(out.String()))
}
