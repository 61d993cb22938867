// Package lab is where programs are measured beside the yardsticks: it builds
// them, runs the yardsticks' model server on a core of its own, and reads the
// line of figures that a program prints.
package lab

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Lab has the programs, built, and the model server, running.
type Lab struct {
	// Dir holds the programs and is removed by Close.
	Dir string

	url     string
	taskset string // empty when programs cannot be pinned
	server  *exec.Cmd
}

// server is the yardsticks' model server.
const server = "mockllm"

// Build is a program to build.
type Build struct {
	// Name by which the lab knows the program.
	Name string
	// In is the directory of its module, and Pkg the package there.
	In, Pkg string
	// Args are further ones for go build.
	Args []string
}

// Present says whether there are yardsticks in a directory.
func Present(yardsticks string) bool {
	_, err := os.Stat(filepath.Join(yardsticks, server, "main.go"))
	return err == nil
}

// Open copies parts of the yardsticks and starts their model server. The
// caller closes the lab.
func Open(ctx context.Context, yardsticks string, parts ...string) (_ *Lab, err error) {
	dir, err := os.MkdirTemp("", "bench-lab-")
	if err != nil {
		return nil, err
	}
	l := &Lab{Dir: dir}
	defer func() {
		if err != nil {
			l.Close()
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
	for _, part := range append(parts, server) {
		if err := os.CopyFS(l.Source(part), os.DirFS(filepath.Join(yardsticks, part))); err != nil {
			return nil, fmt.Errorf("copying the yardsticks: %w", err)
		}
	}
	if err := l.Build(ctx, Build{Name: server, In: l.Source(server), Pkg: "."}); err != nil {
		return nil, err
	}
	return l, l.serve(ctx)
}

// Source is the copy of a part of the yardsticks.
func (l *Lab) Source(part string) string { return filepath.Join(l.Dir, "src", part) }

// Build builds a program.
func (l *Lab) Build(ctx context.Context, b Build) error {
	fmt.Println("building", b.Name)
	args := append([]string{"build", "-trimpath", "-o", filepath.Join(l.Dir, b.Name)}, b.Args...)
	c := exec.CommandContext(ctx, "go", append(args, b.Pkg)...)
	c.Dir, c.Env = b.In, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", b.Name, err, out)
	}
	return nil
}

// serve starts the model server on a free port.
func (l *Lab) serve(ctx context.Context) error {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return err
	}
	l.url = "http://" + address + "/v1"
	l.server = l.Command(ctx, "0", server, "-addr", address)
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

// Close ends the model server and removes what was built.
func (l *Lab) Close() {
	if l.server != nil && l.server.Process != nil {
		_ = l.server.Process.Kill()
		_ = l.server.Wait()
	}
	_ = os.RemoveAll(l.Dir)
}

// Command is one of the programs, on a core of its own unless core is empty.
func (l *Lab) Command(ctx context.Context, core, name string, args ...string) *exec.Cmd {
	path := filepath.Join(l.Dir, name)
	if core == "" || l.taskset == "" {
		return exec.CommandContext(ctx, path, args...)
	}
	return exec.CommandContext(ctx, l.taskset, append([]string{"-c", core, path}, args...)...)
}

// Values are the figures of one result line.
type Values map[string]float64

// Result runs a program to its end and reads the line that it prints.
func (l *Lab) Result(ctx context.Context, core, name string, args ...string) (Values, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	c := l.Command(ctx, core, name, append([]string{"-url", l.url}, args...)...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, stderr.String())
	}
	v, err := parse(out)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return v, nil
}

// parse reads a result line. One with a note says what went wrong.
func parse(out []byte) (Values, error) {
	var line map[string]any
	if err := json.Unmarshal(out, &line); err != nil {
		return nil, fmt.Errorf("it printed %q: %w", out, err)
	}
	if note, ok := line["note"]; ok {
		return nil, fmt.Errorf("%v", note)
	}
	v := Values{}
	for k, x := range line {
		if n, ok := x.(float64); ok {
			v[k] = n
		}
	}
	return v, nil
}

// ProjectRoot is the nearest directory, from here upwards, with a go.mod.
func ProjectRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod here or above: run it inside the project")
		}
		dir = parent
	}
}
