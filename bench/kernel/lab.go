package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// lab is where the measurements take place: the programs, built, and the model
// server, running.
type lab struct {
	dir     string
	url     string
	taskset string // empty when programs cannot be pinned
	server  *exec.Cmd
}

// prepare builds everything and starts the model server.
func prepare(ctx context.Context, root, yardsticks string) (_ *lab, err error) {
	dir, err := os.MkdirTemp("", "kernel-bench")
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	l.taskset, _ = exec.LookPath("taskset")
	switch {
	case l.taskset == "":
		fmt.Println("taskset is missing: client and server share all cores.")
	case runtime.NumCPU() < 2:
		fmt.Println("There is one core only: client and server share it.")
		l.taskset = ""
	}
	for _, part := range []string{"mockllm", "agents/harness", "agents/baseline"} {
		if err := os.CopyFS(filepath.Join(dir, "src", part), os.DirFS(filepath.Join(yardsticks, part))); err != nil {
			return nil, fmt.Errorf("copying the yardsticks: %w", err)
		}
	}
	for _, b := range []struct{ name, in, pkg string }{
		{"mockllm", filepath.Join(dir, "src", "mockllm"), "."},
		{"baseline", filepath.Join(dir, "src", "agents", "baseline"), "."},
		{"ours", root, "./bench/ours"},
		{"dossier", root, "./cmd/dossier"},
	} {
		fmt.Println("building", b.name)
		c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", filepath.Join(dir, b.name), b.pkg)
		c.Dir, c.Env = b.in, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building %s: %w\n%s", b.name, err, out)
		}
	}
	return l, l.serve(ctx)
}

// serve starts the model server on a free port.
func (l *lab) serve(ctx context.Context) error {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return err
	}
	l.url = "http://" + address + "/v1"
	l.server = l.command(ctx, "0", "mockllm", "-addr", address)
	said, err := l.server.StderrPipe()
	if err != nil {
		return err
	}
	if err := l.server.Start(); err != nil {
		return fmt.Errorf("starting the model server: %w", err)
	}
	// It says so once it listens, and nothing else after that.
	if line, err := bufio.NewReader(said).ReadString('\n'); err != nil {
		return fmt.Errorf("the model server did not start: %s %w", line, err)
	}
	return nil
}

func (l *lab) close() {
	if l.server != nil && l.server.Process != nil {
		_ = l.server.Process.Kill()
		_ = l.server.Wait()
	}
	_ = os.RemoveAll(l.dir)
}

// command is one of the programs, on a core of its own unless core is empty.
func (l *lab) command(ctx context.Context, core, name string, args ...string) *exec.Cmd {
	path := filepath.Join(l.dir, name)
	if core == "" || l.taskset == "" {
		return exec.CommandContext(ctx, path, args...)
	}
	return exec.CommandContext(ctx, l.taskset, append([]string{"-c", core, path}, args...)...)
}

// values are the figures of one result line.
type values map[string]float64

// result runs a program to its end and reads the line that it prints.
func (l *lab) result(ctx context.Context, core, name string, args ...string) (values, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	c := l.command(ctx, core, name, append([]string{"-url", l.url}, args...)...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, stderr.String())
	}
	var line map[string]any
	if err := json.Unmarshal(out, &line); err != nil {
		return nil, fmt.Errorf("%s %s printed %q: %w", name, strings.Join(args, " "), out, err)
	}
	if note, ok := line["note"]; ok {
		return nil, fmt.Errorf("%s %s: %v", name, strings.Join(args, " "), note)
	}
	v := values{}
	for k, x := range line {
		if n, ok := x.(float64); ok {
			v[k] = n
		}
	}
	return v, nil
}

// start runs a program and says how long its first byte of output took, and
// how much memory it needed at most. This process must be smaller than what it
// measures: a child's peak begins with that of its parent.
func (l *lab) start(ctx context.Context, name string, args ...string) (first time.Duration, peakMB float64, err error) {
	c := l.command(ctx, "", name, args...)
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
