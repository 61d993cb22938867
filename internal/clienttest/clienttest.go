// Package clienttest runs the clients that others have written, unchanged, against
// a server under test. They are in the folder clients, where `make clients` puts
// them.
package clienttest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// patience is how long a client may take for all that it does.
const patience = 4 * time.Minute

// Node runs a script of the folder clients with Node.js and returns what it
// prints. The test fails where the script does, with what it said about that.
func Node(t testing.TB, script string, args ...string) string {
	t.Helper()
	return run(t, "node_modules", "node", append([]string{script}, args...)...)
}

// Python is Node for a script in Python.
func Python(t testing.TB, script string, args ...string) string {
	t.Helper()
	return run(t, ".venv", filepath.Join(".venv", "bin", "python"), append([]string{script}, args...)...)
}

func run(t testing.TB, installed, program string, args ...string) string {
	t.Helper()
	dir := folder(t)
	need(t, dir, installed)
	if filepath.Base(program) != program {
		program = filepath.Join(dir, program)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %v: %v\n%s%s", filepath.Base(program), args, err, said.Bytes(), out.Bytes())
	}
	return out.String()
}

// Packages skips a test that uses the packages of Node.js where they are not
// installed.
func Packages(t testing.TB) {
	t.Helper()
	need(t, folder(t), "node_modules")
}

func need(t testing.TB, dir, installed string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, installed)); err != nil {
		t.Skip("the clients are not installed: `make clients` does it")
	}
}

// folder finds the clients from the folder of the package under test.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		at := filepath.Join(dir, "clients", "package.json")
		switch _, err := os.Stat(at); {
		case err == nil:
			return filepath.Dir(at)
		case !errors.Is(err, os.ErrNotExist), filepath.Dir(dir) == dir:
			t.Fatalf("the folder clients is not there: %v", err)
		}
		dir = filepath.Dir(dir)
	}
}
