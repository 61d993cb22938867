package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"dossier/bench/internal/lab"
)

// bench is a lab with the loop, the kernel's side and the program itself.
type bench struct{ *lab.Lab }

// prepare builds everything and starts the model server.
func prepare(ctx context.Context, root, yardsticks string) (*bench, error) {
	l, err := lab.Open(ctx, yardsticks, "agents/harness", "agents/baseline")
	if err != nil {
		return nil, err
	}
	for _, b := range []lab.Build{
		{Name: "baseline", In: l.Source(filepath.Join("agents", "baseline")), Pkg: "."},
		{Name: "ours", In: root, Pkg: "./bench/ours"},
		{Name: "dossier", In: root, Pkg: "./cmd/dossier"},
	} {
		if err := l.Build(ctx, b); err != nil {
			l.Close()
			return nil, err
		}
	}
	return &bench{l}, nil
}

// start runs a program and says how long its first byte of output took, and
// how much memory it needed at most. This process must be smaller than what it
// measures: a child's peak begins with that of its parent.
func (l *bench) start(ctx context.Context, name string, args ...string) (first time.Duration, peakMB float64, err error) {
	c := l.Command(ctx, "", name, args...)
	out, err := c.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	var stderr bytes.Buffer
	c.Stderr = &stderr
	began := time.Now()
	if err := c.Start(); err != nil {
		return 0, 0, err
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		_ = c.Wait()
		return 0, 0, fmt.Errorf("%s %s printed nothing: %s", name, strings.Join(args, " "), stderr.String())
	}
	first = time.Since(began)
	if _, err := io.Copy(io.Discard, out); err != nil {
		return 0, 0, err
	}
	if err := c.Wait(); err != nil {
		return 0, 0, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, stderr.String())
	}
	usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, 0, errors.New("the system does not say how much memory a process needed")
	}
	return first, float64(usage.Maxrss) / 1024, nil
}
