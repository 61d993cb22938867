package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A target is one fuzz test.
type target struct {
	pkg  string
	dir  string
	name string
}

// fuzzAll fuzzes every target of the packages for the given time each and
// fails when one of them found something.
func fuzzAll(ctx context.Context, out io.Writer, each time.Duration, pkgs []string) error {
	targets, err := listTargets(ctx, pkgs)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return fmt.Errorf("no fuzz target in %s", strings.Join(pkgs, " "))
	}
	var failed []string
	for _, t := range targets {
		if !t.fuzz(ctx, out, each) {
			failed = append(failed, t.pkg+"."+t.name)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	fmt.Fprintf(out, "%d fuzz targets, %d failed\n", len(targets), len(failed))
	if len(failed) > 0 {
		return fmt.Errorf("fuzzing failed: %s", strings.Join(failed, ", "))
	}
	return nil
}

func listTargets(ctx context.Context, pkgs []string) ([]target, error) {
	dirs, err := goOutput(ctx, append([]string{"list", "-f", "{{.ImportPath}}\t{{.Dir}}"}, pkgs...)...)
	if err != nil {
		return nil, err
	}
	at := map[string]string{}
	for l := range strings.Lines(string(dirs)) {
		pkg, dir, _ := strings.Cut(strings.TrimSpace(l), "\t")
		at[pkg] = dir
	}
	listed, err := goOutput(ctx, append([]string{"test", "-json", "-list", "^Fuzz"}, pkgs...)...)
	if err != nil {
		return nil, err
	}
	targets, err := parseTargets(listed)
	for i := range targets {
		targets[i].dir = at[targets[i].pkg]
	}
	return targets, err
}

// parseTargets reads the output of `go test -json -list ^Fuzz`.
func parseTargets(listed []byte) ([]target, error) {
	var targets []target
	dec := json.NewDecoder(bytes.NewReader(listed))
	for dec.More() {
		var l line
		if err := dec.Decode(&l); err != nil {
			return nil, fmt.Errorf("read the list of fuzz targets: %w", err)
		}
		if l.Action == "output" && strings.HasPrefix(l.Output, "Fuzz") {
			targets = append(targets, target{pkg: l.Package, name: strings.TrimSpace(l.Output)})
		}
	}
	return targets, nil
}

func goOutput(ctx context.Context, args ...string) ([]byte, error) {
	cmd := goCommand(ctx, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s%s", args[0], err, out, stderr.Bytes())
	}
	return out, nil
}

func (t target) fuzz(ctx context.Context, out io.Writer, each time.Duration) bool {
	before := t.crashers()
	start := time.Now()
	// By default up to a minute goes into making one input smaller, and none is tried
	// meanwhile.
	cmd := goCommand(ctx, "test", "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", each.String(), "-fuzzminimizetime", "10x", t.pkg)
	said, err := cmd.CombinedOutput()
	took := time.Since(start).Round(time.Second)
	if err == nil || (onlyDeadline(string(said)) && t.crashers() == before) {
		fmt.Fprintf(out, "ok   %s.%s %s %s\n", t.pkg, t.name, took, executions(string(said)))
		return true
	}
	fmt.Fprintf(out, "FAIL %s.%s %s\n%s", t.pkg, t.name, took, said)
	return false
}

// crashers is how many failing inputs are kept for the target.
func (t target) crashers() int {
	entries, err := os.ReadDir(filepath.Join(t.dir, "testdata", "fuzz", t.name))
	if err != nil {
		return 0 // no directory, no crasher
	}
	return len(entries)
}

// onlyDeadline reports whether a failed fuzz run failed for no other reason
// than that its time was over: the go tool sometimes takes the end of
// -fuzztime for a failure of the target.
func onlyDeadline(said string) bool {
	deadline := false
	for l := range strings.Lines(said) {
		switch l = strings.TrimSpace(l); {
		case l == "context deadline exceeded":
			deadline = true
		case l == "", l == "FAIL", strings.HasPrefix(l, "fuzz: elapsed: "), strings.HasPrefix(l, "--- FAIL: Fuzz"),
			strings.HasPrefix(l, "exit status "), strings.HasPrefix(l, "FAIL\t"):
		default:
			return false
		}
	}
	return deadline
}

// executions is the last count of executions that the fuzzer printed.
func executions(said string) string {
	last := ""
	for l := range strings.Lines(said) {
		if _, after, found := strings.Cut(l, "execs: "); found {
			last, _, _ = strings.Cut(after, " ")
		}
	}
	if last == "" {
		return ""
	}
	return last + " execs"
}
